#!/bin/sh
# Unit tests under Miri, which finds undefined behaviour. It needs a nightly compiler with the component; both are installed if rustup can.
# Only tests that start no process, map no file and call no C: Miri has none of these.

set -e
toolchain=${MIRI_TOOLCHAIN:-nightly}
if ! cargo "+$toolchain" miri --version >/dev/null 2>&1; then
    rustup toolchain install "$toolchain" --profile minimal --component miri --component rust-src || {
        echo "miri: no toolchain $toolchain with the component miri, and rustup cannot install it: nothing was tested" >&2
        exit 1
    }
fi
# Files and the clock are the tests' own.
MIRIFLAGS="-Zmiri-disable-isolation ${MIRIFLAGS:-}"
export MIRIFLAGS
export PROPTEST_CASES=2 HOSTILE_CASES=2

# The unit tests of a crate: all, or those whose names begin with one of the filters. A filter that no test has is an error: after a
# module was renamed, its tests would be left out without a word.
under_miri() {
    crate=$1
    shift
    names=$(cargo "+$toolchain" miri test --locked -p "$crate" --lib -- --list | sed -n 's/: test$//p')
    for filter in "$@"; do
        if ! echo "$names" | grep -q "^$filter"; then
            echo "miri: $crate has no test $filter" >&2
            exit 1
        fi
    done
    cargo "+$toolchain" miri test --locked -p "$crate" --lib -- "$@"
}

under_miri ravel-agent options:: filter:: focus:: baton::tests:: baton::locks:: recorder::
under_miri ravel-classfile
under_miri ravel-protocol
under_miri ravel-schedule
under_miri ravel-report config:: layout::
