//! The job of `ravel run`, `ravel replay` and `ravel check` on traces: analysis, proof, runs in orders that were not
//! recorded, and the report of it all. Each command asks for a part of it.

mod explore;
pub mod record;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use ravel_analysis::analyse::{combine, cores, is_replayable};
use ravel_analysis::finding::{Evidence, Finding, Report, Times};
use ravel_analysis::merge::fold_alike;
use ravel_analysis::patterns::language::Pattern;
use ravel_analysis::registry;
use ravel_analysis::units::UnitSettings;
use ravel_scan::confirm;
use ravel_schedule::orders;
use ravel_trace::{KEPT_RECORDS, ReadOptions, Reader, Source, Trace};
use rustc_hash::FxHashSet;

use crate::analysing::{add_classes, replay_command, seen_from_here, watched};
use crate::observer::Observer;
use crate::plans;
use crate::proof::{Budget, Tally, prove};
use crate::suspects::{Suspected, Suspects, class_path, name_locks};

/// What a job is to do.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Only these analyses are run; all if empty.
    pub analyses: Vec<String>,
    /// The user's own access patterns.
    pub patterns: Vec<Pattern>,
    /// Units and atomic sets, and what is proven of the program.
    pub units: UnitSettings,
    /// How class files are scanned for what to force first; not at all if none.
    pub scan: Option<ravel_scan::Options>,
    /// What may be spent on forced runs.
    pub budget: Budget,
    /// Only these findings are forced and reported; all if empty.
    pub only: Vec<String>,
    /// Whether damage in the middle of a trace is passed over.
    pub salvage: bool,
    /// Cores to analyse on; all if none.
    pub threads: Option<usize>,
    /// The traces will be gone when the report is read: it names no command that needs them.
    pub traces_vanish: bool,
}

/// Analysis, proof and report of one or more traces.
pub struct Job<'a> {
    settings: Settings,
    observer: &'a dyn Observer,
    report: Report,
    warnings: Vec<String>,
    tally: Tally,
    analysed: Duration,
    /// How many analyses were run.
    analyses: usize,
    /// How long the recorded runs took.
    recorded: Duration,
    /// What the class files said.
    suspects: Option<Suspects>,
    suspected: Option<Suspected>,
    /// What the class files make suspicious in classes that ran.
    suspicions: Vec<Finding>,
    /// Where classes lay, and with them perhaps their sources.
    class_path: Vec<PathBuf>,
    /// Why nothing at all could be forced.
    unforced: Option<String>,
    /// Time spent on forced runs.
    spent: Duration,
    /// Whether the recorded runs are short enough for other orders to be tried.
    explorable: bool,
    orders: Orders,
    /// Whether every trace was read to its end.
    whole: bool,
    /// Records that were decoded.
    decoded: u64,
}

/// Traces that stay open between their analysis and the proof of their findings; further ones are opened again.
const MOST_OPEN: usize = 32;

/// Orders that were not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Orders {
    /// None was asked for.
    NotWanted,
    /// The recorded runs are too long.
    TooLong,
    /// So many were tried.
    Tried(usize),
}

/// What a job came to.
#[derive(Debug)]
pub struct Finished {
    /// The findings and what was seen of the program.
    pub report: Report,
    /// What else the user should know.
    pub warnings: Vec<String>,
    /// Where classes lay, and with them perhaps their sources.
    pub class_path: Vec<PathBuf>,
    /// What was done.
    pub work: WorkDone,
    /// Whether every trace was read to its end.
    pub whole: bool,
}

/// What a job did, in figures.
#[derive(Debug)]
pub struct WorkDone {
    /// How many analyses were run.
    pub analyses: usize,
    /// How long they took.
    pub analysed: Duration,
    /// What the class files said.
    pub suspected: Option<Suspected>,
    /// What was forced.
    pub tally: Tally,
    /// Findings that were forced and happened.
    pub happened: usize,
    /// Why nothing at all could be forced.
    pub unforced: Option<String>,
    /// Orders that were not recorded.
    pub orders: Orders,
    /// Records of all traces that were decoded, each as often as it was: what reading has cost.
    pub decoded: u64,
}

/// The suspicions that no finding of a run shows, held back: they say something of the code and nothing of the run.
fn only_in_code(suspicions: Vec<Finding>, findings: &mut [Finding]) -> Vec<Finding> {
    let mut open = confirm::confirm(suspicions, findings);
    open.retain(|suspicion| !findings.iter().any(|finding| confirm::touches(finding, suspicion)));
    open.iter_mut().for_each(|suspicion| suspicion.shown = false);
    open
}

impl<'a> Job<'a> {
    /// Nothing done yet.
    pub fn new(settings: Settings, observer: &'a dyn Observer) -> Self {
        Job {
            settings,
            observer,
            report: Report::default(),
            warnings: Vec::new(),
            tally: Tally::default(),
            analysed: Duration::ZERO,
            analyses: 0,
            recorded: Duration::ZERO,
            suspects: None,
            suspected: None,
            suspicions: Vec::new(),
            class_path: Vec::new(),
            unforced: None,
            spent: Duration::ZERO,
            explorable: true,
            orders: Orders::NotWanted,
            whole: true,
            decoded: 0,
        }
    }

    /// Says how long the recorded runs took.
    pub fn recorded_in(&mut self, time: Duration) {
        self.recorded = time;
    }

    /// Only analyses a trace, with what a plan proves of its program.
    pub fn check(&mut self, path: &Path, mut trace: Trace, focus: ravel_analysis::focus::Focus) -> Result<()> {
        self.settings.units.focus = focus;
        let mut findings = self.analyse(path, &mut trace, true)?;
        self.decoded += trace.reader().decoded();
        if plans::is_for_races(trace.reader().header()) {
            for finding in findings.iter_mut().filter(|finding| is_replayable(finding)) {
                finding.limit = Some(plans::CANNOT_FORCE.to_owned());
                finding.replay.clear();
            }
        }
        let name = seen_from_here(path);
        if let Some(recording) = self.report.recordings.iter_mut().find(|r| r.trace == name) {
            recording.note(&findings);
        }
        combine(&mut self.report.findings, findings);
        Ok(())
    }

    /// Analyses a trace and forces what was found.
    pub fn trace(&mut self, path: &Path, mut trace: Trace) -> Result<()> {
        let findings = self.analyse(path, &mut trace, true)?;
        self.settle(path, Some(trace), findings, Vec::new());
        Ok(())
    }

    /// Analyses traces and forces what was found. What is in several is forced from the first, and from the others only
    /// if it was not shown to be harmful there.
    pub fn traces(&mut self, paths: &[PathBuf]) -> Result<()> {
        let mut analysed = Vec::new();
        let mut room = KEPT_RECORDS;
        for path in paths {
            let mut trace = Trace::new(Reader::open(path, self.reading())?, room);
            let findings = self.analyse(path, &mut trace, true)?;
            // What is kept of all of them together is bounded as it is of one, and so are the files that are open.
            let stays = analysed.len() < MOST_OPEN && trace.events().is_some();
            if stays {
                room = room.saturating_sub(trace.reader().records());
            } else {
                self.decoded += trace.reader().decoded();
            }
            analysed.push((path, stays.then_some(trace), findings));
        }
        for (path, trace, mut findings) in analysed {
            let known: Vec<Finding> = findings
                .extract_if(.., |finding| self.evidence(&finding.id) == Some(Evidence::Harmful))
                .collect();
            self.settle(path, trace, findings, known);
        }
        Ok(())
    }

    /// Forces findings of a trace and takes them into the report, with others of it that need no forcing.
    fn settle(&mut self, path: &Path, trace: Option<Trace>, mut findings: Vec<Finding>, known: Vec<Finding>) {
        self.prove(path, trace, &mut findings);
        let settings = &self.settings;
        if !settings.only.is_empty() {
            findings.retain(|finding| settings.only.contains(&finding.id));
        }
        let name = seen_from_here(path);
        for finding in findings.iter_mut().filter(|finding| finding.replay.is_empty()) {
            if finding.evidence == Evidence::Harmful && !settings.traces_vanish {
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
        self.settings.budget.total.saturating_sub(self.spent)
    }

    fn reading(&self) -> ReadOptions {
        ReadOptions {
            salvage: self.settings.salvage,
        }
    }

    /// The findings of a trace. What is `recorded` counts as what was seen of the program; other traces are of forced runs.
    fn analyse(&mut self, path: &Path, trace: &mut Trace, recorded: bool) -> Result<Vec<Finding>> {
        let name = seen_from_here(path);
        if recorded && plans::is_sample(trace.reader().header()) {
            self.observer.remark(&format!(
                "{name}: recorded with --sample, so most accesses are missing: it is for `ravel own`"
            ));
        }
        let start = Instant::now();
        let wanted = plans::analyses_for(trace.reader().header(), &name, &self.settings.analyses, self.observer);
        let analyses = registry::choose(&wanted, &self.settings.patterns)?;
        self.analyses = analyses.len();
        let threads = self.settings.threads.unwrap_or_else(cores);
        let units = &self.settings.units;
        let (mut analysed, recording) = watched(&name, trace, units, analyses, threads, self.observer);
        self.report.recordings.push(recording);
        self.analysed += start.elapsed();
        let settings = &self.settings;
        if !settings.only.is_empty() {
            analysed.findings.retain(|finding| settings.only.contains(&finding.id));
        }
        let replayable = |finding: &Finding| is_replayable(finding) && !settings.traces_vanish;
        for finding in analysed.findings.iter_mut().filter(|finding| replayable(finding)) {
            finding.replay = replay_command(&name, &finding.id);
        }
        if !recorded {
            return Ok(analysed.findings);
        }
        let reader = trace.reader();
        self.explorable &= analysed.events <= orders::MOST_EVENTS as u64;
        if let Some(options) = &settings.scan {
            let suspects = Suspects::of(reader.header(), options, self.suspects.take());
            self.suspected = suspects.support(&mut analysed.findings).or(self.suspected.take());
            let names = reader.names();
            let ran: FxHashSet<&str> = names
                .methods
                .iter()
                .map(|m| names.class(m.class).name.as_str())
                .collect();
            for suspicion in suspects.of_classes(|class| ran.contains(class)) {
                if !self.suspicions.iter().any(|known| known.id == suspicion.id) {
                    self.suspicions.push(suspicion.clone());
                }
            }
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
        self.warnings
            .extend(reader.warnings().iter().map(|warning| format!("{name}: {warning}")));
        if let Some(error) = analysed.error {
            self.whole = false;
            self.warnings.push(format!("{error}; what came before was analysed"));
        }
        let bounds = analysed.left_out.iter().map(|words| format!("{name}: {words}"));
        self.report.warnings.extend(bounds);
        Ok(analysed.findings)
    }

    fn prove(&mut self, path: &Path, trace: Option<Trace>, findings: &mut Vec<Finding>) {
        let start = Instant::now();
        let budget = Budget {
            total: self.left(),
            ..self.settings.budget
        };
        let open = || Trace::open(path, self.reading()).map_err(anyhow::Error::from);
        let proven = trace.map_or_else(open, Ok).and_then(|mut trace| {
            let tally = prove(&mut trace, findings, budget, self.observer);
            self.decoded += trace.reader().decoded();
            tally
        });
        match proven {
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
    pub fn findings(&self) -> &[Finding] {
        &self.report.findings
    }

    /// Puts the findings in order and gives what is to be reported.
    pub fn finish(mut self) -> Finished {
        // A user who names findings hears of each.
        if self.settings.only.is_empty() {
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
        let tally = self.tally;
        self.report.summary.times = Some(Times {
            record: self.recorded.as_millis() as u64,
            search: self.analysed.as_millis() as u64,
            schedule: tally.scheduling.as_millis() as u64,
            replay: tally.replaying.as_millis() as u64,
            runs: tally.runs as u64,
        });
        self.report
            .findings
            .sort_by_key(|finding| std::cmp::Reverse((finding.shown, finding.evidence)));
        if self.settings.only.is_empty() {
            self.report.suspicions = only_in_code(self.suspicions, &mut self.report.findings);
        }
        for recording in &mut self.report.recordings {
            recording.keep_only(&self.report.findings);
        }
        name_locks(&mut self.report.findings, &self.class_path);
        self.warnings.extend(self.report.warnings.iter().cloned());
        Finished {
            report: self.report,
            warnings: self.warnings,
            class_path: self.class_path,
            work: WorkDone {
                analyses: self.analyses,
                analysed: self.analysed,
                suspected: self.suspected,
                happened: tally.forced.iter().filter(|id| happened.contains(id)).count(),
                tally,
                unforced: self.unforced,
                orders: self.orders,
                decoded: self.decoded,
            },
            whole: self.whole,
        }
    }
}
