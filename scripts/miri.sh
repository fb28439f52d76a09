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
cargo "+$toolchain" miri test --locked -p ravel-agent --lib -- options:: filter:: focus:: baton::turns:: baton::locks:: recorder::
cargo "+$toolchain" miri test --locked -p ravel-classfile --lib
cargo "+$toolchain" miri test --locked -p ravel-schedule --lib
cargo "+$toolchain" miri test --locked -p ravel-report --lib -- config:: layout::
