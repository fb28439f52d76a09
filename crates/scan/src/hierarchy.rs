//! The class hierarchy: who is whose subclass, which method a call names, and which methods may answer it.
//!
//! A call may be answered by the method that its class has or inherits, and by every override in a subclass of which the
//! program makes objects (or of one of whose subclasses it does). Lambdas are classes of their own.

use ravel_classfile::access;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{ClassId, MethodId, Program};
use crate::symbols::Sym;

/// The hierarchy of a program.
#[derive(Debug)]
pub struct Hierarchy<'p> {
    program: &'p Program,
    /// The direct subclasses and implementers of each class.
    children: FxHashMap<Sym, Vec<ClassId>>,
    /// The classes that the program instantiates.
    instantiated: FxHashSet<Sym>,
}

/// Deeper chains of super classes than this are damaged.
const MAX_DEPTH: usize = 200;

impl<'p> Hierarchy<'p> {
    /// The hierarchy of a program.
    pub fn new(program: &'p Program) -> Self {
        let mut children: FxHashMap<Sym, Vec<ClassId>> = FxHashMap::default();
        let mut instantiated = FxHashSet::default();
        for (number, class) in program.classes.iter().enumerate() {
            for parent in class.super_class.iter().chain(class.interfaces.iter()) {
                children.entry(*parent).or_default().push(ClassId(number as u32));
            }
            instantiated.extend(class.instantiates.iter().copied());
        }
        Hierarchy {
            program,
            children,
            instantiated,
        }
    }

    /// The method that a class has or inherits, super classes before interfaces.
    pub fn lookup(&self, class: Sym, selector: Sym) -> Option<MethodId> {
        let mut interfaces = Vec::new();
        let mut next = Some(class);
        for _ in 0..MAX_DEPTH {
            let Some(name) = next else { break };
            if let Some(method) = self.declared(name, selector) {
                return Some(method);
            }
            let Some(id) = self.program.by_name.get(&name) else {
                break;
            };
            let class = self.program.class(*id);
            interfaces.extend(class.interfaces.iter().copied());
            next = class.super_class;
        }
        let mut seen = FxHashSet::default();
        while let Some(name) = interfaces.pop() {
            if !seen.insert(name) {
                continue;
            }
            if let Some(method) = self.declared(name, selector) {
                return Some(method);
            }
            if let Some(id) = self.program.by_name.get(&name) {
                interfaces.extend(self.program.class(*id).interfaces.iter().copied());
            }
        }
        None
    }

    fn declared(&self, class: Sym, selector: Sym) -> Option<MethodId> {
        let pair = self.program.symbols.find_pair(class, selector)?;
        self.program.by_pair.get(&pair).copied()
    }

    /// All classes and interfaces above a class, itself included.
    fn ancestors(&self, class: ClassId, into: &mut FxHashSet<Sym>) {
        let mut pending = vec![self.program.class(class).name];
        while let Some(name) = pending.pop() {
            if !into.insert(name) {
                continue;
            }
            if let Some(id) = self.program.by_name.get(&name) {
                let class = self.program.class(*id);
                pending.extend(class.super_class);
                pending.extend(class.interfaces.iter().copied());
            }
        }
    }

    /// The classes through which a call may reach this method: those above every class of whose objects it is the
    /// method.
    pub fn reached_through(&self, method: MethodId) -> FxHashSet<Sym> {
        let found = self.program.method(method);
        let mut through = FxHashSet::default();
        if found.access & (access::STATIC | access::PRIVATE) != 0 {
            return through;
        }
        let mut pending = vec![found.class];
        let mut seen = FxHashSet::default();
        while let Some(class) = pending.pop() {
            if !seen.insert(class) {
                continue;
            }
            let name = self.program.class(class).name;
            if class != found.class && self.declared(name, found.selector).is_some() {
                continue;
            }
            if self.instantiated.contains(&name) {
                self.ancestors(class, &mut through);
            }
            pending.extend(self.children.get(&name).into_iter().flatten().copied());
        }
        through
    }

    /// The same if other programs make objects of the method's own class, as they do of those of a library.
    pub fn reached_in_programs(&self, method: MethodId) -> FxHashSet<Sym> {
        let mut through = self.reached_through(method);
        let found = self.program.method(method);
        if found.access & (access::STATIC | access::PRIVATE) == 0 {
            self.ancestors(found.class, &mut through);
        }
        through
    }

    /// How many overrides of a method are below a class, counted up to `limit`.
    pub fn count_overrides(&self, class: Sym, selector: Sym, limit: usize) -> usize {
        let mut count = 0;
        let mut pending: Vec<ClassId> = self.children.get(&class).cloned().unwrap_or_default();
        let mut seen = FxHashSet::default();
        while let Some(class) = pending.pop() {
            if count >= limit || seen.len() > 4096 {
                return limit;
            }
            if !seen.insert(class) {
                continue;
            }
            let name = self.program.class(class).name;
            count += usize::from(self.declared(name, selector).is_some());
            pending.extend(self.children.get(&name).into_iter().flatten().copied());
        }
        count
    }
}
