#!/usr/bin/env bash
# Ravel beside Lincheck and VMLens on the same small programs: `benches/compare/run.sh [RUNS [SUBJECT…]]` (3 runs, all of scenarios/), as
# markdown on standard output.
#
# Ravel runs each program of subjects/ as it is. The other tools need a test: scenarios/ has the body of it, templates/ what each tool needs
# around it. Times are those of the whole command, by the clock and of all processors: to the failure for the other tools, to the end of the report for
# Ravel; medians of RUNS. A tool that reports nothing has a dash and the times that it took. Lines are those of the generated test that are not
# blank.
#
# Fray is not among them: its agent, its library for JVMTI and the jar that instruments a JDK could not be fetched (versions 0.2.0 to 0.9.2).
#
# The tools come from Maven Central, by Maven. TOOLS names a directory that keeps them (default: a temporary one), TOOL_NAMES which are run
# (ravel lincheck vmlens), LIMIT the most seconds of one run (120). With RAVEL set, that binary is used; otherwise a release build is
# made. JAVA_HOME is the JDK of all.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD root=$(cd ../.. && pwd)
runs=${1:-3}
shift || :
: "${JAVA_HOME:?set JAVA_HOME to a JDK from 17 on}"
command -v mvn >/dev/null || { echo "Maven is needed: apt-get install maven" >&2; exit 2; }
limit=${LIMIT:-120}
names=${TOOL_NAMES:-ravel lincheck vmlens}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools=${TOOLS:-$work/tools}
mkdir -p "$tools"
tools=$(realpath "$tools")
LINCHECK=org.jetbrains.lincheck:lincheck:3.7
# Later versions of its plugin need com.vmlens:sync-bug of the same version, which Maven Central does not have.
VMLENS=1.2.17
JUNIT=5.11.4

if [ -z "${RAVEL:-}" ] && [[ " $names " == *" ravel "* ]]; then
    (cd "$root" && cargo build --locked -q --release -p ravel)
    RAVEL=$root/target/release/ravel
fi
subjects=("$@")
[ $# -gt 0 ] || subjects=($(cd scenarios && ls | sed 's/\.txt$//'))
mkdir -p "$work/classes"
"$JAVA_HOME/bin/javac" --release 17 -nowarn -d "$work/classes" $(for name in "${subjects[@]}"; do ls "$root"/subjects/{bugs,searches}/"$name".java 2>/dev/null; done)

# jars FOLDER GROUP:ARTIFACT:VERSION…: fetches them and what they need.
jars() {
    local folder=$1 artifact
    shift
    [ -e "$tools/$folder/done" ] && return
    mkdir -p "$tools/$folder"
    {
        echo "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>$folder</artifactId><version>1</version><packaging>pom</packaging><dependencies>"
        for artifact; do
            IFS=: read -r group name version <<<"$artifact"
            echo "<dependency><groupId>$group</groupId><artifactId>$name</artifactId><version>$version</version></dependency>"
        done
        echo "</dependencies></project>"
    } >"$tools/$folder/pom.xml"
    (cd "$tools/$folder" && mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib -DincludeScope=runtime) >"$tools/$folder/log" 2>&1 && touch "$tools/$folder/done"
}

# generate TOOL SUBJECT FOLDER: the test of a subject.
generate() {
    mkdir -p "$3"
    awk -v name="$2" -v body="scenarios/$2.txt" -v helpers=templates/helpers.java '
        function include(file, indent,   line) { while ((getline line < file) > 0) print (line == "" ? "" : indent line); close(file) }
        { gsub("@NAME@", name) }
        /@BODY@/ { include(body, substr($0, 1, index($0, "@") - 1)); next }
        /@HELPERS@/ { include(helpers, substr($0, 1, index($0, "@") - 1)); next }
        { print }' "templates/$1.java" >"$3/$2Test.java"
}
# lines TOOL SUBJECT: how many a user writes.
lines() { generate "$1" "$2" "$work/count" && grep -c '[^[:space:]]' "$work/count/$2Test.java"; }

# cell FOUND COMMAND…: the median times of a command, by the clock and of the processor; FOUND is an extended regular expression of what it
# prints when it has found the bug, its exit code included.
cell() {
    local found=$1 walls=() processor=() hits=0 code
    shift
    for _ in $(seq "$runs"); do
        code=0
        (cd "$work" && exec /usr/bin/time -q -o "$work/time" -f '%e %U %S' timeout -k 5 "$limit" "$@") >"$work/out" 2>&1 </dev/null || code=$?
        echo "exit code $code" >>"$work/out"
        read -r wall user system < <(tail -1 "$work/time")
        walls+=("$wall")
        processor+=("$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')")
        grep -qE "$found" "$work/out" && hits=$((hits + 1))
        [ -z "${KEEP:-}" ] || cp "$work/out" "$KEEP/$(date +%s%N).out"
    done
    median() { printf '%s\n' "$@" | sort -n | sed -n "$(((runs + 1) / 2))p"; }
    awk -v w="$(median "${walls[@]}")" -v p="$(median "${processor[@]}")" -v h="$hits" -v n="$runs" 'BEGIN {
        printf "%s%.1f, %.1f%s", (h ? "" : "— ("), w, p, (h == n ? "" : h ? " (" h " of " n ")" : ")") }'
}

prepare_lincheck() {
    jars lincheck "$LINCHECK" || return
    for name in "${subjects[@]}"; do generate lincheck "$name" "$work/lincheck/src"; done
    "$JAVA_HOME/bin/javac" -nowarn -cp "$work/classes:$tools/lincheck/lib/*" -d "$work/lincheck/classes" "$work"/lincheck/src/*.java
}
run_lincheck() { # as a program: a failure is an uncaught LincheckAssertionError
    cell 'LincheckAssertionError' "$JAVA_HOME/bin/java" -cp "$work/lincheck/classes:$work/classes:$tools/lincheck/lib/*" "$1Test"
}

prepare_vmlens() {
    mkdir -p "$work/vmlens/src/test/java"
    for name in "${subjects[@]}"; do
        generate vmlens "$name" "$work/vmlens/src/test/java"
        cp "$root"/subjects/*/"$name".java "$work/vmlens/src/test/java/"
    done
    cat >"$work/vmlens/pom.xml" <<POM
<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>vmlens</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies>
<dependency><groupId>com.vmlens</groupId><artifactId>api</artifactId><version>$VMLENS</version><scope>test</scope></dependency>
<dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>$JUNIT</version><scope>test</scope></dependency>
</dependencies></project>
POM
    # One run fetches the plugin and what it needs.
    (cd "$work/vmlens" && mvn -q -B test-compile && mvn -B "com.vmlens:vmlens-maven-plugin:$VMLENS:test" -Dtest="${subjects[0]}Test") >"$work/vmlens/log" 2>&1 || :
    grep -qE 'Tests run:' "$work/vmlens/log" || { tail -20 "$work/vmlens/log" >&2; return 1; }
}
run_vmlens() {
    cell 'Tests run:.*(Failures: [1-9]|Errors: [1-9])|[Dd]ata [Rr]ace|[Dd]eadlock' mvn -o -B -f "$work/vmlens/pom.xml" "com.vmlens:vmlens-maven-plugin:$VMLENS:test" "-Dtest=$1Test"
}

run_ravel() {
    cell '^exit code 1$' "$RAVEL" run -o "$work/t.ravel" -- "$JAVA_HOME/bin/java" -cp "$work/classes" "$1"
}
prepare_ravel() { :; }

usable=()
for tool in $names; do
    if "prepare_$tool"; then usable+=("$tool"); else echo "$tool is left out" >&2; fi
done
echo "$(date -u +%F), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg) at the start, $("$JAVA_HOME/bin/java" -version 2>&1 | head -1)"
echo
printf '| program |'; for tool in "${usable[@]}"; do printf ' %s: s by the clock, of processors | lines |' "$tool"; done; echo
printf '|---|'; for tool in "${usable[@]}"; do printf -- '---|---|'; done; echo
for name in "${subjects[@]}"; do
    printf '| %s |' "$name"
    for tool in "${usable[@]}"; do
        [ "$tool" = ravel ] && count=0 || count=$(lines "$tool" "$name")
        printf ' %s | %s |' "$("run_$tool" "$name")" "$count"
    done
    echo
done
echo
echo "Load $(cut -d' ' -f1 /proc/loadavg) at the end."
