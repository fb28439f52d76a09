#!/bin/bash
# Integrations with real build tools: installs ravel-junit and the Maven plugin into the local repository, runs a Maven project with a concurrency
# bug under each, and the Gradle plugin if there is a Gradle. Says PASS or FAIL for each; the exit code is 1 if one fails. What
# cannot be tried because a tool is missing is skipped; with CI=true or RAVEL_NO_SKIP=1 it fails instead.
# RAVEL names the binary; the default is the debug build.

set -u
cd "$(dirname "$0")/.." || exit 2
ravel=$(realpath "${RAVEL:-target/debug/ravel}")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
status=0

# Says what is skipped, which is an error where everything must be tried.
skip() {
    if [ "${CI:-}" = true ] || [ -n "${RAVEL_NO_SKIP:-}" ]; then
        echo "FAIL $1"
        status=1
    else
        echo "skipped: $1"
    fi
}

command -v mvn >/dev/null || { skip "Maven is missing (apt-get install maven)"; exit $status; }
work=$(mktemp -d /tmp/ravel-integrations.XXXXXX)
trap 'rm -rf "$work"' EXIT

# Prints a verdict: what was tried, and the exit code of the check.
verdict() {
    if [ "$2" = 0 ]; then echo "PASS $1"; else echo "FAIL $1"; status=1; fi
}

# The tests of the findings that a JSON report shows, each once.
tests_of() {
    python3 - "$1" <<'PYTHON'
import json, sys
findings = json.load(open(sys.argv[1]))["findings"]
print(" ".join(sorted({t for f in findings if f["shown"] for t in f.get("tests", ["none"])})))
PYTHON
}

copy() {
    cp -r realworld/junit-project "$work/$1"
    rm -rf "$work/$1/target"
}

set -e
for part in ravel-junit ravel-maven-plugin ravel-gradle-plugin; do
    (cd "integrations/$part" && mvn -q -B install)
done
set +e
verdict "ravel-junit and the plugins are installed" 0

# In a copy, so that what is installed stays as it is.
for part in ravel-junit ravel-maven-plugin ravel-gradle-plugin; do
    cp -r "integrations/$part" "$work/$part"
    (cd "$work/$part" && mvn -q -B -Prelease package) >"$work/$part.log" 2>&1 &&
        [ -s "$work/$part/target/$part-$version-sources.jar" ] && [ -s "$work/$part/target/$part-$version-javadoc.jar" ]
    verdict "$part has its sources and documentation for Maven Central" $?
done

copy maven
(cd "$work/maven" && "$ravel" run --budget 120 --out "json=$work/maven.json" -- mvn -q -B -Pravel test) >"$work/maven.log" 2>&1
[ $? = 1 ] && [ "$(tests_of "$work/maven.json")" = shop.ShopTest.twoCustomers ]
verdict "ravel run -- mvn test proves the bug of one test, alone" $?

copy plugin
(cd "$work/plugin" && mvn -q -B -Pravel -Dravel.binary="$ravel" -Dravel.budget=120 ravel:test) >"$work/plugin.log" 2>&1
[ $? = 1 ] && [ "$(tests_of "$work/plugin/target/ravel/findings.json")" = shop.ShopTest.twoCustomers ] &&
    grep -q 'classname="shop.ShopTest" name="twoCustomers: ' "$work/plugin/target/ravel/TEST-ravel.xml"
verdict "mvn ravel:test fails the build and writes target/ravel" $?

(cd "$work/plugin" && mvn -q -B -Pravel -Dravel.binary="$ravel" -Dravel.budget=60 -Dravel.failOn=never -Dravel.tests=.*StockTest ravel:test) \
    >"$work/plugin-never.log" 2>&1
verdict "mvn ravel:test passes on a test without a bug" $?

copy annotation
sed -i 's/import org.junit.jupiter.api.Test;/import org.junit.jupiter.api.Test;\nimport ravel.junit.RavelTest;/
        /Passes, because/,/void twoCustomers/ s/@Test/@RavelTest(budget = 60)/' "$work/annotation/src/test/java/shop/ShopTest.java"
(cd "$work/annotation" && RAVEL_BINARY="$ravel" mvn -q -B -Pravel test) >"$work/annotation.log" 2>&1
[ $? = 1 ] && grep -q "Ravel found a concurrency bug in this test" "$work/annotation.log" &&
    grep -q "Tests run: 7, Failures: 1" "$work/annotation.log"
verdict "@RavelTest fails its test with the interleaving" $?

if command -v gradle >/dev/null; then
    copy gradle
    cp integrations/ravel-gradle-plugin/example.gradle "$work/gradle/build.gradle"
    (cd "$work/gradle" && gradle --offline --no-daemon -q -Pravel.binary="$ravel" ravelTest) >"$work/gradle.log" 2>&1
    [ $? != 0 ] && [ "$(tests_of "$work/gradle/build/ravel/findings.json")" = shop.ShopTest.twoCustomers ]
    verdict "gradle ravelTest fails the build and writes build/ravel" $?
else
    skip "Gradle is missing (apt-get install gradle)"
fi

if [ $status != 0 ]; then tail -n 40 "$work"/*.log; fi
exit $status
