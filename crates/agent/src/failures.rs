//! What went wrong in this run: kept until the trace is closed, whose footer has it.

use std::sync::{Mutex, PoisonError};

use ravel_trace::{FailedThread, Failure, FailureKind, WaitKind};

/// The most failures that are kept: a pool may lose thousands of threads to one bug.
const MOST: usize = 64;

/// The failures of a run.
#[derive(Debug, Default)]
pub struct Failures(Mutex<Vec<Failure>>);

impl Failures {
    /// A thread ended by an exception that no handler took.
    pub fn died(&self, name: String, exception: String, stack: &str) {
        self.add(Failure {
            kind: FailureKind::Exception,
            exception,
            threads: vec![FailedThread {
                name,
                wait: WaitKind::None,
                stack: stack.lines().map(str::to_string).collect(),
                ..FailedThread::default()
            }],
        });
    }

    /// A thread asks for the end of the program, with this exit code. Only the first one counts.
    pub fn exits(&self, name: String, status: i32, stack: &str) {
        let ends = |known: &Failure| known.kind == FailureKind::Exit;
        if status == 0 || self.all().iter().any(ends) {
            return;
        }
        self.add(Failure {
            kind: FailureKind::Exit,
            exception: format!("exit code {}", status & 0xff),
            threads: vec![FailedThread {
                name,
                wait: WaitKind::None,
                stack: stack.lines().map(str::to_string).collect(),
                ..FailedThread::default()
            }],
        });
    }

    /// One more, unless the same is known of another thread.
    pub fn add(&self, failure: Failure) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &Failure| {
            let stacks = known.threads.iter().zip(&failure.threads);
            known.kind == failure.kind
                && known.exception == failure.exception
                && known.threads.len() == failure.threads.len()
                && stacks.into_iter().all(|(one, other)| one.stack == other.stack)
        };
        if all.len() < MOST && !all.iter().any(same) {
            all.push(failure);
        }
    }

    /// Whether nothing failed so far.
    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// All of them, which are then forgotten.
    pub fn take(&self) -> Vec<Failure> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// All of them, in the order in which they happened.
    pub fn all(&self) -> Vec<Failure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
