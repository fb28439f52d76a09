//! Any trace to STD text. What the format has no word for is left out and counted.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use crate::event::{Event, Mode, Op};
use crate::ids::{LocationId, LockId, ThreadId};
use crate::names::Names;
use crate::source::{Source, SourceError};

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The trace could not be read on.
    #[error(transparent)]
    Read(#[from] SourceError),
    /// The text could not be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

/// What was exported.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ExportSummary {
    /// Lines written.
    pub written: u64,
    /// Events left out.
    pub left_out: u64,
}

/// Writes a trace as STD text.
///
/// Threads, variables and locks keep their names; names that stand for several things get a number behind, so that
/// two things never become one. A read-modify-write becomes a read and a write, a wait a release, its end an
/// acquisition. Shared holds, notifications, other synchronisation, methods and thread begins and ends have no word.
pub fn export(source: &mut dyn Source, out: impl Write) -> Result<ExportSummary, ExportError> {
    let mut exporter = Exporter {
        out,
        threads: Unique::default(),
        locks: Unique::default(),
        locations: Unique::default(),
        summary: ExportSummary::default(),
    };
    while let Some(event) = source.next_event()? {
        exporter.event(&event, source.names())?;
    }
    exporter.out.flush()?;
    Ok(exporter.summary)
}

/// A name of its own for every id.
#[derive(Default)]
struct Unique {
    by_id: Vec<Option<String>>,
    taken: FxHashMap<String, u32>,
}

impl Unique {
    fn name(&mut self, index: usize, make: impl FnOnce() -> String) -> &str {
        if index >= self.by_id.len() {
            self.by_id.resize(index + 1, None);
        }
        let taken = &mut self.taken;
        self.by_id[index].get_or_insert_with(|| {
            // Lines and the thread's bar are the only things a name cannot hold.
            let base = make().replace(['\n', '\r', '|'], "_");
            let base = if base.is_empty() { "?".to_string() } else { base };
            let mut name = base.clone();
            while taken.contains_key(&name) {
                let count = taken.entry(base.clone()).or_insert(1);
                *count += 1;
                name = format!("{base}#{count}");
            }
            taken.insert(name.clone(), 1);
            name
        })
    }
}

struct Exporter<W: Write> {
    out: W,
    threads: Unique,
    locks: Unique,
    locations: Unique,
    summary: ExportSummary,
}

impl<W: Write> Exporter<W> {
    fn event(&mut self, event: &Event, names: &Names) -> io::Result<()> {
        let (thread, place) = (
            event.thread,
            names.sites.get(event.site.index()).map_or(0, |site| site.line),
        );
        match event.op {
            Op::Read { location, .. } => self.access(names, thread, "r", location, place),
            Op::Write { location, .. } => self.access(names, thread, "w", location, place),
            Op::Update { location, .. } => {
                self.access(names, thread, "r", location, place)?;
                self.access(names, thread, "w", location, place)
            }
            Op::Acquire {
                lock,
                mode: Mode::Exclusive,
            }
            | Op::Resume { lock, .. } => self.lock(names, thread, "acq", lock, place),
            Op::Release {
                lock,
                mode: Mode::Exclusive,
            }
            | Op::Wait { lock } => self.lock(names, thread, "rel", lock, place),
            Op::Fork { child } => self.other(names, thread, "fork", child, place),
            Op::Join { child, .. } => self.other(names, thread, "join", child, place),
            Op::UnitBegin => self.line(names, thread, "begin", "", place),
            Op::UnitEnd => self.line(names, thread, "end", "", place),
            _ => {
                self.summary.left_out += 1;
                Ok(())
            }
        }
    }

    fn access(
        &mut self,
        names: &Names,
        thread: ThreadId,
        op: &str,
        location: LocationId,
        place: u32,
    ) -> io::Result<()> {
        let mut locations = std::mem::take(&mut self.locations);
        let result = self.line(
            names,
            thread,
            op,
            locations.name(location.index(), || names.location_name(location)),
            place,
        );
        self.locations = locations;
        result
    }

    fn lock(&mut self, names: &Names, thread: ThreadId, op: &str, lock: LockId, place: u32) -> io::Result<()> {
        let mut locks = std::mem::take(&mut self.locks);
        let result = self.line(
            names,
            thread,
            op,
            locks.name(lock.index(), || names.lock(lock).name.clone()),
            place,
        );
        self.locks = locks;
        result
    }

    fn other(&mut self, names: &Names, thread: ThreadId, op: &str, child: ThreadId, place: u32) -> io::Result<()> {
        let child = self
            .threads
            .name(child.index(), || names.thread(child).name.clone())
            .to_string();
        self.line(names, thread, op, &child, place)
    }

    fn line(&mut self, names: &Names, thread: ThreadId, op: &str, name: &str, place: u32) -> io::Result<()> {
        self.summary.written += 1;
        let thread = self.threads.name(thread.index(), || names.thread(thread).name.clone());
        writeln!(self.out, "{thread}|{op}({name})|{place}")
    }
}
