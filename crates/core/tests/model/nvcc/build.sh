#!/bin/sh
# Rebuilds the .ptx here that have a .cu:   NVCC=/path/to/nvcc crates/core/tests/model/nvcc/build.sh [NAME.cu ..]
#
# nvcc 13.0 wrote the files that are checked in, for the architecture that the first line of each names
# (default: compute_75). The lines `//! ..` of the .cu are put at the head of the .ptx.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
made=$(mktemp)
trap 'rm -f "$made"' EXIT
[ $# -gt 0 ] || set -- *.cu
for source in "$@"; do
    target=${source%.cu}.ptx
    arch=$(sed -n '1s/.*\(compute_[0-9]*\).*/\1/p' "$source")
    arch=${arch:-compute_75}
    "$nvcc" -ptx -arch="$arch" "$source" -o "$made"
    {
        echo "// nvcc 13.0 -ptx -arch=$arch"
        grep '^//!' "$source" || true
        grep -v '^//' "$made" | sed -e '/./!d' -e 's/[[:space:]]*$//'
    } > "$target"
    echo "$target"
done
