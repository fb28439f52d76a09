//! The atomicity of every method: the least fixed point over the call graph. Focus, section 5.
//!
//! The transfer function of a method follows its control flow graph. A path is a sequence of steps, each a both-mover (an access
//! that cannot race, under the fixed disciplines of [`check`](crate::check)), a right mover (a lock taken), a left mover (a lock
//! given up) or neither (an access that may race, a volatile one, a call of something atomic), and is atomic if it is of the form
//! `(R|B)* N? (L|B)*`. That is what the paper's rules for sequence, loop and `S(l, a)` give on structured code; bytecode has
//! no structure, so the set of phases that paths may be in is kept per block instead. It is done once for every set of those locks that
//! callers may hold and that make a difference, which gives the conditional atomicity; a call asks the callee's for the
//! locks that are held at the call.
//!
//! **Departure.** An access to a field without an owner is `atomic`, not `error`: nothing is known to be broken by it, and what
//! it does to atomicity is the same. A method of the JDK that is not known to do nothing is `cmpd`, so it is not followed.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::atomicity::{Atomicity, Basic, LockName};
use crate::check::{Checked, Owner};
use crate::flow::{Call, Flow, NONE};
use crate::locks::EntryLocks;
use crate::objects::{ObjectIx, ObjectKind};
use crate::points::Points;
use crate::sharing::{Reach, Sharing};
use crate::world::{MethodIx, World};
use ravel_scan::expr::{ExprId, Exprs, UNKNOWN};
use ravel_scan::symbols::parameters;

/// Conditions on more locks than these are not kept.
const MAX_LOCKS: usize = 4;

/// The phases that a path may be in, as bits.
type Phases = u8;
/// Nothing but what cannot matter.
const IDLE: Phases = 1;
/// Movers only.
const MOVING: Phases = 2;
/// Locks taken, none given up, nothing else.
const RISING: Phases = 4;
/// Past the point at which it happens.
const FALLING: Phases = 8;
/// Not reducible.
const BROKEN: Phases = 16;

#[derive(Clone, Copy, Debug)]
enum AtomicityStep {
    Mover,
    Neither,
    Acquire(ExprId, u16),
    Release(ExprId, u16),
    Call(u32),
    Compound,
}

/// The atomicities of methods.
pub struct Atomicities {
    known: FxHashMap<MethodIx, Atomicity>,
    /// The locks that conditions are about.
    pub exprs: Exprs,
}

struct Inference<'a> {
    world: &'a World,
    points: &'a Points<'a>,
    sharing: &'a Sharing,
    steps: FxHashMap<MethodIx, Vec<(u16, AtomicityStep)>>,
    found: Atomicities,
}

/// Infers all atomicities.
pub fn infer(world: &World, points: &Points<'_>, sharing: &Sharing, checked: &Checked) -> Atomicities {
    let mut inference = Inference {
        world,
        points,
        sharing,
        steps: FxHashMap::default(),
        found: Atomicities {
            known: FxHashMap::default(),
            exprs: Exprs::default(),
        },
    };
    let methods: Vec<MethodIx> = world
        .method_ids()
        .filter(|method| world.method(*method).flow.is_some())
        .collect();
    for method in &methods {
        let steps = inference.steps_of(*method, checked);
        inference.steps.insert(*method, steps);
    }
    let mut pending: Vec<MethodIx> = methods.iter().rev().copied().collect();
    let mut queued: FxHashSet<MethodIx> = pending.iter().copied().collect();
    let mut callers: FxHashMap<MethodIx, Vec<MethodIx>> = FxHashMap::default();
    for ((from, _), callees) in &points.callees {
        for callee in callees {
            callers.entry(*callee).or_default().push(*from);
        }
    }
    while let Some(method) = pending.pop() {
        queued.remove(&method);
        let now = inference.transfer(method);
        let before = inference.found.of(method);
        // Joined with what was there: dropping conditions must not take anything back.
        let now = now.or(&before);
        if now != before {
            inference.found.known.insert(method, now);
            for caller in callers.get(&method).into_iter().flatten() {
                if queued.insert(*caller) {
                    pending.push(*caller);
                }
            }
        }
    }
    inference.found
}

impl Atomicities {
    /// The atomicity of a method with code.
    pub fn of(&self, method: MethodIx) -> Atomicity {
        self.known
            .get(&method)
            .cloned()
            .unwrap_or(Atomicity::Basic(Basic::Const))
    }

    /// What every execution of a method is, given the locks that all its callers hold.
    pub fn verified(&self, method: MethodIx, entry: &EntryLocks) -> Basic {
        let held: Vec<LockName> = entry
            .entry(method)
            .into_iter()
            .map(|lock| {
                let mut exprs = self.exprs.clone();
                entry.exprs.copy_to(lock, &mut exprs).0
            })
            .collect();
        self.of(method).under(&|lock| held.contains(&lock))
    }
}

impl Inference<'_> {
    /// The steps of a method that matter, by position.
    fn steps_of(&self, method: MethodIx, checked: &Checked) -> Vec<(u16, AtomicityStep)> {
        let world = self.world;
        let Some(flow) = &world.method(method).flow else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        for access in &flow.accesses {
            let pc = access.place.pc;
            if self.sharing.early.is(method, pc) {
                steps.push((pc, AtomicityStep::Mover));
                continue;
            }
            let owner = access
                .field
                .map(|field| checked.fields[field.0 as usize].owner.as_ref());
            match owner {
                Some(Some(Owner::Final)) => {}
                Some(Some(Owner::Volatile)) => {
                    let local =
                        self.sharing.reach(world, self.points, method, access) <= Reach::Unique && !access.is_static;
                    steps.push((
                        pc,
                        if local {
                            AtomicityStep::Mover
                        } else {
                            AtomicityStep::Neither
                        },
                    ));
                }
                Some(Some(_)) => steps.push((pc, AtomicityStep::Mover)),
                _ => {
                    let shared =
                        access.is_static || self.sharing.reach(world, self.points, method, access) == Reach::Shared;
                    steps.push((
                        pc,
                        if shared {
                            AtomicityStep::Neither
                        } else {
                            AtomicityStep::Mover
                        },
                    ));
                }
            }
        }
        for (at, lock) in flow.locks.iter().enumerate() {
            let at = at as u16;
            let step = match lock.acquire {
                true => AtomicityStep::Acquire(lock.lock, at),
                false => AtomicityStep::Release(lock.lock, at),
            };
            steps.push((lock.place.pc, step));
        }
        for (at, call) in flow.calls.iter().enumerate() {
            steps.push((call.place.pc, AtomicityStep::Call(at as u32)));
        }
        if !flow.shown.is_empty() {
            steps.push((0, AtomicityStep::Compound));
        }
        steps.sort_by_key(|(pc, _)| *pc);
        steps
    }

    fn transfer(&mut self, method: MethodIx) -> Atomicity {
        let world = self.world;
        let Some(flow) = &world.method(method).flow else {
            return Atomicity::Basic(Basic::Cmpd);
        };
        let mut locks: Vec<ExprId> = Vec::new();
        let mut note = |lock: ExprId| {
            if lock != UNKNOWN && !locks.contains(&lock) && locks.len() < MAX_LOCKS {
                locks.push(lock);
            }
        };
        if let Some(own) = flow.own_lock {
            note(flow.exprs.copy_to(own, &mut self.found.exprs));
        }
        for step in flow.locks.iter().filter(|step| flow.exprs.is_translatable(step.lock)) {
            note(flow.exprs.copy_to(step.lock, &mut self.found.exprs));
        }
        for at in 0..flow.calls.len() as u32 {
            for lock in self.callee_locks(method, flow, at) {
                note(lock);
            }
        }
        let mut cases = Vec::new();
        for set in 0u32..1 << locks.len() {
            let held: Vec<ExprId> = (0..locks.len())
                .filter(|at| set & (1 << at) != 0)
                .map(|at| locks[at])
                .collect();
            cases.push(self.under(method, flow, &held));
        }
        decide(&locks, &cases)
    }

    /// The locks of this method's words that what it calls depends on.
    fn callee_locks(&mut self, method: MethodIx, flow: &Flow, at: u32) -> Vec<ExprId> {
        let mut found = Vec::new();
        let Some(call) = flow.calls.get(at as usize) else {
            return found;
        };
        for callee in self.points.callees.get(&(method, at)).into_iter().flatten() {
            for lock in self.found.of(*callee).locks() {
                let mut own = flow.exprs.clone();
                let told = translate(&self.found.exprs, ExprId(lock), call, &mut own);
                if told != UNKNOWN && own.is_translatable(told) {
                    found.push(own.copy_to(told, &mut self.found.exprs));
                }
            }
        }
        found
    }

    /// What the method is when callers hold exactly these locks (in the words of methods).
    fn under(&self, method: MethodIx, flow: &Flow, held: &[ExprId]) -> Basic {
        let empty = Vec::new();
        let steps = self.steps.get(&method).unwrap_or(&empty);
        let mut exprs = flow.exprs.clone();
        let context: Vec<ExprId> = held
            .iter()
            .map(|lock| self.found.exprs.copy_to(*lock, &mut exprs))
            .collect();
        let taken = flow.own_lock.is_some_and(|own| !context.contains(&own));
        let mut at_start: Vec<Phases> = vec![0; flow.blocks.len()];
        if let Some(first) = at_start.first_mut() {
            *first = if taken { RISING } else { IDLE };
        }
        let mut end: Phases = 0;
        let mut pending: Vec<usize> = vec![0];
        while let Some(at) = pending.pop() {
            let Some(block) = flow.blocks.get(at) else { continue };
            let mut phases = at_start[at];
            let mut caught = phases;
            let from = steps.partition_point(|(pc, _)| u32::from(*pc) < block.range.0);
            for (_, step) in steps[from..]
                .iter()
                .take_while(|(pc, _)| u32::from(*pc) < block.range.1)
            {
                phases = self.step(method, flow, &exprs, &context, phases, *step);
                caught |= phases;
            }
            if block.next.is_empty() {
                end |= phases;
            }
            if block.leaves {
                end |= caught;
            }
            let goes = |to: &u16, phases: Phases, at_start: &mut Vec<Phases>, pending: &mut Vec<usize>| {
                let to = usize::from(*to);
                if let Some(known) = at_start.get_mut(to)
                    && *known | phases != *known
                {
                    *known |= phases;
                    pending.push(to);
                }
            };
            for to in &block.next {
                goes(to, phases, &mut at_start, &mut pending);
            }
            for to in &block.handlers {
                goes(to, caught, &mut at_start, &mut pending);
            }
        }
        match end {
            _ if end & BROKEN != 0 => Basic::Cmpd,
            _ if end & (RISING | FALLING) != 0 || taken => Basic::Atomic,
            _ if end & MOVING != 0 => Basic::Mover,
            _ => Basic::Const,
        }
    }

    fn step(
        &self,
        method: MethodIx,
        flow: &Flow,
        exprs: &Exprs,
        context: &[ExprId],
        phases: Phases,
        step: AtomicityStep,
    ) -> Phases {
        match step {
            AtomicityStep::Mover => moves(phases),
            AtomicityStep::Neither => happens(phases),
            AtomicityStep::Compound => BROKEN,
            AtomicityStep::Acquire(lock, at) => match self.is_outer(flow, context, lock, at, 0) {
                true => each(phases, |phase| match phase {
                    IDLE | MOVING | RISING => RISING,
                    _ => BROKEN,
                }),
                false => moves(phases),
            },
            AtomicityStep::Release(lock, at) => match self.is_outer(flow, context, lock, at, 1) {
                true => each(phases, |phase| match phase {
                    RISING | FALLING => FALLING,
                    _ => BROKEN,
                }),
                false => moves(phases),
            },
            AtomicityStep::Call(at) => match self.call(method, flow, exprs, context, at) {
                Basic::Const => phases,
                Basic::Mover => moves(phases),
                Basic::Atomic => happens(phases),
                Basic::Cmpd => BROKEN,
            },
        }
    }

    /// Whether an acquisition or release is the outermost of its lock.
    fn is_outer(&self, flow: &Flow, context: &[ExprId], lock: ExprId, at: u16, own: usize) -> bool {
        if lock == UNKNOWN {
            return true;
        }
        let held = flow
            .locks
            .get(usize::from(at))
            .map_or(0, |step| step.place.held.iter().filter(|held| **held == lock).count());
        held <= own && !context.contains(&lock)
    }

    fn call(&self, method: MethodIx, flow: &Flow, exprs: &Exprs, context: &[ExprId], at: u32) -> Basic {
        let Some(call) = flow.calls.get(at as usize) else {
            return Basic::Cmpd;
        };
        let mut worst = Basic::Const;
        let callees = self.points.callees.get(&(method, at));
        if callees.is_none() || self.points.calls_outside.contains(&(method, at)) {
            worst = self.outside(method, call);
        }
        let mut held: Vec<ExprId> = call.place.held.to_vec();
        if call.place.entry {
            held.extend(context);
            held.extend(flow.own_lock);
        }
        for callee in callees.into_iter().flatten() {
            let basic = self.found.of(*callee).under(&|lock| {
                let mut own = exprs.clone();
                let told = translate(&self.found.exprs, ExprId(lock), call, &mut own);
                told != UNKNOWN && held.contains(&told)
            });
            worst = worst.max(basic);
        }
        worst
    }

    /// What a call of code outside is.
    fn outside(&self, method: MethodIx, call: &Call) -> Basic {
        let symbols = &self.world.symbols;
        let (class, selector) = (symbols.bytes(call.class), symbols.bytes(call.selector));
        let plain = parameters(selector).all(|parameter| matches!(parameter, [_] | b"Ljava/lang/String;"));
        let name = selector.split(|byte| *byte == b'(').next().unwrap_or_default();
        match class {
            b"java/lang/Object" if name == b"<init>" => Basic::Const,
            b"java/lang/Math"
            | b"java/lang/StrictMath"
            | b"java/lang/Integer"
            | b"java/lang/Long"
            | b"java/lang/Double"
            | b"java/lang/Float"
            | b"java/lang/Boolean"
            | b"java/lang/Character"
            | b"java/lang/String"
                if plain =>
            {
                Basic::Const
            }
            b"java/util/concurrent/atomic/AtomicInteger"
            | b"java/util/concurrent/atomic/AtomicLong"
            | b"java/util/concurrent/atomic/AtomicBoolean"
                if plain =>
            {
                Basic::Atomic
            }
            _ if class.ends_with(b"Exception") && name == b"<init>" => Basic::Const,
            _ if crate::outside::is_tame(class, selector) && self.is_local(method, call) => Basic::Mover,
            _ => Basic::Cmpd,
        }
    }

    /// Whether a call on a collection and the like meets only objects of the thread itself, and none of them calls back.
    fn is_local(&self, method: MethodIx, call: &Call) -> bool {
        let Some(((receiver, _), args)) = call.args.split_first() else {
            return false;
        };
        let objects = self.points.of(method, *receiver);
        let own = !objects.is_empty()
            && objects.iter().all(|object| {
                let kind = self.points.kind(ObjectIx(object));
                matches!(kind, ObjectKind::Foreign(_)) && !self.sharing.is_shared(ObjectIx(object))
            });
        own && args.iter().all(|(node, _)| *node == NONE)
    }
}

fn moves(phases: Phases) -> Phases {
    each(phases, |phase| phase.max(MOVING))
}

fn happens(phases: Phases) -> Phases {
    each(phases, |phase| match phase {
        IDLE | MOVING | RISING => FALLING,
        _ => BROKEN,
    })
}

fn each(phases: Phases, of: impl Fn(Phases) -> Phases) -> Phases {
    [IDLE, MOVING, RISING, FALLING, BROKEN]
        .into_iter()
        .filter(|phase| phases & phase != 0)
        .fold(0, |all, phase| all | if phase == BROKEN { BROKEN } else { of(phase) })
}

/// A lock of a callee in the words of the caller.
fn translate(words: &Exprs, lock: ExprId, call: &Call, to: &mut Exprs) -> ExprId {
    if words.is_static(lock) {
        return words.copy_to(lock, to);
    }
    let receiver = usize::from(call.opcode != ravel_classfile::op::INVOKESTATIC);
    words.translate(lock, to, &mut |_, index| {
        let at = match index {
            None => 0,
            Some(index) => usize::from(index) + receiver,
        };
        call.args.get(at).map_or(UNKNOWN, |(_, expr)| *expr)
    })
}

/// The conditional atomicity with these cases, one for each set of locks, as bits.
fn decide(locks: &[ExprId], cases: &[Basic]) -> Atomicity {
    match locks.split_last() {
        None => Atomicity::Basic(cases.first().copied().unwrap_or(Basic::Cmpd)),
        Some((last, rest)) => {
            let (free, held) = cases.split_at(cases.len() / 2);
            Atomicity::choose(last.0, &decide(rest, held), &decide(rest, free))
        }
    }
}
