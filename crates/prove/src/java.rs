//! Finds the JVMs of this machine: by JAVA_HOME, by the PATH, in the places where they are usually installed.
//!
//! Separate from recording, which takes whatever `java` the user's command names: only the commands that start a JVM of
//! their own choice look for one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

/// Whether the agent can be loaded into a JVM of this release.
pub fn is_supported(release: u32) -> bool {
    release == 8 || release >= 11
}

/// What to do when there is no JDK.
pub const HOW_TO_INSTALL: &str = "install a JDK 17 or later (Debian, Ubuntu: apt-get install openjdk-17-jdk-headless; \
     others: https://adoptium.net), or set JAVA_HOME to one";

/// How a JVM was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoundBy {
    /// The variable JAVA_HOME names it.
    JavaHome,
    /// It is the `java` of the PATH.
    Path,
    /// It lies where JVMs are usually installed.
    UsualPlace,
}

impl fmt::Display for FoundBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FoundBy::JavaHome => "by JAVA_HOME",
            FoundBy::Path => "on the PATH",
            FoundBy::UsualPlace => "in a standard directory",
        })
    }
}

/// A JVM that is installed here.
#[derive(Clone, Debug)]
pub struct Java {
    /// Its directory.
    pub home: PathBuf,
    /// How it was found first.
    pub found: FoundBy,
    /// Its version as it says it, `17.0.15`; empty if it says none.
    pub version: String,
    /// The first number of the version that counts: 8 for `1.8.0`, 0 if unknown.
    pub release: u32,
}

impl Java {
    /// The program of this name in its `bin` directory.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home
            .join("bin")
            .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// Whether it can compile, too.
    pub fn has_compiler(&self) -> bool {
        self.tool("javac").is_file()
    }

    fn at(home: &Path, found: FoundBy) -> Option<Java> {
        let home = home.canonicalize().ok()?;
        let mut java = Java {
            home,
            found,
            version: String::new(),
            release: 0,
        };
        if !java.tool("java").is_file() {
            return None;
        }
        java.version = version_in_release_file(&java.home).or_else(|| ask_version(&java))?;
        java.release = release_number(&java.version);
        Some(java)
    }
}

/// All JVMs, each once, the one that a plain `java` would be first.
pub fn installed() -> Vec<Java> {
    let mut all: Vec<Java> = Vec::new();
    let mut add = |home: &Path, found| {
        if let Some(java) = Java::at(home, found)
            && !all.iter().any(|known| known.home == java.home)
        {
            all.push(java);
        }
    };
    if let Some(home) = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        add(Path::new(&home), FoundBy::JavaHome);
    }
    for tool in ["java", "javac"] {
        if let Some(home) = on_path(tool).as_deref().and_then(|java| java.ancestors().nth(2)) {
            add(home, FoundBy::Path);
        }
    }
    for place in usual_places() {
        let mut homes: Vec<PathBuf> = std::fs::read_dir(place)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        homes.sort();
        for home in homes {
            add(&home, FoundBy::UsualPlace);
            add(&home.join("Contents/Home"), FoundBy::UsualPlace);
        }
    }
    all
}

/// The first JDK that Ravel can record and that has a compiler.
pub fn jdk() -> Result<Java> {
    let all = installed();
    if let Some(java) = all
        .iter()
        .find(|java| is_supported(java.release) && java.has_compiler())
    {
        return Ok(java.clone());
    }
    match all.iter().find(|java| is_supported(java.release)) {
        Some(runtime) => bail!(
            "{} is a Java runtime without a compiler (javac); {HOW_TO_INSTALL}",
            runtime.home.display()
        ),
        None => match all.first() {
            Some(old) => bail!(
                "{} is Java {}, which Ravel does not support; {HOW_TO_INSTALL}",
                old.home.display(),
                old.version
            ),
            None => bail!("no Java found; {HOW_TO_INSTALL}"),
        },
    }
}

/// A program of the PATH, links resolved: `/usr/bin/java` usually is one.
fn on_path(tool: &str) -> Option<PathBuf> {
    let name = format!("{tool}{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(&name))
        .find(|candidate| candidate.is_file())?
        .canonicalize()
        .ok()
}

fn usual_places() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = [
        "/usr/lib/jvm",
        "/usr/java",
        "/opt/java",
        "/opt/jdks",
        "/Library/Java/JavaVirtualMachines",
    ]
    .iter()
    .map(PathBuf::from)
    .collect();
    if let Some(home) = std::env::var_os("HOME") {
        places.push(Path::new(&home).join(".sdkman/candidates/java"));
        places.push(Path::new(&home).join(".jdks"));
    }
    places
}

fn version_in_release_file(home: &Path) -> Option<String> {
    let text = std::fs::read_to_string(home.join("release")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    Some(line.trim().trim_matches('"').to_string())
}

/// Some runtimes have no release file.
fn ask_version(java: &Java) -> Option<String> {
    let output = Command::new(java.tool("java"))
        .arg("-version")
        .env_remove("JAVA_TOOL_OPTIONS")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.split('"').nth(1).map(str::to_string)
}

fn release_number(version: &str) -> u32 {
    let mut numbers = version.split(['.', '-', '+', '_']).map_while(|part| part.parse().ok());
    match numbers.next() {
        Some(1) => numbers.next().unwrap_or(1),
        Some(first) => first,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_from_versions() {
        for (version, release) in [
            ("17.0.15", 17),
            ("25", 25),
            ("25-ea", 25),
            ("1.8.0_392", 8),
            ("9+181", 9),
            ("", 0),
            ("abc", 0),
        ] {
            assert_eq!(release_number(version), release, "{version}");
        }
    }
}
