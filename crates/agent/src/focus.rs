//! What a focus plan leaves out, as it reaches the agent: for each class its hash, for each method the positions without hooks.
//!
//! ```text
//! ravel-focus 1
//! races
//! plain java/util/ArrayList
//! class shop/Stock 0123456789abcdef
//! leave take(I)Z 3,17
//! touch take(I)Z 21
//! inner take(I)Z
//! quiet size()I
//! ```
//!
//! `races` says that the recording is for the race analyses alone: nobody asks for positions. A *touch* is an access of which only is
//! wanted that the thread has the object; an *inner* method is called by the program alone and leaves no frame.
//! Words are parted by tabs: the names of methods may have blanks. A class whose bytes are others is rewritten in full, and counted: what was proven with it holds no more.

use rustc_hash::{FxHashMap, FxHashSet};

/// What is left out of one class.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ClassFocus {
    hash: u64,
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

impl Focus {
    /// Reads the text of a digest.
    pub fn parse(text: &str) -> Result<Focus, String> {
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, line)| line) != Some("ravel-focus 1") {
            return Err("line 1: not a digest of a focus plan".to_string());
        }
        let mut focus = Focus::default();
        let mut current: Option<&mut ClassFocus> = None;
        for (at, line) in lines {
            let wrong = || format!("line {}: {line:?} is not understood", at + 1);
            let mut words = line.split('\t');
            match (words.next(), words.next(), words.next(), words.next()) {
                (Some("class"), Some(name), Some(hash), None) => {
                    let hash = u64::from_str_radix(hash, 16).map_err(|_| wrong())?;
                    let class = focus.classes.entry(name.to_string()).or_default();
                    class.hash = hash;
                    current = Some(class);
                }
                (Some("races"), None, ..) => focus.for_races = true,
                (Some("plain"), Some(class), None, None) => {
                    focus.plain.insert(class.to_string());
                }
                (Some(what @ ("quiet" | "inner")), Some(method), None, None) => {
                    let class = current.as_mut().ok_or_else(wrong)?;
                    let method = class.methods.entry(method.to_string()).or_default();
                    method.quiet |= what == "quiet";
                    method.inner |= what == "inner";
                }
                (Some(what @ ("leave" | "touch")), Some(method), Some(list), None) => {
                    let class = current.as_mut().ok_or_else(wrong)?;
                    let positions: Result<Vec<u32>, _> = list.split(',').map(str::parse).collect();
                    let mut positions = positions.map_err(|_| wrong())?;
                    positions.sort_unstable();
                    let method = class.methods.entry(method.to_string()).or_default();
                    match what {
                        "leave" => method.leave = positions,
                        _ => method.touch = positions,
                    }
                }
                (Some(""), None, ..) => {}
                _ => return Err(wrong()),
            }
        }
        Ok(focus)
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
            Some(class) if class.hash == ravel_classfile::content_hash(bytes) => Known::Same(class),
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
    use super::*;

    #[test]
    fn a_digest_is_read_and_a_changed_class_is_known_as_such() {
        let hash = ravel_classfile::content_hash(b"bytes");
        let text = format!(
            "ravel-focus 1\nraces\nclass\ta/B\t{hash:016x}\nleave\tm(I)V\t9,3\ntouch\tm(I)V\t12\ninner\tm(I)V\nquiet\tq()I\nplain\tjava/util/ArrayList\n"
        );
        let focus = Focus::parse(&text).expect("it is right");
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

    #[test]
    fn damage_is_named_by_its_line() {
        for (text, line) in [
            ("", "line 1"),
            ("ravel-focus 2\n", "line 1"),
            ("ravel-focus 1\nleave\tm()V\t3\n", "line 2"),
            ("ravel-focus 1\nclass\ta\tzz\n", "line 2"),
            ("ravel-focus 1\nclass\ta\t00\nleave\tm()V\tx\n", "line 3"),
        ] {
            let error = Focus::parse(text).expect_err("it is damaged");
            assert!(error.starts_with(line), "{error}");
        }
    }
}
