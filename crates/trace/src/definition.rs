//! What gives names to ids: the entries of table blocks.
//!
//! Reading mirrors writing, entry by entry. Ids are the recorder's; the same id may be defined again, and the last
//! definition holds.

use crate::ids::{ClassId, FieldId, MethodId, ObjectId, SiteId, ThreadId};
use crate::names::{Class, Field, Method, Site, SiteKind, Thread};
use crate::varint::{get, get_slice, get_str, put, put_str};

/// One entry of the tables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Definition {
    /// A class.
    Class(ClassId, Class),
    /// A method.
    Method(MethodId, Method),
    /// A field.
    Field(FieldId, Field),
    /// A place in code; below `2^26`.
    Site(SiteId, Site),
    /// A thread.
    Thread(ThreadId, Thread),
    /// What a lock or another object of synchronisation is.
    Object {
        /// The object.
        object: ObjectId,
        /// Its class, dotted, or in an imported trace its name.
        class_name: String,
    },
    /// A value in words that its record has only a digest of; at the site of a call, the key that a map was given there.
    Value {
        /// Who read, wrote or returned it.
        thread: ThreadId,
        /// The thread's position then.
        position: u32,
        /// Where.
        site: SiteId,
        /// `"a string"`, `0.5`, `shop.Session@17`.
        text: String,
    },
    /// The key in words that distinguishes the entries of a map.
    Key {
        /// The number of the key in the records.
        number: u32,
        /// `"k"`, `7`; empty if two keys have the number.
        text: String,
    },
}

const CLASS: u8 = 1;
const METHOD: u8 = 2;
const FIELD: u8 = 3;
const SITE: u8 = 4;
const THREAD: u8 = 5;
const OBJECT: u8 = 6;
const VALUE: u8 = 7;
const KEY: u8 = 8;

const DAEMON: u64 = 1;
const VIRTUAL: u64 = 2;

impl Definition {
    /// Appends the entry: a tag, the length of the rest, the rest. The length lets a reader pass over tags it does
    /// not know.
    pub(crate) fn encode(&self, out: &mut Vec<u8>, scratch: &mut Vec<u8>) {
        scratch.clear();
        let body = scratch;
        let tag = match self {
            Definition::Class(id, class) => {
                put(body, id.0.into());
                put_str(body, &class.name);
                put_str(body, &class.superclass);
                put_str(body, &class.file);
                put(body, class.flags.into());
                put_strings(body, &class.annotations);
                CLASS
            }
            Definition::Method(id, method) => {
                put(body, id.0.into());
                put(body, method.class.0.into());
                put_str(body, &method.name);
                put_str(body, &method.descriptor);
                put(body, method.flags.into());
                put_strings(body, &method.annotations);
                METHOD
            }
            Definition::Field(id, field) => {
                put(body, id.0.into());
                put(body, field.class.0.into());
                put_str(body, &field.name);
                put_str(body, &field.descriptor);
                put(body, field.flags.into());
                put_strings(body, &field.annotations);
                FIELD
            }
            Definition::Site(id, site) => {
                put(body, id.0.into());
                put(body, site.method.0.into());
                put(body, site.bci.into());
                put(body, site.line.into());
                put_site_kind(body, &site.what);
                SITE
            }
            Definition::Thread(id, thread) => {
                put(body, id.0.into());
                put_str(body, &thread.name);
                put(body, thread.parent.map_or(0, |parent| u64::from(parent.0) + 1));
                put(body, thread.spawn_index.into());
                put(
                    body,
                    if thread.daemon { DAEMON } else { 0 } | if thread.virtual_thread { VIRTUAL } else { 0 },
                );
                put_str(body, &thread.exception);
                THREAD
            }
            Definition::Object { object, class_name } => {
                put(body, object.0);
                put_str(body, class_name);
                OBJECT
            }
            Definition::Value {
                thread,
                position,
                site,
                text,
            } => {
                put(body, thread.0.into());
                put(body, (*position).into());
                put(body, site.0.into());
                put_str(body, text);
                VALUE
            }
            Definition::Key { number, text } => {
                put(body, (*number).into());
                put_str(body, text);
                KEY
            }
        };
        out.push(tag);
        put(out, body.len() as u64);
        out.extend_from_slice(body);
    }

    /// Takes the entry at `at`: `Err` if the bytes are none, `Ok(None)` if it is of a later kind and was passed over.
    pub(crate) fn decode(bytes: &[u8], at: &mut usize) -> Result<Option<Definition>, ()> {
        let tag = *bytes.get(*at).ok_or(())?;
        *at += 1;
        let body = get_slice(bytes, at).ok_or(())?;
        if !(CLASS..=KEY).contains(&tag) {
            return Ok(None);
        }
        decode_body(tag, body).map(Some).ok_or(())
    }
}

fn decode_body(tag: u8, body: &[u8]) -> Option<Definition> {
    let at = &mut 0;
    let id = get(body, at)?;
    if tag == OBJECT {
        return Some(Definition::Object {
            object: ObjectId(id),
            class_name: get_str(body, at)?,
        });
    }
    let id = u32::try_from(id).ok()?;
    Some(match tag {
        CLASS => Definition::Class(
            ClassId(id),
            Class {
                name: get_str(body, at)?,
                superclass: get_str(body, at)?,
                file: get_str(body, at)?,
                flags: get_u16(body, at)?,
                annotations: get_strings(body, at)?,
            },
        ),
        METHOD => Definition::Method(
            MethodId(id),
            Method {
                class: ClassId(get_u32(body, at)?),
                name: get_str(body, at)?,
                descriptor: get_str(body, at)?,
                flags: get_u16(body, at)?,
                annotations: get_strings(body, at)?,
            },
        ),
        FIELD => Definition::Field(
            FieldId(id),
            Field {
                class: ClassId(get_u32(body, at)?),
                name: get_str(body, at)?,
                descriptor: get_str(body, at)?,
                flags: get_u16(body, at)?,
                annotations: get_strings(body, at)?,
            },
        ),
        SITE => Definition::Site(
            SiteId(id),
            Site {
                method: MethodId(get_u32(body, at)?),
                bci: get_u32(body, at)?,
                line: get_u32(body, at)?,
                what: get_site_kind(body, at)?,
            },
        ),
        THREAD => {
            let name = get_str(body, at)?;
            let parent = get(body, at)?;
            let parent = match parent {
                0 => None,
                _ => Some(ThreadId(u32::try_from(parent - 1).ok()?)),
            };
            let spawn_index = get_u32(body, at)?;
            let bits = get(body, at)?;
            Definition::Thread(
                ThreadId(id),
                Thread {
                    name,
                    parent,
                    spawn_index,
                    daemon: bits & DAEMON != 0,
                    virtual_thread: bits & VIRTUAL != 0,
                    exception: get_str(body, at)?,
                },
            )
        }
        VALUE => Definition::Value {
            thread: ThreadId(id),
            position: get_u32(body, at)?,
            site: SiteId(get_u32(body, at)?),
            text: get_str(body, at)?,
        },
        KEY => Definition::Key {
            number: id,
            text: get_str(body, at)?,
        },
        _ => return None,
    })
}

fn put_site_kind(out: &mut Vec<u8>, what: &SiteKind) {
    match what {
        SiteKind::Unknown => out.push(0),
        SiteKind::Field(field) => {
            out.push(1);
            put(out, field.0.into());
        }
        SiteKind::Element(descriptor) => {
            out.push(2);
            put_str(out, descriptor);
        }
        SiteKind::Lock => out.push(3),
        SiteKind::Call(target) => {
            out.push(4);
            put_str(out, target);
        }
        SiteKind::Method => out.push(5),
        SiteKind::Fenced(field) => {
            out.push(6);
            put(out, field.0.into());
        }
    }
}

fn get_site_kind(bytes: &[u8], at: &mut usize) -> Option<SiteKind> {
    let tag = *bytes.get(*at)?;
    *at += 1;
    Some(match tag {
        1 => SiteKind::Field(FieldId(get_u32(bytes, at)?)),
        2 => SiteKind::Element(get_str(bytes, at)?),
        3 => SiteKind::Lock,
        4 => SiteKind::Call(get_str(bytes, at)?),
        5 => SiteKind::Method,
        6 => SiteKind::Fenced(FieldId(get_u32(bytes, at)?)),
        _ => SiteKind::Unknown,
    })
}

fn put_strings(out: &mut Vec<u8>, strings: &[String]) {
    put(out, strings.len() as u64);
    for text in strings {
        put_str(out, text);
    }
}

fn get_strings(bytes: &[u8], at: &mut usize) -> Option<Vec<String>> {
    // Grows as strings are found, not as the count says: the count is not to be trusted with memory.
    let mut strings = Vec::new();
    for _ in 0..get(bytes, at)? {
        strings.push(get_str(bytes, at)?);
    }
    Some(strings)
}

fn get_u32(bytes: &[u8], at: &mut usize) -> Option<u32> {
    u32::try_from(get(bytes, at)?).ok()
}

fn get_u16(bytes: &[u8], at: &mut usize) -> Option<u16> {
    u16::try_from(get(bytes, at)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_of_each() -> Vec<Definition> {
        let text = |s: &str| s.to_string();
        vec![
            Definition::Class(
                ClassId(3),
                Class {
                    name: text("shop.Stock"),
                    superclass: text("java.lang.Object"),
                    file: text("Stock.java"),
                    flags: 0x21,
                    annotations: vec![text("ThreadSafe"), text("AtomicSet(a)")],
                },
            ),
            Definition::Method(
                MethodId(0),
                Method {
                    class: ClassId(3),
                    name: text("take"),
                    descriptor: text("(I)Z"),
                    flags: 1,
                    annotations: vec![],
                },
            ),
            Definition::Field(
                FieldId(u32::MAX),
                Field {
                    class: ClassId(3),
                    name: text("n"),
                    descriptor: text("J"),
                    ..Field::default()
                },
            ),
            Definition::Site(
                SiteId(5),
                Site {
                    method: MethodId(0),
                    bci: 14,
                    line: 88,
                    what: SiteKind::Element(text("[I")),
                },
            ),
            Definition::Site(
                SiteId(6),
                Site {
                    what: SiteKind::Call(text("java.util.List.add")),
                    ..Site::default()
                },
            ),
            Definition::Site(
                SiteId(7),
                Site {
                    what: SiteKind::Field(FieldId(2)),
                    ..Site::default()
                },
            ),
            Definition::Thread(
                ThreadId(1),
                Thread {
                    name: text("wörker"),
                    parent: Some(ThreadId(0)),
                    spawn_index: 4,
                    daemon: true,
                    virtual_thread: true,
                    exception: text("java.lang.Error: no"),
                },
            ),
            Definition::Object {
                object: ObjectId(1 << 46 | 9),
                class_name: text("java.lang.Object"),
            },
            Definition::Value {
                thread: ThreadId(1),
                position: 12,
                site: SiteId(5),
                text: text("\"nö\""),
            },
            Definition::Key {
                number: u32::MAX,
                text: text("7"),
            },
        ]
    }

    #[test]
    fn definitions_round_trip() {
        let (mut bytes, mut scratch) = (Vec::new(), Vec::new());
        for definition in one_of_each() {
            definition.encode(&mut bytes, &mut scratch);
        }
        let mut at = 0;
        for definition in one_of_each() {
            assert_eq!(Definition::decode(&bytes, &mut at), Ok(Some(definition)));
        }
        assert_eq!(at, bytes.len());
    }

    #[test]
    fn later_kinds_are_passed_over_and_cut_ones_refused() {
        let mut at = 0;
        assert_eq!(Definition::decode(&[99, 2, 0, 0], &mut at), Ok(None));
        assert_eq!(at, 4);
        let (mut bytes, mut scratch) = (Vec::new(), Vec::new());
        one_of_each()[0].encode(&mut bytes, &mut scratch);
        for end in 0..bytes.len() {
            assert_eq!(Definition::decode(&bytes[..end], &mut 0), Err(()), "cut at {end}");
        }
    }
}
