//! Ids of classes, methods, fields and sites, and what is known of them so far.
//!
//! A site may name a field of a class that is not loaded yet, or name it through a subclass. Its entry is mended as soon
//! as the class is there, which is before the site can first run.

use std::sync::Arc;

use ravel_protocol::{ELEMENTS, Watch};
use ravel_trace::definition::Definition;
use ravel_trace::ids::{ClassId, FieldId, MethodId, SiteId};
use ravel_trace::names::{Class, Field, Method, Site, SiteKind, flags};
use ravel_trace::origin;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::recorder::{MAX_SITES, Recorder};

/// A site's byte: the field is volatile.
pub const SITE_VOLATILE: u8 = 1;
/// A site's byte: the field is final.
pub const SITE_FINAL: u8 = 2;
/// Set for a site whose accesses are not recorded because others are watched.
pub const SITE_UNWATCHED: u8 = 4;
/// It is a call of a tool of the JDK: what is in the tool counts.
pub const SITE_CALLS_TOOL: u8 = 8;
/// It is a call of a service of the JDK: what is in collections inside does not count.
pub const SITE_CALLS_SERVICE: u8 = 16;
/// A site's hint: an access needs no decision, because no two threads share the field.
pub const HINT_QUIET: u8 = 1;
/// A site's hint: the access writes.
pub const HINT_WRITES: u8 = 2;

/// A field as a class file declares it.
#[derive(Debug, Clone)]
pub struct DeclaredField {
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Its access flags.
    pub flags: u16,
    /// The annotations that matter.
    pub annotations: Vec<String>,
}

/// What is known of a field at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// Its class has been seen.
    Flags(u16),
    /// Its class has not been loaded yet.
    Nothing,
}

#[derive(Default)]
struct ClassEntry {
    id: ClassId,
    loaded: bool,
    /// Left out of the recording: its fields have no accesses.
    left_out: bool,
    superclass: String,
    fields: FxHashMap<(String, String), FieldId>,
    waiting: Vec<SiteId>,
}

struct FieldEntry {
    class: String,
    name: String,
    descriptor: String,
    flags: u16,
    declared: bool,
}

/// What is recorded of a long run.
struct Watched {
    fields: FxHashSet<String>,
    methods: FxHashSet<String>,
}

/// All ids given out so far.
pub struct Registry {
    /// The accesses and results that are recorded; all if none are named.
    watched: Option<Watched>,
    /// In a search: fields that no two threads share.
    quiet: FxHashSet<String>,
    recorder: Arc<Recorder>,
    classes: FxHashMap<String, ClassEntry>,
    class_count: u32,
    methods: u32,
    fields: Vec<FieldEntry>,
    sites: Vec<Site>,
}

impl Registry {
    /// Empty, but for site 0, which is unknown.
    pub fn new(recorder: Arc<Recorder>) -> Self {
        Registry {
            watched: None,
            quiet: FxHashSet::default(),
            recorder,
            classes: FxHashMap::default(),
            class_count: 0,
            methods: 0,
            fields: Vec::new(),
            sites: vec![Site::default()],
        }
    }

    /// Records these accesses and results alone.
    pub fn watch(mut self, watch: Watch) -> Self {
        self.watched = Some(Watched {
            fields: watch.fields.into_iter().collect(),
            methods: watch.methods.into_iter().collect(),
        });
        self
    }

    /// Names the fields that no two threads share.
    pub fn quiet(mut self, fields: &[String]) -> Self {
        self.quiet = fields.iter().cloned().collect();
        self
    }

    /// Says that the access at a site writes.
    pub fn writes(&self, site: SiteId) {
        self.hint(site, HINT_WRITES);
    }

    /// Whether accesses to a field, or to elements of arrays, are recorded.
    fn watches(&self, field: impl FnOnce() -> String) -> bool {
        let watched = self.watched.as_ref();
        watched.is_none_or(|watched| watched.fields.contains(&field()))
    }

    fn is_watched(&self, field: &FieldEntry) -> bool {
        self.watches(|| format!("{}.{}", field.class.replace('/', "."), field.name))
    }

    /// The id of a class by internal name.
    pub fn class(&mut self, name: &str) -> ClassId {
        if let Some(entry) = self.classes.get(name) {
            return entry.id;
        }
        let id = ClassId(self.class_count);
        self.class_count += 1;
        self.classes.insert(
            name.to_string(),
            ClassEntry {
                id,
                ..ClassEntry::default()
            },
        );
        self.recorder.define(Definition::Class(
            id,
            Class {
                name: name.replace('/', "."),
                ..Class::default()
            },
        ));
        id
    }

    /// A class has been loaded: says what it is, and mends the sites that waited for it.
    pub fn load_class(&mut self, name: &str, superclass: &str, class: Class, fields: Vec<DeclaredField>) -> ClassId {
        let id = self.class(name);
        self.recorder.define(Definition::Class(id, class));
        for declared in fields {
            let field = self.field(name, &declared.name, &declared.descriptor);
            let entry = &mut self.fields[field.index()];
            entry.flags = declared.flags;
            entry.declared = true;
            self.recorder.define(Definition::Field(
                field,
                Field {
                    class: id,
                    name: declared.name,
                    descriptor: declared.descriptor,
                    flags: declared.flags,
                    annotations: declared.annotations,
                },
            ));
        }
        let Some(entry) = self.classes.get_mut(name) else {
            return id;
        };
        entry.loaded = true;
        entry.superclass = superclass.to_string();
        for site in std::mem::take(&mut entry.waiting) {
            self.settle(site);
        }
        id
    }

    /// A class has been loaded that is left out of the recording: keeps its volatile fields, and mends the sites that waited for it.
    pub fn load_left_out(&mut self, name: &str, superclass: &str, volatile: Vec<DeclaredField>) {
        let described = Class {
            name: name.replace('/', "."),
            superclass: superclass.replace('/', "."),
            ..Class::default()
        };
        self.class(name);
        if let Some(entry) = self.classes.get_mut(name) {
            entry.left_out = true;
        }
        self.load_class(name, superclass, described, volatile);
    }

    /// A new method of a class.
    pub fn method(&mut self, method: Method) -> MethodId {
        let id = MethodId(self.methods);
        self.methods += 1;
        self.recorder.define(Definition::Method(id, method));
        id
    }

    /// A field of the JDK's that stands for the state of a modelled object.
    pub fn state_field(&mut self, class: &str, name: &str) -> FieldId {
        let id = self.field(class, name, "J");
        let class = self.class(class);
        self.fields[id.index()].declared = true;
        self.recorder.define(Definition::Field(
            id,
            Field {
                class,
                name: name.to_string(),
                descriptor: "J".to_string(),
                flags: flags::VOLATILE | flags::SYNTHETIC,
                annotations: Vec::new(),
            },
        ));
        id
    }

    /// The program asks locks for their state: changes of it matter.
    pub fn asks_locks(&self) {
        self.recorder.asks_locks();
    }

    /// A site at which a method returns a value; none if the value is not recorded.
    pub fn result_site(&mut self, site: Site, method: &str) -> Option<SiteId> {
        let watched = self.watched.as_ref();
        let unwatched = watched.is_some_and(|watched| !watched.methods.contains(method));
        if unwatched || self.recorder.options.explore {
            return None;
        }
        self.site(site)
    }

    /// A new site, unless there are too many.
    pub fn site(&mut self, site: Site) -> Option<SiteId> {
        if self.sites.len() >= MAX_SITES {
            return None;
        }
        let id = SiteId(self.sites.len() as u32);
        self.recorder.define(Definition::Site(id, site.clone()));
        let elements = matches!(site.what, SiteKind::Element(_));
        if elements && !self.watches(|| ELEMENTS.to_string()) {
            self.flag(id, SITE_UNWATCHED);
        }
        if elements && self.quiet.contains(ELEMENTS) {
            self.hint(id, HINT_QUIET);
        }
        if let SiteKind::Call(callee) = &site.what
            && let Some((class, _)) = callee.rsplit_once('.')
        {
            if origin::calls_tool(class) {
                self.flag(id, SITE_CALLS_TOOL);
            } else if origin::calls_service(class) {
                self.flag(id, SITE_CALLS_SERVICE);
            }
        }
        self.sites.push(site);
        Some(id)
    }

    /// A new site that accesses a field, and what is known of the field.
    pub fn field_site(
        &mut self,
        mut site: Site,
        owner: &str,
        name: &str,
        descriptor: &str,
    ) -> Option<(SiteId, Knowledge)> {
        let field = self.field(owner, name, descriptor);
        site.what = match site.what {
            SiteKind::Fenced(_) => SiteKind::Fenced(field),
            _ => SiteKind::Field(field),
        };
        let id = self.site(site)?;
        self.point_at(id, field);
        Some((id, self.settle(id)))
    }

    /// The flags of a field as far as they are known, without making a site.
    pub fn field_flags(&mut self, owner: &str, name: &str, descriptor: &str) -> Option<u16> {
        self.resolve(owner, name, descriptor)
            .map(|field| self.fields[field.index()].flags)
    }

    fn field(&mut self, owner: &str, name: &str, descriptor: &str) -> FieldId {
        let class = self.class(owner);
        let key = (name.to_string(), descriptor.to_string());
        if let Some(field) = self.classes.get(owner).and_then(|entry| entry.fields.get(&key)) {
            return *field;
        }
        let id = FieldId(self.fields.len() as u32);
        self.fields.push(FieldEntry {
            class: owner.to_string(),
            name: key.0.clone(),
            descriptor: key.1.clone(),
            flags: 0,
            declared: false,
        });
        self.recorder.define(Definition::Field(
            id,
            Field {
                class,
                name: key.0.clone(),
                descriptor: key.1.clone(),
                ..Field::default()
            },
        ));
        if let Some(entry) = self.classes.get_mut(owner) {
            entry.fields.insert(key, id);
        }
        id
    }

    /// The declared field that a reference means, if every class on the way is loaded.
    fn resolve(&self, owner: &str, name: &str, descriptor: &str) -> Option<FieldId> {
        let key = (name.to_string(), descriptor.to_string());
        let mut class = owner;
        loop {
            let entry = self.classes.get(class).filter(|entry| entry.loaded)?;
            if let Some(field) = entry.fields.get(&key)
                && self.fields[field.index()].declared
            {
                return Some(*field);
            }
            class = &entry.superclass;
        }
    }

    /// Points a site at the declared field, or makes it wait for the class that is missing.
    fn settle(&mut self, id: SiteId) -> Knowledge {
        let Some(field) = self.sites[id.index()].what.field() else {
            return Knowledge::Nothing;
        };
        let entry = &self.fields[field.index()];
        let (owner, name, descriptor) = (entry.class.clone(), entry.name.clone(), entry.descriptor.clone());
        let Some(declared) = self.resolve(&owner, &name, &descriptor) else {
            let mut missing = owner;
            while let Some(entry) = self.classes.get(&missing).filter(|entry| entry.loaded) {
                missing = entry.superclass.clone();
            }
            self.class(&missing);
            if let Some(entry) = self.classes.get_mut(&missing) {
                entry.waiting.push(id);
            }
            return Knowledge::Nothing;
        };
        if declared != field {
            let what = &mut self.sites[id.index()].what;
            *what = match what {
                SiteKind::Fenced(_) => SiteKind::Fenced(declared),
                _ => SiteKind::Field(declared),
            };
            self.recorder
                .define(Definition::Site(id, self.sites[id.index()].clone()));
        }
        self.point_at(id, declared);
        let flags = self.fields[declared.index()].flags;
        let mut byte = 0;
        let is_fenced = matches!(self.sites[id.index()].what, SiteKind::Fenced(_));
        if flags & flags::VOLATILE != 0 || is_fenced {
            byte |= SITE_VOLATILE;
        }
        if flags & flags::FINAL != 0 && !self.recorder.options.keep_final {
            byte |= SITE_FINAL;
        }
        if !self.is_watched(&self.fields[declared.index()]) {
            byte |= SITE_UNWATCHED;
        }
        let field = &self.fields[declared.index()];
        let is_quiet = || {
            self.quiet
                .contains(&format!("{}.{}", field.class.replace('/', "."), field.name))
        };
        if flags & flags::FINAL != 0 || !self.quiet.is_empty() && is_quiet() {
            self.hint(id, HINT_QUIET);
        }
        self.flag(id, byte);
        Knowledge::Flags(flags)
    }

    fn flag(&self, site: SiteId, byte: u8) {
        // SAFETY: the site is below MAX_SITES, the size of the region; a byte is written whole.
        unsafe { self.recorder.sites.at(site.index()).write(byte) };
    }

    fn hint(&self, site: SiteId, bit: u8) {
        // SAFETY: the site is below MAX_SITES, the size of the region; a byte is written whole, and only with the registry locked.
        unsafe {
            let place = self.recorder.hints.at(site.index());
            place.write(place.read() | bit);
        }
    }

    fn point_at(&self, site: SiteId, field: FieldId) {
        let word = (MAX_SITES + field.index().min(MAX_SITES - 1)) as u32;
        // SAFETY: the site is below MAX_SITES and the region has twice that many words.
        unsafe { self.recorder.statics.at(site.index()).write(word) };
    }

    /// The fields that a loaded class declares, in the order of their ids: instance fields from 0 on, static ones from -1 down.
    pub fn declared_field(&self, class: &str, index: i32) -> Option<(String, FieldId)> {
        let entry = self
            .classes
            .get(class)
            .filter(|entry| entry.loaded && !entry.left_out)?;
        let mut fields: Vec<FieldId> = entry.fields.values().copied().collect();
        fields.retain(|field| {
            let field = &self.fields[field.index()];
            field.declared && (field.flags & flags::STATIC != 0) == (index < 0)
        });
        fields.sort_unstable();
        let place = if index < 0 { !index } else { index };
        fields
            .get(place as usize)
            .map(|field| (self.fields[field.index()].name.clone(), *field))
    }

    /// Whether what threads store needs fences, to be seen in its order.
    pub fn needs_fences(&self) -> bool {
        self.recorder.options.needs_fences()
    }

    /// Sites made so far.
    pub fn site_count(&self) -> usize {
        self.sites.len() - 1
    }
}
