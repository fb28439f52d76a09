#!/bin/sh
# Runs a script of this tree, or says that it is not there yet.

script=$1
shift
if [ ! -f "$script" ]; then
    echo "$script: not in this tree" >&2
    exit 1
fi
exec bash "$script" "$@"
