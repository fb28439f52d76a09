//! What is known of one goal in the course of a run: which thread has which role, which steps have happened, who is held.

use std::collections::{BTreeMap, BTreeSet};

use ravel_protocol::goal::{Account, Goal, GoalShape, Passed, Released, UnitResult};

use super::director::ThreadNumber;

/// A thread at a hold point.
pub struct Parked {
    pub thread: ThreadNumber,
    pub ticket: u64,
    /// The step that it waits for.
    pub step: usize,
}

/// A step that a thread is about to complete.
pub struct Pending<K> {
    pub step: usize,
    pub object: K,
    /// The value before and the value after a write.
    pub written: Option<(i64, i64)>,
}

impl<K> Pending<K> {
    pub fn new(step: usize, object: K) -> Pending<K> {
        Pending {
            step,
            object,
            written: None,
        }
    }
}

/// A role whose unit goes on after the goal has happened: its result is still to come.
pub struct Waited {
    pub role: usize,
    pub thread: ThreadNumber,
    /// The depth of the activation.
    pub depth: u32,
}

/// The state of one goal.
pub struct GoalState<K> {
    pub goal: Goal,
    pub armed: bool,
    /// Steps that have happened; of a serial goal, roles that are through.
    pub done: usize,
    /// By role: the thread that has it.
    pub bound: Vec<Option<ThreadNumber>>,
    /// By role: the depth of the activation whose result counts.
    pub depth: Vec<u32>,
    /// By role: the result, once the unit has ended.
    pub results: Vec<Option<UnitResult>>,
    /// By number: the object that the steps concern.
    pub objects: Vec<Option<K>>,
    pub parked: Vec<Option<Parked>>,
    /// By thread: the step that it is about to complete.
    pub pending: BTreeMap<ThreadNumber, Pending<K>>,
    pub passed: Vec<Passed>,
    /// By step: the threads that have come there.
    pub visitors: Vec<BTreeSet<ThreadNumber>>,
    /// Visits of others to the first step since a thread took it.
    stale: u64,
    pub failed_in_a_row: u64,
    pub locks_in_a_row: u64,
    pub longest_hold: u64,
    /// Whether the pause was made, and whether it goes on.
    paused: bool,
    pub pausing: bool,
    pub aftermath: Vec<Waited>,
    pub ended: BTreeMap<Released, u64>,
    pub account: Account,
}

impl<K> GoalState<K> {
    pub fn new(goal: Goal) -> GoalState<K> {
        let objects = goal.steps.iter().map(|step| step.object + 1).max().unwrap_or(0);
        let (roles, steps) = (goal.roles.len(), goal.steps.len());
        GoalState {
            armed: true,
            done: 0,
            bound: vec![None; roles],
            depth: vec![0; roles],
            results: vec![None; roles],
            objects: std::iter::repeat_with(|| None).take(objects).collect(),
            parked: std::iter::repeat_with(|| None).take(roles).collect(),
            pending: BTreeMap::new(),
            passed: Vec::new(),
            visitors: vec![BTreeSet::new(); steps],
            stale: 0,
            failed_in_a_row: 0,
            locks_in_a_row: 0,
            longest_hold: 0,
            paused: false,
            pausing: false,
            aftermath: Vec::new(),
            ended: BTreeMap::new(),
            account: Account {
                goal: goal.id.clone(),
                visits: vec![0; steps],
                candidates: vec![0; steps],
                ..Account::default()
            },
            goal,
        }
    }

    /// How many threads have come to any step.
    pub fn threads(&self) -> usize {
        self.visitors.iter().flatten().collect::<BTreeSet<_>>().len()
    }

    /// Whether a thread may take a role that no thread has.
    pub fn is_free_for(&self, role: usize, thread: ThreadNumber) -> bool {
        self.bound[role].is_none() && !self.bound.contains(&Some(thread))
    }

    /// Gives a role to a thread.
    pub fn bind(&mut self, role: usize, thread: ThreadNumber, depths: &[BTreeMap<ThreadNumber, u32>]) {
        if self.bound[role].is_none() {
            let method = self.goal.roles[role].result;
            self.depth[role] = method
                .and_then(|method| depths.get(method)?.get(&thread).copied())
                .unwrap_or(0);
        }
        self.bound[role] = Some(thread);
    }

    /// Whether a thread that comes to this step now comes too early for it.
    pub fn is_early(&self, step: usize) -> bool {
        match self.goal.shape {
            GoalShape::Ordered => step > self.done,
            GoalShape::Serial => self.goal.steps[step].role > self.done,
            GoalShape::Blocked => true,
        }
    }

    /// Whether this step may happen now. Of a serial goal all steps of the role may, after its first.
    pub fn is_next(&self, step: usize) -> bool {
        match self.goal.shape {
            GoalShape::Ordered => step == self.done,
            GoalShape::Serial => {
                let role = self.goal.steps[step].role;
                role == self.done && (self.is_first_of_role(step) || self.has_begun(role))
            }
            GoalShape::Blocked => false,
        }
    }

    fn is_first_of_role(&self, step: usize) -> bool {
        let role = self.goal.steps[step].role;
        !self.goal.steps[..step].iter().any(|earlier| earlier.role == role)
    }

    /// Whether no later step belongs to the same role.
    pub fn is_last_of_role(&self, step: usize) -> bool {
        let role = self.goal.steps[step].role;
        !self.goal.steps[step + 1..].iter().any(|later| later.role == role)
    }

    /// Whether a role has taken a step.
    pub fn has_begun(&self, role: usize) -> bool {
        self.passed
            .iter()
            .any(|passed| self.goal.steps[passed.step].role == role)
    }

    /// Whether a role has steps before it that must happen.
    pub fn is_unfinished(&self, role: usize) -> bool {
        match self.goal.shape {
            GoalShape::Serial => self.done <= role,
            _ => self.goal.steps[self.done..].iter().any(|step| step.role == role),
        }
    }

    pub fn is_complete(&self) -> bool {
        match self.goal.shape {
            GoalShape::Serial => self.done == self.goal.roles.len(),
            _ => self.done == self.goal.steps.len(),
        }
    }

    /// Whether all earlier steps of the step's role have happened: the thread of the role is on its way to this one.
    pub fn is_turn_of_role(&self, step: usize) -> bool {
        let role = self.goal.steps[step].role;
        match self.goal.shape {
            GoalShape::Blocked => true,
            GoalShape::Serial => self.is_first_of_role(step),
            GoalShape::Ordered => !self.goal.steps[self.done..step.max(self.done)]
                .iter()
                .any(|earlier| earlier.role == role),
        }
    }

    /// A thread comes to the first step: if only its role has taken steps so far, the same thread begins again, and another one takes
    /// over from a thread that does not go on.
    pub fn begin_anew(&mut self, thread: ThreadNumber, stale: u64, trash: &mut Vec<K>) {
        let role = self.goal.steps[0].role;
        let alone = self
            .passed
            .iter()
            .all(|passed| self.goal.steps[passed.step].role == role);
        if self.passed.is_empty() || !alone || self.parked.iter().any(Option::is_some) {
            return;
        }
        let same = self.bound[role] == Some(thread);
        self.stale += u64::from(!same);
        if same || self.stale > stale {
            self.reset(trash);
        }
    }

    /// How long a thread pauses here, if it does: once, if it has the role and has taken a step.
    pub fn pause(&mut self, thread: ThreadNumber) -> Option<u64> {
        let pause = self.goal.pause?;
        if !self.armed || self.paused || self.bound[pause.role] != Some(thread) || !self.has_begun(pause.role) {
            return None;
        }
        self.paused = true;
        self.pausing = true;
        Some(pause.millis)
    }

    pub fn reset(&mut self, trash: &mut Vec<K>) {
        self.done = 0;
        self.stale = 0;
        self.longest_hold = 0;
        self.paused = false;
        self.bound.fill(None);
        self.results.fill(None);
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
