//! The agent travels inside the binary and is unpacked where the JVM can load it, once per content.
//!
//! A binary that is made for several C libraries carries an agent for each. Which one fits is known in the JVM alone, since one
//! environment may reach several: so it loads the first library, which chooses among the others beside it
//! (`crates/agent/chooser`).

use std::borrow::Cow;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// A library inside the binary: what is added to its name, its bytes, whether they are compressed, and the length of the library itself.
type Embedded = (&'static str, &'static [u8], bool, u64);

/// The libraries, of which a JVM loads the first, and a hash of all of them.
static LIBRARIES: (&[Embedded], u64) = ravel_embed::agent_libraries!();

/// The library itself.
fn unpacked((_, bytes, compressed, length): Embedded) -> Result<Cow<'static, [u8]>> {
    if !compressed {
        return Ok(Cow::Borrowed(bytes));
    }
    let library = zstd::bulk::decompress(bytes, length as usize)
        .context("the agent library inside this ravel is damaged; install ravel again")?;
    if library.len() as u64 != length {
        bail!(
            "the agent library inside this ravel has {} bytes instead of {length}; install ravel again",
            library.len(),
        );
    }
    Ok(Cow::Owned(library))
}

/// The path of the agent library, unpacked if it is not there yet.
pub fn unpack() -> Result<PathBuf> {
    let (libraries, hash) = LIBRARIES;
    let mut refused = Vec::new();
    for directory in cache_directories() {
        match unpack_all(libraries, hash, &directory)? {
            Ok(path) => return Ok(path),
            Err(error) => refused.push(format!("{}: {error:#}", directory.display())),
        }
    }
    bail!(
        "cannot unpack the agent library: {}; set RAVEL_CACHE to a writable directory",
        refused.join("; ")
    )
}

/// Unpacks what is not in a directory yet; the path of the first library, or why the directory does not take them.
fn unpack_all(libraries: &[Embedded], hash: u64, directory: &Path) -> Result<Result<PathBuf>> {
    let path = |suffix: &str| {
        directory.join(format!(
            "ravel-agent-{hash:016x}{suffix}{}",
            std::env::consts::DLL_SUFFIX
        ))
    };
    for library in libraries {
        let (suffix, _, _, length) = *library;
        let path = path(suffix);
        if fs::metadata(&path).is_ok_and(|found| found.len() == length) {
            continue;
        }
        if let Err(error) = write(directory, &path, &unpacked(*library)?) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(path("")))
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

fn write(directory: &Path, path: &Path, library: &[u8]) -> Result<()> {
    fs::create_dir_all(directory).context("cannot be made")?;
    // Written beside and renamed, so that a JVM that starts meanwhile never sees half of it.
    let mut file = tempfile::NamedTempFile::new_in(directory).context("cannot be written")?;
    file.write_all(library).context("cannot be written")?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o755))?;
    }
    file.persist(path).context("cannot be renamed")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedded(suffix: &'static str, bytes: Vec<u8>, length: u64) -> Embedded {
        (suffix, bytes.leak(), true, length)
    }

    #[test]
    fn a_compressed_library_is_unpacked_whole_or_refused() {
        let library = b"not much of a library, not much of a library".to_vec();
        let length = library.len() as u64;
        let compressed = zstd::bulk::compress(&library, 3).expect("compresses");
        let whole = unpacked(embedded("", compressed.clone(), length)).expect("unpacks");
        assert_eq!(*whole, *library);
        for (bytes, length) in [
            (compressed[..compressed.len() - 1].to_vec(), length),
            (compressed.clone(), length - 1),
            (compressed, length + 1),
        ] {
            let error = unpacked(embedded("", bytes, length)).expect_err("is damaged");
            assert!(error.to_string().contains("install ravel again"), "{error:#}");
        }
    }

    #[test]
    fn the_library_that_chooses_has_the_others_beside_it() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let library = |suffix, text: &str| {
            let compressed = zstd::bulk::compress(text.as_bytes(), 3).expect("compresses");
            embedded(suffix, compressed, text.len() as u64)
        };
        let libraries = [
            library("", "chooser"),
            library("-gnu", "one"),
            library("-musl", "other one"),
        ];
        // The second time it finds them there; a file of another length is one that was cut short.
        for _ in 0..2 {
            let path = unpack_all(&libraries, 7, directory.path())
                .expect("sound")
                .expect("unpacks");
            assert_eq!(
                path.file_name().and_then(|name| name.to_str()),
                Some("ravel-agent-0000000000000007.so")
            );
            let read = |suffix: &str| {
                let file = format!("ravel-agent-0000000000000007{suffix}.so");
                fs::read_to_string(directory.path().join(file)).expect("is there")
            };
            assert_eq!([read(""), read("-gnu"), read("-musl")], ["chooser", "one", "other one"]);
            fs::write(directory.path().join("ravel-agent-0000000000000007-musl.so"), "other").expect("is written");
        }
    }
}
