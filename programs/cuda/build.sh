#!/bin/sh
# Rebuilds every .ptx here from its .cu:   NVCC=/path/to/nvcc programs/cuda/build.sh
#
# The files in the repository were made by nvcc 13.0; other versions may generate other code.
# compute_75 (Turing) is the oldest architecture that nvcc 13 supports; its PTX suits any GPU since
# Volta. Asynchronous copies need compute_80 (Ampere).
#
# The `//!` lines of the .cu are copied to the head of the .ptx, so each .ptx runs by itself. -lineinfo
# adds .loc lines with the .cu line of each instruction; the path in .file is cut to the file's name.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
made=$(mktemp)
trap 'rm -f "$made"' EXIT
for source in *.cu; do
    target=${source%.cu}.ptx
    case $source in
        *_async.cu) arch=compute_80 ;;
        *) arch=compute_75 ;;
    esac
    "$nvcc" -ptx -arch=$arch -lineinfo "$source" -o "$made"
    {
        echo "// $source as nvcc compiles it. Written by build.sh: change the .cu, not this file."
        echo "//"
        grep '^//!' "$source"
        echo
        sed -e 's|\(\.file[[:space:]]*[0-9]*[[:space:]]*"\)[^"]*/|\1|' -e 's/[[:space:]]*$//' "$made"
    } > "$target"
    echo "$target"
done
