//! Objects that one thread makes and one other has from then on: the paper's `unique`. A task that is given to the thread that
//! runs it, or a thread with fields of its own, and the arrays and collections that it makes for itself.
//!
//! Such an object is known to two threads, and its accesses are still those of one at a time: the thread that makes it is done with
//! it when it starts the other, which comes after that. No access of it races, none is part of a pattern, and once the recorder
//! takes it for shared all its accesses are of one thread.
//!
//! A *task* is an object of a class with `run` or `call` that the method which makes it gives, fresh every time, to the
//! constructor of a thread or to a pool; a *thread* is one of a class that extends `Thread`. Both are unique if
//!
//! - only its own methods access its fields or call its methods, on `this`, apart from its constructor and the methods of
//!   `Thread` (`start`, `join`); no lambda has it;
//! - code outside calls only `run` or `call`, and no code calls the `run` of a thread;
//! - its constructors keep `this` to themselves.
//!
//! What its own methods make belongs to it as long as nothing else that several threads know leads to it, and no constructor of a
//! task is given it: a task gets from others what its constructor takes and what is shared, and nothing else.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bits::Bits;
use crate::flow::{Call, FIRST, Flow, NONE, is_inert};
use crate::objects::{ObjectIx, ObjectKind};
use crate::outside::{is_throwable, only_keeps, stores};
use crate::points::{Caller, Points};
use crate::world::{ClassIx, MethodIx, World};
use ravel_classfile::{access, op};
use ravel_scan::expr::Node;
use ravel_scan::symbols::parameters;

/// Tasks and threads, and what they make.
#[derive(Debug, Default)]
pub struct Unique {
    /// Tasks and threads.
    tasks: Bits,
    /// What they make.
    own: Bits,
}

/// How an object comes to the thread that runs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Task,
    Thread,
}

struct UniqueSearch<'a> {
    world: &'a World,
    points: &'a Points<'a>,
    /// The candidates, with the classes they are of and the method that makes them.
    found: FxHashMap<u32, (ClassIx, MethodIx, u16, Way)>,
    candidates: Bits,
    refused: FxHashSet<u32>,
    /// Where tasks are given to a thread or pool.
    given: FxHashMap<u32, FxHashSet<(MethodIx, u16)>>,
}

impl Unique {
    /// Looks for them.
    pub fn new(world: &World, points: &Points<'_>) -> Unique {
        let mut unique = Unique::default();
        if points.is_by_class() || points.is_coarse() || world.lists_methods {
            return unique;
        }
        let mut search = UniqueSearch {
            world,
            points,
            found: FxHashMap::default(),
            candidates: Bits::default(),
            refused: FxHashSet::default(),
            given: FxHashMap::default(),
        };
        search.collect();
        if search.candidates.is_empty() {
            return unique;
        }
        for method in world.method_ids() {
            search.look_at(method);
        }
        for (object, (class, maker, made, way)) in &search.found {
            let fresh = match way {
                Way::Thread => true,
                Way::Task => search.is_given_fresh(*object, *maker, *made),
            };
            if fresh && !search.refused.contains(object) && search.is_run_alone(*object, *class) {
                unique.tasks.insert(*object);
            }
        }
        unique.own = own(world, points, &unique.tasks);
        unique
    }

    /// Whether an object is a unique task or thread: others may know it, and do not use it.
    pub fn is_task(&self, object: ObjectIx) -> bool {
        self.tasks.contains(object.0)
    }

    /// Whether an object is one of these or made by one.
    fn contains(&self, object: ObjectIx) -> bool {
        self.is_task(object) || self.own.contains(object.0)
    }

    /// What tasks, and what they make, hold of others.
    pub fn held_of_others(&self, points: &Points<'_>) -> Bits {
        let mut all = Bits::default();
        for (object, set) in points.held_by() {
            if self.contains(object) {
                all.add(&set.without(&self.own));
            }
        }
        all
    }
}

/// The objects that methods of unique tasks alone make, or of what they make, and that are not given to other tasks.
fn own(world: &World, points: &Points<'_>, tasks: &Bits) -> Bits {
    let mut own = Bits::default();
    let mut passed = Bits::default();
    for task in tasks.iter() {
        let ObjectKind::Own(class) = points.kind(ObjectIx(task)) else {
            continue;
        };
        for above in world.ancestors(world.class(class).name) {
            let methods = world.class(above).methods.values().copied();
            for constructor in methods.filter(|method| world.method(*method).name == "<init>") {
                for parameter in 1..points.parameter_count(constructor) {
                    passed.add(points.of(constructor, FIRST + parameter));
                }
            }
        }
    }
    // What they make makes more.
    loop {
        let mut more = false;
        for (at, object) in points.objects().all().iter().enumerate() {
            let (at, Some((maker, _))) = (at as u32, object.site) else {
                continue;
            };
            let known = tasks.contains(at) || own.contains(at) || passed.contains(at);
            if known || world.method(maker).access & access::STATIC != 0 {
                continue;
            }
            let makers = points.of(maker, FIRST);
            if !makers.is_empty() && makers.iter().all(|maker| tasks.contains(maker) || own.contains(maker)) {
                own.insert(at);
                more = true;
            }
        }
        if !more {
            return own;
        }
    }
}

impl UniqueSearch<'_> {
    fn collect(&mut self) {
        let world = self.world;
        for (at, object) in self.points.objects().all().iter().enumerate() {
            let (ObjectKind::Own(class), Some((maker, pc))) = (object.kind, object.site) else {
                continue;
            };
            let Some(way) = self.way(class) else { continue };
            let name = world.class(class).name;
            let kept = world.ancestors(name).into_iter().all(|above| {
                let above = world.class(above);
                let mut constructors = above.methods.values().map(|method| world.method(*method));
                let keeps = constructors
                    .all(|method| method.name != "<init>" || method.flow.as_ref().is_some_and(|flow| !flow.leaks_this));
                keeps && !above.fields.values().any(|field| world.hidden_writes.contains(field))
            });
            if kept {
                self.candidates.insert(at as u32);
                self.found.insert(at as u32, (class, maker, pc, way));
            }
        }
    }

    /// Whether objects of a class are tasks or threads.
    fn way(&self, class: ClassIx) -> Option<Way> {
        let world = self.world;
        let name = world.class(class).name;
        let parents = world.outside_parents(name);
        let is = |wanted: &[u8]| parents.iter().any(|parent| world.symbols.bytes(*parent) == wanted);
        let supers = world
            .ancestors(name)
            .into_iter()
            .filter_map(|above| world.class(above).super_class);
        let outside = supers
            .into_iter()
            .find(|parent| !world.by_name.contains_key(parent))
            .map(|parent| world.symbols.bytes(parent));
        match outside {
            Some(b"java/lang/Thread") => Some(Way::Thread),
            Some(b"java/lang/Object") if is(b"java/lang/Runnable") || is(b"java/util/concurrent/Callable") => {
                Some(Way::Task)
            }
            _ => None,
        }
    }

    fn refuse(&mut self, objects: &Bits) {
        self.refused.extend(objects.iter());
    }

    /// Looks for uses that are not the object's own.
    fn look_at(&mut self, method: MethodIx) {
        let (world, points) = (self.world, self.points);
        let Some(flow) = &world.method(method).flow else {
            return;
        };
        for access in flow.accesses.iter().filter(|access| access.base != NONE) {
            let met = points.of(method, access.base).and(&self.candidates);
            if !met.is_empty() && flow.exprs.node(access.base_expr) != Node::This {
                self.refuse(&met);
            }
        }
        for lambda in &flow.lambdas {
            for node in &lambda.captured {
                let met = points.of(method, *node).and(&self.candidates);
                self.refuse(&met);
            }
        }
        for (at, call) in flow.calls.iter().enumerate() {
            for (index, (node, expr)) in call.args.iter().enumerate().filter(|(_, (node, _))| *node != NONE) {
                let met = points.of(method, *node).and(&self.candidates);
                if met.is_empty() {
                    continue;
                }
                let instance = usize::from(call.opcode != op::INVOKESTATIC);
                let receiver = index < instance;
                if receiver && flow.exprs.node(*expr) == Node::This {
                    continue;
                }
                let wanted = match receiver {
                    true => world.symbols.bytes(call.class),
                    false => parameters(world.symbols.bytes(call.selector))
                        .nth(index - instance)
                        .map_or(b"java/lang/Object".as_slice(), class_of),
                };
                let own = self.points.callees.contains_key(&(method, at as u32));
                let outside = self.points.calls_outside.contains(&(method, at as u32));
                for object in met.iter() {
                    if self.may_be(object, wanted) && !self.allows(method, call, receiver, own, outside, object) {
                        self.refused.insert(object);
                    }
                }
            }
        }
        if runs_others(world, flow) {
            let all = self.candidates.clone();
            self.refuse(&all);
        }
    }

    /// Whether a value of a class can be a candidate. The verifier sees to classes, and not to interfaces; what is thrown and
    /// caught comes from anywhere, but is never a task.
    fn may_be(&self, object: u32, wanted: &[u8]) -> bool {
        let world = self.world;
        let Some((class, ..)) = self.found.get(&object) else {
            return true;
        };
        let known = world.symbols.find(wanted).and_then(|name| world.by_name.get(&name));
        match known {
            Some(wanted) if world.class(*wanted).access & access::INTERFACE == 0 => {
                world.ancestors(world.class(*class).name).contains(wanted)
            }
            Some(_) => true,
            None => !wanted.starts_with(b"[") && !is_inert(wanted) && !is_throwable(wanted),
        }
    }

    /// Whether a call that is not on `this` leaves a candidate to the thread that runs it.
    fn allows(&mut self, method: MethodIx, call: &Call, receiver: bool, own: bool, outside: bool, object: u32) -> bool {
        let Some((of, maker, _, way)) = self.found.get(&object).copied() else {
            return false;
        };
        let symbols = &self.world.symbols;
        let (class, selector) = (symbols.bytes(call.class), symbols.bytes(call.selector));
        let name = selector.split(|byte| *byte == b'(').next().unwrap_or_default();
        if receiver && call.opcode == op::INVOKESPECIAL && name == b"<init>" {
            return method == maker;
        }
        match way {
            // What is called of a thread from elsewhere is the JDK's, and what keeps it in a collection does nothing with it.
            Way::Thread if receiver => !own && name != b"run",
            Way::Thread => !outside || only_keeps(class) && stores(selector),
            // An object from outside may have any class, but a method that no task has cannot be called on it.
            Way::Task if receiver => {
                !own && self
                    .world
                    .resolve_method(self.world.class(of).name, call.selector)
                    .is_none()
            }
            Way::Task => {
                let thread = class == b"java/lang/Thread" && name == b"<init>";
                let pool = class.starts_with(b"java/util/concurrent/") && matches!(name, b"execute" | b"submit");
                if own || !(thread || pool) || method != maker {
                    return false;
                }
                self.given.entry(object).or_default().insert((method, call.place.pc));
                true
            }
        }
    }

    /// Whether a task is given away once each time that it is made.
    fn is_given_fresh(&self, object: u32, maker: MethodIx, made: u16) -> bool {
        let mut places = self.given.get(&object).into_iter().flatten();
        let (Some((_, given)), None) = (places.next(), places.next()) else {
            return false;
        };
        let flow = self.world.method(maker).flow.as_ref();
        flow.is_some_and(|flow| !comes_back(flow, u32::from(*given), u32::from(made)))
    }

    /// Whether only the object itself and its executor call its methods.
    fn is_run_alone(&self, object: u32, class: ClassIx) -> bool {
        let world = self.world;
        world.ancestors(world.class(class).name).into_iter().all(|above| {
            world.class(above).methods.values().all(|method| {
                let found = world.method(*method);
                let meant = found.access & access::STATIC == 0 && self.points.of(*method, FIRST).contains(object);
                let callers = self.points.callers.get(method);
                let outside = callers.is_some_and(|callers| callers.contains(&Caller::Outside));
                !meant || !outside || matches!(found.name.as_str(), "run" | "call")
            })
        })
    }
}

/// Whether a method may have a task or a thread run by code that was not analysed: it calls the `run` of a thread, gives
/// a pool a whole collection, or passes on the method that gives a pool something.
fn runs_others(world: &World, flow: &Flow) -> bool {
    let symbols = &world.symbols;
    let name = |selector: &[u8]| selector.split(|byte| *byte == b'(').next().unwrap_or_default().to_vec();
    let calls = flow.calls.iter().any(|call| {
        let called = name(symbols.bytes(call.selector));
        match symbols.bytes(call.class) {
            b"java/lang/Thread" => call.opcode == op::INVOKEVIRTUAL && called == b"run",
            class => {
                class.starts_with(b"java/util/concurrent/") && matches!(called.as_slice(), b"invokeAll" | b"invokeAny")
            }
        }
    });
    let lambdas = flow.lambdas.iter().any(|lambda| {
        let class = symbols.bytes(lambda.class);
        let pool = class.starts_with(b"java/util/concurrent/") || class == b"java/lang/Thread";
        pool && matches!(
            name(symbols.bytes(lambda.selector)).as_slice(),
            b"execute" | b"submit" | b"run" | b"<init>"
        )
    });
    calls || lambdas
}

/// The class of a parameter: `java/lang/String` of `Ljava/lang/String;`.
fn class_of(descriptor: &[u8]) -> &[u8] {
    let class = descriptor.strip_prefix(b"L").and_then(|rest| rest.strip_suffix(b";"));
    class.unwrap_or(descriptor)
}

/// Whether there is a path from a position back to it that does not lead over another one.
fn comes_back(flow: &Flow, from: u32, over: u32) -> bool {
    let holds = |block: usize, pc: u32| {
        let (first, end) = flow.blocks[block].range;
        (first..end).contains(&pc)
    };
    let Some(start) = (0..flow.blocks.len()).find(|block| holds(*block, from)) else {
        return true;
    };
    if holds(start, over) && over < from {
        return false;
    }
    let mut seen = vec![false; flow.blocks.len()];
    let mut pending = vec![start];
    while let Some(block) = pending.pop() {
        let found = &flow.blocks[block];
        for next in found.next.iter().chain(&found.handlers).map(|next| usize::from(*next)) {
            if next == start {
                return true;
            }
            if next < seen.len() && !seen[next] && !holds(next, over) {
                seen[next] = true;
                pending.push(next);
            }
        }
    }
    false
}
