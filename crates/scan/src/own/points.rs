//! Which objects each reference may mean: a points-to analysis by allocation site, with calls resolved as receivers become
//! known (Andersen's inclusion constraints, one node per value, no contexts).
//!
//! Code outside the world (the JDK, missing classes, native and reflective calls) is one node, [`OUTSIDE`]: what is given to
//! it may come back from it, and it may call every method of what it was given that it can know of. The collections and other
//! *tame* classes of the JDK are followed more closely: an object of theirs holds what it was given and gives back what it
//! holds. Whatever is in doubt goes outside; a call whose receiver nobody knows passes its arguments outside; a method that
//! nobody is seen to call is called from outside.

use ravel_classfile::{access, op};
use rustc_hash::{FxHashMap, FxHashSet};

use super::flow::{FIRST, FlowNode, Made, NONE, OUTSIDE, RETURN, holds, is_inert};
use super::outside::{is_tame, may_be_called, shows_only};
use super::world::{ClassIx, FieldIx, MethodIx, World};
use crate::symbols::{Sym, parameters, result};

/// An abstract object, by its place in [`Points::objects`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectIx(pub u32);

/// The object that stands for all that code outside has made.
pub const STRANGER: ObjectIx = ObjectIx(0);

/// What an abstract object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    /// Made outside.
    Stranger,
    /// Of a class of the world.
    Own(ClassIx),
    /// Of another class.
    Foreign(Sym),
    /// An array.
    Array,
    /// A lambda of a method.
    Lambda(MethodIx, u32),
}

/// An abstract object.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Where it is made.
    pub site: Option<(MethodIx, u16)>,
}

/// A part of an object: a field, or whatever an array or a collection holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Part {
    Field(FieldIx),
    Content,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
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
struct CallSite {
    method: MethodIx,
    call: u32,
    class: Sym,
    selector: Sym,
    opcode: u8,
    args: Vec<u32>,
    result: u32,
    /// Stands for what the JDK makes in a tame call.
    helper: Option<ObjectIx>,
}

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number; says whether it is new.
    pub fn insert(&mut self, at: u32) -> bool {
        let (word, bit) = (at as usize / 64, 1 << (at % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    /// Whether a number is in it.
    pub fn contains(&self, at: u32) -> bool {
        self.0
            .get(at as usize / 64)
            .is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Adds all of another; gives those that are new.
    fn add(&mut self, other: &Bits) -> Bits {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut new = Bits(vec![0; other.0.len()]);
        for (at, word) in other.0.iter().enumerate() {
            new.0[at] = word & !self.0[at];
            self.0[at] |= word;
        }
        new
    }

    /// The numbers in it, rising.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros();
                    word &= word - 1;
                    at as u32 * 64 + bit
                })
            })
        })
    }
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
    world: &'w World,
    /// The objects; the first is the stranger.
    pub objects: Vec<Object>,
    sets: Vec<Bits>,
    next: Vec<Vec<u32>>,
    rules: Vec<Vec<Rule>>,
    edges: FxHashSet<(u32, u32)>,
    parts: FxHashMap<(ObjectIx, Part), u32>,
    statics: FxHashMap<FieldIx, u32>,
    /// The first node of each method.
    bases: Vec<u32>,
    sites: Vec<CallSite>,
    pending: Vec<(u32, Bits)>,
    /// The callers of each method.
    pub callers: FxHashMap<MethodIx, FxHashSet<Caller>>,
    /// What each call may run.
    pub callees: FxHashMap<(MethodIx, u32), FxHashSet<MethodIx>>,
    /// Calls that may also run code outside.
    pub calls_outside: FxHashSet<(MethodIx, u32)>,
    by_class: Option<FxHashMap<Key, ObjectIx>>,
    known: FxHashSet<(u32, u32)>,
    constructed: FxHashMap<(MethodIx, u32), ObjectIx>,
    /// Methods that code outside may call with all that it knows.
    entered: FxHashSet<MethodIx>,
    /// Everything above each class, by name, and what of it is outside.
    above: Vec<(FxHashSet<Sym>, Vec<Sym>)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key {
    Class(Sym),
    Array,
}

/// The node of [`OUTSIDE`] of all methods.
const OUT: u32 = 0;

/// With more allocations than this, objects of one class are one.
const MAX_SITES: usize = 6000;

impl<'w> Points<'w> {
    /// Solves a world.
    pub fn new(world: &'w World) -> Points<'w> {
        let mut points = Points {
            world,
            objects: vec![Object {
                kind: ObjectKind::Stranger,
                site: None,
            }],
            sets: vec![Bits::default()],
            next: vec![Vec::new()],
            rules: vec![vec![Rule::Outside]],
            edges: FxHashSet::default(),
            parts: FxHashMap::default(),
            statics: FxHashMap::default(),
            bases: Vec::new(),
            sites: Vec::new(),
            pending: Vec::new(),
            callers: FxHashMap::default(),
            callees: FxHashMap::default(),
            calls_outside: FxHashSet::default(),
            by_class: None,
            known: FxHashSet::default(),
            constructed: FxHashMap::default(),
            entered: FxHashSet::default(),
            above: world
                .classes
                .iter()
                .map(|class| {
                    let ancestors = world.ancestors(class.name);
                    let names = ancestors.into_iter().map(|class| world.class(class).name).collect();
                    (names, world.outside_parents(class.name))
                })
                .collect(),
        };
        let sites: usize = world
            .methods
            .iter()
            .filter_map(|method| method.flow.as_ref())
            .map(|flow| flow.allocations.len())
            .sum();
        if sites > MAX_SITES {
            points.by_class = Some(FxHashMap::default());
        }
        points.set_up();
        points.solve();
        while points.close() {
            points.solve();
        }
        points
    }

    fn set_up(&mut self) {
        self.put(STRANGER, OUT);
        for method in self.world.method_ids() {
            self.bases.push(self.sets.len() as u32);
            let found = self.world.method(method);
            let count = found
                .flow
                .as_ref()
                .map_or_else(|| FIRST + self.parameter_count(method), |flow| flow.nodes);
            for _ in 0..count {
                self.new_node();
            }
        }
        for method in self.world.method_ids() {
            self.method(method);
        }
    }

    fn parameter_count(&self, method: MethodIx) -> u32 {
        let found = self.world.method(method);
        let receiver = u32::from(found.access & access::STATIC == 0);
        receiver + parameters(self.world.symbols.bytes(found.selector)).count() as u32
    }

    fn new_node(&mut self) -> u32 {
        self.sets.push(Bits::default());
        self.next.push(Vec::new());
        self.rules.push(Vec::new());
        self.sets.len() as u32 - 1
    }

    fn node(&self, method: MethodIx, node: FlowNode) -> u32 {
        match node {
            OUTSIDE => OUT,
            _ => self.bases[method.0 as usize] + node,
        }
    }

    /// The node of a method's parameter, `this` included.
    fn parameter(&self, method: MethodIx, index: usize) -> u32 {
        self.node(method, FIRST + index as u32)
    }

    /// What a reference of a method may mean.
    pub fn of(&self, method: MethodIx, node: FlowNode) -> &Bits {
        &self.sets[self.node(method, node) as usize]
    }

    /// The objects that code outside knows.
    pub fn outside(&self) -> &Bits {
        &self.sets[OUT as usize]
    }

    /// The objects that static fields hold.
    pub fn in_statics(&self) -> impl Iterator<Item = &Bits> {
        self.statics.values().map(|node| &self.sets[*node as usize])
    }

    /// What the parts of each object hold.
    pub fn held_by(&self) -> impl Iterator<Item = (ObjectIx, &Bits)> {
        self.parts
            .iter()
            .map(|((object, _), node)| (*object, &self.sets[*node as usize]))
    }

    fn put(&mut self, object: ObjectIx, node: u32) {
        if self.sets[node as usize].insert(object.0) {
            let mut new = Bits::default();
            new.insert(object.0);
            self.pending.push((node, new));
        }
    }

    fn edge(&mut self, from: u32, to: u32) {
        if from == to || !self.edges.insert((from, to)) {
            return;
        }
        self.next[from as usize].push(to);
        let new = {
            let set = std::mem::take(&mut self.sets[from as usize]);
            let new = self.sets[to as usize].add(&set);
            self.sets[from as usize] = set;
            new
        };
        if !new.is_empty() {
            self.pending.push((to, new));
        }
    }

    fn rule(&mut self, node: u32, rule: Rule) {
        self.rules[node as usize].push(rule);
        let known: Vec<u32> = self.sets[node as usize].iter().collect();
        for object in known {
            self.apply(rule, ObjectIx(object));
        }
    }

    fn solve(&mut self) {
        while let Some((node, new)) = self.pending.pop() {
            for at in 0..self.next[node as usize].len() {
                let to = self.next[node as usize][at];
                let more = self.sets[to as usize].add(&new);
                if !more.is_empty() {
                    self.pending.push((to, more));
                }
            }
            for at in 0..self.rules[node as usize].len() {
                let rule = self.rules[node as usize][at];
                for object in new.iter().collect::<Vec<_>>() {
                    self.apply(rule, ObjectIx(object));
                }
            }
        }
    }

    fn part(&mut self, object: ObjectIx, part: Part) -> u32 {
        if object == STRANGER {
            return OUT;
        }
        if let Some(node) = self.parts.get(&(object, part)) {
            return *node;
        }
        let node = self.new_node();
        self.parts.insert((object, part), node);
        node
    }

    fn static_node(&mut self, field: FieldIx) -> u32 {
        if let Some(node) = self.statics.get(&field) {
            return *node;
        }
        let node = self.new_node();
        self.statics.insert(field, node);
        node
    }

    fn object(&mut self, kind: ObjectKind, site: Option<(MethodIx, u16)>) -> ObjectIx {
        let key = match kind {
            ObjectKind::Own(class) => Some(Key::Class(self.world.class(class).name)),
            ObjectKind::Foreign(name) => Some(Key::Class(name)),
            ObjectKind::Array => Some(Key::Array),
            _ => None,
        };
        let next = ObjectIx(self.objects.len() as u32);
        if let (Some(by_class), Some(key)) = (&mut self.by_class, key) {
            let known = *by_class.entry(key).or_insert(next);
            if known != next {
                return known;
            }
        }
        self.objects.push(Object { kind, site });
        next
    }

    fn method(&mut self, method: MethodIx) {
        let world = self.world;
        let found = world.method(method);
        let Some(flow) = &found.flow else {
            if found.access & access::NATIVE != 0 {
                for index in 0..self.parameter_count(method) {
                    let node = self.parameter(method, index as usize);
                    self.edge(node, OUT);
                }
                let returned = self.node(method, RETURN);
                self.edge(OUT, returned);
            }
            return;
        };
        for (from, to) in &flow.edges {
            let (from, to) = (self.node(method, *from), self.node(method, *to));
            self.edge(from, to);
        }
        for made in &flow.allocations {
            let node = self.node(method, made.node);
            let kind = match made.made {
                Made::Object(name) => match world.by_name.get(&name) {
                    Some(class) => ObjectKind::Own(*class),
                    None => ObjectKind::Foreign(name),
                },
                Made::Array | Made::DeepArray => ObjectKind::Array,
                Made::Lambda(at) => ObjectKind::Lambda(method, at),
            };
            let object = self.object(kind, Some((method, made.pc)));
            self.put(object, node);
            if made.made == Made::DeepArray {
                let content = self.part(object, Part::Content);
                self.put(object, content);
            }
        }
        for access in &flow.accesses {
            let value = self.node(method, access.value);
            let has_value = access.value != NONE;
            match access.field {
                Some(field) if access.is_static => {
                    let node = self.static_node(field);
                    match access.write {
                        true if has_value => self.edge(value, node),
                        false if has_value => self.edge(node, value),
                        _ => {}
                    }
                }
                field if has_value => {
                    let part = field.map_or(Part::Content, Part::Field);
                    let base = self.node(method, access.base);
                    let rule = if access.write {
                        Rule::Store(part, value)
                    } else {
                        Rule::Load(part, value)
                    };
                    self.rule(base, rule);
                }
                _ => {}
            }
        }
        if !flow.shown.is_empty() {
            let content = self.new_node();
            self.rules[content as usize].push(Rule::Held(content));
            for node in &flow.shown {
                let node = self.node(method, *node);
                self.edge(node, content);
            }
        }
        for (number, call) in flow.calls.iter().enumerate() {
            let site = CallSite {
                method,
                call: number as u32,
                class: call.class,
                selector: call.selector,
                opcode: call.opcode,
                args: call.args.iter().map(|(node, _)| self.optional(method, *node)).collect(),
                result: self.optional(method, call.result),
                helper: None,
            };
            let at = self.sites.len() as u32;
            self.sites.push(site);
            self.call(at);
        }
    }

    /// A node, or the method's empty one.
    fn optional(&self, method: MethodIx, node: FlowNode) -> u32 {
        self.node(method, node)
    }

    fn is_nothing(&self, site: &CallSite, node: u32) -> bool {
        node == self.bases[site.method.0 as usize] + NONE
    }

    /// Code outside the world gets the arguments and may answer with whatever it has seen.
    fn open(&mut self, site: &CallSite) {
        for arg in &site.args {
            if !self.is_nothing(site, *arg) {
                self.edge(*arg, OUT);
            }
        }
        if !self.is_nothing(site, site.result) {
            self.edge(OUT, site.result);
        }
    }

    /// Binds what can be bound without knowing the receiver.
    fn call(&mut self, at: u32) {
        let site = self.sites[at as usize].clone();
        match site.opcode {
            op::INVOKESTATIC => match self.world.resolve_method(site.class, site.selector) {
                Some(callee) => self.bind(at, callee, 0),
                None => self.foreign(at, None),
            },
            op::INVOKESPECIAL => match self.world.resolve_method(site.class, site.selector) {
                Some(callee) => {
                    let this = self.parameter(callee, 0);
                    self.edge(site.args[0], this);
                    self.bind(at, callee, 1);
                }
                None => {
                    let name = self.world.symbols.bytes(site.selector);
                    if self.world.symbols.bytes(site.class) == b"java/lang/Object" && name.starts_with(b"<init>") {
                        return;
                    }
                    self.rule(site.args[0], Rule::Receiver(at));
                }
            },
            _ => {
                if is_inert(self.world.symbols.bytes(site.class)) || self.is_nothing(&site, site.args[0]) {
                    self.foreign(at, None);
                } else {
                    self.rule(site.args[0], Rule::Receiver(at));
                }
            }
        }
    }

    fn note(&mut self, site: &CallSite, callee: MethodIx) {
        self.callers
            .entry(callee)
            .or_default()
            .insert(Caller::Site(site.method, site.call));
        self.callees.entry((site.method, site.call)).or_default().insert(callee);
    }

    /// Passes arguments from the `skip`th on, and takes the result.
    fn bind(&mut self, at: u32, callee: MethodIx, skip: usize) {
        if !self.known.insert((at, callee.0)) {
            return;
        }
        let site = self.sites[at as usize].clone();
        self.note(&site, callee);
        for (index, arg) in site.args.iter().enumerate().skip(skip) {
            if !self.is_nothing(&site, *arg) {
                let parameter = self.parameter(callee, index);
                self.edge(*arg, parameter);
            }
        }
        if !self.is_nothing(&site, site.result) {
            let returned = self.node(callee, RETURN);
            self.edge(returned, site.result);
        }
    }

    /// A call of code that is not of the world, on an object or on none.
    fn foreign(&mut self, at: u32, receiver: Option<ObjectIx>) {
        let site = self.sites[at as usize].clone();
        self.calls_outside.insert((site.method, site.call));
        let symbols = &self.world.symbols;
        let (class, selector) = (symbols.bytes(site.class), symbols.bytes(site.selector));
        let tame = match receiver.map(|object| self.objects[object.0 as usize].kind) {
            Some(ObjectKind::Foreign(name)) => is_tame(symbols.bytes(name), selector),
            Some(ObjectKind::Own(own)) => {
                let parents = &self.above[own.0 as usize].1;
                let object = is_tame(b"java/lang/Object", selector);
                (object || !parents.is_empty())
                    && parents.iter().all(|parent| is_tame(symbols.bytes(*parent), selector))
            }
            Some(ObjectKind::Array) => true,
            Some(ObjectKind::Lambda(..)) => is_tame(class, selector),
            Some(ObjectKind::Stranger) => shows_only(class),
            None => is_tame(class, selector) || is_inert(class),
        };
        if !tame {
            self.open(&site);
            return;
        }
        let object = match receiver {
            Some(object) if object != STRANGER => object,
            _ => self.helper(at),
        };
        let content = self.part(object, Part::Content);
        if self.known.insert((u32::MAX, content)) {
            self.rule(content, Rule::Held(content));
        }
        let skip = usize::from(receiver.is_some());
        for arg in site
            .args
            .iter()
            .skip(skip)
            .filter(|arg| !self.is_nothing(&site, **arg))
            .copied()
            .collect::<Vec<_>>()
        {
            self.edge(arg, content);
        }
        if !self.is_nothing(&site, site.result) {
            self.put(object, site.result);
            self.edge(content, site.result);
            if receiver == Some(STRANGER) {
                self.edge(OUT, site.result);
            }
        }
    }

    fn helper(&mut self, at: u32) -> ObjectIx {
        if let Some(object) = self.sites[at as usize].helper {
            return object;
        }
        let object = ObjectIx(self.objects.len() as u32);
        self.objects.push(Object {
            kind: ObjectKind::Foreign(self.sites[at as usize].class),
            site: None,
        });
        self.sites[at as usize].helper = Some(object);
        object
    }

    fn apply(&mut self, rule: Rule, object: ObjectIx) {
        let kind = self.objects[object.0 as usize].kind;
        match rule {
            Rule::Load(part, to) => {
                let from = self.part(object, part);
                self.edge(from, to);
            }
            Rule::Store(part, from) => {
                let to = self.part(object, part);
                self.edge(from, to);
            }
            Rule::Receiver(at) => self.dispatch(at, object, kind),
            Rule::Held(content) => self.held(object, kind, content),
            Rule::Outside => self.held(object, kind, OUT),
        }
    }

    /// An object that tame or outside code has: its content is theirs, and its methods may be called with what they have.
    fn held(&mut self, object: ObjectIx, kind: ObjectKind, content: u32) {
        if object == STRANGER {
            self.edge(OUT, content);
            self.edge(content, OUT);
            return;
        }
        match kind {
            ObjectKind::Stranger => {}
            ObjectKind::Foreign(_) | ObjectKind::Array => {
                let own = self.part(object, Part::Content);
                self.edge(own, content);
                self.edge(content, own);
            }
            ObjectKind::Lambda(method, at) => self.call_lambda(object, method, at, Passed::From(content), content),
            ObjectKind::Own(class) => {
                let own = self.part(object, Part::Content);
                self.edge(own, content);
                self.edge(content, own);
                self.call_back(object, class, content);
            }
        }
    }

    fn call_back(&mut self, object: ObjectIx, class: ClassIx, content: u32) {
        let world = self.world;
        let name = world.class(class).name;
        let parents = self.above[class.0 as usize].1.clone();
        let mut done = FxHashSet::default();
        for ancestor in world.ancestors(name) {
            let mut methods: Vec<_> = world.class(ancestor).methods.values().copied().collect();
            methods.sort_unstable();
            for method in methods {
                let found = world.method(method);
                if found.access & (access::STATIC | access::PRIVATE) != 0 || found.name.starts_with('<') {
                    continue;
                }
                let wanted = parents
                    .iter()
                    .any(|parent| may_be_called(world.symbols.bytes(*parent), &found.name))
                    || may_be_called(b"java/lang/Object", &found.name);
                if wanted && done.insert(found.selector) {
                    self.enter(method, Some(object), content);
                }
            }
        }
    }

    /// Code outside calls a method with what it has.
    fn enter(&mut self, method: MethodIx, object: Option<ObjectIx>, content: u32) {
        self.callers.entry(method).or_default().insert(Caller::Outside);
        let found = self.world.method(method);
        let mut index = 0;
        if found.access & access::STATIC == 0 {
            let this = self.parameter(method, 0);
            self.put(object.unwrap_or(STRANGER), this);
            index = 1;
        }
        let selector = self.world.symbols.bytes(found.selector).to_vec();
        for descriptor in parameters(&selector) {
            if holds(descriptor) {
                let parameter = self.parameter(method, index);
                self.edge(content, parameter);
            }
            index += 1;
        }
        if holds(result(&selector)) {
            let returned = self.node(method, RETURN);
            self.edge(returned, content);
        }
    }

    fn dispatch(&mut self, at: u32, object: ObjectIx, kind: ObjectKind) {
        if !self.may_be(kind, self.sites[at as usize].class) {
            return;
        }
        let site = self.sites[at as usize].clone();
        if site.opcode == op::INVOKESPECIAL {
            return self.foreign(at, Some(object));
        }
        match kind {
            ObjectKind::Own(class) => match self.world.resolve_method(self.world.class(class).name, site.selector) {
                Some(callee) => {
                    let this = self.parameter(callee, 0);
                    self.put(object, this);
                    self.bind(at, callee, 1);
                }
                None => self.foreign(at, Some(object)),
            },
            ObjectKind::Foreign(_) | ObjectKind::Array => self.foreign(at, Some(object)),
            ObjectKind::Lambda(method, lambda) => {
                let flow = self.world.method(method).flow.as_ref();
                let name = flow
                    .and_then(|flow| flow.lambdas.get(lambda as usize))
                    .map(|lambda| &lambda.name);
                let selector = self.world.symbols.bytes(site.selector);
                let wanted = name.is_some_and(|name| {
                    selector
                        .strip_prefix(&name[..])
                        .is_some_and(|rest| rest.first() == Some(&b'('))
                });
                let default = self.world.resolve_method(site.class, site.selector);
                match default.filter(|callee| self.world.method(*callee).flow.is_some()) {
                    Some(callee) => {
                        let this = self.parameter(callee, 0);
                        self.put(object, this);
                        self.bind(at, callee, 1);
                    }
                    None if wanted => self.call_lambda(object, method, lambda, Passed::Site(at), site.result),
                    // A default method of an interface of the JDK may call the lambda.
                    None => self.foreign(at, Some(object)),
                }
            }
            ObjectKind::Stranger => {
                self.foreign(at, Some(object));
                for class in self.world.below(site.class) {
                    if let Some(callee) = self.world.resolve_method(self.world.class(class).name, site.selector) {
                        let this = self.parameter(callee, 0);
                        self.put(STRANGER, this);
                        self.bind(at, callee, 1);
                    }
                }
            }
        }
    }

    /// Whether an object can be of a class, as far as the world knows: a call on a value of that type never meets others.
    pub fn may_be(&self, kind: ObjectKind, class: Sym) -> bool {
        let own = self.world.by_name.contains_key(&class);
        match kind {
            ObjectKind::Own(found) => {
                let (names, outside) = &self.above[found.0 as usize];
                let object = self.world.symbols.bytes(class) == b"java/lang/Object";
                names.contains(&class) || !own && (object || !outside.is_empty())
            }
            ObjectKind::Foreign(_) | ObjectKind::Array => !own,
            ObjectKind::Stranger | ObjectKind::Lambda(..) => true,
        }
    }

    fn call_lambda(&mut self, object: ObjectIx, method: MethodIx, at: u32, passed: Passed, result_node: u32) {
        let key = match passed {
            Passed::Site(site) => (site, object.0),
            Passed::From(content) => (u32::MAX - 1 - content, object.0),
        };
        if !self.known.insert(key) {
            return;
        }
        let world = self.world;
        let Some(lambda) = world
            .method(method)
            .flow
            .as_ref()
            .and_then(|flow| flow.lambdas.get(at as usize))
        else {
            return;
        };
        let captured: Vec<u32> = lambda.captured.iter().map(|node| self.node(method, *node)).collect();
        let mut values = captured;
        let selector = world.symbols.bytes(lambda.selector).to_vec();
        let receiver = usize::from(!matches!(lambda.kind, 6 | 8));
        let wanted = parameters(&selector).count() + receiver;
        match passed {
            Passed::Site(site) => values.extend(self.sites[site as usize].args.iter().skip(1).copied()),
            Passed::From(content) => values.resize(wanted, content),
        }
        let callee = world.resolve_method(lambda.class, lambda.selector);
        let Some(callee) = callee else {
            // A method reference to the JDK: what it is given may go anywhere.
            for value in values {
                self.edge(value, OUT);
            }
            self.edge(OUT, result_node);
            return;
        };
        self.note_lambda(passed, callee);
        if lambda.kind == 8 {
            // A constructor: a new object, its own receiver.
            let made = match self.constructed.get(&(method, at)) {
                Some(made) => *made,
                None => {
                    let Some(class) = world.by_name.get(&lambda.class) else {
                        return;
                    };
                    let made = self.object(ObjectKind::Own(*class), Some((method, u16::MAX)));
                    self.constructed.insert((method, at), made);
                    made
                }
            };
            let this = self.parameter(callee, 0);
            self.put(made, this);
            for (index, value) in values.iter().enumerate() {
                let parameter = self.parameter(callee, index + 1);
                self.edge(*value, parameter);
            }
            self.put(made, result_node);
            return;
        }
        let virtual_call = matches!(lambda.kind, 5 | 9);
        if virtual_call {
            // The receiver may be of any class below.
            for class in world.below(lambda.class) {
                if let Some(callee) = world.resolve_method(world.class(class).name, lambda.selector) {
                    self.note_lambda(passed, callee);
                    self.pass(callee, &values, result_node);
                }
            }
        }
        self.pass(callee, &values, result_node);
    }

    /// A lambda's method has other parameters than the call: it counts as called from outside.
    fn note_lambda(&mut self, passed: Passed, callee: MethodIx) {
        self.callers.entry(callee).or_default().insert(Caller::Outside);
        if let Passed::Site(site) = passed {
            let site = &self.sites[site as usize];
            self.callees.entry((site.method, site.call)).or_default().insert(callee);
        }
    }

    fn pass(&mut self, callee: MethodIx, values: &[u32], result_node: u32) {
        for (index, value) in values.iter().enumerate().take(self.parameter_count(callee) as usize) {
            let parameter = self.parameter(callee, index);
            self.edge(*value, parameter);
        }
        let returned = self.node(callee, RETURN);
        self.edge(returned, result_node);
    }

    /// What nobody is seen to call is called from outside, and a call on nobody known passes its arguments there. Says
    /// whether anything is new. Methods whose names no call has come first: others may be reached from them.
    fn close(&mut self) -> bool {
        let world = self.world;
        let mut changed = false;
        let mut unseen = Vec::new();
        for method in world.method_ids() {
            let found = world.method(method);
            if found.flow.is_none() || self.entered.contains(&method) {
                continue;
            }
            if self.is_open(method) {
                self.entered.insert(method);
                self.enter(method, None, OUT);
                changed = true;
                continue;
            }
            let this = self.parameter(method, 0);
            let lonely = found.access & access::STATIC == 0 && self.sets[this as usize].is_empty();
            if found.name != "<clinit>" && (lonely || !self.callers.contains_key(&method)) {
                unseen.push(method);
            }
        }
        if changed {
            return true;
        }
        let named: FxHashSet<Sym> = self.sites.iter().map(|site| site.selector).collect();
        let lambdas = world.methods.iter().filter_map(|method| method.flow.as_ref());
        let targets: FxHashSet<Sym> = lambdas
            .flat_map(|flow| flow.lambdas.iter().map(|lambda| lambda.selector))
            .collect();
        let free = |method: &MethodIx| {
            let selector = world.method(*method).selector;
            !named.contains(&selector) && !targets.contains(&selector)
        };
        let open = |method: &MethodIx| world.method(*method).access & access::PRIVATE == 0;
        let mut first: Vec<MethodIx> = unseen.iter().copied().filter(free).collect();
        if first.is_empty() {
            first = unseen.iter().copied().filter(open).collect();
        }
        if first.is_empty() {
            first = unseen;
        }
        for method in first {
            self.entered.insert(method);
            self.enter(method, None, OUT);
            changed = true;
        }
        if changed {
            return true;
        }
        for at in 0..self.sites.len() {
            let site = &self.sites[at];
            let unknown = site.opcode != op::INVOKESTATIC
                && site
                    .args
                    .first()
                    .is_some_and(|receiver| self.sets[*receiver as usize].is_empty());
            let resolved =
                site.opcode == op::INVOKESPECIAL && world.resolve_method(site.class, site.selector).is_some();
            if unknown && !resolved && self.known.insert((at as u32, u32::MAX)) {
                let site = site.clone();
                self.calls_outside.insert((site.method, site.call));
                self.open(&site);
                changed = true;
            }
        }
        changed
    }

    /// Whether a framework or reflection may call a method.
    fn is_open(&self, method: MethodIx) -> bool {
        let world = self.world;
        let found = world.method(method);
        let class = world.class(found.class);
        let missing = |parent: &Sym| {
            let name = world.symbols.bytes(*parent);
            !world.by_name.contains_key(parent) && !super::outside::is_jdk(name)
        };
        let named = || world.strings.contains(found.name.as_bytes());
        let strange = class.super_class.iter().chain(&class.interfaces).any(missing);
        found.name == "main"
            || found.annotated
            || (class.annotated || strange) && found.access & access::PRIVATE == 0
            || world.lists_methods
            || world.reflective_calls && named()
    }
}

#[derive(Clone, Copy, Debug)]
enum Passed {
    Site(u32),
    From(u32),
}
