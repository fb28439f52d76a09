//! Values as people read them.

use crate::event::{Event, Op, Value};
use crate::ids::{LocationId, SiteId, ThreadId};
use crate::names::{Location, Names, SiteKind};

impl Names {
    /// What an access read or wrote, or a method returned: `3`, `true`, `'x'`, `0.5`, `"a"`, `null`, `shop.Session@17`, `not null`. None
    /// where a trace has no more than a digest, and for calls on modelled objects that do not return their value.
    pub fn value_text(&self, event: &Event) -> Option<String> {
        let value = match event.op {
            Op::Read { value, .. }
            | Op::Write { value, .. }
            | Op::Update { value, .. }
            | Op::Returned { value, .. } => value,
            _ => return None,
        };
        let kind = self.value_kind(event)?;
        Some(match (kind, value) {
            (_, Value::Unknown) => return None,
            (b'L' | b'[', Value::Exact(0)) => "null".to_owned(),
            (b'F' | b'D' | b'L' | b'[', _) | (_, Value::Digest(_)) => {
                match self.values.get(&(event.thread, event.position, event.site)) {
                    Some(text) => text.clone(),
                    None if matches!(kind, b'L' | b'[') => "not null".to_owned(),
                    None => return None,
                }
            }
            (_, Value::Exact(value)) => number_text(kind, value),
        })
    }

    /// The first letter of the type of the value that an event has; none if the event does not have it.
    fn value_kind(&self, event: &Event) -> Option<u8> {
        if let Op::Returned { method, .. } = event.op {
            let (_, result) = self.methods.get(method.index())?.descriptor.rsplit_once(')')?;
            return result.bytes().next();
        }
        let site = &self.sites.get(event.site.index())?.what;
        match (self.locations.get(event.op.location()?.index())?, site) {
            (Location::Field(_, field) | Location::Static(field), SiteKind::Field(_) | SiteKind::Fenced(_)) => {
                self.fields.get(field.index())?.descriptor.bytes().next()
            }
            (Location::Element(..), SiteKind::Element(array)) => array.as_bytes().get(1).copied(),
            (Location::Field(..), SiteKind::Call(call)) => returned_number(call, matches!(event.op, Op::Update { .. })),
            _ => None,
        }
    }

    /// The part of a variable that a location is: the index of an element, the key of an entry.
    pub fn part_text(&self, event: &Event) -> Option<String> {
        let location = event.op.location()?;
        match *self.locations.get(location.index())? {
            Location::Entry(_, _, key) => self.keys.get(&key).filter(|text| !text.is_empty()).cloned(),
            _ => self.element_index(location),
        }
    }

    /// The key that the program gave a map at a call, `"k"`: the latest that the thread told there up to a position. None if its words are
    /// not known.
    pub fn key_of_call(&self, thread: ThreadId, position: u32, call: SiteId) -> Option<String> {
        let told = self.values.iter().filter(|((who, at, site), _)| {
            let is_here = (*who, *site) == (thread, call);
            is_here && *at <= position
        });
        let (_, key) = told.max_by_key(|((_, at, _), _)| *at)?;
        (!key.is_empty()).then(|| key.clone())
    }

    /// The index of an element of an array; none of other locations.
    pub fn element_index(&self, location: LocationId) -> Option<String> {
        match *self.locations.get(location.index())? {
            Location::Element(_, index) => Some(index.to_string()),
            _ => None,
        }
    }
}

/// A number of the type with this first letter: `3`, `true`, `'x'`.
pub fn number_text(kind: u8, value: i64) -> String {
    match (kind, u32::try_from(value).ok().and_then(char::from_u32)) {
        (b'Z', _) => (value != 0).to_string(),
        (b'C', Some(character)) if !character.is_control() => format!("'{character}'"),
        _ => value.to_string(),
    }
}

/// The type of the number that a call on a modelled object returns, if that is the value of the object: the new one after an update.
fn returned_number(call: &str, updates: bool) -> Option<u8> {
    let (class, method) = call.rsplit_once('.')?;
    let method = method.split('(').next()?;
    let is_value = match updates {
        true => method.ends_with("AndGet"),
        false => matches!(
            method,
            "get" | "getPlain" | "getOpaque" | "getAcquire" | "intValue" | "longValue" | "sum" | "size" | "length"
        ),
    };
    let kind = match class.strip_prefix("java.util.concurrent.")? {
        "atomic.AtomicBoolean" => b'Z',
        "atomic.AtomicInteger" => b'I',
        "atomic.AtomicLong" | "atomic.LongAdder" => b'J',
        _ if matches!(method, "size" | "length") => b'I',
        _ => return None,
    };
    is_value.then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{FieldId, ObjectId};
    use crate::names::{Field, Site};

    #[test]
    fn values_are_told_by_the_type_of_the_field() {
        let told = |descriptor: &str, value: Value, what: SiteKind| {
            let names = Names {
                fields: vec![Field {
                    descriptor: descriptor.to_owned(),
                    ..Field::default()
                }],
                sites: vec![Site {
                    what,
                    ..Site::default()
                }],
                locations: vec![Location::Field(ObjectId(1), FieldId(0))],
                ..Names::default()
            };
            let event = Event {
                thread: ThreadId(0),
                position: 0,
                site: SiteId(0),
                op: Op::Read {
                    location: LocationId(0),
                    value,
                },
            };
            names.value_text(&event).unwrap_or_default()
        };
        let field = || SiteKind::Field(FieldId(0));
        for (descriptor, value, text) in [
            ("I", Value::Exact(-1), "-1"),
            ("Z", Value::Exact(1), "true"),
            ("C", Value::Exact(120), "'x'"),
            ("Lshop/Session;", Value::Exact(0), "null"),
            ("Lshop/Session;", Value::Digest(7), "not null"),
            ("D", Value::Digest(7), ""),
            ("J", Value::Digest(7), ""),
            ("I", Value::Unknown, ""),
        ] {
            assert_eq!(told(descriptor, value, field()), text, "{descriptor} {value:?}");
        }
        assert_eq!(
            told(
                "I",
                Value::Exact(1),
                SiteKind::Call("java.lang.invoke.VarHandle.set".to_owned())
            ),
            ""
        );
        let call = |name: &str| SiteKind::Call(format!("java.util.concurrent.{name}"));
        assert_eq!(told("", Value::Exact(3), call("atomic.AtomicInteger.get")), "3");
        assert_eq!(told("", Value::Exact(1), call("atomic.AtomicBoolean.get")), "true");
        assert_eq!(
            told("", Value::Exact(1), call("atomic.AtomicInteger.compareAndSet")),
            ""
        );
        assert_eq!(told("", Value::Exact(2), call("ConcurrentHashMap.size")), "2");
    }

    #[test]
    fn the_key_of_a_call_is_the_last_that_was_told_before() {
        let told = |position, site, text: &str| ((ThreadId(1), position, SiteId(site)), text.to_owned());
        let names = Names {
            values: [
                told(4, 7, "\"a\""),
                told(9, 7, "\"b\""),
                told(12, 7, ""),
                told(5, 8, "3"),
            ]
            .into_iter()
            .collect(),
            ..Names::default()
        };
        let key = |thread, position| names.key_of_call(ThreadId(thread), position, SiteId(7));
        assert_eq!(key(1, 3), None);
        assert_eq!(key(1, 8).as_deref(), Some("\"a\""));
        assert_eq!(key(1, 9).as_deref(), Some("\"b\""));
        // A key without words comes after it.
        assert_eq!(key(1, 13), None);
        assert_eq!(key(2, 9), None);
    }

    #[test]
    fn a_forced_run_tells_what_a_digest_does_not() {
        let location = |location| Names {
            fields: vec![Field {
                descriptor: "Lshop/Session;".to_owned(),
                ..Field::default()
            }],
            sites: vec![Site {
                what: SiteKind::Field(FieldId(0)),
                ..Site::default()
            }],
            locations: vec![location],
            values: [((ThreadId(0), 4, SiteId(0)), "shop.Session@17".to_owned())]
                .into_iter()
                .collect(),
            keys: [(9, "\"k\"".to_owned()), (8, String::new())].into_iter().collect(),
            ..Names::default()
        };
        let event = |position| Event {
            thread: ThreadId(0),
            position,
            site: SiteId(0),
            op: Op::Read {
                location: LocationId(0),
                value: Value::Digest(7),
            },
        };
        let names = location(Location::Field(ObjectId(1), FieldId(0)));
        assert_eq!(names.value_text(&event(4)).as_deref(), Some("shop.Session@17"));
        assert_eq!(names.value_text(&event(5)).as_deref(), Some("not null"));
        let part = |at| location(at).part_text(&event(4));
        assert_eq!(part(Location::Element(ObjectId(1), 3)).as_deref(), Some("3"));
        assert_eq!(
            part(Location::Entry(ObjectId(1), FieldId(0), 9)).as_deref(),
            Some("\"k\"")
        );
        assert_eq!(part(Location::Entry(ObjectId(1), FieldId(0), 8)), None);
        assert_eq!(part(Location::Static(FieldId(0))), None);
    }
}
