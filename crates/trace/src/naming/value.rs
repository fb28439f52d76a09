//! Values as people read them.

use crate::event::{Event, Op, Value};
use crate::names::{Location, Names, SiteKind};

impl Names {
    /// What an access read or wrote: `3`, `true`, `'x'`, `null`, `not null`. None where a trace has no more than a digest (of
    /// floating-point and large numbers), and for calls on modelled objects, of which it has the result.
    pub fn value_text(&self, event: &Event) -> Option<String> {
        let (Op::Read { location, value } | Op::Write { location, value } | Op::Update { location, value }) = event.op
        else {
            return None;
        };
        let site = &self.sites.get(event.site.index())?.what;
        let kind = match (self.locations.get(location.index())?, site) {
            (Location::Field(_, field) | Location::Static(field), SiteKind::Field(_)) => {
                self.fields.get(field.index())?.descriptor.bytes().next()?
            }
            (Location::Element(..), SiteKind::Element(array)) => *array.as_bytes().get(1)?,
            _ => return None,
        };
        Some(match (kind, value) {
            (_, Value::Unknown) | (b'F' | b'D', _) => return None,
            (b'Z', Value::Exact(value)) => (value != 0).to_string(),
            (b'C', Value::Exact(value)) => match u32::try_from(value).ok().and_then(char::from_u32) {
                Some(character) if !character.is_control() => format!("'{character}'"),
                _ => value.to_string(),
            },
            (b'L' | b'[', Value::Exact(0)) => "null".to_owned(),
            (b'L' | b'[', _) => "not null".to_owned(),
            (_, Value::Exact(value)) => value.to_string(),
            (_, Value::Digest(_)) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{FieldId, LocationId, ObjectId, SiteId, ThreadId};
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
    }
}
