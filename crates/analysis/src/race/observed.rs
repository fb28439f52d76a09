//! Races of the recorded run: epochs over the full order (FastTrack, Flanagan and Freund, PLDI 2009).
//!
//! **Departures.** All races, each pair of sites once, not only the first of a location: once a location has raced, the
//! last read and the last write of every thread are kept instead of epochs. A repeated access in the same epoch is
//! skipped only if it comes from the same site.
//!
//! **Promise.** Accesses reported are unordered by locks and hard order in the recorded run. If the two threads did
//! nothing else between them the trace itself has the race and the evidence is `witnessed`; else it is `predicted`, as
//! only the very first unordered pair of a run is sure to be feasible. Misses: of several accesses by one thread that
//! race with one of another, the last of each kind is reported here; [`predicted`](super::predicted) finds the rest.
//!
//! **Cost.** Constant time per access while a location has not raced and is not read by several threads at once, else
//! the number of threads; about 90 bytes per location.

use crate::engine::{Access, Analysis, Context, Needs};
use crate::finding::{Evidence, Rule};
use crate::order::Moment;
use crate::raw::{Point, RawReport, RawStep};
use ravel_trace::{Event, LocationId, SiteId};
use rustc_hash::FxHashSet;

#[derive(Clone, Copy, Debug)]
struct Past {
    point: Point,
    time: u32,
}

impl Past {
    fn moment(&self) -> Moment {
        Moment {
            thread: self.point.thread,
            time: self.time,
        }
    }
}

#[derive(Debug, Default)]
struct Cell {
    write: Option<Past>,
    read: Option<Past>,
    /// Concurrent reads, and after a race everyone's last read and write.
    many: Option<Box<Many>>,
}

#[derive(Debug, Default)]
struct Many {
    reads: Vec<Past>,
    writes: Vec<Past>,
    raced: bool,
}

/// The analysis.
#[derive(Debug, Default)]
pub struct Observed {
    cells: Vec<Cell>,
    latest: Vec<u64>,
    pairs: FxHashSet<(SiteId, SiteId, LocationId)>,
    reports: Vec<RawReport>,
}

fn keep(list: &mut Vec<Past>, past: Past) {
    match list.iter_mut().find(|p| p.point.thread == past.point.thread) {
        Some(old) => *old = past,
        None => list.push(past),
    }
}

impl Observed {
    fn touch(&mut self, thread: usize, index: u64) -> u64 {
        if self.latest.len() <= thread {
            self.latest.resize(thread + 1, u64::MAX);
        }
        std::mem::replace(&mut self.latest[thread], index)
    }

    fn race(&mut self, access: &Access, past: &Past, previous: u64) {
        let (a, b) = (
            past.point.site.min(access.point.site),
            past.point.site.max(access.point.site),
        );
        let unknown = a == SiteId(0) || b == SiteId(0);
        let told_by = if unknown { access.location } else { LocationId(u32::MAX) };
        if !self.pairs.insert((a, b, told_by)) {
            return;
        }
        // Neither thread did anything between the two: the trace itself has them side by side.
        let adjacent = self.latest.get(past.point.thread.index()) == Some(&past.point.index)
            && (previous == u64::MAX || previous < past.point.index);
        let step = |point| RawStep {
            point,
            location: Some(access.location),
            lock: None,
            owner: None,
        };
        self.reports.push(RawReport {
            analysis: "race",
            rule: Rule::DataRace,
            evidence: if adjacent {
                Evidence::Witnessed
            } else {
                Evidence::Predicted
            },
            pattern: super::predicted::pattern(past.point.kind, access.point.kind),
            steps: vec![step(past.point), step(access.point)],
            observed: adjacent,
        });
    }

    fn slow(&mut self, cx: &Context<'_>, access: &Access, now: Moment, previous: u64) {
        let mut cell = std::mem::take(&mut self.cells[access.location.index()]);
        let clock = &cx.state.order.of(now.thread).full;
        let mut raced = false;
        let mut check = |analysis: &mut Observed, past: &Past| {
            if past.point.thread != now.thread && !clock.knows(past.moment()) {
                analysis.race(access, past, previous);
                raced = true;
            }
        };
        match &cell.many {
            Some(many) if many.raced => {
                many.writes.iter().for_each(|p| check(self, p));
                if access.writes() {
                    many.reads.iter().for_each(|p| check(self, p));
                }
            }
            many => {
                if let Some(write) = &cell.write {
                    check(self, write);
                }
                if access.writes() {
                    cell.read.iter().for_each(|p| check(self, p));
                    many.iter().for_each(|m| m.reads.iter().for_each(|p| check(self, p)));
                }
            }
        }
        let past = Past {
            point: access.point,
            time: now.time,
        };
        if raced && !cell.many.as_ref().is_some_and(|m| m.raced) {
            let mut many = cell.many.take().unwrap_or_default();
            many.raced = true;
            cell.write.iter().for_each(|w| keep(&mut many.writes, *w));
            cell.read.iter().for_each(|r| keep(&mut many.reads, *r));
            cell.many = Some(many);
        }
        if let Some(many) = cell.many.as_mut().filter(|m| m.raced) {
            if access.writes() {
                keep(&mut many.writes, past);
            }
            if access.reads() {
                keep(&mut many.reads, past);
            }
        }
        if access.writes() {
            cell.write = Some(past);
            cell.read = None;
            cell.many = cell.many.filter(|m| m.raced);
        } else {
            Self::remember_read(&mut cell, past, clock);
        }
        self.cells[access.location.index()] = cell;
    }

    fn remember_read(cell: &mut Cell, past: Past, clock: &crate::order::Clock) {
        if let Some(many) = &mut cell.many {
            keep(&mut many.reads, past);
            cell.read = Some(past);
            return;
        }
        if let Some(read) = cell
            .read
            .filter(|r| r.point.thread != past.point.thread && !clock.knows(r.moment()))
        {
            let reads = vec![read, past];
            cell.many = Some(Box::new(Many {
                reads,
                ..Many::default()
            }));
        }
        cell.read = Some(past);
    }
}

impl Analysis for Observed {
    fn name(&self) -> &'static str {
        "race-observed"
    }

    fn needs(&self) -> Needs {
        Needs {
            full: true,
            ..Needs::default()
        }
    }

    #[inline]
    fn access(&mut self, cx: &Context<'_>, access: &Access) {
        let thread = access.thread();
        let previous = self.touch(thread.index(), access.point.index);
        if access.cell.synchronizing || access.cell.exempt || access.cell.race_free {
            return;
        }
        if self.cells.len() <= access.location.index() {
            self.cells.resize_with(access.location.index() + 1, Cell::default);
        }
        let now = cx.state.order.full_now(thread);
        let cell = &self.cells[access.location.index()];
        let last = if access.writes() { &cell.write } else { &cell.read };
        if let Some(last) = last
            && last.time == now.time
            && last.point.thread == thread
            && last.point.site == access.point.site
            && (!access.writes() || cell.read.is_none())
        {
            return;
        }
        self.slow(cx, access, now, previous);
    }

    fn event(&mut self, _: &Context<'_>, index: u64, event: &Event) {
        self.touch(event.thread.index(), index);
    }

    fn finish(&mut self, _: &Context<'_>) -> Vec<RawReport> {
        std::mem::take(&mut self.reports)
    }
}
