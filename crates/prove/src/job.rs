//! The job of `ravel run`, `ravel replay` and `ravel check` on traces: analysis, proof, runs in orders that were not
//! recorded, and the report of it all. Each command asks for a part of it.

mod explore;
mod failed;
pub mod record;
mod search;
mod tests_alone;
mod unshared;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use ravel_agent::options::Options as RecorderOptions;
use ravel_analysis::analyse::{combine, cores, is_replayable};
use ravel_analysis::finding::{Evidence, Finding, Part, Report, Summary, Times};
use ravel_analysis::guards;
use ravel_analysis::limit::{Limit, LimitKind};
use ravel_analysis::merge::{fold_alike, fold_repeated, fold_same};
use ravel_analysis::numbers::count;
use ravel_analysis::patterns::language::Pattern;
use ravel_analysis::registry;
use ravel_analysis::units::UnitSettings;
use ravel_scan::confirm;
use ravel_schedule::orders;
use ravel_trace::origin;
use ravel_trace::{Failure, Header, KEPT_RECORDS, ReadOptions, Reader, Source as _, Trace, Warning};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysing::{add_classes, replay_command, seen_from_here, watched};
use crate::failures::held_back;
use crate::interrupt;
use crate::jvm::JvmRunner;
use crate::observer::Observer;
use crate::obstacle::{self, RecordedWith};
use crate::plans;
use crate::proof::{Budget, Tally, is_observed_race_of_application, prove, untold};
use crate::shares::Share;
use crate::suspects::{Suspected, Suspects, class_path, name_locks};

use self::tests_alone::Suite;

pub use self::search::{SearchSettings, Searches, quiet_fields};

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
    /// What this machine tries of a proof plan; everything if none. The report is then a part, to be merged with the others.
    pub share: Option<Share>,
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
    /// When the job began, after the recording: the budget is for all that comes then.
    began: Instant,
    /// Traces whose findings have yet to be forced: they share the time that is left.
    open_traces: u32,
    /// The most threads that one of the recorded runs had.
    most_threads: u64,
    /// Classes that the recorder left out, by reason.
    left_out: BTreeMap<String, u64>,
    /// What the recorder was asked for.
    recorded_with: RecordedWith,
    /// Whether classes that were left out may order threads.
    ordered_outside: bool,
    /// What the user declares that no trace has; none before the first.
    unmatched: Option<Vec<String>>,
    /// Annotations of the program that name no lock, in words.
    unguarded: BTreeSet<String>,
    /// Whether the recorded runs are short enough for other orders to be tried.
    explorable: bool,
    /// Traces of tests that ran alone.
    alone: Vec<PathBuf>,
    /// The ids of these tests.
    alone_ids: FxHashSet<String>,
    /// The names of these tests, by their traces.
    alone_names: FxHashMap<PathBuf, String>,
    /// How long the longest of them took.
    alone_time: Option<Duration>,
    orders: Orders,
    /// What the searches came to.
    searches: Vec<Searches>,
    /// Whether every trace was read to its end.
    whole: bool,
    /// Records that were decoded.
    decoded: u64,
    /// What went wrong in the recorded runs.
    recorded_failures: Vec<Failure>,
    /// The same of all runs.
    all_failures: Vec<Failure>,
    /// Failures of forced runs that are not reported, because the forcing may have caused them.
    held_back: Vec<Failure>,
}

/// Traces that stay open between their analysis and the proof of their findings; further ones are opened again.
const MOST_OPEN: usize = 32;

/// How the recorder begins its reason for leaving a class of a framework out.
const FRAMEWORK: &str = "framework";

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
    /// The exit code if the user interrupted: 128 and the signal.
    pub interrupted: Option<u8>,
    /// Whether none of the recorded runs had more than one thread.
    pub one_thread: bool,
    /// What cost most likely bugs their proof, and what would help.
    pub untested: Option<String>,
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
    /// What the searches came to.
    pub searches: Vec<Searches>,
    /// Records of all traces that were decoded, each as often as it was: what reading has cost.
    pub decoded: u64,
}

/// The suspicions that no finding of a run shows, held back: they say something of the code and nothing of the run.
pub(crate) fn only_in_code(suspicions: Vec<Finding>, findings: &mut [Finding]) -> Vec<Finding> {
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
            began: Instant::now(),
            open_traces: 0,
            most_threads: 0,
            left_out: BTreeMap::new(),
            recorded_with: RecordedWith::default(),
            ordered_outside: false,
            unmatched: None,
            unguarded: BTreeSet::new(),
            explorable: true,
            alone: Vec::new(),
            alone_ids: FxHashSet::default(),
            alone_names: FxHashMap::default(),
            alone_time: None,
            orders: Orders::NotWanted,
            searches: Vec::new(),
            whole: true,
            decoded: 0,
            recorded_failures: Vec::new(),
            all_failures: Vec::new(),
            held_back: Vec::new(),
        }
    }

    /// Says how long the recorded runs took.
    pub fn recorded_in(&mut self, time: Duration) {
        self.recorded = time;
    }

    /// How long the program took that is run in further orders.
    fn program_time(&self) -> Duration {
        self.alone_time.unwrap_or(self.recorded)
    }

    /// Only analyses a trace, with what a plan proves of its program.
    pub fn check(&mut self, path: &Path, mut trace: Trace, focus: ravel_analysis::focus::Focus) -> Result<()> {
        self.settings.units.focus = focus;
        let mut findings = self.analyse(path, &mut trace, true, None)?;
        self.decoded += trace.reader().decoded();
        if let Some(why) = plans::cannot_force(trace.reader().header()) {
            for finding in findings.iter_mut().filter(|finding| is_replayable(finding)) {
                finding.limit = Some(why.into());
                finding.replay.clear();
            }
        }
        if plans::is_attached(trace.reader().header()) {
            self.show_observed(&mut findings);
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
        let findings = self.analyse(path, &mut trace, true, self.deadline())?;
        self.settle(path, Some(trace), findings, Vec::new());
        Ok(())
    }

    /// Everything that is to be tried of a trace: findings, what the scan suspects, and what is tried although no analysis has found it.
    pub fn goals(&mut self, path: &Path, trace: &mut Trace) -> Result<Vec<Finding>> {
        let findings = self.analyse(path, trace, true, None)?;
        self.goals_of(trace, &findings)
    }

    fn goals_of(&self, trace: &mut Trace, findings: &[Finding]) -> Result<Vec<Finding>> {
        let untold = untold(trace, findings, &self.untold_suspicions(findings))?;
        let mut goals = findings.to_vec();
        goals.retain(|finding| !finding.candidates.is_empty());
        for finding in untold {
            if !goals.iter().any(|known| known.id == finding.id) {
                goals.push(finding);
            }
        }
        Ok(goals)
    }

    /// Analyses a trace and forces a share of a plan, if everything that is to be tried passes a check.
    pub fn share(
        &mut self,
        path: &Path,
        mut trace: Trace,
        share: Share,
        check: &dyn Fn(&[Finding]) -> Result<()>,
    ) -> Result<()> {
        self.settings.share = Some(share);
        let findings = self.analyse(path, &mut trace, true, None)?;
        check(&self.goals_of(&mut trace, &findings)?)?;
        self.settle(path, Some(trace), findings, Vec::new());
        Ok(())
    }

    /// Analyses traces and forces what was found. What is in several is forced from the first, and from the others only
    /// if it was not shown to be harmful there. Tests that can run alone are forced alone. Gives the traces whose programs are to be run
    /// in further orders: those of tests that ran alone take the place of the run of all tests.
    pub fn traces(&mut self, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut analysed = Vec::new();
        let mut room = KEPT_RECORDS;
        for path in paths {
            let mut trace = Trace::new(Reader::open(path, self.reading())?, room);
            let findings = self.analyse(path, &mut trace, true, self.deadline())?;
            let suite = Suite::of(trace.reader());
            // What is kept of all of them together is bounded as it is of one, and so are the files that are open.
            let stays = analysed.len() < MOST_OPEN && trace.events().is_some();
            if stays {
                room = room.saturating_sub(trace.reader().records());
            } else {
                self.decoded += trace.reader().decoded();
            }
            analysed.push((path, stays.then_some(trace), findings, suite));
        }
        self.open_traces = u32::try_from(analysed.len()).unwrap_or(u32::MAX);
        let mut further = Vec::new();
        for (path, trace, mut findings, suite) in analysed {
            let seen_alone = match &suite {
                Some(suite) => self.prove_alone(path, suite, &findings),
                None => FxHashSet::default(),
            };
            match suite {
                Some(_) if !self.alone.is_empty() => {}
                _ => further.push(path.clone()),
            }
            let known: Vec<Finding> = findings
                .extract_if(.., |finding| {
                    seen_alone.contains(&finding.id) || self.evidence(&finding.id) == Some(Evidence::Harmful)
                })
                .collect();
            self.settle(path, trace, findings, known);
            self.open_traces -= 1;
        }
        if !self.alone.is_empty() {
            // The build tool itself is not what is tested.
            further.clone_from(&self.alone);
        }
        Ok(further)
    }

    /// Shows races that the recorded run itself had. Frameworks that are not recorded may order threads in ways that the trace does not show; then
    /// the finding says that it is held back. What a log line orders is an accident.
    fn show_observed(&self, findings: &mut [Finding]) {
        for finding in findings
            .iter_mut()
            .filter(|finding| is_observed_race_of_application(finding))
        {
            if !self.ordered_outside {
                finding.shown = true;
            } else if !finding.shown {
                let limit = Limit::ordered_outside();
                finding.limit = Some(match finding.limit.take() {
                    Some(reason) => limit.then(reason),
                    None => limit,
                });
            }
        }
    }

    /// Forces findings of a trace and takes them into the report, with others of it that need no forcing.
    fn settle(&mut self, path: &Path, trace: Option<Trace>, mut findings: Vec<Finding>, known: Vec<Finding>) {
        let mut suspicions = self.untold_suspicions(&findings);
        let of_others = self.take_others(&mut findings);
        if let Some(share) = &self.settings.share {
            suspicions.retain(|suspicion| share.tries.contains(&suspicion.id));
        }
        self.prove(path, trace, &mut findings, &suspicions);
        findings.extend(of_others);
        self.show_observed(&mut findings);
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

    /// Takes away the findings that other machines try.
    fn take_others(&self, findings: &mut Vec<Finding>) -> Vec<Finding> {
        let share = self.settings.share.as_ref();
        let is_left = |finding: &mut Finding| share.is_some_and(|share| share.leaves.contains(&finding.id));
        findings.extract_if(.., is_left).collect()
    }

    /// How far a finding got, if it is known.
    fn evidence(&self, id: &str) -> Option<Evidence> {
        let mut all = self.report.findings.iter();
        all.find(|known| known.id == id).map(|known| known.evidence)
    }

    /// Time left for forced runs.
    fn left(&self) -> Duration {
        self.settings.budget.total.saturating_sub(self.began.elapsed())
    }

    /// When the analysis ends: a bug that is proven is worth more than two that are not. Without a budget nothing is forced, and the analysis
    /// may take its time.
    fn deadline(&self) -> Option<Instant> {
        let total = self.settings.budget.total;
        // Machines that share a plan must all find what was planned.
        let limited = !total.is_zero() && self.settings.share.is_none();
        limited.then(|| self.began + total / 2)
    }

    /// Adds to what the user should know.
    pub fn warn(&mut self, warning: String) {
        self.report.warnings.push(warning);
    }

    fn reading(&self) -> ReadOptions {
        ReadOptions {
            salvage: self.settings.salvage,
        }
    }

    /// The findings of a trace. What is `recorded` counts as what was seen of the program; other traces are of forced runs.
    fn analyse(
        &mut self,
        path: &Path,
        trace: &mut Trace,
        recorded: bool,
        deadline: Option<Instant>,
    ) -> Result<Vec<Finding>> {
        let name = seen_from_here(path);
        if recorded && plans::is_sample(trace.reader().header()) {
            self.observer.remark(&format!(
                "{name}: recorded with --sample, so most accesses are missing: use it with `ravel own`"
            ));
        }
        let start = Instant::now();
        let wanted = plans::analyses_for(trace.reader().header(), &name, &self.settings.analyses, self.observer);
        let analyses = registry::choose(&wanted, &self.settings.patterns)?;
        self.analyses = analyses.len();
        let threads = self.settings.threads.unwrap_or_else(cores);
        let units = &self.settings.units;
        let (mut analysed, recording) = watched(&name, trace, units, analyses, threads, deadline, self.observer);
        self.report.recordings.push(recording);
        self.analysed += start.elapsed();
        let settings = &self.settings;
        if !settings.only.is_empty() {
            analysed.findings.retain(|finding| settings.only.contains(&finding.id));
        }
        tests_alone::name_tests(&mut analysed.findings, trace.reader());
        let replayable = |finding: &Finding| is_replayable(finding) && !settings.traces_vanish;
        for finding in analysed.findings.iter_mut().filter(|finding| replayable(finding)) {
            finding.replay = replay_command(&name, &finding.id);
        }
        if !recorded {
            return Ok(analysed.findings);
        }
        let reader = trace.reader();
        let failures = reader.footer().map_or(&[][..], |footer| &footer.failures);
        self.recorded_failures.extend_from_slice(failures);
        self.all_failures.extend_from_slice(failures);
        self.explorable &= analysed.events <= orders::MOST_EVENTS as u64;
        if let Some(options) = settings.scan.as_ref().filter(|_| !interrupt::requested()) {
            let options = ravel_scan::Options {
                stop: Some(interrupt::requested),
                ..options.clone()
            };
            let suspects = Suspects::of(reader.header(), &options, self.suspects.take());
            for said in &suspects.left_out {
                if !self.report.warnings.contains(said) {
                    self.report.warnings.push(said.clone());
                }
            }
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
        self.unguarded.extend(guards::without_lock(reader.names()));
        let unmatched = settings.units.unmatched(reader.names());
        match &mut self.unmatched {
            Some(known) => known.retain(|words| unmatched.contains(words)),
            unknown => *unknown = Some(unmatched),
        }
        if self.report.program.is_empty() {
            self.report.program = reader.header().command.join(" ");
        }
        self.report.summary.events += analysed.events;
        self.report.summary.threads += analysed.threads;
        self.most_threads = self.most_threads.max(analysed.threads);
        self.recorded_with = recorded_with(reader.header());
        for (reason, classes) in reader.footer().map_or(&[][..], |footer| &footer.classes_skipped) {
            *self.left_out.entry(reason.clone()).or_default() += classes;
            self.recorded_with.without_frameworks |= reason.starts_with(FRAMEWORK);
            self.ordered_outside |= may_order(reason);
        }
        add_classes(&mut self.report.summary.classes, reader.footer());
        // Of a program that was running before and goes on, the trace has neither the ends of its threads nor all acquisitions.
        let usual = |warning: &Warning| {
            use Warning::{NotEnded, UnmatchedReleases, UnmatchedWaits};
            matches!(
                warning,
                NotEnded { .. } | UnmatchedReleases { .. } | UnmatchedWaits { .. }
            )
        };
        let attached = plans::is_attached(reader.header());
        let told = reader.warnings().iter().filter(|warning| !attached || !usual(warning));
        self.warnings.extend(told.map(|warning| format!("{name}: {warning}")));
        if let Some(error) = analysed.error {
            self.whole = false;
            self.report
                .warnings
                .push(format!("{error}; analysed the events before it"));
        }
        let bounds = analysed.left_out.iter().map(|words| format!("{name}: {words}"));
        self.report.warnings.extend(bounds);
        Ok(analysed.findings)
    }

    fn prove(&mut self, path: &Path, trace: Option<Trace>, findings: &mut Vec<Finding>, suspicions: &[Finding]) {
        // A machine that has nothing to try starts no JVM.
        let share = self.settings.share.clone();
        if share
            .as_ref()
            .is_some_and(|share| share.tries.is_empty() && !share.is_first)
        {
            return;
        }
        let budget = Budget {
            total: self.left() / self.open_traces.max(1),
            ..self.settings.budget
        };
        let open = || Trace::open(path, self.reading()).map_err(anyhow::Error::from);
        let proven = trace.map_or_else(open, Ok).and_then(|mut trace| {
            let mut tally = prove(
                &mut trace,
                findings,
                (suspicions, share.as_ref()),
                budget,
                self.observer,
            )?;
            self.decoded += trace.reader().decoded();
            let failed = std::mem::take(&mut tally.failed);
            if !failed.is_empty() {
                let mut program = JvmRunner::of(trace.reader(), budget.run)?;
                program.end_by(Instant::now() + self.left());
                tally.runs += self.add_failed_runs(path, path, &program, &failed, findings)?;
            }
            Ok(tally)
        });
        match proven {
            Ok(tally) => self.tally.add(tally),
            Err(error) => self.unforced = Some(format!("{error:#}")),
        }
    }

    /// What the scan suspects that no finding of a run shows, and that is not proven yet.
    fn untold_suspicions(&self, findings: &[Finding]) -> Vec<Finding> {
        let wanted = |suspicion: &&Finding| {
            let only = &self.settings.only;
            let asked = only.is_empty() || only.contains(&suspicion.id);
            asked
                && self
                    .evidence(&suspicion.id)
                    .is_none_or(|evidence| evidence < Evidence::Confirmed)
        };
        let open = self.suspicions.iter().filter(wanted).cloned().collect();
        confirm::confirm(open, &mut findings.to_vec())
    }

    /// Why findings did not get further.
    pub fn reasons(&self) -> &[(String, Limit)] {
        &self.tally.reasons
    }

    /// How often the pattern of a finding happened again in directed runs, and how many there were.
    pub fn again(&self, id: &str) -> Option<(usize, usize)> {
        let mut all = self.tally.again.iter().rev();
        all.find(|(known, ..)| known == id)
            .map(|(_, happened, runs)| (*happened, *runs))
    }

    /// The findings as they stand.
    pub fn findings(&self) -> &[Finding] {
        &self.report.findings
    }

    /// Says in the report what was not done and what was not seen.
    fn note_end(&mut self, interrupted: bool) {
        self.report.complete = self.whole && !interrupted;
        let mut notes = Vec::new();
        // Of a share, its part of the plan says so, until another attempt has done the rest.
        if interrupted && self.settings.share.is_none() {
            let untried = |finding: &&Finding| {
                let limit = finding.limit.as_ref();
                limit.is_some_and(|limit| limit.has(LimitKind::NotTried) && limit.has(LimitKind::Interrupted))
                    && is_replayable(finding)
            };
            let untried = self.report.findings.iter().filter(untried).count();
            notes.push(format!("interrupted: {} not tried", count(untried as u64, "finding")));
        }
        if self.most_threads <= 1 && self.report.summary.events > 0 {
            notes.push("only one thread ran, so there is no other order to try".to_owned());
        }
        let unmatched = self.unmatched.take().unwrap_or_default();
        notes.extend(
            unmatched
                .into_iter()
                .map(|words| format!("in the configuration, {words}")),
        );
        notes.extend(std::mem::take(&mut self.unguarded));
        notes.extend(left_out(&self.left_out));
        notes.extend(held_back(&self.held_back));
        self.report.warnings.splice(0..0, notes);
    }

    /// Puts the findings in order and gives what is to be reported.
    pub fn finish(mut self) -> Finished {
        self.add_recorded_failures();
        self.forget_alone();
        name_locks(&mut self.report.findings, &self.class_path);
        // A user who names findings hears of each.
        let folds = self.settings.only.is_empty() && self.settings.share.is_none();
        if folds {
            let mut gone = fold_alike(&mut self.report.findings);
            gone.extend(fold_same(&mut self.report.findings));
            gone.extend(fold_repeated(&mut self.report.findings));
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
        let interrupted = interrupt::exit_code();
        self.note_end(interrupted.is_some());
        let mut tally = self.tally;
        self.report.directed = std::mem::take(&mut tally.accounts);
        self.report.summary.times = Some(Times {
            record: self.recorded.as_millis() as u64,
            search: self.analysed.as_millis() as u64,
            schedule: tally.scheduling.as_millis() as u64,
            replay: tally.replaying.as_millis() as u64,
            runs: tally.runs as u64,
            directed: tally.directing.as_millis() as u64,
            directed_runs: tally.directed_runs as u64,
        });
        self.report
            .findings
            .sort_by_key(|finding| std::cmp::Reverse((finding.shown, finding.evidence)));
        if let Some(share) = &self.settings.share {
            // Which of them a run has shown is known when all shards are merged.
            self.report.suspicions = self.suspicions;
            self.report.parts = vec![part(&self.report, share, self.whole, interrupted.is_some())];
        } else if self.settings.only.is_empty() {
            failed::explain_exceptions(&mut self.suspicions, &mut self.report.findings);
            self.report.suspicions = only_in_code(self.suspicions, &mut self.report.findings);
        }
        for recording in &mut self.report.recordings {
            recording.keep_only(&self.report.findings);
        }
        let untested = obstacle::told(&self.report.findings, self.recorded_with);
        Finished {
            interrupted,
            one_thread: self.most_threads <= 1,
            untested,
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
                searches: self.searches,
                decoded: self.decoded,
            },
            whole: self.whole,
        }
    }
}

/// What a report says of its share of a plan. If the user interrupted, only a finding that can get no further counts as tried.
fn part(report: &Report, share: &Share, whole: bool, interrupted: bool) -> Part {
    let is_tried = |id: &&String| {
        let mut all = report.findings.iter();
        !interrupted || all.any(|finding| finding.id == **id && finding.evidence == Evidence::Harmful)
    };
    let mut part = Part {
        key: share.plan.clone(),
        shards: [(share.name.clone(), report.summary.times.unwrap_or_default())].into(),
        program: report.program.clone(),
        summary: Summary {
            times: None,
            ..report.summary
        },
        whole,
        planned: share.tries.union(&share.leaves).cloned().collect(),
        tried: share.tries.iter().filter(is_tried).cloned().collect(),
        ..Part::default()
    };
    part.note_types(report);
    part
}

/// What the recorder of a trace was asked for.
fn recorded_with(header: &Header) -> RecordedWith {
    let mut all = header.options.iter();
    let agent = all.find(|(name, _)| name == "agent").map(|(_, value)| value.as_str());
    let options = RecorderOptions::parse(agent.unwrap_or_default()).unwrap_or_default();
    RecordedWith {
        seed: options.seed.is_some(),
        clock: options.clock.is_some(),
        without_frameworks: false,
    }
}

/// Whether classes that the recorder left out for this reason are those of a framework that may order threads on purpose.
fn may_order(reason: &str) -> bool {
    let framework = reason.strip_prefix(FRAMEWORK).map(str::trim_start);
    framework.is_some_and(|name| !origin::is_logging(format!("{}/", name.replace('.', "/"))))
}

/// What the recorder left out, by reason, as far as an option decides it.
fn left_out(reasons: &BTreeMap<String, u64>) -> Vec<String> {
    let mut frameworks: Vec<&str> = Vec::new();
    let (mut of_frameworks, mut by_user) = (0, 0);
    for (reason, classes) in reasons {
        if let Some(name) = reason.strip_prefix(FRAMEWORK) {
            of_frameworks += classes;
            frameworks.extend(Some(name.trim_start()).filter(|name| !name.is_empty()));
        } else if matches!(reason.as_str(), "excluded" | "not included") {
            by_user += classes;
        }
    }
    let classes = |n: u64| format!("{n} class{}", if n == 1 { "" } else { "es" });
    let mut notes = Vec::new();
    if of_frameworks > 0 {
        let names = match frameworks.as_slice() {
            [] => String::new(),
            names => format!(" ({})", names.join(", ")),
        };
        notes.push(format!(
            "not recorded: {} of frameworks{names}; --keep-frameworks records them",
            classes(of_frameworks)
        ));
    }
    if by_user > 0 {
        notes.push(format!(
            "not recorded: {} excluded by --include, --exclude or ravel.toml",
            classes(by_user)
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Silent;
    use ravel_analysis::finding::{Candidate, FindingStep, Rule};

    #[test]
    fn an_observed_race_is_held_back_only_where_frameworks_may_order_it() {
        let race = Finding {
            steps: vec![FindingStep {
                class: "shop.Stock".to_owned(),
                ..FindingStep::default()
            }],
            candidates: vec![Candidate {
                observed: true,
                ..Candidate::default()
            }],
            limit: Some(Limit::no_time()),
            ..Finding::new("1".to_owned(), Rule::DataRace, Evidence::Witnessed)
        };
        let shown = |reasons: &[&str]| {
            let mut job = Job::new(Settings::default(), &Silent);
            job.ordered_outside = reasons.iter().any(|reason| may_order(reason));
            let mut findings = [race.clone()];
            job.show_observed(&mut findings);
            let [finding] = findings;
            (
                finding.shown,
                finding.limit.is_some_and(|limit| limit.has(LimitKind::OrderedOutside)),
            )
        };
        assert_eq!(shown(&["excluded", "Ravel itself"]), (true, false));
        assert_eq!(
            shown(&["framework org.slf4j", "framework ch.qos.logback"]),
            (true, false)
        );
        assert_eq!(shown(&["framework org.slf4j", "framework scala"]), (false, true));
        assert_eq!(shown(&["framework"]), (false, true), "it may be any");
    }
}
