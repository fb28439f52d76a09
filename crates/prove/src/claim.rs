//! Which Ravel writes to a trace: two that run at the same time must not write, rename and read each other's.
//!
//! A claim is a file with the number of the process, in the directory for temporary files and under a name made of the trace's
//! path, so that nothing is left beside the trace. A claim whose process is gone counts for nothing.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ravel_analysis::merge::fingerprint;

use crate::family;

/// How often a claim of a process that is gone is taken over before another reason is assumed.
const TAKEOVERS: usize = 3;
/// Names that are tried when the wanted one is taken.
const MOST_NAMES: usize = 1000;

/// The right to write to a trace, until this is dropped.
#[derive(Debug)]
pub struct Claim {
    /// The trace.
    pub output: PathBuf,
    file: Option<PathBuf>,
}

impl Claim {
    /// Claims a trace that the user has named; an error if another Ravel writes to it.
    pub fn take(output: &Path) -> Result<Claim> {
        match claim(output)? {
            Ok(claim) => Ok(claim),
            Err(process) => bail!(
                "{} is written by another ravel (process {process}); wait for it, or choose another place with -o",
                output.display()
            ),
        }
    }

    /// Claims a trace, or one with a number in its name if another Ravel writes to it: `t.2.ravel`.
    pub fn take_free(output: &Path) -> Result<Claim> {
        let stem = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let extension = output.extension().unwrap_or_default().to_string_lossy().into_owned();
        for number in 1..=MOST_NAMES {
            let name = match number {
                1 => output.to_path_buf(),
                _ => output.with_file_name(format!("{stem}.{number}.{extension}")),
            };
            if let Ok(claim) = claim(&name)? {
                return Ok(claim);
            }
        }
        Claim::take(output)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = fs::remove_file(file);
        }
    }
}

/// The claim, or the process that has it.
fn claim(output: &Path) -> Result<Result<Claim, u32>> {
    let path = std::path::absolute(output).context("the output path")?;
    // Two ways to write the same folder are one claim.
    let path = match (
        path.parent().and_then(|folder| folder.canonicalize().ok()),
        path.file_name(),
    ) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    };
    let name = fingerprint(std::iter::once(path.to_string_lossy().as_ref()));
    let file = std::env::temp_dir().join(format!("ravel-claim-{name}"));
    for _ in 0..TAKEOVERS {
        match File::create_new(&file) {
            Ok(mut created) => {
                let _ = write!(created, "{}", std::process::id());
                family::leave_nothing_at(&file);
                return Ok(Ok(Claim {
                    output: output.to_path_buf(),
                    file: Some(file),
                }));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            // Without a place for claims everything works as long as one Ravel runs.
            Err(_) => break,
        }
        if let Some(process) = holder(&file) {
            return Ok(Err(process));
        }
        let _ = fs::remove_file(&file);
    }
    Ok(Ok(Claim {
        output: output.to_path_buf(),
        file: None,
    }))
}

/// The process that has a claim, if it is alive and a Ravel.
fn holder(file: &Path) -> Option<u32> {
    let process: u32 = fs::read_to_string(file).ok()?.trim().parse().ok()?;
    let program = |id: &str| fs::read_link(format!("/proc/{id}/exe")).ok();
    let own = program("self")?;
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().replace(" (deleted)", ""))
    };
    let other = program(&process.to_string())?;
    (name(&other) == name(&own)).then_some(process)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_has_one_writer_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("t.ravel");
        let first = Claim::take(&output).expect("free");
        assert_eq!(first.output, output);
        let error = Claim::take(&output).expect_err("taken").to_string();
        assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        let detour = folder.path().join(".").join("t.ravel");
        assert!(Claim::take(&detour).is_err(), "the same file by another name");
        let second = Claim::take_free(&output).expect("another");
        assert_eq!(second.output, folder.path().join("t.2.ravel"));
        drop(first);
        assert_eq!(Claim::take_free(&output).expect("free again").output, output);
    }

    #[test]
    fn a_claim_of_a_process_that_is_gone_counts_for_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("t.ravel");
        let claim = Claim::take(&output).expect("free");
        let file = claim.file.clone().expect("a file");
        std::mem::forget(claim);
        // No process has this number.
        fs::write(&file, u32::MAX.to_string()).expect("written");
        assert!(Claim::take(&output).is_ok());
    }
}
