#!/bin/sh
# Rebuilds every .ptx in mend/ and held/ from its .cu:   NVCC=/path/to/nvcc programs/unseen/build.sh
#
# The files in the repository were made by nvcc 13.0. The GPU ran the same sources compiled with
# `nvcc -O3 -arch=sm_90`.
#
# The `//!` lines of the .cu are copied to the head of the .ptx, so each .ptx runs by itself.
# -lineinfo adds .loc lines with the .cu line of each instruction; the path in .file is cut to the
# file's name.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
made=$(mktemp)
trap 'rm -f "$made"' EXIT
for source in mend/*.cu held/*.cu; do
    [ -e "$source" ] || continue
    target=${source%.cu}.ptx
    "$nvcc" -ptx -O3 -arch=compute_90 -lineinfo "$source" -o "$made"
    {
        echo "// $(basename "$source") as nvcc compiles it. Written by build.sh: change the .cu, not this file."
        echo "//"
        grep '^//!' "$source"
        echo
        sed -e 's|\(\.file[[:space:]]*[0-9]*[[:space:]]*"\)[^"]*/|\1|' -e 's/[[:space:]]*$//' "$made"
    } > "$target"
    echo "$target"
done
