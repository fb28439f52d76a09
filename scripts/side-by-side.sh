#!/usr/bin/env bash
# side-by-side.sh COMMAND...: runs `cargo test` so that test binaries run side by side. Many wait most of their time: for JVMs to
# start, for programs that stand still.
#
# Cargo starts every test binary through its runner, which is this script again. The runner waits for a free place, starts the binary
# and returns; the output of a binary is printed whole when it ends. All binaries run, and one that fails makes the command fail.
set -euo pipefail

# A test binary with its own process group, so that an interrupt can end it with all that it started.
run_one() {
    local binary=$1 name log label
    name=$(basename "$binary")
    log=$RAVEL_SIDE_BY_SIDE/$name
    # Cargo starts a binary in the folder of its crate. Several crates have one of the same name.
    label=$(basename "$PWD")/${name%-*}
    echo "$label" >"$log.label"
    set -m
    {
        local status=0 TIMEFORMAT='%0R s, %0U + %0S s of processor time' took
        took=$( { time env -u RAVEL_SIDE_BY_SIDE "$@" >"$log.log" 2>&1 </dev/null 9>&-; } 2>&1) || status=$?
        {
            flock 8
            printf '\n== %s: %s\n' "$label" "$took"
            cat "$log.log"
        } 8>"$RAVEL_SIDE_BY_SIDE/printing"
        echo "$status" >"$log.status"
        echo >&9
    } 9<>"$RAVEL_SIDE_BY_SIDE/places" &
    echo $! >"$log.pid"
}

if [ -n "${RAVEL_SIDE_BY_SIDE:-}" ]; then
    # A doc test is no file of cargo's: rustdoc reads its status.
    case $1 in
        */deps/*) ;;
        *) exec "$@" ;;
    esac
    read -r _ <>"$RAVEL_SIDE_BY_SIDE/places"
    run_one "$@"
    exit
fi

RAVEL_SIDE_BY_SIDE=$(mktemp -d)
export RAVEL_SIDE_BY_SIDE
places=$RAVEL_SIDE_BY_SIDE/places
mkfifo "$places"
exec 9<>"$places"
for _ in $(seq $(($(nproc) + 1))); do echo >&9; done
# The tests inside a binary wait as well.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) + 1))}

end_all() {
    local file
    for file in "$RAVEL_SIDE_BY_SIDE"/*.pid; do
        [ -f "${file%.pid}.status" ] || kill -- "-$(cat "$file")" 2>/dev/null || true
    done
    rm -rf "$RAVEL_SIDE_BY_SIDE"
}
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

triple=$(${RUSTC:-rustc} -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
export "CARGO_TARGET_${triple}_RUNNER=$(realpath "$0")"
failed=0
"$@" 9>&- || failed=1
for file in "$RAVEL_SIDE_BY_SIDE"/*.pid; do
    while [ ! -f "${file%.pid}.status" ] && kill -0 "$(cat "$file")" 2>/dev/null; do sleep 0.1; done
done
bad=
for file in "$RAVEL_SIDE_BY_SIDE"/*.pid; do
    # One that was killed with its shell leaves no status.
    [ "$(cat "${file%.pid}.status" 2>/dev/null)" = 0 ] || bad="$bad $(cat "${file%.pid}.label")"
done
if [ -n "$bad" ]; then
    echo "test: failed:$bad (their output is above)" >&2
    failed=1
fi
exit $failed
