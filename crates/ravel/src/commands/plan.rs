//! `ravel plan`: writes what is to be proven of a trace to a folder, for several machines.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use ravel_prove::interrupt;
use ravel_prove::job::Job;
use ravel_prove::plans::refuse_for_races;
use ravel_prove::proof::Budget;
use ravel_prove::shares::ProofPlan;
use ravel_prove::shares::plan::PlannedTrace;
use ravel_report::words::count;
use ravel_trace::{ReadOptions, Trace};

use super::report::print;
use super::run::{self, AnalysesArgs};
use crate::progress::Terminal;

/// Printed after `ravel plan --help`.
const EXAMPLES: &str = "\
Examples:
  ravel record -o t.ravel java Main     record once
  ravel plan t.ravel -o goals           write what is to be proven
  ravel prove goals --shard 1/2         on one machine
  ravel prove goals --shard 2/2         on another one
  ravel merge shard-*.json              one report of both";

/// Write what is to be proven of a trace to a folder, for several machines.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The trace
    trace: PathBuf,
    /// The folder to write to: plan.json, and a file for each finding; an earlier plan in it is replaced
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    #[command(flatten)]
    analyses: AnalysesArgs,
    /// The configuration [default: ravel.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Runs the command. Ends with 3 if the trace has no events.
pub fn run(args: Args) -> Result<ExitCode> {
    let config = ravel_report::config::load(args.config.as_deref(), &std::env::current_dir()?)?;
    let mut trace = Trace::open(&args.trace, ReadOptions::default())?;
    refuse_for_races(trace.reader().header(), &args.trace.display().to_string())?;
    let planned = PlannedTrace::of(&args.trace)?;
    let command = trace.reader().header().command.clone();
    if command.is_empty() {
        anyhow::bail!(
            "{}: the trace names no command to run again; `ravel record` writes traces that do",
            args.trace.display()
        );
    }
    let mut settings = run::settings(&config, Budget::default());
    settings.scan = Some(super::scan::options(&config).0);
    settings.analyses.clone_from(&args.analyses.analyses);
    let mut job = Job::new(settings, &Terminal);
    let goals = job.goals(&args.trace, &mut trace)?;
    if let Some(signal) = interrupt::exit_code() {
        return Ok(ExitCode::from(signal));
    }
    let events = job.finish().report.summary.events;
    let plan = ProofPlan::new(planned, command, args.analyses.analyses, &goals);
    plan.write(&args.output, &goals)?;
    let folder = args.output.display();
    print(&format!(
        "{folder}: {} to prove, plan {}\nNext: ravel prove {folder} --shard I/N on each of N machines, then ravel merge shard-*.json\n",
        count(goals.len() as u64, "finding"),
        plan.plan
    ))?;
    Ok(if events == 0 {
        ExitCode::from(3)
    } else {
        ExitCode::SUCCESS
    })
}
