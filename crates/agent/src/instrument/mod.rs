//! Rewrites classes as they are loaded. Only straight-line code is inserted; a method without room for it stays as it is
//! and is counted.

pub(crate) mod accesses;
mod application;
pub(crate) mod emit;
mod fences;
pub(crate) mod hook;
pub(crate) mod library;
mod old_unsafe;
mod ordering;
mod quiet;
mod redirect;
mod unheeded;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use ravel_classfile::{
    Attribute, ClassFile, Code, CodeEditor, ConstantPool, ErrorKind, Result, access, decode_modified_utf8,
    give_references_bodies, op,
};
use ravel_trace::ids::{ClassId, FieldId, MethodId};
use ravel_trace::names::{Class, Method};
use ravel_trace::origin;
use rustc_hash::FxHashMap;

use crate::filter::{Filter, Treatment};
use crate::focus::{ClassFocus, Focus, Known};
use crate::registry::{DeclaredField, Registry};
use emit::{Emit, WORD};
use hook::Hook;
pub use quiet::quiet;
pub use redirect::Redirects;

/// What became of the classes seen so far.
#[derive(Debug, Default, Clone)]
pub struct Counts {
    /// Classes changed.
    pub instrumented: u64,
    /// Application classes among them.
    pub application: u64,
    /// Classes left as they were, per reason.
    pub skipped: FxHashMap<String, u64>,
    /// Classes that could not be changed, per reason.
    pub failed: FxHashMap<String, u64>,
    /// Methods left alone in changed classes, per reason.
    pub left_alone: FxHashMap<String, u64>,
    /// Application classes that the focus plan was not made for.
    pub unfocused: Vec<String>,
}

impl Counts {
    fn fail(&mut self, name: &str, error: &dyn std::fmt::Display) {
        let reason = format!("{}: {error}", name.replace('/', "."));
        *self.failed.entry(reason).or_default() += 1;
    }
}

/// Rewrites classes.
pub struct Instrumenter {
    filter: Filter,
    focus: Option<Focus>,
    forcing: bool,
    redirects: Redirects,
    state: Mutex<InstrumentState>,
    /// Whether a class gets new fields and methods; one that is loaded cannot.
    adds_members: bool,
    /// Where classes are loaded again and again: what became of the application's, with the bytes that they had.
    again: Option<Mutex<Rewritten>>,
    /// Whether calls of `sun.misc.Unsafe` go to the class that stands for it.
    stands_in: AtomicBool,
}

/// Classes by name: the bytes, and those that they became.
type Rewritten = FxHashMap<String, (Vec<u8>, Option<Vec<u8>>)>;

/// What all classes share.
pub(crate) struct InstrumentState {
    pub registry: Registry,
    pub counts: Counts,
}

/// What one class needs while it is rewritten.
pub(crate) struct Context<'a> {
    pub filter: &'a Filter,
    /// What a plan leaves out of the class.
    pub focus: Option<&'a ClassFocus>,
    /// Whether the recording is for the race analyses alone.
    pub for_races: bool,
    /// The methods whose positions are no longer those of the class file, if there are any.
    pub moved: Vec<bool>,
    pub state: &'a mut InstrumentState,
    pub forcing: bool,
    /// Whether waits and notifications are a scheduler's.
    pub searching: bool,
    pub class: ClassId,
    pub name: String,
    pub superclass: String,
    /// Whether the class gets new fields.
    pub adds_members: bool,
}

/// One method while it is rewritten.
pub(crate) struct MethodContext {
    pub index: usize,
    pub name: String,
    pub descriptor: String,
    pub access: u16,
    pub annotations: Vec<String>,
    pub id: Option<MethodId>,
}

impl Instrumenter {
    /// With these rules and ids.
    pub fn new(filter: Filter, focus: Option<Focus>, registry: Registry, forcing: bool, redirects: Redirects) -> Self {
        Instrumenter {
            filter,
            focus,
            forcing,
            redirects,
            state: Mutex::new(InstrumentState {
                registry,
                counts: Counts::default(),
            }),
            adds_members: true,
            again: None,
            stands_in: AtomicBool::new(false),
        }
    }

    /// The class that stands for `sun.misc.Unsafe` is there: from now on calls go to it.
    pub fn use_stand_in(&self) {
        self.stands_in.store(true, Ordering::Relaxed);
    }

    /// For a JVM whose classes are loaded already.
    pub fn without_fields(mut self) -> Self {
        self.adds_members = false;
        self
    }

    /// Whether the class of this internal name gets hooks, as far as its name tells.
    pub fn concerns(&self, name: &str) -> bool {
        match self.filter.treatment(name) {
            Treatment::Application | Treatment::Collection => true,
            Treatment::Library => library::concerns(name),
            Treatment::Skip(_) => {
                !name.starts_with("java/lang/Ravel") && (self.filter.keeps_order(name) || library::concerns(name))
            }
        }
    }

    /// Whether a class of this internal name is the program's own.
    pub fn is_application(&self, name: &str) -> bool {
        self.filter.treatment(name) == Treatment::Application
    }

    /// Whether the fields of a class are recorded.
    pub fn records_fields(&self, name: &str) -> bool {
        self.filter.has_word(name)
    }

    /// Says what fields a loaded class has, before classes get hooks that access them.
    pub fn declare_loaded(&self, name: &str, superclass: &str, fields: Vec<DeclaredField>) {
        let described = Class {
            name: name.replace('/', "."),
            superclass: superclass.replace('/', "."),
            ..Class::default()
        };
        self.lock().registry.load_class(name, superclass, described, fields);
    }

    /// Whether an access to a field is known to order nothing between threads.
    pub fn orders_nothing(&self, class: &str, name: &str, descriptor: &str) -> bool {
        if !self.filter.has_word(class) {
            return true;
        }
        let known = self.lock().registry.field_flags(class, name, descriptor);
        known.is_some_and(|known| known & ravel_trace::names::flags::VOLATILE == 0)
    }

    /// Keeps what became of the application's classes, which are loaded again.
    pub fn keep(mut self) -> Self {
        self.again = Some(Mutex::default());
        self
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.lock().counts.clone()
    }

    /// Counts a class that could not be changed.
    pub fn fail(&self, name: &str, error: &dyn std::fmt::Display) {
        self.lock().counts.fail(name, error);
    }

    /// Sites made so far.
    pub fn site_count(&self) -> usize {
        self.lock().registry.site_count()
    }

    /// Whether instances of this class (internal name) carry a word that the class itself declares.
    pub fn declares_word(&self, name: &str) -> bool {
        self.filter.has_word(name)
    }

    /// The fields of a loaded class (internal name), one by one: instance fields from 0 on, static ones from -1 down.
    pub fn declared_field(&self, class: &str, index: i32) -> Option<(String, FieldId)> {
        self.lock().registry.declared_field(class, index)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, InstrumentState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The changed class, or none if it stays as it is.
    pub fn transform(&self, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        let Some(again) = &self.again else {
            return self.changed(name, bytes);
        };
        let lock = || again.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((same, new)) = lock().get(name)
            && same == bytes
        {
            return new.clone();
        }
        let new = self.changed(name, bytes);
        lock().insert(name.to_string(), (bytes.to_vec(), new.clone()));
        new
    }

    fn changed(&self, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        let treatment = self.filter.treatment(name);
        if treatment == Treatment::Library && !library::concerns(name) && !self.redirects.concerns(name) {
            return None;
        }
        let mut state = self.lock();
        if let Treatment::Skip(reason) = treatment {
            *state.counts.skipped.entry(Filter::reason(name, reason)).or_default() += 1;
            if !self.filter.keeps_order(name) && !library::concerns(name) {
                return None;
            }
            // It is not recorded, so it counts as failed only if the order that it makes is lost.
            return self.order(&mut state, name, bytes).unwrap_or_else(|error| {
                state.counts.fail(name, &error);
                None
            });
        }
        match self.rewrite(&mut state, name, bytes, treatment) {
            Ok(Some(new)) => {
                state.counts.instrumented += 1;
                if treatment == Treatment::Application {
                    state.counts.application += 1;
                }
                Some(new)
            }
            Ok(None) => {
                *state.counts.skipped.entry("nothing to record".to_string()).or_default() += 1;
                None
            }
            Err(error) => {
                state.counts.fail(name, &error);
                None
            }
        }
    }

    /// A class that is left out of the recording, changed so far that the order is recorded that it makes between threads.
    fn order(&self, state: &mut InstrumentState, name: &str, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut class = ClassFile::parse(bytes)?;
        let superclass = super_name(&class)?;
        let mut fields = declared_fields(&class)?;
        fields.retain(|field| field.flags & ravel_trace::names::flags::VOLATILE != 0);
        state.registry.load_left_out(name, &superclass, fields);
        let mut cx = Context {
            filter: &self.filter,
            focus: None,
            for_races: false,
            moved: Vec::new(),
            state,
            forcing: self.forcing,
            searching: self.redirects.search,
            class: ClassId(0),
            name: name.to_string(),
            superclass,
            adds_members: self.adds_members,
        };
        let mut changed = library::concerns(name) && library::rewrite(&mut cx, &mut class)?;
        if self.filter.keeps_order(name) {
            changed |= ordering::rewrite(&mut cx, &mut class)?;
            if self.stands_in.load(Ordering::Relaxed) {
                changed |= old_unsafe::redirect(&mut class)?;
            }
        }
        if changed { class.write().map(Some) } else { Ok(None) }
    }

    /// The class that stands for `sun.misc.Unsafe` in the code of programs on JDK 8, made of an empty one.
    pub fn stand_in_for_unsafe(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut state = self.lock();
        let mut class = ClassFile::parse(bytes)?;
        let mut cx = Context {
            filter: &self.filter,
            focus: None,
            for_races: false,
            moved: Vec::new(),
            state: &mut state,
            forcing: self.forcing,
            searching: self.redirects.search,
            adds_members: true,
            class: ClassId(0),
            name: "sun/misc/Unsafe".to_string(),
            superclass: super_name(&class)?,
        };
        old_unsafe::stand_in(&mut cx, &mut class)?;
        class.write()
    }

    fn rewrite(
        &self,
        state: &mut InstrumentState,
        name: &str,
        bytes: &[u8],
        treatment: Treatment,
    ) -> Result<Option<Vec<u8>>> {
        let mut class = ClassFile::parse(bytes)?;
        let application = treatment == Treatment::Application;
        if application && self.adds_members {
            give_references_bodies(&mut class, origin::is_called_by_reference);
        }
        let lengths = self.focus.as_ref().map(|_| code_lengths(&class)).unwrap_or_default();
        let redirected = self.redirects.apply(name, application, &mut class)?;
        let moved = match redirected {
            true => lengths
                .iter()
                .zip(code_lengths(&class))
                .map(|(old, new)| *old != new)
                .collect(),
            false => Vec::new(),
        };
        let superclass = super_name(&class)?;
        let known = self.focus.as_ref().filter(|_| treatment == Treatment::Application);
        let focus = match known.map(|focus| focus.class(name, bytes)) {
            Some(Known::Same(class)) => Some(class),
            Some(Known::Other) => {
                state.counts.unfocused.push(name.replace('/', "."));
                None
            }
            None => None,
        };
        let mut cx = Context {
            filter: &self.filter,
            focus,
            for_races: self.focus.as_ref().is_some_and(Focus::is_for_races),
            moved,
            state,
            forcing: self.forcing,
            searching: self.redirects.search,
            class: ClassId(0),
            name: name.to_string(),
            superclass,
            adds_members: self.adds_members,
        };
        let changed = match treatment {
            Treatment::Application | Treatment::Collection => {
                cx.class = declare(&mut cx, &class)?;
                add_word(&cx, &mut class)?;
                if treatment == Treatment::Application {
                    application::rewrite(&mut cx, &mut class)?;
                    if self.stands_in.load(Ordering::Relaxed) {
                        old_unsafe::redirect(&mut class)?;
                    }
                } else if !self.focus.as_ref().is_some_and(|focus| focus.is_plain(name)) {
                    library::rewrite_collection(&mut cx, &mut class)?;
                }
                true
            }
            _ => {
                if self.filter.has_word(name) {
                    add_word(&cx, &mut class)?;
                }
                library::rewrite(&mut cx, &mut class)? || redirected
            }
        };
        if changed { class.write().map(Some) } else { Ok(None) }
    }
}

/// How long the code of each method is.
fn code_lengths(class: &ClassFile) -> Vec<usize> {
    let code = |method| class.code(method).ok().flatten().map_or(0, |code| code.code.len());
    class.methods.iter().map(code).collect()
}

/// The internal name of the superclass; empty if there is none.
fn super_name(class: &ClassFile) -> Result<String> {
    let name = class.super_name()?;
    Ok(name
        .map(|name| decode_modified_utf8(name).into_owned())
        .unwrap_or_default())
}

fn declared_fields(class: &ClassFile) -> Result<Vec<DeclaredField>> {
    let mut fields = Vec::with_capacity(class.fields.len());
    for field in &class.fields {
        fields.push(DeclaredField {
            name: decode_modified_utf8(class.member_name(field)?).into_owned(),
            descriptor: decode_modified_utf8(class.member_descriptor(field)?).into_owned(),
            flags: field.access,
            annotations: annotations(class, &field.attributes),
        });
    }
    Ok(fields)
}

/// Tells the registry what the class is.
fn declare(cx: &mut Context<'_>, class: &ClassFile) -> Result<ClassId> {
    let fields = declared_fields(class)?;
    let file = match class.attribute("SourceFile") {
        Some(attribute) => match attribute.info.as_slice() {
            [high, low] => class.pool.text(u16::from_be_bytes([*high, *low]))?.into_owned(),
            _ => String::new(),
        },
        None => String::new(),
    };
    let described = Class {
        name: cx.name.replace('/', "."),
        superclass: cx.superclass.replace('/', "."),
        file,
        flags: class.access,
        annotations: annotations(class, &class.attributes),
    };
    Ok(cx
        .state
        .registry
        .load_class(&cx.name, &cx.superclass, described, fields))
}

/// The annotations that mean something to Ravel, whatever their package: `Name` or `Name(value)`.
fn annotations(class: &ClassFile, attributes: &[Attribute]) -> Vec<String> {
    const KNOWN: [&str; 7] = [
        "AtomicSet",
        "UnitOfWork",
        "NotAtomic",
        "GuardedBy",
        "ThreadSafe",
        "NotThreadSafe",
        "Immutable",
    ];
    // Most have none: do not decode for nothing.
    if !attributes.iter().any(|attribute| {
        class
            .pool
            .utf8(attribute.name)
            .is_ok_and(|name| name.ends_with(b"Annotations"))
    }) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for name in KNOWN {
        if let Ok(Some(annotation)) = class.annotation(attributes, name) {
            found.push(match annotation.string(&class.pool, "value") {
                Some(value) => format!("{name}({value})"),
                None => name.to_string(),
            });
        }
    }
    found
}

/// Gives instances their word, unless a superclass has given it already.
fn add_word(cx: &Context<'_>, class: &mut ClassFile) -> Result<()> {
    if !cx.adds_members || class.is(access::INTERFACE) || cx.filter.has_word(&cx.superclass) {
        return Ok(());
    }
    class.add_field(access::PUBLIC | access::TRANSIENT | access::SYNTHETIC, WORD, "J")?;
    Ok(())
}

impl Context<'_> {
    /// Whether this class is the one that declares the word.
    pub fn is_root(&self) -> bool {
        !self.filter.has_word(&self.superclass)
    }

    /// Puts what a hook says into the word of the object that `object` pushes, and shows it to other threads.
    fn give_word(&self, object: Emit, says: Hook, word: u16, pool: &mut ConstantPool) -> Result<Emit> {
        let given = object.call(says, "()J", pool)?.indexed(op::PUTFIELD, word);
        match self.state.registry.needs_fences() {
            true => given.call(hook::SHOWN, "()V", pool),
            false => Ok(given),
        }
    }

    /// The id of the method, defined when first asked for.
    pub fn method_id(&mut self, method: &mut MethodContext) -> MethodId {
        if let Some(id) = method.id {
            return id;
        }
        let id = self.state.registry.method(Method {
            class: self.class,
            name: method.name.clone(),
            descriptor: method.descriptor.clone(),
            flags: method.access,
            annotations: method.annotations.clone(),
        });
        method.id = Some(id);
        id
    }

    /// Puts the edited code back, or counts why it cannot be.
    pub fn apply(&mut self, class: &mut ClassFile, index: usize, edit: &CodeEditor, mut code: Code) -> Result<bool> {
        match edit.apply(&mut code, &mut class.pool, class.major) {
            Ok(_) => {
                class.set_code(index, &code)?;
                Ok(true)
            }
            Err(error) => match error.kind {
                ErrorKind::CodeTooLarge(_) => {
                    self.leave_alone("more than 64 KB of code");
                    Ok(false)
                }
                ErrorKind::BranchOutOfRange(_) => {
                    self.leave_alone("a branch over more than 32 KB");
                    Ok(false)
                }
                _ => Err(error),
            },
        }
    }

    /// Counts a method that stays as it is.
    pub fn leave_alone(&mut self, reason: &str) {
        *self.state.counts.left_alone.entry(reason.to_string()).or_default() += 1;
    }
}

/// The methods of a class that have code.
pub(crate) fn methods(class: &ClassFile) -> Result<Vec<MethodContext>> {
    let mut found = Vec::with_capacity(class.methods.len());
    for (index, method) in class.methods.iter().enumerate() {
        if method.is(access::NATIVE) || method.is(access::ABSTRACT) {
            continue;
        }
        found.push(MethodContext {
            index,
            name: decode_modified_utf8(class.member_name(method)?).into_owned(),
            descriptor: decode_modified_utf8(class.member_descriptor(method)?).into_owned(),
            access: method.access,
            annotations: annotations(class, &method.attributes),
            id: None,
        });
    }
    Ok(found)
}

/// Source lines of a method, by bytecode index.
pub(crate) struct Lines(Vec<(u16, u16)>);

impl Lines {
    pub fn of(class: &ClassFile, code: &Code) -> Lines {
        let mut lines = Vec::new();
        if let Some(table) = code.attribute(&class.pool, "LineNumberTable") {
            for entry in table.info.get(2..).unwrap_or_default().chunks_exact(4) {
                lines.push((
                    u16::from_be_bytes([entry[0], entry[1]]),
                    u16::from_be_bytes([entry[2], entry[3]]),
                ));
            }
        }
        lines.sort_unstable();
        Lines(lines)
    }

    pub fn at(&self, pc: u32) -> u32 {
        let after = self.0.partition_point(|(start, _)| u32::from(*start) <= pc);
        after
            .checked_sub(1)
            .and_then(|i| self.0.get(i))
            .map_or(0, |(_, line)| u32::from(*line))
    }
}
