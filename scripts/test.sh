#!/bin/sh
# Format, lints, tests; stops at the first that fails. The tests are built with the profile that the lints check, so
# that dependencies are compiled once for each.

set -e
cargo=${CARGO:-cargo}
$cargo fmt --all --check
$cargo clippy --locked --workspace --all-targets -- -D warnings
$cargo test --locked --workspace
