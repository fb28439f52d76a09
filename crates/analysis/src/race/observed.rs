//! Races of the recorded run: epochs over the full order (FastTrack, Flanagan and Freund, PLDI 2009).
//!
//! **Departures.** All races, each pair of sites once, not only the first of a location: once a location has raced, the
//! last read and the last write of every thread are kept instead of epochs.
//!
//! **Promise.** Accesses reported are unordered by locks and hard order in the recorded run. If the two threads did
//! nothing else between them the trace itself has the race and the evidence is `witnessed`; else it is `predicted`, as
//! only the very first unordered pair of a run is sure to be feasible. Misses: of several accesses by one thread that
//! race with one of another, the last of each kind is reported here; [`predicted`](super::predicted) finds the rest.
//!
//! As `race-unordered` every unordered pair is `witnessed`: for a recording of a JVM that was running before, in which nothing is forced, so that whether
//! another order of these steps can be had is never asked. By the memory model of Java two conflicting accesses that nothing orders are a race of that run.
//!
//! **Cost.** Constant time per access while a location has not raced and is not read by several threads at once, else
//! the number of threads; about 90 bytes per location; each access looks at 20 of them.

use crate::engine::{Access, Analysis, Context, Happened, Needs, View};
use crate::finding::{Evidence, Rule};
use crate::order::Moment;
use crate::raw::{Point, RawReport};

use super::{ReportedPairs, race_step};

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

/// When a location was last read and written: what is looked at every time. A time of 0 is never.
#[derive(Clone, Copy, Debug, Default)]
struct Epochs {
    write: Moment,
    read: Moment,
    /// Whether there is more to know, in [`Cell::many`].
    many: bool,
}

/// The accesses behind the epochs, which only a report needs.
#[derive(Debug, Default)]
struct Cell {
    write: Option<Point>,
    read: Option<Point>,
    /// Concurrent reads, and after a race everyone's last read and write.
    many: Option<Box<Many>>,
}

impl Cell {
    fn last_write(&self, epochs: &Epochs) -> Option<Past> {
        let point = self.write.filter(|_| epochs.write.time > 0)?;
        Some(Past {
            point,
            time: epochs.write.time,
        })
    }

    fn last_read(&self, epochs: &Epochs) -> Option<Past> {
        let point = self.read.filter(|_| epochs.read.time > 0)?;
        Some(Past {
            point,
            time: epochs.read.time,
        })
    }
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
    epochs: Vec<Epochs>,
    cells: Vec<Cell>,
    latest: Vec<u64>,
    pairs: ReportedPairs,
    reports: Vec<RawReport>,
    /// Whether every unordered pair counts as observed.
    any: bool,
}

fn keep(list: &mut Vec<Past>, past: Past) {
    match list.iter_mut().find(|p| p.point.thread == past.point.thread) {
        Some(old) => *old = past,
        None => list.push(past),
    }
}

impl Observed {
    /// The analysis that counts every unordered pair as observed.
    pub fn unordered() -> Observed {
        Observed {
            any: true,
            ..Observed::default()
        }
    }

    fn touch(&mut self, thread: usize, index: u64) -> u64 {
        if self.latest.len() <= thread {
            self.latest.resize(thread + 1, u64::MAX);
        }
        std::mem::replace(&mut self.latest[thread], index)
    }

    fn race(&mut self, access: &Access, past: &Past, previous: u64) {
        if !self.pairs.is_new(past.point.site, access.point.site, access.location) {
            return;
        }
        // Neither thread did anything between the two: the trace itself has them side by side.
        let last = self.latest.get(past.point.thread.index()) == Some(&past.point.index);
        let adjacent = self.any || last && (previous == u64::MAX || previous < past.point.index);
        self.reports.push(RawReport {
            analysis: "race",
            rule: Rule::DataRace,
            evidence: if adjacent {
                Evidence::Witnessed
            } else {
                Evidence::Predicted
            },
            pattern: super::predicted::pattern(past.point.kind, access.point.kind),
            steps: vec![
                race_step(past.point, access.location),
                race_step(access.point, access.location),
            ],
            observed: adjacent,
        });
    }

    /// An access that is unordered with an earlier one, or that follows reads of several threads or a race.
    fn slow(&mut self, view: &View, access: &Access, now: Moment, previous: u64) {
        let index = access.location.index();
        let mut cell = std::mem::take(&mut self.cells[index]);
        let epochs = &mut self.epochs[index].clone();
        let clock = view.full(access);
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
                cell.last_write(epochs).iter().for_each(|p| check(self, p));
                if access.writes() {
                    cell.last_read(epochs).iter().for_each(|p| check(self, p));
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
            cell.last_write(epochs).iter().for_each(|w| keep(&mut many.writes, *w));
            cell.last_read(epochs).iter().for_each(|r| keep(&mut many.reads, *r));
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
            (epochs.write, cell.write) = (now, Some(access.point));
            (epochs.read, cell.read) = (Moment::default(), None);
            cell.many = cell.many.filter(|m| m.raced);
        } else {
            if let Some(many) = &mut cell.many {
                keep(&mut many.reads, past);
            } else if let Some(read) = cell
                .last_read(epochs)
                .filter(|r| r.point.thread != now.thread && !clock.knows(r.moment()))
            {
                let reads = vec![read, past];
                cell.many = Some(Box::new(Many {
                    reads,
                    ..Many::default()
                }));
            }
            (epochs.read, cell.read) = (now, Some(access.point));
        }
        epochs.many = cell.many.is_some();
        self.epochs[index] = *epochs;
        self.cells[index] = cell;
    }
}

impl Analysis for Observed {
    fn name(&self) -> &'static str {
        match self.any {
            true => "race-unordered",
            false => "race-observed",
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            full: true,
            ..Needs::default()
        }
    }

    #[inline]
    fn access(&mut self, view: &View, access: &Access) {
        let thread = access.thread();
        let previous = self.touch(thread.index(), access.point.index);
        if access.cell.synchronizing || access.cell.exempt || access.cell.race_free {
            return;
        }
        let index = access.location.index();
        if self.cells.len() <= index {
            self.cells.resize_with(index + 1, Cell::default);
            self.epochs.resize(index + 1, Epochs::default());
        }
        let now = access.full_now();
        let epochs = &mut self.epochs[index];
        let clock = view.full(access);
        let known = |moment: Moment| moment.time == 0 || moment.thread == thread || clock.knows(moment);
        if !epochs.many && known(epochs.write) && known(epochs.read) {
            // All that came before is known: this access alone stands for the location.
            let cell = &mut self.cells[index];
            if access.writes() {
                (epochs.write, cell.write) = (now, Some(access.point));
                epochs.read = Moment::default();
            } else {
                (epochs.read, cell.read) = (now, Some(access.point));
            }
            return;
        }
        if epochs.many
            && !access.writes()
            && known(epochs.write)
            && let Some(many) = self.cells[index].many.as_mut().filter(|many| !many.raced)
        {
            // One more read among those of other threads: a location that all read and none writes.
            let past = Past {
                point: access.point,
                time: now.time,
            };
            keep(&mut many.reads, past);
            (epochs.read, self.cells[index].read) = (now, Some(access.point));
            return;
        }
        self.slow(view, access, now, previous);
    }

    fn event(&mut self, _: &View, event: &Happened) {
        self.touch(event.event.thread.index(), event.index);
    }

    fn finish(&mut self, _: &Context<'_>) -> Vec<RawReport> {
        std::mem::take(&mut self.reports)
    }
}
