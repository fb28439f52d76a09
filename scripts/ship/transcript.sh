# What was typed in a system, and what it said. Sourced by scripts/ship-test.sh, which sets `typed_lines`, a folder with a file for
# each section. scripts/ship/page.py puts the sections into docs/integration.md.

# Begins a section: its name, the system, and the folder in it where the lines are typed.
section() {
    section=$typed_lines/$1
    typing_in=$2
    typing_at=$3
    : >"$section"
    say "$1"
}

# Types a line; each further argument is an extended regular expression that its output must have. The line must succeed: one that is
# to end otherwise shows its exit code by `; echo "exit code $?"`.
typed() {
    local line=$1 code=0 wanted
    shift
    echo "\$ $line" | tee -a "$section"
    in_system "$typing_in" sh -c "cd '$typing_at' && { $line
}" >"$work/said" 2>&1 </dev/null || code=$?
    tee -a "$section" <"$work/said"
    [ "$code" = 0 ] || { say "exit code $code: $line"; exit 1; }
    for wanted in "$@"; do
        grep -qE -e "$wanted" "$work/said" || { say "the output does not have $wanted: $line"; exit 1; }
    done
}
