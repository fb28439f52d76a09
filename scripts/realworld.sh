#!/usr/bin/env bash
# Real programs and whole JDKs: `scripts/realworld.sh` (make realworld). Prints the tables of docs/realworld.md.
#
# 1. H2, Derby, Lucene and Jetty, plain and recorded, on the oldest and the newest JDK found: the output must be the same.
# 2. A Maven project with JUnit tests, run by `ravel record -- mvn test`; and by `ravel run -- mvn test`, which forces the JVM
#    of the tests that Maven starts, and must prove the bug that the tests pass over.
# 3. Every class of each JDK read, written back and compared; all of java.base instrumented and verified by the JVM.
# 4. The programs' jars and whole JDKs scanned; classes of javac for every release, of ecj, kotlinc and scalac scanned.
# 5. The first 20 MB of recordings of H2, Derby, Lucene and Jetty: what a focus plan would have left out is never needed.
# 6. H2, Derby, Lucene and Jetty under `ravel run`, BUDGET seconds (300) for the forced runs of each; no process may be left behind.
# 7. Kotlin coroutines, Scala futures and Groovy closures: what orders its threads shows nothing, what does not is shown.
# 8. Soak: a million short threads, another agent that redefines classes, errors inside the agent.
# 9. Small programs over eleven libraries under `ravel run`, LIBRARY_BUDGET seconds (100) each: the bug must be shown, the corrected form silent
#    but for the data races of the library itself that docs/realworld.md judges real (`judged`, below).
#
# With RAVEL set, that binary is used; otherwise one is built. SKIP_RUNS=1 leaves parts 1 and 2 out, SKIP_JDK=1 part 3,
# SKIP_SCAN=1 part 4, SKIP_FOCUS=1 part 5, SKIP_PROOF=1 part 6, SKIP_LANGUAGES=1 part 7,
# SKIP_SOAK=1 part 8, SKIP_LIBRARIES=1 part 9. PROGRAMS says which programs parts 5 and 6 run, LIBRARIES which part 9 does, JDKS on which
# releases (part 6: the oldest), KEEP names a directory for the reports of parts 6 and 9.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-target}
if [ -z "${RAVEL:-}" ]; then
    $cargo build --release -q -p ravel
    RAVEL=$target/release/ravel
fi
ravel=$(realpath "$RAVEL")
command -v mvn >/dev/null || { echo "Maven is needed: apt-get install maven" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. benches/measure.sh
status=0

release_of() { sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2>/dev/null; }
homes=$(for home in ${JAVA_HOME:-} /usr/lib/jvm/* /opt/java/* /opt/jdks/*; do
    [ -x "$home/bin/javac" ] && release=$(release_of "$home") && [ "${release:-0}" -ge 17 ] && echo "$release $(realpath "$home")" || :
done | sort -n | uniq)
[ -n "$homes" ] || { echo "no JDK 17 or later found: set JAVA_HOME, or apt-get install openjdk-17-jdk-headless" >&2; exit 2; }
oldest=$(head -1 <<<"$homes"); newest=$(tail -1 <<<"$homes")
[ "$oldest" = "$newest" ] && { echo "only JDK ${oldest%% *} found" >&2; jdks=$oldest; } || jdks=$oldest$'\n'$newest

(cd realworld && JAVA_HOME=${oldest#* } mvn -q -B package dependency:copy-dependencies)
echo "$(date -u +%F), $(nproc) cores, $(awk '/MemTotal/ {printf "%.0f GB", $2 / 1e6}' /proc/meminfo), load $(cut -d' ' -f1 /proc/loadavg) at the start"
    compiler() { # folder, group:artifact:version: its jars
        mkdir -p "$work/$1"
        IFS=: read -r group artifact version <<<"$2"
        cat >"$work/$1/pom.xml" <<POM
<project><modelVersion>4.0.0</modelVersion><groupId>compilers</groupId><artifactId>$1</artifactId><version>1</version>
<packaging>pom</packaging><dependencies><dependency><groupId>$group</groupId><artifactId>$artifact</artifactId>
<version>$version</version></dependency></dependencies></project>
POM
        (cd "$work/$1" && mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib)
    }
if [ -z "${SKIP_RUNS:-}" ]; then
    echo
    echo "| program | JDK | plain s (wall, CPU) | recorded s (wall, CPU) | wall × | CPU × | events | MB | bytes/event | classes | failed | same output |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
    # Recorded programs are given the standard input, so the list of JDKs comes another way.
    while read -r release home <&3; do
        for program in H2 Derby Lucene Jetty; do
            if ! measure 1 "$home/bin/java" -cp 'realworld/target/drivers-1.jar:realworld/target/dependency/*' "realworld.${program}Driver"; then
                echo "| $program | $release | | | | | | | | | | **no** |"
                status=1
                continue
            fi
            "$ravel" trace info "$work/t.ravel" >/dev/null || { echo "the trace cannot be read" >&2; status=1; }
            awk -v n="$program" -v j="$release" -v w="$wall" -v c="$cpu" -v wr="$wall_r" -v cr="$cpu_r" -v e="$events" \
                -v b="$bytes" -v k="$classes" -v f="$failed" 'BEGIN {
                printf "| %s | %d | %.1f, %.1f | %.1f, %.1f | %.1f | %.1f | %d | %.1f | %.2f | %d | %d | yes |\n",
                    n, j, w, c, wr, cr, wr / w, cr / c, e, b / 1e6, (e ? b / e : 0), k, f }'
            [ "$failed" = 0 ] || status=1
        done
    done 3<<<"$jdks"

    echo
    echo "| JUnit project | JDK | tests plain | tests recorded | traces |"
    echo "|---|---|---|---|---|"
    cp -r realworld/junit-project "$work/junit"
    while read -r release home <&3; do
        tests() { grep -a 'Tests run:.*Failures' "$1" | tail -1 | sed 's/.*\(Tests run:.*Skipped: [0-9]*\).*/\1/'; }
        (cd "$work/junit" && JAVA_HOME=$home mvn -B test >"$work/junit.plain" 2>&1) || status=1
        rm -f "$work"/junit-*.ravel
        (cd "$work/junit" && JAVA_HOME=$home "$ravel" record --exit-code program -o "$work/junit-%p.ravel" -- mvn -B test >"$work/junit.recorded" 2>&1) || status=1
        before=$(tests "$work/junit.plain"); after=$(tests "$work/junit.recorded")
        [ -n "$before" ] && [ "$before" = "$after" ] || status=1
        for trace in "$work"/junit-*.ravel; do "$ravel" trace info "$trace" >/dev/null || status=1; done
        echo "| \`mvn test\` | $release | $before | $after | $(ls "$work"/junit-*.ravel | wc -l) |"
    done 3<<<"$jdks"

    echo
    echo "| JUnit project | JDK | exit code | harmful |"
    echo "|---|---|---|---|"
    while read -r release home <&3; do
        code=0
        (cd "$work/junit" && JAVA_HOME=$home "$ravel" run --budget 300 --run-limit 60 -o "$work/run.ravel" --out "json=$work/run.json" \
            -- mvn -B test >"$work/junit.run" 2>&1) || code=$?
        harmful=$(grep -c '"evidence": *"harmful"' "$work/run.json" || true)
        [ "$code" = 1 ] && [ "$harmful" -ge 1 ] || status=1
        echo "| \`ravel run -- mvn test\` | $release | $code | $harmful |"
    done 3<<<"$jdks"
fi
if [ -z "${SKIP_JDK:-}" ]; then
    echo
    echo "Classes of whole JDKs, read and written back:"
    echo '```'
    $cargo run --release -q -p ravel-classfile --example roundtrip -- $(cut -d' ' -f2- <<<"$jdks") || status=1
    echo '```'
    echo "All of java.base, instrumented, linked with -Xverify:all:"
    echo '```'
    $cargo test --release -q -p ravel --test all -- --ignored --nocapture verify:: 2>/dev/null | grep ' on JDK ' || status=1
    echo '```'
fi
if [ -z "${SKIP_SCAN:-}" ]; then
    echo
    echo "| scanned | findings | held back | classes that failed | seconds |"
    echo "|---|---|---|---|---|"
    for path in realworld/target/dependency/*.jar $(cut -d' ' -f2- <<<"$jdks"); do
        start=$(date +%s.%N)
        code=0; "$ravel" scan --format json "$path" >"$work/scan.json" || code=$?
        # 3: a jar without classes.
        [ "$code" -le 1 ] || { [ "$code" = 3 ] || status=1; continue; }
        awk -v n="$(basename "$path")" -v s="$start" -v e="$(date +%s.%N)" '
            /"shown": true/ { shown++ } /"shown": false/ { held++ } /"failed":/ { gsub(/[^0-9]/, ""); failed = $0 }
            END { printf "| %s | %d | %d | %d | %.1f |\n", n, shown, held, failed, e - s; exit failed > 0 }' "$work/scan.json" || status=1
    done
    echo
    compiler ecj org.eclipse.jdt:ecj:3.37.0
    compiler kotlin org.jetbrains.kotlin:kotlin-compiler-embeddable:1.9.24
    compiler scala org.scala-lang:scala3-compiler_3:3.3.3
    java=${oldest#* }/bin/java shapes=crates/scan/tests/shapes
    "$java" -jar "$work"/ecj/lib/ecj-*.jar -8 -g -nowarn -d "$work/shapes/ecj" $shapes/Shapes.java || status=1
    "$java" -cp "$work/kotlin/lib/*" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect \
        -cp "$(ls "$work"/kotlin/lib/kotlin-stdlib-*.jar)" -d "$work/shapes/kotlin" $shapes/Kotlin.kt || status=1
    mkdir -p "$work/shapes/scala"
    "$java" -cp "$work/scala/lib/*" dotty.tools.dotc.Main -d "$work/shapes/scala" $shapes/Scala.scala \
        -classpath "$(ls "$work"/scala/lib/scala3-library*.jar):$(ls "$work"/scala/lib/scala-library*.jar)" || status=1
    export RAVEL_SHAPES=$work/shapes/ecj:$work/shapes/kotlin:$work/shapes/scala
    if $cargo test --release -q -p ravel-scan --test all -- --ignored shapes:: >"$work/shapes.log" 2>&1; then
        echo "Every bad shape found and no good one, of javac for each release from 8 on, ecj, kotlinc and scalac."
    else
        cat "$work/shapes.log"; status=1
    fi
fi
if [ -z "${SKIP_FOCUS:-}" ]; then
    echo
    echo "| program | JDK | events | a plan leaves out | for races | other examples | s |"
    echo "|---|---|---|---|---|---|---|"
    export RAVEL_REALWORLD=$PWD/realworld/target RAVEL_REALWORLD_ONLY=${PROGRAMS:-H2 Derby Lucene Jetty}
    if $cargo test --release -q -p ravel --test all -- --ignored --nocapture nothing_is_lost_of_real_programs >"$work/focus.log" 2>&1; then
        grep '^| ' "$work/focus.log" || status=1
    else
        cat "$work/focus.log"; status=1
    fi
fi
if [ -z "${SKIP_PROOF:-}" ]; then
    command -v jq >/dev/null || { echo "jq is needed: apt-get install jq" >&2; exit 2; }
    budget=${BUDGET:-300} keep=${KEEP:-$work}
    mkdir -p "$keep"
    echo
    echo "| program | JDK | exit code | suspected | predicted | witnessed | confirmed | harmful | runs | s: record | search | wall | MB | left behind | shown |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    while read -r release home <&3; do
        case " ${JDKS:-${oldest%% *}} " in *" $release "*) ;; *) continue ;; esac
        for program in ${PROGRAMS:-H2 Derby Lucene Jetty}; do
            code=0 report=$keep/$program-$release
            /usr/bin/time -f '%e %M' -o "$work/time" "$ravel" run --all --budget "$budget" -o "$work/run.ravel" --out "json=$report.json" \
                -- "$home/bin/java" "-Dravel.mark=$work" -cp 'realworld/target/drivers-1.jar:realworld/target/dependency/*' \
                "realworld.${program}Driver" >"$report.txt" 2>"$report.err" </dev/null || code=$?
            left=$(pgrep -fc -- "-Dravel.mark=$work" || true)
            [ "$code" -le 1 ] && [ "$left" = 0 ] || status=1
            read -r wall kilobytes < <(tail -1 "$work/time")
            figures=$(jq -r --arg wall "$wall" --arg memory "$((kilobytes / 1000))" --arg left "$left" --arg code "$code" '
                def count(rung): [.findings[] | select(.evidence == rung)] | length;
                def seconds: . / 100 | round / 10;
                [$code, (("suspected", "predicted", "witnessed", "confirmed", "harmful") as $rung | count($rung)), .summary.times.runs,
                (.summary.times | .record, .search | seconds), $wall, $memory, $left,
                ([.findings[] | select(.shown) | "\(.rule) `\(.variables[0] // "" | split(".")[-2:] | join("."))`" + (if .evidence == "harmful" then " (harmful)" else "" end)]
                | unique | join(", "))] | map("\(.)") | join(" | ")' "$report.json") || status=1
            echo "| $program | $release | $figures |"
        done
    done 3<<<"$jdks"
fi
if [ -z "${SKIP_LANGUAGES:-}" ]; then
    echo
    echo "| language | program | JDK | exit code | shown | s |"
    echo "|---|---|---|---|---|---|"
    compiler kotlin org.jetbrains.kotlin:kotlin-compiler-embeddable:1.9.24
    compiler coroutines org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.8.1
    compiler scala org.scala-lang:scala3-compiler_3:3.3.3
    compiler groovy org.apache.groovy:groovy:4.0.33
    java=${oldest#* }/bin/java
    groovy=$(ls "$work"/groovy/lib/groovy-4*.jar)
    kotlin=$(ls "$work"/kotlin/lib/kotlin-stdlib-1*.jar):$(ls "$work"/coroutines/lib/kotlinx-coroutines-core-jvm-*.jar)
    scala=$(ls "$work"/scala/lib/scala3-library*.jar):$(ls "$work"/scala/lib/scala-library*.jar)
    for program in Ordered Raced; do
        "$java" -cp "$work/kotlin/lib/*" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -nowarn -cp "$kotlin" \
            -d "$work/languages/kotlin/$program" "realworld/languages/$program.kt" || status=1
        mkdir -p "$work/languages/scala/$program"
        "$java" -cp "$work/scala/lib/*" dotty.tools.dotc.Main -d "$work/languages/scala/$program" \
            "realworld/languages/$program.scala" -classpath "$scala" || status=1
        "$java" -cp "$groovy" org.codehaus.groovy.tools.FileSystemCompiler -d "$work/languages/groovy/$program" \
            "realworld/languages/$program.groovy" || status=1
    done
    while read -r release home <&3; do
        for run in kotlin:Ordered:OrderedKt:0 kotlin:Raced:RacedKt:1 scala:Ordered:ordered:0 scala:Raced:raced:1 \
            groovy:Ordered:Ordered:0 groovy:Raced:Raced:1; do
            IFS=: read -r language program main wanted <<<"$run"
            code=0 start=$(date +%s)
            "$ravel" run --budget 60 -o "$work/run.ravel" --out "json=$work/run.json" \
                -- "$home/bin/java" -cp "$work/languages/$language/$program:${!language}" "$main" >/dev/null 2>"$work/run.err" </dev/null || code=$?
            [ "$code" = "$wanted" ] || { status=1; cat "$work/run.err"; }
            echo "| $language | $program | $release | $code | $(grep -c '"shown": true' "$work/run.json") | $(($(date +%s) - start)) |"
        done
    done 3<<<"$jdks"
fi
if [ -z "${SKIP_SOAK:-}" ]; then
    echo
    echo "| soak | JDK | threads | plain s, MB | recorded s, MB |"
    echo "|---|---|---|---|---|"
    while read -r release home <&3; do
        "$home/bin/javac" -d "$work/soak" crates/ravel/tests/java/ManyThreads.java
        for run in virtual:300000 virtual:1100000 platform:100000; do
            IFS=: read -r kind threads <<<"$run"
            [ "$kind" = platform ] || [ "$release" -ge 21 ] || continue
            soak() { # its own words: seconds and megabytes
                /usr/bin/time -f '%e' -o "$work/time" "$@" -Xmx256m -cp "$work/soak" ManyThreads "$threads" 1000 "$kind" \
                    >"$work/soak.out" 2>"$work/soak.err" </dev/null || echo failed >"$work/soak.out"
                echo "$(tail -1 "$work/time"), $(sed -n 's/^megabytes //p' "$work/soak.err")"
            }
            plain=$(soak "$home/bin/java")
            recorded=$(soak "$ravel" record -o "$work/soak.ravel" -- "$home/bin/java")
            [ "$(cat "$work/soak.out")" = true ] || status=1
            # The last two threads race, and the trace must show it, however many there were before.
            "$ravel" check --all --format json "$work/soak.ravel" 2>/dev/null | grep -q '"rule": *"data-race"' || status=1
            echo "| $kind threads | $release | $threads | $plain | $recorded |"
        done
    done 3<<<"$jdks"
    for round in 1 2 3 4 5; do
        $cargo test --release -q -p ravel --test all robust:: >"$work/robust.log" 2>&1 || { cat "$work/robust.log"; status=1; }
    done
fi
if [ -z "${SKIP_LIBRARIES:-}" ]; then
    command -v jq >/dev/null || { echo "jq is needed: apt-get install jq" >&2; exit 2; }
    keep=${KEEP:-$work}
    judged='BaseMpscLinkedArrayQueueColdProducerFields.producerBuffer BaseMpscLinkedArrayQueueColdProducerFields.producerMask Job.status NanoHTTPD$ServerRunnable.hasBinded'
    mkdir -p "$keep"
    (cd realworld/libraries && JAVA_HOME=${oldest#* } mvn -q -B package dependency:copy-dependencies)
    echo
    echo "| library | JDK | plain s | exit code | evidence of the bug | rule | attempts (happened) | directed runs | s a run | wall s | twin: exit code | shown | wall s |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    while read -r release home <&3; do
        case " ${JDKS:-${oldest%% *} ${newest%% *}} " in *" $release "*) ;; *) continue ;; esac
        for library in ${LIBRARIES:-Caffeine Reactor Pekko NanoHttpd Stormpot Wisp EventBus JcTools Disruptor Guava CommonsPool}; do
            java=("$home/bin/java" -cp 'realworld/libraries/target/libraries-1.jar:realworld/libraries/target/dependency/*' "libraries.${library}Driver")
            library_run() { # name of the report, arguments of the program: sets code
                code=0
                /usr/bin/time -f '%e' -o "$keep/$1.time" "$ravel" run --all --budget "${LIBRARY_BUDGET:-100}" -o "$work/run.ravel" --out "json=$keep/$1.json" \
                    -- "${java[@]}" "${@:2}" >"$keep/$1.txt" 2>"$keep/$1.err" </dev/null || code=$?
            }
            /usr/bin/time -f '%e' -o "$work/time" "${java[@]}" fixed >/dev/null 2>&1 </dev/null || status=1
            library_run "$library-$release"
            # The best finding of the program's own code: that is the bug.
            own='[.findings[] | select(any(.steps[]; .class | startswith("libraries.")))]
                | sort_by([.shown, ["suspected", "predicted", "witnessed", "confirmed", "harmful"] as $all | .evidence as $one | $all | index($one)]) | last'
            read -r evidence rule attempts happened < <(jq -r "(${own}) as \$bug | ([.directed[]? | select(.finding == \$bug.id)]) as \$goals
                | [\$bug.evidence // \"none\", \$bug.rule // \"none\", ([\$goals[].runs] | max // 0), ([\$goals[].happened] | add // 0)] | @tsv" "$keep/$library-$release.json")
            bad=$code
            read -r runs each < <(jq -r '.summary.times
                | [.directed_runs, (if .directed_runs > 0 then (.directed / .directed_runs / 10 | round / 100) else 0 end)] | @tsv' "$keep/$library-$release.json")
            library_run "$library-$release-fixed" fixed
            # A data race of the library itself, judged real, is none of the corrected form.
            shown=$(jq -r --arg judged "$judged" '[.findings[] | select(.shown) | (.variables[0] | split(".")[-2:] | join(".")) as $variable
                | if .rule == "data-race" and ($judged | split(" ") | index($variable)) then $variable else "**\(.rule) \($variable)**" end] | unique
                | join(", ")' "$keep/$library-$release-fixed.json")
            [ "$bad" = 1 ] && [ "$code" -le 1 ] || status=1
            case $shown in *'**'*) status=1 ;; esac
            echo "| $library | $release | $(tail -1 "$work/time") | $bad | $evidence | $rule | $attempts ($happened) | $runs | $each | $(tail -1 "$keep/$library-$release.time") | $code | ${shown:-none} | $(tail -1 "$keep/$library-$release-fixed.time") |"
        done
    done 3<<<"$jdks"
fi
exit $status
