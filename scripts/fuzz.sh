#!/bin/sh
# Hostile bytes and random programs, for long: the fuzz targets of fuzz/, FUZZ_SECONDS each (60), and the property tests with many more
# cases than `make test` tries, CASES of each (20000). FUZZ_TARGETS names the targets to run.
#
# A crash leaves its input in fuzz/artifacts. It becomes a test with the input written out.

set -e
cargo=${CARGO:-cargo}
seconds=${FUZZ_SECONDS:-60}
targets=${FUZZ_TARGETS:-class_file trace std_text schedule config baseline report focus}

if [ "$seconds" -gt 0 ]; then
    if ! $cargo fuzz --version >/dev/null 2>&1; then
        echo "fuzz: installing cargo-fuzz" >&2
        $cargo install cargo-fuzz --locked
    fi
    $cargo build --locked -p ravel
    scripts/fuzz-corpus.sh fuzz/corpus
    for target in $targets; do
        echo "fuzz: $target, $seconds s"
        # No sanitizer: nothing that is fuzzed has unsafe code, and without one a stable compiler will do.
        $cargo fuzz run --sanitizer none "$target" -- -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 \
            -max_len=65536 -print_final_stats=1 -verbosity=0
    done
fi

PROPTEST_CASES=${CASES:-20000}
HOSTILE_CASES=$PROPTEST_CASES
export PROPTEST_CASES HOSTILE_CASES
$cargo test --locked --release -p ravel-classfile -p ravel-trace -p ravel-analysis -p ravel-schedule -p ravel-report
