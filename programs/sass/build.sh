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
compile() { # NAME ARCHITECTURE TARGET
    "$nvcc" -cubin -O3 -arch="$2" -lineinfo "../cuda/$1.cu" -o "$made/$1.cubin"
    {
        echo "// $1.cu compiled for $2. Written by build.sh: change the .cu."
        echo "//"
        "$sim" import "$made/$1.cubin" --directives "../cuda/$1.cu"
    } > "$made/$1.sass"
    mv "$made/$1.sass" "$3"
    echo "$3"
}
for name in arms call_recursive constant_table convolve_shared convolve_texture dynamic_shared \
    even_odd even_odd_aligned matmul_async matmul_tensor matmul_tiled paths_k reduce_atomic \
    reduce_grid reduce_interleaved reduce_neighbored reduce_neighbored_less reduce_shuffle \
    reduce_unroll2 reduce_unroll4 reduce_unroll8 reduce_unroll_complete \
    reduce_unroll_last_warp shared_doubling shared_halving square_wave switch_dense unroll; do
    compile "$name" sm_90 "$name.sass"
done
for arch in sm_75 sm_80 sm_86 sm_89; do
    mkdir -p "$arch"
    for name in reduce_neighbored reduce_shuffle switch_dense; do
        compile "$name" "$arch" "$arch/$name.sass"
    done
done
