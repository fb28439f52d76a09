//! `ravel replay`: forces the findings of a trace again and reports each outcome.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use ravel_prove::failures;
use ravel_prove::interrupt;
use ravel_prove::job::Job;
use ravel_prove::jvm::JvmRunner;
use ravel_prove::plans::refuse_for_races;
use ravel_prove::proof::Budget;
use ravel_prove::runner::Runner as _;
use ravel_prove::words;
use ravel_report::Notes;
use ravel_schedule::{Schedule, naming};
use ravel_trace::{ReadOptions, Reader, Source, Trace};

use super::report::ReportArgs;
use super::run::{self, AnalysesArgs, BudgetArgs};
use crate::progress::Terminal;

/// Directed runs that measure how often a pattern happens.
const REPEATS: usize = 5;

/// Re-run the program of a trace to prove its findings, and report each outcome.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The trace
    trace: PathBuf,
    /// The ids of the findings [default: all]
    #[arg(value_name = "FINDING")]
    findings: Vec<String>,
    /// Force the schedule in this file once, instead of findings: pairs of thread and points as in a finding's JSON,
    /// [["main", 12], ["t1", 3]], or the text form of a schedule
    #[arg(long, value_name = "FILE", conflicts_with = "findings")]
    schedule: Option<PathBuf>,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    analyses: AnalysesArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let trace = Trace::open(&args.trace, ReadOptions::default())?;
    refuse_for_races(trace.reader().header(), &args.trace.display().to_string())?;
    if let Some(file) = &args.schedule {
        return by_hand(&args, trace.reader(), file);
    }
    let config = args.report.load_config()?;
    let budget = Budget {
        repeats: REPEATS,
        ..args.budget.budget()
    };
    let mut settings = run::settings(&config, budget);
    // A finding that came from a suspicion of the scan needs the scan again.
    settings.scan = Some(super::scan::options(&config).0);
    settings.analyses.clone_from(&args.analyses.analyses);
    settings.only.clone_from(&args.findings);
    let mut job = Job::new(settings, &Terminal);
    job.trace(&args.trace, trace)?;
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
        let again = job.again(&finding.id).map_or(String::new(), |(happened, runs)| {
            format!("; the pattern happened in {happened} of {runs} more directed runs")
        });
        eprintln!("ravel: {} {evidence}: {outcome}{again}", finding.id);
    }
    run::report(job.finish(), Notes::default(), &args.report, &config)
}

/// Forces a schedule that the user wrote or edited; 1 if the program failed under it.
fn by_hand(args: &Args, reader: &Reader, file: &Path) -> Result<ExitCode> {
    interrupt::listen();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    // The names of threads are in the trace's tables, so no record need be read.
    let names = reader.names();
    let threads = naming::thread_names(names, names.threads.len());
    let schedule = if text.trim_start().starts_with('[') {
        Schedule::from_json(&text, &threads)
    } else {
        Schedule::parse(&text)
    };
    let schedule = schedule.with_context(|| file.display().to_string())?;
    let run = JvmRunner::of(reader, args.budget.budget().run)?.force(&schedule, 0)?;
    std::io::stdout().write_all(&run.output)?;
    let verdict: String = match run.slip() {
        Some(slip) => words::left_schedule(words::lost_turn(slip)).into(),
        None if run.complete() => "the program followed the whole schedule".into(),
        // The scheduler of a controlled run has no turns to lose.
        None if schedule.controlled => "the program ran under the scheduler of a search".into(),
        None => words::left_schedule(words::failure(&run)).into(),
    };
    eprintln!("ravel: {verdict}");
    if let Some(told) = run.failures.iter().find_map(failures::waits) {
        eprintln!("ravel: {told}");
    } else if let Some(threads) = run.deadlock() {
        eprintln!("ravel: {} deadlock", words::threads(threads));
    } else if run.hung() {
        let threads = run
            .waiting()
            .map(|threads| format!(": {} wait", words::threads(threads)))
            .unwrap_or_default();
        eprintln!("ravel: the program did not end{threads}");
    } else {
        eprintln!("ravel: the program ended with {}", run.status);
    }
    for (thread, exception) in run.exceptions() {
        eprintln!("ravel: thread {thread} died of {exception}");
    }
    let well = run.status.success() && run.exceptions().is_empty() && run.failures.is_empty() && !run.hung();
    Ok(ExitCode::from(u8::from(!well)))
}
