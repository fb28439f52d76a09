//! Runs a command with the agent in every JVM that it starts, and gathers the traces.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ravel_agent::options::Options;
use ravel_protocol::{EndedBy, Status, line};
use ravel_trace::growth::Growth;
use ravel_trace::reader::{ReadOptions, Reader};
use ravel_trace::{KEPT_RECORDS, Op, Source, StandardInput, Warning};

use crate::agent_library;
use crate::family::Family;
use crate::files::{self, Before};
use crate::input::Input;
use crate::interrupt::{self, RecordingPhase};
use crate::launch::{add_agent, agent_option, jvm_options, starts_java, surroundings};
use crate::observer::{Observer, Progress, Work};
use crate::scratch;

/// What came of a command.
pub struct Recording {
    /// How the command ended.
    pub status: ExitStatus,
    /// The traces with something in them.
    pub traces: Vec<RecordedTrace>,
    /// JVMs that ran no application class, or whose trace could not be written, each with the reason.
    pub empty: Vec<String>,
    /// JVMs that were killed before they could close their trace.
    pub interrupted: usize,
    /// What the command was given on its standard input; none if there was nothing to keep.
    pub input: Option<StandardInput>,
    /// When and why Ravel ended the command, if it did.
    pub ended: Option<EndAfter>,
    /// Whether the user asked to stop.
    pub stopped: bool,
}

/// How a command that is recorded is started and ended.
pub struct Start {
    /// Its standard input.
    pub input: Input,
    /// It is ended then, if it has not ended by itself.
    pub end_after: Option<EndAfter>,
    /// The directory that it runs in, without its output on the terminal; none for here, and with its output.
    pub hidden_in: Option<PathBuf>,
}

/// When a command is ended, and which option says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndAfter {
    /// The time that it has.
    pub time: Duration,
    /// `--end-after` or `--run-limit`.
    pub option: &'static str,
}

impl EndAfter {
    /// As the user asked for.
    pub fn asked(time: Duration) -> EndAfter {
        EndAfter {
            time,
            option: "--end-after",
        }
    }
}

impl Start {
    /// Of a program that reads nothing and ends by itself.
    pub fn simple() -> Start {
        Start {
            input: Input::nothing(),
            end_after: None,
            hidden_in: None,
        }
    }
}

/// How long a command that was asked to end may take to do so.
const GRACE: Duration = Duration::from_secs(5);

/// The same when the whole job is to stop.
const SHORT_GRACE: Duration = Duration::from_millis(600);

/// Events after which a reader of a trace asks whether to stop.
const ASK: u64 = 1 << 16;

impl Recording {
    /// The command's own exit code; 128 and the signal if one ended it, as shells have it.
    pub fn exit_code(&self) -> i32 {
        let signal = std::os::unix::process::ExitStatusExt::signal(&self.status);
        self.status.code().or(signal.map(|signal| 128 + signal)).unwrap_or(1)
    }
}

/// One JVM's trace.
pub struct RecordedTrace {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Events in it.
    pub events: u64,
    /// Threads that have events.
    pub threads: usize,
    /// Memory cells that more than one thread touched; none if the trace is too long to be read for that alone.
    pub shared: Option<usize>,
    /// What the recorder says of itself, for people.
    pub classes: String,
    /// Why it ended early, or what else is worth saying.
    pub remarks: Vec<String>,
    /// Classes that were loaded and are not as the focus plan has them.
    pub unfocused: Vec<String>,
}

/// Runs `command` and records it to `output`; several JVMs write several files, with their process ids in the names.
pub fn record(
    command: &[String],
    output: &Path,
    mut options: Options,
    start: &Start,
    observer: &dyn Observer,
) -> Result<Recording> {
    let output = std::path::absolute(output).context("the output path")?;
    let directory = output.parent().unwrap_or(Path::new("/"));
    if !directory.is_dir() {
        anyhow::bail!(
            "{}: no such directory; create it, or choose another file with -o",
            directory.display()
        );
    }
    // The finished trace takes its place by a rename: of a device that would leave a plain file.
    if fs::metadata(&output).is_ok_and(|there| !there.is_file()) {
        anyhow::bail!(
            "{} is not a regular file; choose another file with -o",
            output.display()
        );
    }
    // Asked before anything runs: the agent would only find out inside the program.
    tempfile::NamedTempFile::new_in(directory)
        .with_context(|| format!("cannot write {}; choose another file with -o", directory.display()))?;
    let library = agent_library::unpack()?;
    // In a folder that is gone afterwards: a JVM that ends later than the command must not leave a file there.
    let folder = scratch::directory()?;
    let status_file = folder.path().join("status");
    options.out = with_process_id(&output);
    options.command = command.to_vec();
    options.status = Some(status_file.clone());
    let directory = start.hidden_in.clone().or_else(|| std::env::current_dir().ok());
    let before = directory.map(|directory| Before::of(&directory));
    let (status, ended, stopped) = run(command, &library, options.clone(), start, observer)?;
    if start.hidden_in.is_none() {
        observer.program_ended();
    }
    let own = options.out.clone();
    let left = before.and_then(|before| before.compare(|path| is_trace(path, &own)));

    let text = fs::read_to_string(&status_file).unwrap_or_default();
    let (mut reports, mut damaged) = (Vec::new(), Vec::new());
    for report in line::decode::<Status>(&text, &status_file) {
        match report {
            Ok(report) => reports.push(report),
            Err(error) => damaged.push(error.to_string()),
        }
    }
    reports.sort_by(|one, other| one.trace.cmp(&other.trace));
    let mut recording = Recording {
        status,
        traces: Vec::new(),
        empty: damaged,
        interrupted: 0,
        input: start.input.kept(),
        ended,
        stopped,
    };
    for report in &reports {
        take(&mut recording, &report.trace, report.error.as_deref(), observer);
        let why = match report.ended_by {
            Some(EndedBy::Deadlock) => "deadlock: Ravel ended the program",
            Some(EndedBy::Hang) => "the program hangs: Ravel ended it",
            Some(EndedBy::Idle) => {
                "only idle threads of a pool were left, which the program does not shut down: Ravel ended it"
            }
            None => continue,
        };
        let mut traces = recording.traces.iter_mut();
        if let Some(trace) = traces.find(|trace| trace.path == report.trace) {
            trace.remarks.push(why.to_string());
        }
    }
    let closed: Vec<PathBuf> = reports.into_iter().map(|report| report.trace).collect();
    for left in unclosed(&options.out, &closed) {
        recording.interrupted += 1;
        take(&mut recording, &left, None, observer);
    }
    if let [only] = recording.traces.as_mut_slice()
        && !output.to_string_lossy().contains("%p")
        && fs::rename(&only.path, &output).is_ok()
    {
        only.path = output;
    }
    if let Some(kept) = &recording.input {
        for trace in &mut recording.traces {
            if let Err(error) = ravel_trace::add_input(&trace.path, kept) {
                trace.remarks.push(format!("cannot keep standard input: {error}"));
            }
        }
    }
    let not_restored = files::not_restored(left.as_ref(), command.first().is_some_and(|first| starts_java(first)));
    for trace in &mut recording.traces {
        trace.remarks.extend(not_restored.clone());
        if let Some(left) = left.as_ref().filter(|left| !left.is_empty())
            && let Err(error) = ravel_trace::add_files(&trace.path, left)
        {
            trace
                .remarks
                .push(format!("cannot keep the list of changed files: {error}"));
        }
    }
    Ok(recording)
}

/// The option with which a JVM that somebody else starts records itself: a trace per process.
pub fn jvm_option(output: &Path, mut options: Options) -> Result<String> {
    let output = std::path::absolute(output).context("the output path")?;
    options.out = with_process_id(&output);
    let library = agent_library::unpack()?;
    Ok(agent_option(&library, &options))
}

/// `t.ravel` is `t-%p.ravel` while it is written.
fn with_process_id(output: &Path) -> PathBuf {
    if output.to_string_lossy().contains("%p") {
        return output.to_path_buf();
    }
    let stem = output.file_stem().unwrap_or(OsStr::new("trace")).to_string_lossy();
    let extension = output.extension().unwrap_or(OsStr::new("ravel")).to_string_lossy();
    output.with_file_name(format!("{stem}-%p.{extension}"))
}

/// Whether a file has a name that the traces of a recording have.
fn is_trace(path: &Path, pattern: &Path) -> bool {
    let name = pattern.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some((before, after)) = name.split_once("%p") else {
        return path == pattern;
    };
    let own = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    path.parent() == pattern.parent() && own.starts_with(before) && own.contains(after)
}

/// Traces of this recording that no JVM has closed.
fn unclosed(pattern: &Path, closed: &[PathBuf]) -> Vec<PathBuf> {
    let name = pattern.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some((before, after)) = name.split_once("%p") else {
        return Vec::new();
    };
    let Some(entries) = pattern.parent().and_then(|directory| fs::read_dir(directory).ok()) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let id = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            id.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
                && !closed.contains(path)
        })
        .filter(|path| started_here(path))
        .collect();
    found.sort();
    found
}

/// Only files younger than this process are this recording's.
fn started_here(path: &Path) -> bool {
    let started = fs::metadata("/proc/self").and_then(|own| own.modified());
    match (fs::metadata(path).and_then(|found| found.modified()), started) {
        (Ok(modified), Ok(started)) => modified >= started,
        _ => false,
    }
}

/// The traces of a recording that goes on.
#[derive(Default)]
struct Growing(HashMap<PathBuf, Growth>);

impl Growing {
    /// Events and bytes so far.
    fn look(&mut self, pattern: &Path) -> (u64, u64) {
        for path in unclosed(pattern, &[]) {
            // A file that is gone counts with what was seen of it.
            let _ = self.0.entry(path.clone()).or_default().look(&path);
        }
        let all = || self.0.values();
        (all().map(|g| g.records).sum(), all().map(|g| g.bytes).sum())
    }
}

fn take(recording: &mut Recording, path: &Path, error: Option<&str>, observer: &dyn Observer) {
    match look(path, KEPT_RECORDS, observer) {
        Ok((trace, application)) if application != Some(0) && trace.events > 0 => {
            let mut trace = trace;
            if let Some(error) = error {
                trace.remarks.push(format!("the trace is incomplete: {error}"));
            }
            recording.traces.push(trace);
        }
        Ok((trace, application)) => {
            let reason = match application {
                None => "it was killed before it wrote its events",
                Some(0) => "no application class was loaded",
                Some(_) => "its application classes had no recorded events",
            };
            let reason = error.unwrap_or(reason);
            recording.empty.push(format!("{reason} ({})", trace.classes));
            let _ = fs::remove_file(path);
        }
        Err(problem) => {
            let reason = error.map_or_else(|| format!("{problem:#}"), str::to_string);
            recording.empty.push(reason);
        }
    }
}

/// What the events of a trace come to.
struct Figures {
    events: u64,
    threads: usize,
    shared: Option<usize>,
    warnings: Vec<Warning>,
}

/// Reads a trace through for its figures.
fn count(reader: &mut Reader, path: &Path, observer: &dyn Observer) -> Result<Figures> {
    let (mut events, mut seen) = (0, Vec::<bool>::new());
    let mut touched: Vec<u64> = Vec::new();
    let mut shared = 0;
    let line = observer.begin(Work::Alone);
    while let Some(event) = reader.next_event()? {
        events += 1;
        if events % ASK == 0 {
            line.show(&Progress::Reading { trace: path, events });
            if interrupt::requested() {
                break;
            }
        }
        let thread = event.thread.index();
        if !matches!(event.op, Op::Begin | Op::End { .. }) {
            if seen.len() <= thread {
                seen.resize(thread + 1, false);
            }
            seen[thread] = true;
        }
        if let Some(location) = event.op.location() {
            if touched.len() <= location.index() {
                touched.resize(location.index() + 1, 0);
            }
            let cell = &mut touched[location.index()];
            let me = thread as u64 + 1;
            if *cell == 0 {
                *cell = me;
            } else if *cell != me && *cell != u64::MAX {
                *cell = u64::MAX;
                shared += 1;
            }
        }
    }
    Ok(Figures {
        events,
        threads: seen.iter().filter(|seen| **seen).count(),
        shared: Some(shared),
        warnings: reader.warnings().to_vec(),
    })
}

/// The figures of a trace. Those of one that has more than so many records come from its footer: reading it takes long, and
/// shows only the number of shared cells besides, which the recorder does not count. With them comes how many application classes
/// were loaded; none if the trace was not closed, so that it is not known.
fn look(path: &Path, most: u64, observer: &dyn Observer) -> Result<(RecordedTrace, Option<u64>)> {
    let mut reader = Reader::open(path, ReadOptions::default())?;
    let counted = reader.figures().filter(|_| reader.records() > most);
    let figures = match counted {
        Some(counted) => Figures {
            events: counted.events,
            threads: counted.threads,
            shared: None,
            warnings: counted.warnings,
        },
        None => count(&mut reader, path, observer)?,
    };
    let footer = reader.footer().cloned().unwrap_or_default();
    let total = |list: &[(String, u64)]| list.iter().map(|(_, count)| count).sum::<u64>();
    let reasons = |list: &[(String, u64)]| {
        let words: Vec<String> = list.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        if words.is_empty() {
            String::new()
        } else {
            format!(" ({})", words.join(", "))
        }
    };
    let classes = match reader.footer() {
        None => "the number of instrumented classes is unknown".to_string(),
        Some(_) => format!(
            "{} classes instrumented, {} skipped{}, {} failed{}",
            footer.classes_instrumented,
            total(&footer.classes_skipped),
            reasons(&footer.classes_skipped),
            total(&footer.classes_failed),
            reasons(&footer.classes_failed),
        ),
    };
    let mut remarks: Vec<String> = figures.warnings.iter().map(ToString::to_string).collect();
    if !footer.methods_left_alone.is_empty() {
        remarks.push(format!("methods skipped:{}", reasons(&footer.methods_left_alone)));
    }
    let unfocused: Vec<String> = footer
        .counts
        .iter()
        .filter_map(|(name, _)| name.strip_prefix(ravel_agent::UNFOCUSED).map(str::to_string))
        .collect();
    if !unfocused.is_empty() {
        remarks.push(format!(
            "the focus plan does not cover {} loaded class(es) ({}), so findings may be missing; run `ravel own` again",
            unfocused.len(),
            unfocused.iter().take(3).cloned().collect::<Vec<_>>().join(", "),
        ));
    }
    if footer.ended.as_str() != "exit" {
        remarks.push(format!("the recording ended early: {}", footer.ended.as_str()));
    }
    if footer.back_pressure_nanos > 10_000_000 {
        remarks.push(format!(
            "threads waited {} ms for the writer",
            footer.back_pressure_nanos / 1_000_000
        ));
    }
    let application = reader.footer().map(|footer| {
        let mut counts = footer.counts.iter();
        let counted = counts.find(|(name, _)| name == "application classes");
        counted.map_or(figures.events.min(1), |(_, count)| *count)
    });
    let trace = RecordedTrace {
        path: path.to_path_buf(),
        bytes: reader.file_size(),
        events: figures.events,
        threads: figures.threads,
        shared: figures.shared,
        classes,
        remarks,
        unfocused,
    };
    Ok((trace, application))
}

/// Starts the command with the agent and waits for it. Ctrl-C reaches it through the terminal; Ravel waits and reports.
/// Says how the command ended, when Ravel ended it if it did, and whether the user asked to stop.
fn run(
    command: &[String],
    library: &Path,
    mut options: Options,
    start: &Start,
    observer: &dyn Observer,
) -> Result<(ExitStatus, Option<EndAfter>, bool)> {
    let (program, arguments) = command.split_first().context("no command: put it after --")?;
    let scratch = scratch::directory()?;
    let mut child = Command::new(program);
    if starts_java(program) {
        options.tied = true;
        // No message about picked-up options, and no agent in JVMs that the program itself starts by other means.
        child.args(jvm_options(library, &options));
    } else {
        let origin = scratch.path().join("origin");
        let directory = std::env::current_dir().unwrap_or_default();
        fs::write(&origin, surroundings(&directory, std::env::vars_os())).context("a temporary file")?;
        options.origin = Some(origin);
        options.roll = Some(scratch.path().join("roll"));
        add_agent(
            &mut child,
            std::env::var("JAVA_TOOL_OPTIONS").ok(),
            library,
            &options,
            &[],
        );
    }
    child.args(arguments);
    start.input.set(&mut child)?;
    if let Some(directory) = &start.hidden_in {
        child.current_dir(directory).stdout(Stdio::null()).stderr(Stdio::null());
    }
    let phase = RecordingPhase::begin();
    let mark = options.status.as_deref().unwrap_or(scratch.path()).to_string_lossy();
    let mut family = Family::announce(false, &mark);
    let mut child = child.spawn().with_context(|| format!("cannot start {program}"))?;
    family.started(child.id());
    let _feeding = start.input.feed(&mut child);
    let began = Instant::now();
    let (mut asked, mut ended) = (None::<Instant>, None);
    let mut growing = Growing::default();
    let line = observer.begin(Work::BesideProgram);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        match asked {
            None if phase.is_over() => {
                observer.remark("interrupted; waiting for the program to end (interrupt again to end at once)");
                // A signal to Ravel alone goes on to the program, as it would without Ravel.
                family.ask();
                asked = Some(Instant::now());
            }
            // The whole job is to stop, and has no time to wait for a program that does not.
            Some(when) if interrupt::requested() && when.elapsed() >= SHORT_GRACE => family.end(),
            _ => {}
        }
        if let Some(limit) = start.end_after {
            if ended.is_none() && began.elapsed() >= limit.time {
                family.ask_all();
                ended = Some(limit);
            } else if ended.is_some() && began.elapsed() >= limit.time + GRACE {
                family.end();
            }
        }
        if line.is_due() {
            let (events, bytes) = growing.look(&options.out);
            line.show(&Progress::Recording { events, bytes });
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    drop((line, phase));
    Ok((status, ended, asked.is_some()))
}

#[cfg(test)]
mod tests {
    use ravel_trace::raw::{RawKind, RawRecord};
    use ravel_trace::{Footer, Header, ThreadId, Writer};

    use super::*;
    use crate::observer::Silent;

    #[test]
    fn the_figures_of_a_long_trace_come_from_its_footer() {
        let file = scratch::file().expect("a file");
        let mut writer = Writer::create(file.path(), &Header::default()).expect("a trace");
        for thread in 0..3 {
            let mut records = vec![RawRecord::new(RawKind::Begin, 0, 0, 0, u64::from(thread))];
            for position in 1..4 {
                let inner = RawRecord::new(RawKind::Acquire, 0, position, 1, u64::from(10 * thread + position));
                records.push(inner);
                records.push(RawRecord::new(RawKind::Write, 0, position, 7, 0));
            }
            records.truncate(if thread == 2 { 1 } else { records.len() });
            writer.buffer(ThreadId(thread), &records).expect("written");
        }
        writer.finish(&Footer::default()).expect("written");
        let look = |most: u64| look(file.path(), most, &Silent).expect("a trace").0;
        let (counted, read) = (look(0), look(u64::MAX));
        assert_eq!((read.events, read.threads, read.shared), (11, 2, Some(1)));
        assert_eq!((counted.events, counted.threads, counted.shared), (11, 2, None));
        assert_eq!(counted.remarks, read.remarks);
        assert!(!read.remarks.is_empty(), "the remarks name threads that did not end");
    }
}
