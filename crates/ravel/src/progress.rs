//! Progress, on standard error. A terminal shows one line for work that takes longer than a second, and the line disappears
//! when the work is done. A file or a build server's log gets a line every ten seconds. A job is many pieces of work, and counts and
//! times go on from one to the next: a reader never sees them start again.

use std::fs;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ravel_prove::observer::{Observer, Progress, ProgressLine, Work};
use ravel_report::{layout, words};

/// Work that is done sooner needs no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// The line is drawn again after this long.
const PAUSE: Duration = Duration::from_millis(200);
/// A log gets a line after this long, and again.
const LOGGED: Duration = Duration::from_secs(10);
/// Narrower than terminals are by default, because a line that wraps cannot be cleared.
const COLUMNS: usize = 78;

static QUIET: AtomicBool = AtomicBool::new(false);

/// Turns progress off.
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

/// What the pieces of work before this one did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Done {
    /// Findings that were tried.
    tried: usize,
    /// Findings that happened.
    happened: usize,
    /// Orders that were begun.
    orders: usize,
    /// When the first finding or order was tried.
    since: Option<Instant>,
    /// When a log got its last line, or its first piece of work began.
    logged: Option<Instant>,
}

static DONE: Mutex<Done> = Mutex::new(Done {
    tried: 0,
    happened: 0,
    orders: 0,
    since: None,
    logged: None,
});

fn done() -> MutexGuard<'static, Done> {
    DONE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Done {
    /// The counts with those of a piece of work added.
    fn with(mut self, progress: &Progress<'_>) -> Done {
        match *progress {
            Progress::Exploring { begun, .. } => self.orders += begun,
            Progress::Forcing { tried, happened, .. } => {
                self.tried += tried;
                self.happened += happened;
            }
            Progress::Recording { .. }
            | Progress::Reading { .. }
            | Progress::Analysing { .. }
            | Progress::Searching { .. } => {}
        }
        self
    }
}

/// A line of progress; dropping it clears it.
struct Line {
    style: Style,
    /// Drawn below the cursor, because a program writes where the cursor is.
    below: bool,
    begun: Instant,
    last: Mutex<Option<Instant>>,
    /// What was done before.
    before: Done,
    /// What is done now, this piece of work included.
    now: Mutex<Done>,
}

impl Line {
    fn new(work: Work) -> Line {
        let begun = Instant::now();
        done().logged.get_or_insert(begun);
        let before = *done();
        Line {
            style: Style::wanted(),
            below: work == Work::BesideProgram,
            begun,
            last: Mutex::new(None),
            before,
            now: Mutex::new(before),
        }
    }
}

impl ProgressLine for Line {
    fn is_due(&self) -> bool {
        match self.style {
            Style::Quiet => false,
            Style::Drawn => {
                let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
                last.map_or(self.begun.elapsed() >= PATIENCE, |last| last.elapsed() >= PAUSE)
            }
            Style::Logged => done().logged.is_none_or(|last| last.elapsed() >= LOGGED),
        }
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn show(&self, progress: &Progress<'_>) {
        let since = match progress {
            Progress::Exploring { .. } | Progress::Forcing { .. } => *done().since.get_or_insert(self.begun),
            _ => self.begun,
        };
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = self.before.with(progress);
        if !self.is_due() {
            return;
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let text = words_of(progress, &self.before, since.elapsed());
        if self.style == Style::Logged {
            done().logged = Some(Instant::now());
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
        let now = *self.now.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut done = done();
            (done.tried, done.happened, done.orders) = (now.tried, now.happened, now.orders);
        }
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some() && self.style == Style::Drawn {
            write(if self.below { "\x1b[J" } else { "\r\x1b[K" });
        }
    }
}

/// A closed terminal does not stop the job.
fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Shows the remarks and the progress of a job on the terminal.
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

fn words_of(progress: &Progress<'_>, before: &Done, elapsed: Duration) -> String {
    let done = before.with(progress);
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
        Progress::Exploring { total, .. } => {
            let total = before.orders + total;
            format!("trying other orders: {} of {total}, {seconds:.0} s", done.orders)
        }
        Progress::Searching { runs } => format!("exploring: up to {runs} runs in one JVM"),
        Progress::Forcing { total, current, .. } => {
            let current = format!("{} of {}", words::rule(current.rule), words::variables(current));
            let (tried, total, happened) = (done.tried, before.tried + total, done.happened);
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

/// Starts a new line, even if the program's last line has no end.
fn fresh_line() {
    let mut out = io::stderr();
    if out.is_terminal() {
        // The column of the cursor is unknown. A row of blanks either fills this line invisibly, or continues on the next one.
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

    fn line(style: Style, age: Duration) -> Line {
        let begun = Instant::now().checked_sub(age).expect("the machine runs longer");
        done().logged = Some(begun);
        let mut line = Line::new(Work::Alone);
        (line.style, line.begun) = (style, begun);
        line
    }

    #[test]
    fn a_log_gets_a_line_every_ten_seconds_and_counts_never_start_again() {
        let due = |style, age| line(style, Duration::from_secs(age)).is_due();
        assert!(due(Style::Drawn, 2) && due(Style::Logged, 11));
        assert!(!due(Style::Logged, 9) && !due(Style::Quiet, 60));
        let logged = line(Style::Logged, Duration::from_secs(60));
        logged.show(&Progress::Exploring { begun: 1, total: 2 });
        assert!(!logged.is_due());
        assert!(
            !Line::new(Work::Alone).is_due(),
            "the next piece of work goes on waiting"
        );
        drop(logged);
        let next = Line::new(Work::Alone);
        let progress = Progress::Exploring { begun: 1, total: 3 };
        let words = words_of(&progress, &next.before, Duration::from_secs(7));
        assert_eq!(words, "trying other orders: 2 of 4, 7 s");
    }
}
