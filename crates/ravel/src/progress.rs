//! One line on standard error that says what is going on, for everything that takes longer than a second. Only on a
//! terminal, and gone when the work is done: nothing of it reaches a file or a build server's log.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ravel_analysis::finding::{Evidence, Finding};
use ravel_report::{layout, words};

/// Work that is done sooner needs no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// The line is drawn again after this long.
const PAUSE: Duration = Duration::from_millis(200);
/// Wider than any terminal is by default; a line that wraps could not be cleared.
const COLUMNS: usize = 78;

static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on no progress is shown.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// A line of progress; dropping it clears it.
pub struct Progress {
    shown: bool,
    /// Drawn below the cursor, because a program writes where the cursor is.
    below: bool,
    begun: Instant,
    last: Mutex<Option<Instant>>,
}

impl Progress {
    /// For work during which nobody else writes to the terminal.
    pub fn new() -> Progress {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        Progress {
            shown: std::io::stderr().is_terminal() && !dumb && !QUIET.load(Ordering::Relaxed),
            below: false,
            begun: Instant::now(),
            last: Mutex::new(None),
        }
    }

    /// For the time in which a program writes to the same terminal: what it wrote stays as it is.
    pub fn below_output() -> Progress {
        let mut progress = Progress::new();
        progress.below = true;
        progress
    }

    /// How long the work has taken so far.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Whether it is time to say something again.
    pub fn is_due(&self) -> bool {
        if !self.shown || self.begun.elapsed() < PATIENCE {
            return false;
        }
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_none_or(|last| last.elapsed() >= PAUSE)
    }

    /// Draws the line, if it is due.
    pub fn say(&self, text: impl FnOnce() -> String) {
        if !self.is_due() {
            return;
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let text = layout::cut(&layout::clean(&text()), COLUMNS, "..");
        let drawn = if self.below {
            // Clear behind the cursor, make sure that there is a line below, write there, and come back.
            format!("\x1b[J\x1bD\x1bM\x1b7\x1bE\x1b[2m{text}\x1b[0m\x1b8")
        } else {
            format!("\r\x1b[K\x1b[2m{text}\x1b[0m")
        };
        write(&drawn);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some() {
            write(if self.below { "\x1b[J" } else { "\r\x1b[K" });
        }
    }
}

/// A terminal that has gone away is no reason to stop.
fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// What the prover tells of its work.
pub enum Forcing<'f> {
    /// A finding is being forced.
    Begins(&'f Finding),
    /// It was tried.
    Ended(&'f Finding),
}

/// Turns what the prover tells into a line.
pub struct ForcingLine {
    progress: Progress,
    total: usize,
    state: Mutex<(usize, usize, String)>,
}

impl ForcingLine {
    /// For so many findings.
    pub fn new(total: usize) -> ForcingLine {
        ForcingLine {
            progress: Progress::new(),
            total,
            state: Mutex::new((0, 0, String::new())),
        }
    }

    /// Takes note, and draws.
    pub fn take(&self, event: &Forcing<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Forcing::Begins(finding) => {
                state.2 = format!("{} of {}", words::rule(finding.rule), words::variables(finding))
            }
            Forcing::Ended(finding) => {
                state.0 += 1;
                state.1 += usize::from(finding.evidence >= Evidence::Confirmed);
            }
        }
        let (done, happened, current) = &*state;
        self.progress.say(|| {
            format!(
                "forcing: {done} of {} tried, {happened} happened, {} s; now {current}",
                self.total,
                self.progress.elapsed().as_secs(),
            )
        });
    }
}

/// A count for people who watch it change: `812`, `12.3 k`, `4.1 M`.
pub fn round(n: u64) -> String {
    match n {
        0..10_000 => n.to_string(),
        10_000..1_000_000 => format!("{:.1} k", n as f64 / 1e3),
        _ => format!("{:.1} M", n as f64 / 1e6),
    }
}

/// Bytes for people.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
