//! What a job lets its user see while it goes on. The command line draws it on a terminal; tests ignore it.

use std::path::Path;
use std::time::Duration;

use ravel_analysis::finding::Finding;

/// Receives remarks and progress.
pub trait Observer: Sync {
    /// A remark for the user that is no part of the report.
    fn remark(&self, text: &str);

    /// The recorded program has ended: it may have left a line without an end on the terminal.
    fn program_ended(&self) {}

    /// Work begins that may take a while. Its line is gone when it is dropped.
    fn begin(&self, work: Work) -> Box<dyn ProgressLine + '_>;
}

/// Whether the recorded program writes to the same terminal while the work goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// The program runs and may write.
    BesideProgram,
    /// Only Ravel writes.
    Alone,
}

/// The progress of one piece of work.
pub trait ProgressLine: Sync {
    /// Whether it is time to show something again: what is expensive to find out is asked for only then.
    fn is_due(&self) -> bool;

    /// How long the work has taken so far.
    fn elapsed(&self) -> Duration;

    /// Shows how far the work is.
    fn show(&self, progress: &Progress<'_>);
}

/// How far a piece of work is.
#[derive(Debug)]
pub enum Progress<'p> {
    /// A program is recorded.
    Recording {
        /// Events so far.
        events: u64,
        /// Bytes of trace so far.
        bytes: u64,
    },
    /// A trace is read.
    Reading {
        /// Which.
        trace: &'p Path,
        /// Events so far.
        events: u64,
    },
    /// A trace is analysed.
    Analysing {
        /// What it is called.
        trace: &'p str,
        /// Events so far.
        events: u64,
        /// All of them.
        total: u64,
    },
    /// The program is run in orders that were not recorded.
    Exploring {
        /// Orders begun.
        begun: usize,
        /// All of them.
        total: usize,
    },
    /// The program is run again and again inside one JVM.
    Searching {
        /// At most so often.
        runs: u32,
    },
    /// Findings are forced.
    Forcing {
        /// Findings that were tried.
        tried: usize,
        /// All of them.
        total: usize,
        /// Findings that happened.
        happened: usize,
        /// The finding that is being forced.
        current: &'p Finding,
    },
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn remark(&self, _: &str) {}

    fn begin(&self, _: Work) -> Box<dyn ProgressLine + '_> {
        Box::new(Silent)
    }
}

impl ProgressLine for Silent {
    fn is_due(&self) -> bool {
        false
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn show(&self, _: &Progress<'_>) {}
}
