#!/usr/bin/env bash
# Runs to the first failure of a search, guided and random: `benches/explore.sh [SEEDS [SUBJECT…]]` (default 5 seeds, all of subjects/searches and
# of subjects/bugs that end badly), as markdown on standard output.
#
# Each subject is recorded once; `cargo run -p ravel-prove --example explore` then searches it once for each seed and strategy, in a JVM of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
seeds=${1:-5}
shift || :
java=${JAVA_HOME:?set JAVA_HOME to a JDK from 17 on}/bin/java
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo build --locked -q --release -p ravel
cargo build --locked -q --release -p ravel-prove --example explore
# record FOLDER: the traces of the buggy subjects of a folder.
record() {
    mkdir -p "$work/$1"
    "$JAVA_HOME/bin/javac" -nowarn -d "$work/$1" "subjects/$1"/*.java
    for source in "subjects/$1"/*.java; do
        name=$(basename "$source" .java)
        case $name in *Fixed) continue ;; esac
        [ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || continue
        # A program that ends badly by itself needs no search; one without an exit code, an exception or a lock cannot.
        timeout 60 target/release/ravel record -o "$work/$name.ravel" -- "$java" -cp "$work/$1" "$name" >/dev/null 2>&1 || { rm -f "$work/$name.ravel"; continue; }
        traces+=("$work/$name.ravel")
    done
}
wanted=("$@")
traces=()
record searches
record bugs
target/release/examples/explore "$seeds" "${traces[@]}"
