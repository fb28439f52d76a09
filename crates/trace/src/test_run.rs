//! Which test did what: a test runner that knows Ravel tells the recorder where each test begins and ends, and how one test is run alone.
//!
//! Separate from the footer, which holds it: the stretch of a test is judged here and nowhere else.

use crate::ids::ThreadId;
use crate::names::Thread;
use crate::varint::{get, get_str, put, put_str};

/// The tests of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tests {
    /// In the order in which they began.
    pub runs: Vec<TestRun>,
    /// The command that runs one of them alone, in the directory of the test JVM: the test's id is its last word. Empty if there is none.
    pub command: Vec<String>,
    /// The directory of the test JVM; a build tool may start it elsewhere than it was started itself.
    pub directory: String,
}

/// One test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TestRun {
    /// The test runner's name of it, by which it is found again.
    pub id: String,
    /// For people: `shop.ShopTest.twoCustomers`.
    pub name: String,
    /// The thread that runs it.
    pub thread: ThreadId,
    /// The positions of that thread from its begin on, and up to its end.
    pub positions: (u32, u32),
    /// The threads from the first that was made meanwhile on, and up to the first that was made later.
    pub threads: (u32, u32),
}

impl TestRun {
    /// Whether threads were made while it ran.
    pub fn has_threads(&self) -> bool {
        self.threads.0 < self.threads.1
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_str(out, &self.id);
        put_str(out, &self.name);
        let (begin, end) = self.positions;
        let (first, last) = self.threads;
        for number in [self.thread.0, begin, end, first, last] {
            put(out, number.into());
        }
    }

    pub(crate) fn decode(body: &[u8]) -> Option<TestRun> {
        let at = &mut 0;
        let (id, name) = (get_str(body, at)?, get_str(body, at)?);
        let mut number = || u32::try_from(get(body, at)?).ok();
        Some(TestRun {
            id,
            name,
            thread: ThreadId(number()?),
            positions: (number()?, number()?),
            threads: (number()?, number()?),
        })
    }
}

impl Tests {
    /// The test in which a thread came to a position; none if that was in no test or cannot be known: a thread that is older than the
    /// test serves several, and of tests that run at once only those have a thread whose own thread made it.
    pub fn of(&self, threads: &[Thread], thread: ThreadId, position: u32) -> Option<&TestRun> {
        let inside =
            |test: &&TestRun| test.thread == thread && (test.positions.0..test.positions.1).contains(&position);
        if let Some(own) = self.runs.iter().find(inside) {
            return Some(own);
        }
        let meanwhile = |test: &TestRun| (test.threads.0..test.threads.1).contains(&thread.0);
        let found: Vec<&TestRun> = self.runs.iter().filter(|test| meanwhile(test)).collect();
        if let [only] = found.as_slice() {
            return Some(only);
        }
        // Of several at once: the one whose thread is the nearest forebear.
        let mut forebear = threads.get(thread.index())?.parent;
        for _ in 0..threads.len() {
            let parent = forebear?;
            if let Some(test) = found.iter().find(|test| test.thread == parent) {
                return Some(test);
            }
            forebear = threads.get(parent.index())?.parent;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(id: &str, thread: u32, positions: (u32, u32), threads: (u32, u32)) -> TestRun {
        TestRun {
            id: id.into(),
            name: id.to_uppercase(),
            thread: ThreadId(thread),
            positions,
            threads,
        }
    }

    fn child_of(parent: u32) -> Thread {
        Thread {
            parent: Some(ThreadId(parent)),
            ..Thread::default()
        }
    }

    fn named(tests: &Tests, threads: &[Thread], thread: u32, position: u32) -> Option<String> {
        let found = tests.of(threads, ThreadId(thread), position);
        found.map(|test| test.id.clone())
    }

    #[test]
    fn a_position_belongs_to_the_test_that_ran() {
        let tests = Tests {
            runs: vec![test("a", 0, (10, 20), (2, 4)), test("b", 0, (20, 30), (4, 5))],
            ..Tests::default()
        };
        let threads = [Thread::default(), child_of(0), child_of(0), child_of(2), child_of(0)];
        for (thread, position, wanted) in [
            (0, 9, None),
            (0, 10, Some("a")),
            (0, 20, Some("b")),
            (0, 30, None),
            // Older than both.
            (1, 15, None),
            (2, 0, Some("a")),
            (3, 500, Some("a")),
            (4, 1, Some("b")),
        ] {
            let found = named(&tests, &threads, thread, position);
            assert_eq!(found.as_deref(), wanted, "thread {thread} at {position}");
        }
    }

    #[test]
    fn of_tests_at_once_the_forebear_decides() {
        let tests = Tests {
            runs: vec![test("a", 1, (0, 50), (3, 7)), test("b", 2, (0, 50), (3, 7))],
            ..Tests::default()
        };
        let threads = [
            Thread::default(),
            child_of(0),
            child_of(0),
            child_of(1),
            child_of(3),
            child_of(2),
            child_of(0),
        ];
        assert_eq!(named(&tests, &threads, 4, 1).as_deref(), Some("a"));
        assert_eq!(named(&tests, &threads, 5, 1).as_deref(), Some("b"));
        assert_eq!(named(&tests, &threads, 6, 1), None);
    }

    #[test]
    fn a_test_round_trips() {
        let run = test("[engine:junit-jupiter]/[class:a.B]", 3, (1, u32::MAX), (0, 9));
        let mut bytes = Vec::new();
        run.encode(&mut bytes);
        assert_eq!(TestRun::decode(&bytes), Some(run));
        assert_eq!(TestRun::decode(&bytes[..bytes.len() - 1]), None);
    }
}
