//! `ravel run`: the whole job: record, analyse, force, report.

mod explore;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use ravel_agent::options::{DEFAULT_NOISE, Options};
use ravel_analysis::analyse::{combine, cores, is_replayable};
use ravel_analysis::finding::{Evidence, Finding, Report, Times};
use ravel_analysis::merge::fold_alike;
use ravel_analysis::registry;
use ravel_report::Notes;
use ravel_scan::own::plan::Mode;
use ravel_schedule::orders;
use ravel_trace::{ReadOptions, Reader};

use super::check::{add_classes, replay_command, seen_from_here, watched};
use super::record::{ExitCodeOf, RecorderArgs};
use super::report::ReportArgs;
use crate::focus::Focus;
use crate::input::{Again, Input};
use crate::progress::{ForcingLine, size};
use crate::proof::{Budget, Tally, prove};
use crate::recording::{Recording, Start, record};
use crate::suspects::{Suspects, class_path, name_locks};

/// Record a command, work out what could go wrong, force it, and report.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Where the traces are kept, for `ravel replay`
    #[arg(short, long, default_value = "ravel-run.ravel", value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub recorder: RecorderArgs,
    #[command(flatten)]
    pub budget: BudgetArgs,
    #[command(flatten)]
    pub analyses: AnalysesArgs,
    /// Do not scan the class path for what to force first
    #[arg(long)]
    pub no_scan: bool,
    #[command(flatten)]
    pub report: ReportArgs,
    /// Record this many times, from the second time on with yields and short sleeps of another seed each; what is found
    /// in any is reported once
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub runs: u16,
    /// Try this many orders that were not recorded, to see what threads do that find another value there; 0 for none. One
    /// run more looks at what the recording left out. Only programs of less than 200,000 recorded events and 20 seconds are
    /// looked at like that
    #[arg(long, default_value_t = 12, value_name = "N")]
    pub orders: u16,
    /// What to return: Ravel's own verdict, or the exit code of the program (of its first run)
    #[arg(long, value_enum, default_value = "ravel", value_name = "WHOSE")]
    pub exit_code: ExitCodeOf,
    /// The command, after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// What may be spent on forcing.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct BudgetArgs {
    /// Seconds for all forced runs together
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    pub budget: u64,
    /// Seconds for one forced run
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    pub run_limit: u64,
    /// Findings that are forced side by side; as many as there are cores if not given. 1 if runs of the program disturb each
    /// other, by files or ports; a script or build tool is always run once at a time
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

/// What is looked for.
#[derive(clap::Args, Clone, Debug)]
pub struct AnalysesArgs {
    /// Run only these analyses (lockset, race, reduction, blocks, automata, patterns, serializability)
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub analyses: Vec<String>,
}

impl BudgetArgs {
    /// As the prover takes it.
    pub fn budget(&self) -> Budget {
        Budget {
            total: Duration::from_secs(self.budget),
            run: Duration::from_secs(self.run_limit),
            jobs: self.jobs.map_or_else(
                || std::thread::available_parallelism().map_or(1, usize::from),
                usize::from,
            ),
        }
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let config = args.report.load_config()?;
    // A name that no analysis has is said before the program runs.
    registry::choose(&args.analyses.analyses, &[])?;
    let start = Instant::now();
    let mut options = args.recorder.options();
    options.include.extend(config.record.include.iter().cloned());
    options.exclude.extend(config.record.exclude.iter().cloned());
    if args.recorder.focus.focus.is_some() && args.recorder.focus.focus_mode == Mode::Races {
        bail!(
            "--focus-mode races is for `ravel record`: to force an order, ravel run needs what the threads read under locks; use combined"
        );
    }
    let mut focus = Focus::prepare(&args.recorder.focus, &args.command, &mut options)?;
    let mut recordings: Vec<Recording> = Vec::new();
    let mut start_as = Start {
        input: Input::own(),
        end_after: args.recorder.end_after,
    };
    for number in 0..args.runs {
        let with_noise = |options: &Options| Options {
            noise: noise(options.noise, number),
            ..options.clone()
        };
        let output = numbered(&args.output, number, args.runs);
        let mut recording = record(&args.command, &output, with_noise(&options), &start_as)?;
        if let (0, Some(kept)) = (number, &recording.input) {
            start_as.input = Input::Again(Again::new(kept)?);
        }
        if let Some(class) = recording.traces.iter().find_map(|trace| trace.unfocused.first()) {
            eprintln!("ravel: the focus plan was not made for {class}, which was loaded: recording again, in full");
            focus.drop_plan(&mut options);
            recording = record(&args.command, &output, with_noise(&options), &start_as)?;
        }
        super::record::report(&recording);
        let stopped = recording.stopped;
        recordings.push(recording);
        if stopped {
            break;
        }
    }
    let recorded = start.elapsed();
    let program = recordings.first().map_or(ExitCode::SUCCESS, Recording::exit_code);
    let ours = |code: ExitCode| {
        if args.exit_code == ExitCodeOf::Program {
            program
        } else {
            code
        }
    };
    let traces: Vec<PathBuf> = recordings
        .iter()
        .flat_map(|recording| recording.traces.iter().map(|trace| trace.path.clone()))
        .collect();
    if traces.is_empty() {
        return Ok(ours(ExitCode::from(3)));
    }
    let mut job = Job::new(&args.report, &config, args.budget.budget());
    job.analyses.clone_from(&args.analyses.analyses);
    job.scan = !args.no_scan;
    job.focus = focus.proven(&options);
    job.recorded = recorded;
    job.traces(&traces)?;
    if args.orders > 0 && args.recorder.focus.focus.is_none() {
        job.explore(&traces, &args.output, args.orders.into())?;
    }
    let all = recordings.iter().flat_map(|recording| &recording.traces);
    let bytes: u64 = all.map(|trace| trace.bytes).sum();
    let times = match args.runs {
        1 => String::new(),
        _ => format!("{} times, ", recordings.len()),
    };
    job.notes.recorded = Some(format!(
        "{times}{:.1} s, {} in {}",
        recorded.as_secs_f64(),
        size(bytes),
        match traces.as_slice() {
            [_] if args.runs == 1 => args.output.display().to_string(),
            several => format!("{} traces", several.len()),
        }
    ));
    job.finish().map(ours)
}

/// The first run is as the user wants it; each further one has noise of its own.
fn noise(asked: Option<(u64, u32)>, number: u16) -> Option<(u64, u32)> {
    match (number, asked) {
        (0, asked) => asked,
        (_, Some((seed, rate))) => Some((seed.wrapping_add(number.into()), rate)),
        (_, None) => Some((number.into(), DEFAULT_NOISE)),
    }
}

/// `t.ravel` is `t-2.ravel` in the second of several runs.
fn numbered(output: &Path, number: u16, runs: u16) -> PathBuf {
    if runs == 1 {
        return output.to_path_buf();
    }
    with_suffix(output, &(number + 1).to_string())
}

/// `t.ravel` is `t-SUFFIX.ravel`.
fn with_suffix(output: &Path, suffix: &str) -> PathBuf {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let extension = output.extension().unwrap_or(OsStr::new("ravel")).to_string_lossy();
    output.with_file_name(format!("{stem}-{suffix}.{extension}"))
}

/// Analysis, proof and report of one or more traces.
pub struct Job<'a> {
    report_args: &'a ReportArgs,
    config: &'a ravel_report::config::Config,
    budget: Budget,
    report: Report,
    notes: Notes,
    tally: Tally,
    analysed: Duration,
    /// What is proven of the program.
    focus: ravel_analysis::focus::Focus,
    /// How long the recorded runs took.
    recorded: Duration,
    /// Only these analyses are run; all if empty.
    pub analyses: Vec<String>,
    /// Only these findings are forced and reported; all if empty.
    pub only: Vec<String>,
    /// Whether the class files say what to force first.
    scan: bool,
    /// What they said, and in a word.
    suspects: Option<Suspects>,
    suspected: Option<String>,
    /// Where classes lay, and with them perhaps their sources.
    class_path: Vec<PathBuf>,
    /// Why nothing at all could be forced.
    unforced: Option<String>,
    /// Time spent on forced runs.
    spent: Duration,
    /// Whether the recorded runs are short enough for others to be looked at.
    explorable: bool,
    /// Orders tried that were not recorded; none if that was not wanted.
    orders: Option<usize>,
    /// The traces will be gone when the report is read: it names no command that needs them.
    pub traces_vanish: bool,
}

impl<'a> Job<'a> {
    /// Nothing done yet.
    pub fn new(report_args: &'a ReportArgs, config: &'a ravel_report::config::Config, budget: Budget) -> Self {
        Job {
            report_args,
            config,
            budget,
            report: Report::default(),
            notes: Notes::default(),
            tally: Tally::default(),
            analysed: Duration::ZERO,
            focus: ravel_analysis::focus::Focus::default(),
            recorded: Duration::ZERO,
            analyses: Vec::new(),
            only: Vec::new(),
            scan: false,
            suspects: None,
            suspected: None,
            class_path: Vec::new(),
            unforced: None,
            spent: Duration::ZERO,
            explorable: true,
            orders: None,
            traces_vanish: false,
        }
    }

    /// Analyses traces and forces what was found. What is in several is forced from the first, and from the others only
    /// if it was not shown to be harmful there.
    pub fn traces(&mut self, paths: &[PathBuf]) -> Result<()> {
        let mut analysed = Vec::new();
        for path in paths {
            analysed.push((path, self.analyse(path, true)?));
        }
        for (path, mut findings) in analysed {
            let known: Vec<Finding> = findings
                .extract_if(.., |finding| self.evidence(&finding.id) == Some(Evidence::Harmful))
                .collect();
            self.settle(path, findings, known);
        }
        Ok(())
    }

    /// Forces findings of a trace and takes them into the report, with others of it that need no forcing.
    fn settle(&mut self, path: &Path, mut findings: Vec<Finding>, known: Vec<Finding>) {
        self.prove(path, &mut findings);
        if !self.only.is_empty() {
            findings.retain(|finding| self.only.contains(&finding.id));
        }
        let name = seen_from_here(path);
        for finding in findings.iter_mut().filter(|finding| finding.replay.is_empty()) {
            if finding.evidence == Evidence::Harmful && !self.traces_vanish {
                finding.replay = replay_command(&name, &finding.id);
            }
        }
        if let Some(recording) = self.report.recordings.iter_mut().find(|r| r.trace == name) {
            recording.note(&findings);
            recording.note(&known);
        }
        combine(&mut self.report.findings, findings);
        combine(&mut self.report.findings, known);
    }

    /// How far a finding got, if it is known.
    fn evidence(&self, id: &str) -> Option<Evidence> {
        let mut all = self.report.findings.iter();
        all.find(|known| known.id == id).map(|known| known.evidence)
    }

    /// Time left for forced runs.
    fn left(&self) -> Duration {
        self.budget.total.saturating_sub(self.spent)
    }

    /// The findings of a trace. What is `recorded` counts as what was seen of the program; other traces are of forced runs.
    fn analyse(&mut self, path: &Path, recorded: bool) -> Result<Vec<Finding>> {
        let name = seen_from_here(path);
        let mut reader = Reader::open(path, ReadOptions::default())?;
        let start = Instant::now();
        let wanted = crate::focus::analyses_for(reader.header(), &name, &self.analyses);
        let analyses = registry::choose(&wanted, &self.config.access_patterns())?;
        let mut settings = self.config.unit_settings();
        settings.focus = self.focus.clone();
        let (mut analysed, recording) = watched(&name, &mut reader, &settings, analyses, cores());
        self.report.recordings.push(recording);
        self.analysed += start.elapsed();
        if !self.only.is_empty() {
            analysed.findings.retain(|finding| self.only.contains(&finding.id));
        }
        let replayable = |finding: &Finding| is_replayable(finding) && !self.traces_vanish;
        for finding in analysed.findings.iter_mut().filter(|finding| replayable(finding)) {
            finding.replay = replay_command(&name, &finding.id);
        }
        if !recorded {
            return Ok(analysed.findings);
        }
        self.explorable &= analysed.events <= orders::MOST_EVENTS as u64;
        if self.scan {
            let options = super::scan::options(self.config).0;
            let suspects = Suspects::of(reader.header(), &options, self.suspects.take());
            self.suspected = suspects.support(&mut analysed.findings).or(self.suspected.take());
            self.suspects = Some(suspects);
        }
        for place in class_path(reader.header()) {
            if !self.class_path.contains(&place) {
                self.class_path.push(place);
            }
        }
        if self.report.program.is_empty() {
            self.report.program = reader.header().command.join(" ");
        }
        self.report.summary.events += analysed.events;
        self.report.summary.threads += analysed.threads;
        add_classes(&mut self.report.summary.classes, reader.footer());
        self.notes
            .warnings
            .extend(reader.warnings().iter().map(|warning| format!("{name}: {warning}")));
        self.notes
            .warnings
            .extend(analysed.error.map(|error| error.to_string()));
        let bounds = analysed.left_out.iter().map(|words| format!("{name}: {words}"));
        self.report.warnings.extend(bounds.clone());
        self.notes.warnings.extend(bounds);
        Ok(analysed.findings)
    }

    fn prove(&mut self, path: &Path, findings: &mut Vec<Finding>) {
        let line = ForcingLine::new(findings.len());
        let start = Instant::now();
        let budget = Budget {
            total: self.left(),
            ..self.budget
        };
        match prove(path, findings, budget, &|event| line.take(&event)) {
            Ok(tally) => self.tally.add(tally),
            Err(error) => self.unforced = Some(format!("{error:#}")),
        }
        self.spent += start.elapsed();
    }

    /// Why findings did not get further.
    pub fn reasons(&self) -> &[(String, String)] {
        &self.tally.reasons
    }

    /// The findings as they stand.
    pub fn findings(&self) -> &[ravel_analysis::finding::Finding] {
        &self.report.findings
    }

    /// Reports.
    pub fn finish(mut self) -> Result<ExitCode> {
        // Whoever names findings is told of each.
        if self.only.is_empty() {
            let gone = fold_alike(&mut self.report.findings);
            self.tally.forced.retain(|id| !gone.contains(id));
            self.tally.reasons.retain(|(id, _)| !gone.contains(id));
        }
        let happened: Vec<String> = self
            .report
            .findings
            .iter()
            .filter(|finding| finding.evidence >= Evidence::Confirmed)
            .map(|finding| finding.id.clone())
            .collect();
        // It may have happened in another trace's run.
        self.tally.reasons.retain(|(id, _)| !happened.contains(id));
        let tally = &self.tally;
        let made = tally.forced.iter().filter(|id| happened.contains(id)).count();
        let suspected = self.suspected.map(|words| format!("; {words}")).unwrap_or_default();
        let analyses = match self.analyses.len() {
            0 => registry::all().len(),
            some => some,
        };
        let seconds = self.analysed.as_secs_f64();
        self.notes.analysed = Some(format!("{analyses} analyses in {seconds:.1} s{suspected}"));
        let orders = match self.orders {
            Some(_) if !self.explorable => "; too long for other orders to be tried",
            Some(0) | None => "",
            Some(1) => "; 1 other order tried",
            Some(orders) => &format!("; {orders} other orders tried"),
        };
        self.notes.forced = Some(forced(tally, made, self.unforced.as_deref()) + orders);
        self.report.summary.times = Some(Times {
            record: self.recorded.as_millis() as u64,
            search: self.analysed.as_millis() as u64,
            schedule: tally.scheduling.as_millis() as u64,
            replay: tally.replaying.as_millis() as u64,
            runs: tally.runs as u64,
        });
        if self.report_args.all {
            let reasons = tally.reasons.iter().map(|(id, reason)| format!("{id}: {reason}"));
            self.notes.warnings.extend(reasons.collect::<Vec<_>>());
        }
        let nothing = self.report.summary.events == 0;
        self.report
            .findings
            .sort_by_key(|finding| std::cmp::Reverse((finding.shown, finding.evidence)));
        for recording in &mut self.report.recordings {
            recording.keep_only(&self.report.findings);
        }
        name_locks(&mut self.report.findings, &self.class_path);
        let code = self
            .report_args
            .emit(self.report, self.config, self.notes, self.class_path)?;
        Ok(if nothing { ExitCode::from(3) } else { code })
    }
}

/// What was tried, in one line.
fn forced(tally: &Tally, happened: usize, unforced: Option<&str>) -> String {
    let tried = tally.forced.len();
    match (tally.runs, unforced) {
        (0, Some(reason)) => return format!("nothing: {reason}"),
        (0, None) => return "nothing: no finding has an order that could be forced".to_owned(),
        _ => {}
    }
    let outcome = match (happened, tried.saturating_sub(happened)) {
        (happened, 0) => format!("{happened} happened"),
        (0, failed) => format!("{failed} could not be made to happen"),
        (happened, failed) => format!("{happened} happened, {failed} could not be made to happen"),
    };
    let count = |n: usize, noun| ravel_report::words::count(n as u64, noun);
    format!("{} in {}: {outcome}", count(tried, "finding"), count(tally.runs, "run"))
}
