#!/bin/sh
# Checks that the oldest supported Rust, rust-version of Cargo.toml, compiles Ravel. Says "skipped" if it is not installed, and fails with
# CI=true: a check that is never made is no check.

set -e
cd "$(dirname "$0")/.."

skip() {
    echo "skipped: $*"
    [ "${CI:-}" = true ] || exit 0
    echo "msrv: nothing may be skipped in CI" >&2
    exit 1
}

version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if ! command -v rustup >/dev/null 2>&1; then
    skip "rustup, which knows the toolchains, is not installed"
fi
toolchain=$(rustup toolchain list | sed -n "s/^\($version[.-][^ ]*\).*/\1/p" | head -n 1)
if [ -z "$toolchain" ]; then
    skip "toolchain $version is not installed: rustup toolchain install $version --profile minimal"
fi
# In a directory of its own, so that the artefacts of the usual toolchain stay. Nothing of it runs: optimising the C code of zstd would be
# a quarter of the time.
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target/msrv} exec rustup run "$toolchain" cargo check --locked --workspace \
    --config profile.dev.package.zstd-sys.opt-level=0
