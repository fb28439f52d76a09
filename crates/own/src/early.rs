//! Code that runs before there can be a second thread: the beginning of `main`, and the methods that only it calls.
//!
//! Such accesses come before everything that another thread does, so they race with nothing and are part of no pattern; a field that
//! is written there and nowhere later never changes for the threads that share it.
//!
//! A call may start a thread unless it leads to code that is known not to: methods of the world that do not, and the tame
//! classes of the JDK, unless a method that those might call back does. A place in `main` is early if no path to it has a call that may
//! start a thread; a method is early if all its callers are calls at early places. Nothing is early in a program whose class
//! initialisers may start threads, or that calls `main` itself or by reflection.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::{Flow, is_inert};
use crate::outside::{is_tame, starts_no_thread};
use crate::points::{Caller, Points};
use crate::world::{MethodIx, World};
use ravel_classfile::access;

/// The early places.
#[derive(Debug, Default)]
pub struct Early {
    /// For each early method the positions up to which each block is early: whole blocks, in their order.
    methods: FxHashMap<MethodIx, Vec<(u32, u32)>>,
}

impl Early {
    /// Looks for them.
    pub fn new(world: &World, points: &Points<'_>) -> Early {
        let forks = forks(world, points);
        let initialiser = |method: &MethodIx| world.method(*method).name == "<clinit>";
        let reflective = world.lists_methods || world.reflective_calls && world.strings.contains(b"main".as_slice());
        if reflective || forks.iter().any(initialiser) {
            return Early::default();
        }
        let may_fork = |method: MethodIx, call: u32| call_forks(world, points, &forks, method, call);
        let mut early = Early::default();
        let mut methods: FxHashSet<MethodIx> = world
            .method_ids()
            .filter(|method| world.method(*method).flow.is_some())
            .filter(|method| match points.callers.get(method) {
                Some(callers) if is_main(world, *method) => !callers.iter().any(|by| matches!(by, Caller::Site(..))),
                Some(callers) => !callers.contains(&Caller::Outside),
                None => false,
            })
            .collect();
        for method in &methods {
            if let Some(flow) = &world.method(*method).flow {
                early
                    .methods
                    .insert(*method, before_forks(flow, &|call| may_fork(*method, call)));
            }
        }
        // The greatest set: a method stays if all its callers do, and call it early.
        loop {
            let late: Vec<MethodIx> = methods
                .iter()
                .copied()
                .filter(|method| {
                    let mut callers = points.callers.get(method).into_iter().flatten();
                    callers.any(|caller| match *caller {
                        Caller::Outside => !is_main(world, *method),
                        Caller::Site(from, call) => {
                            let place = world.call(from, call);
                            place.is_none_or(|call| !early.is(from, call.place.pc))
                        }
                    })
                })
                .collect();
            if late.is_empty() {
                return early;
            }
            for method in late {
                methods.remove(&method);
                early.methods.remove(&method);
            }
        }
    }

    /// Whether what happens at a position comes before there can be a second thread.
    pub fn is(&self, method: MethodIx, pc: u16) -> bool {
        let Some(blocks) = self.methods.get(&method) else {
            return false;
        };
        let pc = u32::from(pc);
        blocks.iter().any(|(from, to)| (*from..*to).contains(&pc))
    }
}

fn is_main(world: &World, method: MethodIx) -> bool {
    let found = world.method(method);
    found.access & access::STATIC != 0 && world.symbols.bytes(found.selector) == b"main([Ljava/lang/String;)V"
}

/// The methods that may start threads: least fixed point.
fn forks(world: &World, points: &Points<'_>) -> FxHashSet<MethodIx> {
    let mut forks: FxHashSet<MethodIx> = FxHashSet::default();
    for method in world.method_ids() {
        let found = world.method(method);
        if found.flow.is_none() && found.access & access::NATIVE != 0 {
            forks.insert(method);
        }
    }
    loop {
        let before = forks.len();
        for method in world.method_ids() {
            if let Some(flow) = &world.method(method).flow
                && !forks.contains(&method)
                && ((0..flow.calls.len() as u32).any(|call| call_forks(world, points, &forks, method, call))
                    || !flow.shown.is_empty() && calls_back(world, points, &forks))
            {
                forks.insert(method);
            }
        }
        if forks.len() == before {
            return forks;
        }
    }
}

fn call_forks(world: &World, points: &Points<'_>, forks: &FxHashSet<MethodIx>, method: MethodIx, call: u32) -> bool {
    let callees = points.callees.get(&(method, call));
    if callees.is_some_and(|callees| callees.iter().any(|callee| forks.contains(callee))) {
        return true;
    }
    if callees.is_some() && !points.calls_outside.contains(&(method, call)) {
        return false;
    }
    let Some(site) = world.call(method, call) else {
        return true;
    };
    let (class, selector) = (world.symbols.bytes(site.class), world.symbols.bytes(site.selector));
    if class == b"java/lang/Object" && selector == b"<init>()V" {
        return false;
    }
    if starts_no_thread(class, selector) {
        return false;
    }
    let tame = is_inert(class) || is_tame(class, selector);
    !tame || calls_back(world, points, forks)
}

/// Whether something of the program's that tame code may call back starts a thread. What a thread itself runs is not called by
/// it.
fn calls_back(world: &World, points: &Points<'_>, forks: &FxHashSet<MethodIx>) -> bool {
    forks.iter().any(|method| {
        let name = world.method(*method).name.as_str();
        let callers = points.callers.get(method);
        let outside = callers.is_some_and(|callers| callers.contains(&Caller::Outside));
        outside && !matches!(name, "main" | "run" | "call" | "compute")
    })
}

/// The parts of a method that no path reaches over a call that may start a thread.
fn before_forks(flow: &Flow, may_fork: &dyn Fn(u32) -> bool) -> Vec<(u32, u32)> {
    let mut calls: Vec<u32> = (0..flow.calls.len() as u32)
        .filter(|call| may_fork(*call))
        .filter_map(|call| flow.calls.get(call as usize))
        .map(|call| u32::from(call.place.pc))
        .collect();
    calls.sort_unstable();
    let first = |range: (u32, u32)| {
        let at = calls.partition_point(|pc| *pc < range.0);
        calls.get(at).copied().filter(|pc| *pc < range.1)
    };
    let mut late = vec![false; flow.blocks.len()];
    let mut pending: Vec<usize> = Vec::new();
    for block in &flow.blocks {
        if first(block.range).is_some() {
            pending.extend(block.next.iter().chain(&block.handlers).map(|to| usize::from(*to)));
        }
    }
    while let Some(at) = pending.pop() {
        let Some(known) = late.get_mut(at) else { continue };
        if std::mem::replace(known, true) {
            continue;
        }
        let block = &flow.blocks[at];
        pending.extend(block.next.iter().chain(&block.handlers).map(|to| usize::from(*to)));
    }
    let blocks = flow.blocks.iter().zip(late);
    blocks
        .filter(|(_, late)| !late)
        // The call that starts the thread comes after what is passed to it.
        .map(|(block, _)| (block.range.0, first(block.range).unwrap_or(block.range.1)))
        .filter(|(from, to)| from < to)
        .collect()
}
