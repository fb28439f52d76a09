//! Temporary files and directories that are gone when Ravel is: by themselves, and by the guard if Ravel is killed.

use anyhow::{Context, Result};
use tempfile::{Builder, NamedTempFile, TempDir};

use crate::family;

/// How their names begin, so that none is mistaken for anybody else's.
const PREFIX: &str = "ravel-";

/// A new directory.
pub fn directory() -> Result<TempDir> {
    let directory = Builder::new()
        .prefix(PREFIX)
        .tempdir()
        .context("a temporary directory")?;
    family::leave_nothing_at(directory.path());
    Ok(directory)
}

/// A new file.
pub fn file() -> Result<NamedTempFile> {
    let file = Builder::new().prefix(PREFIX).tempfile().context("a temporary file")?;
    family::leave_nothing_at(file.path());
    Ok(file)
}
