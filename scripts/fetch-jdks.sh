#!/bin/bash
# Fetches JDKs from Debian's unstable archive into a folder of their own, by apt's own tools, and installs nothing: DIR/8, DIR/11 and so on
# are homes of JDKs. Where this system's C library is older than the one that they need, that of the archive comes with them (DIR/libc), and
# their programs are changed to load it.
#
# usage: scripts/fetch-jdks.sh DIR RELEASE…      a home that works is left as it is

set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,6p' "$0" >&2; exit 2; }
mkdir -p "$1"
dir=$(realpath "$1")
shift

works() { "$dir/$1/bin/java" -version >/dev/null 2>&1; }
wanted=()
for release in "$@"; do works "$release" || wanted+=("$release"); done
[ ${#wanted[@]} -gt 0 ] || exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || {
    echo "fetch-jdks: this needs apt-get and dpkg-deb (Debian, Ubuntu)" >&2
    exit 2
}

# An apt with lists and a cache of its own, for the archive alone.
apt=$dir/apt
mkdir -p "$apt/none" "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/*$' || true)
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -n "$mirror" ] || { echo "fetch-jdks: apt knows of no Debian archive here" >&2; exit 2; }
echo "deb [signed-by=$keys] $mirror sid main" >"$apt/sources.list"
of_archive() {
    apt-get -qq -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o Dir::Etc::sourcelist="$apt/sources.list" \
        -o Dir::Etc::sourceparts="$apt/none" -o Dir::Etc::preferencesparts="$apt/none" -o Dir::Etc::preferences="$apt/none/none" -o APT::Sandbox::User= "$@"
}
of_archive update

# Unpacks a package of the archive into a folder.
unpack() {
    rm -f "$apt/debs/$1"_*.deb
    (cd "$apt/debs" && of_archive download "$1") || return
    mkdir -p "$2"
    dpkg-deb -x "$apt/debs/$1"_*.deb "$2"
    rm -f "$apt/debs/$1"_*.deb
}

fetch() {
    local release=$1 root=$dir/$1.new link target home
    rm -rf "$root" "${dir:?}/$release"
    for part in jre jdk; do unpack "openjdk-$release-$part-headless" "$root" || return; done
    home=$(dirname "$(dirname "$(find "$root/usr/lib/jvm" -path '*/bin/javac' -not -path '*/jre/*' | head -n 1)")")
    mv "$home" "$dir/$release"
    [ ! -d "$root/etc" ] || mv "$root/etc" "$dir/$release/etc"
    rm -rf "$root"
    # Its settings lie in /etc, where the links point.
    find "$dir/$release" -type l -lname '/etc/java-*' | while read -r link; do
        target=$(readlink "$link")
        ln -sfn "$dir/$release$target" "$link"
    done
}

# Lets the programs of a JDK load the C library of the archive: the system's own stays as it is.
with_new_libc() {
    local home=$dir/$1 libc=$dir/libc program old
    if [ ! -x "$libc/usr/bin/patchelf" ]; then
        for name in libc6 libgcc-s1 libstdc++6 zlib1g; do unpack "$name" "$libc"; done
        (cd "$apt/debs" && apt-get -qq -o APT::Sandbox::User= download patchelf)
        dpkg-deb -x "$apt/debs"/patchelf_*.deb "$libc"
        rm -f "$apt/debs"/patchelf_*.deb
    fi
    local lib=$libc/usr/lib/x86_64-linux-gnu
    find "$home" -type f \( -path '*/bin/*' -o -name jspawnhelper \) | while read -r program; do
        "$libc/usr/bin/patchelf" --print-interpreter "$program" >/dev/null 2>&1 || continue
        old=$("$libc/usr/bin/patchelf" --print-rpath "$program")
        "$libc/usr/bin/patchelf" --force-rpath --set-rpath "${old:+$old:}$lib" "$program"
        "$libc/usr/bin/patchelf" --set-interpreter "$lib/ld-linux-x86-64.so.2" "$program"
    done
}

failed=
for release in "${wanted[@]}"; do
    echo "fetch-jdks: JDK $release" >&2
    if ! fetch "$release"; then
        echo "fetch-jdks: the archive has no openjdk-$release-jdk-headless that can be fetched" >&2
        failed=yes
        continue
    fi
    works "$release" || with_new_libc "$release"
    works "$release" || { echo "fetch-jdks: JDK $release does not start here:" >&2; "$dir/$release/bin/java" -version >&2 || true; failed=yes; }
done
[ -z "$failed" ]
