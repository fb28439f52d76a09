#!/bin/sh
# Format, lints, tests; stops at the first that fails. Quick ones first.

set -e
cargo=${CARGO:-cargo}
if ! $cargo fmt --version >/dev/null 2>&1 || ! $cargo clippy --version >/dev/null 2>&1; then
    rustup component add rustfmt clippy
fi
$cargo fmt --all --check
$cargo clippy --locked --workspace --all-targets -- -D warnings
$cargo test --locked --workspace
