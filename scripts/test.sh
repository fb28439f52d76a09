#!/bin/sh
# Format, lints, tests; stops at the first that fails. Quick ones first.

set -e
cargo=${CARGO:-cargo}
releases=$(scripts/find-jdk.sh --releases | tr '\n' ' ')
echo "test: JDKs of this machine: $releases"
# A second JDK that the system's archive does not have is no mistake of the change under test, in CI neither.
if [ "$(echo "$releases" | wc -w)" = 1 ] && ! apt-cache show openjdk-25-jdk-headless openjdk-21-jdk-headless >/dev/null 2>&1; then
    RAVEL_MAY_SKIP=second-jdk
    export RAVEL_MAY_SKIP
fi
if ! $cargo fmt --version >/dev/null 2>&1 || ! $cargo clippy --version >/dev/null 2>&1; then
    rustup component add rustfmt clippy
fi
$cargo fmt --all --check
$cargo clippy --locked --workspace --all-targets -- -D warnings
# Clippy has checked the examples.
$cargo test --locked --workspace --lib --bins --tests --no-run
scripts/side-by-side.sh $cargo test --locked --workspace --lib --bins --tests
$cargo test --locked --workspace --doc
