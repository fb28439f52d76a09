#!/bin/bash
# Builds what a release has: an archive of the binary with manual pages and completions, a Debian package, and checksums of both.
#
# usage: scripts/dist.sh [FOLDER]             FOLDER: where to write [default: target/release-files]
#   TARGET   the target to build for [default: the host's]; others are untested
#   BINARY   a binary that is built already: nothing is built
#   RAVEL_COMMIT   the commit, where there is no checkout

set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
out=$(realpath -m "${1:-target/release-files}")
cargo=${CARGO:-cargo}
host=$(rustc -vV | sed -n 's/^host: //p')
target=${TARGET:-$host}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
if [ -z "${BINARY:-}" ]; then
    flags=()
    [ "$target" = "$host" ] || flags=(--target "$target")
    "$cargo" build --locked --profile dist -p ravel "${flags[@]}" >&2
    BINARY=target/${flags[1]:+$target/}dist/ravel
fi
binary=$(realpath "$BINARY")
said=$("$binary" --version)
case $said in "ravel $version"*) ;; *) echo "dist: $binary says \`$said\`, not version $version" >&2; exit 1 ;; esac

name=ravel-$version-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
tree=$work/$name
mkdir -p "$tree/bin" "$tree/share/man/man1" "$tree/share/bash-completion/completions" \
    "$tree/share/zsh/site-functions" "$tree/share/fish/vendor_completions.d" "$tree/share/doc/ravel"
install -m 755 "$binary" "$tree/bin/ravel"
# The page of ravel, and one of each command that its help lists.
"$binary" man >"$tree/share/man/man1/ravel.1"
"$binary" help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | grep -vx help | while read -r command; do
    "$binary" man "$command" >"$tree/share/man/man1/ravel-$command.1"
done
"$binary" completions bash >"$tree/share/bash-completion/completions/ravel"
"$binary" completions zsh >"$tree/share/zsh/site-functions/_ravel"
"$binary" completions fish >"$tree/share/fish/vendor_completions.d/ravel.fish"
cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$tree/share/doc/ravel/"

# The same bytes from the same commit.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
mkdir -p "$out"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -C "$work" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"

made=("$name.tar.gz")
if command -v dpkg-deb >/dev/null; then
    arch=$(dpkg --print-architecture)
    deb=$work/deb
    mkdir -p "$deb/DEBIAN" "$deb/usr"
    cp -a "$tree/bin" "$tree/share" "$deb/usr/"
    mkdir -p "$deb/usr/share/zsh/vendor-completions"
    mv "$deb/usr/share/zsh/site-functions/_ravel" "$deb/usr/share/zsh/vendor-completions/"
    rmdir "$deb/usr/share/zsh/site-functions"
    find "$deb/usr/share/man" -name '*.1' -exec gzip -9n {} +
    cat "$deb/usr/share/doc/ravel/LICENSE-MIT" - "$deb/usr/share/doc/ravel/LICENSE-APACHE" >"$deb/usr/share/doc/ravel/copyright" <<'LICENCE'

Alternatively, at your option:

LICENCE
    rm "$deb/usr/share/doc/ravel/LICENSE-MIT" "$deb/usr/share/doc/ravel/LICENSE-APACHE"
    # The oldest glibc whose symbols the binary needs; none if it is static.
    glibc=$(objdump -T "$binary" 2>/dev/null | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -Vu | tail -n 1 || true)
    depends=${glibc:+"libc6 (>= $glibc), libgcc-s1"}
    {
        echo "Package: ravel"
        echo "Version: $version"
        echo "Architecture: $arch"
        echo "Maintainer: The Ravel authors <ravel@localhost>"
        [ -z "$depends" ] || echo "Depends: $depends"
        echo "Recommends: default-jdk-headless | java17-runtime-headless"
        echo "Section: devel"
        echo "Priority: optional"
        echo "Installed-Size: $(du -sk "$deb/usr" | cut -f1)"
        echo "Description: finds the concurrency bugs of JVM programs and proves them"
        echo " Ravel records what the threads of a JVM do, predicts races, deadlocks and"
        echo " interrupted operations, and re-runs the program to prove them."
    } >"$deb/DEBIAN/control"
    (cd "$deb" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$deb/DEBIAN/md5sums"
    file=ravel_${version}_$arch.deb
    SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group --build "$deb" "$out/$file" >&2
    made+=("$file")
fi
(cd "$out" && sha256sum "${made[@]}" >"SHA256SUMS-$target")
ls -l "$out" >&2
printf '%s\n' "${made[@]}"
