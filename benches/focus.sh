#!/usr/bin/env bash
# What focus plans save: `benches/focus.sh [RUNS]` (default 3), as markdown on standard output, in the form of the Focus paper's
# Table 1. Base, full and focused runs alternate, so that a busy machine disturbs all alike; figures are medians of processor time
# (user and system) of the JVM alone, from its start to its end.
#
# With RAVEL set, that binary is measured; otherwise one is built. With SMALL=1 programs run a fraction of their usual size.
# With PROGRAMS="Tsp Elevator" only these.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-3}
target=${CARGO_TARGET_DIR:-target}
if [ -z "${RAVEL:-}" ]; then
    cargo build --release -q -p ravel
    RAVEL=$target/release/ravel
fi
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v /usr/bin/time >/dev/null || { echo "GNU time is needed: apt-get install time" >&2; exit 2; }

median() { sort -n "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

# cpu FILE COMMAND...: appends the processor time of the command.
cpu() {
    local file=$1; shift
    /usr/bin/time -o "$work/time" -f '%U %S' "$@" >"$work/out.$(basename "$file")" 2>>"$work/errors"
    awk '{print $1 + $2}' "$work/time" >>"$file"
}

# recorded FILE FOCUS-OPTIONS -- COMMAND...: the same, recorded.
recorded() {
    local file=$1 options=(); shift
    while [ "$1" != -- ]; do options+=("$1"); shift; done; shift
    rm -f "$work"/t*.ravel
    "$RAVEL" record --exit-code program -o "$work/t.ravel" "${options[@]}" -- \
        /usr/bin/time -o "$work/time" -f '%U %S' "$@" >"$work/out.$(basename "$file")" 2>>"$work/errors"
    awk '{print $1 + $2}' "$work/time" >>"$file"
}

# row NAME CLASSES COMMAND...
row() {
    local name=$1 classes=$2 i mode; shift 2
    "$RAVEL" own $classes -o "$work/plan.toml" >"$work/own" 2>>"$work/errors" || { echo "| $name | no plan: $(tail -1 "$work/errors") |"; return; }
    rm -f "$work"/base "$work"/full "$work"/field "$work"/method "$work"/combined
    for ((i = 0; i < runs; i++)); do
        cpu "$work/base" "$@"
        recorded "$work/full" -- "$@"
        for mode in field method combined; do
            recorded "$work/$mode" --focus "$work/plan.toml" --focus-mode $mode -- "$@"
        done
        for mode in full field method combined; do
            cmp -s "$work/out.base" "$work/out.$mode" || { echo "the output differs: $name, $mode" >&2; status=1; }
        done
    done
    local figures=""
    for mode in base full field method combined; do figures+=" $(median "$work/$mode")"; done
    local fields methods accesses
    fields=$(awk '/ fields: /{print $6 "/" $1}' "$work/own")
    methods=$(awk '/ methods: /{print $5 "/" $1}' "$work/own")
    accesses=$(awk '/ accesses in the code: /{print $6 "/" $1}' "$work/own")
    echo "$figures" | awk -v n="$name" -v f="$fields" -v m="$methods" -v a="$accesses" '{
        b = $1; full = $2; printf "| %s | %.2f | %.2f | %s |", n, b, full, f
        for (i = 3; i <= 5; i++) {
            if (i == 4) printf " %s |", m
            if (i == 5) printf " %s |", a
            printf " %.2f | %d%% | %d%% |", $i, 100 * ($i - b) / b, (full > b ? 100 * (full - $i) / (full - b) : 0)
        }
        print "" }'
    echo "$figures" | awk '{printf "%.4f %.4f\n", ($5 - $1) / $1, ($2 > $1 ? ($2 - $5) / ($2 - $1) : 0)}' >>"$work/all"
}

status=0
mkdir "$work/classes"
"${java}c" -d "$work/classes" --release 17 benches/programs/*.java
echo "$("$java" -version 2>&1 | sed -n 2p), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg), median of $runs"
echo
echo "| program | base s | full s | may race | field s | ovhd | saved | untyped | method s | ovhd | saved | left out | combined s | ovhd | saved |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
if [ -n "${SMALL:-}" ]; then
    sizes=("Sor 60" "RayTracer 250" "MonteCarlo 2500" "TreeSort 200" "Bank 300" "Pipeline 20000" "Tsp 14" "Elevator 40")
else
    sizes=("Sor 300" "RayTracer 800" "MonteCarlo 6000" "TreeSort 1000" "Bank 2000" "Pipeline 100000" "Tsp 17" "Elevator 120")
fi
for program in "${sizes[@]}"; do
    name=${program% *}
    case " ${PROGRAMS:-$name} " in *" $name "*) ;; *) continue ;; esac
    mkdir -p "$work/one"; rm -f "$work"/one/*
    cp "$work"/classes/"$name".class "$work"/one/
    cp "$work"/classes/"$name"\$*.class "$work"/one/ 2>/dev/null || true
    row "$program" "$work/one" "$java" -cp "$work/one" $program 2
done
if [ -f realworld/target/drivers-1.jar ] && [ -z "${PROGRAMS:-}" ]; then
    for driver in H2Driver JettyDriver; do
        row "$driver" "realworld/target/drivers-1.jar $(echo realworld/target/dependency/*.jar)" \
            "$java" -cp 'realworld/target/drivers-1.jar:realworld/target/dependency/*' "realworld.$driver"
    done
elif [ -z "${PROGRAMS:-}" ]; then
    echo "H2 and Jetty are not measured: build realworld/ first (make realworld)" >&2
fi
[ -f "$work/all" ] && for column in 1 2; do
    what=$([ $column = 1 ] && echo "overhead" || echo "share of the cost that is saved")
    sort -n -k$column "$work/all" | awk -v c=$column -v w="$what" '{v[NR] = $c; s += $c} END {
        printf "\nCombined: median %s %d%%, mean %d%%.", w, 100 * (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2), 100 * s / NR}'
done
echo
exit $status
