//! Calls in the points-to analysis: what each may run, what it passes on, and what code outside does with what it is given.

use ravel_classfile::{access, op};
use rustc_hash::FxHashSet;

use crate::flow::{RETURN, holds, is_inert};
use crate::graph::OUT;
use crate::objects::{Object, ObjectIx, ObjectKind, STRANGER};
use crate::outside::{gives_content, is_array_copy, is_closed, is_jdk, is_tame, may_be_called, shows_only};
use crate::points::{CallSite, Caller, NodeRule, Part, Points};
use crate::world::{ClassIx, MethodIx};
use ravel_scan::symbols::{Sym, parameters, result};

/// Marks, among what is known of a call, that all its arguments have gone outside.
const OPENED: u32 = u32::MAX - 1;
/// Marks that it was made on an object whose content is known outside.
const KNOWN_OUTSIDE: u32 = u32::MAX - 2;

impl Points<'_> {
    /// Binds what can be bound without knowing the receiver.
    pub(crate) fn call(&mut self, at: u32) {
        let site = self.sites[at as usize].clone();
        match site.opcode {
            op::INVOKESTATIC => match self.resolve(site.class, site.selector) {
                Some(callee) => self.bind(at, callee, 0),
                None => self.foreign(at, None),
            },
            op::INVOKESPECIAL => match self.resolve(site.class, site.selector) {
                Some(callee) => {
                    let this = self.parameter(callee, 0);
                    self.graph.edge(site.args[0], this);
                    self.bind(at, callee, 1);
                }
                None => {
                    let name = self.world.symbols.bytes(site.selector);
                    if self.world.symbols.bytes(site.class) == b"java/lang/Object" && name.starts_with(b"<init>") {
                        return;
                    }
                    self.rule(site.args[0], NodeRule::Receiver(at));
                }
            },
            _ => {
                if is_inert(self.world.symbols.bytes(site.class)) || self.is_nothing(&site, site.args[0]) {
                    self.foreign(at, None);
                } else {
                    self.rule(site.args[0], NodeRule::Receiver(at));
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
                self.graph.edge(*arg, parameter);
            }
        }
        if !self.is_nothing(&site, site.result) {
            let returned = self.node(callee, RETURN);
            self.graph.edge(returned, site.result);
        }
    }

    /// Whether a method of a class of the JDK is tame.
    fn is_tame(&mut self, class: Sym, selector: Sym) -> bool {
        let symbols = &self.world.symbols;
        let known = self.tame.entry((class, selector));
        *known.or_insert_with(|| is_tame(symbols.bytes(class), symbols.bytes(selector)))
    }

    /// A call of code that is not of the world, on an object or on none.
    fn foreign(&mut self, at: u32, receiver: Option<ObjectIx>) {
        let site = self.sites[at as usize].clone();
        self.calls_outside.insert((site.method, site.call));
        let symbols = &self.world.symbols;
        let class = symbols.bytes(site.class);
        if receiver.is_none() && is_array_copy(class, symbols.bytes(site.selector)) {
            return self.copy_elements(&site);
        }
        let tame = match receiver.map(|object| self.kind(object)) {
            Some(ObjectKind::Foreign(name)) => self.is_tame(name, site.selector),
            Some(ObjectKind::Own(own)) => {
                let object = is_tame(b"java/lang/Object", symbols.bytes(site.selector));
                let parents = self.objects().outside_parents(own).to_vec();
                (object || !parents.is_empty()) && parents.iter().all(|parent| self.is_tame(*parent, site.selector))
            }
            Some(ObjectKind::Array(_)) => true,
            Some(ObjectKind::Lambda(..)) => self.is_tame(site.class, site.selector),
            Some(ObjectKind::Stranger) => shows_only(class),
            None => is_inert(class) || self.is_tame(site.class, site.selector),
        };
        if !tame {
            if self.known.insert((at, OPENED)) {
                self.open(&site);
            }
            return;
        }
        let object = match receiver {
            Some(object) if object != STRANGER => object,
            _ => self.helper(at),
        };
        let part = self.part(object, Part::Content);
        let content = self.graph.find(part);
        let returns = !self.is_nothing(&site, site.result);
        let itself = match self.kind(object) {
            ObjectKind::Foreign(name) => !gives_content(symbols.bytes(name), symbols.bytes(site.selector)),
            _ => true,
        };
        if returns && itself {
            self.graph.put(object, site.result);
        }
        if content == OUT {
            // The same for every object whose content is known outside.
            if !self.known.insert((at, KNOWN_OUTSIDE)) {
                return;
            }
        } else if self.known.insert((u32::MAX, content)) {
            self.rule(content, NodeRule::Held(content));
        }
        for arg in site.args.iter().skip(usize::from(receiver.is_some())) {
            if !self.is_nothing(&site, *arg) {
                self.graph.edge(*arg, content);
            }
        }
        if returns {
            self.graph.edge(content, site.result);
            if receiver == Some(STRANGER) {
                self.graph.edge(OUT, site.result);
            }
        }
    }

    /// What one array holds, the other holds too.
    fn copy_elements(&mut self, site: &CallSite) {
        let [from, _, to, ..] = *site.args else { return };
        if self.is_nothing(site, from) || self.is_nothing(site, to) {
            return;
        }
        let between = self.graph.add_node();
        self.rule(from, NodeRule::Load(Part::Content, between));
        self.rule(to, NodeRule::Store(Part::Content, between));
    }

    fn helper(&mut self, at: u32) -> ObjectIx {
        if let Some(object) = self.sites[at as usize].helper {
            return object;
        }
        let site = &self.sites[at as usize];
        let (kind, method) = (ObjectKind::Foreign(site.class), site.method);
        let object = match self.is_by_class() {
            true => self.object(kind, Some((method, u16::MAX))),
            false => self.graph.objects.push(Object { kind, site: None }),
        };
        self.sites[at as usize].helper = Some(object);
        object
    }

    /// An object that tame or outside code has: its content is theirs, and its methods may be called with what they have.
    pub(crate) fn held(&mut self, object: ObjectIx, kind: ObjectKind, content: u32) {
        let content = self.graph.find(content);
        if object == STRANGER {
            self.graph.unify(OUT, content);
            return;
        }
        if !self.held.insert((object, content)) {
            return;
        }
        match kind {
            ObjectKind::Stranger => {}
            // A collection takes nothing out of what is no collection, such as a thread.
            ObjectKind::Foreign(name) if content != OUT && is_closed(self.world.symbols.bytes(name)) => {}
            ObjectKind::Foreign(_) | ObjectKind::Array(_) => {
                let own = self.part(object, Part::Content);
                self.graph.unify(own, content);
            }
            ObjectKind::Lambda(method, at) => self.call_lambda(object, method, at, Passed::From(content), content),
            ObjectKind::Own(class) => {
                let own = self.part(object, Part::Content);
                self.graph.unify(own, content);
                self.call_back(object, class, content);
            }
        }
    }

    fn call_back(&mut self, object: ObjectIx, class: ClassIx, content: u32) {
        let methods = match self.callbacks.get(&class) {
            Some(methods) => methods.clone(),
            None => {
                let methods: std::rc::Rc<[MethodIx]> = self.find_callbacks(class).into();
                self.callbacks.insert(class, methods.clone());
                methods
            }
        };
        for method in methods.iter() {
            self.enter(*method, Some(object), content);
        }
    }

    /// The methods that code outside may call on an object that it knows.
    fn find_callbacks(&self, class: ClassIx) -> Vec<MethodIx> {
        let world = self.world;
        let parents = self.objects().outside_parents(class);
        let mut done = FxHashSet::default();
        let mut all = Vec::new();
        for ancestor in world.ancestors(world.class(class).name) {
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
                    all.push(method);
                }
            }
        }
        all
    }

    /// Code outside calls a method with what it has.
    fn enter(&mut self, method: MethodIx, object: Option<ObjectIx>, content: u32) {
        self.callers.entry(method).or_default().insert(Caller::Outside);
        let found = self.world.method(method);
        let mut index = 0;
        if found.access & access::STATIC == 0 {
            let this = self.parameter(method, 0);
            self.graph.put(object.unwrap_or(STRANGER), this);
            index = 1;
        }
        let selector = self.world.symbols.bytes(found.selector).to_vec();
        for descriptor in parameters(&selector) {
            if holds(descriptor) {
                let parameter = self.parameter(method, index);
                self.graph.edge(content, parameter);
            }
            index += 1;
        }
        if holds(result(&selector)) {
            let returned = self.node(method, RETURN);
            self.graph.edge(returned, content);
        }
    }

    pub(crate) fn dispatch(&mut self, at: u32, object: ObjectIx, kind: ObjectKind) {
        let site = &self.sites[at as usize];
        let (class, selector, opcode, site_result) = (site.class, site.selector, site.opcode, site.result);
        if opcode == op::INVOKESPECIAL {
            return self.foreign(at, Some(object));
        }
        match kind {
            ObjectKind::Own(own) => match self.resolve(self.world.class(own).name, selector) {
                Some(callee) => {
                    let this = self.parameter(callee, 0);
                    self.graph.put(object, this);
                    self.bind(at, callee, 1);
                }
                None => self.foreign(at, Some(object)),
            },
            ObjectKind::Foreign(_) | ObjectKind::Array(_) => self.foreign(at, Some(object)),
            ObjectKind::Lambda(method, lambda) => {
                let flow = self.world.method(method).flow.as_ref();
                let name = flow
                    .and_then(|flow| flow.lambdas.get(lambda as usize))
                    .map(|lambda| &lambda.name);
                let text = self.world.symbols.bytes(selector);
                let wanted = name.is_some_and(|name| {
                    text.strip_prefix(&name[..])
                        .is_some_and(|rest| rest.first() == Some(&b'('))
                });
                let default = self.resolve(class, selector);
                match default.filter(|callee| self.world.method(*callee).flow.is_some()) {
                    Some(callee) => {
                        let this = self.parameter(callee, 0);
                        self.graph.put(object, this);
                        self.bind(at, callee, 1);
                    }
                    None if wanted => self.call_lambda(object, method, lambda, Passed::Site(at), site_result),
                    // A default method of an interface of the JDK may call the lambda.
                    None => self.foreign(at, Some(object)),
                }
            }
            ObjectKind::Stranger => {
                self.foreign(at, Some(object));
                for callee in self.below(class, selector).iter() {
                    let this = self.parameter(*callee, 0);
                    self.graph.put(STRANGER, this);
                    self.bind(at, *callee, 1);
                }
            }
        }
    }

    /// The method that a class has or inherits.
    fn resolve(&mut self, class: Sym, selector: Sym) -> Option<MethodIx> {
        let world = self.world;
        *self
            .resolved
            .entry((class, selector))
            .or_insert_with(|| world.resolve_method(class, selector))
    }

    /// The methods that a call of an unknown object of a class may run.
    fn below(&mut self, class: Sym, selector: Sym) -> std::rc::Rc<[MethodIx]> {
        if let Some(known) = self.strangers.get(&(class, selector)) {
            return known.clone();
        }
        let mut all = Vec::new();
        for below in self.world.below(class) {
            all.extend(self.resolve(self.world.class(below).name, selector));
        }
        all.sort_unstable();
        all.dedup();
        let all: std::rc::Rc<[MethodIx]> = all.into();
        self.strangers.insert((class, selector), all.clone());
        all
    }

    fn call_lambda(&mut self, object: ObjectIx, method: MethodIx, at: u32, passed: Passed, result_node: u32) {
        let key = match passed {
            Passed::Site(site) => (site, object.0),
            Passed::From(content) => (u32::MAX - 1 - self.graph.find(content), object.0),
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
            // A method reference to the JDK: what it is given may go anywhere, but for what looks at numbers and texts.
            if is_inert(world.symbols.bytes(lambda.class)) || world.symbols.bytes(lambda.class) == b"java/lang/Math" {
                return;
            }
            for value in values {
                self.graph.edge(value, OUT);
            }
            self.graph.edge(OUT, result_node);
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
            self.graph.put(made, this);
            for (index, value) in values.iter().enumerate() {
                let parameter = self.parameter(callee, index + 1);
                self.graph.edge(*value, parameter);
            }
            self.graph.put(made, result_node);
            return;
        }
        let virtual_call = matches!(lambda.kind, 5 | 9);
        if virtual_call {
            // The receiver may be of any class below.
            for callee in self.below(lambda.class, lambda.selector).iter() {
                self.note_lambda(passed, *callee);
                self.pass(*callee, &values, result_node);
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
            self.graph.edge(*value, parameter);
        }
        let returned = self.node(callee, RETURN);
        self.graph.edge(returned, result_node);
    }

    /// A method without a known caller is called from outside, and a call on an unknown receiver passes its arguments there. Says
    /// whether anything is new. Methods whose names no call has come first: others may be reached from them.
    pub(crate) fn close(&mut self) -> bool {
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
            let lonely = found.access & access::STATIC == 0 && self.graph.set(this).is_empty();
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
                    .is_some_and(|receiver| self.graph.set(*receiver).is_empty());
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
            !world.by_name.contains_key(parent) && !is_jdk(name)
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
