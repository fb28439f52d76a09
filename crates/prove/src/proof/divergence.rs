//! Where a forced run left the recorded path, why it may have, and what the next try can learn from that.
//!
//! A forced run passes the same points as the recorded one if nothing but the order of the threads differs. Input, time,
//! random numbers and the order of hash tables may differ as well, and so does whatever the new order lets the threads read.
//!
//! Cost: the recorded points are sorted by thread once, when the first try fails. Each failed try then takes one pass over the
//! run's events and one over the recorded points that its schedule covers, with a binary search for each that moved.
//! An interrupt ends both.

mod turns;

use std::borrow::Cow;
use std::sync::OnceLock;

use ravel_analysis::limit::{Limit, LimitKind};
use ravel_schedule::{Leave, Schedule, ThreadName, naming};
use ravel_trace::names::Names;
use ravel_trace::{Event, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

pub use self::turns::TurnsFound;
use super::marks::{op_name, variable};
use crate::interrupt;
use crate::runner::Forced;

/// How far apart the same event may lie in two runs.
const REACH: u32 = 10_000;
/// Recorded events that are compared.
pub const MOST_EVENTS: usize = 5_000_000;
/// Events of a thread at one of its positions that are compared: an operation is a few, and more tell nothing new.
const MOST_AT_ONE: usize = 64;
/// Steps after which a comparison asks whether the user wants to stop.
const ASK: u64 = 1 << 14;
/// The site of a run that the recorded run has not been at.
const ELSEWHERE: u32 = u32::MAX;

/// Positions of the recorded run, and where the same events lie in another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shifts {
    /// By the path of the thread, in the order of recorded positions.
    moved: FxHashMap<String, Vec<(u32, u32)>>,
}

impl Shifts {
    /// Where the event of a thread at a recorded position is.
    pub fn position(&self, thread: &str, position: u32) -> u32 {
        let moved = self.moved.get(thread).map_or(&[][..], Vec::as_slice);
        let place = moved.binary_search_by_key(&position, |(was, _)| *was);
        place.map_or(position, |place| moved[place].1)
    }

    fn of(found: &Found) -> Shifts {
        let mut shifts = Shifts::default();
        for (thread, known) in found {
            let mut moved: Vec<(u32, u32)> = Vec::new();
            for &(was, now) in known.iter().filter(|(was, now)| was != now) {
                match moved.last_mut() {
                    Some(last) if last.0 == was => last.1 = now,
                    _ => moved.push((was, now)),
                }
            }
            if !moved.is_empty() {
                shifts.moved.insert(thread.clone(), moved);
            }
        }
        shifts
    }
}

/// What the threads of the recorded run passed. It is put in order when it is first asked for, and shared by all tries.
pub struct RecordedPath<'t> {
    events: Cow<'t, [Event]>,
    names: &'t Names,
    points: OnceLock<Points>,
}

/// The points of the recorded run, as far as they are compared.
struct Points {
    sites: SiteKeys,
    threads: Vec<ThreadPoints>,
}

/// What one thread of the recorded run passed.
struct ThreadPoints {
    name: ThreadName,
    /// The numbers of its events that are points; their positions never fall.
    events: Vec<u32>,
}

/// Counts the steps of a comparison, and ends it when the user wants to stop.
#[derive(Default)]
struct Steps {
    taken: u64,
}

impl Steps {
    /// None if the comparison is to end.
    fn one(&mut self) -> Option<()> {
        self.taken += 1;
        (!self.taken.is_multiple_of(ASK) || !interrupt::requested()).then_some(())
    }
}

impl<'t> RecordedPath<'t> {
    /// The path of a run with these events, or so many of the first ones as are compared.
    pub fn new(events: impl Into<Cow<'t, [Event]>>, names: &'t Names) -> RecordedPath<'t> {
        RecordedPath {
            events: events.into(),
            names,
            points: OnceLock::new(),
        }
    }

    fn points(&self) -> &Points {
        self.points.get_or_init(|| {
            let names = naming::thread_names(self.names, self.names.threads.len());
            let mut threads: Vec<ThreadPoints> = names
                .into_iter()
                .map(|name| ThreadPoints {
                    name,
                    events: Vec::new(),
                })
                .collect();
            for (number, event) in (0..).zip(self.events.iter().take(MOST_EVENTS)) {
                if is_point(&event.op)
                    && let Some(thread) = threads.get_mut(event.thread.index())
                {
                    thread.events.push(number);
                }
            }
            Points {
                sites: SiteKeys::of(self.names),
                threads,
            }
        })
    }

    /// The threads that a schedule has turns of, with the points that those cover.
    fn covered_by<'p>(&self, points: &'p Points, schedule: &Schedule) -> Vec<(&'p ThreadName, &'p [u32])> {
        let mut ends: FxHashMap<&str, u32> = FxHashMap::default();
        for segment in &schedule.segments {
            let end = ends.entry(schedule.thread(segment).path.as_str()).or_default();
            *end = segment.until.max(*end);
        }
        let covered = |thread: &'p ThreadPoints| {
            let end = *ends.get(thread.name.path.as_str())?;
            let within = |&number: &u32| self.events[number as usize].position <= end;
            let covered = &thread.events[..thread.events.partition_point(within)];
            (!covered.is_empty()).then_some((&thread.name, covered))
        };
        points.threads.iter().filter_map(covered).collect()
    }

    /// Where a run left the recorded path; none if all events are where they were as far as the schedule goes.
    pub fn first_divergence(&self, schedule: &Schedule, run: &Forced) -> Option<Divergence> {
        let (events, names) = run.trace.as_ref().filter(|_| !run.partial)?;
        self.divergence(schedule, events, names, &mut Steps::default())
    }

    fn divergence(
        &self,
        schedule: &Schedule,
        events: &[Event],
        names: &Names,
        steps: &mut Steps,
    ) -> Option<Divergence> {
        let points = self.points();
        let covered = self.covered_by(points, schedule);
        let index = Index::of(events, names, &points.sites, &covered, steps)?;
        // The first in the order of the recorded run: each thread is followed up to the one found in those before.
        let mut first: Option<(u32, Divergence)> = None;
        for (name, passed) in covered {
            let until = first.as_ref().map_or(u32::MAX, |(number, _)| *number);
            let passed = &passed[..passed.partition_point(|number| *number < until)];
            let Some(same) = index.threads.get(name.path.as_str()) else {
                if let Some(&number) = passed.first() {
                    let words = format!("thread {} was not started", name.name);
                    first = Some((
                        number,
                        Divergence {
                            words,
                            by_order: false,
                            may_differ: false,
                        },
                    ));
                }
                continue;
            };
            if let Some(number) = self.leaves(name, passed, same, &index, steps)? {
                first = Some(number);
            }
        }
        first.map(|(_, divergence)| divergence)
    }

    /// Where a thread of a run, which passed these points, leaves its recorded ones. The outer none means that the user wants to
    /// stop.
    fn leaves(
        &self,
        name: &ThreadName,
        passed: &[u32],
        run: &[u32],
        index: &Index<'_>,
        steps: &mut Steps,
    ) -> Option<Option<(u32, Divergence)>> {
        let sites = &self.points().sites;
        // The last read that saw something else than when it was recorded.
        let mut other_value: Option<(&Event, &Event)> = None;
        let mut at = 0;
        for &number in passed {
            steps.one()?;
            let event = &self.events[number as usize];
            while run
                .get(at)
                .is_some_and(|&place| index.at(place).position < event.position)
            {
                steps.one()?;
                at += 1;
            }
            let mut there = run[at..]
                .iter()
                .map(|&place| (place, index.at(place)))
                .take_while(|(_, other)| other.position == event.position)
                .take(MOST_AT_ONE);
            let site = sites.recorded(event);
            let found = there.clone().find(|(place, other)| {
                steps.taken += 1;
                is_same_kind(&other.op, &event.op) && index.site(*place) == site
            });
            if let Some((_, other)) = found {
                if let (Op::Read { value: was, .. }, Op::Read { value: now, .. }) = (event.op, other.op)
                    && was != now
                {
                    other_value = Some((other, event));
                }
                continue;
            }
            let names = index.names;
            let seen = match (there.next(), run.get(at)) {
                (Some((_, other)), _) => words(other, names),
                (None, Some(&later)) => words(index.at(later), names),
                (None, None) => "nothing more".into(),
            };
            let why = match other_value {
                Some((other, was)) => other_read((other, names), (was, self.names)),
                None => "input, time, random numbers or the order of a hash table may differ".to_string(),
            };
            let words = format!(
                "thread {} took another path: {seen} instead of {}; {why}",
                name.name,
                words(event, self.names)
            );
            let by_order = other_value.is_some();
            return Some(Some((
                number,
                Divergence {
                    words,
                    by_order,
                    may_differ: !by_order,
                },
            )));
        }
        Some(None)
    }

    /// The schedule with the positions that its turns have in a run that passed other points, and where everything is
    /// there; none if all lies where it was, or nothing is known.
    pub fn learn(&self, schedule: &Schedule, run: &Forced) -> Option<(Schedule, Shifts)> {
        let (events, names) = run.trace.as_ref()?;
        self.learn_from(schedule, events, names, &mut Steps::default())
    }

    fn learn_from(
        &self,
        schedule: &Schedule,
        events: &[Event],
        names: &Names,
        steps: &mut Steps,
    ) -> Option<(Schedule, Shifts)> {
        let points = self.points();
        let covered = self.covered_by(points, schedule);
        let index = Index::of(events, names, &points.sites, &covered, steps)?;
        let mut found = Found::default();
        for (name, passed) in covered {
            let known = match index.threads.get(name.path.as_str()) {
                Some(run) => self.found(passed, run, 0, &index, steps)?,
                None => Vec::new(),
            };
            found.insert(name.path.clone(), known);
        }
        let shifts = Shifts::of(&found);
        if shifts.moved.is_empty() {
            return None;
        }
        let learnt = moved(schedule, &found);
        (learnt != *schedule).then_some((learnt, shifts))
    }

    /// The recorded positions of a thread whose events are found in a run, and where; `off` is how far the thread is off before the first.
    fn found(
        &self,
        passed: &[u32],
        run: &[u32],
        off: i64,
        index: &Index<'_>,
        steps: &mut Steps,
    ) -> Option<Vec<(u32, u32)>> {
        let sites = &self.points().sites;
        let mut by_site: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for &place in run {
            steps.one()?;
            let site = index.site(place);
            if site != ELSEWHERE {
                by_site.entry(site).or_default().push(place);
            }
        }
        let position = |place: &u32| i64::from(index.at(*place).position);
        let (mut known, mut last) = (Vec::new(), None);
        for &number in passed {
            steps.one()?;
            let event = &self.events[number as usize];
            let Some(same) = by_site.get(&sites.recorded(event)) else {
                continue;
            };
            // The nearest one by how far the thread is off already, after the one found before: each is found once.
            let off = known
                .last()
                .map_or(off, |last: &(u32, u32)| i64::from(last.1) - i64::from(last.0));
            let expected = i64::from(event.position) + off;
            let later = &same[same.partition_point(|place| last.is_some_and(|last| *place <= last))..];
            let Some(place) = nearest(later, expected, position) else {
                continue;
            };
            if expected.abs_diff(position(&place)) > u64::from(REACH) {
                continue;
            }
            last = Some(place);
            known.push((event.position, index.at(place).position));
        }
        Some(known)
    }
}

/// Of places in the order of their positions, the first of those nearest to a position.
fn nearest(places: &[u32], wanted: i64, position: impl Fn(&u32) -> i64) -> Option<u32> {
    let right = places.partition_point(|place| position(place) < wanted);
    let after = places.get(right);
    let Some(before) = right.checked_sub(1).map(|left| position(&places[left])) else {
        return after.copied();
    };
    match after {
        Some(after) if position(after) - wanted < wanted - before => Some(*after),
        _ => Some(places[places.partition_point(|place| position(place) < before)]),
    }
}

/// Numbers for sites that mean the same in two runs, whose own numbers differ: those of the recorded run.
struct SiteKeys {
    methods: FxHashMap<String, u32>,
    known: FxHashMap<(u32, u32), u32>,
    recorded: Vec<u32>,
}

impl SiteKeys {
    /// Of the recorded run.
    fn of(names: &Names) -> SiteKeys {
        let mut methods: FxHashMap<String, u32> = FxHashMap::default();
        let numbers: Vec<u32> = (0..names.methods.len())
            .map(|method| {
                let next = methods.len() as u32;
                *methods.entry(method_key(names, method)).or_insert(next)
            })
            .collect();
        let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let recorded = names
            .sites
            .iter()
            .map(|site| {
                let method = numbers.get(site.method.index()).copied().unwrap_or(ELSEWHERE);
                let next = known.len() as u32;
                *known.entry(place_in(method, site.bci)).or_insert(next)
            })
            .collect();
        SiteKeys {
            methods,
            known,
            recorded,
        }
    }

    /// The number of the site of a recorded event.
    fn recorded(&self, event: &Event) -> u32 {
        self.recorded.get(event.site.index()).copied().unwrap_or(ELSEWHERE)
    }

    /// The numbers of the sites of another run.
    fn of_run(&self, names: &Names) -> Vec<u32> {
        let numbers: Vec<Option<u32>> = (0..names.methods.len())
            .map(|method| self.methods.get(&method_key(names, method)).copied())
            .collect();
        let number = |site: &ravel_trace::names::Site| {
            let method = match numbers.get(site.method.index()) {
                Some(known) => (*known)?,
                None => ELSEWHERE,
            };
            self.known.get(&place_in(method, site.bci)).copied()
        };
        names
            .sites
            .iter()
            .map(|site| number(site).unwrap_or(ELSEWHERE))
            .collect()
    }
}

/// Class, name and descriptor of a method.
fn method_key(names: &Names, method: usize) -> String {
    let method = &names.methods[method];
    let class = names.classes.get(method.class.index());
    let class = class.map_or("", |class| class.name.as_str());
    format!("{class}.{}{}", method.name, method.descriptor)
}

/// A place in the code; all those in no known method are one.
fn place_in(method: u32, bci: u32) -> (u32, u32) {
    (method, if method == ELSEWHERE { 0 } else { bci })
}

/// A run's points by thread.
struct Index<'a> {
    events: &'a [Event],
    names: &'a Names,
    sites: Vec<u32>,
    /// By path, the numbers of the events that are points; their positions never fall.
    threads: FxHashMap<String, Vec<u32>>,
}

impl<'a> Index<'a> {
    /// The points of a run's threads, as far as a schedule covers them.
    fn of(
        events: &'a [Event],
        names: &'a Names,
        sites: &SiteKeys,
        covered: &[(&ThreadName, &[u32])],
        steps: &mut Steps,
    ) -> Option<Index<'a>> {
        let wanted: FxHashSet<&str> = covered.iter().map(|(name, _)| name.path.as_str()).collect();
        let paths = naming::thread_names(names, names.threads.len());
        let mut threads: Vec<Option<Vec<u32>>> = paths
            .iter()
            .map(|name| wanted.contains(name.path.as_str()).then(Vec::new))
            .collect();
        for (place, event) in (0..).zip(events) {
            steps.one()?;
            if let Some(Some(thread)) = threads.get_mut(event.thread.index())
                && is_point(&event.op)
            {
                thread.push(place);
            }
        }
        let named = paths.into_iter().zip(threads);
        let mut threads: FxHashMap<String, Vec<u32>> =
            named.filter_map(|(name, passed)| Some((name.path, passed?))).collect();
        for passed in threads.values_mut() {
            // Positions never fall, whatever the run's trace says: the searches rest on it.
            passed.sort_by_key(|&place| events[place as usize].position);
        }
        Some(Index {
            events,
            names,
            sites: sites.of_run(names),
            threads,
        })
    }

    fn at(&self, place: u32) -> &'a Event {
        &self.events[place as usize]
    }

    fn site(&self, place: u32) -> u32 {
        self.sites
            .get(self.at(place).site.index())
            .copied()
            .unwrap_or(ELSEWHERE)
    }
}

/// The first recorded event that a run does not have where it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// Where, what was expected, what was seen, and why that may be.
    pub words: String,
    /// Whether its thread had read something else than when it was recorded: the new order did that.
    pub by_order: bool,
    /// Whether its thread read what it read when it was recorded, and still went another way.
    pub may_differ: bool,
}

impl Divergence {
    /// The divergence as the reason why a finding got no further.
    pub fn limit(self) -> Limit {
        Limit::new(self.words, self.may_differ.then_some(LimitKind::MayDiffer))
    }
}

/// By thread, the recorded positions that were found and where.
type Found = FxHashMap<String, Vec<(u32, u32)>>;

/// The schedule by positions that were found.
fn moved(schedule: &Schedule, found: &Found) -> Schedule {
    let mut learnt = schedule.clone();
    // What lies between two events that were found may be more or less than it was, but a thread never goes back.
    let mut reached = vec![0; learnt.threads.len()];
    for segment in &mut learnt.segments {
        let Some(known) = found.get(&schedule.threads[segment.thread].path) else {
            continue;
        };
        let place = known.partition_point(|(was, _)| *was <= segment.until);
        if let Some((was, now)) = place.checked_sub(1).map(|place| known[place]) {
            let between = known.get(place).map_or(u32::MAX, |next| next.1.saturating_sub(now));
            segment.until = now + (segment.until - was).min(between);
            if let Some(Leave::Frame { entered, .. }) = &mut segment.leave {
                *entered = entered.saturating_add_signed(now.wrapping_sub(was).cast_signed());
            }
        }
        segment.until = segment.until.max(reached[segment.thread]);
        reached[segment.thread] = segment.until;
    }
    learnt
}

fn is_point(op: &Op) -> bool {
    !matches!(
        op,
        Op::Enter { .. }
            | Op::Exit { .. }
            | Op::Call
            | Op::Begin
            | Op::End { .. }
            | Op::Initialized { .. }
            | Op::UnitBegin
            | Op::UnitEnd
            | Op::Returned { .. }
    )
}

/// Whether two operations of one site are the same: hand-overs have one name, and a call on a modelled object reads or changes it, as it
/// finds it: `remove` of an entry that is not there only reads.
fn is_same_kind(one: &Op, other: &Op) -> bool {
    let hands_over = |op: &Op| matches!(op, Op::Send { .. } | Op::Receive { .. });
    let is_update = |op: &Op| matches!(op, Op::Update { .. });
    let accesses = |op: &Op| op.location().is_some();
    std::mem::discriminant(one) == std::mem::discriminant(other)
        || hands_over(one) && hands_over(other)
        || (is_update(one) || is_update(other)) && accesses(one) && accesses(other)
}

fn words(event: &Event, names: &Names) -> String {
    let frame = names.frame(names.site(event.site).method, event.site);
    let what = variable(event, names);
    let what = if what.is_empty() {
        op_name(&event.op).to_string()
    } else {
        format!("{} {what}", op_name(&event.op))
    };
    format!("{what} in {frame}")
}

/// What a read saw. A variable of an imported trace has no type: its values are numbers.
fn read_text(event: &Event, names: &Names) -> Option<String> {
    names.value_text(event).or(match event.op {
        Op::Read {
            value: Value::Exact(number),
            ..
        } => Some(number.to_string()),
        _ => None,
    })
}

/// That a read saw another value than the one that was recorded.
fn other_read((other, names): (&Event, &Names), (was, recorded): (&Event, &Names)) -> String {
    let what = variable(other, names);
    match (read_text(other, names), read_text(was, recorded)) {
        (Some(now), Some(was)) if now != was => format!("it had read {what} as {now} (recorded: {was})"),
        _ => format!("it had read another value of {what} than was recorded"),
    }
}

#[cfg(test)]
mod tests {
    use ravel_trace::memory::Builder;
    use ravel_trace::{MemoryTrace, Source as _};

    use super::*;

    #[test]
    fn turns_move_with_what_was_found_and_never_back() {
        let schedule = Schedule::parse(
            "ravel schedule 1\nthread main \"main\"\nthread main/0 \"t\"\nrun main to 10\nrun main/0 to 5\n\
             run main to 30\nrun main to 40\nrun main to 55\n",
        )
        .expect("a schedule");
        // Ten points fewer before position 20; from there on nothing like what was recorded until 50, which came early.
        let found: Found = [("main".to_string(), vec![(10, 10), (20, 11), (28, 19), (50, 21)])]
            .into_iter()
            .collect();
        let learnt = moved(&schedule, &found);
        let turns: Vec<u32> = learnt.segments.iter().map(|segment| segment.until).collect();
        assert_eq!(turns, [10, 5, 21, 21, 26]);
    }

    #[test]
    fn a_call_that_finds_nothing_to_change_is_the_same_call() {
        let (location, value) = (ravel_trace::LocationId(0), Value::Unknown);
        let (read, update) = (Op::Read { location, value }, Op::Update { location, value });
        assert!(is_same_kind(&read, &update));
        assert!(!is_same_kind(&read, &Op::Begin));
    }

    /// A thread that reads one variable in a loop, and after so many rounds writes another one so many times.
    fn looping(rounds: u32, extra_after: u32, extra: u32) -> MemoryTrace {
        let mut builder = Builder::new();
        for round in 0..rounds {
            if round == extra_after {
                for _ in 0..extra {
                    builder.write("main", "Cache.misses", 9);
                }
            }
            builder.read("main", "Cache.hits", 5);
        }
        builder.finish()
    }

    fn schedule_to(position: u32) -> Schedule {
        let text = format!("ravel schedule 1\nthread main \"main\"\nrun main to {position}\n");
        Schedule::parse(&text).expect("a schedule")
    }

    /// All points of a loop are at one place in the code: a comparison of each with each would never end.
    #[test]
    fn the_steps_of_a_comparison_grow_with_the_events_and_no_faster() {
        const ROUNDS: u32 = 300_000;
        let recorded = looping(ROUNDS, ROUNDS, 0);
        let run = looping(ROUNDS, 100, 7);
        let path = RecordedPath::new(recorded.events(), recorded.names());
        let schedule = schedule_to(ROUNDS);
        let events = u64::from(ROUNDS);

        let mut steps = Steps::default();
        let learnt = path.learn_from(&schedule, run.events(), run.names(), &mut steps);
        let (moved, shifts) = learnt.expect("everything lies seven points later");
        assert_eq!(shifts.position("main", 99), 99);
        assert_eq!(shifts.position("main", 100), 107);
        assert_eq!(shifts.position("main", ROUNDS - 1), ROUNDS + 6);
        assert_eq!(moved.segments[0].until, ROUNDS + 7);
        assert!(steps.taken <= 4 * events, "{} steps", steps.taken);

        let mut steps = Steps::default();
        let divergence = path.divergence(&schedule, run.events(), run.names(), &mut steps);
        let words = divergence.map(|divergence| divergence.words).unwrap_or_default();
        assert!(
            words.starts_with("thread main took another path: write Cache.misses")
                && words.contains("instead of read Cache.hits"),
            "{words}"
        );
        assert!(steps.taken <= 4 * events, "{} steps", steps.taken);

        let mut steps = Steps::default();
        let same = path.divergence(&schedule, recorded.events(), recorded.names(), &mut steps);
        assert_eq!(same, None);
        assert!(steps.taken <= 4 * events, "{} steps", steps.taken);
    }

    #[test]
    fn the_first_divergence_is_the_first_of_the_recorded_run() {
        let text = |second: &str, first: &str| {
            let text = format!("t1 | t2\n w a @1 |\n | {second} @2\n {first} @3 |\n | w b @4\n");
            MemoryTrace::parse(&text).expect("well formed")
        };
        let recorded = text("r x=1", "r y=1");
        let path = RecordedPath::new(recorded.events(), recorded.names());
        let both = "ravel schedule 1\nthread t1 \"t1\"\nthread t2 \"t2\"\nrun t1 to 9\nrun t2 to 9\n";
        let schedule = Schedule::parse(both).expect("a schedule");
        let words = |run: &MemoryTrace| {
            let found = path.divergence(&schedule, run.events(), run.names(), &mut Steps::default());
            found.map(|divergence| (divergence.words, divergence.by_order))
        };
        assert_eq!(words(&recorded), None);
        let (said, by_order) = words(&text("w x=1", "w y=1")).expect("both threads differ");
        assert!(said.contains("instead of read x"), "{said}");
        assert!(!by_order);
        // A read that saw another value explains what its thread does next.
        let text = "t1 | t2\n w a @1 |\n | r x=7 @2\n r y=1 @3 |\n | w c @5\n";
        let (said, by_order) = words(&MemoryTrace::parse(text).expect("well formed")).expect("t2 differs");
        assert!(said.contains("it had read x as 7 (recorded: 1)"), "{said}");
        assert!(by_order);
        let text = "t1\n w a @1\n r y=1 @3\n";
        let (said, _) = words(&MemoryTrace::parse(text).expect("well formed")).expect("t2 is missing");
        assert_eq!(said, "thread t2 was not started");
    }

    #[test]
    fn the_nearest_place_is_what_looking_at_all_of_them_finds() {
        let positions = [3i64, 3, 5, 9, 9, 9, 14];
        let position = |place: &u32| positions[*place as usize];
        for from in 0..=positions.len() as u32 {
            let places: Vec<u32> = (from..positions.len() as u32).collect();
            for wanted in -2i64..20 {
                let all = places.iter().copied();
                let first = all.min_by_key(|place| wanted.abs_diff(position(place)));
                assert_eq!(nearest(&places, wanted, position), first, "{wanted} from {from}");
            }
        }
    }
}
