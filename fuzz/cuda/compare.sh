#!/bin/sh
# Runs random CUDA programs from PTX and from machine code, and lists the kernels that differ or
# fail:
#   NVCC=nvcc SIMT_SIM=target/release/simt-sim fuzz/cuda/compare.sh KIND FIRST LAST [OPTIONS]
# KIND is `expressions` or `accesses`, FIRST and LAST are seeds. OPTIONS are nvcc's, such as
# `-fmad=false` or `-Xptxas -O1`. On a computer with a GPU of compute capability 9.0, `GPU=1` runs
# the machine code there, too. Needs libcudart.so beside nvcc's `bin`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kind=$1 first=$2 last=$3
shift 3
nvcc=${NVCC:-nvcc} sim=${SIMT_SIM:-simt-sim}
bin=$(dirname "$(command -v "$nvcc")")
PATH=$bin:$PATH
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
for seed in $(seq "$first" "$last"); do
    "$here/$kind.py" "$seed" 40 > "$made/e.cu"
    for code in compute_90 sm_90; do
        "$nvcc" -w "$@" -gencode "arch=compute_90,code=$code" -cudart shared -L"$bin/../lib" \
            -o "$made/$code" "$made/e.cu"
        "$sim" exec --timing off -- "$made/$code" > "$made/$code.out" 2> "$made/$code.err" ||
            grep '^error' "$made/$code.err" || true
        sed -n "s/^\(k[0-9]*\) [0-9a-f]\{16\}\(..*\)/seed $seed: \1 of $code fails: \2/p" \
            "$made/$code.out"
    done
    outs=compute_90
    if [ "${GPU:-}" ]; then
        LD_LIBRARY_PATH=$bin/../lib "$made/sm_90" > "$made/gpu.out"
        outs="$outs gpu"
    fi
    for out in $outs; do
        diff "$made/sm_90.out" "$made/$out.out" |
            sed -n "s/^> \(k[0-9]*\) .*/seed $seed: \1 of $out/p"
    done
done
