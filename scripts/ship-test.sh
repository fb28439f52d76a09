#!/bin/bash
# Tries what a user gets: from a clean clone it builds the release files (scripts/dist.sh), lints the workflow and the action, and runs the
# commands of both and of docs/integration.md in a clean Debian (debootstrap, as root) that has only the package and a JDK.
#
# usage: scripts/ship-test.sh [FOLDER]        FOLDER: where to write [default: target/ship]
#   BINARY   a static binary (x86_64-unknown-linux-musl) that is built already, instead of a build of the clone
#   MIRROR   the Debian archive [default: what apt uses here]
#   KEEP     keep the clean Debian

set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(realpath -m "${1:-$root/target/ship}")
mkdir -p "$out"
work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-ship.XXXXXX")
system=$work/system
server=
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    umount "$system/proc" 2>/dev/null || true
    [ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap end EXIT
say() { echo "ship: $*"; }

say "a clean clone"
git -c advice.detachedHead=false clone -q --no-local "$root" "$work/clone"
cd "$work/clone"
export RAVEL_COMMIT=${RAVEL_COMMIT-$(git log -1 --format='%h %cs' --abbrev=10)}
[ -z "${BINARY:-}" ] || BINARY=$(realpath "$BINARY")
export BINARY=${BINARY:-} TARGET=x86_64-unknown-linux-musl
scripts/dist.sh "$out"
(cd "$out" && sha256sum --check SHA256SUMS-*)

say "lint"
tools=$work/tools
mkdir -p "$tools"
(cd "$tools" && npm install --silent --no-fund --no-audit @action-validator/core @action-validator/cli >/dev/null 2>&1)
for file in .github/workflows/release.yml action.yml; do
    "$tools/node_modules/.bin/action-validator" "$file"
    say "$file: valid"
done
if command -v go >/dev/null; then
    GOBIN=$tools GOFLAGS=-mod=mod go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7
    "$tools/actionlint" .github/workflows/release.yml docs/examples/ravel.yml
    say "actionlint: no complaint"
fi

say "an agent for each C library"
mkdir "$work/unpacked"
tar -xzf "$out"/ravel-*-x86_64-unknown-linux-musl.tar.gz -C "$work/unpacked" --strip-components=1
if readelf -ld "$work/unpacked/bin/ravel" | grep -E 'INTERP|NEEDED'; then say "the binary is not static"; exit 1; fi
agent=$(RAVEL_CACHE=$work/cache "$work/unpacked/bin/ravel" record --print-option -o t.ravel | sed 's/^-agentpath:\(.*\.so\)=.*/\1/')
musl-gcc -O1 -o "$work/load-musl" scripts/load-agent.c
gcc -O1 -o "$work/load-gnu" scripts/load-agent.c -ldl
for library in musl gnu; do
    "$work/load-$library" "$agent" >"$work/loaded" 2>&1
    cat "$work/loaded"
    grep -qx "loaded: -$library.so" "$work/loaded"
done

[ "$(id -u)" = 0 ] || { say "not root: no clean Debian to try the files in"; exit 2; }
say "a clean Debian"
command -v debootstrap >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >&2
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
debootstrap --variant=minbase --include=ca-certificates "$release" "$system" ${MIRROR:+"$MIRROR"} >"$out/debootstrap.log" 2>&1
mount -t proc proc "$system/proc"
cp /etc/resolv.conf "$system/etc/" 2>/dev/null || true
cp /etc/apt/apt.conf.d/*proxy* "$system/etc/apt/apt.conf.d/" 2>/dev/null || true
in_system() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 chroot "$system" "$@"; }
in_system apt-get update -qq
in_system env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openjdk-17-jdk-headless curl >"$out/apt.log" 2>&1

say "the package"
cp "$out"/ravel_*.deb "$system/root/"
in_system sh -c 'dpkg -i /root/ravel_*.deb'
in_system ravel --version
in_system sh -c 'ls /usr/share/man/man1/ravel* | wc -l; test -s /usr/share/bash-completion/completions/ravel'
in_system ravel doctor
in_system sh -c 'cd /root && ravel -q demo > demo.txt; code=$?; grep -q harmful demo.txt && [ "$code" = 1 ] && echo "demo: exit $code"'
in_system dpkg -r ravel

say "the steps of the action"
mkdir -p "$system/root/steps" "$system/root/temp" "$system/root/project"
cp action.yml "$system/root/"
python3 - "$system/root/steps" <<'PYTHON'
import re, sys
steps = re.findall(r"      run: \|\n((?:        .*\n|\n)+)", open("action.yml").read())
for number, text in enumerate(steps, 1):
    open(f"{sys.argv[1]}/{number}.sh", "w").write("".join(line[8:] if line.strip() else line for line in text.splitlines(True)))
PYTHON
cp subjects/bugs/Account.java "$system/root/project/"
package=$(sed -n 's/^package \(.*\);/\1./p' subjects/bugs/Account.java | head -n 1)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
in_system sh -c 'cd /root/project && javac -g -d classes Account.java'
# By the environment, as to a JVM that a script starts.
dpkg-deb -x "$out"/ravel_*.deb "$system/root/package"
in_system env COMMAND="java -cp classes ${package}Account" sh -c 'cd /root/project && /root/package/usr/bin/ravel record -o script.ravel -- sh -c "$COMMAND"'
[ -s "$system/root/project/script.ravel" ]
# The release, as the action expects it.
mkdir -p "$work/served/ravel/ravel/releases/download"
ln -s "$out" "$work/served/ravel/ravel/releases/download/v$version"
port=$((20000 + $$ % 20000))
python3 -m http.server --bind 127.0.0.1 --directory "$work/served" "$port" >"$out/server.log" 2>&1 &
server=$!
for _ in $(seq 50); do
    curl -fsS -o /dev/null "http://127.0.0.1:$port/" 2>/dev/null && break
    sleep 0.2
done
step() {
    in_system env RUNNER_TEMP=/root/temp RUNNER_OS=Linux RUNNER_ARCH="${2:-X64}" GITHUB_PATH=/root/path GITHUB_OUTPUT=/root/output \
        VERSION="$version" ARCHIVE= SERVER="http://127.0.0.1:$port" REPOSITORY=ravel/ravel \
        COMMAND="java -cp classes ${package}Account" OPTIONS="--budget 60" SARIF=ravel.sarif \
        bash -e -c "cd /root/project && . /root/steps/$1.sh"
}
if step 1 RISCV64; then say "there is no release for this processor"; exit 1; fi
step 1
step 2
cat "$system/root/output"
grep -qx code=1 "$system/root/output"
[ -s "$system/root/project/ravel.sarif" ]
code=0
step 3 || code=$?
[ "$code" = 1 ]
say "everything worked; the files are in $out"
