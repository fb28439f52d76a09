//! Which locks are certainly held when a method starts: `locks-def-held`, the greatest fixed point of Focus, section 6.1.1.
//!
//! A method starts with the locks that every caller holds at the call, in the method's own words (`this`, a parameter, a final
//! path from them, a static final field, a class). What code outside calls starts with none. Where the paper has `requires`
//! clauses given, all locks that callers hold are tried; the fixed point leaves those that are certain.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::{Flow, FlowPlace};
use crate::points::{Caller, Points};
use crate::world::{FieldIx, MethodIx, World};
use ravel_scan::expr::{ExprId, Exprs, Node, UNKNOWN};

/// Locks held at the starts of methods.
pub struct EntryLocks {
    /// Expressions in the words of methods.
    pub exprs: Exprs,
    entry: FxHashMap<MethodIx, FxHashSet<ExprId>>,
    /// Explicit locks in these fields may be given up by someone else.
    stray: FxHashSet<FieldIx>,
    /// Any explicit lock may be.
    all_stray: bool,
    explicit: FxHashSet<FieldIx>,
}

impl EntryLocks {
    /// The greatest fixed point.
    pub fn new(world: &World, points: &Points<'_>) -> EntryLocks {
        let mut locks = EntryLocks {
            exprs: Exprs::default(),
            entry: FxHashMap::default(),
            stray: FxHashSet::default(),
            all_stray: false,
            explicit: FxHashSet::default(),
        };
        locks.look_for_strays(world);
        // A method that is not in the map has not been reached: everything may be held.
        let mut pending: Vec<MethodIx> = world.method_ids().collect();
        let mut rounds: usize = 0;
        while let Some(method) = pending.pop() {
            rounds += 1;
            let Some(callers) = points.callers.get(&method) else {
                if world.method(method).flow.is_some() && locks.lower(method, FxHashSet::default()) {
                    locks.again(world, points, method, &mut pending);
                }
                continue;
            };
            let mut held: Option<FxHashSet<ExprId>> = None;
            for caller in callers {
                let at = match *caller {
                    Caller::Outside => Some(FxHashSet::default()),
                    Caller::Site(from, call) => locks.at_call(world, from, call),
                };
                // A caller that is not reached yet holds all locks.
                let Some(at) = at else { continue };
                held = Some(match held {
                    None => at,
                    Some(held) => held.intersection(&at).copied().collect(),
                });
            }
            if rounds > 50 * world.methods.len() + 1000 {
                held = Some(FxHashSet::default());
            }
            if let Some(held) = held
                && locks.lower(method, held)
            {
                locks.again(world, points, method, &mut pending);
            }
        }
        locks
    }

    fn again(&self, world: &World, points: &Points<'_>, method: MethodIx, pending: &mut Vec<MethodIx>) {
        let calls = world
            .method(method)
            .flow
            .as_ref()
            .map_or(0, |flow| flow.calls.len() as u32);
        for call in 0..calls {
            if let Some(callees) = points.callees.get(&(method, call)) {
                pending.extend(callees.iter().copied());
            }
        }
    }

    /// Takes a set that is no larger than the known one; says whether it is smaller.
    fn lower(&mut self, method: MethodIx, held: FxHashSet<ExprId>) -> bool {
        match self.entry.get_mut(&method) {
            None => {
                self.entry.insert(method, held);
                true
            }
            Some(known) => {
                let before = known.len();
                known.retain(|lock| held.contains(lock));
                known.len() < before
            }
        }
    }

    fn look_for_strays(&mut self, world: &World) {
        for method in world.method_ids() {
            let Some(flow) = &world.method(method).flow else {
                continue;
            };
            for field in &flow.stray_unlocks {
                match field {
                    Some(field) => {
                        self.stray.insert(*field);
                    }
                    None => self.all_stray = true,
                }
            }
        }
        for (at, field) in world.fields.iter().enumerate() {
            let member = world.symbols.bytes(field.member);
            if member.ends_with(b":Ljava/util/concurrent/locks/ReentrantLock;") {
                self.explicit.insert(FieldIx(at as u32));
            }
        }
    }

    /// Whether a lock, once taken, is held until the same method gives it up.
    fn is_kept(&self, exprs: &Exprs, lock: ExprId) -> bool {
        match exprs.node(lock) {
            Node::Field(_, pair) | Node::Static(pair) => {
                let field = FieldIx(pair.0);
                !self.explicit.contains(&field) || !(self.all_stray || self.stray.contains(&field))
            }
            // An explicit lock may also come in as a parameter or from a call.
            Node::Param(_) | Node::New(_) | Node::Local(_) => !self.all_stray,
            _ => true,
        }
    }

    /// The locks certainly held at a place, in the words of its method.
    pub fn at(&self, flow: &Flow, method: MethodIx, place: &FlowPlace) -> (Exprs, Vec<ExprId>) {
        // Most places hold nothing, and copying tables is what this would cost.
        if place.held.is_empty() && !(place.entry && self.entry.get(&method).is_some_and(|held| !held.is_empty())) {
            return (Exprs::default(), Vec::new());
        }
        let mut exprs = flow.exprs.clone();
        let mut held: Vec<ExprId> = place
            .held
            .iter()
            .copied()
            .filter(|lock| *lock != UNKNOWN && self.is_kept(&exprs, *lock))
            .collect();
        if place.entry
            && let Some(entry) = self.entry.get(&method)
        {
            let mut all: Vec<ExprId> = entry.iter().copied().collect();
            all.sort_unstable();
            for lock in all {
                let lock = self.exprs.copy_to(lock, &mut exprs);
                held.push(lock);
            }
        }
        held.retain(|lock| *lock != UNKNOWN);
        (exprs, held)
    }

    /// The locks held at the start of a method, for people.
    pub fn entry(&self, method: MethodIx) -> Vec<ExprId> {
        let mut all: Vec<ExprId> = self.entry.get(&method).into_iter().flatten().copied().collect();
        all.sort_unstable();
        all
    }

    /// The locks held at a call, in the words of what is called; none if the caller is not reached.
    fn at_call(&mut self, world: &World, from: MethodIx, call: u32) -> Option<FxHashSet<ExprId>> {
        let flow = world.method(from).flow.as_ref()?;
        self.entry.get(&from)?;
        let call = flow.calls.get(call as usize)?;
        let (exprs, held) = self.at(flow, from, &call.place);
        let receiver = call.opcode != ravel_classfile::op::INVOKESTATIC;
        let mut words = FxHashSet::default();
        for lock in held {
            for (at, (_, arg)) in call.args.iter().enumerate() {
                if *arg == UNKNOWN {
                    continue;
                }
                let name = match (receiver, at) {
                    (true, 0) => Node::This,
                    (true, at) => Node::Param(at as u16 - 1),
                    (false, at) => Node::Param(at as u16),
                };
                let told = tell(&exprs, lock, *arg, name, &mut self.exprs);
                if told != UNKNOWN {
                    words.insert(told);
                }
            }
            if exprs.is_static(lock) {
                words.insert(exprs.copy_to(lock, &mut self.exprs));
            }
        }
        words.remove(&UNKNOWN);
        Some(words)
    }
}

/// A lock that is `base` or a path from it, with `base` under another name.
pub fn tell(exprs: &Exprs, lock: ExprId, base: ExprId, name: Node, to: &mut Exprs) -> ExprId {
    if lock == base {
        return to.add(name);
    }
    match exprs.node(lock) {
        Node::Field(inner, field) => {
            let inner = tell(exprs, inner, base, name, to);
            match inner {
                UNKNOWN => UNKNOWN,
                inner => to.add(Node::Field(inner, field)),
            }
        }
        _ => UNKNOWN,
    }
}
