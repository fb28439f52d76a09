//! What is known of methods and classes, as far as it makes units: worked out once for each.

use super::{UnitSettings, matches_pattern};
use crate::sets::{SetName, annotated, annotation_value};
use ravel_trace::names::flags;
use ravel_trace::origin::is_platform;
use ravel_trace::{ClassId, MethodId, Names};
use rustc_hash::FxHashMap;

/// How the names of methods end that compute lazy values of Scala.
const LAZY: &str = "$lzycompute";

/// Sets that one method may be declared a unit on.
pub(super) const MOST_SETS: usize = 4;

#[derive(Clone, Copy, Debug)]
pub(super) struct MethodTraits {
    pub(super) class: ClassId,
    /// May be a unit on its own class's sets.
    pub(super) unit: bool,
    /// May be a unit by what it calls or touches directly.
    pub(super) caller: bool,
    pub(super) declared: bool,
    /// The atomic sets that it is declared a unit on, if not on all.
    pub(super) declared_on: [Option<SetName>; MOST_SETS],
    /// Named like what a thread or a pool calls first.
    pub(super) entry_name: bool,
    /// Named like the only method of a functional interface, which is an entry point only where a pool calls it.
    pub(super) functional: bool,
    pub(super) platform: bool,
    pub(super) is_static: bool,
    pub(super) constructor: bool,
    pub(super) synchronized: bool,
    /// The compiler's method that computes a lazy value of Scala. Its lock keeps a second thread from computing it again, and does not make one step
    /// of all that the computation reaches.
    pub(super) lazy: bool,
    pub(super) proven: bool,
}

/// The methods and classes met so far.
#[derive(Debug, Default)]
pub(super) struct Code {
    methods: Vec<Option<MethodTraits>>,
    class_ids: FxHashMap<String, ClassId>,
    related: FxHashMap<(ClassId, ClassId), bool>,
}

impl Code {
    /// What is known of a method.
    #[inline]
    pub(super) fn traits(&mut self, names: &Names, settings: &UnitSettings, id: MethodId) -> MethodTraits {
        if let Some(Some(traits)) = self.methods.get(id.index()) {
            return *traits;
        }
        self.describe(names, settings, id)
    }

    #[cold]
    fn describe(&mut self, names: &Names, settings: &UnitSettings, id: MethodId) -> MethodTraits {
        let method = names.method(id);
        let class = names.classes.get(method.class.index());
        let class_name = class.map_or("", |c| c.name.as_str());
        let full = format!("{class_name}.{}", method.name);
        let constructor = method.name == "<init>";
        let initializer = method.name == "<clinit>";
        let lambda = method.name.starts_with("lambda$");
        let exempt = annotated(&method.annotations, "NotAtomic")
            || class.is_some_and(|c| annotated(&c.annotations, "NotAtomic"))
            || settings.not_atomic.iter().any(|p| matches_pattern(p, &full));
        let unshared =
            class.is_some_and(|c| annotated(&c.annotations, "NotThreadSafe") || annotated(&c.annotations, "Immutable"));
        let caller = !exempt && !constructor && !initializer && !method.name.ends_with(LAZY);
        let on_set = annotation_value(&method.annotations, "UnitOfWork").filter(|set| !set.is_empty());
        let of_settings = settings
            .atomic_sets
            .iter()
            .filter(|set| set.units.iter().any(|p| matches_pattern(p, &full)))
            .map(|set| set.name.as_str());
        let mut declared_on = [None; MOST_SETS];
        for (place, name) in declared_on.iter_mut().zip(on_set.into_iter().chain(of_settings)) {
            *place = Some(SetName::of(name));
        }
        let traits = MethodTraits {
            declared_on,
            class: method.class,
            unit: caller && !unshared && method.flags & (flags::PRIVATE | flags::SYNTHETIC) == 0 && !lambda,
            caller,
            declared: annotated(&method.annotations, "UnitOfWork") && on_set.is_none()
                || settings.units.iter().any(|p| matches_pattern(p, &full)),
            entry_name: initializer
                || lambda
                || matches!(
                    method.name.as_str(),
                    "main" | "run" | "call" | "compute" | "get" | "accept" | "apply"
                ),
            functional: matches!(method.name.as_str(), "get" | "accept" | "apply"),
            platform: is_platform(class_name),
            is_static: method.flags & flags::STATIC != 0,
            constructor,
            synchronized: method.flags & flags::SYNCHRONIZED != 0,
            lazy: method.name.ends_with(LAZY),
            proven: settings.focus.is_atomic(names, id),
        };
        if self.methods.len() <= id.index() {
            self.methods.resize(id.index() + 1, None);
        }
        self.methods[id.index()] = Some(traits);
        traits
    }

    /// Whether one class is the other or inherits from it.
    #[inline]
    pub(super) fn are_related(&mut self, names: &Names, a: ClassId, b: ClassId) -> bool {
        if a == b {
            return true;
        }
        if let Some(&related) = self.related.get(&(a, b)) {
            return related;
        }
        for i in self.class_ids.len()..names.classes.len() {
            // Classes of one name from two loaders share an entry; their superclasses have the same names.
            self.class_ids.insert(names.classes[i].name.clone(), ClassId::from(i));
        }
        let related = self.inherits(names, a, b) || self.inherits(names, b, a);
        self.related.insert((a, b), related);
        related
    }

    fn inherits(&self, names: &Names, class: ClassId, ancestor: ClassId) -> bool {
        let Some(wanted) = names.classes.get(ancestor.index()) else {
            return false;
        };
        let mut current = names.classes.get(class.index());
        // A damaged trace may have a circle of superclasses.
        for _ in 0..64 {
            let Some(c) = current else { return false };
            if c.name == wanted.name {
                return true;
            }
            current = self
                .class_ids
                .get(&c.superclass)
                .and_then(|id| names.classes.get(id.index()));
        }
        false
    }
}
