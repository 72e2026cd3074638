#!/usr/bin/env bash
# Gradescope runs this once, when it builds the autograder's image. The root of the zip has
# setup.sh, run_autograder, assignment/ (a folder for `simt-sim grade`) and either simt-sim (a
# static binary) or the simulator's sources in simt-sim-src/.
set -euo pipefail
source_dir="${AUTOGRADER:-/autograder}/source"
if [[ ! -x "$source_dir/simt-sim" ]]; then
    apt-get update
    apt-get install -y --no-install-recommends build-essential ca-certificates curl
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal
    "$HOME/.cargo/bin/cargo" build --release --manifest-path "$source_dir/simt-sim-src/Cargo.toml"
    cp "$source_dir/simt-sim-src/target/release/simt-sim" "$source_dir/simt-sim"
fi
# A broken assignment fails here, and one whose reference is wrong: it runs before any submission
# (here none, since the folder has several programs).
"$source_dir/simt-sim" grade "$source_dir/assignment" --list
"$source_dir/simt-sim" grade "$source_dir/assignment" "$source_dir/assignment" \
    --format classroom > /dev/null
