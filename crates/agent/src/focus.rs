//! What a focus plan leaves out, looked up by class, method and position. The digest that says it is a message of the protocol
//! ([`FocusDigest`]).
//!
//! A class whose bytes differ from those that the plan was made for is rewritten in full, and counted: what was proven with it
//! does not hold any more.

use std::path::Path;

use ravel_protocol::LineError;
use ravel_protocol::focus::{FocusDigest, MethodDigest};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is left out of one class.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ClassFocus {
    hash: String,
    methods: FxHashMap<String, MethodFocus>,
}

/// What is left out of a method.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct MethodFocus {
    /// It never reaches the trace.
    pub quiet: bool,
    /// It leaves no frame.
    pub inner: bool,
    leave: Vec<u32>,
    touch: Vec<u32>,
}

impl MethodFocus {
    /// Whether nothing is recorded at a position.
    pub fn leaves_out(&self, pc: u32) -> bool {
        self.quiet || self.leave.binary_search(&pc).is_ok()
    }

    /// Whether of an access only is wanted that the thread has the object.
    pub fn only_touches(&self, pc: u32) -> bool {
        self.touch.binary_search(&pc).is_ok()
    }
}

/// What is left out of all classes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Focus {
    classes: FxHashMap<String, ClassFocus>,
    plain: FxHashSet<String>,
    for_races: bool,
}

/// What a plan knows of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<'a> {
    /// It is the one that was looked at.
    Same(&'a ClassFocus),
    /// It was not looked at, or was another one.
    Other,
}

impl From<MethodDigest> for MethodFocus {
    fn from(digest: MethodDigest) -> MethodFocus {
        let sorted = |mut positions: Vec<u32>| {
            positions.sort_unstable();
            positions
        };
        MethodFocus {
            quiet: digest.quiet,
            inner: digest.inner,
            leave: sorted(digest.leave),
            touch: sorted(digest.touch),
        }
    }
}

impl From<FocusDigest> for Focus {
    fn from(digest: FocusDigest) -> Focus {
        let classes = digest.classes.into_iter().map(|class| {
            let methods = class.methods.into_iter();
            let focus = ClassFocus {
                hash: class.hash,
                methods: methods.map(|method| (method.name.clone(), method.into())).collect(),
            };
            (class.name, focus)
        });
        Focus {
            classes: classes.collect(),
            plain: digest.plain.into_iter().collect(),
            for_races: digest.for_races,
        }
    }
}

impl Focus {
    /// Reads the text of a digest; `file` is where it comes from, for errors.
    pub fn decode(text: &str, file: &Path) -> Result<Focus, LineError> {
        FocusDigest::decode(text, file).map(Focus::from)
    }

    /// Whether the recording is for the race analyses alone.
    pub fn is_for_races(&self) -> bool {
        self.for_races
    }

    /// Whether a collection of the JDK, or a class inside one, needs no recording.
    pub fn is_plain(&self, name: &str) -> bool {
        self.plain.contains(name.split('$').next().unwrap_or(name))
    }

    /// What is known of a class with this internal name and these bytes.
    pub fn class(&self, name: &str, bytes: &[u8]) -> Known<'_> {
        match self.classes.get(name) {
            Some(class) if class.hash == format!("{:016x}", ravel_classfile::content_hash(bytes)) => Known::Same(class),
            _ => Known::Other,
        }
    }
}

impl ClassFocus {
    /// What is left out of a method, if anything is.
    pub fn method(&self, name: &str, descriptor: &str) -> Option<&MethodFocus> {
        self.methods.get(&format!("{name}{descriptor}"))
    }
}

#[cfg(test)]
mod tests {
    use ravel_protocol::focus::ClassDigest;

    use super::*;

    #[test]
    fn what_is_left_out_is_found_by_position_and_a_changed_class_is_known_as_such() {
        let digest = FocusDigest {
            for_races: true,
            plain: vec!["java/util/ArrayList".into()],
            classes: vec![ClassDigest {
                name: "a/B".into(),
                hash: format!("{:016x}", ravel_classfile::content_hash(b"bytes")),
                methods: vec![
                    MethodDigest {
                        name: "m(I)V".into(),
                        inner: true,
                        leave: vec![9, 3],
                        touch: vec![12],
                        ..MethodDigest::default()
                    },
                    MethodDigest {
                        name: "q()I".into(),
                        quiet: true,
                        ..MethodDigest::default()
                    },
                ],
            }],
        };
        let focus = Focus::from(digest);
        let Known::Same(class) = focus.class("a/B", b"bytes") else {
            panic!("the class is the same");
        };
        let method = class.method("m", "(I)V").expect("something is left out");
        assert!(method.leaves_out(3) && method.leaves_out(9) && !method.leaves_out(12));
        assert!(method.only_touches(12) && method.inner && !method.quiet && focus.is_for_races());
        assert!(class.method("q", "()I").is_some_and(|method| method.leaves_out(5)));
        assert_eq!(class.method("other", "()I"), None);
        assert_eq!(focus.class("a/B", b"other bytes"), Known::Other);
        assert_eq!(focus.class("a/C", b"bytes"), Known::Other);
        assert!(focus.is_plain("java/util/ArrayList$Itr") && !focus.is_plain("java/util/HashMap"));
    }
}
