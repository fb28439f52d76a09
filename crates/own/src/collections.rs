//! Collections that need no recording at all: every object of the program of such a class stays with one thread, or is only
//! looked at once a second thread can have it.
//!
//! The recorder rewrites the collections of `java.util` themselves, so it leaves out a whole class, for all callers. The question is
//! decided for groups of classes that call one another ([`GROUPS`]). A group is *plain* unless a call may meet an object of it that
//! several threads share and that may change then:
//!
//! - calls on it after threads may have been started are of methods that only read (the views that maps make when first
//!   asked count as changes, because the map remembers them);
//! - it is not given to code outside, but for being kept in another collection;
//! - no class of the program extends one of the group, and no call on something that may be a collection meets an object
//!   of unknown origin.

use std::collections::BTreeSet;

use crate::bits::Bits;
use crate::objects::{ObjectIx, ObjectKind, STRANGER};
use crate::outside::{is_tame, only_keeps, stores};
use crate::points::Points;
use crate::sharing::Sharing;
use crate::world::World;

/// Classes of `java.util` that share code or objects. Those that lock are not among them: their locks are recorded whatever is
/// proven.
pub const GROUPS: [&[&str]; 8] = [
    &["ArrayList"],
    &["ArrayDeque"],
    &["LinkedList"],
    &["PriorityQueue"],
    &["HashMap", "HashSet", "LinkedHashMap", "LinkedHashSet"],
    &["TreeMap", "TreeSet"],
    &["IdentityHashMap"],
    &["BitSet"],
];

/// The plain classes, by internal name; `kept` are objects that may change and need no recording all the same.
pub fn plain(world: &World, points: &Points<'_>, sharing: &Sharing, kept: &Bits) -> BTreeSet<String> {
    let mut spoilt: Vec<bool> = vec![false; GROUPS.len()];
    for at in 0..world.classes.len() as u32 {
        for parent in points.objects().outside_parents(crate::world::ClassIx(at)) {
            if let Some(group) = group(world.symbols.bytes(*parent)) {
                spoilt[group] = true;
            }
        }
    }
    let changed = match changed(world, points, sharing) {
        Some(changed) => changed,
        None => return BTreeSet::new(),
    };
    for (at, object) in points.objects().all().iter().enumerate() {
        let object_ix = ObjectIx(at as u32);
        if let ObjectKind::Foreign(name) = object.kind
            && sharing.is_shared(object_ix)
            && changed.contains(object_ix.0)
            && !kept.contains(object_ix.0)
            && let Some(group) = group(world.symbols.bytes(name))
        {
            spoilt[group] = true;
        }
    }
    let groups = GROUPS.iter().zip(spoilt).filter(|(_, spoilt)| !spoilt);
    groups
        .flat_map(|(group, _)| group.iter())
        .map(|name| format!("java/util/{name}"))
        .collect()
}

/// The group of a class, or of a class inside one.
pub fn group(name: &[u8]) -> Option<usize> {
    let simple = name.strip_prefix(b"java/util/")?;
    let outer = simple.split(|byte| *byte == b'$').next()?;
    GROUPS
        .iter()
        .position(|group| group.iter().any(|known| known.as_bytes() == outer))
}

/// The objects that may change when they are shared; none if a call may be on an unknown collection.
fn changed(world: &World, points: &Points<'_>, sharing: &Sharing) -> Option<Bits> {
    let mut changed = points.outside().clone();
    for method in world.method_ids() {
        for node in world.method(method).flow.iter().flat_map(|flow| &flow.shown) {
            changed.add(points.of(method, *node));
        }
    }
    for (method, at) in &points.calls_outside {
        let flow = world.method(*method).flow.as_ref();
        let call = flow.and_then(|flow| flow.calls.get(*at as usize))?;
        let (class, selector) = (world.symbols.bytes(call.class), world.symbols.bytes(call.selector));
        let receives = usize::from(call.opcode != ravel_classfile::op::INVOKESTATIC);
        if receives == 1 {
            let objects = points.of(*method, call.args[0].0);
            let collection =
                class.starts_with(b"java/util/") && is_tame(class, b"add(") || class == b"java/lang/Iterable";
            if collection && (objects.is_empty() || objects.contains(STRANGER.0)) {
                return None;
            }
            if !sharing.early.is(*method, call.place.pc) {
                for object in objects
                    .iter()
                    .filter(|object| !looks(world, points, ObjectIx(*object), selector))
                {
                    changed.insert(object);
                }
            }
        }
        let kept = only_keeps(class) && stores(selector);
        for (node, _) in call.args.iter().skip(receives).filter(|_| !kept) {
            changed.add(points.of(*method, *node));
        }
    }
    Some(changed)
}

/// Whether a method of a collection only looks at it. What maps and sets make when first asked for it, and then keep, is a
/// change, and so is a look at a map that orders its entries by use.
fn looks(world: &World, points: &Points<'_>, object: ObjectIx, selector: &[u8]) -> bool {
    let name = selector.split(|byte| *byte == b'(').next().unwrap_or_default();
    let ObjectKind::Foreign(class) = points.kind(object) else {
        return false;
    };
    let class = world.symbols.bytes(class);
    let any = matches!(
        name,
        b"size" | b"isEmpty" | b"hasNext" | b"next" | b"contains" | b"containsKey" | b"getKey" | b"getValue" | b"peek"
    );
    match class.strip_prefix(b"java/util/") {
        Some(b"ArrayList" | b"ArrayDeque" | b"LinkedList" | b"PriorityQueue" | b"BitSet") => {
            any || matches!(
                name,
                b"get"
                    | b"iterator"
                    | b"indexOf"
                    | b"lastIndexOf"
                    | b"getFirst"
                    | b"getLast"
                    | b"peekFirst"
                    | b"peekLast"
                    | b"element"
                    | b"elementAt"
                    | b"firstElement"
                    | b"lastElement"
                    | b"length"
                    | b"cardinality"
                    | b"nextSetBit"
            )
        }
        Some(b"HashMap" | b"TreeMap" | b"IdentityHashMap") => any || matches!(name, b"get" | b"getOrDefault"),
        Some(b"HashSet" | b"TreeSet" | b"LinkedHashSet") => any,
        _ => false,
    }
}
