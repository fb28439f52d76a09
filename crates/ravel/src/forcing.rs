//! Runs the recorded program again under a schedule, and tells what happened.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ravel_agent::options::Options;
use ravel_agent::{DEADLOCK, HANG};
use ravel_schedule::Schedule;
use ravel_trace::names::Names;
use ravel_trace::{Event, Header, Op, ReadOptions, Reader, Source};

use crate::agent_library;

/// How the recorded program is started again.
pub struct Program {
    command: Vec<String>,
    directory: PathBuf,
    environment: Vec<(String, String)>,
    options: Options,
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
    /// Its events and names; none if no trace was left.
    pub trace: Option<(Vec<Event>, Names)>,
}

impl Forced {
    /// Whether every turn was taken.
    pub fn complete(&self) -> bool {
        self.verdict == "complete" || self.deadlock().is_some()
    }

    /// The threads that wait for each other, if they do.
    pub fn deadlock(&self) -> Option<&str> {
        self.verdict
            .strip_prefix("deadlock ")
            .filter(|_| self.status.code() == Some(DEADLOCK))
    }

    /// Whether the run had to be ended.
    pub fn hung(&self) -> bool {
        self.status.code() == Some(HANG) || self.status.code().is_none()
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

impl Program {
    /// The program of a trace, each run of it at most `limit` long.
    pub fn of(header: &Header, limit: Duration) -> Result<Program> {
        let first = header
            .command
            .first()
            .context("the trace does not say which command it is of")?;
        if Path::new(first).file_name().is_none_or(|name| name != "java") {
            bail!(
                "only commands that start java themselves can be forced, not `{first}`: record the java command alone"
            );
        }
        let recorded = header
            .options
            .iter()
            .find(|(name, _)| name == "agent")
            .map_or("", |(_, value)| value);
        let recorded = Options::parse(recorded).unwrap_or_default();
        let options = Options {
            include: recorded.include,
            exclude: recorded.exclude,
            keep_frameworks: recorded.keep_frameworks,
            keep_final: recorded.keep_final,
            keep_repeats: true,
            keep_unshared: true,
            max_time: Some(limit),
            ..Options::default()
        };
        Ok(Program {
            command: header.command.clone(),
            directory: PathBuf::from(&header.directory),
            environment: header.environment.clone(),
            options,
            library: agent_library::unpack()?,
            scratch: tempfile::tempdir().context("a temporary directory")?,
            limit,
        })
    }

    /// Runs it under a schedule; `number` tells runs apart that go on at the same time.
    pub fn force(&self, schedule: &Schedule, number: usize) -> Result<Forced> {
        let place = |name: &str| self.scratch.path().join(format!("{name}-{number}"));
        let (turns, trace, status, output) = (place("turns"), place("trace"), place("status"), place("output"));
        let lines: Vec<String> = schedule
            .segments
            .iter()
            .map(|segment| format!("{} {}\n", schedule.thread(segment).path, segment.until))
            .collect();
        fs::write(&turns, lines.concat()).context("the schedule")?;
        let _ = fs::remove_file(&status);
        let options = Options {
            out: trace.clone(),
            status: Some(status.clone()),
            schedule: Some(turns),
            command: self.command.clone(),
            ..self.options.clone()
        };
        let written = fs::File::create(&output).context("the output")?;
        let mut command = Command::new(&self.command[0]);
        command
            .arg(format!("-agentpath:{}={}", self.library.display(), options.encode()))
            .args(&self.command[1..])
            .current_dir(&self.directory)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(written.try_clone().context("the output")?)
            .stderr(written);
        // Its own group, so that whatever it starts can be ended with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {}", self.command[0]))?;
        let ended = wait(&mut child, self.limit + Duration::from_secs(10))?;
        let line = fs::read_to_string(&status).unwrap_or_default();
        let verdict = line.trim_end().split('\t').nth(3).unwrap_or_default().to_string();
        let result = Forced {
            verdict,
            status: ended,
            output: fs::read(&output).unwrap_or_default(),
            trace: read(&trace).ok(),
        };
        let _ = fs::remove_file(&trace);
        Ok(result)
    }
}

/// Waits for a child; ends it and its group when it takes too long.
fn wait(child: &mut Child, limit: Duration) -> Result<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > limit || crate::interrupt::requested() {
            let _ = Command::new("kill")
                .arg("-KILL")
                .arg("--")
                .arg(format!("-{}", child.id()))
                .status();
            let _ = child.kill();
            return Ok(child.wait()?);
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

fn read(path: &Path) -> Result<(Vec<Event>, Names)> {
    let mut reader = Reader::open(path, ReadOptions { salvage: true })?;
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        if !matches!(event.op, Op::Enter { .. } | Op::Exit { .. }) {
            events.push(event);
        }
    }
    Ok((events, reader.names().clone()))
}
