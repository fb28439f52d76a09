//! Tells `ravel --version` the commit that it is built from.
//!
//! `RAVEL_COMMIT` names it where there is no checkout, as for a distribution that builds from an archive; an empty one leaves it out.
//! Otherwise git is asked, in optimised builds only: a debug build would have to be linked again after every commit. A build outside of a
//! checkout, or without git, has no commit and succeeds.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RAVEL_COMMIT");
    let version = env!("CARGO_PKG_VERSION");
    let commit = match std::env::var("RAVEL_COMMIT") {
        Ok(named) => Some(named.trim().to_owned()).filter(|named| !named.is_empty()),
        Err(_) if std::env::var("PROFILE").as_deref() == Ok("release") => of_checkout(),
        Err(_) => None,
    };
    match commit {
        Some(commit) => println!("cargo:rustc-env=RAVEL_VERSION={version} ({commit})"),
        None => println!("cargo:rustc-env=RAVEL_VERSION={version}"),
    }
}

/// The commit of the checkout that this package lies in, with its day. A package that was unpacked below someone else's checkout is not
/// part of it.
fn of_checkout() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .ok()?;
    let top = Path::new(&git(&root, &["rev-parse", "--show-toplevel"])?)
        .canonicalize()
        .ok()?;
    if top != root {
        return None;
    }
    // Git adds a line there whenever another commit is checked out or made. Cargo runs this again each time if a file is missing.
    let log = root.join(git(&root, &["rev-parse", "--git-path", "logs/HEAD"])?);
    if log.is_file() {
        println!("cargo:rerun-if-changed={}", log.display());
    }
    git(&root, &["log", "-1", "--format=%h %cs", "--abbrev=10"])
}

fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
