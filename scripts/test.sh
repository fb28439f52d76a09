#!/bin/sh
# Format, tests, lints, the oldest Rust that is supported; stops at the first that fails. The tests wait much of their time, for JVMs to
# start and for programs that stand still: the lints and the check of the oldest Rust run meanwhile, with the lowest priority.

set -e
cargo=${CARGO:-cargo}
releases=$(scripts/find-jdk.sh --releases | tr '\n' ' ')
echo "test: JDKs of this machine: $releases"
# A second JDK that the system's archive does not have is no mistake of the change under test, in CI neither.
if [ "$(echo "$releases" | wc -w)" = 1 ] && ! apt-cache show openjdk-25-jdk-headless openjdk-21-jdk-headless >/dev/null 2>&1; then
    RAVEL_MAY_SKIP=old-jdk,second-jdk
else
    # JDKs 8 and 11 are in no stable archive: `make jvms` fetches them.
    RAVEL_MAY_SKIP=old-jdk
fi
export RAVEL_MAY_SKIP
if ! $cargo fmt --version >/dev/null 2>&1 || ! $cargo clippy --version >/dev/null 2>&1; then
    rustup component add rustfmt clippy
fi
$cargo fmt --all --check
# Clippy checks the examples.
$cargo test --locked --workspace --lib --bins --tests --no-run
# A directory of their own: cargo would let one of the two wait for the other. C code that is only checked needs no optimisation.
lints=$(mktemp)
nice -n 19 $cargo clippy --locked --workspace --all-targets --target-dir target/lints \
    --config profile.dev.package.zstd-sys.opt-level=0 -- -D warnings >"$lints" 2>&1 &
linting=$!
oldest=$(mktemp)
nice -n 19 scripts/msrv.sh >"$oldest" 2>&1 &
checking=$!
trap 'kill "$linting" "$checking" 2>/dev/null || true; rm -f "$lints" "$oldest"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
scripts/side-by-side.sh $cargo test --locked --workspace --lib --bins --tests
if ! wait "$linting"; then
    cat "$lints" >&2
    echo "test: the lints failed" >&2
    exit 1
fi
if ! wait "$checking"; then
    cat "$oldest" >&2
    echo "test: the oldest supported Rust does not compile Ravel" >&2
    exit 1
fi
grep '^skipped' "$oldest" || true
$cargo test --locked --workspace --doc
