//! What the tests of several crates share: the JDKs of this machine, and a clear word where a test cannot run.
//!
//! A crate of its own, so that all tests mean the same by "no JDK" and "skipped".

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest release that all tests run on, and whose compiler they need. Some run on [older ones](old_jdks) as well.
pub const OLDEST: u32 = 17;

/// Says that a test, or a part of one, does not run because `tool` is missing.
///
/// Where nothing may be skipped (`CI=true` or `RAVEL_NO_SKIP=1`) the test fails instead, unless `RAVEL_MAY_SKIP`, a list separated by
/// commas, names the tool: `scripts/test.sh` puts there what cannot be installed on this machine.
pub fn skip(tool: &str, why: &str) {
    let set = |name: &str| std::env::var(name).is_ok_and(|value| value == "1" || value == "true");
    let allowed = std::env::var("RAVEL_MAY_SKIP").unwrap_or_default();
    let strict = (set("CI") || set("RAVEL_NO_SKIP")) && !allowed.split(',').any(|name| name == tool);
    assert!(!strict, "{tool} is missing and nothing may be skipped here: {why}");
    // Straight to the stream: the harness hides what a passing test prints with `eprintln!`.
    let _ = writeln!(std::io::stderr(), "skipped: {why} (no {tool})");
}

/// The first of these programs that is on the PATH; none is [skipped](skip).
pub fn program(names: &[&str], why: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|file| file.is_file());
    if found.is_none() {
        skip(names.first().copied().unwrap_or_default(), why);
    }
    found
}

/// A JDK that can run subjects.
#[derive(Clone, Debug)]
pub struct Jdk {
    /// Its directory.
    pub home: PathBuf,
    /// 17, 21, 25, …
    pub release: u32,
}

impl Jdk {
    /// One of its programs.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }
}

/// A JDK of each release from 17 on, oldest first, found by JAVA_HOME, PATH and the usual places. None at all is an error.
pub fn jdks() -> Vec<Jdk> {
    let found = installed_jdks();
    assert!(
        !found.is_empty(),
        "no JDK 17 or later found: set JAVA_HOME, or apt-get install openjdk-17-jdk-headless"
    );
    found
}

/// The same for tests that can do without: there may be none.
pub fn installed_jdks() -> Vec<Jdk> {
    let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    let on_path = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path)
            .map(|dir| dir.join("javac"))
            .find_map(|javac| javac.canonicalize().ok())
    });
    homes.extend(on_path.and_then(|javac| javac.ancestors().nth(2).map(Path::to_path_buf)));
    homes.extend(PLACES.iter().flat_map(|place| homes_in(Path::new(place))));
    let mut found = BTreeMap::new();
    for home in homes {
        let Ok(home) = home.canonicalize() else { continue };
        if home.join("bin/javac").exists()
            && let Some(release) = release(&home)
            && release >= OLDEST
        {
            found.entry(release).or_insert(Jdk { home, release });
        }
    }
    found.into_values().collect()
}

/// Where JDKs are usually installed.
const PLACES: [&str; 4] = ["/usr/lib/jvm", "/usr/java", "/opt/java", "/opt/jdks"];

fn homes_in(place: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// JDKs and runtimes of the releases before [`OLDEST`] that Ravel supports, oldest first, one of each: from the folders that the variable
/// RAVEL_OLD_JDKS names (`scripts/fetch-jdks.sh` makes such a folder), else from the usual places. There may be none.
pub fn old_jdks() -> Vec<Jdk> {
    let homes: Vec<PathBuf> = match std::env::var_os(OLD_JDKS) {
        Some(folders) => std::env::split_paths(&folders)
            .flat_map(|folder| homes_in(&folder))
            .collect(),
        None => PLACES.iter().flat_map(|place| homes_in(Path::new(place))).collect(),
    };
    let mut found = BTreeMap::new();
    for home in homes {
        if home.join("bin/java").exists()
            && let Some(release @ (8 | 11..OLDEST)) = release(&home).or_else(|| told_release(&home))
        {
            found.entry(release).or_insert(Jdk { home, release });
        }
    }
    found.into_values().collect()
}

/// The variable with folders of old JDKs.
pub const OLD_JDKS: &str = "RAVEL_OLD_JDKS";

/// The oldest and the newest JDK: what whole-program tests run on. A single one is [skipping](skip) the other.
pub fn tested_jdks() -> Vec<Jdk> {
    let mut all = jdks();
    if all.len() == 1 {
        skip(
            SECOND_JDK,
            &format!("tests run on JDK {} alone, not on a newer one as well", all[0].release),
        );
        return all;
    }
    let newest = all.len() - 1;
    all.swap(1, newest);
    all.truncate(2);
    all
}

/// How [`skip`] and `scripts/test.sh` call a JDK that is newer than the oldest.
pub const SECOND_JDK: &str = "second-jdk";

/// The release of a JDK that has no `release` file, as some of release 8: its `java` tells it.
fn told_release(home: &Path) -> Option<u32> {
    let output = Command::new(home.join("bin/java")).arg("-version").output().ok()?;
    number(String::from_utf8_lossy(&output.stderr).split('"').nth(1)?)
}

/// The release of a JDK, from its `release` file.
pub fn release(home: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(home.join("release")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    number(line.trim_matches('"'))
}

/// Before release 9 the first number of a version is always 1.
fn number(version: &str) -> Option<u32> {
    let version = version.strip_prefix("1.").unwrap_or(version);
    version.split(['.', '-', '+']).next()?.parse().ok()
}
