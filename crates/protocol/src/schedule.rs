//! A schedule as a value: which thread runs up to where, in turn.
//!
//! One type for all who use it: `ravel-schedule` makes it, the prover sends it, the agent follows it. It travels as a
//! [message](crate::line) of one line. People see three other forms: [`Display`](std::fmt::Display) is a line per turn;
//! [`Schedule::to_text`] keeps the threads' paths, can be stored, edited by hand and [parsed](Schedule::parse) back;
//! [`Schedule::to_pairs`] and [`Schedule::to_json`] are the short form of a finding's JSON.

mod forms;

use serde::{Deserialize, Serialize};

pub use forms::ParseError;

use crate::line::Message;

/// A thread of a schedule.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ThreadName {
    /// Who started whom and in which order, `main/0/2`, which means the same in every run; holds no white space.
    pub path: String,
    /// As shown to people: the Java name or, where it repeats, `name#2`.
    pub name: String,
}

/// What a thread runs out of before its turn is over: a unit that may take another path than the recorded one has no
/// last position that is known beforehand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leave {
    /// A method.
    Frame {
        /// How deep it is in the stack, the outermost being 1.
        depth: u32,
        /// It was entered at this position or before: another method may follow at the same depth.
        entered: u32,
    },
    /// The lock that was its so-many-th, the first being 1.
    Lock(u32),
    /// Nothing: the turn ends when it comes to the position for the so-many-th time. A thread of a controlled run that waits or parks comes
    /// to the same position again.
    Times(u32),
}

impl std::fmt::Display for Leave {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Leave::Frame { depth, entered } => write!(f, "frame {depth} entered {entered}"),
            Leave::Lock(count) => write!(f, "lock {count}"),
            Leave::Times(times) => write!(f, "visit {times}"),
        }
    }
}

/// One turn of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Segment {
    /// Index in [`Schedule::threads`].
    pub thread: usize,
    /// The position up to which the thread runs, inclusive. A turn to position 0 asks for nothing: its thread is held back until the turns before it
    /// are over.
    pub until: u32,
    /// What it then runs out of; none if its turn ends there.
    pub leave: Option<Leave>,
}

impl Segment {
    /// Whether it only holds its thread back until it comes.
    pub fn asks_for_nothing(&self) -> bool {
        self.until == 0 && self.leave.is_none()
    }
}

/// Which thread runs up to where, in turn. After the last turn the program runs freely.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Schedule {
    /// The threads that have a turn, in order of their first.
    pub threads: Vec<ThreadName>,
    /// The turns.
    pub segments: Vec<Segment>,
    /// Whether exactly one thread runs at a time, and waits, parks and sleeps are the scheduler's: the order of a run of a search.
    #[serde(default)]
    pub controlled: bool,
}

impl Message for Schedule {
    const KIND: &'static str = "schedule";
}

/// A schedule as a line has it: its turns may name threads that it does not list.
#[derive(Deserialize)]
struct Unchecked {
    threads: Vec<ThreadName>,
    segments: Vec<Segment>,
    #[serde(default)]
    controlled: bool,
}

impl TryFrom<Unchecked> for Schedule {
    type Error = String;

    fn try_from(schedule: Unchecked) -> Result<Schedule, String> {
        let Unchecked {
            threads,
            segments,
            controlled,
        } = schedule;
        if let Some(turn) = segments.iter().position(|segment| segment.thread >= threads.len()) {
            return Err(format!(
                "turn {turn} is of thread {}, and the schedule has {} threads",
                segments[turn].thread,
                threads.len()
            ));
        }
        Ok(Schedule {
            threads,
            segments,
            controlled,
        })
    }
}

impl Schedule {
    /// Lets a thread, by its index in [`Schedule::threads`], run further, in the same turn if it is its turn already.
    pub fn run(&mut self, thread: usize, until: u32) {
        match self.segments.last_mut() {
            Some(last) if last.thread == thread && last.leave.is_none() => last.until = until,
            _ => self.segments.push(Segment {
                thread,
                until,
                leave: None,
            }),
        }
    }

    /// Lets a thread go on for so many points.
    pub fn run_on(&mut self, name: &ThreadName, points: u32) {
        let thread = self.index_of(name);
        let last = self.segments.iter().rfind(|s| s.thread == thread);
        let until = last.map_or(0, |s| s.until).saturating_add(points);
        self.segments.push(Segment {
            thread,
            until,
            leave: None,
        });
    }

    /// Holds threads that have no turn back until all turns so far are over.
    pub fn hold_back<'n>(&mut self, names: impl IntoIterator<Item = &'n ThreadName>) {
        for name in names {
            if !self.threads.contains(name) {
                self.run_on(name, 0);
            }
        }
    }

    /// Lets a thread go on up to a position, this one included.
    pub fn run_to(&mut self, name: &ThreadName, until: u32) {
        let thread = self.index_of(name);
        self.run(thread, until);
    }

    fn index_of(&mut self, name: &ThreadName) -> usize {
        self.threads.iter().position(|t| t == name).unwrap_or_else(|| {
            self.threads.push(name.clone());
            self.threads.len() - 1
        })
    }

    /// Lets a thread run to a position, unless it is further already, and then to the end of what it is in: a turn of its
    /// own, that lasts as long as that takes.
    pub fn run_out_of(&mut self, name: &ThreadName, until: u32, leave: Leave) {
        let thread = self.index_of(name);
        self.leave(thread, until, leave);
    }

    /// The same for a thread by its index in [`Schedule::threads`].
    pub fn leave(&mut self, thread: usize, until: u32, leave: Leave) {
        let last = self.segments.iter().rfind(|s| s.thread == thread);
        let until = last.map_or(0, |s| s.until).max(until);
        self.segments.push(Segment {
            thread,
            until,
            leave: Some(leave),
        });
    }

    /// How often the turn passes from one thread to another.
    pub fn switches(&self) -> usize {
        self.segments.len().saturating_sub(1)
    }

    /// The points passed in each turn: how far the thread's position moves. A thread begins at position 0.
    pub fn points(&self) -> Vec<u32> {
        let mut at = vec![0u32; self.threads.len()];
        let mut points = Vec::with_capacity(self.segments.len());
        for segment in &self.segments {
            if let Some(at) = at.get_mut(segment.thread) {
                points.push(segment.until.saturating_sub(*at));
                *at = segment.until;
            }
        }
        points
    }

    /// The thread of a turn.
    pub fn thread(&self, segment: &Segment) -> &ThreadName {
        &self.threads[segment.thread]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line;

    #[test]
    fn a_schedule_survives_its_line() {
        let name = |path: &str, name: &str| ThreadName {
            path: path.into(),
            name: name.into(),
        };
        let mut schedule = Schedule::default();
        schedule.run_on(&name("main", "main"), 3);
        schedule.run_out_of(
            &name("main/0", "a \"b\"\n\tc"),
            2,
            Leave::Frame { depth: 2, entered: 1 },
        );
        schedule.run_out_of(&name("main", "main"), 7, Leave::Lock(1));
        for schedule in [schedule, Schedule::default()] {
            let text = line::encode(&schedule).expect("a line");
            assert_eq!(text.lines().count(), 1);
            let mut read = line::decode::<Schedule>(&text, std::path::Path::new("turns"));
            assert_eq!(read.pop().expect("one").expect("sound"), schedule);
        }
    }

    #[test]
    fn only_threads_without_turns_are_held_back() {
        let name = |path: &str| ThreadName {
            path: path.into(),
            name: path.into(),
        };
        let mut schedule = Schedule::default();
        schedule.run_on(&name("main"), 3);
        schedule.hold_back(&[name("main"), name("main/2")]);
        let turns: Vec<(&str, bool)> = schedule
            .segments
            .iter()
            .map(|turn| (schedule.thread(turn).path.as_str(), turn.asks_for_nothing()))
            .collect();
        assert_eq!(turns, [("main", false), ("main/2", true)]);
    }

    #[test]
    fn a_turn_of_a_thread_that_is_not_listed_is_an_error() {
        let text =
            r#"{"version":1,"kind":"schedule","body":{"threads":[],"segments":[{"thread":0,"until":1,"leave":null}]}}"#;
        let mut read = line::decode::<Schedule>(text, std::path::Path::new("turns"));
        let error = read.pop().expect("one").expect_err("wrong").to_string();
        assert!(
            error.contains("turns:1:") && error.contains("turn 0 is of thread 0, and the schedule has 0 threads"),
            "{error}"
        );
    }
}
