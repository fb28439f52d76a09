//! Whether one access of a forced run came after another by the program's own synchronisation: then the two are no race,
//! however near they were.
//!
//! The order is the full one of [`ravel_trace::order`], with one caution: not every use of a class is an event. If a thread
//! that comes after the first access initialises a class, the other thread may have used that class unseen, and the accesses
//! count as ordered.

use ravel_trace::order::EventEdges;
use ravel_trace::{Event, Names, Op};

/// Whether the last of these events, which follow each other in a trace, comes after the first.
pub fn is_ordered(events: &[Event], names: &Names) -> bool {
    // The mark of an event: whether it comes after the first.
    let mut edges = EventEdges::<bool>::new(|_| true);
    let mut threads: Vec<bool> = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let thread = event.thread.index();
        if threads.len() <= thread {
            threads.resize(thread + 1, false);
        }
        let before = edges.comes_after(event, names);
        threads[thread] |= number == 0 || before.iter().any(|(_, after_first)| *after_first);
        if threads[thread] && matches!(event.op, Op::Initialized { .. }) {
            return true;
        }
        edges.happened(event, names, threads[thread]);
    }
    let last = events.last().filter(|_| events.len() > 1);
    last.is_some_and(|event| threads[event.thread.index()])
}

#[cfg(test)]
mod tests {
    use ravel_trace::MemoryTrace;
    use ravel_trace::Source;

    use super::*;

    fn ordered(text: &str) -> bool {
        let trace = MemoryTrace::parse(text).expect("well formed");
        is_ordered(trace.events(), trace.names())
    }

    #[test]
    fn accesses_without_an_edge_between_them_are_not_ordered() {
        assert!(!ordered(
            "t1     | t2
             w x    |
             end!   |
                    | w x"
        ));
        assert!(!ordered(
            "t1     | t2
             w x    |
             rel m  |
                    | acq o
                    | w x"
        ));
        // Taken before it was given up.
        assert!(!ordered(
            "t1     | t2
             w x    |
                    | acq m
             rel m  |
                    | w x"
        ));
    }

    #[test]
    fn readers_of_a_lock_are_not_ordered_by_it() {
        assert!(!ordered(
            "t1     | t2
             w x    |
             rels m |
                    | acqs m
                    | w x"
        ));
        assert!(ordered(
            "t1     | t2
             w x    |
             rels m |
                    | acq m
                    | w x"
        ));
    }

    #[test]
    fn an_edge_orders_and_so_do_edges_through_other_threads() {
        assert!(ordered(
            "t1     | t2
             w x    |
             end    |
                    | join t1
                    | w x"
        ));
        assert!(ordered(
            "t1     | t2
             w x    |
             rel m  |
                    | acq m
                    | w x"
        ));
        assert!(ordered(
            "t1     | t2
             w x    |
             fork t2 |
                    | w x"
        ));
        assert!(ordered(
            "t1     | t2     | t3
             w x    |        |
             rel m  |        |
                    |        | acq m
                    |        | send s
                    | recv s |
                    | w x    |"
        ));
        assert!(ordered(
            "volatile v
             t1     | t2     | t3
             w x    |        |
             w v    |        |
                    |        | w v
                    | r v    |
                    | w x    |"
        ));
    }

    #[test]
    fn a_class_that_was_initialised_in_between_may_have_been_used_unseen() {
        assert!(ordered(
            "t1     | t2
             w x    |
             init C |
                    | w x"
        ));
        assert!(!ordered(
            "t1     | t2
             w x    |
                    | init C
                    | w x"
        ));
    }
}
