//! Controlled runs of threads that are given as lists of requests.

use ravel_protocol::{Search, StrategyKind};

use super::*;
use crate::search::strategy;

/// What a thread of a test does next.
#[derive(Clone, Copy)]
enum Act {
    Ask(Request),
    Give(u64),
    Notify(u64),
    Unpark(u32),
}

use Act::{Ask, Give, Notify, Unpark};

fn access(field: u32) -> Act {
    Ask(Request::Do(Op::Access { field, writes: true }))
}

fn take(lock: u64) -> Act {
    Ask(Request::Do(Op::Monitor(lock)))
}

fn machine(strategy: StrategyKind) -> Machine {
    Machine::new(strategy::of(&Search {
        strategy,
        seed: 0,
        inside: None,
        follow: None,
        quiet: Vec::new(),
    }))
}

/// Runs these threads to the end of the run; the threads in the order in which they asked.
fn run(machine: &mut Machine, seed: u64, threads: &[&[Act]]) -> Vec<(u32, Answer)> {
    machine.begin(seed);
    // Thread 9 starts the others and ends.
    machine.add(9, "main".into());
    for number in 0..threads.len() as u32 {
        machine.add(number, format!("main/{number}"));
    }
    machine.end(9, 0);
    let mut next = vec![0; threads.len()];
    let mut went = Vec::new();
    while let Some(number) = machine.current() {
        let thread = number as usize;
        if let Some(answer) = machine.answer(number) {
            went.push((number, answer));
        }
        match threads[thread].get(next[thread]) {
            None => machine.end(number, next[thread] as u32),
            Some(act) => {
                next[thread] += 1;
                match *act {
                    Ask(request) => machine.ask(number, next[thread] as u32, request),
                    Give(lock) => machine.gives(number, lock, false),
                    Notify(lock) => machine.notify(lock, false),
                    Unpark(other) => machine.unpark(other),
                }
            }
        }
    }
    went
}

fn endings(threads: &[&[Act]]) -> Vec<Ending> {
    let mut machine = machine(StrategyKind::Guided);
    let mut endings = Vec::new();
    for seed in 0..200 {
        run(&mut machine, seed, threads);
        let ending = machine.ending().cloned().expect("a run ends");
        if !endings.contains(&ending) {
            endings.push(ending);
        }
    }
    endings
}

#[test]
fn two_locks_in_opposite_orders_deadlock_in_some_runs() {
    let one = [take(1), take(2), Give(2), Give(1)];
    let other = [take(2), take(1), Give(1), Give(2)];
    let found = endings(&[&one, &other]);
    let stuck = Ending::Stuck(vec!["monitor main/0".into(), "monitor main/1".into()]);
    assert!(found.contains(&stuck) && found.contains(&Ending::Ended), "{found:?}");
    assert_eq!(endings(&[&one, &one]), [Ending::Ended]);
}

#[test]
fn a_monitor_is_held_by_one_thread_at_a_time() {
    let thread = [take(1), access(7), access(8), Give(1)];
    let mut machine = machine(StrategyKind::Random);
    for seed in 0..50 {
        let went = run(&mut machine, seed, &[&thread, &thread]);
        let inside: Vec<u32> = went.iter().map(|(number, _)| *number).collect();
        let first = inside.iter().position(|number| *number == 1);
        assert!(first.is_some());
        assert_eq!(machine.ending(), Some(&Ending::Ended));
    }
}

#[test]
fn a_lost_notification_leaves_its_thread_waiting() {
    let waits = [take(1), Ask(Request::Wait(1, None)), Give(1)];
    let notifies = [take(1), Notify(1), Give(1)];
    let found = endings(&[&waits, &notifies]);
    assert!(found.contains(&Ending::Stuck(vec!["wait main/0".into()])), "{found:?}");
    assert!(found.contains(&Ending::Ended), "{found:?}");
    // A wait with a limit ends by itself.
    let limited = [take(1), Ask(Request::Wait(1, Some(5))), Give(1)];
    assert_eq!(endings(&[&limited, &notifies]), [Ending::Ended]);
}

#[test]
fn a_short_attempt_to_get_a_lock_may_end_while_another_thread_has_it() {
    let answers = |nanos: u64| {
        let tries = [Ask(Request::Try(nanos)), access(1)];
        let wakes = [access(2), access(3), Unpark(0)];
        let mut machine = machine(StrategyKind::Random);
        let answer = |seed: u64| {
            let went = run(&mut machine, seed, &[&tries, &wakes]);
            assert_eq!(machine.ending(), Some(&Ending::Ended));
            // The first answer is to its start.
            let mut own = went.iter().filter(|(number, _)| *number == 0);
            own.nth(1).map(|(_, answer)| *answer)
        };
        (0..50).map(answer).collect::<Vec<_>>()
    };
    let short = answers(LATE);
    assert!(short.contains(&Some(Answer::Go)) && short.contains(&Some(Answer::TimedOut)));
    assert!(!answers(LATE + 1).contains(&Some(Answer::TimedOut)));
}

#[test]
fn a_short_wait_for_the_end_of_a_thread_may_end_before_it() {
    let answers = |nanos: Option<u64>| {
        let joins = [Ask(Request::Join(1, nanos)), access(1)];
        let works = [access(2), access(3)];
        let mut machine = machine(StrategyKind::Random);
        let answer = |seed: u64| {
            let went = run(&mut machine, seed, &[&joins, &works]);
            assert_eq!(machine.ending(), Some(&Ending::Ended));
            let mut own = went.iter().filter(|(number, _)| *number == 0);
            own.nth(1).map(|(_, answer)| *answer)
        };
        (0..50).map(answer).collect::<Vec<_>>()
    };
    let short = answers(Some(LATE));
    assert!(short.contains(&Some(Answer::Go)) && short.contains(&Some(Answer::TimedOut)));
    assert!(!answers(Some(LATE + 1)).contains(&Some(Answer::TimedOut)));
    assert!(!answers(None).contains(&Some(Answer::TimedOut)));
}

#[test]
fn a_thread_that_gave_up_waiting_for_an_end_keeps_its_turn_while_the_jvm_has_it_wait_on() {
    let mut machine = machine(StrategyKind::Random);
    machine.begin(1);
    machine.add(0, "main".into());
    machine.ask(0, 1, Request::Join(0, Some(9 * LATE)));
    assert_eq!(machine.answer(0), Some(Answer::TimedOut));
    machine.goes_outside(0);
    assert_eq!(machine.current(), Some(0));
    machine.ask(0, 2, Request::Yield);
    machine.goes_outside(0);
    assert_eq!(machine.current(), None);
}

#[test]
fn a_wait_for_ones_own_end_is_over_when_its_limit_is() {
    let limited = [Ask(Request::Join(0, Some(9 * LATE))), access(1)];
    assert_eq!(endings(&[&limited]), [Ending::Ended]);
    let unlimited = [Ask(Request::Join(0, None)), access(1)];
    assert_eq!(endings(&[&unlimited]), [Ending::Stuck(vec!["join main/0".into()])]);
}

#[test]
fn workers_without_a_task_are_no_reason_for_a_run_to_go_on() {
    let ending = |rests: bool| {
        let mut machine = machine(StrategyKind::Random);
        machine.begin(1);
        machine.add(9, "main".into());
        machine.add(0, "main/0".into());
        machine.end(9, 0);
        machine.rests(0, rests);
        machine.ask(0, 1, Request::Park(None));
        machine.ending().cloned()
    };
    assert_eq!(ending(true), Some(Ending::Ended));
    assert_eq!(ending(false), Some(Ending::Stuck(vec!["park main/0".into()])));
}

#[test]
fn an_unpark_counts_before_its_park() {
    let parks = [Ask(Request::Park(None)), access(1)];
    let wakes = [access(2), Unpark(0)];
    assert_eq!(endings(&[&parks, &wakes]), [Ending::Ended]);
    assert_eq!(endings(&[&parks]), [Ending::Stuck(vec!["park main/0".into()])]);
}

#[test]
fn long_sleeps_end_when_no_other_thread_can_go_and_the_shortest_first() {
    let long = [Ask(Request::Sleep(9 * LATE)), access(1)];
    let short = [Ask(Request::Sleep(5 * LATE)), access(1)];
    let works = [access(2), access(3), access(4)];
    let mut machine = machine(StrategyKind::Random);
    for seed in 0..20 {
        let went = run(&mut machine, seed, &[&long, &short, &works]);
        let ended: Vec<u32> = went
            .iter()
            .filter(|(_, answer)| *answer == Answer::TimedOut)
            .map(|(number, _)| *number)
            .collect();
        assert_eq!(ended, [1, 0]);
        let last = went.iter().rposition(|(number, _)| *number == 2);
        let woken = went.iter().position(|(_, answer)| *answer == Answer::TimedOut);
        assert!(last < woken, "{went:?}");
    }
}

#[test]
fn a_short_sleep_orders_no_threads() {
    let sleeps = [Ask(Request::Sleep(100_000_000)), access(1)];
    let works = [access(1), access(1)];
    let mut machine = machine(StrategyKind::Random);
    let mut first = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let went = run(&mut machine, seed, &[&sleeps, &works]);
        let woken = went.iter().position(|(_, answer)| *answer == Answer::TimedOut);
        let last = went.iter().rposition(|(number, _)| *number == 1);
        first.insert(woken < last);
    }
    assert_eq!(first.len(), 2, "the sleep ends before the work, and after it");
}

#[test]
fn a_thread_that_spins_lets_the_others_go() {
    let mut machine = machine(StrategyKind::Priorities);
    let spins = [access(1); 2000];
    let works = [access(2)];
    for seed in 0..20 {
        let went = run(&mut machine, seed, &[&spins, &works]);
        let at = went.iter().position(|(number, _)| *number == 1);
        assert!(at.is_some_and(|at| at < 200), "{at:?}");
    }
}

#[test]
fn the_order_of_a_run_can_be_followed() {
    let one = [take(1), access(5), Give(1), access(6), access(5)];
    let other = [access(5), take(1), access(6), Give(1), access(5)];
    let mut random = machine(StrategyKind::Random);
    for seed in 0..50 {
        let went = run(&mut random, seed, &[&one, &other]);
        let (order, schedule) = (random.order(), random.schedule());
        let mut follows = Machine::new(strategy::of(&Search {
            strategy: StrategyKind::Random,
            seed: 0,
            inside: None,
            follow: Some(schedule),
            quiet: Vec::new(),
        }));
        assert_eq!(run(&mut follows, 99, &[&one, &other]), went, "seed {seed}");
        assert_eq!(follows.order(), order);
    }
}

#[test]
fn orders_of_accesses_that_do_not_conflict_are_one() {
    let orders = |one: &[Act], other: &[Act]| {
        let mut machine = machine(StrategyKind::Random);
        let mut found = std::collections::BTreeSet::new();
        for seed in 0..200 {
            run(&mut machine, seed, &[one, other]);
            found.insert(machine.order());
        }
        found.len()
    };
    let read = |field| Ask(Request::Do(Op::Access { field, writes: false }));
    assert_eq!(orders(&[access(1), access(2)], &[access(3), access(4)]), 1);
    assert_eq!(orders(&[read(1), read(1)], &[read(1), read(1)]), 1);
    assert_eq!(orders(&[access(1), access(1)], &[read(1)]), 3);
}

#[test]
fn a_thread_that_was_woken_does_not_wait_again_when_the_machine_lets_go() {
    let mut machine = machine(StrategyKind::Guided);
    machine.begin(0);
    for number in 0..5 {
        machine.add(number, format!("main/{number}"));
    }
    let asks = |machine: &mut Machine, request: Request| {
        let number = machine.current().expect("a thread runs");
        machine.ask(number, 1, request);
        number
    };
    let parked = asks(&mut machine, Request::Park(None));
    let woken = asks(&mut machine, Request::Park(None));
    let waits = asks(&mut machine, Request::Wait(7, None));
    let notified = asks(&mut machine, Request::Wait(8, None));
    let runs = machine.current().expect("a thread runs");
    machine.unpark(woken);
    machine.notify(8, false);
    machine.unpark(runs);
    machine.cut();
    machine.let_go();
    let answers = [parked, woken, waits, notified].map(|number| machine.answer(number));
    let [free, go] = [Answer::Free, Answer::Go].map(Some);
    assert_eq!(answers, [free, go, free, go]);
    machine.ask(runs, 2, Request::Park(None));
    assert_eq!(machine.answer(runs), go, "the permit is the machine's");
    machine.ask(runs, 3, Request::Park(None));
    assert_eq!(machine.answer(runs), free);
}

#[test]
fn a_thread_outside_lets_others_go_and_comes_back_with_its_next_request() {
    let mut machine = machine(StrategyKind::Guided);
    machine.begin(0);
    machine.add(0, "main".into());
    machine.add(1, "main/0".into());
    machine.goes_outside(0);
    assert_eq!((machine.current(), machine.outside()), (Some(1), vec![0]));
    machine.ask(0, 1, Request::Do(Op::Step));
    assert_eq!((machine.current(), machine.outside()), (Some(1), vec![]));
    machine.end(1, 1);
    assert_eq!(machine.current(), Some(0));
}

#[test]
fn threads_that_are_all_outside_stand_still_when_the_watch_says_so() {
    let mut machine = machine(StrategyKind::Guided);
    machine.begin(0);
    machine.add(0, "main".into());
    machine.add(1, "main/0".into());
    machine.goes_outside(0);
    machine.goes_outside(1);
    assert_eq!((machine.current(), machine.is_over()), (None, false));
    machine.give_up();
    let waits = ["outside main", "outside main/0"].map(String::from).to_vec();
    assert_eq!(machine.ending(), Some(&Ending::Stuck(waits)));
    // Both had passed their first point, and what they do when the run is over is no turn.
    machine.end(1, 7);
    let turns: Vec<(usize, u32, Option<Leave>)> = (machine.schedule().segments.iter())
        .map(|turn| (turn.thread, turn.until, turn.leave))
        .collect();
    let passed = Some(Leave::Times(2));
    assert_eq!(turns, [(0, 0, passed), (1, 0, passed)]);
}
