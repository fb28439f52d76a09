//! A line of a call stack, `shop.Stock.count (Stock.java:14)`: how findings and dumps write it and read it back.

use std::fmt;

use super::source::{class, qualified_method};

/// A place in code by the JVM's names; parts that are not known are empty, the line 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Frame<'a> {
    /// Dotted class name, `shop.Stock`.
    pub class: &'a str,
    /// The method without its descriptor, `count`.
    pub method: &'a str,
    /// Source file, `Stock.java`.
    pub file: &'a str,
    /// Source line.
    pub line: u32,
}

impl<'a> Frame<'a> {
    /// Reads what [`Frame`] writes. Text of another form becomes the name of a method.
    pub fn parse(text: &'a str) -> Frame<'a> {
        let (name, place) = match text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")) {
            Some((name, place)) => (name, place),
            None => (text, ""),
        };
        let (class, method) = name.rsplit_once('.').unwrap_or(("", name));
        let number = |digits: &str| digits.parse().ok();
        let (file, line) = match (place.strip_prefix("line ").and_then(number), place.rsplit_once(':')) {
            (Some(line), _) => ("", line),
            (None, Some((file, line))) => (file, number(line).unwrap_or(0)),
            (None, None) => (place, 0),
        };
        Frame {
            class,
            method,
            file,
            line,
        }
    }

    /// `shop.Stock.count`
    pub fn name(&self) -> String {
        match self.class {
            "" => self.method.to_owned(),
            class => format!("{class}.{}", self.method),
        }
    }

    /// `Stock.java:14`, `Stock.java`, `line 14`; empty if neither is known.
    pub fn place(&self) -> String {
        match (self.file, self.line) {
            (file, 0) => file.to_owned(),
            ("", line) => format!("line {line}"),
            (file, line) => format!("{file}:{line}"),
        }
    }

    /// Where a person finds it: `Stock.java:14`, or `Stock:14` by the class if the file is not known.
    pub fn place_or_class(&self) -> String {
        match (self.file, self.class) {
            ("", "") | (_, "") => self.place(),
            ("", name) => {
                let name = class(name);
                let file = name.as_str();
                Frame { file, ..*self }.place()
            }
            _ => self.place(),
        }
    }

    /// The frame in the words of the source: `Stock.count (Stock.java:14)`.
    pub fn short(&self) -> String {
        let name = qualified_method(&self.name());
        match self.place() {
            place if place.is_empty() => name,
            place => format!("{name} ({place})"),
        }
    }
}

impl fmt::Display for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place() {
            place if place.is_empty() => f.write_str(&self.name()),
            place => write!(f, "{} ({place})", self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_back() {
        for text in [
            "shop.Stock.count (Stock.java:14)",
            "shop.Stock.count (Stock.java)",
            "shop.Stock.count (line 14)",
            "shop.Stock.count",
            "Main.main (Main.java:1)",
            "shop.Till.pays (nothing) (Till.kt:3)",
            "main",
            "",
        ] {
            assert_eq!(Frame::parse(text).to_string(), text);
        }
        let frame = Frame::parse("shop.Stock$Shelf.count (Stock.java:14)");
        let parts = (frame.class, frame.method, frame.file, frame.line);
        assert_eq!(parts, ("shop.Stock$Shelf", "count", "Stock.java", 14));
        assert_eq!(frame.short(), "Stock.Shelf.count (Stock.java:14)");
    }

    #[test]
    fn a_place_without_a_file_is_in_its_class() {
        let frame = Frame {
            class: "shop.Stock$Shelf",
            line: 3,
            ..Frame::default()
        };
        assert_eq!(frame.place_or_class(), "Stock.Shelf:3");
        assert_eq!(Frame { line: 0, ..frame }.place_or_class(), "Stock.Shelf");
        assert_eq!(Frame { class: "", ..frame }.place_or_class(), "line 3");
        assert_eq!(Frame::default().place_or_class(), "");
    }

    #[test]
    fn damaged_frames_are_no_error() {
        for text in [
            ")",
            " ()",
            "(",
            "a.b (",
            "a (x:y)",
            "a (:)",
            ". (line x)",
            "é (é:99999999999)",
        ] {
            let _ = (Frame::parse(text).to_string(), Frame::parse(text).short());
        }
    }
}
