//! The tests that a test runner tells of while the program runs: kept until the trace is closed, whose footer has them.

use std::sync::{Mutex, PoisonError};

use ravel_trace::ids::ThreadId;
use ravel_trace::{TestRun, Tests};

/// The most tests that are kept; each is a few hundred bytes.
const MOST: usize = 200_000;

/// Where a thread is in its run.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The thread.
    pub thread: ThreadId,
    /// Its position.
    pub position: u32,
    /// How many threads there have been.
    pub threads: u32,
}

/// The tests so far.
#[derive(Debug, Default)]
pub struct ToldTests(Mutex<Tests>);

impl ToldTests {
    /// How one test is run alone: the directory, then the words of the command, a line each.
    pub fn run_one_by(&self, lines: &str) {
        let mut lines = lines.lines().map(str::to_string);
        self.with(|tests| {
            tests.directory = lines.next().unwrap_or_default();
            tests.command = lines.collect();
        });
    }

    /// A test begins. Up to its end it has all that follows.
    pub fn begin(&self, id: String, name: String, now: Moment) {
        self.with(|tests| {
            if tests.runs.len() < MOST {
                tests.runs.push(TestRun {
                    id,
                    name,
                    thread: now.thread,
                    positions: (now.position, u32::MAX),
                    threads: (now.threads, u32::MAX),
                });
            }
        });
    }

    /// A test ends.
    pub fn end(&self, id: &str, now: Moment) {
        self.with(|tests| {
            let open = |test: &&mut TestRun| test.threads.1 == u32::MAX && test.id == id;
            if let Some(test) = tests.runs.iter_mut().rev().find(open) {
                test.threads.1 = now.threads;
                // A test that ends on another thread has all of its own.
                if test.thread == now.thread {
                    test.positions.1 = now.position;
                }
            }
        });
    }

    /// All of them.
    pub fn all(&self) -> Tests {
        self.with(|tests| tests.clone())
    }

    fn with<T>(&self, change: impl FnOnce(&mut Tests) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(thread: u32, position: u32, threads: u32) -> Moment {
        Moment {
            thread: ThreadId(thread),
            position,
            threads,
        }
    }

    #[test]
    fn a_test_has_what_happens_up_to_its_end() {
        let told = ToldTests::default();
        told.run_one_by("/srv\njava\n-cp\na b:c\n");
        told.begin("a".into(), "A".into(), at(0, 5, 1));
        told.end("unknown", at(0, 6, 2));
        told.end("a", at(0, 9, 3));
        told.begin("b".into(), "B".into(), at(0, 9, 3));
        let tests = told.all();
        assert_eq!((tests.directory.as_str(), tests.command.len()), ("/srv", 3));
        let spans: Vec<_> = tests.runs.iter().map(|test| (test.positions, test.threads)).collect();
        assert_eq!(spans, [((5, 9), (1, 3)), ((9, u32::MAX), (3, u32::MAX))]);
    }
}
