//! Hooks that become unnecessary once accesses are left out: methods that never reach the trace, and calls whose place no analysis
//! needs.

use std::collections::BTreeSet;

use ravel_classfile::access;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::check::{Checker, MethodVerdict, is_array};
use crate::flow::Made;
use crate::objects::{ObjectIx, ObjectKind};
use crate::outside;
use crate::world::MethodIx;
use ravel_scan::symbols::parameters;

/// What needs no hooks for what is left out.
#[derive(Clone, Debug, Default)]
pub struct Hush {
    /// Nothing in the method or below it can be recorded.
    pub quiet: bool,
    /// Positions of calls to quiet methods alone; for races, to all that take no lock at their entry.
    pub quiet_calls: Vec<u16>,
}

/// Collections that are not recorded.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    /// In every mode.
    pub always: BTreeSet<String>,
    /// In recordings for races alone.
    pub for_races: BTreeSet<String>,
}

impl Checker<'_> {
    /// Finds the methods in which, and in all that they call, nothing can be recorded: greatest fixed point.
    pub(crate) fn quiet(&self, methods: &mut FxHashMap<MethodIx, MethodVerdict>, for_races: bool) {
        let plain = match for_races {
            true => &self.plain.for_races,
            false => &self.plain.always,
        };
        let mut quiet: FxHashSet<MethodIx> = methods
            .iter()
            .filter(|(method, verdict)| self.may_be_quiet(**method, verdict, for_races))
            .map(|(method, _)| *method)
            .collect();
        loop {
            let loud: Vec<MethodIx> = quiet
                .iter()
                .copied()
                .filter(|method| {
                    let calls = self
                        .world
                        .method(*method)
                        .flow
                        .as_ref()
                        .map_or(0, |flow| flow.calls.len() as u32);
                    !(0..calls).all(|call| self.calls_quiet(*method, call, &quiet, plain, false))
                })
                .collect();
            if loud.is_empty() {
                break;
            }
            for method in loud {
                quiet.remove(&method);
            }
        }
        // A recording for races has no frames of calls, so their places are not needed.
        let unlocked = methods
            .keys()
            .copied()
            .filter(|method| for_races && self.world.method(*method).access & access::SYNCHRONIZED == 0);
        let silent: FxHashSet<MethodIx> = quiet.iter().copied().chain(unlocked).collect();
        for (method, verdict) in methods.iter_mut() {
            let mut hush = Hush {
                quiet: quiet.contains(method),
                ..Hush::default()
            };
            let Some(flow) = &self.world.method(*method).flow else {
                continue;
            };
            for (at, call) in flow.calls.iter().enumerate() {
                if self.calls_quiet(*method, at as u32, &silent, plain, true) {
                    hush.quiet_calls.push(call.place.pc);
                }
            }
            match for_races {
                true => verdict.hush_for_races = hush,
                false => verdict.hush = hush,
            }
        }
    }

    fn may_be_quiet(&self, method: MethodIx, verdict: &MethodVerdict, for_races: bool) -> bool {
        let world = self.world;
        let found = world.method(method);
        let Some(flow) = &found.flow else { return false };
        let accesses = flow.accesses.iter().all(|access| {
            let is_final = access
                .field
                .is_some_and(|field| world.field(field).access & access::FINAL != 0);
            is_final || verdict.leaves_out_in(access.place.pc, for_races)
        });
        // A class initialiser that runs here would miss its caller in the trace.
        let initialises = |class: crate::world::ClassIx| {
            class != found.class
                && world.ancestors(world.class(class).name).into_iter().any(|class| {
                    world
                        .symbols
                        .find(b"<clinit>()V")
                        .is_some_and(|s| world.class(class).methods.contains_key(&s))
                })
        };
        let statics = flow.accesses.iter().filter(|access| access.is_static);
        let mut touched: Vec<_> = statics
            .filter_map(|access| access.field)
            .map(|field| world.field(field).class)
            .collect();
        touched.extend(flow.allocations.iter().filter_map(|made| match made.made {
            Made::Object(name) => world.by_name.get(&name).copied(),
            _ => None,
        }));
        touched.extend(flow.calls.iter().filter_map(|call| {
            let is_static = call.opcode == ravel_classfile::op::INVOKESTATIC;
            world.by_name.get(&call.class).copied().filter(|_| is_static)
        }));
        accesses
            && flow.own_lock.is_none()
            && flow.locks.is_empty()
            && flow.shown.is_empty()
            && !flow.splits
            && !matches!(found.name.as_str(), "<clinit>" | "main" | "run" | "call")
            && found.access & access::SYNCHRONIZED == 0
            && !touched.into_iter().any(initialises)
            // Arrays are numbered when made; one that is not local is recorded later.
            && flow.allocations.iter().all(|made| {
                let guarded = for_races && verdict.guarded.contains(&made.pc);
                !is_array(made.made) || verdict.local.contains(&made.pc) || verdict.unique.contains(&made.pc) || guarded
            })
    }

    /// Whether a call of a tame class of the JDK meets only objects of the thread itself and runs no code of the program: what
    /// it does to them is never recorded.
    fn is_hushed(&self, method: MethodIx, call: &crate::flow::Call, plain: &BTreeSet<String>) -> bool {
        let symbols = &self.world.symbols;
        let (class, selector) = (symbols.bytes(call.class), symbols.bytes(call.selector));
        let Some(((receiver, _), args)) = call.args.split_first() else {
            return false;
        };
        if call.opcode == ravel_classfile::op::INVOKESTATIC || !outside::is_tame(class, selector) {
            return false;
        }
        let objects = self.points.of(method, *receiver);
        let local = !objects.is_empty()
            && objects
                .iter()
                .map(ObjectIx)
                .all(|object| match self.points.kind(object) {
                    ObjectKind::Foreign(name) => {
                        // What goes from thread to thread is shared as the recorder sees it.
                        let alone = !self.sharing.is_shared(object) && !self.sharing.is_unique(object);
                        let quiet = alone || plain.contains(&symbols.text(name));
                        quiet && outside::never_calls_back(symbols.bytes(name), selector)
                    }
                    _ => false,
                });
        local && (args.iter().all(|(node, _)| *node == crate::flow::NONE) || outside::stores(selector))
    }

    fn calls_quiet(
        &self,
        method: MethodIx,
        call: u32,
        quiet: &FxHashSet<MethodIx>,
        plain: &BTreeSet<String>,
        own_only: bool,
    ) -> bool {
        let world = self.world;
        let Some(site) = world.call(method, call) else {
            return false;
        };
        let callees = self.points.callees.get(&(method, call));
        let outside = self.points.calls_outside.contains(&(method, call));
        match callees {
            Some(callees) => !outside && callees.iter().all(|callee| quiet.contains(callee)),
            None if self.is_hushed(method, site, plain) => true,
            None if own_only => false,
            None => {
                let (class, selector) = (world.symbols.bytes(site.class), world.symbols.bytes(site.selector));
                let simple = parameters(selector).all(|parameter| matches!(parameter, [_] | b"Ljava/lang/String;"));
                let pure = matches!(
                    class,
                    b"java/lang/Math"
                        | b"java/lang/StrictMath"
                        | b"java/lang/String"
                        | b"java/lang/Integer"
                        | b"java/lang/Long"
                        | b"java/lang/Double"
                        | b"java/lang/Float"
                        | b"java/lang/Character"
                        | b"java/lang/Boolean"
                        | b"java/lang/Byte"
                        | b"java/lang/Short"
                );
                let object = class == b"java/lang/Object" && selector == b"<init>()V";
                debug_assert!(outside::is_jdk(class) || !pure);
                // Chance may be redirected, and then its call is rewritten.
                object || pure && simple && !selector.starts_with(b"random(")
            }
        }
    }
}
