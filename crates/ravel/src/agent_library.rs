//! The agent travels inside the binary and is unpacked where the JVM can load it, once per content.

use std::fs;
use std::hash::Hasher;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

#[cfg(not(clippy))]
static LIBRARY: &[u8] = include_bytes!(env!("RAVEL_AGENT_LIBRARY"));
// Lints look at crates without building libraries.
#[cfg(clippy)]
static LIBRARY: &[u8] = &[];

/// The path of the agent library, unpacked if it is not there yet.
pub fn unpack() -> Result<PathBuf> {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(LIBRARY);
    let name = format!("ravel-agent-{:016x}{}", hasher.finish(), std::env::consts::DLL_SUFFIX);
    let mut refused = Vec::new();
    for directory in cache_directories() {
        let path = directory.join(&name);
        if fs::metadata(&path).is_ok_and(|found| found.len() == LIBRARY.len() as u64) {
            return Ok(path);
        }
        match write(&directory, &path) {
            Ok(()) => return Ok(path),
            Err(error) => refused.push(format!("{}: {error:#}", directory.display())),
        }
    }
    bail!(
        "the agent library cannot be unpacked anywhere: {}; set RAVEL_CACHE to a directory that can be written",
        refused.join("; ")
    )
}

/// Where the library and other kept files may go, the best place first.
pub fn cache_directories() -> Vec<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let mut directories = Vec::new();
    directories.extend(variable("RAVEL_CACHE"));
    directories.extend(variable("XDG_CACHE_HOME").map(|cache| cache.join("ravel")));
    directories.extend(variable("HOME").map(|home| home.join(".cache/ravel")));
    directories.push(std::env::temp_dir().join("ravel-cache"));
    directories
}

fn write(directory: &Path, path: &Path) -> Result<()> {
    fs::create_dir_all(directory).context("cannot be made")?;
    // Written beside and renamed, so that a JVM that starts meanwhile never sees half of it.
    let mut file = tempfile::NamedTempFile::new_in(directory).context("cannot be written")?;
    file.write_all(LIBRARY).context("cannot be written")?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o755))?;
    }
    file.persist(path).context("cannot be renamed")?;
    Ok(())
}
