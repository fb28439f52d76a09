//! Runs the recorded program again under a schedule, and tells what happened.

mod kept;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ravel_agent::options::Options;
use ravel_agent::{DEADLOCK, HANG, RETURNED};
use ravel_schedule::{Schedule, Segment};
use ravel_trace::names::Names;
use ravel_trace::{EndReason, Event, Op, ReadOptions, Reader, Source, StandardInput};

use self::kept::Kept;
use crate::agent_library;
use crate::family::Family;
use crate::input::Again;
use crate::progress::Progress;
use crate::recording::{add_agent, agent_option, is_agent_option, starts_java, surroundings};

/// The file that a run leaves its trace in.
const TRACE: &str = "trace";

/// How the recorded program is started again.
pub struct Program {
    command: Vec<String>,
    directory: PathBuf,
    environment: Vec<(String, String)>,
    /// Which JVM of the command is forced; none if the command is java itself.
    jvm: Option<String>,
    input: Again,
    /// What is worth saying of a run that did not go as wanted.
    remark: &'static str,
    options: Options,
    /// What is watched in each run; none if everything is.
    watched: Option<String>,
    library: PathBuf,
    scratch: tempfile::TempDir,
    limit: Duration,
}

/// What a forced run came to.
pub struct Forced {
    /// `complete`, `failed …`, `deadlock …`; empty if the JVM did not say.
    pub verdict: String,
    /// How the program ended.
    pub status: ExitStatus,
    /// What it wrote.
    pub output: Vec<u8>,
    /// Whether it took so long that Ravel ended it.
    pub timed_out: bool,
    /// With which code the agent ended the JVM, if it did.
    pub ended: Option<i32>,
    /// What is worth saying if it did not go as wanted; empty if nothing is.
    pub remark: String,
    /// Whether its trace has only what was watched.
    pub partial: bool,
    /// Whether its trace goes on to its end.
    pub whole: bool,
    /// Its events and names; none if no trace was left.
    pub trace: Option<(Vec<Event>, Names)>,
    /// What its methods returned: writes to fields whose names begin with [`RETURNED`].
    pub returned: Vec<Event>,
}

impl Forced {
    /// Whether all turns were given; some may have been lost.
    pub fn complete(&self) -> bool {
        self.verdict.starts_with("complete") || self.verdict.starts_with("hang ") || self.deadlock().is_some()
    }

    /// The first turn that was lost, and why; none if every turn was taken.
    pub fn slip(&self) -> Option<&str> {
        self.verdict.split_once(" | ").map(|(_, slip)| slip)
    }

    /// Whether a turn was lost because its thread waited for what another one has yet to do: the schedule's order is not one
    /// that the program can take.
    pub fn is_impossible(&self) -> bool {
        let waits = |slip: &str| slip.contains(" waited for ") || slip.contains(" wanted a lock of ");
        self.slip().is_some_and(waits)
    }

    /// The threads that wait for nothing, if all do.
    pub fn waiting(&self) -> Option<&str> {
        let threads = self.verdict.strip_prefix("hang ")?;
        Some(threads.split(" | ").next().unwrap_or(threads))
    }

    /// The threads that wait for each other, if they do.
    pub fn deadlock(&self) -> Option<&str> {
        self.verdict
            .strip_prefix("deadlock ")
            .map(|threads| threads.split(" | ").next().unwrap_or(threads))
            .filter(|_| self.ended == Some(DEADLOCK))
    }

    /// Whether the run had to be ended.
    pub fn hung(&self) -> bool {
        self.ended == Some(HANG) || self.timed_out
    }

    /// Threads that ended by an exception that nobody caught, with the exception.
    pub fn exceptions(&self) -> Vec<(String, String)> {
        let Some((_, names)) = &self.trace else {
            return Vec::new();
        };
        let died = names.threads.iter().filter(|thread| !thread.exception.is_empty());
        died.map(|thread| (thread.name.clone(), thread.exception.clone()))
            .collect()
    }
}

/// A variable without the agent of the recorded run: whoever recorded with the option of `ravel record --print-option` has it there,
/// and a JVM that loads two agents follows neither.
fn without_agent((name, value): &(String, String)) -> (String, String) {
    if !matches!(
        name.as_str(),
        "JAVA_TOOL_OPTIONS" | "JDK_JAVA_OPTIONS" | "_JAVA_OPTIONS"
    ) {
        return (name.clone(), value.clone());
    }
    let words: Vec<&str> = value.split(' ').filter(|word| !is_agent_option(word)).collect();
    (name.clone(), words.join(" "))
}

impl Program {
    /// The program of a trace, each run of it at most `limit` long.
    pub fn of(trace: &Reader, limit: Duration) -> Result<Program> {
        let header = trace.header();
        let first = header
            .command
            .first()
            .context("the trace does not say which command it is of")?;
        let option = |wanted: &str| {
            let mut all = header.options.iter();
            all.find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
        };
        let jvm = option("jvm").map(str::to_string);
        if jvm.is_none() && !starts_java(first) {
            bail!("the trace does not say which of the JVMs that `{first}` starts it is of; record it again");
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
            ..Options::default()
        };
        let nothing = StandardInput::default();
        let input = trace.standard_input().unwrap_or(&nothing);
        Ok(Program {
            command: header
                .command
                .iter()
                .filter(|word| !is_agent_option(word))
                .cloned()
                .collect(),
            directory: PathBuf::from(&header.directory),
            environment: header.environment.iter().map(without_agent).collect(),
            jvm,
            input: Again::new(input)?,
            remark: match input {
                StandardInput { terminal: true, .. } => {
                    "standard input was a terminal, and is empty in forced runs: record with the input in a file (< FILE)"
                }
                StandardInput { cut: true, .. } => "standard input was longer than what was kept of it",
                _ => "",
            },
            options,
            watched: None,
            library: agent_library::unpack()?,
            scratch,
            limit,
        })
    }

    /// Records only accesses to these fields in its runs, and what these methods return: a program that does much takes too
    /// long otherwise.
    pub fn watch(&mut self, fields: impl IntoIterator<Item = String>, methods: impl IntoIterator<Item = String>) {
        let methods = methods.into_iter().map(|method| format!("{RETURNED}{method}"));
        let lines = fields.into_iter().chain(methods).map(|line| format!("{line}\n"));
        self.watched = Some(lines.collect());
    }

    /// How many runs of it may go on at the same time: those of a script or a build tool write the same files.
    pub fn side_by_side(&self, jobs: usize) -> usize {
        if self.jvm.is_some() { 1 } else { jobs }
    }

    /// Runs it under a schedule; `number` tells runs apart that go on at the same time.
    pub fn force(&self, schedule: &Schedule, number: usize) -> Result<Forced> {
        let scratch = self.scratch_for(number)?;
        let mut result = self.run(schedule, &scratch, false)?;
        let kept = Kept::of(self.watched.is_some().then_some(schedule));
        match read(&scratch.join(TRACE), kept) {
            Ok(Some(told)) => {
                result.trace = Some((told.events, told.names));
                result.returned = told.returned;
                result.whole = told.whole;
            }
            // Half of a run says nothing of its end, so none of it is looked at.
            Ok(None) => result.remark = format!("it made more than {MOST_EVENTS} events"),
            Err(_) => {}
        }
        let _ = fs::remove_dir_all(&scratch);
        Ok(result)
    }

    /// Ends the recording of each run at so many bytes.
    pub fn keep_short(&mut self, bytes: u64) {
        self.options.max_size = Some(bytes);
    }

    /// Runs it under each schedule, several at a time, and keeps each trace at its path. Of those that left one: the number, and
    /// whether nothing moved any more in the end.
    pub fn explore_all(&self, schedules: &[Schedule], keep: &[PathBuf], jobs: usize) -> Result<Vec<(usize, bool)>> {
        let next = AtomicUsize::new(0);
        let line = Progress::new();
        let work = || {
            let mut left = Vec::new();
            while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < schedules.len()) {
                let told = self.explore(&schedules[number], number, &keep[number])?;
                left.extend(told.map(|stuck| (number, stuck)));
                let (begun, all) = (next.load(Ordering::Relaxed).min(schedules.len()), schedules.len());
                line.say(|| format!("trying other orders: {begun} of {all}, {} s", line.elapsed().as_secs()));
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
        let result = self.run(schedule, &scratch, true)?;
        let trace = scratch.join(TRACE);
        let left = !result.timed_out && trace.exists();
        if left {
            fs::copy(&trace, keep).with_context(|| format!("cannot write {}", keep.display()))?;
            let _ = ravel_trace::add_input(keep, self.input.kept());
        }
        let _ = fs::remove_dir_all(&scratch);
        Ok(left.then(|| result.waiting().is_some()))
    }

    fn scratch_for(&self, number: usize) -> Result<PathBuf> {
        let scratch = self.scratch.path().join(format!("run-{number}"));
        fs::create_dir(&scratch).context("a temporary directory")?;
        Ok(scratch)
    }

    /// One run; its trace is left in the directory.
    fn run(&self, schedule: &Schedule, scratch: &Path, explore: bool) -> Result<Forced> {
        let place = |name: &str| scratch.join(name);
        let (list, status, output) = (place("turns"), place("status"), place("output"));
        fs::write(&list, turns(schedule)).context("the schedule")?;
        let watch = match &self.watched {
            Some(lines) => {
                fs::write(place("watch"), lines).context("the list of watched fields")?;
                Some(place("watch"))
            }
            None => None,
        };
        let mut options = Options {
            out: place(TRACE),
            watch,
            status: Some(status.clone()),
            schedule: Some(list),
            explore,
            command: self.command.clone(),
            roll: self.jvm.as_ref().map(|_| place("roll")),
            only: self.jvm.clone(),
            tied: self.jvm.is_none(),
            ..self.options.clone()
        };
        let written = fs::File::create(&output).context("the output")?;
        let mut command = Command::new(&self.command[0]);
        let environment = || self.environment.iter().map(|(name, value)| (name, value));
        command
            .current_dir(&self.directory)
            .env_clear()
            .envs(environment())
            .stdin(self.input.stdio()?)
            .stdout(written.try_clone().context("the output")?)
            .stderr(written);
        if self.jvm.is_some() {
            fs::write(place("origin"), surroundings(&self.directory, environment())).context("a temporary file")?;
            options.origin = Some(place("origin"));
            let own = self.environment.iter().find(|(name, _)| name == "JAVA_TOOL_OPTIONS");
            let own = own.map(|(_, value)| value.clone());
            add_agent(&mut command, own, &self.library, &options);
        } else {
            command.arg(agent_option(&self.library, &options));
        }
        command.args(&self.command[1..]);
        // Its own group, so that whatever it starts can be ended with it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut family = Family::announce(true, &format!("{}/", scratch.display()));
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {}", self.command[0]))?;
        family.started(child.id());
        let feeding = child.stdin.take().map(|pipe| self.input.feed(pipe));
        let (ended, timed_out) = wait(&mut child, &family, self.limit + Duration::from_secs(10))?;
        drop(feeding);
        family.end_rest();
        let line = fs::read_to_string(&status).unwrap_or_default();
        let column = |number: usize| line.trim_end_matches('\n').split('\t').nth(number).unwrap_or_default();
        Ok(Forced {
            verdict: column(3).to_string(),
            status: ended,
            timed_out,
            output: own_output(fs::read(&output).unwrap_or_default()),
            ended: column(4).parse().ok(),
            remark: match (&self.jvm, line.is_empty()) {
                (Some(jvm), true) => self.not_met(jvm, &place("roll")),
                _ => self.remark.to_string(),
            },
            partial: self.watched.is_some(),
            whole: false,
            trace: None,
            returned: Vec::new(),
        })
    }

    /// Why the JVM that was to be forced said nothing.
    fn not_met(&self, jvm: &str, roll: &Path) -> String {
        let (number, what) = jvm.split_once(':').unwrap_or(("0", jvm));
        let number: usize = number.parse().unwrap_or(0);
        let signed = fs::read_to_string(roll).unwrap_or_default();
        let same = |line: &&str| line.split_once('\t').is_some_and(|(_, other)| other == what);
        if signed.lines().filter(same).count() > number {
            return format!("the JVM that runs `{what}` was killed");
        }
        format!(
            "the command started no JVM that runs `{what}` (number {}), only {}",
            number + 1,
            match signed.lines().count() {
                0 => "none at all".to_string(),
                others => format!("{others} others"),
            }
        )
    }
}

/// A schedule as the agent reads it: a line a turn.
pub fn turns(schedule: &Schedule) -> String {
    let line = |segment: &Segment| {
        let leave = segment.leave.map(|leave| format!(" {leave}")).unwrap_or_default();
        format!("{} {}{leave}\n", schedule.thread(segment).path, segment.until)
    };
    schedule.segments.iter().map(line).collect()
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

/// What a run told.
struct Told {
    events: Vec<Event>,
    /// What its methods returned.
    returned: Vec<Event>,
    names: Names,
    /// Whether it told all to the end.
    whole: bool,
}

/// What a run told; nothing if that is too much.
fn read(path: &Path, mut kept: Kept) -> Result<Option<Told>> {
    let mut reader = Reader::open(path, ReadOptions { salvage: true })?;
    let mut returned = Vec::new();
    while let Some(event) = reader.next_event()? {
        if matches!(event.op, Op::Enter { .. } | Op::Exit { .. }) {
            continue;
        }
        if kept.events.len() + returned.len() == MOST_EVENTS {
            return Ok(None);
        }
        let names = reader.names();
        let field = event.op.location().and_then(|location| names.field_of(location));
        if field.is_some_and(|field| names.field(field).name.starts_with(RETURNED)) {
            returned.push(event);
        } else {
            kept.take(event, names);
        }
    }
    Ok(Some(Told {
        events: kept.finish(),
        returned,
        names: reader.names().clone(),
        whole: reader.footer().is_some_and(|footer| footer.ended == EndReason::Exit),
    }))
}
