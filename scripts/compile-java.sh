#!/bin/sh
# Brings RavelLayout.java, the compiled Java helper classes and their digests up to date; all of them are checked in. Needs JDK 17.

set -e
cd "$(dirname "$0")/.."
classes=crates/agent/java/classes
mkdir -p "$classes"
# The agent embeds the classes, so there must be a file for each before it can be compiled.
for source in crates/agent/java/ravel/java/lang/*.java; do
    class=$classes/$(basename "$source" .java).class
    [ -e "$class" ] || [ "$(basename "$source")" = RavelLayout.java ] || : >"$class"
done
[ -e "$classes/layout.digest" ] || echo 0 >"$classes/layout.digest"
BLESS=1 ${CARGO:-cargo} test --locked -q -p ravel-agent --lib helper::tests::classes_are_compiled_on_request
git status --short -- crates/agent/java
