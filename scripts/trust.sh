#!/usr/bin/env bash
# What must never be wrong, again and again on a loaded machine: `scripts/trust.sh [RUNS]` (make trust; 20). The cases are the tables of
# docs/trust.md: each program that they name is tried RUNS times on each JDK found, and each whole-program test is run RUNS times, while `stress`
# keeps every core busy. Prints how often each did what it must; exits with 1 if one did not, once.
#
# TRUST_LOG names a file that keeps the attempts at programs, so that a run can be made in several goes; TRUST_SECONDS bounds the attempts at programs,
# and then the rounds of tests, by that many seconds each. TRUST_ONLY=programs or TRUST_ONLY=tests runs one of the two.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-20}
cargo=${CARGO:-cargo}
seconds=${TRUST_SECONDS:-36000}
command -v stress >/dev/null || { echo "stress is needed: apt-get install stress" >&2; exit 2; }

# column N: what stands between backquotes in column N of the tables.
column() {
    awk -F'|' -v n="$1" '/^\| / { print $(n + 1) }' docs/trust.md | { grep -o '`[^`]*`' || true; } | tr -d '`' | sort -u
}
programs=$( { column 2; column 3; } | grep '^[A-Z]' | sort -u)
# A name that no program has is a mistake of the page.
for name in $programs; do
    [ -f "subjects/bugs/$name.java" ] || [ -f "subjects/benign/$name.java" ] || { echo "docs/trust.md: no such program: $name" >&2; exit 2; }
done
programs=${programs//$'\n'/,}
mapfile -t tests < <(column 4 | grep '::')

$cargo test -q --release -p ravel --test all --no-run
stress --quiet --cpu "$(nproc)" --timeout $((2 * seconds + 600)) &
load=$!
end() { kill "$load" 2>/dev/null && wait "$load" 2>/dev/null || true; }
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "$(date -u +%F), commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown), $(nproc) cores, each kept busy by stress"
status=0
if [ "${TRUST_ONLY:-programs}" = programs ]; then
    echo
    EVIDENCE_RUNS=$runs EVIDENCE_SECONDS=$seconds EVIDENCE_ONLY=$programs EVIDENCE_OF_20=20 ${TRUST_LOG:+env EVIDENCE_LOG="$TRUST_LOG"} \
        $cargo test -q --release -p ravel --test all -- --ignored --nocapture evidence:: || status=1
fi
if [ "${TRUST_ONLY:-tests}" = tests ]; then
    log=$(mktemp)
    begin=$SECONDS
    for ((round = 1; round <= runs; round++)); do
        [ $((SECONDS - begin)) -lt "$seconds" ] || { echo "the time ran out after $((round - 1)) rounds of tests"; break; }
        RAVEL_NO_SKIP=1 $cargo test --release -p ravel --test all -- --exact "${tests[@]}" >>"$log" 2>&1 || status=1
    done
    echo
    echo "| test | passed | of |"
    echo "|---|---|---|"
    awk '/^test [a-z_0-9:]+ \.\.\. / { of[$2]++; passed[$2] += /\.\.\. ok$/ } END { for (name in of) printf "| `%s` | %d | %d |\n", name, passed[name], of[name] }' "$log" | sort
    for name in "${tests[@]}"; do grep -q "^test $name " "$log" || { echo "no such test: $name" >&2; status=1; }; done
    [ "$status" = 0 ] || grep -A12 "panicked at" "$log" >&2 || true
    rm -f "$log"
fi
exit $status
