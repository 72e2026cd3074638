#!/bin/sh
# Rebuilds every .ptx in mend/ and held/ from its .cu:   NVCC=/path/to/nvcc trust/build.sh
#
# nvcc 13.0 wrote the files that are checked in. The GPU ran what `nvcc -O3 -arch=sm_90` makes of the same sources.
#
# The lines `//! ..` of the .cu are put at the head of the .ptx, so that each .ptx runs as it is. -lineinfo adds .loc
# lines, which say what line of the .cu an instruction comes from; the path in .file is cut down to the file's name.
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
