#!/bin/sh
# Rebuilds every .ptx here from its .cu:   NVCC=/path/to/nvcc programs/cuda/build.sh
#
# nvcc 13.0 wrote the files that are checked in; another version may arrange the code in another way. compute_75 (Turing) is the
# oldest architecture that nvcc 13 knows; the PTX still says what any GPU since Volta does.
#
# The lines `//! ..` of the .cu are put at the head of the .ptx, so that each .ptx runs as it is. -lineinfo adds .loc lines, which
# say what line of the .cu an instruction comes from; the path in .file is cut down to the file's name.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
made=$(mktemp)
trap 'rm -f "$made"' EXIT
for source in *.cu; do
    target=${source%.cu}.ptx
    "$nvcc" -ptx -arch=compute_75 -lineinfo "$source" -o "$made"
    {
        echo "// $source as nvcc compiles it. Written by build.sh: change the .cu, not this file."
        echo "//"
        grep '^//!' "$source"
        echo
        sed -e 's|\(\.file[[:space:]]*[0-9]*[[:space:]]*"\)[^"]*/|\1|' -e 's/[[:space:]]*$//' "$made"
    } > "$target"
    echo "$target"
done
