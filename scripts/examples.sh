#!/usr/bin/env bash
# The sample reports in docs/examples (make examples): a finding of each rule, from the programs in subjects/, as JSON, text, SARIF and a
# picture of the HTML page. `make examples ONLY="data-race lock-order"` makes some of them again; PICTURES=0 leaves the pictures alone.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
ravel=${RAVEL:-$root/target/debug/ravel}
export PATH=${JAVA_HOME:?}/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The rule, the program that shows it, and options; a rule of a run is shown by running the program, a rule of the scan by reading its classes.
runs="
data-race bugs/HashMapShared
atomicity bugs/Shop
atomic-set examples/PriceRange
unserializable bugs/OnCall
lock-discipline bugs/CutShort --analyses lockset
lock-order bugs/DeadlockTwo
failure failures/UsedBeforeSet"
scans="
lock-pattern examples/Segment
guarded-by examples/Balance
inconsistent-sync examples/Basket
two-guards examples/Numbers
reassigned-lock examples/Batch
double-checked-locking examples/Helper
wait-outside-loop examples/Mailbox
naked-notify examples/Bell
unreleased-lock examples/Printer
check-then-act examples/Sessions
test-lock-assign examples/Config
compound-volatile examples/Hits
shared-format examples/Days
unsafe-publication examples/Poller
nested-wait examples/Dispatcher
notify-one examples/Buffer"

wanted() {
    [ -z "${ONLY:-}" ] || [[ " $ONLY " == *" $1 "* ]]
}

compiled() {
    mkdir -p "$work/$1/classes"
    javac -g --release 17 -d "$work/$1/classes" "subjects/$2.java"
    cd "$work/$1"
}

# Ravel ends with 1 if it shows a bug. On a busy machine a proof may fail; then the program is run again.
shown() {
    for _ in 1 2 3 4 5; do
        status=0
        "$ravel" --quiet "$@" >"$work/log" 2>&1 </dev/null || status=$?
        [ $status = 0 ] || break
    done
    [ $status = 1 ] || { echo "examples: exit code $status of ravel $*" >&2; cat "$work/log" >&2; exit 1; }
}

scanned() {
    "$ravel" --quiet "$@" >"$work/log" 2>&1 || [ $? = 1 ] || { cat "$work/log" >&2; exit 1; }
}

# Everything into a directory of its own, so that commands and traces have short relative names.
while read -r rule program options; do
    [ -n "$rule" ] && wanted "$rule" || continue
    echo "examples: $rule" >&2
    # shellcheck disable=SC2086 # a list of options
    (compiled "$rule" "$program" && shown run --explore 0 $options --out json="$root/docs/examples/$rule.json" -- java -cp classes "$(basename "$program")")
done <<<"$runs"
while read -r rule program; do
    [ -n "$rule" ] && wanted "$rule" || continue
    echo "examples: $rule" >&2
    (compiled "$rule" "$program" && scanned scan --out json="$root/docs/examples/$rule.json" classes)
done <<<"$scans"

# The rest is made of the JSON, by the code that the tests use to check it.
EXAMPLES_HTML=$work BLESS=1 ${CARGO:-cargo} test --locked -q -p ravel-report --test all examples::
[ "${PICTURES:-1}" = 0 ] && exit
while read -r rule _; do
    [ -n "$rule" ] && wanted "$rule" || continue
    scripts/picture.sh "$work/$rule.html" "docs/examples/$rule.png" 1100 "$(cat "$work/$rule.height")"
    pngquant --force --ext .png --speed 1 64 "docs/examples/$rule.png"
done <<<"$runs$scans"
du -ch docs/examples/*.png | tail -1
