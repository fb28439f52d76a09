#!/bin/sh
# Prints the directory of a JDK that Ravel can record: JAVA_HOME, the PATH, the usual places, in this order.
# Ends with 1 and prints nothing if there is none. With --releases it prints the release of every JDK found, oldest first.

oldest=17

release_of() {
    [ -x "$1/bin/javac" ] || return 1
    "$1/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9][0-9]*\).*/\1/p'
}

try() {
    [ -n "$1" ] || return 1
    release=$(release_of "$1") || return 1
    [ "${release:-0}" -ge "$oldest" ] || return 1
    if [ -n "$all" ]; then
        echo "$release"
        return
    fi
    (cd "$1" && pwd -P)
    exit 0
}

search() {
    try "$JAVA_HOME"
    javac=$(command -v javac 2>/dev/null)
    if [ -n "$javac" ]; then
        try "$(dirname "$(dirname "$(readlink -f "$javac")")")"
    fi
    for home in /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdks/* "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/*; do
        # Links to another entry would start its compiler once more.
        [ -L "$home" ] || try "$home"
    done
}

all=
if [ "$1" = --releases ]; then
    all=yes
    search | sort -nu
    exit
fi
search
exit 1
