# The parts that do what a user does with the release files. Sourced by scripts/ship-test.sh.

# A system with a JDK, and Ravel from its package once part_package ran.
user_system() {
    [ ! -d "$work/user" ] || return 0
    new_system user
    install_in user openjdk-17-jdk-headless curl
    mkdir -p "$work/user/root/work"
    cp "$files/$(package_name)" "$work/user/root/work/"
}

with_package() {
    user_system
    [ -e "$work/user/usr/bin/ravel" ] || in_system user dpkg -i "/root/work/$(package_name)" >"$logs/dpkg.log"
}

part_package() {
    local pages command
    user_system
    section package user /root/work
    typed "dpkg -i $(package_name)"
    typed "ravel --version" "$says"
    typed "ls -sh --block-size=K /usr/bin/ravel"
    typed "ravel doctor" "JDK|jvm"
    typed 'ravel -q demo > demo.txt; echo "exit code $?"' "^exit code 1$"
    typed "grep '^harmful' demo.txt" '^harmful\[atomicity\]'
    # A page for each command that the help lists, and one for the whole.
    pages=0
    for command in $(in_system user ravel help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | grep -vx help); do
        gzip -dc "$work/user/usr/share/man/man1/ravel-$command.1.gz" | grep -q '^\.TH ' || { say "ravel $command has no manual page"; exit 1; }
        pages=$((pages + 1))
    done
    [ "$pages" -ge 20 ] || { say "the help lists only $pages commands"; exit 1; }
    gzip -dc "$work/user/usr/share/man/man1/ravel.1.gz" | grep -q '^\.TH '
    [ "$(ls "$work/user/usr/share/man/man1" | grep -c '^ravel')" = $((pages + 1)) ] || { say "there are other manual pages than commands"; exit 1; }
    [ -s "$work/user/usr/share/bash-completion/completions/ravel" ] && [ -s "$work/user/usr/share/zsh/vendor-completions/_ravel" ] &&
        [ -s "$work/user/usr/share/fish/vendor_completions.d/ravel.fish" ]
    say "$((pages + 1)) manual pages, three completions"
    in_system user dpkg -r ravel
    if in_system user sh -c "command -v ravel"; then say "dpkg -r left ravel"; exit 1; fi
}

part_action() {
    local port code=0 folder=$work/user/root/action
    user_system
    mkdir -p "$folder/temp" "$folder/project" "$work/served/ravel/ravel/releases/download"
    python3 "$root/scripts/ship/steps.py" action.yml "$folder/steps"
    cp subjects/bugs/Account.java "$folder/project/"
    local package
    package=$(sed -n 's/^package \(.*\);/\1./p' subjects/bugs/Account.java | head -n 1)
    in_system user sh -c 'cd /root/action/project && javac -g -d classes Account.java'
    # The release, as the action expects it.
    ln -s "$files" "$work/served/ravel/ravel/releases/download/v$version"
    port=$((20000 + $$ % 20000))
    python3 -m http.server --bind 127.0.0.1 --directory "$work/served" "$port" >"$logs/server.log" 2>&1 &
    server=$!
    for _ in $(seq 50); do
        curl -fsS -o /dev/null "http://127.0.0.1:$port/" 2>/dev/null && break
        sleep 0.2
    done
    step() {
        in_system user env RUNNER_TEMP=/root/action/temp RUNNER_OS=Linux RUNNER_ARCH="${2:-X64}" GITHUB_PATH=/root/action/path \
            GITHUB_OUTPUT=/root/action/output VERSION="$version" ARCHIVE= SERVER="http://127.0.0.1:$port" REPOSITORY=ravel/ravel \
            COMMAND="java -cp classes ${package}Account" OPTIONS="--budget 60" SARIF=ravel.sarif \
            bash --noprofile --norc -eo pipefail -c "cd /root/action/project && . /root/action/steps/$1.sh"
    }
    if step 1 RISCV64; then say "there is no release for this processor"; exit 1; fi
    step 1
    step 2
    grep -qx code=1 "$folder/output"
    grep -qx /root/action/temp/ravel/bin "$folder/path"
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["runs"][0]["results"]' "$folder/project/ravel.sarif"
    step 3 || code=$?
    [ "$code" = 1 ]
    kill "$server"
    server=
}

# The lines of docs/integration.md that need nothing but Ravel and a JDK.
part_guide() {
    local here=$work/user/root/shop line clients
    with_package
    mkdir -p "$here"
    section run user /root/shop
    typed 'ravel -q demo --keep d >/dev/null; echo "exit code $?"' "^exit code 1$"
    typed 'ravel run --source d/src --out json=findings.json --out html=report.html -- java -cp d/classes shop.Shop; echo "exit code $?"' \
        '^harmful\[atomicity\]' '^exit code 1$'
    typed 'ravel check ravel-run.ravel >/dev/null; echo "exit code $?"' '^exit code [01]$'
    typed 'ravel replay -q ravel-run.ravel | grep harmful' '^harmful\[atomicity\]'

    section script user /root/shop
    printf '#!/bin/sh\necho starting\njava -cp d/classes shop.Shop\n' >"$here/start.sh"
    chmod 755 "$here/start.sh"
    typed 'cat start.sh'
    typed 'ravel -q run -o script.ravel -- ./start.sh | grep harmful' '^harmful\[atomicity\]'

    section option user /root/shop
    typed 'ravel record --print-option -o test.ravel' '^-agentpath:'
    typed 'JAVA_TOOL_OPTIONS=$(ravel record --print-option -o tools.ravel) java -cp d/classes shop.Shop'
    typed 'ls tools*.ravel' 'ravel'

    section history user /root/shop
    typed 'ravel history .ravel-history add findings.json' 'run 1'
    typed 'ravel history .ravel-history add findings.json' 'there already'
    typed 'ravel history .ravel-history --html history.html' '1 open'
    typed 'ravel diff --history .ravel-history findings.json; echo "exit code $?"' '^exit code 0$'
    [ -s "$here/history.html" ]

    section shards user /root/shop
    typed 'ravel record -q -o t.ravel -- java -cp d/classes shop.Shop'
    typed 'ravel plan t.ravel -o goals' 'finding'
    typed 'ravel prove goals --shard 1/2'
    typed 'ravel prove goals --shard 2/2'
    typed 'ravel merge shard-*-of-2.json --out json=merged.json; echo "exit code $?"' '^harmful\[atomicity\]' '^exit code 1$'

    section attach user /root/visits
    mkdir -p "$work/user/root/visits"
    sed -n '/^```java$/,/^```$/p' docs/attach.md | sed '1d;$d' >"$work/user/root/visits/Visits.java"
    typed 'javac -g Visits.java'
    typed 'java -cp . Visits 18081 >server.log 2>&1 & echo $! >server.pid'
    server=$(cat "$work/user/root/visits/server.pid")
    for _ in $(seq 100); do
        curl -fsS -o /dev/null http://127.0.0.1:18081/ 2>/dev/null && break
        sleep 0.2
    done
    clients=()
    for _ in 1 2 3 4; do
        (while curl -fsS http://127.0.0.1:18081/ >/dev/null 2>&1; do :; done) &
        clients+=($!)
    done
    typed 'ravel attach $(cat server.pid) --for 5s -o v.ravel; echo "exit code $?"' 'detached after' '^witnessed\[data-race\]' '^exit code 1$'
    typed 'curl -fsS http://127.0.0.1:18081/' '^visit [0-9]+$'
    kill "${clients[@]}" 2>/dev/null || true
    kill "$server"
    server=

    section workflow user /root/repository
    mkdir -p "$work/user/root/repository/.git" "$work/user/root/repository/src/main/java"
    cp -r "$here/d/src/shop" "$work/user/root/repository/src/main/java/"
    python3 "$root/scripts/ship/steps.py" docs/examples/ravel.yml "$work/lines"
    while read -r line; do
        case $line in
        ravel*) typed "$line; echo \"exit code \$?\"" '^exit code 1$' ;;
        *) typed "$line" ;;
        esac
    done <"$work/lines/1.sh"
    typed 'ls ravel.sarif ravel.html'
}
