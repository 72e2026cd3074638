#!/bin/sh
# Records every kernel of mend/ and held/ on the first GPU: outputs.txt, profile.csv, recorded.ron.
#
#   NVCC=/path/to/nvcc NCU=/path/to/ncu programs/unseen/record.sh
#
# Afterwards `BLESS=1 cargo test --test suite unseen` regenerates h200.ron; the pages follow with
# the next build. Outputs are recorded three times and must be equal; counters come from one launch
# each, with cold caches.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc} ncu=${NCU:-ncu}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$nvcc" -O2 -o "$made/host" host.cu -lcuda
metrics=$(paste -sd, metrics.txt)
for set in mend held; do
    launches=
    for source in "$set"/*.cu; do
        kernel=$(basename "$source" .cu)
        "$nvcc" -cubin -O3 -arch="${ARCH:-sm_90}" "$source" -o "$made/$kernel.cubin"
        grid=$(sed -n 's|^//! grid *= *||p' "$source")
        block=$(sed -n 's|^//! block *= *||p' "$source")
        launches="$launches $kernel:$grid:$block"
    done
    for run in 1 2 3; do "$made/host" "$made" $launches > "$made/outputs$run"; done
    cmp "$made/outputs1" "$made/outputs2"
    cmp "$made/outputs1" "$made/outputs3"
    "$ncu" --clock-control none --csv --page raw --print-units base --log-file "$made/report" \
        --metrics "$metrics" "$made/host" "$made" $launches > /dev/null
    python3 tidy.py "$made/report" "$set" > "$made/profile"
    mv "$made/outputs1" "$set/outputs.txt"
    mv "$made/profile" "$set/profile.csv"
done
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
cuda=$("$nvcc" --version | sed -n 's/.*release.* V\([0-9.]*\).*/\1/p')
profiler=$("$ncu" --version | sed -n 's/^Version \([0-9]*\.[0-9]*\.[0-9]*\).*/\1/p')
cat > recorded.ron <<END
// Where the counters and outputs in mend/ and held/ were recorded.
(
    gpu: "$gpu",
    driver: "$driver",
    cuda: "$cuda",
    profiler: "$profiler",
    date: "$(date -u +%Y-%m-%d)",
)
END
