//! Which objects each reference may mean: a points-to analysis by allocation site, with calls resolved as receivers become
//! known (Andersen's inclusion constraints, one node per value, no contexts). [`graph`](crate::graph) solves the constraints,
//! [`calls`](crate::calls) makes those of calls.
//!
//! Code outside the world (the JDK, missing classes, native and reflective calls) is one node, [`OUT`]: what is given to
//! it may come back from it, and it may call every method of what it was given that it can know of. The collections and other
//! *tame* classes of the JDK are followed more closely: an object of theirs holds what it was given and gives back what it
//! holds. Every doubtful value goes outside; a call with an unknown receiver passes its arguments outside; a method without
//! a known caller is called from outside. A parameter, field, result or cast of a class lets only objects of that class
//! through, as the JVM's verifier does (which does not look at interfaces, so neither are they looked at here, but in casts).
//!
//! **Bounds.** With more than [`MAX_SITES`] allocations, objects of one class that one class makes are one. With more work than
//! [`MAX_WORK`] the analysis starts again *coarsely*: one object, the stranger, stands for all that static fields and code
//! outside lead to, whose fields are one, and calls on it may run every method that the class allows. The plan states both.

use ravel_classfile::access;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bits::Bits;
use crate::flow::{FIRST, FlowNode, Made, NONE, OUTSIDE, RETURN};
use crate::graph::{Graph, OUT};
use crate::objects::{Element, Object, ObjectIx, ObjectKind, Objects, STRANGER, Type};
use crate::world::{ClassIx, FieldIx, MethodIx, World};
use ravel_scan::symbols::{Sym, field_descriptor, parameters, result};

/// A part of an object: a field, or whatever an array or a collection holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Part {
    Field(FieldIx),
    Content,
}

/// What is done with each object that comes to a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeRule {
    /// What the part of each object holds goes to the node.
    Load(Part, u32),
    /// The node goes to the part of each object.
    Store(Part, u32),
    /// The receiver of a call.
    Receiver(u32),
    /// Held by something tame whose content is the node.
    Held(u32),
    /// Known outside.
    Outside,
}

/// A call as the solver sees it.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    pub method: MethodIx,
    pub call: u32,
    pub class: Sym,
    pub selector: Sym,
    pub opcode: u8,
    pub args: std::rc::Rc<[u32]>,
    pub result: u32,
    /// Stands for what the JDK makes in a tame call.
    pub helper: Option<ObjectIx>,
}

/// Who calls whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Caller {
    /// A call of a method of the world, by its place in `Flow::calls`.
    Site(MethodIx, u32),
    /// Code outside.
    Outside,
}

/// What every reference may mean.
pub struct Points<'w> {
    pub(crate) world: &'w World,
    pub(crate) graph: Graph<'w, NodeRule>,
    parts: FxHashMap<(ObjectIx, Part), u32>,
    parts_of: FxHashMap<ObjectIx, Vec<u32>>,
    /// Objects whose parts code outside knows, if the analysis is coarse.
    opened: FxHashSet<ObjectIx>,
    statics: FxHashMap<FieldIx, u32>,
    /// The first node of each method.
    bases: Vec<u32>,
    pub(crate) sites: Vec<CallSite>,
    /// The callers of each method.
    pub callers: FxHashMap<MethodIx, FxHashSet<Caller>>,
    /// What each call may run.
    pub callees: FxHashMap<(MethodIx, u32), FxHashSet<MethodIx>>,
    /// Calls that may also run code outside.
    pub calls_outside: FxHashSet<(MethodIx, u32)>,
    by_class: Option<FxHashMap<(ObjectKind, Option<ClassIx>), ObjectIx>>,
    made: FxHashMap<(MethodIx, u16), Vec<ObjectIx>>,
    pub(crate) known: FxHashSet<(u32, u32)>,
    pub(crate) constructed: FxHashMap<(MethodIx, u32), ObjectIx>,
    /// Methods that code outside may call with all that it knows.
    pub(crate) entered: FxHashSet<MethodIx>,
    pub(crate) resolved: FxHashMap<(Sym, Sym), Option<MethodIx>>,
    pub(crate) strangers: FxHashMap<(Sym, Sym), std::rc::Rc<[MethodIx]>>,
    pub(crate) callbacks: FxHashMap<ClassIx, std::rc::Rc<[MethodIx]>>,
    pub(crate) held: FxHashSet<(ObjectIx, u32)>,
    pub(crate) tame: FxHashMap<(Sym, Sym), bool>,
}

/// With more allocations than this, objects of one class made by one class are one.
pub const MAX_SITES: usize = 6000;

/// With more work than this (words of sets and rules applied, some seconds) the analysis is coarse.
pub const MAX_WORK: u64 = 400_000_000;

impl<'w> Points<'w> {
    /// Solves a world.
    pub fn new(world: &'w World) -> Points<'w> {
        Points::within(world, MAX_WORK)
    }

    /// Solves a world, coarsely if the work is more than a bound.
    pub fn within(world: &'w World, bound: u64) -> Points<'w> {
        Points::solved(world, false, bound)
            .or_else(|| Points::solved(world, true, u64::MAX))
            .unwrap_or_else(|| Points::unsolved(world, true))
    }

    fn unsolved(world: &'w World, coarse: bool) -> Points<'w> {
        Points {
            world,
            graph: Graph::new(world, coarse),
            parts: FxHashMap::default(),
            parts_of: FxHashMap::default(),
            opened: FxHashSet::default(),
            statics: FxHashMap::default(),
            bases: Vec::new(),
            sites: Vec::new(),
            callers: FxHashMap::default(),
            callees: FxHashMap::default(),
            calls_outside: FxHashSet::default(),
            by_class: None,
            made: FxHashMap::default(),
            known: FxHashSet::default(),
            constructed: FxHashMap::default(),
            entered: FxHashSet::default(),
            resolved: FxHashMap::default(),
            strangers: FxHashMap::default(),
            callbacks: FxHashMap::default(),
            held: FxHashSet::default(),
            tame: FxHashMap::default(),
        }
    }

    fn solved(world: &'w World, coarse: bool, bound: u64) -> Option<Points<'w>> {
        let mut points = Points::unsolved(world, coarse);
        let flows = world.methods.iter().filter_map(|method| method.flow.as_ref());
        let sites: usize = flows.map(|flow| flow.allocations.len()).sum();
        if sites > MAX_SITES {
            points.by_class = Some(FxHashMap::default());
        }
        points.set_up();
        points.solve(bound)?;
        while points.close() {
            points.solve(bound)?;
        }
        Some(points)
    }

    /// Whether objects of one class are not distinguished by their allocation sites.
    pub fn is_by_class(&self) -> bool {
        self.by_class.is_some()
    }

    /// Whether one object stands for all that code outside has seen.
    pub fn is_coarse(&self) -> bool {
        self.graph.coarse
    }

    /// The objects.
    pub fn objects(&self) -> &Objects {
        &self.graph.objects
    }

    /// What an object is.
    pub fn kind(&self, object: ObjectIx) -> ObjectKind {
        self.graph.objects.kind(object)
    }

    fn set_up(&mut self) {
        self.graph.rule(OUT, NodeRule::Outside);
        self.graph.put(STRANGER, OUT);
        for method in self.world.method_ids() {
            let found = self.world.method(method);
            let count = found
                .flow
                .as_ref()
                .map_or_else(|| FIRST + self.parameter_count(method), |flow| flow.nodes);
            let base = self.graph.add_node();
            self.bases.push(base);
            for _ in 1..count {
                self.graph.add_node();
            }
            self.narrow(method);
        }
        for method in self.world.method_ids() {
            self.method(method);
        }
    }

    /// Parameters, results and casts take objects of their types only.
    fn narrow(&mut self, method: MethodIx) {
        let world = self.world;
        let found = world.method(method);
        let selector = world.symbols.bytes(found.selector);
        let mut index = 0;
        if found.access & access::STATIC == 0 {
            let this = self.parameter(method, 0);
            self.graph.narrow(this, Type::Of(world.class(found.class).name));
            index = 1;
        }
        for (at, descriptor) in parameters(selector).enumerate() {
            if let Some(wanted) = self.declared(descriptor) {
                let node = self.parameter(method, at + index);
                self.graph.narrow(node, wanted);
            }
        }
        if let Some(wanted) = self.declared(result(selector)) {
            let node = self.node(method, RETURN);
            self.graph.narrow(node, wanted);
        }
        let Some(flow) = &found.flow else { return };
        for (node, descriptor) in &flow.casts {
            let text = world.symbols.bytes(*descriptor);
            let wanted = match text.strip_prefix(b"[") {
                Some(element) => Some(Type::Array(Element::of(element))),
                None => world.by_name.contains_key(descriptor).then_some(Type::Of(*descriptor)),
            };
            if let Some(wanted) = wanted {
                let node = self.node(method, *node);
                self.graph.narrow(node, wanted);
            }
        }
        for call in &flow.calls {
            if call.result != NONE
                && let Some(wanted) = self.declared(result(world.symbols.bytes(call.selector)))
            {
                let node = self.node(method, call.result);
                self.graph.narrow(node, wanted);
            }
        }
    }

    /// What the verifier sees to of values with a descriptor: classes of the world and arrays.
    fn declared(&self, descriptor: &[u8]) -> Option<Type> {
        if let Some(element) = descriptor.strip_prefix(b"[") {
            return Some(Type::Array(Element::of(element)));
        }
        let name = self
            .world
            .symbols
            .find(descriptor.strip_prefix(b"L")?.strip_suffix(b";")?)?;
        let class = self.world.class(*self.world.by_name.get(&name)?);
        (class.access & access::INTERFACE == 0).then_some(Type::Of(name))
    }

    pub(crate) fn parameter_count(&self, method: MethodIx) -> u32 {
        let found = self.world.method(method);
        let receiver = u32::from(found.access & access::STATIC == 0);
        receiver + parameters(self.world.symbols.bytes(found.selector)).count() as u32
    }

    pub(crate) fn node(&self, method: MethodIx, node: FlowNode) -> u32 {
        match node {
            OUTSIDE => OUT,
            _ => self.bases[method.0 as usize] + node,
        }
    }

    /// The node of a method's parameter, `this` included.
    pub(crate) fn parameter(&self, method: MethodIx, index: usize) -> u32 {
        self.node(method, FIRST + index as u32)
    }

    /// What a reference of a method may mean.
    pub fn of(&self, method: MethodIx, node: FlowNode) -> &Bits {
        self.graph.set(self.node(method, node))
    }

    /// The objects that code outside knows.
    pub fn outside(&self) -> &Bits {
        self.graph.set(OUT)
    }

    /// The objects that can be of a class.
    pub fn of_class(&self, class: Sym) -> Bits {
        self.graph.objects.known(self.world, Type::Of(class))
    }

    /// The arrays with such elements.
    pub fn arrays(&self, element: Element) -> Bits {
        self.graph.objects.known(self.world, Type::Array(element))
    }

    /// The objects made at a position.
    pub fn made_at(&self, method: MethodIx, pc: u16) -> &[ObjectIx] {
        self.made.get(&(method, pc)).map_or(&[], Vec::as_slice)
    }

    /// The objects that static fields hold.
    pub fn in_statics(&self) -> impl Iterator<Item = &Bits> {
        self.statics.values().map(|node| self.graph.set(*node))
    }

    /// What the parts of each object hold.
    pub fn held_by(&self) -> impl Iterator<Item = (ObjectIx, &Bits)> {
        self.parts
            .iter()
            .map(|((object, _), node)| (*object, self.graph.set(*node)))
    }

    /// What each field of objects holds; without a field, what arrays and collections hold.
    pub fn held_in(&self) -> impl Iterator<Item = (Option<FieldIx>, &Bits)> {
        self.parts.iter().map(|((_, part), node)| {
            let field = match part {
                Part::Field(field) => Some(*field),
                Part::Content => None,
            };
            (field, self.graph.set(*node))
        })
    }

    pub(crate) fn rule(&mut self, node: u32, rule: NodeRule) {
        let known = self.graph.rule(node, rule);
        if self.graph.coarse && self.graph.find(node) == OUT && !matches!(rule, NodeRule::Held(_) | NodeRule::Outside) {
            return self.apply_all(rule, &[STRANGER.0].into_iter().collect());
        }
        self.apply_all(rule, &known);
    }

    fn solve(&mut self, bound: u64) -> Option<()> {
        let stranger: Bits = [STRANGER.0].into_iter().collect();
        while let Some((node, new, rules)) = self.graph.step() {
            // What code outside has seen is met as the stranger, if the analysis is coarse; only who holds it sees it itself.
            let met = match node == OUT && self.graph.coarse {
                true => new.and(&stranger),
                false => new.clone(),
            };
            // Nodes that have become one have several rules for what they hold, which say the same.
            let mut held = node == OUT;
            for rule in rules {
                match rule {
                    NodeRule::Held(_) if std::mem::replace(&mut held, true) => {}
                    NodeRule::Held(_) | NodeRule::Outside => self.apply_all(rule, &new),
                    _ if met.is_empty() => {}
                    _ => self.apply_all(rule, &met),
                }
            }
            if self.graph.work > bound {
                return None;
            }
        }
        Some(())
    }

    /// Applies a rule to those of the objects that a value can be where it stands.
    fn apply_all(&mut self, rule: NodeRule, objects: &Bits) {
        let world = self.world;
        let wanted = match rule {
            NodeRule::Load(Part::Field(field), _) | NodeRule::Store(Part::Field(field), _) => {
                Some(Type::Of(world.class(world.field(field).class).name))
            }
            NodeRule::Load(Part::Content, _) | NodeRule::Store(Part::Content, _) => {
                Some(Type::Array(Element::REFERENCE))
            }
            NodeRule::Receiver(at) => Some(Type::Of(self.sites[at as usize].class)),
            NodeRule::Held(_) | NodeRule::Outside => None,
        };
        let meant: Vec<u32> = match wanted {
            Some(wanted) => objects.and(self.graph.objects.of(world, wanted)).iter().collect(),
            None => objects.iter().collect(),
        };
        self.graph.work += objects.words() + 32 * meant.len() as u64;
        for object in meant {
            self.apply(rule, ObjectIx(object));
        }
    }

    pub(crate) fn part(&mut self, object: ObjectIx, part: Part) -> u32 {
        if object == STRANGER || self.opened.contains(&object) {
            return OUT;
        }
        if let Some(node) = self.parts.get(&(object, part)) {
            return *node;
        }
        let node = self.graph.add_node();
        if let Part::Field(field) = part
            && let Some(wanted) = self.declared(field_descriptor(
                self.world.symbols.bytes(self.world.field(field).member),
            ))
        {
            self.graph.narrow(node, wanted);
        }
        self.parts.insert((object, part), node);
        self.parts_of.entry(object).or_default().push(node);
        node
    }

    fn static_node(&mut self, field: FieldIx) -> u32 {
        if self.graph.coarse {
            return OUT;
        }
        if let Some(node) = self.statics.get(&field) {
            return *node;
        }
        let node = self.graph.add_node();
        self.statics.insert(field, node);
        node
    }

    pub(crate) fn object(&mut self, kind: ObjectKind, site: Option<(MethodIx, u16)>) -> ObjectIx {
        let maker = site.map(|(method, _)| self.world.method(method).class);
        let next = ObjectIx(self.graph.objects.all().len() as u32);
        if let Some(by_class) = &mut self.by_class
            && !matches!(kind, ObjectKind::Lambda(..))
        {
            let known = *by_class.entry((kind, maker)).or_insert(next);
            if known != next {
                return known;
            }
        }
        self.graph.objects.push(Object { kind, site })
    }

    fn method(&mut self, method: MethodIx) {
        let world = self.world;
        let found = world.method(method);
        let Some(flow) = &found.flow else {
            if found.access & access::NATIVE != 0 {
                for index in 0..self.parameter_count(method) {
                    let node = self.parameter(method, index as usize);
                    self.graph.edge(node, OUT);
                }
                let returned = self.node(method, RETURN);
                self.graph.edge(OUT, returned);
            }
            return;
        };
        for (from, to) in &flow.edges {
            let (from, to) = (self.node(method, *from), self.node(method, *to));
            self.graph.edge(from, to);
        }
        for made in &flow.allocations {
            let node = self.node(method, made.node);
            let kind = match made.made {
                Made::Object(name) => match world.by_name.get(&name) {
                    Some(class) => ObjectKind::Own(*class),
                    None => ObjectKind::Foreign(name),
                },
                Made::Array(element) => ObjectKind::Array(element),
                Made::DeepArray(..) => ObjectKind::Array(Element::REFERENCE),
                Made::Lambda(at) => ObjectKind::Lambda(method, at),
            };
            let site = (method, made.pc);
            let object = self.object(kind, Some(site));
            self.made.entry(site).or_default().push(object);
            self.graph.put(object, node);
            if let Made::DeepArray(element, dimensions) = made.made {
                let content = self.part(object, Part::Content);
                let inner = self.object(ObjectKind::Array(element), Some(site));
                self.made.entry(site).or_default().push(inner);
                self.graph.put(inner, content);
                if dimensions > 2 {
                    self.graph.put(object, content);
                }
            }
        }
        for access in &flow.accesses {
            let value = self.node(method, access.value);
            let has_value = access.value != NONE;
            let hidden = access.field.is_some_and(|field| world.hidden_writes.contains(&field));
            if hidden && has_value && !access.write {
                self.graph.edge(OUT, value);
            }
            match access.field {
                Some(field) if access.is_static => {
                    let node = self.static_node(field);
                    match access.write {
                        true if has_value => self.graph.edge(value, node),
                        false if has_value => self.graph.edge(node, value),
                        _ => {}
                    }
                }
                field if has_value => {
                    let part = field.map_or(Part::Content, Part::Field);
                    let base = self.node(method, access.base);
                    let rule = if access.write {
                        NodeRule::Store(part, value)
                    } else {
                        NodeRule::Load(part, value)
                    };
                    self.rule(base, rule);
                }
                _ => {}
            }
        }
        if !flow.shown.is_empty() {
            let content = self.graph.add_node();
            self.graph.rule(content, NodeRule::Held(content));
            for node in &flow.shown {
                let node = self.node(method, *node);
                self.graph.edge(node, content);
            }
        }
        for (number, call) in flow.calls.iter().enumerate() {
            let site = CallSite {
                method,
                call: number as u32,
                class: call.class,
                selector: call.selector,
                opcode: call.opcode,
                args: call.args.iter().map(|(node, _)| self.node(method, *node)).collect(),
                result: self.node(method, call.result),
                helper: None,
            };
            let at = self.sites.len() as u32;
            self.sites.push(site);
            self.call(at);
        }
    }

    pub(crate) fn is_nothing(&self, site: &CallSite, node: u32) -> bool {
        node == self.bases[site.method.0 as usize] + NONE
    }

    /// Code outside the world gets the arguments and may answer with whatever it has seen.
    pub(crate) fn open(&mut self, site: &CallSite) {
        for arg in site.args.iter() {
            if !self.is_nothing(site, *arg) {
                self.graph.edge(*arg, OUT);
            }
        }
        if !self.is_nothing(site, site.result) {
            self.graph.edge(OUT, site.result);
        }
    }

    fn apply(&mut self, rule: NodeRule, object: ObjectIx) {
        let kind = self.kind(object);
        match rule {
            NodeRule::Load(part, to) => {
                let from = self.part(object, part);
                self.graph.edge(from, to);
            }
            NodeRule::Store(part, from) => {
                let to = self.part(object, part);
                self.graph.edge(from, to);
            }
            NodeRule::Receiver(at) => self.dispatch(at, object, kind),
            NodeRule::Held(content) => self.held(object, kind, content),
            NodeRule::Outside => {
                if self.graph.coarse && object != STRANGER && self.opened.insert(object) {
                    for part in self.parts_of.remove(&object).unwrap_or_default() {
                        self.graph.unify(part, OUT);
                    }
                }
                self.held(object, kind, OUT);
            }
        }
    }
}

#[cfg(test)]
mod tests;
