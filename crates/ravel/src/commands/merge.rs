//! `ravel merge`: the findings of several machines or runs as one report.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use ravel_prove::shares::{Merged, merge};
use ravel_report::Notes;

use super::report::{ReportArgs, read_findings};

/// Join the findings of several machines or runs into one report.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Findings as `ravel prove` or --out json=FILE wrote them; one that is named twice counts once
    #[arg(required = true, value_name = "FINDINGS")]
    findings: Vec<PathBuf>,
    #[command(flatten)]
    report: ReportArgs,
}

/// Runs the command. Exit 0 or 1: the report's. 2: a share is missing. 3: no report has events.
pub fn run(args: Args) -> Result<ExitCode> {
    let config = args.report.load_config()?;
    let mut reports = Vec::new();
    for file in &args.findings {
        reports.push(read_findings(file)?);
    }
    let Merged { report, missing } = merge(reports);
    let nothing = report.summary.events == 0 && report.summary.classes.instrumented == 0;
    let notes = Notes {
        warnings: missing.iter().map(|words| format!("incomplete: {words}")).collect(),
        ..Notes::default()
    };
    let code = args.report.emit(report, &config, notes, Vec::new())?;
    if !missing.is_empty() {
        for words in missing {
            eprintln!("ravel: incomplete: {words}");
        }
        return Ok(ExitCode::from(2));
    }
    Ok(if nothing && code == ExitCode::SUCCESS {
        ExitCode::from(3)
    } else {
        code
    })
}
