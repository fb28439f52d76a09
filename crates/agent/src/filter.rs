//! Which classes are treated how, by name alone: a place that reads a field must know whether the field's class carries
//! Ravel's word before that class is loaded.

use ravel_trace::origin::{self, Origin};

use crate::options::Options;

/// What is done with a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Treatment {
    /// Fields, arrays, monitors, methods: everything is recorded.
    Application,
    /// A collection or format of the JDK: its fields are recorded when application code calls it.
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
            Origin::Framework if !self.keep_frameworks => Treatment::Skip("framework"),
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

/// The collections that are looked into, the wrappers that synchronise them, and formats, which are no more fit to be shared.
fn is_collection(name: &str) -> bool {
    origin::is_collection(name) || origin::is_format(name) || name.starts_with("java/util/Collections$Synchronized")
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
