//! Arrays and collections that one lock of their owner guards: the array or collection of a final field that the owner's
//! constructor makes, keeps in that field alone, and that only the owner's methods use, always under the same lock.
//!
//! The paper has owners for fields; an array or collection has none there, because its checker does not look into them. Here the
//! recorder does, and an owner of what a field holds is found by the same rule as that of the field. An object is *confined* to
//! its owner if
//!
//! - the constructor of the owner's class makes it, and no constructor lets its owner go before the end;
//! - nothing holds it but one final field of that class, which is accessed on `this` alone, so that each owner has its own;
//! - no parameter and no result of any method may mean it, and code outside does not know it. What a collection gives out
//!   (an iterator, a view) counts as the collection, so these are confined with it.
//!
//! Only methods of its owner then use a confined object, and their locks can be named relative to `this`: the object is guarded if one
//! of these is held at every use. If objects of a class are not distinguished by allocation site, no object is guarded.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bits::Bits;
use crate::collections::group;
use crate::flow::{FIRST, FlowPlace, NONE, RETURN};
use crate::locks::EntryLocks;
use crate::objects::{ObjectIx, ObjectKind};
use crate::points::Points;
use crate::sharing::{Sharing, keeps_this};
use crate::world::{FieldIx, MethodIx, World};
use ravel_classfile::access;
use ravel_scan::expr::{ExprId, Exprs, Node};

/// The guarded objects.
#[derive(Debug, Default)]
pub struct Guarded {
    objects: Bits,
}

impl Guarded {
    /// Looks for them.
    pub fn new(world: &World, points: &Points<'_>, sharing: &Sharing, locks: &EntryLocks) -> Guarded {
        let confined = confined(world, points, sharing);
        if confined.is_empty() {
            return Guarded::default();
        }
        let mut common: FxHashMap<u32, FxHashSet<ExprId>> = FxHashMap::default();
        let mut exprs = Exprs::default();
        let mut uses = |method: MethodIx, place: &FlowPlace, met: Bits| {
            if met.is_empty() || sharing.early.is(method, place.pc) {
                return;
            }
            let held = from_this(world, locks, method, place, &mut exprs);
            for object in met.iter().filter(|object| !makes(points, method, ObjectIx(*object))) {
                common
                    .entry(object)
                    .and_modify(|known| known.retain(|lock| held.contains(lock)))
                    .or_insert_with(|| held.clone());
            }
        };
        for method in world.method_ids() {
            let Some(flow) = &world.method(method).flow else {
                continue;
            };
            for access in flow.accesses.iter().filter(|access| access.field.is_none()) {
                uses(method, &access.place, points.of(method, access.base).and(&confined));
            }
            for call in &flow.calls {
                for (node, _) in call.args.iter().filter(|(node, _)| *node != NONE) {
                    uses(method, &call.place, points.of(method, *node).and(&confined));
                }
            }
        }
        let unguarded: Bits = common
            .iter()
            .filter(|(_, locks)| locks.is_empty())
            .map(|(object, _)| *object)
            .collect();
        Guarded {
            objects: confined.without(&unguarded),
        }
    }

    /// Whether an object is guarded.
    pub fn contains(&self, object: ObjectIx) -> bool {
        self.objects.contains(object.0)
    }

    /// All of them.
    pub fn objects(&self) -> &Bits {
        &self.objects
    }
}

/// Whether a method is the constructor that makes an object: no other code has it yet.
fn makes(points: &Points<'_>, method: MethodIx, object: ObjectIx) -> bool {
    let made = points.objects().all().get(object.0 as usize).and_then(|made| made.site);
    made.is_some_and(|(maker, _)| maker == method)
}

/// The locks held at a place that are `this` or a final path from it, or static.
fn from_this(
    world: &World,
    locks: &EntryLocks,
    method: MethodIx,
    place: &FlowPlace,
    to: &mut Exprs,
) -> FxHashSet<ExprId> {
    let Some(flow) = &world.method(method).flow else {
        return FxHashSet::default();
    };
    let (exprs, held) = locks.at(flow, method, place);
    held.into_iter()
        .filter(|lock| is_path(&exprs, *lock) || exprs.is_static(*lock))
        .map(|lock| exprs.copy_to(lock, to))
        .collect()
}

fn is_path(exprs: &Exprs, lock: ExprId) -> bool {
    match exprs.node(lock) {
        Node::This => true,
        Node::Field(base, _) => is_path(exprs, base),
        _ => false,
    }
}

/// The shared arrays and collections that are confined to their owners.
fn confined(world: &World, points: &Points<'_>, sharing: &Sharing) -> Bits {
    let mut confined = Bits::default();
    if points.is_by_class() || points.is_coarse() {
        return confined;
    }
    for (at, object) in points.objects().all().iter().enumerate() {
        let kept = match object.kind {
            ObjectKind::Array(_) => true,
            ObjectKind::Foreign(name) => group(world.symbols.bytes(name)).is_some(),
            _ => false,
        };
        let constructed = object.site.is_some_and(|(maker, _)| {
            let maker = world.method(maker);
            let keeps = maker.flow.as_ref().is_some_and(|flow| !flow.leaks_this);
            maker.name == "<init>" && keeps && keeps_this(world, maker.class)
        });
        if kept && constructed && sharing.is_shared(ObjectIx(at as u32)) {
            confined.insert(at as u32);
        }
    }
    if confined.is_empty() {
        return confined;
    }
    let mut roaming = points.outside().clone();
    for set in points.in_statics() {
        roaming.add(set);
    }
    for method in world.method_ids() {
        for parameter in 0..points.parameter_count(method) {
            roaming.add(points.of(method, FIRST + parameter));
        }
        roaming.add(points.of(method, RETURN));
        for node in world.method(method).flow.iter().flat_map(|flow| &flow.shown) {
            roaming.add(points.of(method, *node));
        }
    }
    let mut confined = confined.without(&roaming);
    let open = fields_of_others(world);
    let mut holders: FxHashMap<u32, FxHashSet<Option<FieldIx>>> = FxHashMap::default();
    for (field, set) in points.held_in() {
        for object in set.and(&confined).iter() {
            holders.entry(object).or_default().insert(field);
        }
    }
    let homeless: Bits = confined
        .iter()
        .filter(|object| {
            let maker = points.objects().all()[*object as usize].site;
            let mut fields = holders.get(object).into_iter().flatten();
            let own = match (fields.next(), fields.next()) {
                (Some(Some(field)), None) => {
                    let of_maker =
                        maker.is_some_and(|(maker, _)| world.method(maker).class == world.field(*field).class);
                    of_maker && !open.contains(field)
                }
                _ => false,
            };
            !own
        })
        .collect();
    confined = confined.without(&homeless);
    confined
}

/// The fields that do not keep an object to its owner: not final, static, reached by handles, or accessed on another object
/// than `this`.
fn fields_of_others(world: &World) -> FxHashSet<FieldIx> {
    let mut open: FxHashSet<FieldIx> = (0..world.fields.len() as u32)
        .map(FieldIx)
        .filter(|field| {
            let flags = world.field(*field).access;
            flags & access::FINAL == 0 || flags & access::STATIC != 0 || world.hidden_writes.contains(field)
        })
        .collect();
    for method in world.method_ids() {
        let Some(flow) = &world.method(method).flow else {
            continue;
        };
        for access in &flow.accesses {
            if let Some(field) = access.field
                && flow.exprs.node(access.base_expr) != Node::This
            {
                open.insert(field);
            }
        }
    }
    open
}
