//! The analysis of a trace file: with progress, until the user asks to stop, and with the commands that a report names.

use std::path::Path;
use std::time::Instant;

use ravel_analysis::analyse::{Analysed, analyse_until};
use ravel_analysis::engine::Analysis;
use ravel_analysis::finding::{ClassCounts, Recording};
use ravel_analysis::numbers::count;
use ravel_analysis::timeline::Watched;
use ravel_analysis::units::UnitSettings;
use ravel_trace::{Footer, Source, SourceError, Trace};

use crate::interrupt;
use crate::observer::{Observer, Progress, Work};

/// How finely a report draws the recording.
const TIMELINE_CELLS: usize = 120;

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

/// Analyses a trace with progress and an ear for Ctrl-C, until `deadline` if there is one, and notes when its threads were busy.
pub fn watched(
    name: &str,
    trace: &mut Trace,
    settings: &UnitSettings,
    analyses: Vec<Box<dyn Analysis>>,
    threads: usize,
    deadline: Option<Instant>,
    observer: &dyn Observer,
) -> (Analysed, Recording) {
    interrupt::listen();
    let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let is_over = || interrupt::requested() || is_late();
    let total = trace.reader().records().max(1);
    let line = observer.begin(Work::Alone);
    let mut go_on = |events: u64| {
        line.show(&Progress::Analysing {
            trace: name,
            events,
            total,
        });
        !is_over()
    };
    let mut source = Watched::new(trace, TIMELINE_CELLS, &mut go_on);
    let mut analysed = analyse_until(&is_over, threads, &mut source, settings, analyses);
    let recording = source.timeline().recording(name, source.names());
    if (source.stopped() || analysed.stopped) && analysed.error.is_none() {
        let events = count(analysed.events, "event");
        let why = match interrupt::requested() {
            true => "interrupted",
            false => "half of the time ran out (--budget)",
        };
        analysed.error = Some(SourceError(format!("{name}: {why} after {events}")));
    }
    (analysed, recording)
}

/// Adds the classes that a footer counts.
pub fn add_classes(counts: &mut ClassCounts, footer: Option<&Footer>) {
    let Some(footer) = footer else { return };
    let sum = |list: &[(String, u64)]| list.iter().map(|(_, n)| n).sum::<u64>();
    counts.instrumented += footer.classes_instrumented;
    counts.skipped += sum(&footer.classes_skipped);
    counts.failed += sum(&footer.classes_failed);
}
