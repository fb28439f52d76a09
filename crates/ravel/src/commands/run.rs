//! `ravel run`: record, analyse, prove, report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use ravel_analysis::limit::{Limit, LimitKind};
use ravel_analysis::registry;
use ravel_own::plan::Mode;
use ravel_prove::claim::Claim;
use ravel_prove::interrupt;
use ravel_prove::job::record::{Request, record_runs};
use ravel_prove::job::{Finished, Job, Orders, SearchSettings, Searches, Settings, WorkDone};
use ravel_prove::observer::Observer as _;
use ravel_prove::proof::Budget;
use ravel_prove::recording::{EndAfter, Recording};
use ravel_report::Notes;
use ravel_report::config::Config;
use ravel_report::words::count;

use super::record::{ExitCodeOf, RecorderArgs};
use super::report::ReportArgs;
use crate::progress::{Terminal, size};

/// Printed after `ravel run --help`.
const EXAMPLES: &str = "\
Examples:
  ravel run java -jar app.jar                    record, analyse, prove, report
  ravel run --budget 60 -- mvn -q test           the tests of a build, with one minute for proofs
  ravel run --out html=report.html java Main     also write an HTML page with the interleavings
  ravel run --seed 1 --clock java Main           a program that uses random numbers and the time";

/// Record a command, predict concurrency bugs, prove them by re-running it, and report.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The trace to write.
    #[arg(short, long, value_name = "FILE", help = format!("The trace to write, for `ravel replay` [default: {OUTPUT}]"))]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub recorder: RecorderArgs,
    #[command(flatten)]
    pub budget: BudgetArgs,
    #[command(flatten)]
    pub analyses: AnalysesArgs,
    /// Do not scan the class path for suspicions to force first
    #[arg(long, help_heading = "Analysis")]
    pub no_scan: bool,
    #[command(flatten)]
    pub report: ReportArgs,
    /// Record this many runs; each run after the first inserts yields and short sleeps with its own seed. A finding of
    /// several runs is reported once
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = "Recording")]
    pub runs: u16,
    /// Also run this many schedules that were not recorded, to reach other branches; 0 for none. One more run records
    /// everything that the recording left out. Only for programs of less than 200,000 recorded events and 20 seconds
    #[arg(long, default_value_t = 12, value_name = "N", help_heading = "Forcing")]
    pub orders: u16,
    /// Explore at most this many runs inside one JVM, under a scheduler that picks the next thread at each conflicting access, and repeat
    /// each failure in a fresh JVM; 0 for none. Only for programs of less than 200,000 recorded events and 5 seconds
    #[arg(long, default_value_t = 2000, value_name = "N", help_heading = "Forcing")]
    pub explore: u32,
    /// The seed of the first run of --explore; each further run has the next one
    #[arg(long, default_value_t = 1, value_name = "SEED", help_heading = "Forcing")]
    pub explore_seed: u64,
    /// The exit code: Ravel's verdict, or that of the program's first run
    #[arg(long, value_enum, default_value = "ravel", value_name = "WHOSE")]
    pub exit_code: ExitCodeOf,
    /// The command and its arguments; everything after its name belongs to the command
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// The limits of forced runs.
#[derive(clap::Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Forcing")]
pub struct BudgetArgs {
    /// Seconds for everything after the recording: analysis and all forced runs
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    pub budget: u64,
    /// Seconds for one run of the program: Ravel ends a forced run after this time (default 30), and the recorded run too
    /// (default 600); it then analyses the events recorded so far
    #[arg(long, value_name = "SECONDS")]
    pub run_limit: Option<u64>,
    /// Findings to force in parallel [default: the number of cores]. Use 1 if runs of the program disturb each other through
    /// files or ports; a script or build tool always runs once at a time
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

/// The analyses to run.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Analysis")]
pub struct AnalysesArgs {
    /// The analyses to run; all if none is named.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", help = format!("Run only these analyses ({})", registry::ANALYSES.default_names().join(", ")))]
    pub analyses: Vec<String>,
}

/// Seconds that a forced run has.
const FORCED_LIMIT: u64 = 30;
/// Seconds that the recorded run has.
const RECORDED_LIMIT: u64 = 600;

impl BudgetArgs {
    /// When a recorded run is ended that does not end by itself.
    fn recorded_limit(&self) -> EndAfter {
        EndAfter {
            time: Duration::from_secs(self.run_limit.unwrap_or(RECORDED_LIMIT)),
            option: "--run-limit",
        }
    }

    /// As the prover takes it.
    pub fn budget(&self) -> Budget {
        Budget {
            total: Duration::from_secs(self.budget),
            run: Duration::from_secs(self.run_limit.unwrap_or(FORCED_LIMIT)),
            jobs: self.jobs.map_or_else(
                || std::thread::available_parallelism().map_or(1, usize::from),
                usize::from,
            ),
            repeats: 0,
        }
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let config = args.report.load_config()?;
    // Reject an unknown analysis before the program runs.
    registry::choose(&args.analyses.analyses, &[])?;
    let mut options = args.recorder.options();
    options.include.extend(config.record.include.iter().cloned());
    options.exclude.extend(config.record.exclude.iter().cloned());
    let focus_args = &args.recorder.focus;
    if focus_args.focus.is_some() && focus_args.focus_mode == Mode::Races {
        bail!(
            "--focus-mode races is for `ravel record`: `ravel run` needs the accesses under locks to force an order; use combined"
        );
    }
    let focus = focus_args.prepare(&args.command, &mut options)?;
    let claim = claim(args.output.as_deref())?;
    let output = &claim.output;
    let request = Request {
        command: &args.command,
        output,
        options,
        focus,
        runs: args.runs,
        end_after: Some(
            args.recorder
                .end_after
                .map_or_else(|| args.budget.recorded_limit(), EndAfter::asked),
        ),
    };
    let recorded = record_runs(request, &Terminal, &super::record::report)?;
    let program = recorded.recordings.first().map_or(ExitCode::SUCCESS, exit_code);
    let ours = |code: ExitCode| {
        if args.exit_code == ExitCodeOf::Program {
            program
        } else {
            code
        }
    };
    let traces = recorded.traces();
    if traces.is_empty() {
        return Ok(ours(ExitCode::from(interrupt::exit_code().unwrap_or(3))));
    }
    let mut budget = args.budget.budget();
    // A program that the user ended may never end by itself.
    let stopped = recorded.recordings.iter().any(|recording| recording.stopped);
    let ended_by_user = args.recorder.end_after.or(stopped.then_some(recorded.time));
    if let Some(end_after) = ended_by_user {
        budget.run = budget.run.min(forced_end_after(end_after));
    }
    let mut settings = settings(&config, budget);
    settings.analyses.clone_from(&args.analyses.analyses);
    settings.scan = (!args.no_scan).then(|| super::scan::options(&config).0);
    settings.units.focus = recorded.proven.clone();
    let mut job = Job::new(settings, &Terminal);
    job.recorded_in(recorded.time);
    for ended in recorded.recordings.iter().filter_map(|recording| recording.ended) {
        if args.recorder.end_after.is_none() {
            job.warn(format!(
                "the program did not end within {} s; Ravel ended it ({}) and analysed the events recorded so far",
                ended.time.as_secs_f64(),
                ended.option
            ));
        }
    }
    let programs = job.traces(&traces)?;
    if args.orders > 0 {
        // The findings so far are reported in any case.
        if let Err(error) = job.explore(&programs, output, args.orders.into()) {
            job.warn(format!("not every unrecorded order was tried: {error:#}"));
        }
    }
    if args.explore > 0 {
        let settings = SearchSettings {
            runs: args.explore,
            seed: args.explore_seed,
        };
        if let Err(error) = job.search(&programs, output, settings) {
            job.warn(format!("exploration ended early: {error:#}"));
        }
    }
    let times = match args.runs {
        1 => String::new(),
        _ => format!("{} times, ", recorded.recordings.len()),
    };
    let notes = Notes {
        recorded: Some(format!(
            "{times}{:.1} s, {} in {}",
            recorded.time.as_secs_f64(),
            size(recorded.bytes()),
            match traces.as_slice() {
                [_] if args.runs == 1 => output.display().to_string(),
                several => format!("{} traces", several.len()),
            }
        )),
        ..Notes::default()
    };
    report(job.finish(), notes, &args.report, &config).map(ours)
}

/// The default trace.
const OUTPUT: &str = "ravel-run.ravel";

/// The trace to write: the one that the user names, or one that no other Ravel writes to.
fn claim(output: Option<&Path>) -> Result<Claim> {
    let Some(output) = output else {
        let claim = Claim::take_free(Path::new(OUTPUT))?;
        if claim.output != Path::new(OUTPUT) {
            let free = claim.output.display();
            Terminal.remark(&format!(
                "{OUTPUT} is written by another ravel; this one writes to {free}"
            ));
        }
        return Ok(claim);
    };
    Claim::take(output)
}

/// The limit of a forced run of a program that was ended after this time: it is slower, and a JVM has to start first.
fn forced_end_after(end_after: Duration) -> Duration {
    end_after + end_after.max(Duration::from_secs(5))
}

/// The program's own exit code; 128 plus the signal that ended it, as in shells.
pub fn exit_code(recording: &Recording) -> ExitCode {
    let code = u8::try_from(recording.exit_code());
    ExitCode::from(code.unwrap_or(1))
}

/// The settings of a job that the configuration gives.
pub fn settings(config: &Config, budget: Budget) -> Settings {
    Settings {
        patterns: config.access_patterns(),
        units: config.unit_settings(),
        budget,
        ..Settings::default()
    }
}

/// Reports the result of a job, with the notes on its recording.
pub fn report(finished: Finished, notes: Notes, args: &ReportArgs, config: &Config) -> Result<ExitCode> {
    let Finished {
        report,
        mut warnings,
        class_path,
        work,
        whole: _,
        interrupted,
        one_thread,
        untested,
    } = finished;
    if args.all {
        warnings.extend(unproven(&work.tally.reasons));
    }
    let notes = Notes {
        analysed: Some(analysed(&work)),
        forced: Some(forced(&work)),
        untested,
        warnings,
        ..notes
    };
    let nothing = report.summary.events == 0 || one_thread;
    let code = args.emit(report, config, notes, class_path)?;
    Ok(match interrupted {
        Some(signal) => ExitCode::from(signal),
        // One thread that fails is still something.
        None if nothing && code == ExitCode::SUCCESS => ExitCode::from(3),
        None => code,
    })
}

/// Why findings were not proven, a line for each reason: a large program has a hundred findings that the time did not suffice for.
fn unproven(reasons: &[(String, Limit)]) -> Vec<String> {
    let mut ids: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (id, reason) in reasons {
        ids.entry(reason.to_string()).or_default().push(id);
    }
    let line = |(reason, ids): (String, Vec<&str>)| match ids[..] {
        [id] => format!("{id}: {reason}"),
        _ => format!("{}: {reason}", count(ids.len() as u64, "finding")),
    };
    ids.into_iter().map(line).collect()
}

fn analysed(work: &WorkDone) -> String {
    let seconds = work.analysed.as_secs_f64();
    let suspected = work.suspected.map_or(String::new(), |suspected| {
        let all = count(suspected.all as u64, "suspicion");
        let seen = match suspected.seen {
            0 => "none".to_owned(),
            seen => seen.to_string(),
        };
        format!("; static scan: {all}, {seen} found in this run")
    });
    format!("{} analyses in {seconds:.1} s{suspected}", work.analyses)
}

/// The result of the searches, appended to a line.
fn explored(searches: &[Searches]) -> String {
    let one = |search: &Searches| {
        let runs = count(search.inside, "run");
        let mut text = format!(
            "; explored {runs} in one JVM ({:.1} s, {}, seed {})",
            search.time.as_secs_f64(),
            count(search.orders, "different order"),
            search.seed
        );
        if let Some(obstacle) = &search.obstacle {
            text = format!("{text}, stopped because {obstacle}");
        }
        if search.processes > 0 {
            text = format!("{text}, {} with a JVM each", search.processes);
        }
        match search.failed {
            0 => text,
            failed => format!("{text}, {failed} of them with a failure"),
        }
    };
    searches.iter().map(one).collect()
}

/// Why no run was forced.
fn unforced(reasons: &[(String, Limit)]) -> &'static str {
    let has = |kind| reasons.iter().any(|(_, limit)| limit.has(kind));
    match (has(LimitKind::Interrupted), has(LimitKind::Budget)) {
        (true, _) => "interrupted",
        (_, true) => "the time ran out (--budget)",
        _ => "no finding has an order to force",
    }
}

/// The forced runs, in one line.
fn forced(work: &WorkDone) -> String {
    let mut orders = match work.orders {
        Orders::TooLong => "; other orders not tried: the program is too long".to_owned(),
        Orders::Tried(0) | Orders::NotWanted => String::new(),
        Orders::Tried(1) => "; 1 other order tried".to_owned(),
        Orders::Tried(orders) => format!("; {orders} other orders tried"),
    };
    orders.push_str(&explored(&work.searches));
    let tried = work.tally.forced.len();
    let runs = match (work.tally.runs, &work.unforced) {
        (0, Some(reason)) => return format!("nothing: {reason}{orders}"),
        (0, None) => return format!("nothing: {}{orders}", unforced(&work.tally.reasons)),
        (runs, _) => runs,
    };
    let outcome = match (work.happened, tried.saturating_sub(work.happened)) {
        (happened, 0) => format!("{happened} happened"),
        (0, failed) => format!("{failed} not reproduced"),
        (happened, failed) => format!("{happened} happened, {failed} not reproduced"),
    };
    let (tried, runs) = (count(tried as u64, "finding"), count(runs as u64, "run"));
    format!("{tried} in {runs}: {outcome}{orders}")
}
