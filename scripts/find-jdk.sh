#!/bin/sh
# Prints the directory of a JDK that can build Ravel: JAVA_HOME, the PATH, the usual places, in this order.
# Ends with 1 and prints nothing if there is none.

oldest=17

release_of() {
    [ -x "$1/bin/javac" ] || return 1
    "$1/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9][0-9]*\).*/\1/p'
}

try() {
    [ -n "$1" ] || return 1
    release=$(release_of "$1") || return 1
    [ "${release:-0}" -ge "$oldest" ] || return 1
    (cd "$1" && pwd -P)
    exit 0
}

try "$JAVA_HOME"
javac=$(command -v javac 2>/dev/null)
if [ -n "$javac" ]; then
    try "$(dirname "$(dirname "$(readlink -f "$javac")")")"
fi
for home in /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdks/* "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/*; do
    try "$home"
done
exit 1
