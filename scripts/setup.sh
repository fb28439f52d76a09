#!/bin/sh
# Checks for what building and testing Ravel need, installs what apt-get can when run as root, and else says how.
# Arguments are further needs: COMMAND:PACKAGE, or rust-target:NAME for a target of Rust. With --only these alone are checked. With --tests it also tries to
# install what makes the tests complete (Chromium, script, a second JDK) and the oldest supported Rust; without those the tests that need them say
# `skipped`, and fail in CI. --oldest-rust installs that Rust alone.

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

# What every build needs.
basics() {
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
}

# Whether there is a JDK besides the oldest.
has_second_jdk() {
    [ "$("$here/find-jdk.sh" --releases | wc -l)" -gt 1 ]
}

# The tests can do without these: a note is enough if they cannot be had.
complete_tests() {
    wanted=
    command -v script >/dev/null 2>&1 || wanted="$wanted bsdutils"
    command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
        command -v google-chrome >/dev/null 2>&1 || wanted="$wanted chromium"
    if has_second_jdk && [ -z "$wanted" ]; then
        return
    fi
    if can_install; then
        apt-get update -qq >&2
        # Debian 12 has JDK 17 alone; later systems have one of these.
        for release in 25 21; do
            if ! has_second_jdk && apt-cache show "openjdk-$release-jdk-headless" >/dev/null 2>&1; then
                wanted="$wanted openjdk-$release-jdk-headless"
                break
            fi
        done
        # shellcheck disable=SC2086 # a list of packages
        [ -z "$wanted" ] || install_packages $wanted || true
    fi
    for program in chromium script; do
        command -v $program >/dev/null 2>&1 || echo "setup: no $program: the tests that need it say so" >&2
    done
    has_second_jdk || echo "setup: one JDK only: the tests do not run on a second, newer one" >&2
}

# The oldest Rust that is supported, for scripts/msrv.sh, which says so if it is not there, and fails in CI.
install_oldest_rust() {
    version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$here/../Cargo.toml")
    if command -v rustup >/dev/null 2>&1 && ! rustup toolchain list | grep -q "^$version[.-]"; then
        timeout 120 rustup toolchain install "$version" --profile minimal >&2 || true
    fi
}

# A target of Rust's standard library, for the toolchain that builds in this folder.
need_rust_target() {
    if [ -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/$1/lib" ]; then
        return
    fi
    if command -v rustup >/dev/null 2>&1; then
        echo "setup: installing the Rust target $1" >&2
        rustup target add "$1" >&2 && return
    fi
    say "Rust has no target $1 here: rustup target add $1"
}

only=
if [ "$1" = --only ]; then
    shift
    only=yes
else
    basics
fi

if [ "$1" = --tests ]; then
    shift
    complete_tests
    install_oldest_rust
elif [ "$1" = --oldest-rust ]; then
    shift
    install_oldest_rust
fi

for need in "$@"; do
    case $need in
    rust-target:*)
        need_rust_target "${need#*:}"
        continue
        ;;
    esac
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
[ -z "$only" ] || exit 0
echo "setup: $(cargo --version), $("${CC:-cc}" --version | head -n 1), JDK in $jdk"
