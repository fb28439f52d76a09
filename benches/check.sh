#!/usr/bin/env bash
# How fast `ravel check` is on trace files, reading and merging included: `benches/check.sh [TRACE…]`, as markdown on standard output.
#
# Generated traces of three kinds, EVENTS long each (default: 100,000 1,000,000 5,000,000 20,000,000), and the files named (recordings). Of each: the
# analyses ANALYSES (default: lockset, race, reduction, blocks, automata, patterns, serializability, all) on CORES cores (default: 1 2); seconds by the clock and
# of the processor, peak memory, findings, how many bounds were hit, and how many of the ten bugs planted in the last tenth of a generated
# trace are among the findings. With RAVEL and THROUGHPUT set, those binaries are measured (`ravel` and the example
# `analysis_throughput`, which makes the traces); otherwise they are built.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v jq >/dev/null || { echo "jq is needed: apt-get install jq" >&2; exit 2; }
target=${CARGO_TARGET_DIR:-target}
if [ -z "${RAVEL:-}" ]; then
    cargo build --release -q -p ravel
    RAVEL=$target/release/ravel
fi
if [ -z "${THROUGHPUT:-}" ]; then
    cargo build --release -q -p ravel-analysis --example analysis_throughput
    THROUGHPUT=$target/release/examples/analysis_throughput
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# row NAME FILE ANALYSES CORES: one run of `ravel check`.
row() {
    local which=() code=0
    [ "$3" = all ] || which=(--analyses "$3")
    /usr/bin/time -f '%e %U %S %M' -o "$work/time" "$RAVEL" check --all --format json --threads "$4" "${which[@]}" "$2" \
        >"$work/report" 2>"$work/err" </dev/null || code=$?
    if [ "$code" -gt 1 ]; then
        echo "| $1 | failed: $(head -1 "$work/err") |"
        status=1
        return
    fi
    local events findings planted bounds
    events=$(jq '.summary.events' "$work/report")
    findings=$(jq '.findings | length' "$work/report")
    # Variables beyond the 10,000 of the generator are those of planted bugs.
    planted=$(jq '[.findings[].variables[] | capture("^V(?<n>1[0-9]{4})$").n] | unique | length' "$work/report")
    bounds=$(grep -c 'left out\|known less exactly' "$work/err" || true)
    tail -1 "$work/time" | awk -v n="$1" -v a="$3" -v c="$4" -v e="$events" -v f="$findings" -v p="$planted" -v b="$bounds" '{
        printf "| %s | %d | %s | %d | %.2f | %.2f | %.2f | %d | %d | %d | %s |\n", n, e, a, c, e / $1 / 1e6, e / ($2 + $3) / 1e6, $2 + $3, $4 / 1024, f, b, p }'
}

rows() {
    local analyses cores
    for analyses in ${ANALYSES:-lockset race reduction blocks automata patterns serializability all}; do
        for cores in ${CORES:-1 2}; do
            row "$1" "$2" "$analyses" "$cores"
        done
    done
}

echo "| trace | events | analyses | cores | M events/s | M events per CPU s | CPU s | peak MB | findings | bounds hit | planted found |"
echo "|---|---|---|---|---|---|---|---|---|---|---|"
for kind in ${KINDS-guarded diverse hot}; do
    for events in ${EVENTS:-100000 1000000 5000000 20000000}; do
        "$THROUGHPUT" --events "$events" --kind "$kind" --std "$work/trace.std"
        "$RAVEL" trace import "$work/trace.std" -o "$work/trace.ravel" >/dev/null 2>&1
        rm "$work/trace.std"
        rows "$kind" "$work/trace.ravel"
    done
done
for file in "$@"; do
    rows "$(basename "$file" .ravel)" "$file"
done
exit $status
