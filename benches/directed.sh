#!/usr/bin/env bash
# What directed runs cost over plain ones: `benches/directed.sh [RUNS]` (default 3), as markdown on standard output.
#
# Each program is run plain, and then by `ravel run`, which directs it towards what it found; the time of a directed run is the mean of
# all that were made. BUDGET says how many seconds they may take in all (60). With RAVEL set, that binary is measured; otherwise one is built.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v jq >/dev/null || { echo "jq is needed: apt-get install jq" >&2; exit 2; }
. benches/setup.sh "${1:-3}"
echo "| program | plain s | directed s | × | directed runs | findings tried | happened |"
echo "|---|---|---|---|---|---|---|"

# row NAME COMMAND...
row() {
    local name=$1; shift
    : >"$work/plain"
    for ((i = 0; i < runs; i++)); do
        /usr/bin/time -a -o "$work/plain" -f '%e' "$@" >/dev/null 2>&1 </dev/null || { echo "| $name | failed |"; status=1; return; }
    done
    "$ravel" run --all --orders 0 --budget "${BUDGET:-60}" -o "$work/run.ravel" --out "json=$work/run.json" -- "$@" >/dev/null 2>"$work/err" </dev/null || :
    jq -r '[.summary.times.directed_runs, .summary.times.directed, ([.directed[]?.finding] | unique | length),
        ([.directed[]? | select(.happened > 0) | .finding] | unique | length)] | @tsv' "$work/run.json" >"$work/figures" || { status=1; return; }
    awk -v n="$name" -v w="$(median_of "$work/plain" 1)" -v all="$work/all" '{
        if (!$1) { printf "| %s | %.2f | none was made | | 0 | 0 | 0 |\n", n, w; exit }
        d = $2 / $1 / 1000
        printf "| %s | %.2f | %.2f | %.2f | %d | %d | %d |\n", n, w, d, d / w, $1, $3, $4
        print d / w >>all }' "$work/figures"
}

for program in "Sor 1000" "RayTracer 500" "MonteCarlo 2000" "TreeSort 600" "Bank 2000" "Pipeline 50000" "Tsp 16" "Elevator 100" "Crawler 60"; do
    row "$program" "$java" -cp "$work/classes" $program 2
done
for library in Caffeine Reactor Pekko NanoHttpd Stormpot Wisp EventBus JcTools; do
    [ -f realworld/libraries/target/libraries-1.jar ] || break
    row "$library" "$java" -cp 'realworld/libraries/target/libraries-1.jar:realworld/libraries/target/dependency/*' "libraries.${library}Driver" fixed
done
echo
[ ! -s "$work/all" ] || awk '{s += log($1); if ($1 > worst) worst = $1} END {printf "Geometric mean %.2f×, worst %.2f×, of %d programs.\n", exp(s / NR), worst, NR}' "$work/all"
exit $status
