#!/bin/sh
# Checks for what building and testing Ravel need, installs what apt-get can when run as root, and else says how.
# Arguments are further needs, COMMAND:PACKAGE each.

here=$(dirname "$0")
missing=0

# Whether packages can be installed without asking anybody.
can_install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1
}

install_packages() {
    echo "setup: installing $*" >&2
    apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >&2
}

say() {
    echo "setup: $*" >&2
    missing=1
}

if ! command -v cargo >/dev/null 2>&1; then
    say "cargo is missing. Install Rust: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
else
    # Edition 2024 and what the workspace uses of the standard library.
    version=$(cargo --version | sed -n 's/^cargo 1\.\([0-9][0-9]*\).*/\1/p')
    if [ "${version:-0}" -lt 88 ]; then
        say "$(cargo --version) is too old, 1.88 is needed: rustup update"
    fi
fi

if ! command -v "${CC:-cc}" >/dev/null 2>&1 && can_install; then
    install_packages gcc libc6-dev
fi
if ! command -v "${CC:-cc}" >/dev/null 2>&1; then
    say "no C compiler (zstd is written in C). Install one: apt-get install gcc libc6-dev, or your system's way"
fi

jdk=$("$here/find-jdk.sh")
if [ -z "$jdk" ] && can_install; then
    install_packages openjdk-17-jdk-headless
    jdk=$("$here/find-jdk.sh")
fi
if [ -z "$jdk" ]; then
    say "no JDK 17 or later by JAVA_HOME, on the PATH or in /usr/lib/jvm. Install one:" \
        "apt-get install openjdk-17-jdk-headless, or https://adoptium.net"
fi

for need in "$@"; do
    command=${need%%:*}
    package=${need##*:}
    if ! command -v "$command" >/dev/null 2>&1 && can_install; then
        install_packages "$package"
    fi
    if ! command -v "$command" >/dev/null 2>&1; then
        say "$command is missing. Install it: apt-get install $package, or your system's way"
    fi
done

[ "$missing" = 0 ] || exit 1
echo "setup: $(cargo --version), $("${CC:-cc}" --version | head -n 1), JDK in $jdk"
