//! What was done to the variables of a pattern's units before these begin and while they run, by other units of the same threads and by
//! other threads.
//!
//! What a unit comes to depends on what came before it. Two runs tell something of the order of their units only if everything
//! else was alike until the last of them had ended.

use std::collections::BTreeSet;
use std::sync::Arc;

use ravel_schedule::{Leave, naming};
use ravel_trace::{Event, LocationId, Names, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::controls::Controls;
use super::harm::Judged;
use super::marks::variable;
use crate::runner::Forced;

/// Writes of a run that are not part of the units: the path of the thread, and the variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Surroundings {
    /// Before the first unit began, or as if: no unit had accessed the location by then, and nothing that one had done can have led to the write.
    before: Vec<(String, String)>,
    /// Whether there are others to locations of the units, or some to a variable of the pattern, while the units ran; or reads that saw too early
    /// what a unit was still to write.
    between: bool,
}

impl Judged<'_> {
    /// The serial orders whose runs did the same as the forced ones until the units were over; the rest is missing. If others wrote while the
    /// units ran, no serial order of the units alone is like it.
    pub(super) fn begun_alike(&self, runs: &[Arc<Forced>], controls: &Controls) -> Controls {
        let mut variables = BTreeSet::new();
        for run in runs.iter().chain(controls.runs()) {
            self.touched(run, &mut variables);
        }
        let wanted = self.surroundings(&runs[0], &variables);
        // Threads that have no turn before the units run freely up to there.
        let began_alike = |run: &Arc<Forced>| match (&wanted, self.surroundings(run, &variables)) {
            (Some(wanted), Some(found)) => wanted.before == found.before,
            (None, _) | (_, None) => true,
        };
        // The schedules make them alike, unless a run left its own.
        let by_schedule = |run: &Arc<Forced>| self.exact && (self.apart || run.slip().is_none()) && began_alike(run);
        let by_forcing = self.exact && runs.iter().all(began_alike);
        if by_forcing && controls.runs().all(by_schedule) {
            return controls.clone();
        }
        let is_alike = |run: &Arc<Forced>| {
            let is_wanted =
                |wanted: &Surroundings| !wanted.between && self.surroundings(run, &variables).as_ref() == Some(wanted);
            by_schedule(run) || wanted.as_ref().is_some_and(is_wanted)
        };
        let alike = controls.only(is_alike);
        match self.elsewhere || alike.orders.is_empty() || !by_forcing && !runs.iter().all(is_alike) {
            true => Controls {
                others_between: true,
                ..controls.clone()
            },
            false => Controls {
                others_between: false,
                ..alike
            },
        }
    }

    /// Adds the variables that units of a run access.
    fn touched(&self, run: &Forced, variables: &mut BTreeSet<String>) {
        let Some((events, names)) = &run.trace else { return };
        let inside = self.inside(run, events, names);
        let accesses = events
            .iter()
            .zip(&inside)
            .filter(|(event, inside)| **inside && event.op.location().is_some());
        variables.extend(accesses.map(|(event, _)| variable(event, names)));
    }

    /// None if not all of it is known.
    fn surroundings(&self, run: &Forced, variables: &BTreeSet<String>) -> Option<Surroundings> {
        let (events, names) = run.trace.as_ref().filter(|_| !run.partial)?;
        let inside = self.inside(run, events, names);
        let first = inside.iter().position(|inside| *inside)?;
        let last = inside.iter().rposition(|inside| *inside)?;
        let paths = naming::thread_names(names, names.threads.len());
        let of_units: FxHashSet<LocationId> = events
            .iter()
            .zip(&inside)
            .filter(|(_, inside)| **inside)
            .filter_map(|(event, _)| event.op.location())
            .collect();
        let unit_writes = events.iter().enumerate().zip(&inside);
        let unit_writes = unit_writes.filter(|((_, event), inside)| **inside && event.op.is_write());
        let last_write: FxHashMap<LocationId, usize> = unit_writes
            .filter_map(|((place, event), _)| Some((event.op.location()?, place)))
            .collect();
        let mut found = Surroundings::default();
        let mut accessed: FxHashSet<LocationId> = FxHashSet::default();
        // Threads whose writes may depend on what the units did so far, and locations whose values may.
        let mut later: FxHashSet<ThreadId> = FxHashSet::default();
        let mut dependent: FxHashSet<LocationId> = FxHashSet::default();
        for (place, event) in events.iter().enumerate().take(last) {
            let Some(location) = event.op.location() else { continue };
            let writes = event.op.is_write();
            if inside[place] {
                accessed.insert(location);
                later.insert(event.thread);
            } else if dependent.contains(&location) && !matches!(event.op, Op::Write { .. }) {
                later.insert(event.thread);
            }
            let is_later = later.contains(&event.thread);
            if writes && is_later {
                dependent.insert(location);
            }
            if inside[place] {
                continue;
            }
            if !writes {
                // It comes after one unit and before another has written: what it leads to may come of no order of the units.
                found.between |= is_later && last_write.get(&location).is_some_and(|last| *last > place);
                continue;
            }
            let variable = variable(event, names);
            let conflicts = accessed.contains(&location) || is_later && of_units.contains(&location);
            if conflicts || place >= first && self.is_of_pattern(&variable) {
                found.between = true;
            // Objects are known within one run: the same field of another one is another matter once the units have begun.
            } else if of_units.contains(&location) || place < first && variables.contains(&variable) {
                let path = paths.get(event.thread.index()).map(|name| name.path.clone());
                found.before.push((path.unwrap_or_default(), variable));
            }
        }
        Some(found)
    }

    /// The last event of the units. None if other code wrote to their locations while they ran, or if the trace does not tell.
    pub(super) fn end_of_units(&self, run: &Forced) -> Option<usize> {
        let mut variables = BTreeSet::new();
        self.touched(run, &mut variables);
        if self.surroundings(run, &variables)?.between {
            return None;
        }
        let (events, names) = run.trace.as_ref()?;
        self.inside(run, events, names).iter().rposition(|inside| *inside)
    }

    /// Whether a variable is one of the pattern's.
    fn is_of_pattern(&self, variable: &str) -> bool {
        let mut events = self.candidate.events.iter();
        events.any(|event| {
            self.marks
                .get(event.index)
                .is_some_and(|mark| mark.variable == variable)
        })
    }

    /// Which events of a run belong to the units. A unit that is not a method ends where it did when it was recorded, as far as is known.
    pub(super) fn inside(&self, run: &Forced, events: &[Event], names: &Names) -> Vec<bool> {
        let paths = naming::thread_names(names, names.threads.len());
        let mut inside = vec![false; events.len()];
        for (span, unit) in self.goal.units.iter().zip(&self.candidate.units) {
            let Some(mark) = self.marks.get(unit.begin.index) else {
                continue;
            };
            let place = |position: u32| self.shifts.position(&mark.thread, position);
            let begin = place(span.begin);
            let left = || {
                left(
                    &run.frames,
                    names,
                    &paths,
                    (&mark.thread, mark.method.as_deref()?, begin),
                )
            };
            let is_method = matches!(span.leave, Some(Leave::Frame { .. }));
            let end = is_method.then(left).flatten();
            let end = end.unwrap_or_else(|| span.end.map_or(u32::MAX, place));
            let is_behind = |event: &Event| {
                event.position == begin && span.begins_behind_a_point() && !matches!(event.op, Op::Acquire { .. })
            };
            // What comes behind the last point and before the next one has its position: the end of the thread, long after the unit.
            let mut is_over = false;
            for (event, inside) in events.iter().zip(&mut inside) {
                let path = paths.get(event.thread.index()).map(|name| name.path.as_str());
                if path != Some(mark.thread.as_str()) || !(begin..=end).contains(&event.position) {
                    continue;
                }
                *inside |= !(is_behind(event) || is_over && event.op.location().is_none());
                is_over = event.position == end;
            }
        }
        inside
    }
}

/// Where a thread left the method that it entered at a position. None if the run's frames do not tell.
pub(super) fn left(
    frames: &[(usize, Event)],
    names: &Names,
    paths: &[naming::ThreadName],
    (thread, method, entered): (&str, &str, u32),
) -> Option<u32> {
    let is_own = |event: &&Event| paths.get(event.thread.index()).is_some_and(|name| name.path == thread);
    let mut own = frames.iter().map(|(_, event)| event).filter(is_own);
    let is_entry = |event: &&Event| {
        event.position == entered && matches!(event.op, Op::Enter { method: id } if names.method_text(id) == method)
    };
    own.find(is_entry)?;
    let mut depth = 1_u32;
    for event in own {
        match event.op {
            Op::Enter { .. } => depth += 1,
            Op::Exit { .. } => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(event.position);
        }
    }
    None
}
