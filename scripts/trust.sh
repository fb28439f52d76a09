#!/usr/bin/env bash
# What must never be wrong, again and again on a loaded machine: `scripts/trust.sh [RUNS]` (make trust; 20). The cases are the tables of
# docs/trust.md: each program that they name is tried RUNS times on each of two JDKs, and each whole-program test is run RUNS times, with the JDKs
# exchanged from round to round, while `stress` keeps every core busy. Tests of the command line alone (`cli::`) run once. Prints how often each did
# what it must; exits with 1 if one did not, once, or if an attempt was not made.
#
# TRUST_LOG        a file that keeps the attempts, so that a run can be made in several goes; those of another commit or profile do not count
# TRUST_SECONDS    nothing is begun after that many seconds (36000)
# TRUST_ONLY       `programs` or `tests`: one of the two; else both run side by side
# TRUST_STOP=1     the first failure ends the run
# TRUST_PROFILE    the profile of cargo (release)
set -euo pipefail
caller=$PWD
cd "$(dirname "$0")/.."
root=$PWD
runs=${1:-20}
seconds=${TRUST_SECONDS:-36000}
only=${TRUST_ONLY:-programs tests}
profile=${TRUST_PROFILE:-release}

fail() {
    echo "trust: $*" >&2
    exit 2
}
case $runs in '' | *[!0-9]* | 0) fail "RUNS is a number from 1 on, not \`$runs\`" ;; esac
command -v stress >/dev/null || fail "stress is needed: apt-get install stress"
[[ $only =~ ^(programs|tests|programs\ tests)$ ]] || fail "TRUST_ONLY is \`programs\` or \`tests\`, not \`$only\`"
case $(scripts/find-jdk.sh --releases | wc -l) in 0 | 1) fail "two JDKs from 17 on are needed" ;; esac

# column N: what stands between backquotes in column N of the tables.
column() {
    awk -F'|' -v n="$1" '/^\| / { print $(n + 1) }' docs/trust.md | { grep -o '`[^`]*`' || true; } | tr -d '`' | sort -u
}
mapfile -t programs < <({ column 2; column 3; } | grep '^[A-Z][A-Za-z]*$' | sort -u)
mapfile -t tests < <(column 4 | grep '::')
# Without names, everything would run.
[ ${#programs[@]} -gt 0 ] || fail "docs/trust.md names no program"
[ ${#tests[@]} -gt 0 ] || fail "docs/trust.md names no test"
for name in "${programs[@]}"; do
    [ -f "subjects/bugs/$name.java" ] || [ -f "subjects/benign/$name.java" ] || fail "docs/trust.md: no such program: $name"
done

# The files as they are, with those that git does not know yet, have one name.
work=$(mktemp -d)
commit=$(git rev-parse --short HEAD)
if [ -n "$(git status --porcelain)" ]; then
    cp "$(git rev-parse --git-path index)" "$work/index"
    commit=$commit-dirty-$(GIT_INDEX_FILE=$work/index git add -A && GIT_INDEX_FILE=$work/index git write-tree | cut -c1-8)
fi
build="$commit $profile"

log=${TRUST_LOG:-$work/log}
case $log in /*) ;; *) log=$caller/$log ;; esac
: >>"$log" || fail "$log cannot be written"

# Each job is a process group of its own: `stress` has workers and a test has programs, which end with it. The shell waits for them in a way that
# a signal ends.
set -m
jobs_under_way=()
end_group() {
    kill -TERM -- "-$1" 2>/dev/null || return 0
    for _ in $(seq 50); do
        kill -0 -- "-$1" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL -- "-$1" 2>/dev/null || true
}
end() {
    trap - EXIT
    trap '' INT TERM
    for group in "${jobs_under_way[@]}"; do end_group "$group"; done
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# Built once and copied: what is edited or built meanwhile changes nothing that is tried.
chosen=()
[ "$profile" = debug ] || chosen=(--profile "$profile")
${CARGO:-cargo} test --locked "${chosen[@]}" -p ravel --test all --no-run --message-format=json >"$work/build" &
jobs_under_way+=($!)
wait $! || fail "the tests do not compile"
jobs_under_way=()
cp "$(grep -o '"executable":"[^"]*/all-[^"]*"' "$work/build" | tail -1 | cut -d'"' -f4)" "$work/all"
cp "$(grep -o '"executable":"[^"]*/ravel"' "$work/build" | tail -1 | cut -d'"' -f4)" "$work/ravel"
export RAVEL_BINARY=$work/ravel
# Nothing may be left out, such as a JDK.
export RAVEL_NO_SKIP=1
unset RAVEL_MAY_SKIP
for name in "${tests[@]}"; do
    grep -qx "$name: test" <<<"$("$work/all" --list --format terse 2>/dev/null)" || fail "docs/trust.md: no such test: $name"
done

begin=$SECONDS
stress --quiet --cpu "$(nproc)" --timeout $((2 * seconds + 3600)) &
jobs_under_way+=($!)
# Its end is no news.
disown $!
echo "$(date -u +%F), commit $commit, $profile build, JDKs $(scripts/find-jdk.sh --releases | tr '\n' ' '), $(nproc) cores, each kept busy by stress"

# Beside the tests one program at a time, else two.
try_programs() {
    local jobs=2
    [ "$only" = programs ] || jobs=1
    cd "$root/crates/ravel"
    mkdir "$work/programs"
    RAVEL_TESTS_IN=$work/programs EVIDENCE_BUILD=$build EVIDENCE_LOG=$log EVIDENCE_RUNS=$runs EVIDENCE_SECONDS=$seconds EVIDENCE_JOBS=$jobs \
        EVIDENCE_ONLY=$(IFS=,; echo "${programs[*]}") EVIDENCE_OF_20=20 EVIDENCE_COMPLETE=1 EVIDENCE_STOP=${TRUST_STOP:-0} \
        "$work/all" --ignored --nocapture --exact evidence::every_subject_reaches_its_evidence >"$work/programs.out" 2>&1
}

# attempts NAME, passed NAME: of this build in the log.
attempts() { grep -F "\"build\":\"$build\"" "$log" | grep -cF "\"test\":\"$1\"" || true; }
passed() { grep -F "\"build\":\"$build\"" "$log" | grep -F "\"test\":\"$1\"" | grep -cF '"passed":true' || true; }
wanted() { case $1 in cli::*) echo 1 ;; *) echo "$runs" ;; esac; }

# Runs those tests that have the fewest attempts, until each has all of its own.
try_tests() {
    local name made least chosen failed=0
    mkdir "$work/tests"
    cd "$root/crates/ravel"
    while [ $((SECONDS - begin)) -lt "$seconds" ]; do
        least=$runs chosen=()
        for name in "${tests[@]}"; do
            made=$(attempts "$name")
            [ "$made" -lt "$(wanted "$name")" ] || continue
            [ "$made" -ge "$least" ] || { least=$made chosen=(); }
            [ "$made" -gt "$least" ] || chosen+=("$name")
        done
        [ ${#chosen[@]} -gt 0 ] || break
        RAVEL_TESTS_IN=$work/tests RAVEL_TURN=$least "$work/all" --exact "${chosen[@]}" >"$work/round" 2>&1 || failed=1
        note_round
        # An attempt that ended without a word would be made again and again.
        for name in "${chosen[@]}"; do
            [ "$(attempts "$name")" -gt "$least" ] || note "$name" false
        done
        grep -A12 "panicked at" "$work/round" >>"$work/panics" || true
        [ "$failed" = 0 ] || [ "${TRUST_STOP:-0}" != 1 ] || break
    done
    return "$failed"
}
# One write each: the programs append to the same file.
note() { printf '{"build":"%s","test":"%s","passed":%s}\n' "$build" "$1" "$2" >>"$log"; }
note_round() {
    local name result
    while read -r name result; do
        case $result in ok) note "$name" true ;; *) note "$name" false ;; esac
    done < <(sed -nE 's/^test ([a-z_0-9:]+) \.\.\. (ok|FAILED)$/\1 \2/p' "$work/round")
}

status=0
under_way=()
if [[ $only == *programs* ]]; then
    try_programs &
    under_way+=($!)
fi
if [[ $only == *tests* ]]; then
    try_tests &
    under_way+=($!)
fi
jobs_under_way+=("${under_way[@]}")
while [ ${#under_way[@]} -gt 0 ]; do
    wait -n -p ended "${under_way[@]}" || status=1
    left=()
    for group in "${under_way[@]}"; do
        [ "$group" = "$ended" ] || left+=("$group")
    done
    under_way=("${left[@]}")
    if [ "$status" = 1 ] && [ "${TRUST_STOP:-0}" = 1 ]; then
        for group in "${under_way[@]}"; do end_group "$group"; done
        break
    fi
done

if [[ $only == *programs* ]]; then
    echo
    cat "$work/programs.out"
fi
if [[ $only == *tests* ]]; then
    echo
    echo "| test | passed | of |"
    echo "|---|---|---|"
    missing=()
    for name in "${tests[@]}"; do
        made=$(attempts "$name") good=$(passed "$name") want=$(wanted "$name")
        echo "| \`$name\` | $good | $made |"
        [ "$good" = "$made" ] || status=1
        [ "$made" -ge "$want" ] || missing+=("$name: $made of $want")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        status=1
        printf 'attempt that is missing: %s\n' "${missing[@]}"
    fi
    [ ! -s "$work/panics" ] || cat "$work/panics" >&2
fi
exit $status
