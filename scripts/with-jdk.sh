#!/bin/sh
# Runs a command with JAVA_HOME set to a JDK that Ravel can record.

here=$(dirname "$0")
JAVA_HOME=$("$here/find-jdk.sh") || {
    echo "no JDK 17 or later was found: run make setup" >&2
    exit 1
}
export JAVA_HOME
exec "$@"
