//! Which Ravel writes to a trace: two that run at the same time must not write, rename and read each other's.
//!
//! A claim is a file in the directory for temporary files, so that nothing is left beside the trace. Its name is made of the trace's
//! path and of the number of the process; a claim whose process is gone counts for nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use ravel_analysis::merge::fingerprint;

use crate::family;

/// How the names of claims begin.
const PREFIX: &str = "ravel-claim-";
/// Tells the claims of one process apart.
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// Names that are tried when the wanted one is taken.
const MOST_NAMES: usize = 1000;

/// The right to write to a trace, until this is dropped.
#[derive(Debug)]
pub struct Claim {
    /// The trace.
    pub output: PathBuf,
    file: PathBuf,
}

impl Claim {
    /// Claims a trace that the user has named; an error if another Ravel writes to it.
    pub fn take(output: &Path) -> Result<Claim> {
        match claim(output)? {
            Ok(claim) => Ok(claim),
            Err(process) => bail!(
                "another ravel (process {process}) writes {}; wait for it, or choose another file with -o",
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
        let _ = fs::remove_file(&self.file);
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
    let name = format!(
        "{PREFIX}{}-",
        fingerprint(std::iter::once(path.to_string_lossy().as_ref()))
    );
    let folder = std::env::temp_dir();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let file = folder.join(format!("{name}{}.{number}", std::process::id()));
    // The guard hears of it first: Ravel may be killed at any time.
    family::leave_nothing_at(&file);
    let claim = Claim {
        output: output.to_path_buf(),
        file: file.clone(),
    };
    // Without a place for claims everything works as long as one Ravel runs.
    if fs::write(&file, "").is_err() {
        return Ok(Ok(claim));
    }
    let made = |file: &Path| fs::metadata(file).and_then(|there| there.modified()).ok();
    let own = made(&file);
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    for other in entries.map(|entry| entry.path()).filter(|path| *path != file) {
        let of_path = other.file_name().and_then(|other| other.to_str()?.strip_prefix(&name));
        let holder = of_path.and_then(|rest| rest.split('.').next()?.parse().ok());
        // Of two that come at the same time, each sees the other, and none goes on.
        if let Some(process) = holder.filter(|process| is_ravel(*process))
            && made(&other).is_some_and(|other| own.is_none_or(|own| other <= own))
        {
            return Ok(Err(process));
        }
    }
    Ok(Ok(claim))
}

/// Whether a process is alive and a Ravel.
fn is_ravel(process: u32) -> bool {
    let program = |id: &str| fs::read_link(format!("/proc/{id}/exe")).ok();
    let name = |path: PathBuf| {
        path.file_name()
            .map(|name| name.to_string_lossy().replace(" (deleted)", ""))
    };
    let other = program(&process.to_string()).and_then(name);
    other.is_some() && other == program("self").and_then(name)
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
        // No process has this number.
        let own = format!("-{}.", std::process::id());
        let left = claim
            .file
            .display()
            .to_string()
            .replace(&own, &format!("-{}.", u32::MAX));
        fs::rename(&claim.file, &left).expect("renamed");
        assert!(Claim::take(&output).is_ok());
        fs::remove_file(left).expect("removed");
    }
}
