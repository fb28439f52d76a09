//! What threads do once a pattern has happened: the orders in which they finish what they are in, and go on. Harm may show in
//! one of them only.

use std::collections::BTreeSet;

use ravel_analysis::finding::{Candidate, EventRef};
use ravel_schedule::{Contenders, Goal, Image, Leave, Schedule, Segment, Shape, ThreadName};
use ravel_trace::ThreadId;

use super::marks::Marks;

/// Points that a thread passes to be far ahead of the others.
const FAR: u32 = 2_000;
/// Points that a thread may pass while it runs alone: enough for a short program, but bounded.
const ALONE: u32 = 20_000;
/// Threads that go on one by one.
const MOST_APART: usize = 16;

/// A schedule with what comes after its pattern.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The whole of it.
    pub schedule: Schedule,
    /// Whether all threads go on one by one. What they would do at the same time differs from run to run, and a loop that loses
    /// a count here loses others there: nothing can be compared then.
    pub apart: bool,
    /// Threads without turns that wait until the units are over.
    pub held_back: Vec<ThreadName>,
    /// Its turns up to where all units are over; none if a thread goes on behind its unit before that.
    pub units_over: Option<usize>,
}

impl Ending {
    /// Whether other code that writes to the pattern's locations comes later, so that the end can be compared.
    pub fn keeps_others_away(&self) -> bool {
        self.apart || !self.held_back.is_empty()
    }
}

/// The schedule of a pattern with each of its endings, the likeliest to tell something first. Contenders, that is other code that writes to the
/// pattern's locations as well, are held back until the units are over in the first of them: what happens then is of the units alone.
pub fn endings(
    image: &Image,
    marks: &Marks,
    candidate: &Candidate,
    goal: &Goal,
    contenders: &Contenders,
    schedule: &Schedule,
) -> Vec<Ending> {
    let contended = contenders.is_contended();
    let whole = has_ends(candidate, goal);
    let over = |schedule: &Schedule| whole.then_some(schedule.segments.len());
    let together = |schedule: Schedule| Ending {
        units_over: over(&schedule),
        schedule,
        apart: false,
        held_back: Vec::new(),
    };
    if goal.shape == Shape::Blocked {
        return vec![together(schedule.clone())];
    }
    let mut ends: Vec<(ThreadId, Leave)> = Vec::new();
    for (place, event) in candidate.events.iter().enumerate().rev() {
        let known = ends.iter().any(|(thread, _)| *thread == event.thread);
        if let Some(leave) = marks.end_of(candidate, goal, place).filter(|_| !known) {
            ends.push((event.thread, leave));
        }
    }
    let name = |thread: ThreadId| &image.thread_names()[thread.index()];
    let with = |schedule: &Schedule, ends: &mut dyn Iterator<Item = &(ThreadId, Leave)>| {
        let mut longer = schedule.clone();
        for (thread, leave) in ends {
            longer.run_out_of(name(*thread), 0, *leave);
        }
        longer
    };
    // The thread of the last event first, then last: it has seen what the others have done, or they have yet to see it.
    let first = with(schedule, &mut ends.iter());
    let mut all = Vec::new();
    let others = contenders.others.iter().map(|other| name(*other).clone());
    let others: Vec<ThreadName> = others.filter(|other| !first.threads.contains(other)).collect();
    if !others.is_empty() {
        let mut ending = together(first.clone());
        ending.schedule.hold_back(&others);
        all.push(Ending {
            held_back: others,
            ..ending
        });
    }
    all.push(together(first.clone()));
    // The exit code and what is printed can be compared only if nothing else differs.
    let is_apart = contended || goes_on(image, candidate, goal);
    let comparable = |schedule: Schedule| match is_apart {
        true => Ending {
            units_over: over(&schedule),
            schedule: apart(image, candidate, schedule),
            apart: true,
            held_back: Vec::new(),
        },
        false => together(schedule),
    };
    if is_apart {
        all.push(comparable(first));
    }
    if let Some(whole) = whole_in_between(image, candidate, schedule, &ends) {
        let ending = comparable(with(&whole, &mut ends.iter().take(1)));
        all.push(Ending {
            units_over: ending.units_over.filter(|_| ends.len() < 3),
            ..ending
        });
    }
    if ends.len() > 1 {
        all.push(comparable(with(schedule, &mut ends.iter().rev())));
    }
    // One thread far ahead of the others.
    for (thread, _) in &ends {
        let mut longer = schedule.clone();
        longer.run_on(name(*thread), FAR);
        all.push(Ending {
            schedule: longer,
            apart: false,
            units_over: None,
            held_back: Vec::new(),
        });
    }
    all
}

/// Whether each thread can be let run to the end of its unit and no further.
fn has_ends(candidate: &Candidate, goal: &Goal) -> bool {
    let threads: BTreeSet<ThreadId> = goal.units.iter().map(|unit| unit.thread).collect();
    threads.len() == goal.units.len()
        && goal.units.iter().enumerate().all(|(place, unit)| {
            let events = candidate.events.iter().zip(&candidate.owners);
            let last = events
                .filter(|(_, owner)| **owner == Some(place))
                .map(|(event, _)| event.position)
                .max();
            unit.leave.is_some() || last.is_none() || last == unit.end
        })
}

/// Whether two of the pattern's threads have something to do after it: nothing of one alone differs from run to run.
pub fn goes_on(image: &Image, candidate: &Candidate, goal: &Goal) -> bool {
    let end = |(event, owner): (&EventRef, &Option<usize>)| {
        let unit = owner.and_then(|owner| goal.units.get(owner));
        let end = unit.map_or(Some(event.position), |unit| unit.end)?;
        image.passes(event.thread, end.checked_add(1)?).then_some(event.thread)
    };
    let more: BTreeSet<ThreadId> = candidate.events.iter().zip(&candidate.owners).filter_map(end).collect();
    more.len() > 1
}

/// The schedule, after which the threads that there are by then go on one by one.
pub fn apart(image: &Image, candidate: &Candidate, mut schedule: Schedule) -> Schedule {
    let Some(last) = candidate.events.iter().max_by_key(|event| event.index) else {
        return schedule;
    };
    let names = image.thread_names();
    let threads: Vec<ThreadId> = image.threads_before(last.thread, last.position);
    // A thread that started others most likely waits for them.
    let has_started = |thread: &ThreadId| {
        let below = format!("{}/", names[thread.index()].path);
        names.iter().any(|other| other.path.starts_with(&below))
    };
    // A thread that passes no point, as carriers of virtual threads do, has nothing to do in a turn.
    for thread in threads
        .into_iter()
        .filter(|thread| !has_started(thread) && image.passes(*thread, 1))
        .take(MOST_APART)
    {
        schedule.run_on(&names[thread.index()], ALONE);
    }
    schedule
}

/// The schedule in which the thread that interrupts a unit completes its own unit before the interrupted one continues.
fn whole_in_between(
    image: &Image,
    candidate: &Candidate,
    schedule: &Schedule,
    ends: &[(ThreadId, Leave)],
) -> Option<Schedule> {
    let [first, .., last] = candidate.events.as_slice() else {
        return None;
    };
    let between = candidate.events.iter().find(|event| event.thread != last.thread)?;
    let &(thread, leave) = ends.iter().find(|(thread, _)| *thread == between.thread)?;
    if first.thread != last.thread {
        return None;
    }
    let name = &image.thread_names()[thread.index()];
    let thread = schedule.threads.iter().position(|known| known == name)?;
    let at = schedule.segments.iter().rposition(|segment| segment.thread == thread)?;
    let mut whole = schedule.clone();
    let until = whole.segments[at].until;
    whole.segments.insert(
        at + 1,
        Segment {
            thread,
            until,
            leave: Some(leave),
        },
    );
    Some(whole)
}
