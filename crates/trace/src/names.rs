//! What the ids stand for: the tables that make a trace readable without the program.

use rustc_hash::FxHashMap;

use crate::ids::{ClassId, FieldId, LocationId, LockId, MethodId, ObjectId, SiteId, SyncId, ThreadId};

/// All tables of one trace. Classes, methods, fields, sites and threads come from the file; locations, locks and
/// synchronisation objects grow as events are read.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Indexed by [`ClassId`].
    pub classes: Vec<Class>,
    /// Indexed by [`MethodId`].
    pub methods: Vec<Method>,
    /// Indexed by [`FieldId`].
    pub fields: Vec<Field>,
    /// Indexed by [`SiteId`]; entry 0 is the unknown site.
    pub sites: Vec<Site>,
    /// Indexed by [`ThreadId`].
    pub threads: Vec<Thread>,
    /// Indexed by [`LocationId`].
    pub locations: Vec<Location>,
    /// Indexed by [`LockId`].
    pub locks: Vec<Lock>,
    /// Indexed by [`SyncId`].
    pub syncs: Vec<Sync>,
    /// What an access of a forced run read or wrote, or a method returned, in words, where its event has no more than a digest; at the site
    /// of a call of a map the key that it was given, empty if that has no words.
    pub values: FxHashMap<(ThreadId, u32, SiteId), String>,
    /// The keys of [`Location::Entry`] in words, as far as a forced run told them.
    pub keys: FxHashMap<u32, String>,
}

/// A class of the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Class {
    /// Dotted binary name, `shop.Stock$1`.
    pub name: String,
    /// Dotted name of the superclass, empty for `java.lang.Object` and interfaces.
    pub superclass: String,
    /// `SourceFile`, empty if the class has none.
    pub file: String,
    /// Access flags of the class file.
    pub flags: u16,
    /// Annotations that matter to Ravel, as `SimpleName` or `SimpleName(value)`.
    pub annotations: Vec<String>,
}

/// A method of a class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Method {
    /// The class that declares it.
    pub class: ClassId,
    /// Its name, `<init>` and `<clinit>` included.
    pub name: String,
    /// Its descriptor, `(I)Z`.
    pub descriptor: String,
    /// Access flags of the class file.
    pub flags: u16,
    /// Annotations that matter to Ravel, as `SimpleName` or `SimpleName(value)`.
    pub annotations: Vec<String>,
}

/// A field, or the state of a modelled object, which is treated as a field of its class (name `state`, `entry`, …).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Field {
    /// The class that declares it.
    pub class: ClassId,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Access flags of the class file. `ACC_VOLATILE` (0x40) is set for modelled state as well.
    pub flags: u16,
    /// Annotations that matter to Ravel, as `SimpleName` or `SimpleName(value)`.
    pub annotations: Vec<String>,
}

/// A place in code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// The method it is in.
    pub method: MethodId,
    /// Bytecode index in the class file as the compiler made it.
    pub bci: u32,
    /// Source line, 0 if unknown.
    pub line: u32,
    /// What happens there.
    pub what: SiteKind,
}

/// What happens at a site.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum SiteKind {
    /// Nothing is known of it.
    #[default]
    Unknown,
    /// A field is read or written.
    Field(FieldId),
    /// A field is read right before a fence that orders the read, or written right after one that orders the write.
    Fenced(FieldId),
    /// An array element is read or written; the array's descriptor (`[I`) if known, else `[`.
    Element(String),
    /// A monitor is entered or left, a lock taken or given up.
    Lock,
    /// A method is called: dotted class and name, `java.util.List.add`.
    Call(String),
    /// The method itself: its entry or its end.
    Method,
}

impl SiteKind {
    /// The field that is read or written there by an instruction.
    pub fn field(&self) -> Option<FieldId> {
        match self {
            SiteKind::Field(field) | SiteKind::Fenced(field) => Some(*field),
            _ => None,
        }
    }
}

/// The call that tells whether what an optimistic read has read is good.
pub const VALIDATE: &str = "java.util.concurrent.locks.StampedLock.validate";
/// The same call where the program throws its result away.
pub const VALIDATE_UNHEEDED: &str = "java.util.concurrent.locks.StampedLock.validate (result unused)";

/// A thread of the recorded run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thread {
    /// Its Java name when it began (names may repeat; Ravel shows `name` or, where repeated, `name#2`).
    pub name: String,
    /// Who started it; none for the first thread and threads of the JVM.
    pub parent: Option<ThreadId>,
    /// How many threads the parent had started before it.
    pub spawn_index: u32,
    /// Whether it is a daemon.
    pub daemon: bool,
    /// Whether it is a virtual thread.
    pub virtual_thread: bool,
    /// The class of the uncaught exception, dotted, with its message; empty if it ended normally.
    pub exception: String,
}

/// A memory cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Location {
    /// A field of an object, or the state of a modelled object.
    Field(ObjectId, FieldId),
    /// The part of a modelled object's state that one key names (a map's entry); the second number tells keys apart.
    Entry(ObjectId, FieldId, u32),
    /// A static field.
    Static(FieldId),
    /// An element of an array.
    Element(ObjectId, u32),
    /// A variable of an imported trace; the field carries its name.
    Named(FieldId),
}

/// A lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lock {
    /// The object that is locked.
    pub object: ObjectId,
    /// Its class or, in an imported trace, its name.
    pub name: String,
}

/// The object of a synchronisation that is no lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sync {
    /// The object.
    pub object: ObjectId,
    /// Its class or what it is (`java.util.concurrent.CountDownLatch`, `task`, `interrupt`).
    pub name: String,
}

/// `ACC_STATIC`, `ACC_FINAL`, … as far as the analyses ask for them.
pub mod flags {
    /// Private to its class.
    pub const PRIVATE: u16 = 0x0002;
    /// Belongs to the class, not to an instance.
    pub const STATIC: u16 = 0x0008;
    /// Never written after initialisation.
    pub const FINAL: u16 = 0x0010;
    /// A `synchronized` method.
    pub const SYNCHRONIZED: u16 = 0x0020;
    /// A volatile field.
    pub const VOLATILE: u16 = 0x0040;
    /// Made by a compiler, in no source file.
    pub const SYNTHETIC: u16 = 0x1000;
    /// A variable of an imported trace, which belongs to no object: [`Location::Named`](super::Location::Named). No
    /// class file has this flag on a field.
    pub const NAMED: u16 = 0x8000;
}

impl Names {
    /// The field of a location; none for array elements.
    pub fn field_of(&self, location: LocationId) -> Option<FieldId> {
        match self.locations[location.index()] {
            Location::Field(_, field)
            | Location::Entry(_, field, _)
            | Location::Static(field)
            | Location::Named(field) => Some(field),
            Location::Element(..) => None,
        }
    }

    /// Whether accesses to a location are themselves synchronisation (volatile fields, atomics, modelled state):
    /// they never race, and a read comes after the write that it saw.
    pub fn is_synchronizing(&self, location: LocationId) -> bool {
        self.field_of(location)
            .is_some_and(|f| self.fields[f.index()].flags & flags::VOLATILE != 0)
    }

    /// Whether a location is what a program may ask of a lock: that it is held, or how many permits are left. Every use of the lock changes
    /// it.
    pub fn is_lock_state(&self, location: LocationId) -> bool {
        let Some(field) = self.field_of(location).map(|field| self.field(field)) else {
            return false;
        };
        let is_modelled = field.flags & flags::SYNTHETIC != 0 && matches!(field.name.as_str(), "held" | "permits");
        is_modelled
            && self.classes[field.class.index()]
                .name
                .starts_with("java.util.concurrent.")
    }

    /// A site's table entry.
    pub fn site(&self, site: SiteId) -> &Site {
        &self.sites[site.index()]
    }

    /// A thread's table entry.
    pub fn thread(&self, thread: ThreadId) -> &Thread {
        &self.threads[thread.index()]
    }

    /// A lock's table entry.
    pub fn lock(&self, lock: LockId) -> &Lock {
        &self.locks[lock.index()]
    }

    /// A synchronisation object's table entry.
    pub fn sync(&self, sync: SyncId) -> &Sync {
        &self.syncs[sync.index()]
    }

    /// A method's table entry.
    pub fn method(&self, method: MethodId) -> &Method {
        &self.methods[method.index()]
    }

    /// A class's table entry.
    pub fn class(&self, class: ClassId) -> &Class {
        &self.classes[class.index()]
    }

    /// A field's table entry.
    pub fn field(&self, field: FieldId) -> &Field {
        &self.fields[field.index()]
    }
}
