//! Passes through the body of a thread: its straight-line code, or one turn of a loop in it.
//!
//! The body of a thread (`run`, the lambda of a pool's task, `main`) is no unit as a whole: it may run as long as the program. But code that
//! is written there makes calls that belong together as code anywhere does. A trace does not tell of loops, so a pass ends where the body
//! goes back: where its next step lies at an earlier instruction than its last one, or at the same.
//!
//! Misses: a compiler that puts the condition of a loop behind its body cuts the condition off from the body that it guards. Calls of methods
//! that take a lock in their code, and are not `synchronized` as a whole, belong to no pass.

/// Where a body is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passes {
    /// Bytecode index and position of the last step.
    last: Option<(u32, u32)>,
    /// The first position of the present pass.
    begin: u32,
}

impl Passes {
    /// The body itself does something at a bytecode index; `before` is the position of the thread's event before. Whether a new
    /// pass begins with it.
    pub(super) fn step(&mut self, bci: u32, position: u32, before: u32) -> bool {
        // A call on a modelled object may be several events.
        let again = self.last.is_some_and(|last| bci <= last.0 && (bci, position) != last);
        if again || self.last.is_none() {
            self.begin = before.saturating_add(1);
        }
        self.last = Some((bci, position));
        again
    }

    /// The first position of the present pass; none before its first step.
    pub(super) fn begin(&self) -> Option<u32> {
        self.last.map(|_| self.begin)
    }

    /// The thread waits for another one, or starts one: the next step begins a pass.
    pub(super) fn split(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_ends_where_the_body_goes_back() {
        let mut passes = Passes::default();
        assert_eq!(passes.begin(), None);
        let steps = [
            (4, 1, 0),
            (9, 3, 2),
            (9, 3, 3),
            (4, 5, 4),
            (9, 7, 6),
            (9, 9, 8),
            (20, 11, 10),
        ];
        let begun = steps.map(|(bci, position, before)| (passes.step(bci, position, before), passes.begin));
        let expected = [
            (false, 1),
            (false, 1),
            // The same call.
            (false, 1),
            (true, 5),
            (false, 5),
            // The same instruction again: an inner loop.
            (true, 9),
            (false, 9),
        ];
        assert_eq!(begun, expected);
        passes.split();
        assert!(passes.begin().is_none() && !passes.step(2, 20, 19));
        assert_eq!(passes.begin(), Some(20));
    }
}
