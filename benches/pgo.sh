#!/usr/bin/env bash
# Builds a release of simt-sim with a profile (PGO): build with counters, run the programs of the
# bench, build again with what the counters say.
#     benches/pgo.sh [target folder]      result: TARGET/pgo/simt-sim
#
# Needs llvm-profdata of the compiler's own LLVM: `rustup component add llvm-tools`.
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/programs.sh
target=$(mkdir -p "${1:-target}" && cd "${1:-target}" && pwd)
tools=$(rustc --print target-libdir)/../bin
profdata=$(command -v "$tools/llvm-profdata" || command -v llvm-profdata || true)
if [ -z "$profdata" ]; then
    echo "error: no llvm-profdata; install it by: rustup component add llvm-tools" >&2
    exit 2
fi
folder=$target/pgo
rm -rf "$folder/raw"
mkdir -p "$folder/raw"
# `--target` keeps the flags from build scripts and procedural macros, which need no profile.
host=$(rustc -vV | sed -n 's/^host: //p')
build() { # FOLDER FLAGS
    RUSTFLAGS="$2" CARGO_TARGET_DIR=$1 \
        cargo build --release --locked --target "$host" --bin simt-sim
}
build "$folder/counted" "-Cprofile-generate=$folder/raw"
counted=$folder/counted/$host/release/simt-sim
timings=cycles
if "$counted" run --help | grep -q -- '--timing'; then timings='cycles off'; fi
export LLVM_PROFILE_FILE=$folder/raw/%p-%m.profraw
while read -r name source file n; do
    for mode in $(bench_modes "$source"); do
        for timing in $timings; do
            options="--mode $mode"
            [ "$timings" = cycles ] || options="$options --timing $timing"
            "$counted" run --quiet "$file" $options $(bench_size "$name" $((n >> 5)))
        done
    done
    # A check may find something: matmul runs on grids larger than its output.
    "$counted" run "$file" --checks $(bench_size "$name" $((n >> 8))) > "$folder/out" || true
done < <(bench_programs)
"$profdata" merge -o "$folder/merged.profdata" "$folder/raw"
build "$folder/tuned" "-Cprofile-use=$folder/merged.profdata"
cp "$folder/tuned/$host/release/simt-sim" "$folder/simt-sim"
echo "$folder/simt-sim"
