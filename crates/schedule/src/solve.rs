//! Finds an order for a plan: Pecan's Algorithms 3 and 4 for any number of events and threads.
//!
//! The paper moves the events that depend on the pattern's first event, from the outermost lock that protects it,
//! behind what the last event needs. Here the recorded order is followed step by step, the pattern's events are put off
//! for as long as anything else can run, and when everyone is stuck one reason is taken away: a critical section that
//! was begun too early is put behind the section that waits for it (the paper's move of the outermost lock), a thread
//! that stands inside a section is taken further to its end, or a write is put before the write that a later read needs.
//! Steps are then undone back to the one that came too early, and the order goes on from there. What would contradict
//! what is already decided is not tried. Tries, and steps taken in all of them, are bounded by [`Budget`].
//!
//! Promise: an order that is found keeps locks, hard order and the reads that the plan keeps. Not promised: that an order
//! is found whenever there is one. The [exhaustive search](crate::search) does that, where it can be afforded.

mod stuck;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::image::{EventNo, Image, NONE, ThreadStep};
use crate::machine::Broken;
use crate::plan::{Keep, Plan};

/// What may be spent on one goal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Orders tried.
    pub tries: u32,
    /// Steps taken in all tries together.
    pub steps: u64,
}

/// Who runs when several can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    /// The step that was recorded first: moves as little as possible.
    Recorded,
    /// The thread that runs already: switches as little as possible.
    Stay,
}

/// An order of all that the plan takes, with the plan as it was extended on the way.
pub(crate) fn solve<'a>(
    plan: &Plan<'a>,
    policy: Policy,
    budget: &mut Budget,
) -> Result<(Vec<ThreadStep>, Plan<'a>), Broken> {
    let mut run = Run::new(plan.clone(), policy);
    run.solve(budget)?;
    Ok((run.order, run.plan))
}

/// A way out when everyone is stuck.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Alternative {
    Before(ThreadStep, ThreadStep),
    Further(ThreadStep),
}

/// Why a thread does not run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wait {
    Step(ThreadStep),
    Lock {
        acquire: EventNo,
        begin: EventNo,
    },
    /// A write that would take a value away from reads still to come.
    Readers {
        write: EventNo,
    },
    /// A read that may differ only once the pattern has begun.
    Pattern {
        read: EventNo,
        first: ThreadStep,
    },
    /// A pattern event that comes after everything else.
    Everyone,
    /// A read whose value is gone.
    Never {
        read: EventNo,
    },
}

#[derive(Default)]
struct LockHolders {
    exclusive: Option<EventNo>,
    shared: Vec<EventNo>,
}

struct Run<'a> {
    plan: Plan<'a>,
    image: &'a Image,
    policy: Policy,
    done: Vec<u32>,
    order: Vec<ThreadStep>,
    remaining: usize,
    held: FxHashMap<u32, LockHolders>,
    /// By location, the write seen now.
    now: Vec<EventNo>,
    /// What `now` was before each write done, for undoing.
    before_writes: Vec<EventNo>,
    /// Reads to come that must see a write, by write, and the value at first, by location.
    unread: Vec<u32>,
    unread_initial: Vec<u32>,
    ready: BinaryHeap<Reverse<(bool, EventNo, u32)>>,
    waits: Vec<Option<Wait>>,
    for_step: FxHashMap<ThreadStep, Vec<u32>>,
    for_lock: FxHashMap<u32, Vec<u32>>,
    for_readers: FxHashMap<u32, Vec<u32>>,
    for_everyone: Vec<u32>,
}

impl<'a> Run<'a> {
    fn new(plan: Plan<'a>, policy: Policy) -> Self {
        let image = plan.image;
        let threads = plan.taken.len();
        let mut run = Run {
            image,
            policy,
            done: vec![0; threads],
            order: Vec::new(),
            remaining: plan.taken.iter().map(|&n| n as usize).sum(),
            held: FxHashMap::default(),
            now: vec![NONE; image.locations()],
            before_writes: Vec::new(),
            unread: vec![0; image.len()],
            unread_initial: vec![0; image.locations()],
            ready: BinaryHeap::new(),
            waits: vec![None; threads],
            for_step: FxHashMap::default(),
            for_lock: FxHashMap::default(),
            for_readers: FxHashMap::default(),
            for_everyone: Vec::new(),
            plan,
        };
        let all = run.plan.taken.clone();
        run.expect_reads(&vec![0; threads], &all);
        run
    }

    /// Counts the reads of steps that the plan takes anew.
    fn expect_reads(&mut self, from: &[u32], to: &[u32]) {
        for thread in 0..to.len() as u32 {
            for number in from[thread as usize]..to[thread as usize] {
                let step = ThreadStep { thread, number };
                for &event in self.image.events(step) {
                    if let Some(seen) = self.plan.must_see(step, event) {
                        *self.unread_count(self.image.operand(event), seen) += 1;
                    }
                }
            }
        }
    }

    /// Goes on to the end, taking decisions where everyone is stuck, and taking them back where they lead nowhere.
    fn solve(&mut self, budget: &mut Budget) -> Result<(), Broken> {
        budget.tries = budget.tries.saturating_sub(1);
        let (alternatives, broken) = match self.complete(budget) {
            Ok(()) => return Ok(()),
            Err(stuck) => stuck,
        };
        for alternative in alternatives {
            if budget.tries == 0 || budget.steps == 0 {
                break;
            }
            match alternative {
                Alternative::Before(before, after) => {
                    self.undo_to(|run| !run.is_done(after));
                    self.plan.order(before, after);
                    if self.solve(budget).is_ok() {
                        return Ok(());
                    }
                    // What was done under one more decision is possible without it, too.
                    if let Some(decided) = self.plan.edges.get_mut(&after) {
                        decided.pop();
                    }
                }
                Alternative::Further(step) => {
                    let mut longer = self.plan.clone();
                    if longer
                        .take(step.thread, step.number + 1)
                        .and_then(|()| longer.close())
                        .is_err()
                    {
                        continue;
                    }
                    // Reads that count only now may have been deprived of their value: begin again.
                    let mut again = Run::new(longer, self.policy);
                    if again.solve(budget).is_ok() {
                        *self = again;
                        return Ok(());
                    }
                }
            }
        }
        Err(broken)
    }

    /// Takes steps back until a condition holds.
    fn undo_to(&mut self, enough: impl Fn(&Self) -> bool) {
        while !enough(self)
            && let Some(step) = self.order.pop()
        {
            self.undo(step);
        }
        self.ready.clear();
        self.waits.fill(None);
        self.for_step.clear();
        self.for_lock.clear();
        self.for_readers.clear();
        self.for_everyone.clear();
    }

    fn undo(&mut self, step: ThreadStep) {
        let image = self.image;
        self.done[step.thread as usize] -= 1;
        self.remaining += 1;
        for &event in image.events(step).iter().rev() {
            let code = image.code(event);
            let operand = image.operand(event);
            if code.gives_up() {
                let begin = image.other_end(event);
                if begin != NONE {
                    self.hold(begin);
                }
            }
            if code.takes() {
                self.let_go(step.thread, operand, code.is_shared());
            }
            if code.is_write() {
                self.now[operand as usize] = self.before_writes.pop().unwrap_or(NONE);
            }
            if let Some(seen) = self.plan.must_see(step, event) {
                *self.unread_count(operand, seen) += 1;
            }
        }
    }

    fn unread_count(&mut self, location: u32, seen: EventNo) -> &mut u32 {
        if seen == NONE {
            &mut self.unread_initial[location as usize]
        } else {
            &mut self.unread[seen as usize]
        }
    }

    fn next(&self, thread: u32) -> Option<ThreadStep> {
        let number = self.done[thread as usize];
        (number < self.plan.taken[thread as usize]).then_some(ThreadStep { thread, number })
    }

    fn is_done(&self, step: ThreadStep) -> bool {
        step.number < self.done[step.thread as usize]
    }

    fn offer(&mut self, thread: u32) {
        if let Some(step) = self.next(thread) {
            let place = self.plan.pattern.iter().position(|&s| s == step);
            let key = place.map_or_else(|| self.image.events(step)[0], |p| p as EventNo);
            self.ready.push(Reverse((place.is_some(), key, thread)));
        }
    }

    fn complete(&mut self, budget: &mut Budget) -> Result<(), (Vec<Alternative>, Broken)> {
        for thread in 0..self.done.len() as u32 {
            self.offer(thread);
        }
        let mut staying: Option<u32> = None;
        loop {
            let thread = match staying.take() {
                Some(thread) => thread,
                None => match self.ready.pop() {
                    Some(Reverse((_, _, thread))) => thread,
                    None if self.remaining == 0 => return Ok(()),
                    None => return Err(self.stuck()),
                },
            };
            let Some(step) = self.next(thread) else { continue };
            if let Some(wait) = self.wait(step) {
                self.park(thread, wait);
                continue;
            }
            self.execute(step);
            budget.steps = budget.steps.saturating_sub(1);
            if self.plan.last == Some(step) {
                return Ok(());
            }
            let stays =
                self.policy == Policy::Stay && self.next(thread).is_some_and(|s| !self.plan.pattern.contains(&s));
            if stays {
                staying = Some(thread);
            } else {
                self.offer(thread);
            }
        }
    }

    /// What a step waits for, if anything.
    fn wait(&self, step: ThreadStep) -> Option<Wait> {
        let image = self.image;
        if let Some(before) = self
            .plan
            .edges
            .get(&step)
            .and_then(|b| b.iter().find(|&&s| !self.is_done(s)))
        {
            return Some(Wait::Step(*before));
        }
        if self.plan.at_end && self.plan.pattern.contains(&step) {
            let pattern_left = self.plan.pattern.iter().filter(|&&s| !self.is_done(s)).count();
            if self.remaining > pattern_left {
                return Some(Wait::Everyone);
            }
        }
        image.events(step).iter().find_map(|&event| self.wait_of(step, event))
    }

    fn wait_of(&self, step: ThreadStep, event: EventNo) -> Option<Wait> {
        let image = self.image;
        let operand = image.operand(event);
        let volatile = image
            .volatile_source(event)
            .filter(|_| !self.plan.own.contains(&operand));
        for &needs in image.comes_after(event).iter().chain(&volatile) {
            let needed = image.step_of(needs);
            if needed != step && !self.is_done(needed) {
                return Some(Wait::Step(needed));
            }
        }
        let code = image.code(event);
        if code.takes() {
            return self.lock_wait(step.thread, event);
        }
        if !image.is_access(event) || !image.is_shared(operand) {
            return None;
        }
        if code.is_read() {
            let wait = self.read_wait(step, event);
            if wait.is_some() {
                return wait;
            }
        }
        (code.is_write() && self.takes_value_away(step, event)).then_some(Wait::Readers { write: event })
    }

    fn lock_wait(&self, thread: u32, acquire: EventNo) -> Option<Wait> {
        let held = self.held.get(&self.image.operand(acquire))?;
        let shared: &[EventNo] = if self.image.code(acquire).is_shared() {
            &[]
        } else {
            &held.shared
        };
        let mut holders = held.exclusive.iter().chain(shared);
        holders
            .find(|&&b| self.image.thread(b) != thread)
            .map(|&begin| Wait::Lock { acquire, begin })
    }

    fn read_wait(&self, step: ThreadStep, read: EventNo) -> Option<Wait> {
        let image = self.image;
        let saw = image.saw(read);
        let same_step = saw != NONE && image.step_of(saw) == step;
        if same_step || self.now[image.operand(read) as usize] == saw {
            return None;
        }
        if self.plan.must_see(step, read).is_some() {
            return Some(match saw {
                NONE => Wait::Never { read },
                saw if self.is_done(image.step_of(saw)) => Wait::Never { read },
                saw => Wait::Step(image.step_of(saw)),
            });
        }
        // A read that need not be kept may differ only once the pattern has begun.
        let first = self
            .plan
            .first
            .filter(|&f| self.plan.keep == Keep::BeforeFirst && f != step && !self.is_done(f));
        first.map(|first| Wait::Pattern { read, first })
    }

    fn takes_value_away(&self, step: ThreadStep, write: EventNo) -> bool {
        let image = self.image;
        let location = image.operand(write);
        let now = self.now[location as usize];
        if image.origin(write) == now {
            return false;
        }
        let count = if now == NONE {
            self.unread_initial[location as usize]
        } else {
            self.unread[now as usize]
        };
        if count == 0 {
            return false;
        }
        let in_this_step = image.events(step).iter().filter(|&&e| {
            image.code(e).is_read() && image.operand(e) == location && self.plan.must_see(step, e) == Some(now)
        });
        count as usize > in_this_step.count()
    }

    fn park(&mut self, thread: u32, wait: Wait) {
        self.waits[thread as usize] = Some(wait);
        match wait {
            Wait::Step(step) | Wait::Pattern { first: step, .. } => self.for_step.entry(step).or_default().push(thread),
            Wait::Lock { acquire, .. } => {
                self.for_lock
                    .entry(self.image.operand(acquire))
                    .or_default()
                    .push(thread);
            }
            Wait::Readers { write } => {
                self.for_readers
                    .entry(self.image.operand(write))
                    .or_default()
                    .push(thread);
            }
            Wait::Everyone => self.for_everyone.push(thread),
            Wait::Never { .. } => {}
        }
    }

    fn wake(&mut self, threads: Option<Vec<u32>>) {
        for thread in threads.into_iter().flatten() {
            self.waits[thread as usize] = None;
            self.offer(thread);
        }
    }

    fn execute(&mut self, step: ThreadStep) {
        let image = self.image;
        for &event in image.events(step) {
            let code = image.code(event);
            let operand = image.operand(event);
            if let Some(seen) = self.plan.must_see(step, event) {
                *self.unread_count(operand, seen) -= 1;
                let woken = self.for_readers.remove(&operand);
                self.wake(woken);
            }
            if code.is_write() {
                self.before_writes.push(self.now[operand as usize]);
                self.now[operand as usize] = image.origin(event);
                let woken = self.for_readers.remove(&operand);
                self.wake(woken);
            }
            if code.takes() {
                self.hold(event);
            }
            if code.gives_up() {
                self.release(step.thread, operand, code.is_shared());
            }
        }
        self.done[step.thread as usize] += 1;
        self.remaining -= 1;
        self.order.push(step);
        let woken = self.for_step.remove(&step);
        self.wake(woken);
        if self.remaining <= self.plan.pattern.len() {
            let woken = std::mem::take(&mut self.for_everyone);
            self.wake(Some(woken));
        }
    }

    fn release(&mut self, thread: u32, lock: u32, shared: bool) {
        self.let_go(thread, lock, shared);
        let woken = self.for_lock.remove(&lock);
        self.wake(woken);
    }

    fn hold(&mut self, begin: EventNo) {
        let held = self.held.entry(self.image.operand(begin)).or_default();
        if self.image.code(begin).is_shared() {
            held.shared.push(begin);
        } else {
            held.exclusive = Some(begin);
        }
    }

    fn let_go(&mut self, thread: u32, lock: u32, shared: bool) {
        if let Some(held) = self.held.get_mut(&lock) {
            if shared {
                held.shared.retain(|&b| self.image.thread(b) != thread);
            } else if held.exclusive.is_some_and(|b| self.image.thread(b) == thread) {
                held.exclusive = None;
            }
        }
    }
}
