//! The program: its classes and methods, read from archives and lowered.

use ravel_trace::naming;
use rustc_hash::FxHashMap;

use crate::body::Body;
use crate::expr::{ExprId, Node};
use crate::summary::SummaryEntry;
use crate::symbols::{PairId, Sym, Symbols};

/// A class of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClassId(pub u32);

/// A method of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MethodId(pub u32);

/// What annotations say about a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassNotes {
    /// `@NotThreadSafe`: its objects are not shared.
    pub not_thread_safe: bool,
    /// `@ThreadSafe`: its objects are.
    pub thread_safe: bool,
    /// `@Immutable`: nothing in it changes.
    pub immutable: bool,
}

/// A field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Class and field.
    pub pair: PairId,
    /// Access flags.
    pub access: u16,
    /// The text of `@GuardedBy`.
    pub guard: Option<Box<str>>,
}

/// A class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// Its internal name.
    pub name: Sym,
    /// Its super class.
    pub super_class: Option<Sym>,
    /// Its interfaces.
    pub interfaces: Box<[Sym]>,
    /// Access flags.
    pub access: u16,
    /// The source file's name.
    pub source: Option<Box<str>>,
    /// Its fields.
    pub fields: Box<[Field]>,
    /// Its methods.
    pub methods: std::ops::Range<u32>,
    /// Whether findings in it are wanted; library classes only lend their summaries.
    pub wanted: bool,
    /// What annotations say.
    pub notes: ClassNotes,
    /// The classes that its code makes objects of.
    pub instantiates: Box<[Sym]>,
    /// The class file, kept if findings are wanted, for rules that follow values.
    pub bytes: Option<Box<[u8]>>,
}

/// A method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Method {
    /// Its class.
    pub class: ClassId,
    /// Its name and descriptor, `count()I`.
    pub selector: Sym,
    /// Access flags.
    pub access: u16,
    /// The text of `@GuardedBy`: a lock that callers hold.
    pub guard: Option<Box<str>>,
    /// Its code; none if it is abstract, native or could not be read.
    pub body: Option<Box<Body>>,
    /// What rules that look at one method found in it.
    pub local: Box<[LocalFact]>,
    /// The fields that its code assigns, each once.
    pub assigns: Box<[PairId]>,
    /// Whether it stores elements into arrays.
    pub stores_elements: bool,
    /// Its uses of the fields of its own object and class, in classes that lock anything.
    pub touches: Box<[Touch]>,
}

/// A use of a field of the method's own object or class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Touch {
    /// The field.
    pub field: PairId,
    /// Whether it is written.
    pub write: bool,
    /// Where.
    pub pc: u16,
    /// The locks held, in the words of the method.
    pub locks: Box<[ExprId]>,
}

/// Something noticed in one method alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalFact {
    /// What.
    pub kind: LocalKind,
    /// Where.
    pub pc: u16,
    /// Where it began: the check outside the lock, for double-checked locking.
    pub other: u16,
    /// The field concerned; for a notification, the last one assigned before it.
    pub field: Option<PairId>,
}

/// What can be noticed in one method alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LocalKind {
    /// A field tested, locked, tested again, and assigned.
    DoubleChecked,
    /// A wait that no loop surrounds.
    WaitOutsideLoop,
    /// A notification with no change of state under the lock.
    NakedNotify,
    /// An assignment to a field inside a block that locks the object in it.
    ReplacedInside,
    /// A field tested with no lock held, and later assigned under one.
    TestLockAssign,
    /// A call on a date format or calendar in a static field with no lock held.
    SharedFormat,
    /// A constructor that calls `start()`, which is the member here; the other position is that of a later assignment, or the same one.
    StartedInConstructor,
    /// A constructor that puts its object into a static field; the other position is that of a later assignment, or the same.
    PublishedInConstructor,
    /// A return with an explicit lock held that the method gives up on another way; the other position is the acquisition.
    LockLeft,
    /// A call that may throw with an explicit lock held and no handler that gives it up.
    LockLeftByException,
}

/// What was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Classes read.
    pub classes: usize,
    /// Of these, classes that findings are wanted for.
    pub wanted: usize,
    /// Classes that could not be read.
    pub failed: usize,
    /// Classes that were there twice.
    pub duplicates: usize,
    /// Classes that are named and were not there.
    pub missing: usize,
    /// Methods with code.
    pub methods: usize,
    /// Methods whose code could not be understood.
    pub failed_methods: usize,
    /// Source lines that have code.
    pub lines: usize,
    /// Calls that no method of the program answers: their class is missing, or they are reflective.
    pub unresolved: usize,
    /// Native methods, assumed to take no locks.
    pub native: usize,
    /// Calls to reflection, assumed to take no locks.
    pub reflective: usize,
    /// Acquisitions of a lock that the code does not name by fields, parameters or classes: the results of calls, for one.
    pub unnamed: usize,
    /// Methods of the classes that findings are wanted for, too large for rules that follow values.
    pub large: usize,
    /// Names of objects with more parts than are followed ([`crate::expr::MAX_PARTS`]).
    pub long: usize,
}

/// A program.
#[derive(Debug, Default)]
pub struct Program {
    /// Its names.
    pub symbols: Symbols,
    /// Its classes.
    pub classes: Vec<Class>,
    /// Its methods.
    pub methods: Vec<Method>,
    /// The classes by name.
    pub by_name: FxHashMap<Sym, ClassId>,
    /// The methods by class and selector.
    pub by_pair: FxHashMap<PairId, MethodId>,
    /// What was read.
    pub counts: Counts,
    /// The classes that could not be read, and why.
    pub problems: Vec<String>,
    /// What a library lends.
    pub lent: Lent,
    /// Says whether to stop: what is worked out from then on is not whole, and is thrown away.
    pub stop: Option<fn() -> bool>,
}

/// LOCKSHELD of the methods of a library, which come first in a program: worked out once, without the program.
#[derive(Debug, Default)]
pub struct Lent {
    /// How many methods are the library's.
    pub methods: u32,
    /// The expressions, `*` first.
    pub exprs: Vec<Node>,
    /// The sets of the methods that have one, in order.
    pub held: Vec<(MethodId, Vec<SummaryEntry<ExprId>>)>,
}

impl Lent {
    /// Whether a method is the library's.
    pub fn has(&self, method: MethodId) -> bool {
        method.0 < self.methods
    }
}

impl Program {
    /// Whether what is worked out is not wanted any more.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }

    /// A class.
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.0 as usize]
    }

    /// A method.
    pub fn method(&self, id: MethodId) -> &Method {
        &self.methods[id.0 as usize]
    }

    /// The class of a method.
    pub fn class_of(&self, id: MethodId) -> &Class {
        self.class(self.method(id).class)
    }

    /// The code of a method.
    pub fn body(&self, id: MethodId) -> Option<&Body> {
        self.method(id).body.as_deref()
    }

    /// Takes a class of a library away, because the program has one of the same name.
    pub(crate) fn forget(&mut self, id: ClassId) {
        let class = &mut self.classes[id.0 as usize];
        class.super_class = None;
        class.interfaces = Box::default();
        class.instantiates = Box::default();
        for number in class.methods.clone() {
            let method = &mut self.methods[number as usize];
            method.body = None;
            method.assigns = Box::default();
            if let Some(pair) = self.symbols.find_pair(class.name, method.selector) {
                self.by_pair.remove(&pair);
            }
        }
        self.by_name.remove(&class.name);
        self.counts.classes -= 1;
        self.counts.duplicates += 1;
    }

    /// All methods.
    pub fn method_ids(&self) -> impl Iterator<Item = MethodId> + use<> {
        (0..self.methods.len() as u32).map(MethodId)
    }

    /// Whether a method is a constructor or a class's initialiser.
    pub fn is_constructor(&self, id: MethodId) -> bool {
        self.symbols.bytes(self.method(id).selector).starts_with(b"<")
    }

    /// The class that declares a field, if it was read.
    pub fn field(&self, pair: PairId) -> Option<&Field> {
        let (mut class, member) = self.symbols.members(pair);
        for _ in 0..64 {
            let found = self.class(*self.by_name.get(&class)?);
            let field = found
                .fields
                .iter()
                .find(|field| self.symbols.members(field.pair).1 == member);
            if field.is_some() {
                return field;
            }
            class = found.super_class?;
        }
        None
    }

    /// `shop.Stock.count()I`
    pub fn method_text(&self, id: MethodId) -> String {
        format!(
            "{}.{}",
            self.symbols.class_text(self.class_of(id).name),
            self.symbols.text(self.method(id).selector)
        )
    }

    /// `Stock.count`, as people write it.
    pub fn method_name(&self, id: MethodId) -> String {
        let class = self.symbols.class_text(self.class_of(id).name);
        naming::method(&class, &self.symbols.member_name(self.method(id).selector))
    }

    /// `Stock.items`, as people write it.
    pub fn field_name(&self, pair: PairId) -> String {
        let (class, field) = self.symbols.members(pair);
        naming::field(&self.symbols.class_text(class), &self.symbols.member_name(field))
    }

    /// `shop.Stock.items`
    pub fn field_text(&self, pair: PairId) -> String {
        let (class, field) = self.symbols.members(pair);
        format!("{}.{}", self.symbols.class_text(class), self.symbols.member_name(field))
    }

    /// `shop.Stock.count (Stock.java:14)`
    pub fn place(&self, id: MethodId, line: u32) -> String {
        let class = self.class_of(id);
        let frame = naming::Frame {
            class: &self.symbols.class_text(class.name),
            method: &self.symbols.member_name(self.method(id).selector),
            file: class.source.as_deref().unwrap_or_default(),
            line,
        };
        frame.to_string()
    }
}
