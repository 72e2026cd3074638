#!/bin/sh
# Rebuilds every .ptx and .sass in mend/ and held/ from its .cu:
#   NVCC=/path/to/nvcc SIMT_SIM=target/release/simt-sim programs/unseen/build.sh [NAME ..]
#
# The files in the repository were made by nvcc and cuobjdump 13.0. The GPU ran the same sources
# compiled with `nvcc -O3 -arch=sm_90`: the .sass is what it executed.
#
# The `//!` lines of the .cu are copied to the head of both, so each runs by itself.
# -lineinfo adds the .cu line of each instruction; in the .ptx, the path in .file is cut to the
# file's name. Runs of blanks in NVIDIA's listings are cut to one, which halves the files. A .ptx is
# made only where one is kept; without it, the .sass has no PTX lines. With names (`gcd`), only these
# kernels are built.
set -eu
nvcc=${NVCC:-nvcc}
case ${SIMT_SIM:-simt-sim} in
    */*) sim=$(cd "$(dirname "$SIMT_SIM")" && pwd)/$(basename "$SIMT_SIM") ;;
    *) sim=${SIMT_SIM:-simt-sim} ;;
esac
cd "$(dirname "$0")"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
for source in mend/*.cu held/*.cu; do
    [ -e "$source" ] || continue
    name=$(basename "$source" .cu)
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    target=${source%.cu}
    if [ -e "$target.ptx" ]; then
        "$nvcc" -ptx -O3 -arch=compute_90 -lineinfo "$source" -o "$made/k.ptx"
        {
            echo "// $name.cu as nvcc compiles it. Written by build.sh: change the .cu, not this file."
            echo "//"
            grep '^//!' "$source"
            echo
            sed -e 's|\(\.file[[:space:]]*[0-9]*[[:space:]]*"\)[^"]*/|\1|' \
                -e 's/[[:space:]]*$//' "$made/k.ptx"
        } > "$target.ptx"
    fi
    "$nvcc" -cubin -O3 -arch=sm_90 -lineinfo "$source" -o "$made/k.cubin"
    {
        echo "// $name.cu as nvcc compiles it for sm_90. Written by build.sh: change the .cu, not this."
        echo "//"
        "$sim" import "$made/k.cubin" --directives "$source" -o "$made/k.text"
        sed -e '\|^//|!s/  */ /g' -e 's/[[:space:]]*$//' "$made/k.text" > "$made/k.short"
        if [ -e "$target.ptx" ]; then
            cat "$made/k.short"
        else
            sed '/^\/\/@ *ptx_lines: \[/,/^\/\/@ *\],/d' "$made/k.short"
        fi
    } > "$made/k.sass"
    mv "$made/k.sass" "$target.sass"
    echo "$target"
done
