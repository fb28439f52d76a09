# Measures a Java program plain and recorded. Read by benches/run.sh and scripts/realworld.sh.
#
# The recorded JVM alone is timed, to its end: the trace is complete by then. What `ravel record` does afterwards (reading
# the trace once, for its figures) is not the program's cost.

command -v /usr/bin/time >/dev/null || { echo "GNU time is needed: apt-get install time" >&2; exit 2; }

# median_of FILE COLUMN
median_of() { sort -n -k"$2,$2" "$1" | awk -v c="$2" '{v[NR] = $c} END {print v[int((NR + 1) / 2)]}'; }

# measure RUNS COMMAND...: runs the command plain and recorded in turn and compares what they print.
# Sets wall, cpu, rss (kB), wall_r, cpu_r, rss_r, events, bytes, classes, waited (ms); fails if the output differs.
measure() {
    local runs=$1 i; shift
    : >"$work/plain"; : >"$work/recorded"
    for ((i = 0; i < runs; i++)); do
        /usr/bin/time -a -o "$work/plain" -f '%e %U %S %M' "$@" >"$work/out" 2>"$work/err" || return 1
        rm -f "$work"/t*.ravel
        "$ravel" record --exit-code program -o "$work/t.ravel" -- \
            /usr/bin/time -a -o "$work/recorded" -f '%e %U %S %M' "$@" >"$work/out_r" 2>"$work/err_r" || return 1
        cmp -s "$work/out" "$work/out_r" || { echo "the output differs: $*" >&2; return 1; }
    done
    awk '{print $1, $2 + $3, $4}' "$work/plain" >"$work/plain.sums"
    awk '{print $1, $2 + $3, $4}' "$work/recorded" >"$work/recorded.sums"
    wall=$(median_of "$work/plain.sums" 1); cpu=$(median_of "$work/plain.sums" 2); rss=$(median_of "$work/plain.sums" 3)
    wall_r=$(median_of "$work/recorded.sums" 1); cpu_r=$(median_of "$work/recorded.sums" 2); rss_r=$(median_of "$work/recorded.sums" 3)
    events=$(grep -ao '[0-9]* events of' "$work/err_r" | awk '{n += $1} END {print n + 0}')
    classes=$(grep -ao '[0-9]* classes instrumented' "$work/err_r" | awk '{n += $1} END {print n + 0}')
    failed=$(grep -ao '[0-9]* failed' "$work/err_r" | awk '{n += $1} END {print n + 0}')
    waited=$(grep -ao 'threads waited [0-9]*' "$work/err_r" | awk '{n += $3} END {print n + 0}')
    bytes=$(cat "$work"/t*.ravel | wc -c)
}
