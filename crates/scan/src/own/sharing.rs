//! Which objects more than one thread may reach, and which never change once they can be reached.
//!
//! An object that neither a static field nor code outside nor anything they hold leads to stays with the thread that made it:
//! threads are started by code outside, and get what they work on from it, from static fields, and from there on. An object
//! whose class finalises it is the finaliser's as well.
//!
//! An object never changes if all its fields are written by its own constructors alone, on `this`, and no constructor on the
//! way lets `this` go before the end. Nobody else can have it by then.

use ravel_classfile::access;
use rustc_hash::FxHashSet;

use super::flow::Access;
use super::points::{Bits, ObjectIx, ObjectKind, Points};
use super::world::{ClassIx, FieldIx, MethodIx, World};
use crate::expr::Node;

/// What is known of objects.
pub struct Sharing {
    /// The objects that several threads may reach.
    shared: Bits,
    /// The objects that change after their construction.
    changing: Bits,
    /// Fields that handles, updaters or reflection may write.
    pub hidden_writes: FxHashSet<FieldIx>,
}

/// What an access may meet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reach {
    /// Only objects of the thread itself.
    Local,
    /// Only objects of the thread itself and objects that never change.
    Unchanging,
    /// Objects that others may change, or nobody knows which.
    Shared,
}

impl Sharing {
    /// Looks at all objects.
    pub fn new(world: &World, points: &Points<'_>) -> Sharing {
        let mut sharing = Sharing {
            shared: shared(world, points),
            changing: Bits::default(),
            hidden_writes: FxHashSet::default(),
        };
        if world.reflective_fields {
            for at in 0..world.fields.len() as u32 {
                let name = world.symbols.member_name(world.field(FieldIx(at)).member);
                if world.strings.contains(name.as_bytes()) {
                    sharing.hidden_writes.insert(FieldIx(at));
                }
            }
        }
        sharing.changing = changing(world, points, &sharing.hidden_writes);
        sharing
    }

    /// Whether several threads may reach an object.
    pub fn is_shared(&self, object: ObjectIx) -> bool {
        self.shared.contains(object.0)
    }

    /// What an access may meet.
    pub fn reach(&self, world: &World, points: &Points<'_>, method: MethodIx, access: &Access) -> Reach {
        let mut reach = Reach::Local;
        let mut any = false;
        for object in points.of(method, access.base).iter() {
            let kind = points.objects[object as usize].kind;
            let meant = match (kind, access.field) {
                (ObjectKind::Stranger, _) => return Reach::Shared,
                (_, Some(field)) => {
                    let class = world.class(world.field(field).class).name;
                    matches!(kind, ObjectKind::Own(_)) && points.may_be(kind, class)
                }
                (ObjectKind::Array, None) => true,
                _ => false,
            };
            if !meant {
                continue;
            }
            any = true;
            if self.shared.contains(object) {
                if access.field.is_none() || self.changing.contains(object) {
                    return Reach::Shared;
                }
                reach = Reach::Unchanging;
            }
        }
        if any { reach } else { Reach::Shared }
    }
}

fn shared(world: &World, points: &Points<'_>) -> Bits {
    let mut shared = Bits::default();
    let mut pending: Vec<u32> = points.outside().iter().collect();
    for set in points.in_statics() {
        pending.extend(set.iter());
    }
    for (at, object) in points.objects.iter().enumerate() {
        if let ObjectKind::Own(class) = object.kind
            && finalises(world, class)
        {
            pending.push(at as u32);
        }
    }
    let mut held: Vec<Vec<&Bits>> = vec![Vec::new(); points.objects.len()];
    for (object, set) in points.held_by() {
        held[object.0 as usize].push(set);
    }
    while let Some(object) = pending.pop() {
        if !shared.insert(object) {
            continue;
        }
        for set in &held[object as usize] {
            pending.extend(set.iter());
        }
        // What a lambda has captured is reached through it.
        if let ObjectKind::Lambda(method, at) = points.objects[object as usize].kind
            && let Some(flow) = &world.method(method).flow
            && let Some(lambda) = flow.lambdas.get(at as usize)
        {
            for node in &lambda.captured {
                pending.extend(points.of(method, *node).iter());
            }
        }
    }
    shared
}

fn finalises(world: &World, class: ClassIx) -> bool {
    let name = world.class(class).name;
    world
        .symbols
        .find(b"finalize()V")
        .and_then(|selector| world.resolve_method(name, selector))
        .is_some()
}

/// Whether an access writes a field of the object under construction, whose constructor keeps it to itself.
pub fn constructs(world: &World, method: MethodIx, access: &Access) -> bool {
    let found = world.method(method);
    let Some(flow) = &found.flow else { return false };
    match access.field {
        Some(field) if access.is_static => found.name == "<clinit>" && world.field(field).class == found.class,
        Some(_) => found.name == "<init>" && flow.exprs.node(access.base_expr) == Node::This && !flow.leaks_this,
        None => false,
    }
}

/// Whether every constructor of a class and of those above it keeps `this` to itself.
pub fn keeps_this(world: &World, class: ClassIx) -> bool {
    let name = world.class(class).name;
    let outside = world.outside_parents(name).into_iter().all(|parent| {
        let bytes = world.symbols.bytes(parent);
        // Interfaces have no constructors; these super classes do nothing in theirs.
        matches!(bytes, b"java/lang/Enum" | b"java/lang/Record") || !is_super(world, name, parent)
    });
    outside
        && world.ancestors(name).into_iter().all(|class| {
            world.class(class).methods.values().all(|method| {
                let found = world.method(*method);
                found.name != "<init>" || found.flow.as_ref().is_some_and(|flow| !flow.leaks_this)
            })
        })
}

/// Whether an outside class is a super class, not an interface, of a class of the world.
fn is_super(world: &World, class: crate::symbols::Sym, parent: crate::symbols::Sym) -> bool {
    world
        .ancestors(class)
        .into_iter()
        .any(|class| world.class(class).super_class == Some(parent))
}

fn changing(world: &World, points: &Points<'_>, hidden: &FxHashSet<FieldIx>) -> Bits {
    let mut changing = Bits::default();
    changing.insert(super::points::STRANGER.0);
    for (at, object) in points.objects.iter().enumerate() {
        if let ObjectKind::Own(class) = object.kind {
            let has_special = world.ancestors(world.class(class).name).into_iter().any(|class| {
                world
                    .class(class)
                    .fields
                    .values()
                    .any(|field| world.field(*field).access & access::VOLATILE != 0 || hidden.contains(field))
            });
            if has_special || !keeps_this(world, class) {
                changing.insert(at as u32);
            }
        }
    }
    for method in world.method_ids() {
        let Some(flow) = &world.method(method).flow else {
            continue;
        };
        for access in flow.accesses.iter().filter(|access| access.write && !access.is_static) {
            let Some(field) = access.field else { continue };
            if constructs(world, method, access) {
                continue;
            }
            let class = world.class(world.field(field).class).name;
            for object in points.of(method, access.base).iter() {
                let kind = points.objects[object as usize].kind;
                if matches!(kind, ObjectKind::Own(_)) && points.may_be(kind, class) {
                    changing.insert(object);
                }
                if kind == ObjectKind::Stranger {
                    // Any object of the class may have come back from outside.
                    for (at, other) in points.objects.iter().enumerate() {
                        if matches!(other.kind, ObjectKind::Own(_)) && points.may_be(other.kind, class) {
                            changing.insert(at as u32);
                        }
                    }
                }
            }
            if points.of(method, access.base).is_empty() {
                for (at, other) in points.objects.iter().enumerate() {
                    if matches!(other.kind, ObjectKind::Own(_)) && points.may_be(other.kind, class) {
                        changing.insert(at as u32);
                    }
                }
            }
        }
    }
    changing
}
