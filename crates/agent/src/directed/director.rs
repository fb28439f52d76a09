//! Which thread is held and which passes: the rules of a directed run, without JVM, clock or lock.
//!
//! Threads report when they arrive before an instruction, when they have completed it, and when they enter and leave the methods
//! of units. The director answers whether an arriving thread is held, and knows when all steps of a goal happened in the
//! wanted order, on the same objects, within one activation of each unit. `state.rs` has what is known of one goal.

use std::collections::{BTreeMap, BTreeSet};

use ravel_protocol::goal::{Account, GoalShape, Goals, Hold, Passed, Released, StepKind, UnitEnd, UnitResult};

use super::state::{GoalState, Parked, Pending, Waited};

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

    /// Whether both are cells of the same object.
    fn same_object(&self, local: &Self::Local, kept: &Self::Kept) -> bool;

    /// Remembers an object.
    fn keep(&self, local: &Self::Local) -> Self::Kept;
}

/// A thread that must wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HoldTicket {
    /// Index of the goal.
    pub goal: usize,
    /// The role that it has there.
    pub role: usize,
    /// Which of the goal's holds this is; a release names it.
    pub ticket: u64,
}

/// What a thread that arrives before an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It goes on.
    Pass,
    /// It waits until it is released.
    Hold(HoldTicket),
    /// It waits for so many milliseconds, whatever the others do.
    Pause {
        /// Index of the goal.
        goal: usize,
        /// How long.
        millis: u64,
    },
}

/// An arrival before an instruction: several goals may care for it, and each is asked in turn.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Who.
    pub thread: ThreadNumber,
    /// Index of the instruction.
    pub site: usize,
    /// How many of the site's uses were asked.
    asked: usize,
    /// Whether the thread was held here for another goal: it is not held twice.
    was_held: bool,
}

impl Arrival {
    /// Before anything was asked.
    pub fn new(thread: ThreadNumber, site: usize) -> Arrival {
        Arrival {
            thread,
            site,
            asked: 0,
            was_held: false,
        }
    }
}

/// What is worth a line in the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// All steps of a goal happened.
    Fact {
        /// Index of the goal.
        goal: usize,
        /// The steps as they happened.
        steps: Vec<Passed>,
        /// The longest hold that it took.
        held_millis: u64,
    },
    /// The unit of a role ended after its goal happened.
    Result {
        /// Index of the goal.
        goal: usize,
        /// Index of the role.
        role: usize,
        /// How it ended.
        result: UnitResult,
    },
}

/// Failed holds in a row after which only some activations are held.
const PATIENT_HOLDS: u64 = 8;
/// Failed holds in a row after which the goal is given up in this run.
pub(super) const MOST_FAILED_HOLDS: u64 = 60;
/// Holds in a row that ended because another thread needed a lock of the held one: the hold point is no good.
pub(super) const MOST_LOCK_RELEASES: u64 = 5;
/// Holds that are allowed while only one thread has come to the goal's sites.
const LONELY_HOLDS: u64 = 2;
/// Visits of others to the first step after which a thread loses its role that took the first step and did not go on.
const STALE_VISITS: u64 = 8;
/// Threads that must stay free while goals hold others, and while a goal has its first holds: the place may be one that threads come to once.
const FREE_THREADS: usize = 2;
const FREE_AT_FIRST: usize = 1;
/// Holds of a goal that count as its first.
const FIRST_HOLDS: u64 = 2;

/// What a site means for a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Step {
        goal: usize,
        step: usize,
    },
    /// `calls` says that the instruction calls the method of the role's unit, so that the thread is not inside yet.
    Hold {
        goal: usize,
        step: usize,
        calls: bool,
    },
    Pause {
        goal: usize,
    },
}

/// The state of all goals of a run.
pub struct Director<K> {
    goals: Vec<GoalState<K>>,
    /// By site.
    uses: Vec<Vec<Use>>,
    /// By method: the goals and roles whose unit it is, or whose result is its result.
    units: Vec<Vec<(usize, usize)>>,
    /// By method: how deep each thread is in activations of it.
    depths: Vec<BTreeMap<ThreadNumber, u32>>,
    /// By method: how often each thread has entered it from outside.
    entries: Vec<BTreeMap<ThreadNumber, u64>>,
    tickets: u64,
    random: fastrand::Rng,
    /// Facts wanted of each goal before it is disarmed.
    wanted: u64,
    /// Objects that are no longer needed; the caller gives them back to the JVM.
    pub trash: Vec<K>,
    /// What has happened since the caller last took it.
    pub notes: Vec<Note>,
}

impl<K> Director<K> {
    /// Nothing has happened yet.
    pub fn new(plan: &Goals) -> Director<K> {
        let mut uses = vec![Vec::new(); plan.sites.len()];
        let mut units = vec![Vec::new(); plan.methods.len()];
        let mut add = |site: usize, one: Use| {
            if let Some(list) = uses.get_mut(site) {
                list.push(one);
            }
        };
        for (number, goal) in plan.goals.iter().enumerate() {
            if let Some(pause) = &goal.pause {
                add(pause.site, Use::Pause { goal: number });
            }
            // A thread that may be held is asked for that first: with both roles in the same code the first comer waits.
            let mut steps: Vec<usize> = (0..goal.steps.len()).collect();
            steps.sort_by_key(|&step| goal.steps[step].hold == Hold::Never);
            for step in steps {
                if let Hold::At(site) = goal.steps[step].hold {
                    let calls = calls_unit(plan, site, goal.roles[goal.steps[step].role].unit);
                    add(
                        site,
                        Use::Hold {
                            goal: number,
                            step,
                            calls,
                        },
                    );
                }
                add(goal.steps[step].site, Use::Step { goal: number, step });
            }
            for (role, of) in goal.roles.iter().enumerate() {
                let methods: BTreeSet<usize> = of.unit.into_iter().chain(of.result).collect();
                for method in methods {
                    if let Some(list) = units.get_mut(method) {
                        list.push((number, role));
                    }
                }
            }
        }
        Director {
            goals: plan.goals.iter().cloned().map(GoalState::new).collect(),
            uses,
            depths: vec![BTreeMap::new(); units.len()],
            entries: vec![BTreeMap::new(); units.len()],
            units,
            tickets: 0,
            random: fastrand::Rng::with_seed(plan.seed),
            wanted: plan.facts.max(1),
            trash: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether any goal still cares for a site.
    pub fn is_armed(&self, site: usize) -> bool {
        self.uses.get(site).is_some_and(|uses| {
            uses.iter().any(|one| match *one {
                Use::Step { goal, .. } | Use::Hold { goal, .. } | Use::Pause { goal } => self.goals[goal].armed,
            })
        })
    }

    /// Whether any goal still cares for a method.
    pub fn is_unit_armed(&self, method: usize) -> bool {
        self.units.get(method).is_some_and(|uses| {
            uses.iter()
                .any(|&(goal, _)| self.goals[goal].armed || !self.goals[goal].aftermath.is_empty())
        })
    }

    /// A thread is about to execute an instruction. A caller that had to wait asks again afterwards, for the other goals.
    pub fn arrive<X: Objects<Kept = K>>(&mut self, objects: &X, arrival: &mut Arrival, object: &X::Local) -> Answer {
        while let Some(&one) = self.uses.get(arrival.site).and_then(|uses| uses.get(arrival.asked)) {
            arrival.asked += 1;
            let answer = match one {
                Use::Step { goal, step } => self.arrive_at_step(objects, arrival, goal, step, object),
                Use::Hold { goal, step, calls } => self.arrive_at_hold(arrival, goal, step, calls),
                Use::Pause { goal } => match self.goals[goal].pause(arrival.thread) {
                    Some(millis) => Answer::Pause { goal, millis },
                    None => Answer::Pass,
                },
            };
            if answer != Answer::Pass {
                arrival.was_held |= matches!(answer, Answer::Hold(_));
                return answer;
            }
        }
        Answer::Pass
    }

    fn arrive_at_step<X: Objects<Kept = K>>(
        &mut self,
        objects: &X,
        arrival: &Arrival,
        number: usize,
        step: usize,
        object: &X::Local,
    ) -> Answer {
        let thread = arrival.thread;
        let state = &mut self.goals[number];
        if !state.armed {
            return Answer::Pass;
        }
        state.account.visits[step] += 1;
        state.visitors[step].insert(thread);
        let wanted = state.goal.steps[step].clone();
        if step == 0 {
            state.begin_anew(thread, STALE_VISITS, &mut self.trash);
        }
        let inside = state.goal.roles[wanted.role]
            .unit
            .is_none_or(|method| self.depths[method].contains_key(&thread));
        let mine = state.bound[wanted.role] == Some(thread);
        if !(mine || state.is_free_for(wanted.role, thread) && inside) {
            return Answer::Pass;
        }
        let is_other = |kept: &K| match wanted.kind {
            StepKind::Access | StepKind::Write => !objects.same(object, kept),
            StepKind::Acquisition | StepKind::Wait => !objects.same_object(object, kept),
        };
        if state.objects[wanted.object].as_ref().is_some_and(is_other) {
            return Answer::Pass;
        }
        state.account.candidates[step] += 1;
        if wanted.hold == Hold::Here && state.is_early(step) && state.is_turn_of_role(step) {
            if arrival.was_held || !self.may_hold(number) {
                return Answer::Pass;
            }
            let state = &mut self.goals[number];
            if state.objects[wanted.object].is_none() {
                state.objects[wanted.object] = Some(objects.keep(object));
            }
            return Answer::Hold(self.park(number, step, thread));
        }
        let partner_waits = wanted.while_held.is_none_or(|role| {
            state.parked[role]
                .as_ref()
                .is_some_and(|parked| parked.thread != thread)
        });
        if state.is_next(step) && partner_waits {
            let pending = Pending::new(step, objects.keep(object));
            self.trash
                .extend(state.pending.insert(thread, pending).map(|old| old.object));
        }
        Answer::Pass
    }

    /// At a hold point on the way to a step.
    fn arrive_at_hold(&mut self, arrival: &Arrival, number: usize, step: usize, calls: bool) -> Answer {
        let thread = arrival.thread;
        let state = &mut self.goals[number];
        let role = state.goal.steps[step].role;
        let is_first = !state.goal.steps[..step].iter().any(|earlier| earlier.role == role);
        let unit = state.goal.roles[role].unit;
        let inside = calls || unit.is_none_or(|method| self.depths[method].contains_key(&thread));
        if calls && state.bound[role] == Some(thread) && !state.has_begun(role) {
            // It was held here before, and the call led elsewhere.
            state.reset(&mut self.trash);
        }
        let mine = state.bound[role] == Some(thread);
        let fits = mine || is_first && inside && state.is_free_for(role, thread);
        if !state.armed || !fits || !state.is_early(step) || !state.is_turn_of_role(step) {
            return Answer::Pass;
        }
        if is_first {
            // A thread that waits for its turn outside its locks has come to its first step as far as others are concerned.
            state.visitors[step].insert(thread);
        }
        if arrival.was_held || !self.may_hold(number) {
            return Answer::Pass;
        }
        Answer::Hold(self.park(number, step, thread))
    }

    fn park(&mut self, number: usize, step: usize, thread: ThreadNumber) -> HoldTicket {
        self.tickets += 1;
        let state = &mut self.goals[number];
        let role = state.goal.steps[step].role;
        state.bind(role, thread, &self.depths);
        state.account.holds += 1;
        state.parked[role] = Some(Parked {
            thread,
            ticket: self.tickets,
            step,
        });
        HoldTicket {
            goal: number,
            role,
            ticket: self.tickets,
        }
    }

    /// Whether a goal's thread may be held: the first candidate always, later ones by chance, and never so many threads that
    /// none is left to come.
    fn may_hold(&mut self, number: usize) -> bool {
        let state = &self.goals[number];
        if state.threads() < 2 && state.account.holds >= LONELY_HOLDS {
            return false;
        }
        let held = self
            .goals
            .iter()
            .flat_map(|state| state.parked.iter().flatten())
            .count();
        if held > 0 && state.parked.iter().all(Option::is_none) {
            let all: BTreeSet<ThreadNumber> = self
                .goals
                .iter()
                .flat_map(|state| state.visitors.iter().flatten().copied())
                .collect();
            let free = match state.account.holds < FIRST_HOLDS {
                true => FREE_AT_FIRST,
                false => FREE_THREADS,
            };
            if held >= all.len().saturating_sub(free).max(1) {
                return false;
            }
        }
        if state.failed_in_a_row < PATIENT_HOLDS {
            return true;
        }
        self.random.u8(..4) == 0
    }

    /// Whether a thread has taken a step as soon as it comes to the instruction of a site.
    pub fn counts_on_arrival(&self, site: usize) -> bool {
        let is_wait = |one: &Use| match *one {
            Use::Step { goal, step } => self.goals[goal].goal.steps[step].kind == StepKind::Wait,
            Use::Hold { .. } | Use::Pause { .. } => false,
        };
        self.uses.get(site).is_some_and(|uses| uses.iter().any(is_wait))
    }

    /// A thread is about to write `new` where `old` is.
    pub fn writes(&mut self, thread: ThreadNumber, site: usize, old: i64, new: i64) {
        for one in self.uses.get(site).into_iter().flatten() {
            if let Use::Step { goal, step } = *one
                && let Some(pending) = self.goals[goal].pending.get_mut(&thread)
                && pending.step == step
            {
                pending.written = Some((old, new));
            }
        }
    }

    /// A thread has completed the instruction of a site, and read this value if it is known.
    pub fn complete(&mut self, thread: ThreadNumber, name: impl Fn() -> String, site: usize, value: Option<i64>) {
        for place in 0..self.uses.get(site).map_or(0, Vec::len) {
            let Use::Step { goal: number, step } = self.uses[site][place] else {
                continue;
            };
            let state = &mut self.goals[number];
            if state.pending.get(&thread).is_none_or(|pending| pending.step != step) {
                continue;
            }
            let Some(pending) = state.pending.remove(&thread) else {
                continue;
            };
            let wanted = &state.goal.steps[step];
            let partner_waits = wanted
                .while_held
                .is_none_or(|role| state.parked[role].as_ref().is_some_and(|parked| parked.step > step));
            let (role, object) = (wanted.role, wanted.object);
            let role_is_ours = state.bound[role].is_none_or(|bound| bound == thread);
            if !state.armed || !state.is_next(step) || !partner_waits || !role_is_ours {
                self.trash.push(pending.object);
                continue;
            }
            state.bind(role, thread, &self.depths);
            let (before, written) = (pending.written.map(|(old, _)| old), pending.written.map(|(_, new)| new));
            match &state.objects[object] {
                None => state.objects[object] = Some(pending.object),
                Some(_) => self.trash.push(pending.object),
            }
            state.passed.push(Passed {
                step,
                role,
                thread: name(),
                before,
                value: value.or(written),
            });
            // A unit may go on for long after its last step of the pattern.
            let ends_role = state.goal.shape != GoalShape::Serial || state.is_last_of_role(step);
            if ends_role {
                state.done += 1;
            }
            if state.is_complete() {
                self.happened(number);
            }
        }
    }

    /// All roles of a lock-order cycle stand before their acquisitions: they are let go, and the caller sees whether they block each
    /// other.
    pub fn closes(&mut self, number: usize) -> bool {
        let state = &mut self.goals[number];
        let all = state.goal.shape == GoalShape::Blocked && state.parked.iter().all(Option::is_some);
        if all {
            state.armed = false;
            state.reset(&mut self.trash);
        }
        all
    }

    /// The threads of a cycle did not block each other: they held other locks. Others may.
    pub fn did_not_close(&mut self, number: usize) {
        let state = &mut self.goals[number];
        state.failed_in_a_row += 1;
        state.armed = state.failed_in_a_row < PATIENT_HOLDS;
    }

    fn happened(&mut self, number: usize) {
        let state = &mut self.goals[number];
        self.notes.push(Note::Fact {
            goal: number,
            steps: std::mem::take(&mut state.passed),
            held_millis: state.longest_hold,
        });
        for role in 0..state.goal.roles.len() {
            match (state.results[role].take(), state.bound[role]) {
                (Some(result), _) => self.notes.push(Note::Result {
                    goal: number,
                    role,
                    result,
                }),
                (None, Some(thread)) if state.goal.roles[role].result.is_some() => state.aftermath.push(Waited {
                    role,
                    thread,
                    depth: state.depth[role],
                }),
                _ => {}
            }
        }
        state.account.facts += 1;
        state.failed_in_a_row = 0;
        if state.account.facts >= self.wanted {
            state.armed = false;
        }
        state.reset(&mut self.trash);
    }

    /// A thread enters a method that is a unit.
    pub fn enter(&mut self, thread: ThreadNumber, method: usize) {
        let Some(depths) = self.depths.get_mut(method) else {
            return;
        };
        let depth = depths.entry(thread).or_insert(0);
        *depth += 1;
        if *depth > 1 {
            return;
        }
        *self.entries[method].entry(thread).or_insert(0) += 1;
        for &(number, role) in &self.units[method] {
            let state = &mut self.goals[number];
            let is_unit = state.goal.roles[role].unit == Some(method);
            if is_unit && state.bound[role] == Some(thread) && state.has_begun(role) {
                state.reset(&mut self.trash);
            } else if state.goal.roles[role].result == Some(method) && state.bound[role] == Some(thread) {
                // It got its role before the call.
                state.depth[role] = state.depth[role].max(1);
            }
        }
    }

    /// A thread leaves it, normally or by an exception.
    pub fn leave(&mut self, thread: ThreadNumber, name: impl Fn() -> String, method: usize, end: &UnitEnd) {
        let Some(depths) = self.depths.get_mut(method) else {
            return;
        };
        // Entered before the class had its hooks.
        let Some(depth) = depths.get_mut(&thread) else { return };
        *depth -= 1;
        let depth = *depth;
        if depth == 0 {
            depths.remove(&thread);
        }
        let activation = self.entries[method].get(&thread).copied().unwrap_or(0);
        let result = || UnitResult {
            thread: name(),
            activation,
            end: end.clone(),
        };
        for place in 0..self.units[method].len() {
            let (number, role) = self.units[method][place];
            let state = &mut self.goals[number];
            if state.goal.roles[role].result == Some(method) {
                let ended = |one: &Waited| one.role == role && one.thread == thread && one.depth > depth;
                if let Some(place) = state.aftermath.iter().position(ended) {
                    state.aftermath.remove(place);
                    self.notes.push(Note::Result {
                        goal: number,
                        role,
                        result: result(),
                    });
                }
                if state.bound[role] == Some(thread) && state.depth[role] > depth && state.has_begun(role) {
                    state.results[role] = Some(result());
                    if state.goal.shape == GoalShape::Serial && state.done == role {
                        if role == 0 && state.goal.whole {
                            // It went another way than in the pattern.
                            state.reset(&mut self.trash);
                            continue;
                        }
                        state.done += 1;
                        if state.is_complete() {
                            self.happened(number);
                            continue;
                        }
                    }
                }
            }
            let state = &mut self.goals[number];
            let is_unit = state.goal.roles[role].unit == Some(method) && depth == 0;
            if is_unit && state.bound[role] == Some(thread) && state.is_unfinished(role) {
                state.reset(&mut self.trash);
            }
        }
    }

    /// Whether a held thread may go on because its step is next, or its goal began anew.
    pub fn is_released(&self, held: HoldTicket) -> Option<Released> {
        let state = &self.goals[held.goal];
        match &state.parked[held.role] {
            Some(parked) if parked.ticket == held.ticket => {
                // Its next step counts only while another role is held: that thread must have come to its hold point.
                let waits_for = state.goal.steps[parked.step].while_held;
                let partner_waits = waits_for.is_none_or(|role| role == held.role || state.parked[role].is_some());
                let reached = state.goal.shape != GoalShape::Blocked && !state.is_early(parked.step) && partner_waits;
                reached.then_some(Released::Reached)
            }
            _ => Some(Released::Reset),
        }
    }

    /// A held thread goes on after so many milliseconds.
    pub fn release(&mut self, held: HoldTicket, why: Released, millis: u64) {
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
            Released::Reached => {
                state.failed_in_a_row = 0;
                state.locks_in_a_row = 0;
                state.longest_hold = state.longest_hold.max(millis);
            }
            Released::Idle | Released::Cap | Released::Lock => {
                state.failed_in_a_row += 1;
                state.locks_in_a_row = match why {
                    Released::Lock => state.locks_in_a_row + 1,
                    _ => 0,
                };
                if state.failed_in_a_row >= MOST_FAILED_HOLDS || state.locks_in_a_row >= MOST_LOCK_RELEASES {
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
    pub fn resume<X: Objects<Kept = K>>(
        &mut self,
        objects: &X,
        held: HoldTicket,
        thread: ThreadNumber,
        object: &X::Local,
    ) {
        let state = &mut self.goals[held.goal];
        let next = (0..state.goal.steps.len()).find(|&step| state.is_next(step));
        let Some(step) = next else { return };
        let wanted = &state.goal.steps[step];
        if wanted.role == held.role && wanted.hold == Hold::Here {
            let pending = Pending::new(step, objects.keep(object));
            self.trash
                .extend(state.pending.insert(thread, pending).map(|old| old.object));
        }
    }

    /// A pause is over.
    pub fn paused(&mut self, goal: usize) {
        self.goals[goal].pausing = false;
    }

    /// Whether a thread of the goal pauses: the others are not idle for lack of work then.
    pub fn is_pausing(&self, goal: usize) -> bool {
        self.goals[goal].pausing
    }

    /// The threads that may take the next step of a goal because they have come there before, the held ones left out. None are known
    /// at first: then any thread may.
    pub fn awaited(&self, goal: usize) -> Vec<ThreadNumber> {
        let held: BTreeSet<ThreadNumber> = self
            .goals
            .iter()
            .flat_map(|state| state.parked.iter().flatten().map(|parked| parked.thread))
            .collect();
        let state = &self.goals[goal];
        let next = (0..state.goal.steps.len()).filter(|&step| match state.goal.shape {
            GoalShape::Blocked => state.parked[state.goal.steps[step].role].is_none(),
            _ => state.is_next(step),
        });
        let visitors: BTreeSet<ThreadNumber> = next.flat_map(|step| state.visitors[step].iter().copied()).collect();
        visitors.difference(&held).copied().collect()
    }

    /// Holds of a goal that have failed in a row.
    pub fn failed_holds(&self, goal: usize) -> u64 {
        self.goals[goal].failed_in_a_row
    }

    /// Whether a goal is still wanted in this run.
    pub fn is_goal_armed(&self, goal: usize) -> bool {
        self.goals[goal].armed
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
                threads: state.threads(),
                ended: state.ended.iter().map(|(why, count)| (*why, *count)).collect(),
                ..state.account.clone()
            })
            .collect()
    }
}

/// Whether an instruction calls the method of a unit from outside.
fn calls_unit(plan: &Goals, site: usize, unit: Option<usize>) -> bool {
    let (Some(site), Some(unit)) = (plan.sites.get(site), unit.and_then(|unit| plan.methods.get(unit))) else {
        return false;
    };
    site.member == unit.name && site.method != *unit
}

#[cfg(test)]
#[path = "director_tests.rs"]
mod tests;
