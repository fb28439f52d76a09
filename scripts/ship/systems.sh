# Clean Debian systems, each a folder that a command runs in by chroot. Sourced by scripts/ship-test.sh, which sets `work`.

mounted=()
# What every system gets of this one: how to reach the network. Empty where nothing is set.
network=()
for variable in http_proxy https_proxy no_proxy; do
    [ -z "${!variable:-}" ] || network+=("$variable=${!variable}")
done

# The base of all systems, made once: a Debian of the release that the image is made from, which trusts what the host trusts.
new_base() {
    local release=$1 log=$2 certificates=(/usr/local/share/ca-certificates/*.crt)
    debootstrap --variant=minbase --include=ca-certificates "$release" "$work/base" ${MIRROR:+"$MIRROR"} >"$log" 2>&1 ||
        { tail -n 20 "$log"; say "debootstrap failed"; exit 1; }
    cp /etc/resolv.conf /etc/hosts "$work/base/etc/"
    cp /etc/apt/apt.conf.d/*proxy* "$work/base/etc/apt/apt.conf.d/" 2>/dev/null || true
    if [ -e "${certificates[0]}" ]; then
        cp "${certificates[@]}" "$work/base/usr/local/share/ca-certificates/"
        in_system base update-ca-certificates >>"$log" 2>&1
    fi
    # A package must not start its daemons: the system has no init.
    printf '#!/bin/sh\nexit 101\n' >"$work/base/usr/sbin/policy-rc.d"
    chmod 755 "$work/base/usr/sbin/policy-rc.d"
    # One store of downloaded packages, so that no system fetches what another one has.
    mv "$work/base/var/cache/apt/archives" "$work/packages"
    mkdir "$work/base/var/cache/apt/archives"
}

# Makes a system of the base.
new_system() {
    local folder=$work/$1
    cp -a "$work/base" "$folder"
    mount -t proc proc "$folder/proc"
    mounted+=("$folder/proc")
    mount --bind "$work/packages" "$folder/var/cache/apt/archives"
    mounted+=("$folder/var/cache/apt/archives")
}

# Runs a command in a system, with an environment that has nothing of the host but the way to the network.
in_system() {
    local folder=$work/$1
    shift
    env -i PATH=/root/.cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "${network[@]}" \
        chroot "$folder" "$@"
}

# Installs packages in a system.
install_in() {
    local name=$1
    shift
    { in_system "$name" apt-get update -qq &&
        in_system "$name" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } >"$logs/apt-$name.log" 2>&1 ||
        { tail -n 20 "$logs/apt-$name.log"; say "cannot install $*"; exit 1; }
}

# Unmounts what was mounted and removes the systems, unless KEEP says otherwise. A folder that cannot be unmounted is left as it is, and nothing below it is removed.
remove_systems() {
    local at stuck=
    for ((at = ${#mounted[@]} - 1; at >= 0; at--)); do
        umount "${mounted[$at]}" || { say "${mounted[$at]} is still mounted: $work stays"; stuck=yes; }
    done
    [ -n "$stuck${KEEP:-}" ] || rm -rf --one-file-system "$work"
}
