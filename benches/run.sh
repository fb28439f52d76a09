#!/usr/bin/env bash
# What recording costs, and how fast traces are read: `benches/run.sh [RUNS]` (default 3), as markdown on standard output.
#
# Plain and recorded runs alternate, so that a busy machine disturbs both; the ratios are of medians. With RAVEL set, that
# binary is measured; otherwise one is built.
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/setup.sh "${1:-3}"
cargo build --release -q -p ravel-trace --example throughput
throughput=$target/release/examples/throughput
echo "| program | plain s (wall, CPU) | recorded s (wall, CPU) | wall × | CPU × | events | events/s | MB | bytes/event | read M/s | memory + MB | waited ms |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|"

# row NAME COMMAND...
row() {
    local name=$1; shift
    if ! measure "$runs" "$@"; then
        echo "| $name | failed |"
        tail -3 "$work/err_r" >&2
        status=1
        return
    fi
    local read
    # Of less than a million events the time is too short to tell.
    read=$("$throughput" "$work"/t*.ravel | awk '$2 >= 1000000 {sub(/.* read at /, ""); print $1}' | sort -n | head -1)
    awk -v n="$name" -v r="$read" -v w="$wall" -v c="$cpu" -v wr="$wall_r" -v cr="$cpu_r" -v e="$events" -v b="$bytes" \
        -v m="$rss" -v mr="$rss_r" -v bp="$waited" 'BEGIN {
        printf "| %s | %.2f, %.2f | %.2f, %.2f | %.2f | %.2f | %d | %.1f M | %.1f | %.2f | %s | %d | %d |\n",
            n, w, c, wr, cr, wr / w, cr / c, e, e / wr / 1e6, b / 1e6, (e ? b / e : 0), r, (mr - m) / 1024, bp }'
    echo "$wall $wall_r $cpu $cpu_r $bytes $events" >>"$work/all"
}

# Sizes at which the trace stays below a gigabyte and, but for Bank, a plain run takes two seconds or more of processor time.
for program in "Sor 2800" "RayTracer 1100" "MonteCarlo 8000" "TreeSort 1800" "Bank 8000" "Pipeline 200000" "Tsp 20" "Elevator 250" "Crawler 150"; do
    row "$program" "$java" -cp "$work/classes" $program 2
done
if [ -f realworld/target/drivers-1.jar ]; then
    row H2 "$java" -cp 'realworld/target/drivers-1.jar:realworld/target/dependency/*' realworld.H2Driver
else
    echo "H2 is not measured: build realworld/ first (make realworld)" >&2
fi
echo
awk '{w += log($2 / $1); c += log($4 / $3); if ($2 / $1 > mw) mw = $2 / $1; if ($4 / $3 > mc) mc = $4 / $3; b += $5; e += $6}
    END {printf "Geometric mean: wall %.2f×, CPU %.2f×. Worst: wall %.2f×, CPU %.2f×. %.2f bytes/event over all.\n",
        exp(w / NR), exp(c / NR), mw, mc, b / e}' "$work/all"
if [ -z "${NO_READING:-}" ]; then
    echo
    echo "Reading and writing traces (generated records, one core):"
    echo '```'
    "$throughput"
    echo '```'
    echo "Analyses (generated traces, on one core and on two):"
    echo '```'
    cargo run --release -q -p ravel-analysis --example analysis_throughput -- --events "${ANALYSIS_EVENTS:-20000000}"
    echo '```'
    echo "Scan (more and more modules of the JDK):"
    echo
    cargo run --release -q -p ravel-scan --example scaling -- "${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")}"
fi
exit $status
