//! `ravel replay`: forces the findings of a trace again, and says of each what came out.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use super::report::ReportArgs;
use super::run::{AnalysesArgs, BudgetArgs, Job};

/// Force findings of a trace, and say of each what came out.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The trace
    trace: PathBuf,
    /// The findings, by id; all if none is given
    #[arg(value_name = "FINDING")]
    findings: Vec<String>,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    analyses: AnalysesArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let config = args.report.load_config()?;
    let mut job = Job::new(&args.report, &config, args.budget.budget());
    job.analyses.clone_from(&args.analyses.analyses);
    job.only.clone_from(&args.findings);
    job.traces(std::slice::from_ref(&args.trace))?;
    for wanted in &args.findings {
        if !job.findings().iter().any(|finding| finding.id == *wanted) {
            anyhow::bail!(
                "{}: no finding {wanted}; `ravel check` lists them",
                args.trace.display()
            );
        }
    }
    for finding in job.findings() {
        let reason = job
            .reasons()
            .iter()
            .find(|(id, _)| *id == finding.id)
            .map(|(_, reason)| reason.as_str());
        let outcome = finding
            .outcome
            .as_ref()
            .map_or(reason.unwrap_or_default(), |outcome| &outcome.message);
        let evidence = ravel_report::words::evidence(finding.evidence);
        eprintln!("ravel: {} {evidence}: {outcome}", finding.id);
    }
    job.finish()
}
