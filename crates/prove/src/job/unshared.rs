//! A second recording of a long program, with what the first one left out.
//!
//! A recording leaves out what a thread does to an object before a second thread comes to it. If the object is handed over first and changed
//! afterwards, half of the race is missing. Of a short program the first explored run has everything. A long one is recorded
//! again here: every access, but only to the fields whose other half may be missing, so that the trace stays short. All synchronisation
//! is in it, also that on objects of one thread.
//!
//! Only findings that then happen in a forced run are reported. Arrays are not looked at: their elements have no field to choose by.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use ravel_agent::options::Options;
use ravel_trace::names::{Location, Names, flags};
use ravel_trace::origin::is_platform;
use ravel_trace::{Failure, FailureKind, FieldId, Header, Op, Source as _, ThreadId, Trace};

use super::Job;
use super::explore::{LARGEST, LONGEST, LookedFor};
use super::record::with_suffix;
use crate::interrupt;
use crate::jvm::JvmRunner;

/// Most of what a closer look predicts cannot happen, since it knows no values: forced runs get one part in so many of the time that is left.
const SHARE: u32 = 3;
/// The most fields that are recorded.
const MOST_FIELDS: usize = 64;
/// Sites at which a field is accessed outside of constructors: with one alone nothing conflicts but what constructors do.
const LEAST_SITES: u32 = 2;
/// Fields that no two threads race on.
const ORDERED: u16 = flags::VOLATILE | flags::FINAL;

impl Job<'_> {
    /// Records the programs of long traces once more and forces what is new.
    pub(super) fn look_at_unshared(&mut self, traces: &[PathBuf], output: &Path) -> Result<()> {
        let stands_still = |failure: &Failure| failure.kind == FailureKind::Standstill;
        let hopeless = self.recorded_failures.iter().any(stands_still);
        if self.program_time() > LONGEST || self.most_threads <= 1 || hopeless {
            return Ok(());
        }
        interrupt::listen();
        for (number, path) in traces.iter().enumerate() {
            // The rest of the time is for the forced runs.
            let time = self.left() / 2;
            if time < Duration::from_secs(1) || interrupt::requested() {
                break;
            }
            let mut trace = Trace::open(path, self.reading())?;
            if has_unshared(trace.reader().header()) {
                continue;
            }
            let Ok(mut program) = JvmRunner::of(trace.reader(), self.settings.budget.run) else {
                // Forcing the findings has said so.
                continue;
            };
            let fields = half_recorded(&mut trace)?;
            drop(trace);
            if fields.is_empty() {
                continue;
            }
            program.keep_short(LARGEST);
            program.end_by(Instant::now() + time);
            let kept = with_suffix(output, &format!("unshared-{}", number + 1));
            if !program.record_fields(fields, &kept)? {
                continue;
            }
            let others = std::mem::replace(&mut self.open_traces, SHARE);
            let shows = Trace::open(&kept, self.reading())
                .map_err(anyhow::Error::from)
                .and_then(|trace| self.look_at(&kept, trace, LookedFor::Confirmed));
            self.open_traces = others;
            if !shows.unwrap_or(false) {
                let _ = std::fs::remove_file(&kept);
            }
        }
        Ok(())
    }
}

/// Whether a recording left nothing out because one thread had it for itself.
fn has_unshared(header: &Header) -> bool {
    let agent = header.options.iter().find(|(name, _)| name == "agent");
    agent.is_some_and(|(_, text)| Options::parse(text).is_ok_and(|options| options.keep_unshared))
}

/// What is known of a cell, and of a field: the most of its cells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
enum Recorded {
    /// No access.
    #[default]
    Nothing,
    /// Accesses that conflict: if one more is missing, the race may be seen without it.
    Conflict,
    /// Accesses that do not conflict with each other: the thread that had the object first may have made others.
    Half,
}

/// One cell.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// The thread that accessed it, plus one; 0 if none has.
    thread: u32,
    several: bool,
    written: bool,
}

/// Fields that may lack one of two conflicting accesses in a recording, as the agent names them. The program's own come first,
/// and those without a recorded conflict before the others.
fn half_recorded(trace: &mut Trace) -> Result<Vec<String>> {
    let mut cells: Vec<Cell> = Vec::new();
    trace.rewind();
    while let Some(event) = trace.next_event()? {
        let (location, writes) = match event.op {
            Op::Read { location, .. } => (location, false),
            Op::Write { location, .. } | Op::Update { location, .. } => (location, true),
            _ => continue,
        };
        let index = location.index();
        if cells.len() <= index {
            cells.resize(index + 1, Cell::default());
        }
        cells[index].add(event.thread, writes);
    }
    let names = trace.names();
    let mut fields = vec![Recorded::default(); names.fields.len()];
    for (cell, location) in cells.iter().zip(&names.locations) {
        let (Location::Field(_, field) | Location::Static(field)) = *location else {
            continue;
        };
        if let Some(known) = fields.get_mut(field.index()) {
            *known = cell.recorded().max(*known);
        }
    }
    Ok(chosen(&fields, names))
}

impl Cell {
    fn add(&mut self, thread: ThreadId, writes: bool) {
        let thread = thread.0 + 1;
        self.several |= self.thread != 0 && self.thread != thread;
        self.thread = thread;
        self.written |= writes;
    }

    fn recorded(self) -> Recorded {
        match self {
            Cell { thread: 0, .. } => Recorded::Nothing,
            Cell {
                several: true,
                written: true,
                ..
            } => Recorded::Conflict,
            _ => Recorded::Half,
        }
    }
}

fn chosen(fields: &[Recorded], names: &Names) -> Vec<String> {
    let mut sites = vec![0u32; fields.len()];
    for site in &names.sites {
        let Some(field) = site.what.field() else { continue };
        let method = names.methods.get(site.method.index());
        if method.is_some_and(|method| method.name.starts_with('<')) {
            continue;
        }
        if let Some(count) = sites.get_mut(field.index()) {
            *count += 1;
        }
    }
    let mut all: Vec<(bool, bool, String)> = Vec::new();
    for (index, known) in fields.iter().enumerate() {
        if *known == Recorded::Nothing || sites[index] < LEAST_SITES {
            continue;
        }
        let field = names.field(FieldId(index as u32));
        if field.flags & ORDERED != 0 {
            continue;
        }
        let class = &names.class(field.class).name;
        let name = format!("{class}.{}", field.name);
        all.push((is_platform(class), *known == Recorded::Conflict, name));
    }
    all.sort_unstable();
    all.dedup_by(|one, other| one.2 == other.2);
    all.truncate(MOST_FIELDS);
    all.into_iter().map(|(_, _, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use ravel_trace::names::{Class, Field, Method, Site};
    use ravel_trace::{ClassId, MethodId};

    use super::*;

    fn cell(accesses: &[(u32, bool)]) -> Recorded {
        let mut cell = Cell::default();
        for (thread, writes) in accesses {
            cell.add(ThreadId(*thread), *writes);
        }
        cell.recorded()
    }

    #[test]
    fn a_cell_without_a_recorded_conflict_may_lack_half_of_one() {
        assert_eq!(cell(&[]), Recorded::Nothing);
        assert_eq!(cell(&[(1, false)]), Recorded::Half);
        assert_eq!(cell(&[(1, true), (1, true)]), Recorded::Half);
        assert_eq!(cell(&[(0, false), (1, false)]), Recorded::Half);
        assert_eq!(cell(&[(0, false), (1, true)]), Recorded::Conflict);
        assert_eq!(cell(&[(0, true), (1, false), (1, false)]), Recorded::Conflict);
    }

    #[test]
    fn fields_that_only_constructors_write_or_that_order_threads_are_left_out() {
        let class = |name: &str| Class {
            name: name.into(),
            ..Class::default()
        };
        let method = |name: &str| Method {
            name: name.into(),
            ..Method::default()
        };
        let field = |class: u32, name: &str, flags: u16| Field {
            class: ClassId(class),
            name: name.into(),
            flags,
            ..Field::default()
        };
        let site = |field: u32, method: u32| Site {
            method: MethodId(method),
            what: ravel_trace::names::SiteKind::Field(FieldId(field)),
            ..Site::default()
        };
        let mut names = Names {
            classes: vec![class("java.util.ArrayList"), class("shop.Box")],
            methods: vec![method("<init>"), method("fill")],
            fields: vec![
                field(0, "size", 0),
                field(1, "both", 0),
                field(1, "half", 0),
                field(1, "made", 0),
                field(1, "flag", flags::VOLATILE),
                field(1, "unseen", 0),
            ],
            ..Names::default()
        };
        names.sites.push(Site::default());
        for index in 0..6 {
            names.sites.extend([site(index, 0), site(index, 1)]);
            if index != 3 {
                names.sites.push(site(index, 1));
            }
        }
        let mut fields = [Recorded::Half; 6];
        fields[1] = Recorded::Conflict;
        fields[5] = Recorded::Nothing;
        let names = chosen(&fields, &names);
        assert_eq!(names, ["shop.Box.half", "shop.Box.both", "java.util.ArrayList.size"]);
    }
}
