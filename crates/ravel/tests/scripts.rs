//! The scripts of the project notice when a check is not made, or a file is not as promised. Tools that they call are stand-ins here.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common::{root, run};

const LIMIT: Duration = Duration::from_secs(60);

/// A tool in a folder that comes first on the `PATH`.
fn stand_in(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("made executable");
}

/// The exit code of a script, and what it says.
fn said(folder: &Path, script: &str, arguments: &[&Path], variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [folder.to_path_buf()].into_iter().chain(std::env::split_paths(&path));
    let output = run(
        Command::new(root().join("scripts").join(script))
            .args(arguments)
            .current_dir(root())
            .env("PATH", std::env::join_paths(path).expect("a path"))
            .env_remove("CI")
            .envs(variables.iter().copied()),
        LIMIT,
    );
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn the_oldest_rust_may_be_missing_but_not_in_ci() {
    let tools = tempfile::tempdir().expect("a folder");
    stand_in(
        tools.path(),
        "rustup",
        "#!/bin/sh\necho stable-x86_64-unknown-linux-gnu\n",
    );
    let (code, text) = said(tools.path(), "msrv.sh", &[], &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("skipped: toolchain 1."), "{text}");
    let (code, text) = said(tools.path(), "msrv.sh", &[], &[("CI", "true")]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("nothing may be skipped in CI"), "{text}");
}

/// The stand-in for cargo lists tests of some modules only.
#[test]
fn a_filter_for_miri_that_no_test_has_is_an_error() {
    let tools = tempfile::tempdir().expect("a folder");
    let lists = |modules: &[&str]| {
        let names: String = modules
            .iter()
            .map(|module| format!("echo '{module}::tests::one: test'\n"))
            .collect();
        stand_in(
            tools.path(),
            "cargo",
            &format!("#!/bin/sh\ncase \"$*\" in *--list) {names} ;; esac\n"),
        );
        said(tools.path(), "miri.sh", &[], &[])
    };
    let all = [
        "options",
        "filter",
        "focus",
        "baton",
        "baton::locks",
        "recorder",
        "config",
        "layout",
    ];
    let (code, text) = lists(&all);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = lists(&all[1..]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("ravel-agent has no test options::"), "{text}");
}

#[test]
fn a_release_file_that_is_too_large_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let said_of = |size: usize| {
        // Of what follows `exit`, the shell reads nothing.
        let version = env!("CARGO_PKG_VERSION");
        let mut binary = format!(
            "#!/bin/sh\ncase $1 in --version) echo ravel {version} ;; help) printf 'Commands:\\n  run  x\\n\\n' ;; esac\nexit 0\n"
        );
        binary.push_str(&"#".repeat(size - binary.len()));
        stand_in(folder.path(), "ravel", &binary);
        let binary = folder.path().join("ravel");
        let binary = binary.to_str().expect("a path in UTF-8");
        let files = folder.path().join("files");
        said(folder.path(), "dist.sh", &[&files], &[("BINARY", binary), ("DEB", "0")])
    };
    let (code, text) = said_of(12 << 20);
    assert!(text.contains("bin/ravel has 12582912 bytes"), "{text}");
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = said_of((12 << 20) + 1);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("more than the 12582912 bytes"), "{text}");
}
