#!/bin/sh
# The property tests over hostile bytes and random programs, with many more cases than `make test` tries: CASES of each.

set -e
PROPTEST_CASES=${CASES:-20000}
HOSTILE_CASES=$PROPTEST_CASES
export PROPTEST_CASES HOSTILE_CASES
${CARGO:-cargo} test --locked --release -p ravel-classfile -p ravel-trace -p ravel-analysis -p ravel-schedule -p ravel-report
