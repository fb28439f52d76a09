//! The agent travels inside the binary and is unpacked where the JVM can load it, once per content.

use std::borrow::Cow;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The agent library inside the binary.
struct Embedded {
    bytes: &'static [u8],
    compressed: bool,
    /// Bytes of the library itself.
    length: u64,
    /// Hash of the library itself.
    hash: u64,
}

static LIBRARY: Embedded = {
    let (bytes, compressed, length, hash) = ravel_embed::agent_library!();
    Embedded {
        bytes,
        compressed,
        length,
        hash,
    }
};

impl Embedded {
    /// The library itself.
    fn unpacked(&self) -> Result<Cow<'static, [u8]>> {
        if !self.compressed {
            return Ok(Cow::Borrowed(self.bytes));
        }
        let library = zstd::bulk::decompress(self.bytes, self.length as usize)
            .context("the agent library inside this ravel is damaged; install ravel again")?;
        if library.len() as u64 != self.length {
            bail!(
                "the agent library inside this ravel has {} bytes instead of {}; install ravel again",
                library.len(),
                self.length
            );
        }
        Ok(Cow::Owned(library))
    }
}

/// The path of the agent library, unpacked if it is not there yet.
pub fn unpack() -> Result<PathBuf> {
    let name = format!("ravel-agent-{:016x}{}", LIBRARY.hash, std::env::consts::DLL_SUFFIX);
    let mut unpacked = None;
    let mut refused = Vec::new();
    for directory in cache_directories() {
        let path = directory.join(&name);
        if fs::metadata(&path).is_ok_and(|found| found.len() == LIBRARY.length) {
            return Ok(path);
        }
        let library = match &unpacked {
            Some(library) => library,
            None => unpacked.insert(LIBRARY.unpacked()?),
        };
        match write(&directory, &path, library) {
            Ok(()) => return Ok(path),
            Err(error) => refused.push(format!("{}: {error:#}", directory.display())),
        }
    }
    bail!(
        "cannot unpack the agent library: {}; set RAVEL_CACHE to a writable directory",
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

    fn embedded(bytes: Vec<u8>, length: u64) -> Embedded {
        Embedded {
            bytes: bytes.leak(),
            compressed: true,
            length,
            hash: 0,
        }
    }

    #[test]
    fn a_compressed_library_is_unpacked_whole_or_refused() {
        let library = b"not much of a library, not much of a library".to_vec();
        let length = library.len() as u64;
        let compressed = zstd::bulk::compress(&library, 3).expect("compresses");
        let whole = embedded(compressed.clone(), length).unpacked().expect("unpacks");
        assert_eq!(*whole, *library);
        for (bytes, length) in [
            (compressed[..compressed.len() - 1].to_vec(), length),
            (compressed.clone(), length - 1),
            (compressed, length + 1),
        ] {
            let error = embedded(bytes, length).unpacked().expect_err("is damaged");
            assert!(error.to_string().contains("install ravel again"), "{error:#}");
        }
    }
}
