//! What a forced run's messages say, in words for people.

use ravel_analysis::limit::{Limit, LimitKind};
use ravel_protocol::{Cause, Slip, Verdict};

use crate::runner::Forced;

/// That a run did not follow its schedule, and why.
pub fn left_schedule(why: Limit) -> Limit {
    Limit::new("the run left the schedule", [LimitKind::LeftSchedule]).because(why)
}

/// Why a turn was lost.
pub fn lost_turn(slip: &Slip) -> Limit {
    let kind = matches!(slip.cause, Cause::WaitedOutside).then_some(LimitKind::WaitedOutside);
    Limit::new(self::slip(slip), kind)
}

fn slip(slip: &Slip) -> String {
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
        Cause::MadeNoStep => "made no progress".to_string(),
        Cause::Slept => "slept".to_string(),
        Cause::WaitedOutside => "waited for an event outside the program".to_string(),
        Cause::WaitedForThread { .. } => "waited for another thread".to_string(),
        Cause::WantedLock(lock) => format!("wanted a lock of thread {}", lock.holder),
    };
    format!("thread {thread} {does} at point {at}, {before}")
}

/// The names of several threads.
pub fn threads(names: &[String]) -> String {
    match names {
        [init @ .., last] if !init.is_empty() => format!("{} and {last}", init.join(", ")),
        _ => names.concat(),
    }
}

/// Why a run did not get through its schedule.
pub fn failure(run: &Forced) -> Limit {
    let reason = match &run.verdict {
        Some(Verdict::Failed { slip }) => lost_turn(slip),
        _ if run.hung() => "it took too long".into(),
        _ => format!("it ended with {}", run.status).into(),
    };
    match run.remark.is_empty() {
        true => reason,
        false => reason.noting(&run.remark),
    }
}

/// Lines that are shown of what a program printed.
const MOST_LINES: usize = 3;
/// Characters of such a line.
const LONGEST_LINE: usize = 160;

/// The last lines that a program printed itself: the JVM's account of an uncaught exception is shown elsewhere.
pub fn last_lines(output: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(output);
    let of_jvm = |line: &&str| {
        line.starts_with("\tat ")
            || line.starts_with("\t... ")
            || line.starts_with("Exception in thread ")
            || line.starts_with("Caused by: ")
    };
    let own: Vec<&str> = text
        .lines()
        .filter(|line| !of_jvm(line) && !line.trim().is_empty())
        .collect();
    let last = &own[own.len().saturating_sub(MOST_LINES)..];
    let short = |line: &&str| line.chars().take(LONGEST_LINE).collect();
    last.iter().map(short).collect()
}

#[cfg(test)]
mod tests {
    use ravel_protocol::WantedLock;

    use super::*;

    #[test]
    fn the_last_lines_are_those_of_the_program() {
        let output = b"a\nb\nc\nd\nException in thread \"t1\" java.lang.Error: x\n\tat A.b(A.java:3)\nCaused by: y\n\t... 1 more\n";
        assert_eq!(last_lines(output), ["b", "c", "d"]);
        assert_eq!(last_lines(b""), [] as [String; 0]);
        assert_eq!(last_lines(&[b'x'; 500])[0].len(), 160);
    }

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
                "thread main/0 made no progress at point 2, before point 5",
            ),
            (
                7,
                Cause::Slept,
                "thread main/0 slept at point 7, before the end of its unit",
            ),
            (
                2,
                Cause::WaitedOutside,
                "thread main/0 waited for an event outside the program at point 2, before point 5",
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
