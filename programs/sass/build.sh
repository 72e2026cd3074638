#!/bin/sh
# Rebuilds every .sass here from the .cu of ../cuda:
#   NVCC=/path/to/nvcc SIMT_SIM=target/release/simt-sim programs/sass/build.sh
#
# The files in the repository were made by nvcc and cuobjdump 13.0; other versions may generate other
# code. The `//!` lines of the .cu are copied to the head of the .sass, so each .sass runs by itself.
# Cubins are binary files and are not kept.
set -eu
nvcc=${NVCC:-nvcc}
case ${SIMT_SIM:-simt-sim} in
    */*) sim=$(cd "$(dirname "$SIMT_SIM")" && pwd)/$(basename "$SIMT_SIM") ;;
    *) sim=${SIMT_SIM:-simt-sim} ;;
esac
cd "$(dirname "$0")"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
for name in call_recursive constant_table dynamic_shared even_odd even_odd_aligned reduce_atomic \
    reduce_interleaved reduce_neighbored reduce_neighbored_less reduce_shuffle reduce_unroll2 \
    reduce_unroll4 reduce_unroll8 reduce_unroll_complete reduce_unroll_last_warp shared_doubling \
    shared_halving square_wave switch_dense; do
    "$nvcc" -cubin -O3 -arch=sm_90 -lineinfo "../cuda/$name.cu" -o "$made/$name.cubin"
    {
        echo "// $name.cu compiled for sm_90. Written by build.sh: change the .cu."
        echo "//"
        "$sim" import "$made/$name.cubin" --directives "../cuda/$name.cu"
    } > "$made/$name.sass"
    mv "$made/$name.sass" "$name.sass"
    echo "$name.sass"
done
