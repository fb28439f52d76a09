//! `ravel check`: analyses traces and reports what could happen.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use ravel_analysis::analyse::{Analysed, analyse_until, combine, cores, is_replayable};
use ravel_analysis::engine::Analysis;
use ravel_analysis::finding::{ClassCounts, Recording, Report, UnitKind};
use ravel_analysis::merge::fold_alike;
use ravel_analysis::registry;
use ravel_analysis::timeline::Watched;
use ravel_analysis::units::UnitSettings;
use ravel_report::config::Config;
use ravel_report::{Notes, words};
use ravel_scan::own::plan::Plan;
use ravel_trace::{Footer, ReadOptions, Reader, Source, SourceError};

use super::report::ReportArgs;
use crate::focus::{holds_for, proven};
use crate::interrupt;
use crate::progress::{Progress, round};
use crate::suspects::{class_path, name_locks};

/// How finely a report draws the recording.
const TIMELINE_CELLS: usize = 120;

/// The arguments of `ravel check`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Traces, as `ravel record` writes them
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Run only these analyses (lockset, race, reduction, blocks, automata, patterns, serializability)
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub analyses: Vec<String>,
    /// Look only at these kinds of units (section, method, compound, declared)
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_parser = parse_kind)]
    pub units: Vec<UnitKind>,
    /// Analyse on so many cores (default: all); the result is the same on any number
    #[arg(long, value_name = "N")]
    pub threads: Option<std::num::NonZeroUsize>,
    /// Pass over damage in the middle of a trace instead of stopping there
    #[arg(long)]
    pub salvage: bool,
    /// Do not check again what this plan of `ravel own` proves; for traces recorded with it
    #[arg(long, value_name = "PLAN")]
    pub focus: Option<PathBuf>,
    /// How to report.
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

/// Runs `ravel check`. Ends with 0 or 1 as the report says, 2 if a trace could not be read to its end, 3 if there was
/// nothing in any.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let config = args.report.load_config()?;
    // A name that no analysis has is said before any trace is looked at.
    registry::choose(&args.analyses, &config.access_patterns())?;
    let settings = settings(&args, &config);
    let plan = args.focus.as_deref().map(Plan::read).transpose()?;
    let start = Instant::now();
    let mut all = Checked::default();
    for trace in &args.traces {
        let header = Reader::open(trace, ReadOptions { salvage: args.salvage })?
            .header()
            .clone();
        let wanted = crate::focus::analyses_for(&header, &seen_from_here(trace), &args.analyses);
        let analyses = registry::choose(&wanted, &config.access_patterns())?;
        all.count = analyses.len();
        let focus = plan.as_ref().map(|plan| (plan, args.focus.as_deref().unwrap_or(trace)));
        let settings = focused(&settings, focus, trace)?;
        all.check(trace, &settings, analyses, &args)?;
    }
    let Checked {
        report,
        mut warnings,
        count,
        whole,
        class_path,
    } = all;
    warnings.extend(report.warnings.iter().cloned());
    let analysed = format!("{count} analyses in {:.1} s", start.elapsed().as_secs_f64());
    let notes = Notes {
        analysed: Some(analysed),
        warnings,
        ..Notes::default()
    };
    let mut report = report;
    fold_alike(&mut report.findings);
    for recording in &mut report.recordings {
        recording.keep_only(&report.findings);
    }
    name_locks(&mut report.findings, &class_path);
    let nothing = report.summary.events == 0;
    let code = args.report.emit(report, &config, notes, class_path)?;
    Ok(match (whole, nothing) {
        (false, _) => ExitCode::from(2),
        (true, true) => ExitCode::from(3),
        (true, false) => code,
    })
}

/// The settings with what a plan proves, if the trace was recorded with that plan and all of it held.
fn focused(settings: &UnitSettings, plan: Option<(&Plan, &Path)>, trace: &Path) -> anyhow::Result<UnitSettings> {
    let mut settings = settings.clone();
    let Some((plan, name)) = plan else {
        return Ok(settings);
    };
    match holds_for(plan, trace)? {
        Ok(()) => settings.focus = proven(plan),
        Err(reason) => eprintln!(
            "ravel: {}: {reason}; {} is not used, everything is checked",
            trace.display(),
            name.display()
        ),
    }
    Ok(settings)
}

fn settings(args: &Args, config: &Config) -> UnitSettings {
    let mut settings = config.unit_settings();
    if !args.units.is_empty() {
        settings.kinds.clone_from(&args.units);
    }
    settings
}

/// What all traces gave.
struct Checked {
    report: Report,
    warnings: Vec<String>,
    count: usize,
    /// Whether every trace was read to its end.
    whole: bool,
    /// Where classes lay, and with them perhaps their sources.
    class_path: Vec<PathBuf>,
}

impl Default for Checked {
    fn default() -> Self {
        Checked {
            report: Report::default(),
            warnings: Vec::new(),
            count: 0,
            whole: true,
            class_path: Vec::new(),
        }
    }
}

impl Checked {
    fn check(
        &mut self,
        trace: &Path,
        settings: &UnitSettings,
        analyses: Vec<Box<dyn Analysis>>,
        args: &Args,
    ) -> anyhow::Result<()> {
        let name = seen_from_here(trace);
        let mut reader = Reader::open(trace, ReadOptions { salvage: args.salvage })?;
        if crate::focus::is_sample(reader.header()) {
            eprintln!("ravel: {name}: recorded with --sample, so most accesses are missing: it is for `ravel own`");
        }
        let threads = args.threads.map_or_else(cores, std::num::NonZero::get);
        let (analysed, mut recording) = watched(&name, &mut reader, settings, analyses, threads);
        let Analysed {
            mut findings,
            events,
            threads,
            left_out,
            error,
            stopped: _,
        } = analysed;
        for finding in findings.iter_mut().filter(|f| is_replayable(f)) {
            match crate::focus::is_for_races(reader.header()) {
                true => finding.limit = Some(crate::focus::CANNOT_FORCE.to_owned()),
                false => finding.replay = replay_command(&name, &finding.id),
            }
        }
        recording.note(&findings);
        self.report.recordings.push(recording);
        combine(&mut self.report.findings, findings);
        for place in class_path(reader.header()) {
            if !self.class_path.contains(&place) {
                self.class_path.push(place);
            }
        }
        if self.report.program.is_empty() {
            self.report.program = reader.header().command.join(" ");
        }
        let summary = &mut self.report.summary;
        summary.events += events;
        summary.threads += threads;
        add_classes(&mut summary.classes, reader.footer());
        self.warnings
            .extend(reader.warnings().iter().map(|w| format!("{name}: {w}")));
        let bounds = left_out.into_iter().map(|words| format!("{name}: {words}"));
        self.report.warnings.extend(bounds);
        if let Some(error) = error {
            self.whole = false;
            self.warnings
                .push(format!("{error}; what came before was analysed (--salvage reads on)"));
        }
        Ok(())
    }
}

/// A path as one would write it here: without the working folder, if it lies below.
pub fn seen_from_here(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

/// The command that forces a finding again, for a shell.
pub fn replay_command(trace: &str, id: &str) -> String {
    format!("ravel replay {} {id}", for_shell(trace))
}

/// The command that forces an order again, for a shell.
pub fn replay_order(trace: &str, file: &str) -> String {
    format!("ravel replay {} --schedule {}", for_shell(trace), for_shell(file))
}

/// A word as a shell takes it.
fn for_shell(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Analyses a trace with progress and an ear for Ctrl-C, and notes when its threads were busy.
pub fn watched(
    name: &str,
    reader: &mut Reader,
    settings: &UnitSettings,
    analyses: Vec<Box<dyn Analysis>>,
    threads: usize,
) -> (Analysed, Recording) {
    interrupt::listen();
    let total = reader.records().max(1);
    let progress = Progress::new();
    let mut go_on = |seen: u64| {
        progress.say(|| {
            let percent = (seen * 100 / total).min(100);
            format!("analysing {name}: {percent} % of {} events", round(total))
        });
        !interrupt::requested()
    };
    let mut source = Watched::new(reader, TIMELINE_CELLS, &mut go_on);
    let mut analysed = analyse_until(&interrupt::requested, threads, &mut source, settings, analyses);
    let recording = source.timeline().recording(name, source.names());
    if (source.stopped() || analysed.stopped) && analysed.error.is_none() {
        let events = words::count(analysed.events, "event");
        analysed.error = Some(SourceError(format!("{name}: interrupted after {events}")));
    }
    (analysed, recording)
}

pub fn add_classes(counts: &mut ClassCounts, footer: Option<&Footer>) {
    let Some(footer) = footer else { return };
    let sum = |list: &[(String, u64)]| list.iter().map(|(_, n)| n).sum::<u64>();
    counts.instrumented += footer.classes_instrumented;
    counts.skipped += sum(&footer.classes_skipped);
    counts.failed += sum(&footer.classes_failed);
}
