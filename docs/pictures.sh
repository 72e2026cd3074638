#!/usr/bin/env bash
# Draws every picture of the book anew. Which command draws which stands in the pages; the test that runs a page's commands
# also holds the pictures against what these draw.
set -euo pipefail
cd "$(dirname "$0")/.."
BLESS=1 cargo test --test suite docs::pages
