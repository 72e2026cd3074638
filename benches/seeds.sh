#!/bin/sh
# Runs the sources' kernels at 2^20 elements, one after the other, and prints the time of each and
# of all:
#     benches/seeds.sh [path/to/simt-sim]
#
# The square wave at 2^20 threads and 320 iterations is 3.5 billion warp instructions. Its settings
# compare in the same way with one SM's share of the blocks (31 of 256 threads) and a quarter of the
# iterations, so this runs those.
set -eu
cd "$(dirname "$0")/.."
sim=${1:-target/release/simt-sim}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
one=$folder/h200.ron
"$sim" machine h200 | sed 's/^    sms: .*/    sms: 1,/' > "$one"
begin=$(date +%s%N)
timed() {
    from=$(date +%s%N)
    "$sim" run --quiet "$@"
    echo "$(( ($(date +%s%N) - from) / 1000000 )) ms  $*"
}
for mode in pre-volta volta; do
    for name in reduce_neighbored reduce_neighbored_less reduce_interleaved shared_doubling shared_doubling_race \
        shared_halving shared_halving_race even_odd even_odd_aligned; do
        timed "programs/cuda/$name.ptx" --mode $mode --set n=1048576
    done
done
for setting in "64 32" "32 16" "62 31" "66 33" "56 28" "48 24" "1 1" "1 0"; do
    set -- $setting
    timed programs/cuda/square_wave.ptx --machine "$one" --set n=7936 --set long=80 --set short=1 \
        --set period="$1" --set heavy="$2"
done
echo "$(( ($(date +%s%N) - begin) / 1000000 )) ms  together"
