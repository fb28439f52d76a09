//! Tests of the director: what threads do is written down call by call.

use super::*;
use ravel_protocol::goal::{CodeMethod, CodeSite, Goal, GoalRole, GoalStep, Pause, StepKind};

/// A unit that returned a value.
fn returned(value: &str) -> UnitEnd {
    UnitEnd::Value(value.into())
}

/// Objects that are numbers.
struct Numbers;

impl Objects for Numbers {
    type Local = u32;
    type Kept = u32;

    fn same(&self, local: &u32, kept: &u32) -> bool {
        local == kept
    }

    /// Numbers of one ten are cells of one object.
    fn same_object(&self, local: &u32, kept: &u32) -> bool {
        local / 10 == kept / 10
    }

    fn keep(&self, local: &u32) -> u32 {
        *local
    }
}

/// A role whose steps belong to a unit.
fn of_unit(method: usize) -> GoalRole {
    GoalRole {
        unit: Some(method),
        result: Some(method),
    }
}

fn arrive(director: &mut Director<u32>, thread: ThreadNumber, site: usize, object: u32) -> Option<HoldTicket> {
    match director.arrive(&Numbers, &mut Arrival::new(thread, site), &object) {
        Answer::Hold(held) => Some(held),
        Answer::Pass | Answer::Pause { .. } => None,
    }
}

/// The facts that it makes, each with its steps.
fn complete(
    director: &mut Director<u32>,
    thread: ThreadNumber,
    name: &str,
    site: usize,
    value: Option<i64>,
) -> Vec<Vec<Passed>> {
    director.complete(thread, || name.into(), site, value);
    facts(director)
}

fn facts(director: &mut Director<u32>) -> Vec<Vec<Passed>> {
    let of = |note: Note| match note {
        Note::Fact { steps, .. } => Some(steps),
        Note::Result { .. } => None,
    };
    std::mem::take(&mut director.notes).into_iter().filter_map(of).collect()
}

fn plan(sites: usize, goals: Vec<Goal>) -> Goals {
    let method = CodeMethod {
        class: "A".into(),
        name: "m".into(),
        descriptor: "()V".into(),
    };
    let site = |bci| CodeSite {
        method: method.clone(),
        bci,
        member: String::new(),
        line: 0,
    };
    Goals {
        sites: (0..sites as u32).map(site).collect(),
        methods: vec![method.clone(), method.clone()],
        goals,
        seed: 1,
        facts: 1,
        exclusive: Vec::new(),
    }
}

fn step(role: usize, site: usize, hold: Hold, while_held: Option<usize>) -> GoalStep {
    GoalStep {
        role,
        site,
        object: 0,
        hold,
        while_held,
        kind: StepKind::Access,
    }
}

/// Role 1 stands before site 1 while role 0 completes site 0.
fn race(sites: [usize; 2]) -> Goal {
    Goal {
        id: "race".into(),
        shape: GoalShape::Ordered,
        roles: vec![GoalRole::default(); 2],
        steps: vec![
            step(0, sites[0], Hold::Never, Some(1)),
            step(1, sites[1], Hold::Here, None),
        ],
        pause: None,
        whole: false,
    }
}

/// Role 0 completes site 0, is held before site 2, and completes site 3 after role 1 has completed site 1.
fn atomicity() -> Goal {
    Goal {
        id: "atomicity".into(),
        shape: GoalShape::Ordered,
        roles: vec![of_unit(0), GoalRole::default()],
        steps: vec![
            step(0, 0, Hold::Never, None),
            step(1, 1, Hold::Never, Some(0)),
            step(0, 3, Hold::At(2), None),
        ],
        pause: None,
        whole: false,
    }
}

#[test]
fn a_race_needs_the_partner_while_the_first_thread_is_held() {
    let mut director = Director::new(&plan(2, vec![race([0, 1])]));
    assert_eq!(arrive(&mut director, 1, 0, 7), None, "no thread is held yet");
    assert!(complete(&mut director, 1, "t1", 0, None).is_empty());
    let held = arrive(&mut director, 2, 1, 7).expect("it comes too early");
    assert_eq!(director.is_released(held), None);
    assert_eq!(arrive(&mut director, 1, 0, 8), None);
    assert!(complete(&mut director, 1, "t1", 0, None).is_empty(), "another object");
    assert_eq!(director.is_released(held), None);
    assert_eq!(arrive(&mut director, 1, 0, 7), None);
    assert!(complete(&mut director, 1, "t1", 0, Some(3)).is_empty());
    assert_eq!(director.is_released(held), Some(Released::Reached));
    director.release(held, Released::Reached, 1);
    director.resume(&Numbers, held, 2, &7);
    let facts = complete(&mut director, 2, "t2", 1, None);
    assert_eq!(facts.len(), 1);
    let threads: Vec<&str> = facts[0].iter().map(|step| step.thread.as_str()).collect();
    assert_eq!(threads, ["t1", "t2"]);
    assert!(!director.is_armed(0) && !director.is_armed(1));
}

#[test]
fn of_two_threads_in_the_same_code_one_is_held_and_the_other_passes() {
    let mut director = Director::new(&plan(1, vec![race([0, 0])]));
    let held = arrive(&mut director, 1, 0, 7).expect("the first comer waits");
    assert_eq!(arrive(&mut director, 2, 0, 7), None);
    complete(&mut director, 2, "t2", 0, None);
    assert_eq!(director.is_released(held), Some(Released::Reached));
    director.release(held, Released::Reached, 1);
    director.resume(&Numbers, held, 1, &7);
    assert_eq!(complete(&mut director, 1, "t1", 0, None).len(), 1);
}

#[test]
fn a_step_that_is_completed_after_the_hold_ended_proves_nothing() {
    let mut director = Director::new(&plan(2, vec![race([0, 1])]));
    let held = arrive(&mut director, 2, 1, 7).expect("it comes too early");
    assert_eq!(arrive(&mut director, 1, 0, 7), None);
    director.release(held, Released::Cap, 500);
    complete(&mut director, 1, "t1", 0, None);
    assert!(complete(&mut director, 2, "t2", 1, None).is_empty());
    assert_eq!(director.accounts()[0].facts, 0);
}

#[test]
fn an_atomicity_pattern_happens_within_one_activation() {
    let mut director = Director::new(&plan(4, vec![atomicity()]));
    director.enter(1, 0);
    assert_eq!(arrive(&mut director, 1, 0, 7), None);
    complete(&mut director, 1, "a", 0, Some(1));
    let held = arrive(&mut director, 1, 2, 0).expect("the hold point");
    assert_eq!(arrive(&mut director, 2, 1, 7), None);
    complete(&mut director, 2, "b", 1, None);
    assert_eq!(director.is_released(held), Some(Released::Reached));
    director.release(held, Released::Reached, 2);
    assert_eq!(arrive(&mut director, 1, 3, 7), None);
    let facts = complete(&mut director, 1, "a", 3, None);
    assert_eq!(facts.len(), 1);
    assert_eq!(facts[0].len(), 3);
}

#[test]
fn steps_of_two_activations_are_no_pattern() {
    let mut director = Director::new(&plan(4, vec![atomicity()]));
    director.enter(1, 0);
    arrive(&mut director, 1, 0, 7);
    complete(&mut director, 1, "a", 0, None);
    let held = arrive(&mut director, 1, 2, 0).expect("the hold point");
    arrive(&mut director, 2, 1, 7);
    complete(&mut director, 2, "b", 1, None);
    director.release(held, Released::Reached, 2);
    director.leave(1, || "t".into(), 0, &UnitEnd::Nothing);
    director.enter(1, 0);
    arrive(&mut director, 1, 3, 7);
    assert!(complete(&mut director, 1, "a", 3, None).is_empty());
}

#[test]
fn a_thread_outside_the_unit_does_not_take_its_role() {
    let mut director = Director::new(&plan(4, vec![atomicity()]));
    arrive(&mut director, 1, 0, 7);
    complete(&mut director, 1, "a", 0, None);
    assert_eq!(arrive(&mut director, 1, 2, 0), None);
}

#[test]
fn a_lock_cycle_closes_when_all_threads_stand_before_their_locks() {
    let goal = Goal {
        id: "deadlock".into(),
        shape: GoalShape::Blocked,
        roles: vec![GoalRole::default(); 2],
        steps: vec![
            step(0, 0, Hold::Here, None),
            GoalStep {
                object: 1,
                ..step(1, 1, Hold::Here, None)
            },
        ],
        pause: None,
        whole: false,
    };
    let mut director = Director::new(&plan(2, vec![goal]));
    let one = arrive(&mut director, 1, 0, 7).expect("held");
    assert!(!director.closes(0));
    let two = arrive(&mut director, 2, 1, 8).expect("held");
    assert!(director.closes(0));
    assert_eq!(director.is_released(one), Some(Released::Reset));
    assert_eq!(director.is_released(two), Some(Released::Reset));
}

#[test]
fn a_wait_counts_when_its_thread_comes_to_it() {
    let goal = Goal {
        id: "signal".into(),
        shape: GoalShape::Ordered,
        roles: vec![GoalRole::default(); 2],
        steps: vec![
            GoalStep {
                kind: StepKind::Acquisition,
                ..step(0, 0, Hold::Never, Some(1))
            },
            GoalStep {
                kind: StepKind::Wait,
                ..step(1, 2, Hold::At(1), None)
            },
        ],
        pause: None,
        whole: false,
    };
    let mut director = Director::new(&plan(3, vec![goal]));
    let waiter = arrive(&mut director, 1, 1, 0).expect("held");
    arrive(&mut director, 2, 0, 71);
    assert!(complete(&mut director, 2, "signals", 0, None).is_empty());
    assert_eq!(director.is_released(waiter), Some(Released::Reached));
    director.release(waiter, Released::Reached, 1);
    // The wait of another object is no part of it.
    arrive(&mut director, 1, 2, 85);
    assert!(complete(&mut director, 1, "waits", 2, None).is_empty());
    arrive(&mut director, 1, 2, 78);
    assert!(director.counts_on_arrival(2) && !director.counts_on_arrival(0));
    assert_eq!(complete(&mut director, 1, "waits", 2, None).len(), 1);
}

#[test]
fn a_goal_that_fails_again_and_again_is_given_up() {
    let mut director = Director::new(&plan(2, vec![race([0, 1])]));
    arrive(&mut director, 1, 0, 7);
    for _ in 0..2_000 {
        if let Some(held) = arrive(&mut director, 2, 1, 7) {
            director.release(held, Released::Idle, 4);
        }
    }
    assert!(!director.is_armed(1));
    assert_eq!(director.accounts()[0].holds, MOST_FAILED_HOLDS);
}

/// Role 0 runs its unit (method 0) while role 1 waits before its first step; then role 1 runs its unit (method 1).
fn serial() -> Goal {
    Goal {
        id: "serial".into(),
        shape: GoalShape::Serial,
        roles: vec![of_unit(0), of_unit(1)],
        steps: vec![
            step(0, 0, Hold::Never, Some(1)),
            step(0, 1, Hold::Never, Some(1)),
            step(1, 2, Hold::Here, None),
        ],
        pause: Some(Pause {
            role: 0,
            site: 3,
            millis: 7,
        }),
        whole: false,
    }
}

#[test]
fn serial_units_follow_each_other_whatever_branch_they_take() {
    let mut director = Director::new(&plan(4, vec![serial()]));
    director.enter(2, 1);
    let held = arrive(&mut director, 2, 2, 7).expect("the second one waits");
    director.enter(1, 0);
    arrive(&mut director, 1, 0, 7);
    complete(&mut director, 1, "a", 0, Some(3));
    assert_eq!(
        director.arrive(&Numbers, &mut Arrival::new(1, 3), &0),
        Answer::Pause { goal: 0, millis: 7 }
    );
    director.paused(0);
    assert_eq!(director.is_released(held), None, "the first one is still inside");
    // Its second step does not happen: the unit took the other branch.
    director.leave(1, || "t".into(), 0, &returned("5"));
    assert_eq!(director.is_released(held), Some(Released::Reached));
    director.resume(&Numbers, held, 2, &7);
    director.release(held, Released::Reached, 9);
    director.complete(2, || "b".into(), 2, Some(4));
    assert_eq!(
        director.notes.len(),
        2,
        "the fact, and the result of the unit that has ended"
    );
    director.leave(2, || "t".into(), 1, &returned("6"));
    let steps: Vec<Option<i64>> = vec![Some(3), Some(4)];
    let [
        Note::Fact {
            steps: passed,
            held_millis,
            ..
        },
        first,
        second,
    ] = &director.notes[..]
    else {
        panic!("{:?}", director.notes)
    };
    assert_eq!(passed.iter().map(|step| step.value).collect::<Vec<_>>(), steps);
    assert_eq!(*held_millis, 9);
    let result = |role, value: &str| Note::Result {
        goal: 0,
        role,
        result: UnitResult {
            thread: "t".into(),
            activation: 1,
            end: returned(value),
        },
    };
    assert_eq!([first, second], [&result(0, "5"), &result(1, "6")]);
}

/// The second unit is a method that takes its lock before its first instruction: its thread waits at the call, which is not inside yet.
#[test]
fn a_thread_waits_at_the_call_of_its_unit() {
    let mut goal = serial();
    goal.steps[2].hold = Hold::At(3);
    goal.pause = None;
    let mut plan = plan(4, vec![goal]);
    plan.sites[3].member = "m".into();
    plan.sites[3].method.name = "caller".into();
    let mut director = Director::new(&plan);
    let held = arrive(&mut director, 2, 3, 7).expect("the second one waits");
    director.enter(1, 0);
    for site in [0, 1] {
        arrive(&mut director, 1, site, 7);
        complete(&mut director, 1, "a", site, Some(3));
    }
    director.leave(1, || "t".into(), 0, &returned("5"));
    assert_eq!(director.is_released(held), Some(Released::Reached));
    director.release(held, Released::Reached, 9);
    director.enter(2, 1);
    arrive(&mut director, 2, 2, 7);
    director.complete(2, || "b".into(), 2, Some(4));
    director.leave(2, || "t".into(), 1, &returned("6"));
    let results = |note: &Note| matches!(note, Note::Result { .. });
    assert_eq!(director.notes.iter().filter(|note| results(note)).count(), 2);
    assert_eq!(facts(&mut director).len(), 1);
}

#[test]
fn a_call_that_leads_elsewhere_gives_the_role_back() {
    let mut goal = serial();
    goal.steps[2].hold = Hold::At(3);
    let mut plan = plan(4, vec![goal]);
    plan.sites[3].member = "m".into();
    plan.sites[3].method.name = "caller".into();
    let mut director = Director::new(&plan);
    let held = arrive(&mut director, 2, 3, 7).expect("it waits");
    director.enter(1, 0);
    arrive(&mut director, 1, 0, 7);
    complete(&mut director, 1, "a", 0, Some(3));
    director.leave(1, || "t".into(), 0, &returned("5"));
    director.release(held, Released::Reached, 9);
    assert!(
        arrive(&mut director, 2, 3, 7).is_some(),
        "it comes again and has taken no step"
    );
}

#[test]
fn the_result_of_a_unit_that_ends_after_the_pattern_is_told() {
    let mut director = Director::new(&plan(4, vec![atomicity()]));
    director.enter(1, 0);
    arrive(&mut director, 1, 0, 7);
    complete(&mut director, 1, "a", 0, Some(1));
    let held = arrive(&mut director, 1, 2, 0).expect("the hold point");
    arrive(&mut director, 2, 1, 7);
    director.writes(2, 1, 1, 2);
    complete(&mut director, 2, "b", 1, None);
    director.release(held, Released::Reached, 2);
    arrive(&mut director, 1, 3, 7);
    director.writes(1, 3, 2, 2);
    let facts = complete(&mut director, 1, "a", 3, None);
    let values: Vec<(Option<i64>, Option<i64>)> = facts[0].iter().map(|step| (step.before, step.value)).collect();
    assert_eq!(values, [(None, Some(1)), (Some(1), Some(2)), (Some(2), Some(2))]);
    assert!(!director.is_armed(0) && director.is_unit_armed(0));
    director.leave(1, || "t".into(), 0, &returned("null"));
    let result = Note::Result {
        goal: 0,
        role: 0,
        result: UnitResult {
            thread: "t".into(),
            activation: 1,
            end: returned("null"),
        },
    };
    assert_eq!(director.notes, [result]);
    assert!(!director.is_unit_armed(0));
}

#[test]
fn threads_stay_free_for_the_steps_of_held_ones() {
    let other = Goal {
        steps: vec![step(0, 2, Hold::Never, Some(1)), step(1, 3, Hold::Here, None)],
        ..race([2, 3])
    };
    let mut director = Director::new(&plan(4, vec![race([0, 1]), other]));
    assert!(arrive(&mut director, 1, 1, 7).is_some());
    assert_eq!(
        arrive(&mut director, 2, 3, 7),
        None,
        "two threads in all, and one is held"
    );
    for thread in 3..5 {
        arrive(&mut director, thread, 2, 7);
    }
    assert!(arrive(&mut director, 2, 3, 7).is_some(), "two more are free now");
}

#[test]
fn a_goal_that_has_hardly_held_a_thread_needs_one_free_thread() {
    let other = Goal {
        steps: vec![step(0, 2, Hold::Never, Some(1)), step(1, 3, Hold::Here, None)],
        ..race([2, 3])
    };
    let mut director = Director::new(&plan(4, vec![race([0, 1]), other]));
    assert!(arrive(&mut director, 1, 1, 7).is_some());
    arrive(&mut director, 3, 2, 7);
    for _ in 0..2 {
        let held = arrive(&mut director, 2, 3, 7).expect("three threads in all, and one is held");
        director.release(held, Released::Idle, 1);
    }
    assert_eq!(arrive(&mut director, 2, 3, 7), None, "two must be free from now on");
}

#[test]
fn a_hold_point_inside_a_lock_that_others_need_is_given_up() {
    let mut director = Director::new(&plan(2, vec![race([0, 1])]));
    for _ in 0..MOST_LOCK_RELEASES {
        arrive(&mut director, 1, 0, 7);
        let held = arrive(&mut director, 2, 1, 7).expect("it comes too early");
        director.release(held, Released::Lock, 2);
    }
    assert!(!director.is_armed(1));
}

#[test]
fn a_thread_that_does_not_go_on_loses_its_role() {
    let goal = Goal {
        roles: vec![GoalRole::default(); 2],
        ..atomicity()
    };
    let mut director = Director::new(&plan(4, vec![goal]));
    arrive(&mut director, 1, 0, 7);
    complete(&mut director, 1, "a", 0, None);
    for _ in 0..20 {
        arrive(&mut director, 2, 0, 8);
        complete(&mut director, 2, "b", 0, None);
    }
    assert!(
        arrive(&mut director, 2, 2, 0).is_some(),
        "the second thread has the role now"
    );
}

#[test]
fn the_threads_that_came_to_the_next_step_are_awaited() {
    let mut director = Director::new(&plan(2, vec![race([0, 1])]));
    arrive(&mut director, 3, 1, 9).inspect(|held| director.release(*held, Released::Idle, 1));
    let held = arrive(&mut director, 2, 1, 7).expect("it comes too early");
    assert!(
        director.awaited(held.goal).is_empty(),
        "no thread has come to the write yet"
    );
    arrive(&mut director, 1, 0, 8);
    assert_eq!(director.awaited(held.goal), [1]);
}

#[test]
fn a_whole_serial_order_begins_anew_if_its_first_unit_takes_another_branch() {
    let goal = Goal {
        whole: true,
        ..serial()
    };
    let mut director = Director::new(&plan(4, vec![goal]));
    director.enter(2, 1);
    let held = arrive(&mut director, 2, 2, 7).expect("the second one waits");
    director.enter(1, 0);
    arrive(&mut director, 1, 0, 7);
    complete(&mut director, 1, "a", 0, Some(3));
    director.leave(1, || "t".into(), 0, &returned("5"));
    assert_eq!(director.is_released(held), Some(Released::Reset));
    assert!(director.notes.is_empty());
    assert!(director.is_armed(0), "another pair may do it");
}

#[test]
fn a_goal_stays_armed_until_it_has_happened_as_often_as_wanted() {
    let twice = Goals {
        facts: 2,
        ..plan(2, vec![race([0, 1])])
    };
    let mut director = Director::new(&twice);
    for time in 1..=2 {
        let held = arrive(&mut director, 1, 1, 7).expect("held");
        arrive(&mut director, 2, 0, 7);
        complete(&mut director, 2, "b", 0, None);
        assert_eq!(director.is_released(held), Some(Released::Reached));
        director.resume(&Numbers, held, 1, &7);
        director.release(held, Released::Reached, 1);
        assert_eq!(complete(&mut director, 1, "a", 1, None).len(), 1);
        assert_eq!(director.is_armed(0), time < 2);
    }
}

/// A second thread comes too early again and again, and no other ever takes the first step: which of its visits the director holds.
fn held_visits(seed: u64) -> Vec<bool> {
    let mut director = Director::new(&Goals {
        seed,
        ..plan(2, vec![race([0, 1])])
    });
    arrive(&mut director, 1, 0, 7);
    complete(&mut director, 1, "t1", 0, None);
    let visit = |_| match arrive(&mut director, 2, 1, 7) {
        Some(held) => {
            director.release(held, Released::Idle, 1);
            true
        }
        None => false,
    };
    (0..100).map(visit).collect()
}

#[test]
fn the_seed_decides_which_visits_are_held_once_the_first_ones_failed() {
    let held = held_visits(1);
    let (first, later) = held.split_at(PATIENT_HOLDS as usize);
    assert!(first.iter().all(|held| *held));
    let number = later.iter().filter(|held| **held).count();
    assert!(
        (8..45).contains(&number),
        "about one in four: {number} of {}",
        later.len()
    );
    assert_eq!(held_visits(1), held);
    assert_ne!(held_visits(2), held);
}
