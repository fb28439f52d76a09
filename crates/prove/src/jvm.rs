//! Runs the recorded program again under a schedule, and tells what happened.

mod direct;
mod kept;
mod searched;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use ravel_agent::ELAPSED;
use ravel_agent::options::Options;
use ravel_analysis::limit::{Limit, LimitKind};
use ravel_protocol::{EndedBy, JvmName, Signature, Status, Verdict, Watch, line};
use ravel_schedule::Schedule;
use ravel_trace::added::{CARRIERS, is_added};
use ravel_trace::names::Names;
use ravel_trace::{EndReason, Event, Failure, LeftFiles, Op, ReadOptions, Reader, Source, StandardInput};

use self::kept::Kept;
use crate::agent_library;
use crate::family::Family;
use crate::files;
use crate::input::Again;
use crate::launch::{add_agent, jvm_options, starts_java, surroundings, without_agent};
use crate::observer::{Observer, Progress, Work};
use crate::runner::{Forced, MOST_COMPARED, Runner};

/// The file that a run leaves its trace in.
const TRACE: &str = "trace";
/// What the agent gets to end a forced run by itself.
const GRACE: Duration = Duration::from_secs(10);
/// The same when the time of all runs is over.
const LAST_GRACE: Duration = Duration::from_secs(1);
/// What a directed run may take at least.
const LEAST_DIRECTED: Duration = Duration::from_secs(5);
/// A recorded run below this is repeated with [`COMPILE_QUICKLY`].
const SHORT: Duration = Duration::from_secs(3);
/// Lets the JVM compile by its quick compiler alone. Where a program runs for a fraction of a second, many times in all, the other one takes a third of
/// the processor time and saves none.
const COMPILE_QUICKLY: &str = "-XX:TieredStopAtLevel=1";
/// The file that a run leaves its output in.
const OUTPUT: &str = "output";

/// How the recorded program is started again.
pub struct JvmRunner {
    command: Vec<String>,
    directory: PathBuf,
    environment: Vec<(String, String)>,
    /// Which JVM of the command is forced; none if the command is java itself.
    jvm: Option<JvmName>,
    input: Again,
    /// What the recorded run did to the files of its directory.
    left_files: LeftFiles,
    /// What is worth saying of a run that did not go as wanted.
    remark: &'static str,
    options: Options,
    /// What is watched in each run; none if everything is.
    watched: Option<Watch>,
    library: PathBuf,
    scratch: tempfile::TempDir,
    limit: Duration,
    /// No run goes on after this, whatever its limit.
    end_by: Option<Instant>,
    /// The longest directed run, which costs little more than a plain one: a program that does not end by itself must not use up the
    /// time of many.
    directed_limit: Duration,
    /// Whether the recorded run was so short that its code is hardly worth compiling.
    short: bool,
}

impl JvmRunner {
    /// The program of a trace, each run of it at most `limit` long.
    pub fn of(trace: &Reader, limit: Duration) -> Result<JvmRunner> {
        let header = trace.header();
        let first = header.command.first().context("the trace does not name its command")?;
        let option = |wanted: &str| {
            let mut all = header.options.iter();
            all.find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
        };
        let jvm = option("jvm").map(str::parse::<JvmName>).transpose();
        let jvm = jvm.map_err(|error| anyhow!("the trace's option `jvm`: {error}"))?;
        if jvm.is_none() && !starts_java(first) {
            bail!("the trace does not say which JVM of `{first}` it belongs to; record it again");
        }
        let recorded = Options::parse(option("agent").unwrap_or_default()).unwrap_or_default();
        let scratch = crate::scratch::directory()?;
        let focus = match option("focus") {
            Some(digest) => {
                let path = scratch.path().join("focus");
                fs::write(&path, digest).context("the focus plan")?;
                Some(path)
            }
            None => None,
        };
        let options = Options {
            include: recorded.include,
            exclude: recorded.exclude,
            keep_frameworks: recorded.keep_frameworks,
            keep_final: recorded.keep_final,
            seed: recorded.seed,
            clock: recorded.clock,
            focus,
            keep_repeats: true,
            keep_unshared: true,
            max_time: Some(limit),
            took: elapsed(trace),
            ..Options::default()
        };
        let nothing = StandardInput::default();
        let input = trace.standard_input().unwrap_or(&nothing);
        Ok(JvmRunner {
            command: header.command.iter().filter(|word| !is_added(word)).cloned().collect(),
            directory: PathBuf::from(&header.directory),
            environment: header.environment.iter().map(without_agent).collect(),
            jvm,
            input: Again::new(input)?,
            left_files: trace.left_files().clone(),
            remark: match input {
                StandardInput { terminal: true, .. } => {
                    "standard input was a terminal, so it is empty in forced runs: record with the input in a file (< FILE)"
                }
                StandardInput { cut: true, .. } => "standard input was longer than the part in the trace",
                _ => "",
            },
            options,
            watched: None,
            library: agent_library::unpack()?,
            scratch,
            limit,
            end_by: None,
            short: elapsed(trace).is_some_and(|elapsed| elapsed < SHORT),
            directed_limit: elapsed(trace).map_or(limit, |elapsed| limit.min(LEAST_DIRECTED + 3 * elapsed)),
        })
    }

    /// Records only accesses to these fields in its runs, and what these methods return: a program that does much takes too
    /// long otherwise.
    pub fn watch(&mut self, fields: impl IntoIterator<Item = String>, methods: impl IntoIterator<Item = String>) {
        self.watched = Some(Watch {
            fields: fields.into_iter().collect(),
            methods: methods.into_iter().collect(),
        });
    }

    /// Lets no run go on after this.
    pub fn end_by(&mut self, end: Instant) {
        self.end_by = Some(end);
    }

    /// Whether no run can be made any more.
    pub fn is_over(&self) -> bool {
        self.end_by.is_some_and(|end| Instant::now() >= end)
    }

    /// How long a run may take that has this limit.
    fn within(&self, limit: Duration) -> Duration {
        let left = self.end_by.map(|end| end.saturating_duration_since(Instant::now()));
        left.map_or(limit, |left| limit.min(left))
    }

    /// Ends the recording of each run at so many bytes.
    pub fn keep_short(&mut self, bytes: u64) {
        self.options.max_size = Some(bytes);
    }

    /// Runs it under each schedule, several at a time, and keeps each trace at its path. Of those that left one: the number, and
    /// whether nothing moved any more in the end.
    pub fn explore_all(
        &self,
        schedules: &[Schedule],
        keep: &[PathBuf],
        jobs: usize,
        observer: &dyn Observer,
    ) -> Result<Vec<(usize, bool)>> {
        let next = AtomicUsize::new(0);
        let line = observer.begin(Work::Alone);
        let work = || {
            let mut left = Vec::new();
            while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < schedules.len()) {
                let told = self.explore(&schedules[number], number, &keep[number])?;
                left.extend(told.map(|stuck| (number, stuck)));
                let begun = next.load(Ordering::Relaxed).min(schedules.len());
                let total = schedules.len();
                line.show(&Progress::Exploring { begun, total });
            }
            Ok(left)
        };
        let jobs = self.side_by_side(jobs).min(schedules.len());
        let left: Vec<Result<Vec<(usize, bool)>>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
            workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
        });
        let mut left = left.into_iter().collect::<Result<Vec<_>>>()?.concat();
        left.sort_unstable();
        Ok(left)
    }

    /// Runs it under a schedule and keeps its trace, to be analysed like a recorded one. If there is one: whether nothing moved any
    /// more in the end.
    fn explore(&self, schedule: &Schedule, number: usize, keep: &Path) -> Result<Option<bool>> {
        let scratch = self.scratch_for(number)?;
        let (result, cut) = self.run(schedule, &scratch, true)?;
        let trace = scratch.join(TRACE);
        let left = !result.timed_out && !cut && trace.exists();
        if left {
            self.keep_trace(&trace, keep)?;
        }
        let _ = fs::remove_dir_all(&scratch);
        Ok(left.then(|| result.waiting().is_some()))
    }

    /// Keeps the trace of a run for further runs of the same program.
    fn keep_trace(&self, trace: &Path, keep: &Path) -> Result<()> {
        fs::copy(trace, keep).with_context(|| format!("cannot write {}", keep.display()))?;
        let _ = ravel_trace::add_input(keep, self.input.kept());
        if !self.left_files.is_empty() {
            let _ = ravel_trace::add_files(keep, &self.left_files);
        }
        Ok(())
    }

    /// Records the program once more, without a schedule: accesses to these fields alone, also to objects that one thread has for itself. Whether
    /// there is a trace.
    pub fn record_fields(&mut self, fields: Vec<String>, keep: &Path) -> Result<bool> {
        self.watch(fields, []);
        self.options.keep_repeats = false;
        let scratch = self.scratch_for(0)?;
        let (result, cut) = self.run_as(&Ok, &scratch, true)?;
        let trace = scratch.join(TRACE);
        let left = !result.timed_out && !cut && trace.exists();
        if left {
            self.keep_trace(&trace, keep)?;
        }
        let _ = fs::remove_dir_all(&scratch);
        Ok(left)
    }

    fn scratch_for(&self, number: usize) -> Result<PathBuf> {
        let scratch = self.scratch.path().join(format!("run-{number}"));
        fs::create_dir(&scratch).context("a temporary directory")?;
        Ok(scratch)
    }

    /// One run, and whether it was cut short because the time for all runs was over: then nothing is known of its end. Its trace is left
    /// in the directory.
    fn run(&self, schedule: &Schedule, scratch: &Path, explore: bool) -> Result<(Forced, bool)> {
        let place = |name: &str| scratch.join(name);
        if schedule.controlled {
            let plan = searched::following(schedule);
            return self.run_as(&|options| self.controlled(options, &plan, scratch), scratch, explore);
        }
        let list = place("turns");
        fs::write(&list, line::encode(schedule)?).context("the schedule")?;
        let forced = |options: Options| {
            Ok(Options {
                schedule: Some(list.clone()),
                ..options
            })
        };
        self.run_as(&forced, scratch, explore)
    }

    /// The same with options that say how the run is made.
    fn run_as(
        &self,
        how: &dyn Fn(Options) -> Result<Options>,
        scratch: &Path,
        explore: bool,
    ) -> Result<(Forced, bool)> {
        let place = |name: &str| scratch.join(name);
        let status = place("status");
        let watch = match &self.watched {
            Some(watch) => {
                fs::write(place("watch"), line::encode(watch)?).context("the list of watched fields")?;
                Some(place("watch"))
            }
            None => None,
        };
        let limit = self.within(self.limit);
        let options = Options {
            out: place(TRACE),
            watch,
            status: Some(status.clone()),
            explore,
            command: self.command.clone(),
            roll: self.jvm.as_ref().map(|_| place("roll")),
            only: self.jvm.as_ref().map(JvmName::to_string),
            tied: self.jvm.is_none(),
            max_time: Some(limit),
            ..self.options.clone()
        };
        let patience = self.end_by.map_or(limit + GRACE, |end| {
            let left = end.saturating_duration_since(Instant::now()) + LAST_GRACE;
            left.min(limit + GRACE)
        });
        let (ended, timed_out) = self.start(how(options)?, scratch, patience)?;
        // A JVM that was killed, or was never started, has not reported.
        let reports: Vec<Status> = match status.exists() {
            true => line::read_all(&status)?,
            false => Vec::new(),
        };
        let report = reports.into_iter().next();
        let ended_by = report.as_ref().and_then(|report| report.ended_by);
        // The agent ends a process that stands still as well as one that takes too long; only the first has a verdict that says so.
        let stood_still = matches!(
            report.as_ref().and_then(|report| report.verdict.as_ref()),
            Some(Verdict::Hang { .. })
        );
        let cut = limit < self.limit && !stood_still && (timed_out || ended_by == Some(EndedBy::Hang));
        let forced = Forced {
            status: ended,
            timed_out: timed_out && !cut,
            output: own_output(fs::read(place(OUTPUT)).unwrap_or_default()),
            ended_by: ended_by.filter(|_| !cut),
            remark: match (&self.jvm, &report) {
                _ if cut && crate::interrupt::requested() => Limit::new("interrupted", [LimitKind::Interrupted]),
                _ if cut => Limit::new("the time ran out (--budget)", [LimitKind::Budget]),
                (Some(jvm), None) => not_met(jvm, &place("roll"))?.into(),
                _ => self.remark.into(),
            },
            verdict: report.and_then(|report| report.verdict).filter(|_| !cut),
            partial: self.watched.is_some(),
            whole: false,
            trace: None,
            frames: Vec::new(),
            calls: Vec::new(),
            returned: Vec::new(),
            failures: Vec::new(),
        };
        Ok((forced, cut))
    }

    /// A directory for one run, if the recorded run left other files than it found. Of a script or a build tool the run stays where it was: what
    /// it left is what spares the next one the work of making it again.
    fn fresh_directory(&self, scratch: &Path) -> Option<PathBuf> {
        if self.left_files.is_empty() || self.jvm.is_some() {
            return None;
        }
        files::make_fresh(&self.directory, &self.left_files, &scratch.join("around")).ok()
    }

    /// Starts the program with the agent and waits for its end: how it ended, and whether that took too long. Its output is left
    /// in the directory.
    fn start(&self, mut options: Options, scratch: &Path, limit: Duration) -> Result<(ExitStatus, bool)> {
        let place = |name: &str| scratch.join(name);
        let written = fs::File::create(place(OUTPUT)).context("the output")?;
        let fresh = self.fresh_directory(scratch);
        let directory = fresh.as_deref().unwrap_or(&self.directory);
        let mut command = Command::new(&self.command[0]);
        let environment = || self.environment.iter().map(|(name, value)| (name, value));
        command
            .current_dir(directory)
            .env_clear()
            .envs(environment())
            .stdin(self.input.stdio()?)
            .stdout(written.try_clone().context("the output")?)
            .stderr(written);
        // A trace of this run is forced from where the recorded one was, after a directory of its own is gone.
        if self.jvm.is_some() || fresh.is_some() {
            fs::write(place("origin"), surroundings(&self.directory, environment())).context("a temporary file")?;
            options.origin = Some(place("origin"));
        }
        if self.jvm.is_some() {
            let own = self.environment.iter().find(|(name, _)| name == "JAVA_TOOL_OPTIONS");
            let own = own.map(|(_, value)| value.clone());
            add_agent(&mut command, own, &self.library, &options, &CARRIERS);
        } else {
            // The program's own options come later, so they prevail.
            command.args(self.short.then_some(COMPILE_QUICKLY));
            command.args(CARRIERS).args(jvm_options(&self.library, &options));
        }
        match &fresh {
            Some(fresh) => {
                let renamed = |word: &String| files::renamed(word, &self.directory, &self.left_files, fresh);
                command.args(self.command[1..].iter().map(renamed)).env("PWD", fresh)
            }
            None => command.args(&self.command[1..]),
        };
        // Its own group, so that whatever it starts can be ended with it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut family = Family::announce(true, &format!("{}/", scratch.display()));
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {}", self.command[0]))?;
        family.started(child.id());
        let feeding = child.stdin.take().map(|pipe| self.input.feed(pipe));
        let (ended, timed_out) = wait(&mut child, &family, limit)?;
        drop(feeding);
        family.end_rest();
        Ok((ended, timed_out))
    }
}

/// How long the recorded program ran, if its recording says so.
pub(crate) fn elapsed(trace: &Reader) -> Option<Duration> {
    let mut counts = trace.footer()?.counts.iter();
    let (_, millis) = counts.find(|(name, _)| name == ELAPSED)?;
    Some(Duration::from_millis(*millis))
}

/// Why the JVM that was to be forced did not report; the list is the one that the JVMs of the run signed.
fn not_met(jvm: &JvmName, roll: &Path) -> Result<String> {
    let signed: Vec<Signature> = match roll.exists() {
        true => line::read_all(roll)?,
        false => Vec::new(),
    };
    let (number, runs) = (jvm.number, &jvm.runs);
    if signed.iter().filter(|other| other.runs == *runs).count() > number {
        return Ok(format!("the JVM that runs `{runs}` was killed"));
    }
    Ok(format!(
        "the command started no JVM that runs `{runs}` (number {}), only {}",
        number + 1,
        match signed.len() {
            0 => "none at all".to_string(),
            others => format!("{others} others"),
        }
    ))
}

impl Runner for JvmRunner {
    /// Runs of a script or a build tool write the same files, so they go on one at a time.
    fn side_by_side(&self, jobs: usize) -> usize {
        if self.jvm.is_some() { 1 } else { jobs }
    }

    fn force(&self, schedule: &Schedule, number: usize) -> Result<Forced> {
        let scratch = self.scratch_for(number)?;
        let (mut result, cut) = self.run(schedule, &scratch, false)?;
        if cut {
            let _ = fs::remove_dir_all(&scratch);
            return Ok(result);
        }
        let kept = Kept::of(self.watched.is_some().then_some(schedule));
        match read(&scratch.join(TRACE), kept) {
            Ok(Some(told)) => {
                result.trace = Some((told.events, told.names));
                result.frames = told.frames;
                result.calls = told.calls;
                result.returned = told.returned;
                result.whole = told.whole;
                result.failures = told.failures;
            }
            // Half of a run says nothing of its end, so none of it is looked at.
            Ok(None) => result.remark = format!("it had more than {MOST_EVENTS} events").into(),
            Err(_) => {}
        }
        let _ = fs::remove_dir_all(&scratch);
        Ok(result)
    }
}

/// What the program wrote: the JVM's words about the agent's options differ in every run.
fn own_output(bytes: Vec<u8>) -> Vec<u8> {
    const PICKED_UP: &[u8] = b"Picked up JAVA_TOOL_OPTIONS: ";
    if !bytes.windows(PICKED_UP.len()).any(|window| window == PICKED_UP) {
        return bytes;
    }
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.starts_with(PICKED_UP))
        .flatten()
        .copied()
        .collect()
}

/// Waits for a program; ends it and all that it started when it takes too long.
fn wait(child: &mut Child, family: &Family, limit: Duration) -> Result<(ExitStatus, bool)> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        let late = start.elapsed() > limit;
        if late || crate::interrupt::requested() {
            family.end();
            return Ok((child.wait()?, late));
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// Events of a forced run that are kept: several runs are, and a thread that the schedule lets spin makes millions a second.
const MOST_EVENTS: usize = 4_000_000;
/// Events of a forced run after which it is asked whether the user wants to stop.
const ASK: u64 = 1 << 16;

/// The events of a forced run.
struct Told {
    events: Vec<Event>,
    /// Methods entered and left, each with the number of events before it.
    frames: Vec<(usize, Event)>,
    /// The program's calls of the JDK, each with the number of events before it.
    calls: Vec<(usize, Event)>,
    /// The returns of its methods.
    returned: Vec<Event>,
    names: Names,
    /// Whether the trace is complete.
    whole: bool,
    /// What went wrong.
    failures: Vec<Failure>,
}

/// The events of a forced run; none if there are too many. Its trace is read once, and only the events that `kept` and the judgement of
/// harm need stay in memory.
fn read(path: &Path, mut kept: Kept) -> Result<Option<Told>> {
    let mut reader = Reader::open(path, ReadOptions { salvage: true })?;
    let (mut returned, mut frames, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen: u64 = 0;
    while let Some(event) = reader.next_event()? {
        seen += 1;
        if seen.is_multiple_of(ASK) && crate::interrupt::requested() {
            bail!("interrupted");
        }
        if matches!(event.op, Op::Enter { .. } | Op::Exit { .. }) && kept.events.len() <= MOST_COMPARED {
            frames.push((kept.events.len(), event));
        }
        if matches!(event.op, Op::Call) && calls.len() < MOST_EVENTS {
            calls.push((kept.events.len(), event));
        }
        if matches!(event.op, Op::Enter { .. } | Op::Exit { .. } | Op::Call) {
            continue;
        }
        if kept.events.len() + returned.len() == MOST_EVENTS {
            return Ok(None);
        }
        if matches!(event.op, Op::Returned { .. }) {
            returned.push(event);
        } else {
            kept.take(event, reader.names());
        }
    }
    let whole = reader.footer().is_some_and(|footer| footer.ended == EndReason::Exit);
    let failures = reader.footer().map_or_else(Vec::new, |footer| footer.failures.clone());
    let events = kept.finish();
    if events.len() > MOST_COMPARED {
        frames.clear();
    }
    Ok(Some(Told {
        failures,
        events,
        frames,
        calls,
        returned,
        names: reader.into_names(),
        whole,
    }))
}
