//! Which objects more than one thread may reach, and which never change once they can be reached.
//!
//! An object that neither a static field nor code outside nor anything they hold leads to stays with the thread that made it:
//! threads are started by code outside, and get what they work on from it, from static fields, and from there on. An object
//! whose class finalises it is the finaliser's as well. An object that goes from one thread to one other for good
//! ([`unique`](crate::unique)) is not shared either.
//!
//! An object never changes if all its fields are written by its own constructors alone, on `this`, and no constructor on the
//! way lets `this` go before the end, or before there is a second thread ([`early`](crate::early)). No other thread can have it by then.
//! The same holds of an array whose elements are written by the method that made it before it lets it go.

use ravel_classfile::access;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bits::Bits;
use crate::early::Early;
use crate::flow::Access;
use crate::objects::{Element, ObjectIx, ObjectKind, STRANGER};
use crate::points::Points;
use crate::unique::Unique;
use crate::world::{ClassIx, MethodIx, World};
use ravel_scan::expr::Node;

/// What is known of objects.
pub struct Sharing {
    /// The objects that several threads may reach.
    shared: Bits,
    /// The objects that change after their construction.
    changing: Bits,
    /// Classes whose objects never change, from any allocation site.
    steady: Vec<bool>,
    /// For each class that fields are accessed of: its objects, and whether all that code outside knows never change.
    classes: FxHashMap<ClassIx, (Bits, bool)>,
    arrays: FxHashMap<Element, Bits>,
    /// What comes before there is a second thread.
    pub early: Early,
    /// What goes from one thread to one other.
    unique: Bits,
}

/// What an access may meet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reach {
    /// Only objects of the thread itself.
    Local,
    /// Only objects that no other thread has any more.
    Unique,
    /// Only such objects and objects that never change.
    Unchanging,
    /// Objects that others may change, or unknown objects.
    Shared,
}

impl Sharing {
    /// Looks at all objects.
    pub fn new(world: &World, points: &Points<'_>) -> Sharing {
        let mut sharing = Sharing {
            shared: Bits::default(),
            unique: Bits::default(),
            changing: Bits::default(),
            steady: Vec::new(),
            classes: FxHashMap::default(),
            arrays: FxHashMap::default(),
            early: Early::new(world, points),
        };
        let unique = Unique::new(world, points);
        sharing.shared = shared(world, points, &unique);
        // Without the threads that it goes to it would be shared.
        sharing.unique = shared(world, points, &Unique::default()).without(&sharing.shared);
        for access in world.accesses() {
            match access.field {
                Some(field) => {
                    let class = world.field(field).class;
                    let of_class = || (points.of_class(world.class(class).name), false);
                    sharing.classes.entry(class).or_insert_with(of_class);
                }
                None => {
                    let of_kind = || points.arrays(access.element);
                    sharing.arrays.entry(access.element).or_insert_with(of_kind);
                }
            }
        }
        sharing.look_for_changes(world, points);
        sharing
    }

    /// Whether several threads may reach an object.
    pub fn is_shared(&self, object: ObjectIx) -> bool {
        self.shared.contains(object.0)
    }

    /// Whether an object goes from one thread to one other.
    pub fn is_unique(&self, object: ObjectIx) -> bool {
        self.unique.contains(object.0)
    }

    /// Whether an object may change after its construction. Of the JDK's objects nothing is known.
    pub fn changes(&self, object: ObjectIx) -> bool {
        self.changing.contains(object.0)
    }

    /// What an access may meet.
    pub fn reach(&self, world: &World, points: &Points<'_>, method: MethodIx, access: &Access) -> Reach {
        let objects = points.of(method, access.base);
        let Some(field) = access.field else {
            let Some(arrays) = self.arrays.get(&access.element) else {
                return Reach::Shared;
            };
            let meant = objects.and(arrays);
            if meant.is_empty() || meant.contains(STRANGER.0) {
                return Reach::Shared;
            }
            let shared = meant.and(&self.shared);
            return match shared.is_empty() {
                true => self.unshared(&meant),
                false if shared.meets(&self.changing) => Reach::Shared,
                false => Reach::Unchanging,
            };
        };
        let Some((of_class, strangers_keep)) = self.classes.get(&world.field(field).class) else {
            return Reach::Shared;
        };
        let meant = objects.and(of_class);
        if meant.is_empty() || meant.contains(STRANGER.0) && !strangers_keep {
            return Reach::Shared;
        }
        let shared = meant.and(&self.shared);
        if shared.is_empty() {
            return self.unshared(&meant);
        }
        match shared
            .iter()
            .any(|object| object != STRANGER.0 && self.changing.contains(object))
        {
            true => Reach::Shared,
            false => Reach::Unchanging,
        }
    }

    fn unshared(&self, meant: &Bits) -> Reach {
        match meant.meets(&self.unique) {
            true => Reach::Unique,
            false => Reach::Local,
        }
    }

    /// The arrays that an access to an element may meet.
    pub fn arrays_met(&self, points: &Points<'_>, method: MethodIx, access: &Access) -> Bits {
        let arrays = self.arrays.get(&access.element);
        arrays.map_or_else(Bits::default, |arrays| points.of(method, access.base).and(arrays))
    }

    /// Whether an access comes before another thread can have its object.
    pub fn is_before_sharing(&self, world: &World, method: MethodIx, access: &Access) -> bool {
        access.fresh || constructs(world, method, access) || self.early.is(method, access.place.pc)
    }

    fn element_changes(&mut self, objects: &Bits, element: Element) {
        let Some(arrays) = self.arrays.get(&element) else {
            return;
        };
        match objects.is_empty() || objects.contains(STRANGER.0) {
            true => self.changing.add(arrays),
            false => self.changing.add(&objects.and(arrays)),
        }
    }

    /// The arrays that code outside may write to: those that it knows, and those that are given to it, but for what a
    /// collection only keeps and what is copied from.
    fn arrays_outside(&self, world: &World, points: &Points<'_>) -> Bits {
        let mut given = points.outside().clone();
        for (method, at) in &points.calls_outside {
            let flow = world.method(*method).flow.as_ref();
            let Some(call) = flow.and_then(|flow| flow.calls.get(*at as usize)) else {
                continue;
            };
            let class = world.symbols.bytes(call.class);
            let copies = crate::outside::is_array_copy(class, world.symbols.bytes(call.selector));
            let fills = world.symbols.bytes(call.selector).starts_with(b"toArray(");
            if self.early.is(*method, call.place.pc) || crate::outside::only_keeps(class) && !fills {
                continue;
            }
            for (node, _) in call.args.iter().skip(usize::from(copies)) {
                given.add(points.of(*method, *node));
            }
        }
        let mut arrays = Bits::default();
        for of_kind in self.arrays.values() {
            arrays.add(&given.and(of_kind));
        }
        arrays
    }

    fn look_for_changes(&mut self, world: &World, points: &Points<'_>) {
        let mut keeps: Vec<bool> = (0..world.classes.len() as u32)
            .map(|class| keeps_this(world, ClassIx(class)))
            .collect();
        for (at, class) in world.classes.iter().enumerate() {
            keeps[at] &= !world.ancestors(class.name).into_iter().any(|class| {
                let mut fields = world.class(class).fields.values();
                fields.any(|field| {
                    world.field(*field).access & access::VOLATILE != 0 || world.hidden_writes.contains(field)
                })
            });
        }
        for (at, object) in points.objects().all().iter().enumerate() {
            if let ObjectKind::Own(class) = object.kind
                && !keeps[class.0 as usize]
            {
                self.changing.insert(at as u32);
            }
        }
        // Written in unknown objects: any object of the class may be meant, also one made outside.
        let mut written: FxHashSet<ClassIx> = FxHashSet::default();
        for method in world.method_ids() {
            let Some(flow) = &world.method(method).flow else {
                continue;
            };
            for access in flow.accesses.iter().filter(|access| access.write && !access.is_static) {
                if self.is_before_sharing(world, method, access) {
                    continue;
                }
                let Some(field) = access.field else {
                    self.element_changes(points.of(method, access.base), access.element);
                    continue;
                };
                let class = world.field(field).class;
                let Some((of_class, _)) = self.classes.get(&class) else {
                    continue;
                };
                let objects = points.of(method, access.base);
                if objects.is_empty() || objects.contains(STRANGER.0) {
                    written.insert(class);
                    self.changing.add(of_class);
                } else {
                    self.changing.add(&objects.and(of_class));
                }
            }
        }
        self.changing.add(&self.arrays_outside(world, points));
        for (at, class) in world.classes.iter().enumerate() {
            let mut above = world.ancestors(class.name).into_iter();
            self.steady
                .push(keeps[at] && !above.any(|class| written.contains(&class)));
        }
        let outside = points.outside();
        for (class, (of_class, strangers_keep)) in &mut self.classes {
            let known = of_class.and(outside);
            let mut below = world.below(world.class(*class).name).into_iter();
            *strangers_keep = below.all(|class| self.steady[class.0 as usize])
                && !known
                    .iter()
                    .any(|object| object != STRANGER.0 && self.changing.contains(object));
        }
    }
}

fn shared(world: &World, points: &Points<'_>, unique: &Unique) -> Bits {
    let mut shared = Bits::default();
    let mut pending: Vec<u32> = points.outside().iter().collect();
    pending.extend(unique.held_of_others(points).iter());
    for set in points.in_statics() {
        pending.extend(set.iter());
    }
    for (at, object) in points.objects().all().iter().enumerate() {
        if let ObjectKind::Own(class) = object.kind
            && finalises(world, class)
        {
            pending.push(at as u32);
        }
    }
    let mut held: Vec<Vec<&Bits>> = vec![Vec::new(); points.objects().all().len()];
    for (object, set) in points.held_by() {
        held[object.0 as usize].push(set);
    }
    while let Some(object) = pending.pop() {
        if unique.is_task(ObjectIx(object)) || !shared.insert(object) {
            continue;
        }
        for set in &held[object as usize] {
            pending.extend(set.iter());
        }
        // What a lambda has captured is reached through it.
        if let ObjectKind::Lambda(method, at) = points.kind(ObjectIx(object))
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
pub fn is_super(world: &World, class: ravel_scan::symbols::Sym, parent: ravel_scan::symbols::Sym) -> bool {
    world
        .ancestors(class)
        .into_iter()
        .any(|class| world.class(class).super_class == Some(parent))
}
