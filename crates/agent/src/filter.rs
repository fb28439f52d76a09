//! Which classes are treated how, by name alone: a place that reads a field must know whether the field's class carries
//! Ravel's word before that class is loaded.

use ravel_trace::origin::{self, Origin};

use crate::main_class::is_launcher;
use crate::options::Options;

/// Why classes of frameworks are left out.
const FRAMEWORK: &str = "framework";

/// What is done with a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Treatment {
    /// Fields, arrays, monitors, methods: everything is recorded.
    Application,
    /// A collection, format or tool of the JDK: its fields are recorded when application code calls it.
    Collection,
    /// Another class of the JDK: only its modelled methods are touched.
    Library,
    /// Left as it is, for this reason.
    Skip(&'static str),
}

/// What programs use by the million: a word tells the atomics that one thread has alone, and numbers locks fast.
fn is_frequent(name: &str) -> bool {
    matches!(
        name.strip_prefix("java/util/concurrent/"),
        Some(
            "atomic/AtomicInteger"
                | "atomic/AtomicLong"
                | "atomic/AtomicBoolean"
                | "atomic/AtomicReference"
                | "locks/AbstractOwnableSynchronizer"
        )
    )
}

/// Decides by name.
#[derive(Debug)]
pub struct Filter {
    include: Vec<String>,
    exclude: Vec<String>,
    keep_frameworks: bool,
    keep_final: bool,
    everything: bool,
    /// The package of the main class, if it is one that is otherwise left out.
    own: Option<String>,
}

impl Filter {
    /// From the user's options, whose names have dots.
    pub fn new(options: &Options) -> Self {
        let internal = |names: &[String]| {
            names
                .iter()
                .map(|name| name.trim_end_matches('*').replace('.', "/"))
                .collect()
        };
        Filter {
            include: internal(&options.include),
            exclude: internal(&options.exclude),
            keep_frameworks: options.keep_frameworks,
            keep_final: options.keep_final,
            everything: options.everything,
            own: None,
        }
    }

    /// The same for a program with this main class (internal name): if it lies in a package that is otherwise left out, that package
    /// is the program's own, unless the class is one that runs somebody else's program.
    pub fn of_program(mut self, main: Option<&str>) -> Self {
        let main = main.filter(|main| Origin::of(main) == Origin::Framework && !is_launcher(main));
        self.own = main
            .and_then(|main| main.rsplit_once('/'))
            .map(|(package, _)| format!("{package}/"));
        self
    }

    /// Whether a class lies in the package of the main class or below. Of a framework's uppermost package the classes in it
    /// alone count: what lies below is the framework.
    fn is_own(&self, name: &str) -> bool {
        let Some(own) = &self.own else { return false };
        let below = name.strip_prefix(own.as_str());
        below.is_some_and(|rest| !rest.contains('/') || origin::framework(own) != Some(own.as_str()))
    }

    /// Why a class is left out, for the footer of a trace: of a framework, which.
    pub fn reason(name: &str, reason: &'static str) -> String {
        match origin::framework(name) {
            Some(prefix) if reason == FRAMEWORK => {
                format!("{reason} {}", prefix.trim_end_matches('/').replace('/', "."))
            }
            _ => reason.to_string(),
        }
    }

    /// What is done with the class of this internal name.
    pub fn treatment(&self, name: &str) -> Treatment {
        if self.everything {
            return match name {
                "java/lang/Object" | "java/lang/Thread" => Treatment::Library,
                _ if name.starts_with("java/lang/Ravel") => Treatment::Skip("Ravel itself"),
                _ => Treatment::Application,
            };
        }
        let named = |list: &[String]| list.iter().any(|prefix| name.starts_with(prefix.as_str()));
        let origin = Origin::of(name);
        if origin == Origin::Platform {
            return match name {
                _ if name.starts_with("java/lang/Ravel") => Treatment::Skip("Ravel itself"),
                _ if is_collection(name) => Treatment::Collection,
                _ => Treatment::Library,
            };
        }
        if named(&self.exclude) {
            return Treatment::Skip("excluded");
        }
        if !self.include.is_empty() {
            return if named(&self.include) {
                Treatment::Application
            } else {
                Treatment::Skip("not included")
            };
        }
        match origin {
            Origin::Framework if !self.keep_frameworks && !self.is_own(name) => Treatment::Skip(FRAMEWORK),
            Origin::Framework | Origin::Application | Origin::Platform => Treatment::Application,
        }
    }

    /// Whether the order that a class makes between threads is recorded although nothing else of it is. What a log line orders is an
    /// accident, and would hide races of the program.
    pub fn keeps_order(&self, name: &str) -> bool {
        !name.starts_with("java/lang/Ravel") && !origin::is_logging(name) && !origin::is_scheduler(name)
    }

    /// Whether instances of the class carry Ravel's word.
    pub fn has_word(&self, name: &str) -> bool {
        match self.treatment(name) {
            Treatment::Application | Treatment::Collection => true,
            Treatment::Library => is_frequent(name),
            Treatment::Skip(_) => false,
        }
    }

    /// Whether accesses to final fields are recorded.
    pub fn keeps_final(&self) -> bool {
        self.keep_final
    }
}

/// The collections that are looked into, the wrappers that synchronise them, and formats and tools, which are no more fit to be shared.
fn is_collection(name: &str) -> bool {
    origin::is_collection(name)
        || origin::is_format(name)
        || origin::is_tool(name)
        || name.starts_with("java/util/Collections$Synchronized")
}

/// Fields in which maps of the JDK keep the view that they made last.
const VIEWS: [&str; 8] = [
    "keySet",
    "values",
    "entrySet",
    "navigableKeySet",
    "descendingMap",
    "entrySetView",
    "navigableKeySetView",
    "descendingMapView",
];

/// Whether a field of a collection holds a view of it. Threads that only read a map write there when they ask for its keys; any view is as good
/// as another, so that no order matters, as `AbstractMap` says of its own.
pub fn is_view(owner: &str, field: &str) -> bool {
    VIEWS.contains(&field) && origin::is_collection(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn treatment(options: &Options, name: &str) -> Treatment {
        Filter::new(options).treatment(name)
    }

    #[test]
    fn classes_are_told_apart_by_name() {
        let plain = Options::default();
        assert_eq!(treatment(&plain, "shop/Stock"), Treatment::Application);
        assert_eq!(treatment(&plain, "Main"), Treatment::Application);
        assert_eq!(treatment(&plain, "java/util/HashMap$Node"), Treatment::Collection);
        assert_eq!(
            treatment(&plain, "java/util/Collections$SynchronizedList"),
            Treatment::Collection
        );
        assert_eq!(
            treatment(&plain, "java/util/concurrent/ConcurrentHashMap"),
            Treatment::Library
        );
        assert_eq!(treatment(&plain, "java/util/ArrayLister"), Treatment::Library);
        assert_eq!(treatment(&plain, "org/junit/Test"), Treatment::Skip("framework"));
        assert_eq!(
            treatment(&plain, "java/lang/RavelObjects$Ref"),
            Treatment::Skip("Ravel itself")
        );
    }

    #[test]
    fn the_package_of_the_main_class_is_recorded() {
        let filter = |main: &str| Filter::new(&Options::default()).of_program(Some(main));
        let own = filter("com/google/common/demo/Main");
        assert_eq!(own.treatment("com/google/common/demo/Stock"), Treatment::Application);
        assert_eq!(own.treatment("com/google/common/demo/a/Stock"), Treatment::Application);
        assert_eq!(
            own.treatment("com/google/common/base/Joiner"),
            Treatment::Skip("framework")
        );
        let top = filter("kotlin/MainKt");
        assert_eq!(top.treatment("kotlin/MainKt$main$1"), Treatment::Application);
        assert_eq!(
            top.treatment("kotlin/collections/ArrayDeque"),
            Treatment::Skip("framework")
        );
        let runner = filter("org/junit/runner/JUnitCore");
        assert_eq!(
            runner.treatment("org/junit/runner/JUnitCore"),
            Treatment::Skip("framework")
        );
        assert_eq!(Filter::reason("org/junit/Test", "framework"), "framework org.junit");
        assert_eq!(Filter::reason("shop/Stock", "excluded"), "excluded");
    }

    #[test]
    fn a_map_keeps_its_views_in_fields_of_its_own() {
        assert!(is_view("java/util/HashMap", "keySet") && is_view("java/util/TreeMap", "descendingMap"));
        assert!(!is_view("java/util/HashMap", "table") && !is_view("shop/Prices", "keySet"));
    }

    #[test]
    fn what_is_left_out_orders_threads_unless_by_accident() {
        let filter = Filter::new(&Options::default());
        for name in [
            "scala/concurrent/impl/Promise",
            "kotlinx/coroutines/JobSupport",
            "excluded/Queue",
        ] {
            assert!(filter.keeps_order(name), "{name}");
        }
        for name in [
            "ch/qos/logback/core/AppenderBase",
            "kotlinx/coroutines/scheduling/WorkQueue",
            "java/lang/Ravel",
        ] {
            assert!(!filter.keeps_order(name), "{name}");
        }
    }

    #[test]
    fn the_users_lists_come_first() {
        let options = Options {
            include: vec!["shop.*".into()],
            exclude: vec!["shop.gen.".into()],
            ..Options::default()
        };
        assert_eq!(treatment(&options, "shop/Stock"), Treatment::Application);
        assert_eq!(treatment(&options, "shop/gen/Stock"), Treatment::Skip("excluded"));
        assert_eq!(treatment(&options, "lib/Util"), Treatment::Skip("not included"));
        let all = Options {
            keep_frameworks: true,
            ..Options::default()
        };
        assert_eq!(treatment(&all, "org/junit/Test"), Treatment::Application);
    }
}
