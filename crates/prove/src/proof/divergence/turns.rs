//! What a forced run teaches turn by turn.
//!
//! A thread that reads another value than the recorded one passes more points, or fewer. Then its turn ends at another place: inside a lock that the
//! next thread needs, or behind an access that was to come later. Everything after that turn happened in an order that was not wanted and
//! says nothing of the wanted one. So a run is compared turn by turn, up to the first one that ended at another place. Only that turn is moved,
//! and the next run may show the next one.

use ravel_schedule::Schedule;
use ravel_trace::Event;
use ravel_trace::names::Names;

use super::{Found, Index, RecordedPath, Shifts, Steps, moved};
use crate::runner::Forced;

/// Where a run has the points of its schedule's turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnsFound {
    found: Found,
    /// Whether the last turn that was compared ended at another place than the recorded one.
    pub misplaced: bool,
}

impl TurnsFound {
    /// Where everything is that was found.
    pub fn shifts(&self) -> Shifts {
        Shifts::of(&self.found)
    }

    /// A schedule by recorded positions with the positions that were found.
    pub fn applied(&self, schedule: &Schedule) -> Schedule {
        moved(schedule, &self.found)
    }
}

/// How far the turns of one thread have been compared.
#[derive(Clone, Copy, Default)]
struct Compared {
    recorded: usize,
    run: usize,
    /// Whether it has run out of a method or a lock, where the recorded positions end.
    out: bool,
}

impl RecordedPath<'_> {
    /// Compares a run with the recorded one, turn by turn. `wanted` has the recorded positions, `forced` those that the run was forced to.
    pub fn turns(&self, wanted: &Schedule, forced: &Schedule, run: &Forced) -> Option<TurnsFound> {
        let (events, names) = run.trace.as_ref().filter(|_| !run.partial)?;
        self.turns_in(wanted, forced, events, names, &mut Steps::default())
    }

    fn turns_in(
        &self,
        wanted: &Schedule,
        forced: &Schedule,
        events: &[Event],
        names: &Names,
        steps: &mut Steps,
    ) -> Option<TurnsFound> {
        let points = self.points();
        let covered = self.covered_by(points, wanted);
        let index = Index::of(events, names, &points.sites, &covered, steps)?;
        let mut compared = vec![Compared::default(); wanted.threads.len()];
        let mut turns = TurnsFound {
            found: Found::default(),
            misplaced: false,
        };
        for (turn, taken) in wanted.segments.iter().zip(&forced.segments) {
            let path = &wanted.thread(turn).path;
            let at = &mut compared[turn.thread];
            at.out |= turn.leave.is_some();
            let passed = covered.iter().find(|(name, _)| name.path == *path);
            let (Some((_, passed)), Some(run)) = (passed, index.threads.get(path)) else {
                continue;
            };
            if at.out {
                continue;
            }
            let position = |number: &u32| self.events[*number as usize].position;
            let recorded_end = passed.partition_point(|number| position(number) <= turn.until);
            let run_end = run.partition_point(|place| index.at(*place).position <= taken.until);
            let of_turn = &passed[at.recorded.min(recorded_end)..recorded_end];
            let of_run = &run[at.run.min(run_end)..run_end];
            let known = turns.found.entry(path.clone()).or_default();
            let off = known.last().map_or(0, |(was, now)| i64::from(*now) - i64::from(*was));
            let mut here = self.found(of_turn, of_run, off, &index, steps)?;
            let last = of_turn.last().filter(|number| position(number) == turn.until);
            if let Some(&last) = last {
                let is_there = here.last().is_some_and(|(was, _)| *was == turn.until);
                if !is_there {
                    // The turn was too short: what its thread did next is the best guess.
                    let later = self.found(&[last], &run[run_end..], off, &index, steps)?;
                    here.extend(later);
                }
                let end = here.last().filter(|(was, _)| *was == turn.until);
                turns.misplaced = end.is_some_and(|(_, now)| *now != taken.until);
            }
            known.extend(here);
            if turns.misplaced {
                break;
            }
            (at.recorded, at.run) = (recorded_end, run_end);
        }
        Some(turns)
    }
}

#[cfg(test)]
mod tests {
    use ravel_trace::{MemoryTrace, Source as _};

    use super::*;

    const TURNS: &str = "ravel schedule 1\nthread t1 \"t1\"\nthread t2 \"t2\"\n";

    fn schedule(turns: &str) -> Schedule {
        Schedule::parse(&format!("{TURNS}{turns}")).expect("a schedule")
    }

    fn trace(text: &str) -> MemoryTrace {
        MemoryTrace::parse(text).expect("a trace")
    }

    fn turns(recorded: &MemoryTrace, wanted: &Schedule, forced: &Schedule, run: &MemoryTrace) -> TurnsFound {
        let path = RecordedPath::new(recorded.events(), recorded.names());
        let found = path.turns_in(wanted, forced, run.events(), run.names(), &mut Steps::default());
        found.expect("a comparison")
    }

    /// A map that has a table only once something was put: t1 finds none and puts at once.
    #[test]
    fn a_turn_that_went_too_far_ends_where_the_recorded_one_did() {
        let recorded = trace(
            "t1 | t2\n | w table @9\n acq m @1 |\n r table @2 |\n r slot @3 |\n rel m @4 |\n acq m @5 |\n r size @6 |\n",
        );
        // Without the slot all of it comes one point earlier; the slot that t1 reads later belongs to something else.
        let run = trace(
            "t1 | t2\n acq m @1 |\n r table @2 |\n rel m @4 |\n acq m @5 |\n | w table @9\n r size @6 |\n r slot @3 |\n rel m @4 |\n",
        );
        let last = |trace: &MemoryTrace, thread: usize| {
            let of_thread = trace.events().iter().filter(|event| event.thread.index() == thread);
            of_thread.map(|event| event.position).collect::<Vec<u32>>()
        };
        let (was, now) = (last(&recorded, 0), last(&run, 0));
        let wanted = schedule(&format!("run t1 to {}\nrun t2 to 1\nrun t1 to {}\n", was[3], was[5]));
        let found = turns(&recorded, &wanted, &wanted, &run);
        assert!(found.misplaced);
        let next = found.applied(&wanted);
        assert_eq!(next.segments[0].until, now[2], "{was:?} {now:?}");
        assert_eq!(next.segments[1], wanted.segments[1]);
        assert_eq!(next.segments[2].until, now[4]);
        // Forced to that, the run has all turns where they are to be.
        let found = turns(&recorded, &wanted, &next, &run);
        assert!(!found.misplaced);
        assert_eq!(found.shifts().position("t1", was[5]), now[4]);
    }

    #[test]
    fn a_turn_that_was_too_short_is_made_longer() {
        let recorded = trace("t1 | t2\n r table @1 |\n w size @2 |\n | w table @9\n");
        let run = trace("t1 | t2\n r table @1 |\n | w table @9\n r slot @3 |\n r slot @3 |\n w size @2 |\n");
        let until = |trace: &MemoryTrace| {
            trace
                .events()
                .iter()
                .filter(|e| e.thread.index() == 0)
                .map(|e| e.position)
                .max()
        };
        let wanted = schedule(&format!(
            "run t1 to {}\nrun t2 to 1\n",
            until(&recorded).expect("an event")
        ));
        let found = turns(&recorded, &wanted, &wanted, &run);
        assert!(found.misplaced);
        assert_eq!(Some(found.applied(&wanted).segments[0].until), until(&run));
    }

    #[test]
    fn a_run_that_is_as_recorded_teaches_nothing() {
        let recorded = trace("t1 | t2\n r table @1 |\n w size @2 |\n | w table @9\n");
        let wanted = schedule("run t1 to 2\nrun t2 to 1\n");
        assert!(!turns(&recorded, &wanted, &wanted, &recorded).misplaced);
    }
}
