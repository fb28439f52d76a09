//! `ravel baseline`: accepts today's findings, so that only new ones fail a build.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use ravel_report::baseline::{Baseline, FILE_NAME};
use ravel_report::words::count;

use super::report::{print, read_findings, write};

/// The arguments of `ravel baseline`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A findings.json, the folder that contains one, or - for standard input
    findings: PathBuf,
    /// The baseline to write [default: the one in ravel.toml, else ravel-baseline.json]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The configuration [default: ravel.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Drop entries whose bug was not found again
    #[arg(long)]
    prune: bool,
}

/// Runs `ravel baseline`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let report = read_findings(&args.findings)?;
    let config = ravel_report::config::load(args.config.as_deref(), &std::env::current_dir()?)?;
    let file = args
        .output
        .or(config.report.baseline.clone())
        .unwrap_or_else(|| PathBuf::from(FILE_NAME));
    let mut baseline = match std::fs::read_to_string(&file) {
        Ok(text) => Baseline::read(&text).with_context(|| file.display().to_string())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Baseline::default(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    let change = baseline.accept(&report, args.prune);
    write(&file, &baseline.render())?;
    let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let mut said = format!(
        "{}: {} accepted",
        file.display(),
        count(number(change.added), "new finding")
    );
    if change.kept > 0 {
        said.push_str(&format!(", {} kept", change.kept));
    }
    if change.raised > 0 {
        said.push_str(&format!(", {} accepted with stronger evidence", change.raised));
    }
    if change.dropped > 0 {
        said.push_str(&format!(", {} dropped", change.dropped));
    } else if change.stale > 0 {
        said.push_str(&format!(", {} not found again (--prune drops them)", change.stale));
    }
    print(&(said + "\n"))?;
    if config.report.baseline.is_none() {
        print(&format!(
            "Use it with --baseline {0}, or with this in ravel.toml:\n\n[report]\nbaseline = \"{0}\"\n",
            file.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
