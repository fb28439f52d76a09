//! What went wrong in a run, as the recorder saw it: a thread that an uncaught exception ended, threads that block each other,
//! a program that stands still, or one that a thread ended with an exit code. No event shows these: a lock that is never acquired leaves no acquisition.

use crate::naming::Frame;
use crate::varint::{get, get_str, put, put_str};

/// Something that went wrong in a run.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Failure {
    /// What it is.
    pub kind: FailureKind,
    /// Class and message of the exception; `exit code 3` of an exit; empty for other kinds.
    pub exception: String,
    /// The threads concerned; of a deadlock in the order of its cycle, each waits for the next one.
    pub threads: Vec<FailedThread>,
}

/// The kinds of failure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum FailureKind {
    /// An exception that no handler took ended a thread.
    #[default]
    Exception,
    /// Threads wait for each other's locks.
    Deadlock,
    /// Threads wait, and no thread is left that could wake them.
    Standstill,
    /// A thread ended the program with an exit code that is not 0. Noted in forced runs alone.
    Exit,
}

/// A thread that failed or waits.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FailedThread {
    /// Its name.
    pub name: String,
    /// How it waits.
    pub wait: WaitKind,
    /// What it waits for: the class of a lock or synchroniser, the class that is initialised, or the name of the thread that it joins.
    pub target: String,
    /// The thread that holds the lock or initialises the class, if one does.
    pub holder: String,
    /// Whether that thread has ended.
    pub holder_ended: bool,
    /// Innermost first, `shop.Stock.count (Stock.java:14)`.
    pub stack: Vec<String>,
}

/// How a thread waits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum WaitKind {
    /// It does not: it failed.
    #[default]
    None,
    /// For a monitor.
    Monitor,
    /// For a notification, `Object.wait`.
    Notification,
    /// Parked: for an explicit lock, a condition, a queue.
    Parked,
    /// For the end of another thread.
    Join,
    /// For a class that another thread initialises.
    Initialisation,
}

const KINDS: [FailureKind; 4] = [
    FailureKind::Exception,
    FailureKind::Deadlock,
    FailureKind::Standstill,
    FailureKind::Exit,
];
const WAITS: [WaitKind; 6] = [
    WaitKind::None,
    WaitKind::Monitor,
    WaitKind::Notification,
    WaitKind::Parked,
    WaitKind::Join,
    WaitKind::Initialisation,
];

impl Failure {
    /// The class of the exception.
    pub fn exception_class(&self) -> &str {
        exception_class(&self.exception)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.kind as u64);
        put_str(out, &self.exception);
        put(out, self.threads.len() as u64);
        for thread in &self.threads {
            put_str(out, &thread.name);
            put(out, thread.wait as u64);
            put_str(out, &thread.target);
            put_str(out, &thread.holder);
            put(out, thread.holder_ended.into());
            put(out, thread.stack.len() as u64);
            thread.stack.iter().for_each(|frame| put_str(out, frame));
        }
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Failure> {
        let at = &mut 0;
        let mut failure = Failure {
            kind: *KINDS.get(usize::try_from(get(body, at)?).ok()?)?,
            exception: get_str(body, at)?,
            threads: Vec::new(),
        };
        for _ in 0..get(body, at)? {
            let mut thread = FailedThread {
                name: get_str(body, at)?,
                wait: *WAITS.get(usize::try_from(get(body, at)?).ok()?)?,
                target: get_str(body, at)?,
                holder: get_str(body, at)?,
                holder_ended: get(body, at)? != 0,
                stack: Vec::new(),
            };
            for _ in 0..get(body, at)? {
                thread.stack.push(get_str(body, at)?);
            }
            failure.threads.push(thread);
        }
        Some(failure)
    }
}

impl FailedThread {
    /// The innermost frame of the program's own code; the innermost of all if there is none.
    pub fn own_frame(&self) -> Frame<'_> {
        let frames = || self.stack.iter().map(|text| Frame::parse(text));
        let own = frames().find(|frame| crate::Origin::of(frame.class) == crate::Origin::Application);
        own.or(frames().next()).unwrap_or_default()
    }
}

/// The class of an exception that is described as `class: message`.
pub fn exception_class(described: &str) -> &str {
    described.split(':').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_survives_its_bytes() {
        let failure = Failure {
            kind: FailureKind::Deadlock,
            exception: "java.lang.Error: a: b".into(),
            threads: vec![
                FailedThread {
                    name: "t1".into(),
                    wait: WaitKind::Monitor,
                    target: "shop.Stock".into(),
                    holder: "t2".into(),
                    holder_ended: true,
                    stack: vec![
                        "java.lang.Object.wait (Native Method)".into(),
                        "shop.Stock.take (Stock.java:14)".into(),
                    ],
                },
                FailedThread::default(),
            ],
        };
        let mut bytes = Vec::new();
        failure.encode(&mut bytes);
        for end in 0..bytes.len() {
            assert_eq!(Failure::decode(&bytes[..end]), None, "{end} bytes");
        }
        assert_eq!(failure.threads[0].own_frame().line, 14);
        assert_eq!(failure.exception_class(), "java.lang.Error");
        assert_eq!(Failure::decode(&bytes), Some(failure));
    }
}
