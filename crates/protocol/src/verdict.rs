//! How far a forced run followed its schedule.

use serde::{Deserialize, Serialize};

/// How far a forced run followed its schedule, and what became of its threads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// All turns were given.
    Complete {
        /// The first turn that was lost, if one was.
        slip: Option<Slip>,
    },
    /// All turns were given, and now every thread waits and none can wake another.
    Hang {
        /// The names of the threads.
        threads: Vec<String>,
        /// The first turn that was lost, if one was.
        slip: Option<Slip>,
    },
    /// Threads wait for each other's locks.
    Deadlock {
        /// The names of the threads, in the order of the cycle.
        threads: Vec<String>,
        /// The first turn that was lost, if one was.
        slip: Option<Slip>,
    },
    /// The program ended before all turns were given.
    Failed {
        /// The first turn that was lost, or the one that the program did not reach.
        slip: Slip,
    },
}

/// A turn that its thread lost.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Slip {
    /// Index of the turn in [`Schedule::segments`](crate::Schedule::segments).
    pub turn: usize,
    /// The path of the thread: `main/0/2`.
    pub thread: String,
    /// The thread's position when it lost the turn.
    pub at: u32,
    /// The position up to which the turn lets it run.
    pub until: u32,
    /// Why.
    #[serde(flatten)]
    pub cause: Cause,
}

/// Why a thread lost its turn.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "kebab-case")]
pub enum Cause {
    /// The thread was not there in time.
    NotStarted,
    /// The thread ended.
    ThreadEnded,
    /// The program ended while it was the thread's turn.
    ProgramEnded,
    /// The thread reached the end of its turn but did not leave the method or lock that it must leave.
    StaysInUnit,
    /// The thread can run but passed no point.
    MadeNoStep,
    /// The thread slept, or waited with a time limit.
    Slept,
    /// The thread waited for something that is not a thread of the program: input, another process.
    WaitedOutside,
    /// The thread waited for another one.
    WaitedForThread {
        /// The lock that it wanted and its holder, if it waited for a lock.
        lock: Option<WantedLock>,
    },
    /// The thread wanted a lock whose holder waits for its own turn.
    WantedLock(WantedLock),
}

/// A lock that a thread wanted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WantedLock {
    /// The agent's number of the lock.
    pub lock: u64,
    /// The path of the thread that holds it.
    pub holder: String,
}

impl Verdict {
    /// Whether all turns were given; some may have been lost.
    pub fn is_complete(&self) -> bool {
        !matches!(self, Verdict::Failed { .. })
    }

    /// The first turn that was lost in a run in which all turns were given.
    pub fn slip(&self) -> Option<&Slip> {
        match self {
            Verdict::Complete { slip } | Verdict::Hang { slip, .. } | Verdict::Deadlock { slip, .. } => slip.as_ref(),
            Verdict::Failed { .. } => None,
        }
    }
}

impl Slip {
    /// Whether the thread waited for something that another thread has yet to do: the program cannot take the
    /// schedule's order.
    pub fn is_wait(&self) -> bool {
        match self.cause {
            Cause::WaitedForThread { .. } | Cause::WantedLock(_) | Cause::WaitedOutside => true,
            Cause::NotStarted
            | Cause::ThreadEnded
            | Cause::ProgramEnded
            | Cause::StaysInUnit
            | Cause::MadeNoStep
            | Cause::Slept => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EndedBy, Status, line};

    fn slip(cause: Cause) -> Slip {
        Slip {
            turn: 3,
            thread: "main/0".into(),
            at: 7,
            until: 9,
            cause,
        }
    }

    fn all_causes() -> Vec<Cause> {
        let lock = WantedLock {
            lock: u64::MAX,
            holder: "main".into(),
        };
        vec![
            Cause::NotStarted,
            Cause::ThreadEnded,
            Cause::ProgramEnded,
            Cause::StaysInUnit,
            Cause::MadeNoStep,
            Cause::Slept,
            Cause::WaitedOutside,
            Cause::WaitedForThread { lock: None },
            Cause::WaitedForThread {
                lock: Some(lock.clone()),
            },
            Cause::WantedLock(lock),
        ]
    }

    #[test]
    fn every_verdict_survives_its_line() {
        let threads = vec!["a, b | failed".to_string(), "hang \"x\"\t\n".to_string()];
        let mut verdicts = vec![
            Verdict::Complete { slip: None },
            Verdict::Hang {
                threads: threads.clone(),
                slip: Some(slip(Cause::Slept)),
            },
            Verdict::Deadlock { threads, slip: None },
        ];
        verdicts.extend(
            all_causes()
                .into_iter()
                .map(|cause| Verdict::Failed { slip: slip(cause) }),
        );
        for verdict in verdicts {
            let status = Status {
                trace: "t.ravel".into(),
                bytes: 5,
                error: None,
                verdict: Some(verdict),
                ended_by: Some(EndedBy::Deadlock),
            };
            let text = line::encode(&status).expect("a line");
            let mut read = line::decode::<Status>(&text, std::path::Path::new("status"));
            assert_eq!(read.pop().expect("one").expect("sound"), status, "{text}");
            assert!(read.is_empty());
        }
    }

    #[test]
    fn only_waiting_for_others_makes_an_order_impossible() {
        let waits: Vec<Cause> = all_causes()
            .into_iter()
            .filter(|cause| slip(cause.clone()).is_wait())
            .collect();
        assert_eq!(waits.len(), 4, "{waits:?}");
        assert!(!slip(Cause::Slept).is_wait());
    }

    #[test]
    fn a_failed_run_has_a_reason_but_no_lost_turn() {
        let failed = Verdict::Failed {
            slip: slip(Cause::ProgramEnded),
        };
        assert_eq!((failed.is_complete(), failed.slip()), (false, None));
        let lost = slip(Cause::ThreadEnded);
        let complete = Verdict::Complete {
            slip: Some(lost.clone()),
        };
        assert_eq!((complete.is_complete(), complete.slip()), (true, Some(&lost)));
    }
}
