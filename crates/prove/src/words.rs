//! What a forced run's messages say, in words for people.

use ravel_protocol::{Cause, Slip, Verdict};

use crate::runner::Forced;

/// Why a finding was not tried when the user interrupted.
pub const NOT_TRIED_INTERRUPTED: &str = "it was not tried: interrupted";
/// Why a finding was not tried when the budget was used up.
pub const NOT_TRIED_TIME: &str = "it was not tried: the time was used up (--budget)";
/// What all reasons say that have to do with the budget.
pub const OUT_OF_TIME: &str = "(--budget)";
/// What is said of a run that took another path although the threads read what they read when they were recorded.
pub const MAY_DIFFER: &str = "input, time, random numbers or the order of a hash table may differ";
/// What is said of a run that did not follow its schedule.
pub const LEFT_SCHEDULE: &str = "the run left the schedule";
/// What a thread did that waited for something that was not recorded.
pub const WAITED_OUTSIDE: &str = "waited for something outside";

/// Why a turn was lost.
pub fn slip(slip: &Slip) -> String {
    let Slip { thread, at, until, .. } = slip;
    let before = match at < until {
        true => format!("before point {until}"),
        false => "before the end of its unit".to_string(),
    };
    let does = match &slip.cause {
        Cause::NotStarted => return format!("thread {thread} was not started"),
        Cause::StaysInUnit => return format!("thread {thread} does not leave its unit"),
        Cause::ProgramEnded => return format!("the program ended before thread {thread} reached point {until}"),
        Cause::ThreadEnded => "ended".to_string(),
        Cause::MadeNoStep => "made no step".to_string(),
        Cause::Slept => "slept".to_string(),
        Cause::WaitedOutside => WAITED_OUTSIDE.to_string(),
        Cause::WaitedForThread { .. } => "waited for another thread".to_string(),
        Cause::WantedLock(lock) => format!("wanted a lock of thread {}", lock.holder),
    };
    format!("thread {thread} {does} at point {at}, {before}")
}

/// The names of several threads.
pub fn threads(names: &[String]) -> String {
    names.join(", ")
}

/// Why a run did not get through its schedule.
pub fn failure(run: &Forced) -> String {
    let reason = match &run.verdict {
        Some(Verdict::Failed { slip: lost }) => slip(lost),
        _ if run.hung() => "it took too long".to_string(),
        _ => format!("it ended with {}", run.status),
    };
    if run.remark.is_empty() {
        reason
    } else {
        format!("{reason} ({})", run.remark)
    }
}

#[cfg(test)]
mod tests {
    use ravel_protocol::WantedLock;

    use super::*;

    #[test]
    fn a_lost_turn_is_told_by_thread_and_point() {
        let told = |at, cause| {
            slip(&Slip {
                turn: 0,
                thread: "main/0".into(),
                at,
                until: 5,
                cause,
            })
        };
        let lock = WantedLock {
            lock: 1,
            holder: "main".into(),
        };
        for (at, cause, words) in [
            (0, Cause::NotStarted, "thread main/0 was not started"),
            (2, Cause::ThreadEnded, "thread main/0 ended at point 2, before point 5"),
            (
                2,
                Cause::ProgramEnded,
                "the program ended before thread main/0 reached point 5",
            ),
            (6, Cause::StaysInUnit, "thread main/0 does not leave its unit"),
            (
                2,
                Cause::MadeNoStep,
                "thread main/0 made no step at point 2, before point 5",
            ),
            (
                7,
                Cause::Slept,
                "thread main/0 slept at point 7, before the end of its unit",
            ),
            (
                2,
                Cause::WaitedOutside,
                "thread main/0 waited for something outside at point 2, before point 5",
            ),
            (
                2,
                Cause::WaitedForThread { lock: None },
                "thread main/0 waited for another thread at point 2, before point 5",
            ),
            (
                2,
                Cause::WantedLock(lock),
                "thread main/0 wanted a lock of thread main at point 2, before point 5",
            ),
        ] {
            assert_eq!(told(at, cause), words);
        }
    }
}
