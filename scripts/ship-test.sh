#!/bin/bash
# Tries all that Ravel ships, from a clean clone, in clean Debian systems (debootstrap, chroot) that have only what each part installs in
# them: the installation from source, the release with the steps of its workflow, the package, the image, the action, Slurm, JUnit with
# Maven and Gradle, other JDKs, and the lines of docs/integration.md. It keeps what it typed and what was said in FOLDER/typed; with
# BLESS=1 it puts that into docs/integration.md.
#
# usage: scripts/ship-test.sh [FOLDER]        FOLDER: where to write logs [default: target/ship]; as root
#   PARTS    what to try [default: lint source release agents workflow image package action guide slurm junit jvms]. Parts after
#            `release` take its files, or those of the last time
#   BINARY   a binary that is built already: `release` packs it and builds nothing
#   PROFILE  the profile to build with [default: dist]
#   MIRROR   the Debian archive [default: that of debootstrap, deb.debian.org]
#   KEEP     keep the systems
#
# The release files are left in target/release-files, where the Dockerfile takes them from.

set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(realpath -m "${1:-$root/target/ship}")
files=$root/target/release-files
logs=$out/logs
typed_lines=$out/typed
parts=${PARTS:-lint source release agents workflow image package action guide slurm junit jvms}
profile=${PROFILE:-dist}
say() { echo "ship: $*"; }

[ "$(id -u)" = 0 ] || { say "chroot needs root" >&2; exit 2; }
"$root/scripts/setup.sh" --only git:git curl:curl python3:python3 debootstrap:debootstrap npm:npm go:golang-go
rm -rf "$out"
mkdir -p "$logs" "$typed_lines"
work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-ship.XXXXXX")
chmod 755 "$work"
server=
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    remove_systems
}
for library in systems transcript builds users tools; do
    # shellcheck source=/dev/null
    . "$root/scripts/ship/$library.sh"
done
trap end EXIT

git -c advice.detachedHead=false clone -q --no-local "$root" "$work/clone"
cd "$work/clone"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
commit=$(git log -1 --format='%h %cs' --abbrev=10)
says="^ravel $version \($commit\)$"
# A binary that was built elsewhere may be of another commit, or of none.
[ -z "${BINARY:-}" ] || says="^ravel $version"
say "a clean clone of $commit"
new_base "$(sed -n 's/^FROM debian:\([a-z]*\).*/\1/p' Dockerfile)" "$logs/debootstrap.log"
began=$SECONDS
for part in $parts; do
    "part_$part"
    say "$part: done after $((SECONDS - began)) s"
done
if [ -n "${BLESS:-}" ]; then
    python3 "$root/scripts/ship/page.py" "$root/docs/integration.md" "$typed_lines"
fi
ls -l "$files"
say "everything worked: $parts"
