//! From definitions to [`Names`]: dense tables in which every reference leads somewhere, whatever the file says.

use rustc_hash::FxHashMap;

use crate::definition::Definition;
use crate::ids::{ClassId, FieldId, MethodId, ObjectId, SiteId, ThreadId};
use crate::names::{Class, Field, Method, Names, Site, SiteKind, Thread};

/// What stands for a name that the trace does not give.
const UNKNOWN: &str = "?";

/// Collects definitions in the order of the file.
#[derive(Default)]
pub(crate) struct Tables {
    classes: Vec<(u32, Class)>,
    methods: Vec<(u32, Method)>,
    fields: Vec<(u32, Field)>,
    sites: Vec<(u32, Site)>,
    threads: Vec<(u32, Thread)>,
    objects: Objects,
    values: FxHashMap<(ThreadId, u32, SiteId), String>,
    keys: FxHashMap<u32, String>,
}

/// The classes of objects.
#[derive(Default, Debug)]
pub(crate) struct Objects {
    classes: FxHashMap<u64, u32>,
    names: Vec<String>,
    by_name: FxHashMap<String, u32>,
}

impl Objects {
    fn define(&mut self, object: ObjectId, class_name: String) {
        let index = *self.by_name.entry(class_name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            self.names.len() as u32 - 1
        });
        self.classes.insert(object.0, index);
    }

    pub fn class_name(&self, object: ObjectId) -> Option<&str> {
        let index = *self.classes.get(&object.0)?;
        self.names.get(index as usize).map(String::as_str)
    }
}

/// Ids so far from dense that a table of them would be mostly holes.
pub(crate) struct Sparse;

impl Tables {
    /// Takes the definitions of one table block; false if the bytes are none.
    pub fn add(&mut self, payload: &[u8]) -> bool {
        let mut at = 0;
        while at < payload.len() {
            match Definition::decode(payload, &mut at) {
                Err(()) => return false,
                Ok(None) => {}
                Ok(Some(Definition::Class(id, class))) => self.classes.push((id.0, class)),
                Ok(Some(Definition::Method(id, method))) => self.methods.push((id.0, method)),
                Ok(Some(Definition::Field(id, field))) => self.fields.push((id.0, field)),
                Ok(Some(Definition::Site(id, site))) => self.sites.push((id.0, site)),
                Ok(Some(Definition::Thread(id, thread))) => self.threads.push((id.0, thread)),
                Ok(Some(Definition::Object { object, class_name })) => self.objects.define(object, class_name),
                Ok(Some(Definition::Value {
                    thread,
                    position,
                    site,
                    text,
                })) => {
                    self.values.insert((thread, position, site), text);
                }
                Ok(Some(Definition::Key { number, text })) => {
                    self.keys.insert(number, text);
                }
            }
        }
        true
    }

    /// The tables, all references within them.
    pub fn finish(self) -> Result<(Names, Objects), Sparse> {
        let mut names = Names {
            classes: dense(self.classes, |_| Class {
                name: UNKNOWN.into(),
                ..Class::default()
            })?,
            methods: dense(self.methods, |_| Method {
                class: ClassId(u32::MAX),
                name: UNKNOWN.into(),
                ..Method::default()
            })?,
            fields: dense(self.fields, |_| Field {
                class: ClassId(u32::MAX),
                name: UNKNOWN.into(),
                ..Field::default()
            })?,
            sites: dense(self.sites, |_| Site {
                method: MethodId(u32::MAX),
                ..Site::default()
            })?,
            threads: dense(self.threads, unknown_thread)?,
            values: self.values,
            keys: self.keys,
            ..Names::default()
        };
        if names.sites.is_empty() {
            names.sites.push(Site {
                method: MethodId(u32::MAX),
                ..Site::default()
            });
        }
        close_references(&mut names);
        Ok((names, self.objects))
    }
}

/// What is known of a thread that the trace does not define.
pub(crate) fn unknown_thread(id: u32) -> Thread {
    Thread {
        name: format!("thread-{id}"),
        ..Thread::default()
    }
}

/// A table by id in which later definitions replace earlier ones and `missing` fills the holes.
fn dense<T>(definitions: Vec<(u32, T)>, missing: impl Fn(u32) -> T) -> Result<Vec<T>, Sparse> {
    let length = definitions.iter().map(|(id, _)| *id as usize + 1).max().unwrap_or(0);
    // A few bytes must not make a table of gigabytes.
    if length > 8 * definitions.len() + (1 << 16) {
        return Err(Sparse);
    }
    let mut table = Vec::with_capacity(length);
    for (id, entry) in definitions {
        let index = id as usize;
        while table.len() < index {
            table.push(missing(table.len() as u32));
        }
        if index == table.len() {
            table.push(entry);
        } else {
            table[index] = entry;
        }
    }
    Ok(table)
}

/// Sends references to what is not defined to an unknown class and method at the end of the tables.
fn close_references(names: &mut Names) {
    let classes = names.classes.len() as u32;
    let methods = names.methods.len() as u32;
    let (fields, threads) = (names.fields.len() as u32, names.threads.len() as u32);
    let stray_site = names.sites.iter().any(|site| site.method.0 >= methods);
    let stray_class = stray_site
        || names.methods.iter().any(|method| method.class.0 >= classes)
        || names.fields.iter().any(|field| field.class.0 >= classes);
    if stray_class {
        names.classes.push(Class {
            name: UNKNOWN.into(),
            ..Class::default()
        });
    }
    if stray_site {
        names.methods.push(Method {
            class: ClassId(classes),
            name: UNKNOWN.into(),
            ..Method::default()
        });
    }
    for method in &mut names.methods {
        method.class.0 = method.class.0.min(classes);
    }
    for field in &mut names.fields {
        field.class.0 = field.class.0.min(classes);
    }
    for site in &mut names.sites {
        site.method.0 = site.method.0.min(methods);
        if site.what.field().is_some_and(|field| field.0 >= fields) {
            site.what = SiteKind::Unknown;
        }
    }
    for thread in &mut names.threads {
        thread.parent = thread.parent.filter(|parent| parent.0 < threads);
    }
}

/// Ids that records use and no table defines: each gets an entry of its own behind the tables, so that two unknown
/// things are never taken for one.
#[derive(Default)]
pub(crate) struct Strays {
    fields: FxHashMap<u64, FieldId>,
    threads: FxHashMap<u64, ThreadId>,
    methods: FxHashMap<u64, MethodId>,
    classes: FxHashMap<u64, ClassId>,
}

impl Strays {
    /// The thread with the recorder's number `raw`; `defined` is how many the tables define.
    pub fn thread(&mut self, raw: u64, defined: usize, names: &mut Names) -> ThreadId {
        if raw < defined as u64 {
            return ThreadId(raw as u32);
        }
        *self.threads.entry(raw).or_insert_with(|| {
            names.threads.push(unknown_thread(raw as u32));
            ThreadId::from(names.threads.len() - 1)
        })
    }

    /// A field of no known name; `key` tells it from others.
    pub fn field(&mut self, key: u64, names: &mut Names) -> FieldId {
        if let Some(field) = self.fields.get(&key) {
            return *field;
        }
        let class = self.class(u64::MAX, names);
        names.fields.push(Field {
            class,
            name: UNKNOWN.into(),
            ..Field::default()
        });
        let field = FieldId::from(names.fields.len() - 1);
        self.fields.insert(key, field);
        field
    }

    /// A method of no known name.
    pub fn method(&mut self, key: u64, names: &mut Names) -> MethodId {
        if let Some(method) = self.methods.get(&key) {
            return *method;
        }
        let class = self.class(u64::MAX, names);
        names.methods.push(Method {
            class,
            name: UNKNOWN.into(),
            ..Method::default()
        });
        let method = MethodId::from(names.methods.len() - 1);
        self.methods.insert(key, method);
        method
    }

    /// A class of no known name.
    pub fn class(&mut self, key: u64, names: &mut Names) -> ClassId {
        *self.classes.entry(key).or_insert_with(|| {
            names.classes.push(Class {
                name: UNKNOWN.into(),
                ..Class::default()
            });
            ClassId::from(names.classes.len() - 1)
        })
    }
}
