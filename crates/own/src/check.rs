//! Checks every field and method against the rules: which fields are free of races and by which discipline, which accesses
//! need no recording, which methods are typed.

use ravel_classfile::access;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bits::Bits;
use crate::flow::{Access, Made};
use crate::guarded::Guarded;
use crate::hush::{Hush, Plain};
use crate::locks::{EntryLocks, tell};
use crate::objects::{ObjectIx, STRANGER};
use crate::points::{Caller, Points};
use crate::sharing::{Reach, Sharing, constructs, is_super, keeps_this};
use crate::world::{ClassIx, FieldIx, MethodIx, World};
use ravel_scan::expr::{ExprId, Exprs, Node, UNKNOWN};
use ravel_trace::naming;

/// Who protects a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Owner {
    /// Declared final: written once, by construction.
    Final,
    /// Declared volatile: accesses are synchronisation and never race.
    Volatile,
    /// No code accesses it.
    Unused,
    /// Every object it is accessed in stays with one thread.
    ThisThread,
    /// The same, but for objects that one thread has made for one other.
    Unique,
    /// Written by constructors (or the class's initialiser) alone.
    Readonly,
    /// This lock is held at every access: `this`, `this.lock`, `Stock.LOCK`, `Stock.class`.
    Lock(String),
}

impl Owner {
    /// As the plan has it.
    pub fn text(&self) -> String {
        match self {
            Owner::Final => "final".to_owned(),
            Owner::Volatile => "volatile".to_owned(),
            Owner::Unused => "unused".to_owned(),
            Owner::ThisThread => "thisThread".to_owned(),
            Owner::Unique => "unique".to_owned(),
            Owner::Readonly => "readonly".to_owned(),
            Owner::Lock(lock) if lock == "this" => "self".to_owned(),
            Owner::Lock(lock) => format!("lock {lock}"),
        }
    }
}

/// What was found of a field.
#[derive(Clone, Debug)]
pub struct FieldVerdict {
    /// The field.
    pub field: FieldIx,
    /// Its owner, if one was proven.
    pub owner: Option<Owner>,
    /// Why none was: the accesses that stand against it, for people.
    pub reasons: Vec<String>,
    /// Whether every access to it is left out of the recording.
    pub left_out: bool,
}

/// What may be left out of a method.
#[derive(Clone, Debug, Default)]
pub struct MethodVerdict {
    /// Positions that access only objects of the thread itself (and allocations of arrays of that kind).
    pub local: Vec<u16>,
    /// Positions that access only objects that no other thread has any more (and allocations of arrays of that kind).
    pub unique: Vec<u16>,
    /// Positions that access only objects that never change.
    pub unchanging: Vec<u16>,
    /// Positions of other accesses that cannot race, in objects none of whose accesses can (and allocations of such arrays).
    pub guarded: Vec<u16>,
    /// Positions of accesses that cannot race, in objects some of whose accesses may: all that they say is who has the object.
    pub touching: Vec<u16>,
    /// Only methods of the program call it.
    pub inner: bool,
    /// The hooks that become unnecessary if `local` and `unchanging` are left out.
    pub hush: Hush,
    /// The same if `guarded` is left out too.
    pub hush_for_races: Hush,
    /// Accesses to fields and elements in all.
    pub accesses: usize,
    /// Why the method is not typed; empty if it is.
    pub reasons: Vec<String>,
    /// The locks that all callers hold, for people.
    pub requires: Vec<String>,
}

/// What was found.
pub struct Checked {
    /// One for each field, in the order of the world.
    pub fields: Vec<FieldVerdict>,
    /// One for each method with code.
    pub methods: FxHashMap<MethodIx, MethodVerdict>,
}

pub(crate) struct Checker<'a> {
    pub(crate) world: &'a World,
    pub(crate) points: &'a Points<'a>,
    pub(crate) sharing: &'a Sharing,
    locks: &'a EntryLocks,
    guarded: &'a Guarded,
    pub(crate) plain: &'a Plain,
}

/// At most this many accesses are named as reasons.
const MAX_REASONS: usize = 5;

/// Checks a world.
pub fn check(
    world: &World,
    points: &Points<'_>,
    sharing: &Sharing,
    locks: &EntryLocks,
    guarded: &Guarded,
    plain: &Plain,
) -> Checked {
    let checker = Checker {
        guarded,
        plain,
        world,
        points,
        sharing,
        locks,
    };
    let mut accesses: FxHashMap<FieldIx, Vec<(MethodIx, &Access)>> = FxHashMap::default();
    for method in world.method_ids() {
        for access in world.method(method).flow.iter().flat_map(|flow| &flow.accesses) {
            if let Some(field) = access.field {
                accesses.entry(field).or_default().push((method, access));
            }
        }
    }
    let mut fields: Vec<FieldVerdict> = (0..world.fields.len() as u32)
        .map(FieldIx)
        .map(|field| checker.field(field, accesses.get(&field).map_or(&[], Vec::as_slice)))
        .collect();
    let whole = checker.whole(&fields);
    let mut methods = FxHashMap::default();
    for method in world.method_ids().filter(|method| world.method(*method).flow.is_some()) {
        methods.insert(method, checker.method(method, &fields, &whole));
    }
    for verdict in &mut fields {
        let all = accesses.get(&verdict.field).map_or(&[][..], Vec::as_slice);
        verdict.left_out = !all.is_empty()
            && all.iter().all(|(method, access)| {
                methods
                    .get(method)
                    .is_some_and(|found: &MethodVerdict| found.leaves_out(access.place.pc))
            });
    }
    checker.quiet(&mut methods, false);
    checker.quiet(&mut methods, true);
    Checked { fields, methods }
}

impl MethodVerdict {
    /// Whether an access is left out.
    pub fn leaves_out(&self, pc: u16) -> bool {
        self.local.contains(&pc) || self.unique.contains(&pc) || self.unchanging.contains(&pc)
    }

    /// The same in recordings for races alone, if that is what is asked for.
    pub(crate) fn leaves_out_in(&self, pc: u16, for_races: bool) -> bool {
        self.leaves_out(pc) || for_races && self.guarded.contains(&pc)
    }
}

impl Checker<'_> {
    fn field(&self, field: FieldIx, accesses: &[(MethodIx, &Access)]) -> FieldVerdict {
        let found = self.world.field(field);
        let mut reasons = Vec::new();
        let owner = if found.access & access::FINAL != 0 {
            Some(Owner::Final)
        } else if found.access & access::VOLATILE != 0 {
            Some(Owner::Volatile)
        } else if self.world.hidden_writes.contains(&field) {
            let how = match self.world.reflection.lists_all() {
                true => "the program enumerates the fields of classes, and writes fields by handles or reflection",
                false => "the program writes fields of that name by handles or reflection",
            };
            reasons.push(how.to_owned());
            None
        } else if accesses.is_empty() {
            Some(Owner::Unused)
        } else {
            self.plain_field(field, accesses, &mut reasons)
        };
        FieldVerdict {
            field,
            owner,
            reasons,
            left_out: false,
        }
    }

    fn plain_field(
        &self,
        field: FieldIx,
        accesses: &[(MethodIx, &Access)],
        reasons: &mut Vec<String>,
    ) -> Option<Owner> {
        let class = self.world.field(field).class;
        let constructed = |(method, access): &(MethodIx, &Access)| {
            constructs(self.world, *method, access) && (access.is_static || keeps_this(self.world, class))
        };
        let reach =
            |(method, access): &(MethodIx, &Access)| self.sharing.reach(self.world, self.points, *method, access);
        let is_static = accesses.iter().any(|(_, access)| access.is_static);
        if !is_static && accesses.iter().all(|access| reach(access) == Reach::Local) {
            return Some(Owner::ThisThread);
        }
        if !is_static && accesses.iter().all(|access| reach(access) <= Reach::Unique) {
            return Some(Owner::Unique);
        }
        let open: Vec<&(MethodIx, &Access)> = accesses
            .iter()
            .filter(|access| !self.sharing.early.is(access.0, access.1.place.pc))
            .filter(|access| !constructed(access) && (is_static || reach(access) > Reach::Unique))
            .collect();
        if !open.iter().any(|(_, access)| access.write) {
            return Some(Owner::Readonly);
        }
        let mut exprs = Exprs::default();
        let held: Vec<FxHashSet<ExprId>> = open
            .iter()
            .map(|(method, access)| self.held(*method, access, &mut exprs))
            .collect();
        let common = held
            .iter()
            .skip(1)
            .fold(held.first().cloned().unwrap_or_default(), |common, held| {
                common.intersection(held).copied().collect()
            });
        let name = |lock: ExprId| self.lock_text(&exprs, lock);
        let mut names: Vec<String> = common.iter().map(|lock| name(*lock)).collect();
        names.sort_by_key(|name| (name.len(), name.clone()));
        if let Some(lock) = names.into_iter().next() {
            return Some(Owner::Lock(lock));
        }
        let mut counts: FxHashMap<ExprId, usize> = FxHashMap::default();
        for lock in held.iter().flatten() {
            *counts.entry(*lock).or_default() += 1;
        }
        let usual = counts
            .into_iter()
            .max_by_key(|(lock, count)| (*count, std::cmp::Reverse(lock.0)));
        for ((method, access), held) in open.iter().zip(&held) {
            let without = usual.is_none_or(|(lock, _)| !held.contains(&lock));
            if without && reasons.len() < MAX_REASONS {
                let what = if access.write { "written" } else { "read" };
                let lock = match usual {
                    Some((lock, count)) => format!("without {} (held at {count} of {})", name(lock), open.len()),
                    None => "without a lock".to_owned(),
                };
                reasons.push(format!("{what} {lock} in {}", self.place(*method, access.place.pc)));
            }
        }
        None
    }

    /// The locks held at an access that mean the same for every access: from the object itself, or static.
    fn held(&self, method: MethodIx, access: &Access, to: &mut Exprs) -> FxHashSet<ExprId> {
        let Some(flow) = &self.world.method(method).flow else {
            return FxHashSet::default();
        };
        let (exprs, held) = self.locks.at(flow, method, &access.place);
        let mut locks = FxHashSet::default();
        for lock in held {
            if access.base_expr != UNKNOWN && !access.is_static {
                let told = tell(&exprs, lock, access.base_expr, Node::This, to);
                locks.insert(told);
            }
            if exprs.is_static(lock) {
                locks.insert(exprs.copy_to(lock, to));
            }
        }
        locks.remove(&UNKNOWN);
        locks
    }

    fn lock_text(&self, exprs: &Exprs, lock: ExprId) -> String {
        let simple = |text: String| naming::class(&text);
        match exprs.node(lock) {
            Node::This => "this".to_owned(),
            Node::Param(index) => format!("parameter {}", index + 1),
            Node::Class(class) => format!("{}.class", simple(self.world.symbols.class_text(class))),
            Node::Static(pair) => {
                let field = FieldIx(pair.0);
                let class = simple(self.world.class_text(self.world.field(field).class));
                format!(
                    "{class}.{}",
                    self.world.symbols.member_name(self.world.field(field).member)
                )
            }
            Node::Field(base, pair) => format!(
                "{}.{}",
                self.lock_text(exprs, base),
                self.world.symbols.member_name(self.world.field(FieldIx(pair.0)).member)
            ),
            _ => "*".to_owned(),
        }
    }

    /// `shop.Stock.take (Stock.java:14)`
    fn place(&self, method: MethodIx, pc: u16) -> String {
        let found = self.world.method(method);
        let class = self.world.class(found.class);
        let line = found.flow.as_ref().map_or(0, |flow| flow.line(pc));
        let name = format!("{}.{}", self.world.symbols.class_text(class.name), found.name);
        match line {
            0 => name,
            line => format!("{name} ({}:{line})", class.source),
        }
    }

    /// The classes whose objects have no access that may race: the first access of a second thread makes the recorder record
    /// all fields of an object, so as long as one field must be recorded, all must.
    fn whole(&self, fields: &[FieldVerdict]) -> Vec<bool> {
        let world = self.world;
        let clean = |class: ClassIx| {
            let found = world.class(class);
            let fields = found
                .fields
                .values()
                .map(|field| (world.field(*field), &fields[field.0 as usize]));
            let owned = |(field, verdict): (&crate::world::OwnField, &FieldVerdict)| {
                field.access & access::STATIC != 0 || !matches!(verdict.owner, None | Some(Owner::Volatile))
            };
            // Code that was not analysed accesses the fields that the JDK declares above.
            let parents = world.outside_parents(found.name);
            let mut above = parents
                .into_iter()
                .filter(|parent| is_super(world, found.name, *parent));
            let known = |parent: &[u8]| {
                matches!(
                    parent,
                    b"java/lang/Object" | b"java/lang/Thread" | b"java/lang/Enum" | b"java/lang/Record"
                )
            };
            fields.into_iter().all(owned) && above.all(|parent| known(world.symbols.bytes(parent)))
        };
        let clean: Vec<bool> = (0..world.classes.len() as u32).map(|at| clean(ClassIx(at))).collect();
        let is_whole = |class: ClassIx| {
            world.below(world.class(class).name).into_iter().all(|below| {
                let above = world.ancestors(world.class(below).name);
                above.into_iter().all(|class| clean[class.0 as usize])
            })
        };
        (0..world.classes.len() as u32)
            .map(|at| is_whole(ClassIx(at)))
            .collect()
    }

    /// Whether every array that an access meets is the thread's own, does not change, or is guarded.
    fn meets_guarded(&self, method: MethodIx, access: &Access) -> bool {
        let arrays = self.sharing.arrays_met(self.points, method, access);
        !arrays.is_empty() && self.is_kept(&arrays)
    }

    fn is_kept(&self, arrays: &Bits) -> bool {
        arrays.iter().map(ObjectIx).all(|array| {
            let open = self.sharing.is_shared(array) && self.sharing.changes(array);
            array != STRANGER && (!open || self.guarded.contains(array))
        })
    }

    fn method(&self, method: MethodIx, fields: &[FieldVerdict], whole: &[bool]) -> MethodVerdict {
        let world = self.world;
        let mut verdict = MethodVerdict::default();
        let Some(flow) = &world.method(method).flow else {
            return verdict;
        };
        verdict.accesses = flow.accesses.len();
        for access in &flow.accesses {
            let pc = access.place.pc;
            if let Some(field) = access.field.filter(|_| access.is_static) {
                let flags = world.field(field).access;
                let owner = fields[field.0 as usize].owner.as_ref();
                match owner {
                    Some(Owner::Readonly | Owner::Unused) if flags & access::VOLATILE == 0 => {
                        verdict.unchanging.push(pc)
                    }
                    Some(Owner::Volatile | Owner::Final) => {}
                    Some(_) => verdict.guarded.push(pc),
                    None => self.untyped(&mut verdict, method, access),
                }
                continue;
            }
            match self.sharing.reach(world, self.points, method, access) {
                Reach::Local => verdict.local.push(pc),
                Reach::Unique => verdict.unique.push(pc),
                Reach::Unchanging => verdict.unchanging.push(pc),
                Reach::Shared => match access.field {
                    Some(field) if fields[field.0 as usize].owner.is_some() => {
                        if whole[world.field(field).class.0 as usize] {
                            verdict.guarded.push(pc);
                        } else if fields[field.0 as usize].owner != Some(Owner::Volatile) {
                            verdict.touching.push(pc);
                        }
                    }
                    None if self.meets_guarded(method, access) => verdict.guarded.push(pc),
                    _ => self.untyped(&mut verdict, method, access),
                },
            }
        }
        for made in &flow.allocations {
            let made_here = self.points.made_at(method, made.pc);
            if !is_array(made.made) {
                continue;
            }
            if made_here.iter().all(|object| !self.sharing.is_shared(*object)) {
                let unique = made_here.iter().any(|object| self.sharing.is_unique(*object));
                let places = if unique {
                    &mut verdict.unique
                } else {
                    &mut verdict.local
                };
                places.push(made.pc);
            } else if made_here.iter().all(|object| self.guarded.contains(*object)) {
                verdict.guarded.push(made.pc);
            }
        }
        verdict.local.sort_unstable();
        verdict.unique.sort_unstable();
        verdict.unchanging.sort_unstable();
        verdict.guarded.sort_unstable();
        verdict.touching.sort_unstable();
        verdict.inner = self.is_inner(method);
        let locks = self.locks.entry(method);
        verdict.requires = locks
            .iter()
            .map(|lock| self.lock_text(&self.locks.exprs, *lock))
            .collect();
        verdict.requires.sort();
        verdict
    }

    /// Whether code outside never calls a method. Its own lock is taken by a hook at its entry.
    fn is_inner(&self, method: MethodIx) -> bool {
        let found = self.world.method(method);
        let callers = self.points.callers.get(&method);
        found.access & access::SYNCHRONIZED == 0
            && found.name != "<clinit>"
            && callers.is_some_and(|callers| !callers.contains(&Caller::Outside))
    }

    fn untyped(&self, verdict: &mut MethodVerdict, method: MethodIx, access: &Access) {
        if verdict.reasons.len() < MAX_REASONS {
            let what = match access.field {
                Some(field) => self.world.field_text(field),
                None => "an element of an array that may be shared".to_owned(),
            };
            let line = self
                .world
                .method(method)
                .flow
                .as_ref()
                .map_or(0, |flow| flow.line(access.place.pc));
            verdict.reasons.push(format!("line {line}: {what}"));
        }
    }
}

pub(crate) fn is_array(made: Made) -> bool {
    matches!(made, Made::Array(_) | Made::DeepArray(..))
}
