#!/bin/sh
# Rebuilds the sum.ptx of each front end named, or of all, from the source beside it:
#   programs/frontends/build.sh [-o FOLDER] [nvcc] [nvrtc] [clang] [rustc] [numba] [triton]
#
# -o writes FOLDER/NAME.ptx instead. NVCC, CLANG, PYTHON and RUST_NIGHTLY name the tools; their
# defaults are nvcc, clang, python and the toolchain nightly. The second line of each file names the
# compiler that made it; another version may generate other code. The `//!` lines of the source are
# copied to the head of the PTX, so each file runs by itself; the paths in .file are cut to the
# file's name.
set -eu
folder=
if [ "${1:-}" = -o ]; then
    mkdir -p "$2"
    folder=$(cd "$2" && pwd)
    shift 2
fi
[ $# -gt 0 ] || set -- nvcc nvrtc clang rustc numba triton
cd "$(dirname "$0")"
nightly=${RUST_NIGHTLY:-nightly}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

# Prints the compiler's name and version.
version() { # FRONT_END
    case $1 in
        nvcc) "${NVCC:-nvcc}" --version | sed -n 's/.*, V\([0-9.]*\)$/nvcc \1/p' ;;
        clang) "${CLANG:-clang}" --version | sed -n 's/.*clang version \([0-9.]*\).*/clang \1/p' ;;
        rustc) rustc "+$nightly" --version | sed 's/ (.* /, /; s/)$//' ;;
        nvrtc) package nvidia-cuda-nvrtc ;;
        numba) echo "$(package numba-cuda), $(package nvidia-nvvm)" ;;
        triton) package triton ;;
    esac
}

package() { # NAME
    "${PYTHON:-python}" -c 'import importlib.metadata as m, sys
print(sys.argv[1], m.version(sys.argv[1]))' "$1"
}

# Writes the PTX of a front end as it comes to $made/sum.ptx.
compile() { # FRONT_END
    case $1 in
        nvcc)
            "${NVCC:-nvcc}" -ptx -arch=compute_75 -lineinfo nvcc/sum.cu -o "$made/sum.ptx"
            ;;
        clang)
            "${CLANG:-clang}" -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 -nocudainc \
                -nocudalib -O3 -gline-directives-only -S clang/sum.cu -o "$made/sum.ptx"
            ;;
        rustc)
            (
                cd rustc
                cargo "+$nightly" rustc --quiet --release -Zbuild-std=core \
                    --target nvptx64-nvidia-cuda --target-dir "$made/target" -- \
                    -Ctarget-cpu=sm_75 -Cdebuginfo=line-directives-only --emit "asm=$made/sum.ptx"
            )
            ;;
        *)
            TRITON_CACHE_DIR="$made" "${PYTHON:-python}" -W ignore "$1/sum.py" > "$made/sum.ptx"
            ;;
    esac
}

for name; do
    source=$(echo "$name"/sum.??)
    target=${folder:+$folder/$name.ptx}
    target=${target:-$name/sum.ptx}
    compile "$name"
    {
        echo "// $source compiled for compute_75. Written by build.sh: change the source."
        echo "// $(version "$name")"
        echo "//"
        sed -n 's|^\(# \)\{0,1\}//!|//!|p' "$source"
        echo
        # Without .debug_abbrev and .debug_info, which hold the path of the build.
        sed -e '/\.section[[:space:]]*\.debug_\(abbrev\|info\|macinfo\)/,/}/d' \
            -e 's|\(\.file[[:space:]]*[0-9]*[[:space:]]*"\)[^"]*/|\1|' \
            -e 's/[[:space:]]*$//' "$made/sum.ptx"
    } > "$target.new"
    mv "$target.new" "$target"
    echo "$target"
done
