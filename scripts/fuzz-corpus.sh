#!/usr/bin/env bash
# Makes small seeds for the fuzz targets from the files of this repository: `scripts/fuzz-corpus.sh DIRECTORY`. RAVEL names the binary
# that records, JAVA_HOME the JDK.
set -euo pipefail
cd "$(dirname "$0")/.."
to=$1
ravel=${RAVEL:-target/debug/ravel}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$to"/{class_file,trace,std_text,schedule,config,baseline,report,focus}

"$JAVA_HOME/bin/javac" -g -nowarn --release 17 -d "$work/classes" \
    subjects/bugs/{Account,DeadlockTwo,LazyInit}.java subjects/events/{Lambdas,Records,VarargsSwitch,ExceptionInSynchronized}.java
cp "$work"/classes/*.class "$to/class_file/"

for name in Account DeadlockTwo; do
    "$ravel" --quiet record -o "$to/trace/$name" -- "$JAVA_HOME/bin/java" -cp "$work/classes" "$name" >"$work/log" 2>&1
    "$ravel" trace export "$to/trace/$name" >"$to/std_text/$name" 2>"$work/log" || rm "$to/std_text/$name"
    "$ravel" own "$work/classes" -o "$work/plan.toml" >"$work/log" 2>&1
done
# Much of a trace is its header, with the environment: a smaller one reaches more.
env -i PATH="$PATH" HOME="$work" "$ravel" --quiet record --focus "$work/plan.toml" -o "$to/trace/focused" \
    -- "$JAVA_HOME/bin/java" -cp "$work/classes" Account >"$work/log" 2>&1
printf 'T1|fork(T2)|0\nT2|begin|0\nT1|acq(L1)|1\nT1|w(V1)|2\nT1|rel(L1)|3\nT2|r(V1)|4\nT1|join(T2)|5\n' >"$to/std_text/all"

printf 'ravel schedule 1\nthread main "main"\nthread main/0 "t1"\nrun main to 3\nrun main/0 to 7 out of frame 2 entered 5\nrun main to 9 out of lock 1\n' \
    >"$to/schedule/text"
printf '[["t1",3],["t2",5],["t1",9]]' >"$to/schedule/json"

for file in docs/*.md; do
    awk -v to="$to/config/$(basename "$file" .md)" \
        '/^```toml/ { n++; on = 1; next } /^```/ { on = 0 } on { print > (to "-" n) }' "$file"
done
printf '[report]\nfail-on = "confirmed"\n\n[[suppress]]\nrule = "data-race"\nvariable = "A.*"\nreason = "r"\nexpires = "2030-01-01"\n' >"$to/config/all"

printf '{"version":1,"accepted":[{"id":"0123456789abcdef","rule":"data-race","title":"A.b"}]}' >"$to/baseline/all"
printf '{"version":1,"accepted":[]}' >"$to/baseline/empty"
cp crates/report/tests/reports/{data-race,lock-order,suspected,empty}.json "$to/report/"
cat >"$to/focus/all" <<'JSON'
{"version":1,"kind":"focus","body":{"for_races":true,"plain":["A"],"classes":[{"name":"B","hash":"00ff","methods":[{"name":"m()V","quiet":true,"leave":[1,5,9]},{"name":"n()V","inner":true,"touch":[3]}]}]}}
JSON
