#!/bin/sh
# The fuzz targets, if cargo-fuzz is installed and there are any; and the property tests with many more cases than
# `make test` tries. SECONDS_EACH bounds each target, CASES each property.

set -e
cargo=${CARGO:-cargo}
if [ -d fuzz ] && $cargo fuzz --version >/dev/null 2>&1; then
    for target in $($cargo +nightly fuzz list); do
        $cargo +nightly fuzz run "$target" -- -max_total_time="${SECONDS_EACH:-300}"
    done
elif [ -d fuzz ]; then
    echo "fuzz: cargo-fuzz is not installed (cargo install cargo-fuzz): property tests only" >&2
fi
PROPTEST_CASES=${CASES:-20000}
HOSTILE_CASES=$PROPTEST_CASES
export PROPTEST_CASES HOSTILE_CASES
$cargo test --locked --release -p ravel-classfile -p ravel-trace -p ravel-analysis -p ravel-schedule -p ravel-report
