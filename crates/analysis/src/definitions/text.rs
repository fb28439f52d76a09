//! Transactions as text.
//!
//! A line is a transaction of the thread named before the colon; several lines of one thread are its transactions in program
//! order. Steps are `r(x)`, `w(x)`, `u(x)` (a read and a write in one indivisible step), `acq(m)`, `rel(m)`, `sacq(m)` and
//! `srel(m)` (a lock shared among readers), `fork(t)` and `join(t)`.

use ravel_trace::{LocationId, LockId, Mode, ThreadId};
use smallvec::SmallVec;

use crate::transaction::{Action, HeldLocks, Transaction, TransactionStep};

/// Transactions read from text, with the names that the text gave to things.
#[derive(Clone, Debug, Default)]
pub struct TransactionSet {
    /// In the order of the lines.
    pub transactions: Vec<Transaction>,
    /// Indexed by [`ThreadId`].
    pub threads: Vec<String>,
    /// Indexed by [`LocationId`].
    pub locations: Vec<String>,
    /// Indexed by [`LockId`].
    pub locks: Vec<String>,
}

/// Why a line of transactions could not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

fn intern(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

impl TransactionSet {
    /// Reads transactions from text, one per line.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let mut set = TransactionSet::default();
        let lines = || {
            text.lines()
                .enumerate()
                .map(|(at, line)| (at + 1, line.trim()))
                .filter(|(_, l)| !l.is_empty())
        };
        // Thread ids follow the order of the lines, not of the forks that mention them.
        for (line, text) in lines() {
            let (thread, _) = text.split_once(':').ok_or_else(|| TextError {
                line,
                problem: "expected `thread: steps`".into(),
            })?;
            intern(&mut set.threads, thread.trim());
        }
        for (line, text) in lines() {
            let Some((thread, steps)) = text.split_once(':') else {
                continue;
            };
            let thread = ThreadId::from(intern(&mut set.threads, thread.trim()));
            let mut transaction = Transaction {
                thread,
                steps: Vec::new(),
                entry: HeldLocks::default(),
            };
            for (origin, word) in (0..).zip(steps.split_whitespace()) {
                for action in set.actions(word).map_err(|problem| TextError { line, problem })? {
                    transaction.steps.push(TransactionStep { action, origin });
                }
            }
            set.transactions.push(transaction);
        }
        Ok(set)
    }

    fn actions(&mut self, word: &str) -> Result<SmallVec<[Action; 2]>, String> {
        let (op, name) = word
            .strip_suffix(')')
            .and_then(|word| word.split_once('('))
            .ok_or_else(|| format!("expected `step(name)`, found `{word}`"))?;
        let location = |set: &mut Self| LocationId::from(intern(&mut set.locations, name));
        let lock = |set: &mut Self| LockId::from(intern(&mut set.locks, name));
        let thread = |set: &mut Self| ThreadId::from(intern(&mut set.threads, name));
        Ok(match op.to_ascii_lowercase().as_str() {
            "r" => smallvec::smallvec![Action::Read(location(self))],
            "w" => smallvec::smallvec![Action::Write(location(self))],
            "u" => {
                let location = location(self);
                smallvec::smallvec![Action::Read(location), Action::Write(location)]
            }
            "acq" => smallvec::smallvec![Action::Acquire(lock(self), Mode::Exclusive)],
            "rel" => smallvec::smallvec![Action::Release(lock(self), Mode::Exclusive)],
            "sacq" => smallvec::smallvec![Action::Acquire(lock(self), Mode::Shared)],
            "srel" => smallvec::smallvec![Action::Release(lock(self), Mode::Shared)],
            "fork" => smallvec::smallvec![Action::Fork(thread(self))],
            "join" => smallvec::smallvec![Action::Join(thread(self))],
            _ => return Err(format!("unknown step `{op}`")),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn text_errors_name_the_line() {
        let error = TransactionSet::parse("t: r(x)\nt: frob(x)").unwrap_err();
        assert_eq!(error.to_string(), "line 2: unknown step `frob`");
    }
}
