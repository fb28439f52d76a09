#!/bin/bash
# Builds what a release has: an archive of the binary with manual pages and completions, a Debian package, and checksums of both.
#
# usage: scripts/dist.sh [FOLDER]             FOLDER: where to write [default: target/release-files]
#   TARGET   the target to build for [default: the host's]
#            x86_64-unknown-linux-gnu    needs the glibc of the machine that built it, or a later one
#            x86_64-unknown-linux-musl   static: runs on any Linux, and carries an agent for JVMs of either C library. Needs musl-gcc
#                                        (Debian: musl-tools)
#            aarch64-unknown-linux-gnu   elsewhere than on ARM64 it needs a compiler and an emulator, to ask the binary for its pages
#                                        (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static)
#            Where these or the Rust target are missing, scripts/setup.sh installs them, or says how.
#   BINARY   a binary that is built already: nothing is built
#   PROFILE  the profile to build with [default: dist]
#   RUNNER   what runs a binary for another processor [default: qemu-aarch64-static with the libraries of the compiler]
#   DEB      0 to make no Debian package
#   RAVEL_COMMIT   the commit, where there is no checkout

set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
out=$(realpath -m "${1:-target/release-files}")
cargo=${CARGO:-cargo}
profile=${PROFILE:-dist}
# Packing a binary needs no compiler.
host=$(rustc -vV 2>/dev/null | sed -n 's/^host: //p' || true)
host=${host:-$(uname -m)-unknown-linux-gnu}
target=${TARGET:-$host}
processor=${target%%-*}
built=$(realpath -m "${CARGO_TARGET_DIR:-target}")
made_in=$profile
[ "$profile" != dev ] || made_in=debug
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
needs=(readelf:binutils)
[ -n "${BINARY:-}" ] || [ "$target" = "$host" ] || needs+=("rust-target:$target")
case $target in
*-musl)
    export "CC_${target//-/_}=${MUSL_GCC:-musl-gcc}"
    [ -n "${BINARY:-}" ] || needs+=("${MUSL_GCC:-musl-gcc}:musl-tools")
    ;;
aarch64-unknown-linux-gnu)
    if [ "$host" != "$target" ]; then
        [ -n "${BINARY:-}" ] || needs+=(aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu)
        [ -n "${RUNNER:-}" ] || needs+=(qemu-aarch64-static:qemu-user-static)
        export CC_aarch64_unknown_linux_gnu=${CC_aarch64_unknown_linux_gnu:-aarch64-linux-gnu-gcc}
        export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER:-aarch64-linux-gnu-gcc}
        RUNNER=${RUNNER:-qemu-aarch64-static -L /usr/aarch64-linux-gnu}
    fi
    ;;
esac
scripts/setup.sh --only "${needs[@]}"
# No release file has symbols, whatever the profile: those of an unoptimised build take longer to pack than to build.
setting=${profile^^}
export "CARGO_PROFILE_${setting//-/_}_DEBUG=false" "CARGO_PROFILE_${setting//-/_}_STRIP=symbols"

# The agents for both C libraries, and the library that chooses between them in the JVM.
agents() {
    local gnu=$processor-unknown-linux-gnu musl=$processor-unknown-linux-musl flags=()
    mkdir -p "$1"
    [ "$gnu" = "$host" ] || flags=(--target "$gnu")
    "$cargo" build --locked --profile "$profile" -p ravel-agent --lib "${flags[@]}" >&2
    cp "$built/${flags[1]:+$gnu/}$made_in/libravel_agent.so" "$1/gnu.so"
    # Not every system with musl has libgcc, so the unwinder goes into the library: the one that Rust brings for static binaries.
    echo "INPUT($(rustc --print sysroot)/lib/rustlib/$musl/lib/self-contained/libunwind.a)" >"$work/libgcc_s.so"
    local variable=CARGO_TARGET_${musl//-/_}_RUSTFLAGS
    # The binary itself is linked with what Rust brings for static ones: musl-gcc would link it with a dynamic loader.
    local linker=CARGO_TARGET_${musl//-/_}_LINKER
    env "${linker^^}=${MUSL_GCC:-musl-gcc}" "${variable^^}=-C target-feature=-crt-static -L native=$work" \
        "$cargo" build --locked --profile "$profile" -p ravel-agent --lib --target "$musl" --target-dir "$built/agent-musl" >&2
    cp "$built/agent-musl/$musl/$made_in/libravel_agent.so" "$1/musl.so"
    for library in gnu musl; do
        nm -D --defined-only "$1/$library.so" | sed -n 's/.* T \(Java_.*\)/\1/p' | sort >"$work/$library"
    done
    cmp "$work/gnu" "$work/musl"
    { echo "natives! {"; cat "$work/gnu"; echo "}"; } >"$work/natives.rs"
    RAVEL_NATIVES=$work/natives.rs rustc --edition 2024 --crate-name chooser --crate-type cdylib --target "$gnu" -C opt-level=2 -C lto \
        -C panic=abort -C strip=symbols -C link-args="-nostdlib -nostartfiles" -o "$1/chooser.so" crates/agent/chooser/chooser.rs
    # It must load in any process.
    if readelf -dV "$1/chooser.so" | grep -E 'NEEDED|GLIBC' || nm -D --undefined-only "$1/chooser.so" | grep rust; then
        echo "dist: $1/chooser.so needs a C library" >&2
        exit 1
    fi
}

if [ -z "${BINARY:-}" ]; then
    flags=()
    [ "$target" = "$host" ] || flags=(--target "$target")
    case $target in
    *-musl)
        agents "$built/agents-$processor"
        export RAVEL_AGENTS=$built/agents-$processor
        ;;
    esac
    "$cargo" build --locked --profile "$profile" -p ravel "${flags[@]}" >&2
    BINARY=$built/${flags[1]:+$target/}$made_in/ravel
fi
binary=$(realpath "$BINARY")
# Words are split on purpose.
# shellcheck disable=SC2086
ravel() { ${RUNNER:-} "$binary" "$@"; }
said=$(ravel --version)
case $said in "ravel $version"*) ;; *) echo "dist: $binary says \`$said\`, not version $version" >&2; exit 1 ;; esac

name=ravel-$version-$target
umask 022
tree=$work/$name
mkdir -p "$tree/bin" "$tree/share/man/man1" "$tree/share/bash-completion/completions" \
    "$tree/share/zsh/site-functions" "$tree/share/fish/vendor_completions.d" "$tree/share/doc/ravel"
install -m 755 "$binary" "$tree/bin/ravel"
# The page of ravel, and one of each command that its help lists.
ravel man >"$tree/share/man/man1/ravel.1"
ravel help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | grep -vx help | while read -r command; do
    ravel man "$command" >"$tree/share/man/man1/ravel-$command.1"
done
ravel completions bash >"$tree/share/bash-completion/completions/ravel"
ravel completions zsh >"$tree/share/zsh/site-functions/_ravel"
ravel completions fish >"$tree/share/fish/vendor_completions.d/ravel.fish"
cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$tree/share/doc/ravel/"

# An agent that is no longer compressed, or debug information, shows here first. Only the profile for installation is stripped.
most=$((12 * 1024 * 1024))
size=$(stat -c %s "$tree/bin/ravel")
echo "dist: $name/bin/ravel has $size bytes" >&2
if [ "$profile" = dist ] && [ "$size" -gt "$most" ]; then
    echo "dist: that is more than the $most bytes that a release may have" >&2
    exit 1
fi

# The same bytes from the same commit.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
mkdir -p "$out"
# Those of another version would be taken along by all that reads this folder.
rm -f "$out"/ravel-*-"$target".tar.gz
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -C "$work" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"

made=("$name.tar.gz")
if [ "${DEB:-1}" != 0 ] && command -v dpkg-deb >/dev/null; then
    case $processor in x86_64) arch=amd64 ;; aarch64) arch=arm64 ;; *) arch=$processor ;; esac
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
    glibc=$(readelf -WV "$binary" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | cut -d_ -f2 | sort -Vu | tail -n 1 || true)
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
    rm -f "$out"/ravel_*_"$arch".deb
    SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group --build "$deb" "$out/$file" >&2
    made+=("$file")
fi
(cd "$out" && sha256sum "${made[@]}" >"SHA256SUMS-$target")
ls -l "$out" >&2
printf '%s\n' "${made[@]}"
