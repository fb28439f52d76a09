# The parts that build and pack. Sourced by scripts/ship-test.sh.

part_lint() {
    local tools=$work/tools file
    mkdir -p "$tools"
    (cd "$tools" && npm install --silent --no-fund --no-audit @action-validator/core @action-validator/cli) >"$logs/npm.log" 2>&1 ||
        { cat "$logs/npm.log"; say "cannot install the validator"; exit 1; }
    for file in .github/workflows/release.yml action.yml; do
        "$tools/node_modules/.bin/action-validator" "$file"
        say "$file: valid"
    done
    GOBIN=$tools GOFLAGS=-mod=mod go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7
    "$tools/actionlint" .github/workflows/release.yml docs/examples/ravel.yml
    say "actionlint: no complaint"
}

# A system with the clone and what a build needs: no JDK.
build_system() {
    [ ! -d "$work/build" ] || return 0
    new_system build
    install_in build git curl gcc libc6-dev sudo
    git -c advice.detachedHead=false clone -q --no-local "$root" "$work/build/root/ravel"
}

rust_in_build_system() {
    [ ! -d "$work/build/root/.cargo" ] || return 0
    # What https://sh.rustup.rs fetches.
    in_system build sh -e -c "curl -fsSLo /root/rustup-init https://static.rust-lang.org/rustup/dist/x86_64-unknown-linux-gnu/rustup-init
        chmod 755 /root/rustup-init
        /root/rustup-init -y --profile minimal" >"$logs/rustup.log" 2>&1 ||
        { tail -n 20 "$logs/rustup.log"; say "cannot install Rust"; exit 1; }
}

# What a build gets told by its environment. Only optimised builds ask git for the commit.
build_environment() {
    local setting=${profile^^}
    echo "PROFILE=$profile"
    [ "$profile" != dev ] || echo "RAVEL_COMMIT=$commit"
    # As scripts/dist.sh, so that the two share what they compile.
    echo "CARGO_PROFILE_${setting//-/_}_DEBUG=false"
    echo "CARGO_PROFILE_${setting//-/_}_STRIP=symbols"
}

part_source() {
    local line
    build_system
    rust_in_build_system
    if in_system build sh -c "command -v java"; then say "there is a JDK before one is installed"; exit 1; fi
    while read -r line; do export_in_build+=("$line"); done < <(build_environment)
    section source build /root/ravel
    typed "$(prefix)cargo install --quiet --locked --profile $profile --path crates/ravel"
    typed "ravel --version" "$says"
    typed "ls -lh ~/.cargo/bin/ravel | cut -d' ' -f5"
    # What follows takes the binary of the release.
    in_system build rm /root/.cargo/bin/ravel
}
export_in_build=()

# The environment of a build that is not that of a release, as words before its command.
prefix() {
    local word
    [ "$profile" != dist ] || return 0
    for word in "${export_in_build[@]}"; do printf '%q ' "$word"; done
}

# Runs a step of the workflow in the clone.
workflow_step() {
    local number=$1 environment=()
    shift
    while read -r line; do environment+=("$line"); done < <(build_environment)
    in_system build env "${environment[@]}" GITHUB_REF_NAME="v$version" TARGET=x86_64-unknown-linux-musl DEB=1 "$@" \
        bash -e -c "cd /root/ravel && . /root/steps/$number.sh"
}

part_release() {
    build_system
    python3 "$root/scripts/ship/steps.py" .github/workflows/release.yml "$work/build/root/steps"
    workflow_step 1
    if workflow_step 1 GITHUB_REF_NAME=v0.0.0 >"$logs/tag.log"; then say "a tag of another version went through"; exit 1; fi
    if [ -n "${BINARY:-}" ]; then
        cp "$BINARY" "$work/build/root/binary"
        install_in build binutils
        in_system build env BINARY=/root/binary TARGET=x86_64-unknown-linux-musl PATH=/usr/bin:/bin \
            bash -c "cd /root/ravel && scripts/dist.sh release-files"
    else
        rust_in_build_system
        workflow_step 2
    fi
    (cd "$work/build/root/ravel/release-files" && sha256sum --check "SHA256SUMS-x86_64-unknown-linux-musl")
    rm -rf "$files"
    mkdir -p "$(dirname "$files")"
    cp -a "$work/build/root/ravel/release-files" "$files"
}

archive_name() { echo "ravel-$version-x86_64-unknown-linux-musl.tar.gz"; }
package_name() { echo "ravel_${version}_amd64.deb"; }

part_agents() {
    local agent library
    build_system
    install_in build gcc libc6-dev musl-tools binutils
    mkdir -p "$work/build/root/unpacked"
    tar -xzf "$files/$(archive_name)" -C "$work/build/root/unpacked" --strip-components=1
    if in_system build readelf -ld /root/unpacked/bin/ravel | grep -E 'INTERP|NEEDED'; then say "the binary is not static"; exit 1; fi
    agent=$(in_system build env RAVEL_CACHE=/root/cache /root/unpacked/bin/ravel record --print-option -o t.ravel | sed 's/^-agentpath:\(.*\.so\)=.*/\1/')
    in_system build musl-gcc -O1 -o /root/load-musl /root/ravel/scripts/load-agent.c
    in_system build gcc -O1 -o /root/load-gnu /root/ravel/scripts/load-agent.c -ldl
    for library in musl gnu; do
        in_system build "/root/load-$library" "$agent" >"$logs/loaded-$library" 2>&1
        cat "$logs/loaded-$library"
        grep -qx "loaded: -$library.so" "$logs/loaded-$library"
    done
}

part_workflow() {
    build_system
    [ -d "$work/build/root/steps" ] || python3 "$root/scripts/ship/steps.py" .github/workflows/release.yml "$work/build/root/steps"
    [ -d "$work/build/root/ravel/release-files" ] || cp -a "$files" "$work/build/root/ravel/release-files"
    install_in build openjdk-17-jdk-headless
    workflow_step 3
    # There is no GitHub here: this stands for its command, and says how it was called.
    printf '#!/bin/sh\nprintf "%%s\\n" "$@" >/root/attached\n' >"$work/build/usr/local/bin/gh"
    chmod 755 "$work/build/usr/local/bin/gh"
    workflow_step 4 GH_TOKEN=none GH_REPO=none/none
    printf '%s\n' release create "v$version" --verify-tag --generate-notes "release-files/SHA256SUMS-x86_64-unknown-linux-musl" \
        "release-files/$(archive_name)" "release-files/$(package_name)" | diff - "$work/build/root/attached"
    rm "$work/build/usr/local/bin/gh"
}

part_image() {
    local code=0 entrypoint workdir
    new_system image
    # The context is this tree, where the release files are.
    python3 "$root/scripts/ship/image.py" Dockerfile "$root" image >"$work/image.sh"
    # shellcheck source=/dev/null
    . "$work/image.sh" >"$logs/image.log" 2>&1
    in_image() { in_system image sh -c "cd $workdir && exec \"\$@\"" sh "${entrypoint[@]}" "$@"; }
    in_image --version | tee "$logs/image-version"
    grep -qE "$says" "$logs/image-version"
    in_image -q demo --keep d >"$logs/image-demo" || code=$?
    [ "$code" = 1 ] && grep -q '^harmful\[atomicity\]' "$logs/image-demo"
    code=0
    in_image -q run -- java -cp d/classes shop.Shop >"$logs/image-run" || code=$?
    [ "$code" = 1 ] && grep -q '^harmful\[atomicity\]' "$logs/image-run"
    say "the image proves the bug of the demo, its own and as a program of /work"
}
