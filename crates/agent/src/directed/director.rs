//! Which thread is held and which passes: the rules of a directed run, without JVM, clock or lock.
//!
//! Threads report when they arrive before an instruction, when they have completed it, and when they enter and leave the methods
//! of units. The director answers whether an arriving thread is held, and knows when all steps of a goal happened in the
//! wanted order, on the same objects, within one activation of each unit.

use std::collections::{BTreeMap, BTreeSet};

use ravel_protocol::goal::{Account, Goal, GoalShape, Goals, Hold, Passed, Released};

/// A thread, by the number that the JVM gives it.
pub type ThreadNumber = i64;

/// The objects that steps concern, as the JVM sees them.
pub trait Objects {
    /// An object during one call.
    type Local;
    /// An object that is remembered.
    type Kept;

    /// Whether both are the same cell.
    fn same(&self, local: &Self::Local, kept: &Self::Kept) -> bool;

    /// Remembers an object.
    fn keep(&self, local: &Self::Local) -> Self::Kept;
}

/// A thread that must wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// Index of the goal.
    pub goal: usize,
    /// The role that it has there.
    pub role: usize,
    /// Which of the goal's holds this is; a release names it.
    pub ticket: u64,
}

/// Failed holds in a row after which only some activations are held.
const PATIENT_HOLDS: u64 = 8;
/// Failed holds in a row after which the goal is given up in this run.
const MOST_FAILED_HOLDS: u64 = 60;
/// Holds that are allowed while only one thread has come to the goal's sites.
const LONELY_HOLDS: u64 = 2;

/// What a site means for a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Step { goal: usize, step: usize },
    Hold { goal: usize, step: usize },
}

struct Parked {
    thread: ThreadNumber,
    ticket: u64,
    /// The step that it waits for.
    step: usize,
}

struct Pending<K> {
    step: usize,
    object: K,
}

struct GoalState<K> {
    goal: Goal,
    armed: bool,
    /// Steps that have happened.
    done: usize,
    /// By role: the thread that has it.
    bound: Vec<Option<ThreadNumber>>,
    /// By number: the object that the steps concern.
    objects: Vec<Option<K>>,
    parked: Vec<Option<Parked>>,
    /// By thread: the step that it is about to complete.
    pending: BTreeMap<ThreadNumber, Pending<K>>,
    /// By role: how deep each thread is in activations of the role's unit.
    inside: Vec<BTreeMap<ThreadNumber, u32>>,
    passed: Vec<Passed>,
    visitors: BTreeSet<ThreadNumber>,
    failed_in_a_row: u64,
    ended: BTreeMap<Released, u64>,
    account: Account,
}

/// The state of all goals of a run.
pub struct Director<K> {
    goals: Vec<GoalState<K>>,
    /// By site.
    uses: Vec<Vec<Use>>,
    /// By method: the goals and roles whose unit it is.
    units: Vec<Vec<(usize, usize)>>,
    tickets: u64,
    random: u64,
    /// Facts wanted of each goal before it is disarmed.
    wanted: u64,
    /// Objects that are no longer needed; the caller gives them back to the JVM.
    pub trash: Vec<K>,
}

/// A goal all of whose steps happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// Index of the goal.
    pub goal: usize,
    /// The steps as they happened.
    pub steps: Vec<Passed>,
}

impl<K> Director<K> {
    /// Nothing has happened yet.
    pub fn new(plan: &Goals, wanted: u64) -> Director<K> {
        let mut uses = vec![Vec::new(); plan.sites.len()];
        let mut units = vec![Vec::new(); plan.methods.len()];
        for (number, goal) in plan.goals.iter().enumerate() {
            // A thread that may be held is asked for that first: with both roles in the same code the first comer waits.
            let mut steps: Vec<usize> = (0..goal.steps.len()).collect();
            steps.sort_by_key(|&step| goal.steps[step].hold == Hold::Never);
            for step in steps {
                if let Some(list) = uses.get_mut(goal.steps[step].site) {
                    list.push(Use::Step { goal: number, step });
                }
                if let Hold::At(site) = goal.steps[step].hold
                    && let Some(list) = uses.get_mut(site)
                {
                    list.push(Use::Hold { goal: number, step });
                }
            }
            for (role, method) in goal.roles.iter().enumerate() {
                if let Some(list) = method.and_then(|method| units.get_mut(method)) {
                    list.push((number, role));
                }
            }
        }
        Director {
            goals: plan.goals.iter().cloned().map(GoalState::new).collect(),
            uses,
            units,
            tickets: 0,
            random: plan.seed | 1,
            wanted,
            trash: Vec::new(),
        }
    }

    /// Whether any goal still cares for a site.
    pub fn is_armed(&self, site: usize) -> bool {
        self.uses.get(site).is_some_and(|uses| {
            uses.iter().any(|one| match *one {
                Use::Step { goal, .. } | Use::Hold { goal, .. } => self.goals[goal].armed,
            })
        })
    }

    /// A thread is about to execute the instruction of a site. The answer is the hold in which it must wait, if it must.
    pub fn arrive<X: Objects<Kept = K>>(
        &mut self,
        objects: &X,
        thread: ThreadNumber,
        site: usize,
        object: &X::Local,
    ) -> Option<Held> {
        for place in 0..self.uses.get(site).map_or(0, Vec::len) {
            let one = self.uses[site][place];
            let held = match one {
                Use::Step { goal, step } => self.arrive_at_step(objects, thread, goal, step, object),
                Use::Hold { goal, step } => self.arrive_at_hold(thread, goal, step),
            };
            if held.is_some() {
                return held;
            }
        }
        None
    }

    fn arrive_at_step<X: Objects<Kept = K>>(
        &mut self,
        objects: &X,
        thread: ThreadNumber,
        number: usize,
        step: usize,
        object: &X::Local,
    ) -> Option<Held> {
        let may_hold = self.may_hold(number);
        let state = &mut self.goals[number];
        if !state.armed {
            return None;
        }
        state.account.visits[step] += 1;
        state.visitors.insert(thread);
        let wanted = state.goal.steps[step].clone();
        if step == 0
            && state.done > 0
            && state.parked.iter().all(Option::is_none)
            && state.bound[wanted.role] == Some(thread)
        {
            // The same thread begins again: a new activation of code without a unit of its own.
            state.reset(&mut self.trash);
        }
        let mine = state.bound[wanted.role] == Some(thread);
        let free = state.bound[wanted.role].is_none() && !state.bound.contains(&Some(thread));
        if !(mine || free && state.is_inside(wanted.role, thread)) {
            return None;
        }
        if let Some(kept) = &state.objects[wanted.object]
            && !objects.same(object, kept)
        {
            return None;
        }
        let early = step > state.done || state.goal.shape == GoalShape::Blocked;
        if early && wanted.hold == Hold::Here && state.is_turn_of_role(step) {
            if !may_hold {
                return None;
            }
            if state.objects[wanted.object].is_none() {
                state.objects[wanted.object] = Some(objects.keep(object));
            }
            state.bound[wanted.role] = Some(thread);
            return Some(self.park(number, step, thread));
        }
        if step == state.done && state.goal.shape == GoalShape::Ordered {
            let partner_waits = wanted.while_held.is_none_or(|role| {
                state.parked[role]
                    .as_ref()
                    .is_some_and(|parked| parked.thread != thread)
            });
            if partner_waits {
                let object = objects.keep(object);
                self.trash.extend(
                    state
                        .pending
                        .insert(thread, Pending { step, object })
                        .map(|old| old.object),
                );
            }
        }
        None
    }

    /// At a hold point on the way to a step.
    fn arrive_at_hold(&mut self, thread: ThreadNumber, number: usize, step: usize) -> Option<Held> {
        let may_hold = self.may_hold(number);
        let state = &self.goals[number];
        let role = state.goal.steps[step].role;
        let begun = state.bound[role] == Some(thread) && step > state.done && state.is_turn_of_role(step);
        (state.armed && begun && may_hold).then(|| self.park(number, step, thread))
    }

    fn park(&mut self, number: usize, step: usize, thread: ThreadNumber) -> Held {
        self.tickets += 1;
        let state = &mut self.goals[number];
        let role = state.goal.steps[step].role;
        state.account.holds += 1;
        state.parked[role] = Some(Parked {
            thread,
            ticket: self.tickets,
            step,
        });
        Held {
            goal: number,
            role,
            ticket: self.tickets,
        }
    }

    /// Whether a goal's thread may be held: the first candidate always, later ones by chance.
    fn may_hold(&mut self, number: usize) -> bool {
        let state = &self.goals[number];
        if state.visitors.len() < 2 && state.account.holds >= LONELY_HOLDS {
            return false;
        }
        if state.failed_in_a_row < PATIENT_HOLDS {
            return true;
        }
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.is_multiple_of(4)
    }

    /// A thread has completed the instruction of a site.
    pub fn complete(
        &mut self,
        thread: ThreadNumber,
        name: impl Fn() -> String,
        site: usize,
        value: Option<i64>,
    ) -> Vec<Fact> {
        let mut facts = Vec::new();
        for place in 0..self.uses.get(site).map_or(0, Vec::len) {
            let Use::Step { goal: number, step } = self.uses[site][place] else {
                continue;
            };
            let state = &mut self.goals[number];
            let Some(pending) = state.pending.get(&thread).filter(|pending| pending.step == step) else {
                continue;
            };
            let wanted = &state.goal.steps[pending.step];
            let partner_waits = wanted
                .while_held
                .is_none_or(|role| state.parked[role].as_ref().is_some_and(|parked| parked.step > step));
            let (role, object) = (wanted.role, wanted.object);
            let Some(pending) = state.pending.remove(&thread) else {
                continue;
            };
            let role_is_ours = state.bound[role].is_none_or(|bound| bound == thread);
            if !state.armed || step != state.done || !partner_waits || !role_is_ours {
                self.trash.push(pending.object);
                continue;
            }
            state.bound[role] = Some(thread);
            match &state.objects[object] {
                None => state.objects[object] = Some(pending.object),
                Some(_) => self.trash.push(pending.object),
            }
            state.passed.push(Passed {
                step,
                thread: name(),
                value,
            });
            state.done += 1;
            if state.done == state.goal.steps.len() {
                let steps = std::mem::take(&mut state.passed);
                facts.push(Fact { goal: number, steps });
                self.happened(number);
            }
        }
        facts
    }

    /// All roles of a lock-order cycle stand before their acquisitions.
    pub fn closes(&mut self, number: usize) -> bool {
        let state = &self.goals[number];
        let all = state.goal.shape == GoalShape::Blocked && state.parked.iter().all(Option::is_some);
        if all {
            self.happened(number);
        }
        all
    }

    fn happened(&mut self, number: usize) {
        let wanted = self.wanted;
        let state = &mut self.goals[number];
        state.account.facts += 1;
        state.failed_in_a_row = 0;
        if state.account.facts >= wanted {
            state.armed = false;
        }
        state.reset(&mut self.trash);
    }

    /// A thread enters a method that is a unit.
    pub fn enter(&mut self, thread: ThreadNumber, method: usize) {
        for place in 0..self.units.get(method).map_or(0, Vec::len) {
            let (number, role) = self.units[method][place];
            let state = &mut self.goals[number];
            if state.bound[role] == Some(thread) && state.parked[role].is_none() {
                state.reset(&mut self.trash);
            }
            *state.inside[role].entry(thread).or_insert(0) += 1;
        }
    }

    /// A thread leaves it, normally or by an exception.
    pub fn leave(&mut self, thread: ThreadNumber, method: usize) {
        for place in 0..self.units.get(method).map_or(0, Vec::len) {
            let (number, role) = self.units[method][place];
            let state = &mut self.goals[number];
            if let Some(depth) = state.inside[role].get_mut(&thread) {
                *depth -= 1;
                if *depth == 0 {
                    state.inside[role].remove(&thread);
                }
            }
            let unfinished = state.goal.steps[state.done..].iter().any(|step| step.role == role);
            if state.bound[role] == Some(thread) && unfinished {
                state.reset(&mut self.trash);
            }
        }
    }

    /// Whether a held thread may go on because its step is next, or its goal began anew.
    pub fn is_released(&self, held: Held) -> Option<Released> {
        let state = &self.goals[held.goal];
        match &state.parked[held.role] {
            Some(parked) if parked.ticket == held.ticket => {
                (state.goal.shape == GoalShape::Ordered && state.done >= parked.step).then_some(Released::Reached)
            }
            _ => Some(Released::Reset),
        }
    }

    /// A held thread goes on after so many milliseconds.
    pub fn release(&mut self, held: Held, why: Released, millis: u64) {
        let state = &mut self.goals[held.goal];
        *state.ended.entry(why).or_default() += 1;
        state.account.held_millis += millis;
        let current = state.parked[held.role]
            .as_ref()
            .is_some_and(|parked| parked.ticket == held.ticket);
        if current {
            state.parked[held.role] = None;
        }
        match why {
            Released::Reached => state.failed_in_a_row = 0,
            Released::Idle | Released::Cap => {
                state.failed_in_a_row += 1;
                if state.failed_in_a_row >= MOST_FAILED_HOLDS {
                    state.armed = false;
                }
                if current {
                    state.reset(&mut self.trash);
                }
            }
            Released::Reset => {}
        }
    }

    /// A thread that waited right before its step goes on to take it.
    pub fn resume<X: Objects<Kept = K>>(&mut self, objects: &X, held: Held, thread: ThreadNumber, object: &X::Local) {
        let state = &mut self.goals[held.goal];
        let step = state.done;
        let next = state.goal.steps.get(step);
        if next.is_some_and(|next| next.role == held.role && next.hold == Hold::Here) {
            let object = objects.keep(object);
            self.trash.extend(
                state
                    .pending
                    .insert(thread, Pending { step, object })
                    .map(|old| old.object),
            );
        }
    }

    /// The threads that have come to a goal's sites, the held ones left out.
    pub fn visitors(&self, goal: usize) -> Vec<ThreadNumber> {
        let held: BTreeSet<ThreadNumber> = self
            .goals
            .iter()
            .flat_map(|state| state.parked.iter().flatten().map(|parked| parked.thread))
            .collect();
        self.goals[goal].visitors.difference(&held).copied().collect()
    }

    /// Milliseconds of holding so far: of a goal, and of all.
    pub fn held_millis(&self, goal: usize) -> (u64, u64) {
        let all = self.goals.iter().map(|state| state.account.held_millis).sum();
        (self.goals[goal].account.held_millis, all)
    }

    /// Gives a goal up in this run.
    pub fn disarm(&mut self, goal: usize) {
        self.goals[goal].armed = false;
    }

    /// How the goals fared.
    pub fn accounts(&self) -> Vec<Account> {
        self.goals
            .iter()
            .map(|state| Account {
                threads: state.visitors.len(),
                ended: state.ended.iter().map(|(why, count)| (*why, *count)).collect(),
                ..state.account.clone()
            })
            .collect()
    }
}

impl<K> GoalState<K> {
    fn new(goal: Goal) -> GoalState<K> {
        let objects = goal.steps.iter().map(|step| step.object + 1).max().unwrap_or(0);
        GoalState {
            armed: true,
            done: 0,
            bound: vec![None; goal.roles.len()],
            objects: std::iter::repeat_with(|| None).take(objects).collect(),
            parked: std::iter::repeat_with(|| None).take(goal.roles.len()).collect(),
            pending: BTreeMap::new(),
            inside: vec![BTreeMap::new(); goal.roles.len()],
            passed: Vec::new(),
            visitors: BTreeSet::new(),
            failed_in_a_row: 0,
            ended: BTreeMap::new(),
            account: Account {
                goal: goal.id.clone(),
                visits: vec![0; goal.steps.len()],
                ..Account::default()
            },
            goal,
        }
    }

    /// Whether all earlier steps of the step's role have happened: the thread of the role is on its way to this one.
    fn is_turn_of_role(&self, step: usize) -> bool {
        let role = self.goal.steps[step].role;
        self.goal.shape == GoalShape::Blocked
            || !self.goal.steps[self.done..step.max(self.done)]
                .iter()
                .any(|earlier| earlier.role == role)
    }

    fn is_inside(&self, role: usize, thread: ThreadNumber) -> bool {
        self.goal.roles[role].is_none() || self.inside[role].contains_key(&thread)
    }

    fn reset(&mut self, trash: &mut Vec<K>) {
        self.done = 0;
        self.bound.fill(None);
        self.passed.clear();
        for object in &mut self.objects {
            trash.extend(object.take());
        }
        for (_, pending) in std::mem::take(&mut self.pending) {
            trash.push(pending.object);
        }
        for parked in &mut self.parked {
            *parked = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravel_protocol::goal::{CodeMethod, CodeSite, GoalStep};

    /// Objects that are numbers.
    struct Numbers;

    impl Objects for Numbers {
        type Local = u32;
        type Kept = u32;

        fn same(&self, local: &u32, kept: &u32) -> bool {
            local == kept
        }

        fn keep(&self, local: &u32) -> u32 {
            *local
        }
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
        }
    }

    fn step(role: usize, site: usize, hold: Hold, while_held: Option<usize>) -> GoalStep {
        GoalStep {
            role,
            site,
            object: 0,
            hold,
            while_held,
        }
    }

    /// Role 1 stands before site 1 while role 0 completes site 0.
    fn race(sites: [usize; 2]) -> Goal {
        Goal {
            id: "race".into(),
            shape: GoalShape::Ordered,
            roles: vec![None, None],
            steps: vec![
                step(0, sites[0], Hold::Never, Some(1)),
                step(1, sites[1], Hold::Here, None),
            ],
        }
    }

    /// Role 0 completes site 0, is held before site 2, and completes site 3 after role 1 has completed site 1.
    fn atomicity() -> Goal {
        Goal {
            id: "atomicity".into(),
            shape: GoalShape::Ordered,
            roles: vec![Some(0), None],
            steps: vec![
                step(0, 0, Hold::Never, None),
                step(1, 1, Hold::Never, Some(0)),
                step(0, 3, Hold::At(2), None),
            ],
        }
    }

    #[test]
    fn a_race_needs_the_partner_while_the_first_thread_is_held() {
        let mut director = Director::new(&plan(2, vec![race([0, 1])]), 1);
        assert_eq!(director.arrive(&Numbers, 1, 0, &7), None, "nobody is held yet");
        assert!(director.complete(1, || "t1".into(), 0, None).is_empty());
        let held = director.arrive(&Numbers, 2, 1, &7).expect("it comes too early");
        assert_eq!(director.is_released(held), None);
        assert_eq!(director.arrive(&Numbers, 1, 0, &8), None);
        assert!(
            director.complete(1, || "t1".into(), 0, None).is_empty(),
            "another object"
        );
        assert_eq!(director.is_released(held), None);
        assert_eq!(director.arrive(&Numbers, 1, 0, &7), None);
        assert!(director.complete(1, || "t1".into(), 0, Some(3)).is_empty());
        assert_eq!(director.is_released(held), Some(Released::Reached));
        director.release(held, Released::Reached, 1);
        director.resume(&Numbers, held, 2, &7);
        let facts = director.complete(2, || "t2".into(), 1, None);
        assert_eq!(facts.len(), 1);
        let threads: Vec<&str> = facts[0].steps.iter().map(|step| step.thread.as_str()).collect();
        assert_eq!(threads, ["t1", "t2"]);
        assert!(!director.is_armed(0) && !director.is_armed(1));
    }

    #[test]
    fn of_two_threads_in_the_same_code_one_is_held_and_the_other_passes() {
        let mut director = Director::new(&plan(1, vec![race([0, 0])]), 1);
        let held = director.arrive(&Numbers, 1, 0, &7).expect("the first comer waits");
        assert_eq!(director.arrive(&Numbers, 2, 0, &7), None);
        director.complete(2, || "t2".into(), 0, None);
        assert_eq!(director.is_released(held), Some(Released::Reached));
        director.release(held, Released::Reached, 1);
        director.resume(&Numbers, held, 1, &7);
        assert_eq!(director.complete(1, || "t1".into(), 0, None).len(), 1);
    }

    #[test]
    fn a_step_that_is_completed_after_the_hold_ended_proves_nothing() {
        let mut director = Director::new(&plan(2, vec![race([0, 1])]), 1);
        let held = director.arrive(&Numbers, 2, 1, &7).expect("it comes too early");
        assert_eq!(director.arrive(&Numbers, 1, 0, &7), None);
        director.release(held, Released::Cap, 500);
        director.complete(1, || "t1".into(), 0, None);
        assert!(director.complete(2, || "t2".into(), 1, None).is_empty());
        assert_eq!(director.accounts()[0].facts, 0);
    }

    #[test]
    fn an_atomicity_pattern_happens_within_one_activation() {
        let mut director = Director::new(&plan(4, vec![atomicity()]), 1);
        director.enter(1, 0);
        assert_eq!(director.arrive(&Numbers, 1, 0, &7), None);
        director.complete(1, || "a".into(), 0, Some(1));
        let held = director.arrive(&Numbers, 1, 2, &0).expect("the hold point");
        assert_eq!(director.arrive(&Numbers, 2, 1, &7), None);
        director.complete(2, || "b".into(), 1, None);
        assert_eq!(director.is_released(held), Some(Released::Reached));
        director.release(held, Released::Reached, 2);
        assert_eq!(director.arrive(&Numbers, 1, 3, &7), None);
        let facts = director.complete(1, || "a".into(), 3, None);
        assert_eq!(facts.len(), 1);
        assert_eq!(facts[0].steps.len(), 3);
    }

    #[test]
    fn steps_of_two_activations_are_no_pattern() {
        let mut director = Director::new(&plan(4, vec![atomicity()]), 1);
        director.enter(1, 0);
        director.arrive(&Numbers, 1, 0, &7);
        director.complete(1, || "a".into(), 0, None);
        let held = director.arrive(&Numbers, 1, 2, &0).expect("the hold point");
        director.arrive(&Numbers, 2, 1, &7);
        director.complete(2, || "b".into(), 1, None);
        director.release(held, Released::Reached, 2);
        director.leave(1, 0);
        director.enter(1, 0);
        director.arrive(&Numbers, 1, 3, &7);
        assert!(director.complete(1, || "a".into(), 3, None).is_empty());
    }

    #[test]
    fn a_thread_outside_the_unit_does_not_take_its_role() {
        let mut director = Director::new(&plan(4, vec![atomicity()]), 1);
        director.arrive(&Numbers, 1, 0, &7);
        director.complete(1, || "a".into(), 0, None);
        assert_eq!(director.arrive(&Numbers, 1, 2, &0), None);
    }

    #[test]
    fn a_lock_cycle_closes_when_all_threads_stand_before_their_locks() {
        let goal = Goal {
            id: "deadlock".into(),
            shape: GoalShape::Blocked,
            roles: vec![None, None],
            steps: vec![
                step(0, 0, Hold::Here, None),
                GoalStep {
                    object: 1,
                    ..step(1, 1, Hold::Here, None)
                },
            ],
        };
        let mut director = Director::new(&plan(2, vec![goal]), 1);
        let one = director.arrive(&Numbers, 1, 0, &7).expect("held");
        assert!(!director.closes(0));
        let two = director.arrive(&Numbers, 2, 1, &8).expect("held");
        assert!(director.closes(0));
        assert_eq!(director.is_released(one), Some(Released::Reset));
        assert_eq!(director.is_released(two), Some(Released::Reset));
    }

    #[test]
    fn a_goal_that_fails_again_and_again_is_given_up() {
        let mut director = Director::new(&plan(2, vec![race([0, 1])]), 1);
        director.arrive(&Numbers, 1, 0, &7);
        for _ in 0..2_000 {
            if let Some(held) = director.arrive(&Numbers, 2, 1, &7) {
                director.release(held, Released::Idle, 4);
            }
        }
        assert!(!director.is_armed(1));
        assert_eq!(director.accounts()[0].holds, MOST_FAILED_HOLDS);
    }
}
