#!/bin/bash
# Tries Ravel on a JDK of each of several releases: programs with a bug must be proven, their corrected twins must be silent. Prints the table of
# docs/jvms.md. The JDKs come from Debian's unstable archive (fetch-jdks.sh) and are installed nowhere; the programs are compiled for Java 8.
#
# usage: scripts/jvms-test.sh [RELEASE…]      [default: 8 11 17 21 25 26 27 28]
#
# RAVEL names the binary (target/debug/ravel), JDKS the folder of the JDKs (target/jdks), SUBJECTS the programs,
# BUDGET the seconds for each (120), KEEP a folder for what Ravel says.

set -euo pipefail
cd "$(dirname "$0")/.."
ravel=$(realpath "${RAVEL:-target/debug/ravel}")
mkdir -p "${JDKS:=target/jdks}"
jdks=$(realpath "$JDKS")
# A field, a lock, a deadlock, explicit locks, atomics, maps, collections, queues, pools, futures, signals, latches, Unsafe.
read -r -a subjects <<<"${SUBJECTS:-CounterLost Account DeadlockTwo ShelfFull ConditionTwice AtomicGetThenSet SessionTwice HashMapShared \
QueueCapacity ForkJoinTally CompletableTally LostSignal EarlyTick UnsafePlainBeside}"
[ $# -gt 0 ] || set -- 8 11 17 21 25 26 27 28

home=$(scripts/find-jdk.sh) || { echo "jvms-test: no JDK 17 or later to compile the programs with" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-jvms.XXXXXX")
trap 'rm -rf "$work"' EXIT
files=()
for name in "${subjects[@]}"; do files+=("subjects/bugs/$name.java" "subjects/bugs/${name}Fixed.java"); done
mkdir "$work/classes" "$work/here"
# `--release 8` would hide sun.misc.Unsafe.
"$home/bin/javac" -source 8 -target 8 -Xlint:-options -XDignore.symbol.file -nowarn -g -d "$work/classes" "${files[@]}"

failed=
# What a bug's first comment says of it.
stated() { sed -n "s/^ \* *$2 *//p" "subjects/bugs/$1.java" | head -n 1; }

# Runs the whole job on a program; the exit code is left in `code`.
job() {
    code=0
    rm -f "$work"/run.*
    # A directory of its own: Ravel looks at what a program leaves where it runs.
    (cd "$work/here" && exec "$ravel" run --budget "${BUDGET:-120}" -o "$work/run.ravel" --out "json=$work/run.json" -- \
        "$1/bin/java" -cp "$work/classes" "$2") >"$work/run.log" 2>&1 || code=$?
    [ -z "${KEEP:-}" ] || cp "$work/run.log" "$KEEP/$(basename "$1")-$2.log"
}

echo "| JDK | bugs proven | twins silent | not as wanted |"
echo "|---|---|---|---|"
for release in "$@"; do
    if ! scripts/fetch-jdks.sh "$jdks" "$release"; then
        echo "| $release | | | cannot be fetched, or does not start here |"
        failed=yes
        continue
    fi
    java=$jdks/$release
    proven=0 silent=0 odd=
    for name in "${subjects[@]}"; do
        job "$java" "$name"
        if [ "$code" = 1 ] && grep -qs "\"evidence\": *\"$(stated "$name" evidence)\"" "$work/run.json"; then
            proven=$((proven + 1))
        else
            odd="$odd $name ($code)"
        fi
        job "$java" "${name}Fixed"
        if [ "$code" = 0 ]; then silent=$((silent + 1)); else odd="$odd ${name}Fixed ($code)"; fi
    done
    version=$("$java/bin/java" -version 2>&1 | sed -n '1s/.*"\(.*\)".*/\1/p')
    echo "| $version | $proven of ${#subjects[@]} | $silent of ${#subjects[@]} |${odd:- none} |"
    [ -z "$odd" ] || failed=yes
done
[ -z "$failed" ]
