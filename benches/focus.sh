#!/usr/bin/env bash
# What focus plans save: `benches/focus.sh [RUNS]` (default 3), as markdown on standard output, in the form of the Focus paper's
# Tables 1 and 2. Base, full and focused runs alternate, so that a busy machine disturbs all alike; figures are medians of
# processor time (user and system) of the JVM alone, from its start to its end.
#
# Table 1: what recording costs. Base is the program alone; *every* records every access (--keep-unshared --keep-repeats, up to
# 60 MB of trace), as the paper's full checking looks at every one; *full* is what `ravel record` does without a plan; then a plan
# in each mode. *Races* leaves out all that cannot race, as the paper's combined mode does; it serves the race analyses alone.
# Field and method are the paper's simpler modes. Nothing but this comparison needs them, so `ravel record --help` does not show them.
# Table 2: what the block-based analysis of the first 20 MB of a full trace costs, alone, with and without what the plan proves, and
# with the paper's reduced events (`--reduce-atomic`, hidden in help for the same reason).
#
# With RAVEL set, that binary is measured; otherwise one is built. With SMALL=1 programs run a fraction of their usual size.
# With PROGRAMS="Tsp Elevator" only these (H2, Jetty and, only if they are named, Derby and Lucene are programs too), with TABLES=1 or TABLES=2 only that table.
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/setup.sh "${1:-3}"

median() { median_of "$1" 1; }

# cpu FILE COMMAND...: appends the processor time of the command.
cpu() {
    local file=$1; shift
    /usr/bin/time -o "$work/time" -f '%U %S' "$@" >"$work/out.$(basename "$file")" 2>>"$work/errors"
    awk '{print $1 + $2}' "$work/time" >>"$file"
}

# recorded FILE OPTIONS -- COMMAND...: the same, recorded.
recorded() {
    local file=$1 options=(); shift
    while [ "$1" != -- ]; do options+=("$1"); shift; done; shift
    rm -f "$work"/t*.ravel
    "$ravel" record --exit-code program -o "$work/t.ravel" ${options[@]+"${options[@]}"} -- \
        /usr/bin/time -o "$work/time" -f '%U %S' "$@" >"$work/out.$(basename "$file")" 2>>"$work/errors"
    awk '{print $1 + $2}' "$work/time" >>"$file"
}

modes="every full field method combined races"
tables=${TABLES:-1 2}

# row NAME CLASSES COMMAND...
row() {
    local name=$1 classes=$2 i mode; shift 2
    /usr/bin/time -o "$work/own.time" -f '%U %S %M' "$ravel" own $classes -o "$work/plan.toml" >"$work/own" 2>>"$work/errors" ||
        { echo "| $name | no plan: $(tail -1 "$work/errors") |"; status=1; return; }
    case $tables in *1*) table1 "$name" "$@" ;; esac
    case $tables in *2*) ;; *) return ;; esac
    # With a plan that leaves nothing out: the trace is the full one, and the analyses may use what is proven.
    recorded "$work/none" --focus "$work/plan.toml" --focus-mode none --max-size 20M -- "$@"
    analysed "$name"
}

# table1 NAME COMMAND...
table1() {
    local name=$1 i mode; shift
    for mode in base $modes; do rm -f "$work/$mode"; done
    for ((i = 0; i < runs; i++)); do
        cpu "$work/base" "$@"
        # Everything is a hundred times more, so once must do.
        [ "$i" -gt 0 ] || recorded "$work/every" --keep-unshared --keep-repeats --max-size 60M -- "$@"
        recorded "$work/full" -- "$@"
        for mode in field method combined races; do
            recorded "$work/$mode" --focus "$work/plan.toml" --focus-mode $mode -- "$@"
        done
        for mode in $modes; do
            cmp -s "$work/out.base" "$work/out.$mode" || { echo "the output differs: $name, $mode" >&2; status=1; }
        done
    done
    local figures=""
    for mode in base $modes; do figures+=" $(median "$work/$mode")"; done
    local fields methods accesses
    fields=$(awk '/ fields: /{print $6 "/" $1}' "$work/own")
    methods=$(awk '/ methods: /{print $5 "/" $1}' "$work/own")
    accesses=$(awk '/ accesses in the code: /{print $6 "/" $1}' "$work/own")
    echo "$figures" | awk -v n="$name" -v f="$fields" -v m="$methods" -v a="$accesses" '{
        b = $1; full = $3; printf "| %s | %.2f | %.2f | %.2f | %s |", n, b, $2, full, f
        for (i = 4; i <= 7; i++) {
            if (i == 5) printf " %s |", m
            if (i == 6) printf " %s |", a
            printf " %.2f | %d%% | %d%% |", $i, 100 * ($i - b) / b, (full > b ? 100 * (full - $i) / (full - b) : 0)
            if (i >= 6) printf " %d%% |", ($2 > b ? 100 * ($2 - $i) / ($2 - b) : 0)
        }
        printf "\n" }'
    echo "$figures" | awk '{for (i = 6; i <= 7; i++)
        printf "%.4f %.4f %.4f ", ($i - $1) / $1, ($3 > $1 ? ($3 - $i) / ($3 - $1) : 0), ($2 > $1 ? ($2 - $i) / ($2 - $1) : 0)
        printf "\n"}' >>"$work/all"
}

# The time of reading a full trace, of blocks alone, and of blocks with the plan.
analysed() {
    local name=$1 what
    mv "$work/t.ravel" "$work/full.ravel"
    for what in read whole focused; do rm -f "$work/a.$what"; done
    for ((i = 0; i < runs; i++)); do
        check read trace info "$work/full.ravel"
        check whole check --analyses blocks "$work/full.ravel"
        check focused check --analyses blocks --reduce-atomic --focus "$work/plan.toml" "$work/full.ravel"
    done
    local atomic
    atomic=$(awk '/ methods: /{print $7 "/" $1}' "$work/own")
    echo "$(median "$work/a.read") $(median "$work/a.whole") $(median "$work/a.focused") $(cat "$work/own.time")" | awk -v n="$name" -v a="$atomic" '{
        printf "| %s | %s | %.2f | %.2f | %.2f | %d%% | %.1f | %d |\n", n, a, $1, $2, $3, ($2 > $1 ? 100 * ($2 - $3) / ($2 - $1) : 0), $4 + $5, $6 / 1024 }' >>"$work/table2"
}

check() {
    local what=$1; shift
    /usr/bin/time -o "$work/time" -f '%U %S' "$ravel" "$@" >/dev/null 2>>"$work/errors" || [ $? = 1 ] || status=1
    tail -1 "$work/time" | awk '{print $1 + $2}' >>"$work/a.$what"
}

wanted() { case " ${PROGRAMS:-$1} " in *" $1 "*) ;; *) return 1 ;; esac; }

case $tables in *1*)
    echo "| program | base s | every s | full s | may race | field s | ovhd | saved | untyped | method s | ovhd | saved | left out | combined s | ovhd | saved | of every | races s | ovhd | saved | of every |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|" ;;
esac
if [ -n "${SMALL:-}" ]; then
    sizes=("Sor 60" "RayTracer 250" "MonteCarlo 2500" "TreeSort 200" "Bank 300" "Pipeline 20000" "Tsp 14" "Elevator 40" "Crawler 10")
else
    sizes=("Sor 2000" "RayTracer 800" "MonteCarlo 6000" "TreeSort 1500" "Bank 5000" "Pipeline 100000" "Tsp 20" "Elevator 120" "Crawler 300")
fi
for program in "${sizes[@]}"; do
    name=${program% *}
    wanted "$name" || continue
    mkdir -p "$work/one"; rm -f "$work"/one/*
    cp "$work"/classes/"$name".class "$work"/one/
    cp "$work"/classes/"$name"\$*.class "$work"/one/ 2>/dev/null || true
    row "$program" "$work/one" "$java" -cp "$work/one" $program 2
done
realworld=${REALWORLD:-realworld/target}
if [ -f "$realworld/drivers-1.jar" ]; then
    for program in H2 Jetty Derby Lucene; do
        wanted "$program" || continue
        # These two take minutes for what the others show as well: by name only.
        case "$program ${PROGRAMS:-}" in "Derby " | "Lucene ") continue ;; esac
        jars=$(ls "$realworld"/dependency/"${program,,}"*.jar "$realworld"/dependency/slf4j*.jar | tr '\n' ' ')
        # The driver alone, so that the plan is not about programs that do not run.
        rm -rf "$work/driver"; mkdir "$work/driver"
        (cd "$work/driver" && "${java%java}jar" xf "$(realpath "$OLDPWD/$realworld/drivers-1.jar")" realworld &&
            find realworld -name '*Driver*.class' ! -name "${program}Driver*" -delete)
        # H2 and Jetty take how many times the usual work they do.
        row "$program" "$work/driver $jars" "$java" -cp "$work/driver:$(echo $jars | tr ' ' ':')" "realworld.${program}Driver" 2
    done
elif [ -z "${PROGRAMS:-}" ]; then
    echo "H2 and Jetty are not measured: build realworld/ first (make realworld)" >&2
fi
whats=("" "overhead" "share of the cost of full recording that is saved" "share of the cost of recording every access that is saved")
[ -f "$work/all" ] && for column in 1 2 3 4 5 6; do
    what=${whats[(column - 1) % 3 + 1]}
    mode=$([ $column -le 3 ] && echo Combined || echo Races)
    sort -n -k$column,$column "$work/all" | awk -v c=$column -v w="$what" -v m="$mode" '{v[NR] = $c; s += $c} END {
        printf "\n%s: median %s %d%%, mean %d%%.", m, w, 100 * (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2), 100 * s / NR}'
done
if [ -f "$work/table2" ]; then
    echo
    echo
    echo "| program | verified atomic | reading s | blocks s | focused s | saved | own s | own MB |"
    echo "|---|---|---|---|---|---|---|---|"
    cat "$work/table2"
fi
exit $status
