//! Progress, on standard error. A terminal shows one line for work that takes longer than a second, and the line disappears
//! when the work is done. A file or a build server's log gets a line every ten seconds.

use std::fs;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ravel_prove::observer::{Observer, Progress, ProgressLine, Work};
use ravel_report::{layout, words};

/// Work that is done sooner needs no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// The line is drawn again after this long.
const PAUSE: Duration = Duration::from_millis(200);
/// A log gets a line after this long, and again.
const LOGGED: Duration = Duration::from_secs(10);
/// Wider than any terminal is by default; a line that wraps could not be cleared.
const COLUMNS: usize = 78;

static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on no progress is shown.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// How progress is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// One line that is drawn again and again.
    Drawn,
    /// A line now and then.
    Logged,
    /// Not at all.
    Quiet,
}

impl Style {
    fn wanted() -> Style {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        match (QUIET.load(Ordering::Relaxed), std::io::stderr().is_terminal() && !dumb) {
            (true, _) => Style::Quiet,
            (false, true) => Style::Drawn,
            (false, false) => Style::Logged,
        }
    }
}

/// A line of progress; dropping it clears it.
struct Line {
    style: Style,
    /// Drawn below the cursor, because a program writes where the cursor is.
    below: bool,
    begun: Instant,
    last: Mutex<Option<Instant>>,
}

impl Line {
    fn new(work: Work) -> Line {
        Line {
            style: Style::wanted(),
            below: work == Work::BesideProgram,
            begun: Instant::now(),
            last: Mutex::new(None),
        }
    }
}

impl ProgressLine for Line {
    fn is_due(&self) -> bool {
        let (first, pause) = match self.style {
            Style::Quiet => return false,
            Style::Drawn => (PATIENCE, PAUSE),
            Style::Logged => (LOGGED, LOGGED),
        };
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.map_or(self.begun.elapsed() >= first, |last| last.elapsed() >= pause)
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn show(&self, progress: &Progress<'_>) {
        if !self.is_due() {
            return;
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let text = words_of(progress, self.elapsed());
        if self.style == Style::Logged {
            write(&format!("ravel: {}\n", layout::clean(&text)));
            return;
        }
        let text = layout::cut(&layout::clean(&text), COLUMNS, "..");
        let drawn = if self.below {
            // Clear behind the cursor, make sure that there is a line below, write there, and come back.
            format!("\x1b[J\x1bD\x1bM\x1b7\x1bE\x1b[2m{text}\x1b[0m\x1b8")
        } else {
            format!("\r\x1b[K\x1b[2m{text}\x1b[0m")
        };
        write(&drawn);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some() && self.style == Style::Drawn {
            write(if self.below { "\x1b[J" } else { "\r\x1b[K" });
        }
    }
}

/// A terminal that has gone away is no reason to stop.
fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Shows on the terminal what a job lets its user see.
pub struct Terminal;

impl Observer for Terminal {
    fn remark(&self, text: &str) {
        eprintln!("ravel: {text}");
    }

    fn program_ended(&self) {
        fresh_line();
    }

    fn begin(&self, work: Work) -> Box<dyn ProgressLine + '_> {
        Box::new(Line::new(work))
    }
}

fn words_of(progress: &Progress<'_>, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    match *progress {
        Progress::Recording { events, bytes } => {
            let rate = round((events as f64 / seconds) as u64);
            let (events, bytes) = (round(events), size(bytes));
            format!("recording: {seconds:.0} s, {events} events ({rate} a second), {bytes}")
        }
        Progress::Reading { trace, events } => format!("reading {}: {} events", trace.display(), round(events)),
        Progress::Analysing { trace, events, total } => {
            let percent = (events * 100 / total.max(1)).min(100);
            format!("analysing {trace}: {percent} % of {} events", round(total))
        }
        Progress::Exploring { begun, total } => {
            format!("trying other orders: {begun} of {total}, {seconds:.0} s")
        }
        Progress::Searching { runs } => format!("exploring: up to {runs} runs in one JVM"),
        Progress::Forcing {
            tried,
            total,
            happened,
            current,
        } => {
            let current = format!("{} of {}", words::rule(current.rule), words::variables(current));
            format!("forcing: {tried} of {total} tried, {happened} happened, {seconds:.0} s; now {current}")
        }
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

/// Has Ravel's next words begin on a line of their own, even if the program left one without an end.
fn fresh_line() {
    let mut out = io::stderr();
    if out.is_terminal() {
        // Nobody knows where the cursor is. A line of blanks either fills this line, and nothing is seen of it, or goes on
        // into the next one.
        let width = rustix::termios::tcgetwinsize(&out).map_or(80, |size| usize::from(size.ws_col).clamp(1, 1000));
        let _ = write!(out, "{}\r\x1b[K", " ".repeat(width));
    } else if let Ok(mut file) = fs::File::open("/proc/self/fd/2")
        && file.metadata().is_ok_and(|found| found.is_file())
    {
        let mut last = [b'\n'];
        if file.seek(SeekFrom::End(-1)).is_ok() && file.read_exact(&mut last).is_ok() && last != [b'\n'] {
            let _ = writeln!(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(style: Style, age: Duration) -> Option<Line> {
        Some(Line {
            style,
            below: false,
            begun: Instant::now().checked_sub(age)?,
            last: Mutex::new(None),
        })
    }

    #[test]
    fn a_log_gets_a_line_every_ten_seconds_and_a_quiet_run_none() {
        let due = |style, age| line(style, Duration::from_secs(age)).is_none_or(|line| line.is_due());
        assert!(due(Style::Drawn, 2) && due(Style::Logged, 11));
        assert!(!line(Style::Logged, Duration::from_secs(9)).is_some_and(|line| line.is_due()));
        assert!(!line(Style::Quiet, Duration::from_secs(60)).is_some_and(|line| line.is_due()));
        if let Some(logged) = line(Style::Logged, Duration::from_secs(60)) {
            logged.show(&Progress::Exploring { begun: 1, total: 2 });
            assert!(!logged.is_due());
        }
    }
}
