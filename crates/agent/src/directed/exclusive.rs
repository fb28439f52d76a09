//! Activations that exclude each other: a control run in which a pattern of two of them cannot happen.

use std::collections::BTreeMap;

use super::director::ThreadNumber;

/// The one thread that is in an activation, with those that were let in beside it.
#[derive(Debug, Default)]
pub struct Exclusive {
    /// By thread: how deep it is.
    inside: BTreeMap<ThreadNumber, u32>,
    /// Activations so far.
    pub entered: u64,
    /// How often two threads were inside at the same time, since the first could not go on.
    pub broken: u64,
}

impl Exclusive {
    /// Whether a thread may enter now.
    pub fn is_free_for(&self, thread: ThreadNumber) -> bool {
        self.inside.is_empty() || self.inside.contains_key(&thread)
    }

    /// The threads that are inside.
    pub fn inside(&self) -> Vec<ThreadNumber> {
        self.inside.keys().copied().collect()
    }

    /// A thread enters.
    pub fn enter(&mut self, thread: ThreadNumber) {
        self.entered += 1;
        self.broken += u64::from(!self.is_free_for(thread));
        *self.inside.entry(thread).or_insert(0) += 1;
    }

    /// A thread leaves.
    pub fn leave(&mut self, thread: ThreadNumber) {
        if let Some(depth) = self.inside.get_mut(&thread) {
            *depth -= 1;
            if *depth == 0 {
                self.inside.remove(&thread);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_is_inside_and_may_enter_again() {
        let mut exclusive = Exclusive::default();
        exclusive.enter(1);
        assert!(exclusive.is_free_for(1) && !exclusive.is_free_for(2));
        exclusive.enter(1);
        exclusive.leave(1);
        assert!(!exclusive.is_free_for(2));
        exclusive.leave(1);
        assert!(exclusive.is_free_for(2));
        assert_eq!((exclusive.entered, exclusive.broken), (2, 0));
    }

    #[test]
    fn a_thread_that_is_let_in_beside_another_is_counted() {
        let mut exclusive = Exclusive::default();
        exclusive.enter(1);
        exclusive.enter(2);
        assert_eq!(exclusive.broken, 1);
        assert_eq!(exclusive.inside(), [1, 2]);
    }
}
