//! A test per rule, and those in which it matters which waiter a notification wakes.

use super::*;
use crate::memory::MemoryTrace;
use crate::source::Source;

/// The edges of a trace in text form: the numbers of the two events, from 1, and the rule.
fn edges_by(text: &str, wanted: fn(EdgeRule) -> bool) -> Vec<(usize, usize, EdgeRule)> {
    let trace = MemoryTrace::parse(text).expect("well formed");
    let mut edges = EventEdges::new(wanted);
    let mut found = Vec::new();
    for (number, event) in (1..).zip(trace.events()) {
        let before = edges.comes_after(event, trace.names());
        found.extend(before.into_iter().map(|(rule, from)| (from, number, rule)));
        edges.happened(event, trace.names(), number);
    }
    found
}

fn hard(text: &str) -> Vec<(usize, usize, EdgeRule)> {
    edges_by(text, EdgeRule::is_hard)
}

fn full(text: &str) -> Vec<(usize, usize, EdgeRule)> {
    edges_by(text, |rule| !rule.is_hard())
}

use EdgeRule::{Class, EarlierVolatile, Fork, Join, LimitedJoin, Lock, Notify, NotifyOther, Send, Volatile};

#[test]
fn a_thread_begins_after_its_fork() {
    let text = "
        main     | t
        r x      |
        fork t   |
        w x      |
                 | begin
                 | r x";
    assert_eq!(hard(text), [(2, 4, Fork)]);
}

#[test]
fn the_first_event_of_a_thread_may_be_any() {
    let text = "
        main     | t
        fork t   |
                 | r x
                 | r x";
    assert_eq!(hard(text), [(1, 2, Fork)]);
}

#[test]
fn a_join_comes_after_the_last_event() {
    let text = "
        main     | t
                 | w x
                 | end
        join t   |";
    assert_eq!(hard(text), [(2, 3, Join)]);
    let no_end = "
        main     | t
                 | w x
        join t   |";
    assert_eq!(hard(no_end), [(1, 2, Join)]);
}

#[test]
fn a_join_that_a_limit_could_have_ended_orders_this_run_alone() {
    let text = "
        main         | t
                     | w x
                     | end
        joinwithin t |";
    assert_eq!(hard(text), []);
    assert_eq!(full(text), [(2, 3, LimitedJoin)]);
}

#[test]
fn a_join_of_a_thread_without_events_comes_after_its_fork() {
    let text = "
        main     | other  | t
        fork t   |
                 | join t |";
    assert_eq!(hard(text), [(1, 2, Fork)]);
}

#[test]
fn a_receive_comes_after_the_sends_of_all_threads() {
    let text = "
        t1     | t2     | t3
        send s |        |
               | send s |
        send s |        |
               |        | recv s
               |        | recv s
               | send s |
               |        | recv s
        recv s |        |";
    assert_eq!(hard(text), [(2, 4, Send), (3, 4, Send), (6, 7, Send), (6, 8, Send)]);
}

#[test]
fn a_receive_before_the_send_comes_after_nothing() {
    let text = "
        t1     | t2
               | recv s
        send s |
        send u |";
    assert_eq!(hard(text), []);
}

#[test]
fn a_use_of_a_class_comes_after_its_initialisation_once() {
    let text = "
        static C.f
        t1         | t2
        init C     |
                   | r C.f
                   | r C.f
        r C.f      |";
    assert_eq!(hard(text), [(1, 2, Class)]);
    let entered = "
        t1         | t2
        init C     |
                   | enter C.m
                   | r x";
    assert_eq!(hard(entered), [(1, 2, Class)]);
}

#[test]
fn code_that_was_entered_before_the_event_of_the_initialisation_comes_after_it() {
    // The initialiser was over before t2 entered the class, but its event came late.
    let text = "
        t1         | t2
                   | enter C.m
        init C     |
                   | r x";
    assert_eq!(hard(text), [(2, 3, Class)]);
}

#[test]
fn a_volatile_read_comes_after_the_last_write_and_in_full_order_after_all() {
    let text = "
        volatile v
        t1   | t2   | t3
        w v  |      |
             | w v  |
             |      | r v
             | w x  |
             |      | r x";
    assert_eq!(hard(text), [(2, 3, Volatile)]);
    assert_eq!(full(text), [(1, 3, EarlierVolatile)]);
}

#[test]
fn an_update_is_a_read_and_a_write() {
    let text = "
        volatile v
        t1   | t2   | t3
        u v  |      |
             | u v  |
             |      | r v
             |      | r v";
    assert_eq!(hard(text), [(1, 2, Volatile), (2, 3, Volatile), (2, 4, Volatile)]);
}

#[test]
fn a_lock_orders_its_sections_in_full_order_only() {
    let text = "
        t1     | t2
        acq m  |
        rel m  |
               | acq m";
    assert_eq!((hard(text), full(text)), (vec![], vec![(2, 3, Lock)]));
    let waits = "
        t1     | t2
        acq m  |
        wait m |
               | acq m
               | rel m
        timeout m |";
    assert_eq!((hard(waits), full(waits)), (vec![], vec![(2, 3, Lock), (4, 5, Lock)]));
}

#[test]
fn readers_of_a_lock_order_writers_and_not_each_other() {
    let text = "
        t1     | t2     | t3
        acqs m |        |
        rels m |        |
               | acqs m |
               | rels m |
               |        | acq m
               |        | rel m
        acqs m |        |";
    assert_eq!(full(text), [(2, 5, Lock), (4, 5, Lock), (6, 7, Lock)]);
}

#[test]
fn the_longest_waiting_is_chosen_in_whichever_order_the_chosen_go_on() {
    let text = "
        a         | b         | n
        wait m    |           |
                  | wait m    |
                  |           | notify m
                  |           | notify m
                  | resume m  |
        resume m  |           |";
    assert_eq!(hard(text), [(4, 5, Notify), (3, 6, Notify)]);
}

#[test]
fn notify_all_wakes_those_that_wait_and_were_not_chosen() {
    let text = "
        a         | b         | c         | n
        wait m    |           |           |
                  | wait m    |           |
                  |           |           | notify m
                  |           |           | notifyall m
                  |           | wait m    |
        resume m  |           |           |
                  | resume m  |           |
                  |           | resume m  |";
    assert_eq!(hard(text), [(3, 6, Notify), (4, 7, Notify)]);
}

#[test]
fn a_notification_before_the_wait_is_lost() {
    let text = "
        a         | n
                  | notify m
        wait m    |
        resume m  |";
    assert_eq!(hard(text), []);
}

#[test]
fn a_thread_that_goes_on_instead_of_the_longest_waiting_takes_its_notification() {
    // Two conditions of one lock: a waits with one, b with the other.
    let text = "
        a         | b         | n
        wait m    |           |
                  | wait m    |
                  |           | notify m
                  | resume m  |
                  |           | notify m
        resume m  |           |";
    assert_eq!(hard(text), [(3, 4, NotifyOther), (5, 6, Notify)]);
}

#[test]
fn a_wait_that_timed_out_passes_its_notification_on() {
    let text = "
        a         | b         | n
        wait m    |           |
                  | wait m    |
                  |           | notify m
        timeout m |           |
                  | resume m  |";
    assert_eq!(hard(text), [(3, 5, Notify)]);
}

#[test]
fn a_notification_is_not_passed_on_to_a_later_wait() {
    let text = "
        a         | b         | n
        wait m    |           |
                  |           | notify m
                  | wait m    |
        timeout m |           |
                  | resume m  |";
    assert_eq!(hard(text), []);
}

#[test]
fn a_time_out_that_looks_notified_leaves_the_real_waiter_its_edge() {
    let text = "
        a         | b         | n
        wait m    |           |
                  | wait m    |
                  |           | notify m
                  | resume m  |
        resume m  |           |";
    assert_eq!(hard(text), [(3, 4, NotifyOther), (3, 5, NotifyOther)]);
}

#[test]
fn a_wake_up_without_cause_comes_after_nothing() {
    let text = "
        a         | n
        wait m    |
        resume m  |
                  | notify m
        wait m    |
        resume m  |";
    assert_eq!(hard(text), []);
}

#[test]
fn notifications_of_another_lock_wake_none() {
    let text = "
        a         | n
        wait m    |
                  | notifyall o
        resume m  |";
    assert_eq!(hard(text), []);
}

#[test]
fn a_notification_is_forgotten_with_its_last_waiter() {
    let trace = MemoryTrace::parse(
        "
        a         | b         | n
        wait m    |           |
                  | wait m    |
                  |           | notifyall m
        resume m  |           |
                  | resume m  |",
    )
    .expect("well formed");
    let mut edges = Edges::default();
    let mut forgotten = Vec::new();
    for event in trace.events() {
        edges.comes_after(event, trace.names(), |_, _| {});
        forgotten.push(edges.forgotten().count());
        edges.sends(event, trace.names(), |_| {});
    }
    assert_eq!(forgotten, [0, 0, 0, 0, 1]);
    assert!(edges.waiting.is_empty());
}

#[test]
fn sets_that_go_on_alike_have_one_shape() {
    let (t, u) = (ThreadId(1), ThreadId(2));
    let set = |numbers: [u64; 3], all| {
        let mut set = WaitSet::default();
        set.wait(t, numbers[0]);
        set.wait(u, numbers[1]);
        set.notify(Notification(numbers[2]), all);
        set.shape()
    };
    assert_eq!(set([1, 2, 3], false), set([4, 7, 9], false));
    assert_ne!(set([1, 2, 3], false), set([1, 2, 3], true));
}
