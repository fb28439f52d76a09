//! The order of an earlier run, turn by turn.

use ravel_protocol::{Leave, Schedule, Segment};

use super::{Past, Ready, Strategy, path_number};

/// Follows a schedule. A thread's turn ends when it comes to the turn's position, and where the schedule says so, comes there for the
/// so-many-th time.
pub struct Follow {
    schedule: Schedule,
    /// The threads of the schedule, as [`path_number`] names them.
    paths: Vec<u64>,
    turn: usize,
}

impl Follow {
    /// This order.
    pub fn new(schedule: Schedule) -> Follow {
        Follow {
            paths: schedule
                .threads
                .iter()
                .map(|thread| path_number(&thread.path))
                .collect(),
            schedule,
            turn: 0,
        }
    }

    fn is_over(segment: &Segment, at: (u32, u32)) -> bool {
        let times = match segment.leave {
            Some(Leave::Times(times)) => times,
            _ => 1,
        };
        at.0 > segment.until || at.0 == segment.until && at.1 >= times
    }
}

impl Strategy for Follow {
    fn begin(&mut self, _: u64) {
        self.turn = 0;
    }

    fn choose(&mut self, ready: &[Ready], past: Past) -> usize {
        let stay = |last: Option<usize>| ready.iter().position(|one| Some(one.thread) == last).unwrap_or(0);
        while let Some(segment) = self.schedule.segments.get(self.turn) {
            let path = self.paths[segment.thread];
            let wanted = ready.iter().position(|one| one.path == path);
            match wanted {
                Some(place) if !Follow::is_over(segment, ready[place].at) => return place,
                _ => self.turn += 1,
            }
        }
        stay(past.last)
    }

    fn goes(&mut self, _: &[Ready], _: usize, _: bool) {}
}

#[cfg(test)]
mod tests {
    use ravel_protocol::ThreadName;

    use super::super::Op;
    use super::*;

    #[test]
    fn a_turn_ends_at_its_position_and_after_as_many_visits_as_the_schedule_says() {
        let name = |path: &str| ThreadName {
            path: path.into(),
            name: path.into(),
        };
        let mut schedule = Schedule {
            controlled: true,
            ..Schedule::default()
        };
        schedule.run_to(&name("main"), 2);
        schedule.run_out_of(&name("main/0"), 1, Leave::Times(2));
        schedule.run_to(&name("main"), 9);
        let mut follow = Follow::new(schedule);
        follow.begin(0);
        let mut chosen = |main: (u32, u32), child: (u32, u32)| {
            let ready = |thread, path, at| Ready {
                thread,
                path: path_number(path),
                op: Op::Step,
                at,
            };
            follow.choose(&[ready(0, "main", main), ready(1, "main/0", child)], Past::default())
        };
        assert_eq!(chosen((1, 1), (0, 1)), 0);
        assert_eq!(chosen((2, 1), (0, 1)), 1);
        assert_eq!(chosen((2, 1), (1, 1)), 1, "its first visit");
        assert_eq!(chosen((2, 1), (1, 2)), 0);
        assert_eq!(chosen((9, 1), (1, 2)), 0, "no turn is left");
    }
}
