# What the measuring scripts begin with: `. benches/setup.sh [RUNS]`, from the top of the project.
#
# Sets runs, target, ravel (RAVEL if that is set, otherwise built), java, work (a directory that is removed at the end) and
# compiles the programs to $work/classes. Prints which machine and JVM it is.
runs=${1:-3}
target=${CARGO_TARGET_DIR:-target}
if [ -z "${RAVEL:-}" ]; then
    cargo build --release -q -p ravel
    RAVEL=$target/release/ravel
fi
ravel=$RAVEL
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. benches/measure.sh
status=0
mkdir "$work/classes"
"${java}c" -d "$work/classes" --release 17 benches/programs/*.java
echo "$("$java" -version 2>&1 | sed -n 2p), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg), median of $runs"
echo
