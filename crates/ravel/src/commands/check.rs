//! `ravel check`: analyses traces and reports predicted bugs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use ravel_analysis::analyse::is_replayable;
use ravel_analysis::finding::{Finding, Report, UnitKind};
use ravel_analysis::focus::Focus;
use ravel_analysis::registry;
use ravel_own::plan::Plan;
use ravel_own::reduced::reduced;
use ravel_prove::job::{Finished, Job};
use ravel_prove::plans::{holds_for, proven};
use ravel_prove::proof::Budget;
use ravel_report::Notes;
use ravel_trace::{ReadOptions, Trace};

use super::report::ReportArgs;
use crate::progress::Terminal;

/// The arguments of `ravel check`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Traces, as `ravel record` writes them
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// The analyses to run; all if none is named.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help = format!("Run only these analyses ({})", registry::ANALYSES.default_names().join(", ")))]
    pub analyses: Vec<String>,
    /// Check only these kinds of units (section, method, compound, declared)
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_parser = parse_kind)]
    pub units: Vec<UnitKind>,
    /// Cores to analyse on [default: all]; the result does not depend on their number
    #[arg(long, value_name = "N")]
    pub threads: Option<std::num::NonZeroUsize>,
    /// Skip damaged parts of a trace instead of stopping there
    #[arg(long)]
    pub salvage: bool,
    /// Skip what this plan of `ravel own` proves; for traces recorded with it
    #[arg(long, value_name = "PLAN")]
    pub focus: Option<PathBuf>,
    /// Let `blocks` compare executions of methods that the plan proves atomic as one event for each variable
    #[arg(long, requires = "focus", hide = true)]
    pub reduce_atomic: bool,
    /// The report.
    #[command(flatten)]
    pub report: ReportArgs,
}

fn parse_kind(name: &str) -> Result<UnitKind, String> {
    match name {
        "section" => Ok(UnitKind::Section),
        "method" => Ok(UnitKind::Method),
        "compound" => Ok(UnitKind::Compound),
        "declared" => Ok(UnitKind::Declared),
        _ => Err("use section, method, compound or declared".to_owned()),
    }
}

/// Runs `ravel check`. Exit 0 or 1: the report's. 2: a trace could not be read to its end. 3: no trace has events.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let config = args.report.load_config()?;
    let mut settings = super::run::settings(&config, Budget::default());
    settings.analyses.clone_from(&args.analyses);
    settings.salvage = args.salvage;
    settings.threads = args.threads.map(std::num::NonZero::get);
    if !args.units.is_empty() {
        settings.units.kinds.clone_from(&args.units);
    }
    // Reject an unknown analysis before a trace is read.
    registry::choose(&settings.analyses, &settings.patterns)?;
    let plan = args
        .focus
        .as_deref()
        .map(|file| Plan::read(file).map(|plan| (plan, file)));
    let plan = plan.transpose()?;
    let start = Instant::now();
    let mut job = Job::new(settings, &Terminal);
    for path in &args.traces {
        let trace = Trace::open(path, ReadOptions { salvage: args.salvage })?;
        let mut proven = focus(plan.as_ref(), path, &trace);
        proven.shorten = args.reduce_atomic.then_some(reduced);
        job.check(path, trace, proven)?;
    }
    let Finished {
        report,
        mut warnings,
        class_path,
        work,
        whole,
        interrupted,
        one_thread,
        untested: _,
    } = job.finish();
    if !whole && !args.salvage && interrupted.is_none() {
        warnings.push("--salvage skips the damage and reads on".to_owned());
    }
    let analysed = format!("{} analyses in {:.1} s", work.analyses, start.elapsed().as_secs_f64());
    let notes = Notes {
        analysed: Some(analysed),
        untested: untested(&report, &args.traces),
        warnings,
        ..Notes::default()
    };
    let nothing = report.summary.events == 0 || one_thread;
    let code = args.report.emit(report, &config, notes, class_path)?;
    Ok(match (interrupted, whole) {
        (Some(signal), _) => ExitCode::from(signal),
        (None, false) => ExitCode::from(2),
        (None, true) if nothing && code == ExitCode::SUCCESS => ExitCode::from(3),
        (None, true) => code,
    })
}

/// The command that would prove more than this analysis, if there are findings to prove and a command to run again.
fn untested(report: &Report, traces: &[PathBuf]) -> Option<String> {
    let can_prove = |finding: &Finding| is_replayable(finding) && !finding.replay.is_empty();
    let can_prove = report.findings.iter().any(can_prove) && !report.program.is_empty();
    let trace = match traces {
        [one] => one.display().to_string(),
        _ => "TRACE".to_owned(),
    };
    can_prove.then(|| format!("`ravel replay {trace}` re-runs the program to prove them"))
}

/// The facts that a plan proves about a trace's program, if the trace was recorded with that plan and it held for every class.
fn focus(plan: Option<&(Plan, &Path)>, path: &Path, trace: &Trace) -> Focus {
    let Some((plan, name)) = plan else {
        return Focus::default();
    };
    match holds_for(plan, trace.reader()) {
        Ok(()) => proven(plan),
        Err(reason) => {
            eprintln!(
                "ravel: {}: {reason}; checking everything without {}",
                path.display(),
                name.display()
            );
            Focus::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_run_again_is_worth_a_replay() {
        let mut report = Report {
            program: "java Main".to_owned(),
            ..Report::default()
        };
        let traces = [PathBuf::from("t.ravel")];
        assert_eq!(untested(&report, &traces), None, "nothing to prove");
        let finding = serde_json::json!({
            "id": "a", "rule": "data-race", "evidence": "predicted", "shown": false, "patterns": [], "analyses": [], "variables": [],
            "units": [], "steps": [], "outcome": null, "schedule": [], "replay": "ravel replay t.ravel a", "message": "", "help": "",
        });
        let mut finding: ravel_analysis::finding::Finding = serde_json::from_value(finding).expect("a finding");
        finding.candidates.push(ravel_analysis::finding::Candidate::default());
        report.findings.push(finding);
        let hint = untested(&report, &traces).expect("something to prove");
        assert!(hint.starts_with("`ravel replay t.ravel`"), "{hint}");
        report.program.clear();
        assert_eq!(untested(&report, &traces), None, "an imported trace has no command");
    }
}
