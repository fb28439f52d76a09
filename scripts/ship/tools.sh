# The parts that need a build tool, a scheduler or other JDKs. Sourced by scripts/ship-test.sh.

# The clone in a system of its own, with the static binary of the release and what its scripts need.
tools_system() {
    [ ! -d "$work/tools-system" ] || return 0
    new_system tools-system
    install_in tools-system openjdk-17-jdk-headless python3 procps
    git -c advice.detachedHead=false clone -q --no-local "$root" "$work/tools-system/root/ravel"
    tar -xzf "$files/$(archive_name)" -C "$work/tools-system/usr/local" --strip-components=1
}

part_junit() {
    tools_system
    install_in tools-system maven gradle
    section junit tools-system /root/ravel
    typed "CI=true RAVEL=/usr/local/bin/ravel scripts/plugins-test.sh" '^PASS gradle ravelTest'
}

part_slurm() {
    tools_system
    section slurm tools-system /root/ravel
    typed "scripts/slurm-test.sh /usr/local/bin/ravel 2>slurm.log || { cat slurm.log; false; }" "is that of one machine$"
}

# Three programs and their twins on each JDK that can be had: `make jvms` tries fourteen.
part_jvms() {
    tools_system
    section jvms tools-system /root/ravel
    typed "RAVEL=/usr/local/bin/ravel SUBJECTS='CounterLost Account DeadlockTwo' scripts/jvms-test.sh 2>jvms.log || { cat jvms.log; false; }" \
        '^\| 1\.8.*3 of 3 \| 3 of 3'
}
