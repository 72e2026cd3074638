#!/usr/bin/env bash
# Redraws every picture of the book. The pages show the commands; the test that runs them compares the
# pictures with what they draw.
set -euo pipefail
cd "$(dirname "$0")/.."
BLESS=1 cargo test --test suite docs::pages
