//! The classes of the program as ownership needs them: every field and method resolved, every method's flow of values.
//!
//! Closed: what is in the world is all code of the program apart from the JDK. A class that is loaded at run time and is not
//! here, or is not the same, ends what was proven; the agent looks at each one's hash.

use ravel_classfile::{ClassFile, Constant, access, content_hash};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::{Call, Flow};
use crate::lowering;
use crate::reflection::Reflection;
use ravel_scan::symbols::{Sym, Symbols};

/// A field, by its place in [`World::fields`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FieldIx(pub u32);

/// A method, by its place in [`World::methods`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MethodIx(pub u32);

/// A class, by its place in [`World::classes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClassIx(pub u32);

/// A class file to be read.
#[derive(Clone, Debug)]
pub struct ClassInput {
    /// Where it was found.
    pub origin: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A class.
#[derive(Debug)]
pub struct OwnClass {
    /// Its internal name.
    pub name: Sym,
    /// Its super class.
    pub super_class: Option<Sym>,
    /// Its interfaces.
    pub interfaces: Vec<Sym>,
    /// Access flags.
    pub access: u16,
    /// The hash of its bytes.
    pub hash: u64,
    /// The source file's name.
    pub source: String,
    /// Its fields, by name and type.
    pub fields: FxHashMap<Sym, FieldIx>,
    /// Its methods, by name and descriptor.
    pub methods: FxHashMap<Sym, MethodIx>,
    /// Whether it has annotations that are there at run time: a framework may call what it likes.
    pub annotated: bool,
    /// Whether it says that its objects never change.
    pub immutable: bool,
    /// Whether it says that its objects protect themselves.
    pub thread_safe: bool,
}

/// A field.
#[derive(Debug)]
pub struct OwnField {
    /// The class that declares it.
    pub class: ClassIx,
    /// Its name and type, `items:I`.
    pub member: Sym,
    /// Access flags.
    pub access: u16,
    /// The text of `@GuardedBy`.
    pub guard: Option<String>,
}

/// A method.
#[derive(Debug)]
pub struct OwnMethod {
    /// Its class.
    pub class: ClassIx,
    /// Its name and descriptor.
    pub selector: Sym,
    /// Its name.
    pub name: String,
    /// Access flags.
    pub access: u16,
    /// Whether it has annotations that are there at run time.
    pub annotated: bool,
    /// What its code does; none if it is abstract or native.
    pub flow: Option<Box<Flow>>,
}

/// The program.
#[derive(Debug, Default)]
pub struct World {
    /// Its names.
    pub symbols: Symbols,
    /// Its classes, by name.
    pub classes: Vec<OwnClass>,
    /// Its fields.
    pub fields: Vec<OwnField>,
    /// Its methods.
    pub methods: Vec<OwnMethod>,
    /// The classes by name.
    pub by_name: FxHashMap<Sym, ClassIx>,
    /// Why nothing can be proven, if something could not be read.
    pub unreadable: Vec<String>,
    /// Whether code calls methods that it finds by reflection.
    pub reflective_calls: bool,
    /// Whether code lists the methods of a class, so that any may be called.
    pub lists_methods: bool,
    /// What writes fields by handles, updaters, reflection or addresses.
    pub reflection: Reflection,
    /// Fields that handles, updaters or reflection may write.
    pub hidden_writes: FxHashSet<FieldIx>,
    /// All string constants.
    pub strings: FxHashSet<Vec<u8>>,
    children: FxHashMap<Sym, Vec<ClassIx>>,
}

/// Annotations that no framework looks for to call what carries them.
fn calls_nothing(simple_name: &[u8]) -> bool {
    const NAMES: [&[u8]; 12] = [
        b"GuardedBy",
        b"Immutable",
        b"ThreadSafe",
        b"NotThreadSafe",
        b"AtomicSet",
        b"UnitOfWork",
        b"NotAtomic",
        b"Deprecated",
        b"FunctionalInterface",
        b"SafeVarargs",
        b"Override",
        b"SuppressWarnings",
    ];
    NAMES.contains(&simple_name)
}

/// Chains of super classes longer than this are damaged.
const MAX_DEPTH: usize = 200;

impl World {
    /// Reads classes. Of two with one name the first counts, as on a class path.
    pub fn new(inputs: &[ClassInput]) -> World {
        let mut world = World::default();
        let mut files = Vec::new();
        for input in inputs {
            match ClassFile::parse(&input.bytes) {
                Ok(file) if file.is(access::MODULE) => {}
                Ok(file) => match world.declare(&file, &input.bytes) {
                    Ok(Some(class)) => files.push((class, file)),
                    Ok(None) => {}
                    Err(error) => world.unreadable.push(format!("{}: {error}", input.origin)),
                },
                Err(error) => world.unreadable.push(format!("{}: {error}", input.origin)),
            }
        }
        for (class, file) in &files {
            if let Err(error) = world.lower(*class, file) {
                let name = world.class_text(*class);
                world.unreadable.push(format!("{name}: {error}"));
            }
        }
        let hidden = |field: &FieldIx| {
            let name = world.symbols.member_name(world.field(*field).member);
            world.reflection.may_write(name.as_bytes(), &world.strings)
        };
        world.hidden_writes = (0..world.fields.len() as u32).map(FieldIx).filter(hidden).collect();
        world
    }

    fn declare(&mut self, file: &ClassFile, bytes: &[u8]) -> Result<Option<ClassIx>, ravel_classfile::ClassError> {
        let name = self.symbols.intern(file.name()?);
        if self.by_name.contains_key(&name) || file.name()?.ends_with(b"package-info") {
            return Ok(None);
        }
        let class = ClassIx(self.classes.len() as u32);
        let super_class = file.super_name()?.map(|name| self.symbols.intern(name));
        let mut interfaces = Vec::new();
        for index in &file.interfaces {
            interfaces.push(self.symbols.intern(file.pool.class_name(*index)?));
        }
        let mut fields = FxHashMap::default();
        for member in &file.fields {
            let mut text = file.member_name(member)?.to_vec();
            text.push(b':');
            text.extend_from_slice(file.member_descriptor(member)?);
            let field = FieldIx(self.fields.len() as u32);
            let member_name = self.symbols.intern(&text);
            let guard = file.annotation(&member.attributes, "GuardedBy").ok().flatten();
            self.fields.push(OwnField {
                class,
                member: member_name,
                access: member.access,
                guard: guard
                    .and_then(|guard| guard.string(&file.pool, "value"))
                    .map(|text| text.to_string()),
            });
            fields.insert(member_name, field);
        }
        let visible = |attributes: &[ravel_classfile::Attribute]| {
            let at_run_time = attributes
                .iter()
                .any(|attribute| file.pool.utf8(attribute.name) == Ok(b"RuntimeVisibleAnnotations"));
            at_run_time
                && file.annotations(attributes).map_or(true, |all| {
                    all.iter()
                        .any(|annotation| !annotation.simple_name(&file.pool).is_ok_and(calls_nothing))
                })
        };
        let mut methods = FxHashMap::default();
        for member in &file.methods {
            let method_name = file.member_name(member)?;
            let mut text = method_name.to_vec();
            text.extend_from_slice(file.member_descriptor(member)?);
            let method = MethodIx(self.methods.len() as u32);
            let selector = self.symbols.intern(&text);
            self.methods.push(OwnMethod {
                class,
                selector,
                name: String::from_utf8_lossy(method_name).into_owned(),
                access: member.access,
                annotated: visible(&member.attributes),
                flow: None,
            });
            methods.insert(selector, method);
        }
        let says = |name: &str| {
            file.annotation(&file.attributes, name)
                .is_ok_and(|found| found.is_some())
        };
        let source = match file.attribute("SourceFile").map(|attribute| attribute.info.as_slice()) {
            Some([high, low]) => file.pool.text(u16::from_be_bytes([*high, *low]))?.into_owned(),
            _ => String::new(),
        };
        for parent in super_class.iter().chain(&interfaces) {
            self.children.entry(*parent).or_default().push(class);
        }
        self.by_name.insert(name, class);
        self.classes.push(OwnClass {
            name,
            super_class,
            interfaces,
            access: file.access,
            hash: content_hash(bytes),
            source,
            fields,
            methods,
            annotated: visible(&file.attributes),
            immutable: says("Immutable"),
            thread_safe: says("ThreadSafe"),
        });
        self.look_at_constants(file);
        self.reflection.look_at(file);
        Ok(Some(class))
    }

    /// What the constants say about reflection.
    fn look_at_constants(&mut self, file: &ClassFile) {
        for index in file.pool.indices() {
            match file.pool.get(index) {
                Ok(Constant::String(_)) => {
                    if let Ok(text) = file.pool.string(index) {
                        self.strings.insert(text.to_vec());
                    }
                }
                Ok(Constant::MethodRef(..) | Constant::InterfaceMethodRef(..)) => {
                    let Ok(member) = file.pool.member_ref(index) else {
                        continue;
                    };
                    match (member.class, member.name) {
                        (
                            b"java/lang/reflect/Method" | b"java/lang/invoke/MethodHandle",
                            b"invoke" | b"invokeExact",
                        )
                        | (b"java/lang/invoke/MethodHandles$Lookup", _)
                        | (b"java/lang/invoke/MethodHandle", _) => self.reflective_calls = true,
                        (b"java/lang/Class", b"getMethods" | b"getDeclaredMethods") => self.lists_methods = true,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        if self.reflective_calls && self.strings.is_empty() {
            self.lists_methods = true;
        }
    }

    fn lower(&mut self, class: ClassIx, file: &ClassFile) -> Result<(), ravel_classfile::ClassError> {
        for member in &file.methods {
            let mut text = file.member_name(member)?.to_vec();
            text.extend_from_slice(file.member_descriptor(member)?);
            let selector = self.symbols.intern(&text);
            let Some(&method) = self.class(class).methods.get(&selector) else {
                continue;
            };
            let Some(code) = file.code(member)? else { continue };
            match lowering::lower(self, class, method, file, &code) {
                Some(flow) => self.methods[method.0 as usize].flow = Some(Box::new(flow)),
                None => {
                    let name = self.method_text(method);
                    self.unreadable.push(format!("{name}: its code cannot be understood"));
                }
            }
        }
        Ok(())
    }

    /// A class.
    pub fn class(&self, class: ClassIx) -> &OwnClass {
        &self.classes[class.0 as usize]
    }

    /// A field.
    pub fn field(&self, field: FieldIx) -> &OwnField {
        &self.fields[field.0 as usize]
    }

    /// A method.
    pub fn method(&self, method: MethodIx) -> &OwnMethod {
        &self.methods[method.0 as usize]
    }

    /// A call of a method whose code is known.
    pub fn call(&self, method: MethodIx, call: u32) -> Option<&Call> {
        self.method(method).flow.as_ref()?.calls.get(call as usize)
    }

    /// All methods.
    pub fn method_ids(&self) -> impl Iterator<Item = MethodIx> + use<> {
        (0..self.methods.len() as u32).map(MethodIx)
    }

    /// All accesses of all methods.
    pub fn accesses(&self) -> impl Iterator<Item = &crate::flow::Access> {
        let flows = self.methods.iter().filter_map(|method| method.flow.as_ref());
        flows.flat_map(|flow| &flow.accesses)
    }

    /// The classes and interfaces directly below a class.
    pub fn children(&self, name: Sym) -> &[ClassIx] {
        self.children.get(&name).map_or(&[], Vec::as_slice)
    }

    /// A class and all below it.
    pub fn below(&self, name: Sym) -> Vec<ClassIx> {
        let mut found: Vec<ClassIx> = self.by_name.get(&name).copied().into_iter().collect();
        let mut seen: FxHashSet<ClassIx> = found.iter().copied().collect();
        let mut pending = vec![name];
        while let Some(name) = pending.pop() {
            for child in self.children(name) {
                if seen.insert(*child) {
                    found.push(*child);
                    pending.push(self.class(*child).name);
                }
            }
        }
        found
    }

    /// The field that a reference means; none if no class of the world declares it.
    pub fn resolve_field(&self, class: Sym, member: Sym) -> Option<FieldIx> {
        self.ancestors(class)
            .into_iter()
            .find_map(|class| self.class(class).fields.get(&member).copied())
    }

    /// The method that a class has or inherits; none if it comes from outside.
    pub fn resolve_method(&self, class: Sym, selector: Sym) -> Option<MethodIx> {
        self.ancestors(class)
            .into_iter()
            .find_map(|class| self.class(class).methods.get(&selector).copied())
    }

    /// A class and everything of the world above it: super classes first, then interfaces.
    pub fn ancestors(&self, class: Sym) -> Vec<ClassIx> {
        let mut chain = Vec::new();
        let mut next = Some(class);
        for _ in 0..MAX_DEPTH {
            let Some(&found) = next.and_then(|name| self.by_name.get(&name)) else {
                break;
            };
            chain.push(found);
            next = self.class(found).super_class;
        }
        let mut pending: Vec<Sym> = chain
            .iter()
            .flat_map(|class| self.class(*class).interfaces.iter().copied())
            .collect();
        let mut seen: FxHashSet<ClassIx> = chain.iter().copied().collect();
        while let Some(name) = pending.pop() {
            if let Some(&found) = self.by_name.get(&name)
                && seen.insert(found)
            {
                chain.push(found);
                pending.extend(self.class(found).interfaces.iter().copied());
            }
        }
        chain
    }

    /// The classes and interfaces above a class that are not of the world, `java/lang/Object` aside.
    pub fn outside_parents(&self, class: Sym) -> Vec<Sym> {
        let mut outside = Vec::new();
        for class in self.ancestors(class) {
            let class = self.class(class);
            for parent in class.super_class.iter().chain(&class.interfaces) {
                if !self.by_name.contains_key(parent) && self.symbols.bytes(*parent) != b"java/lang/Object" {
                    outside.push(*parent);
                }
            }
        }
        outside.sort_unstable();
        outside.dedup();
        outside
    }

    /// `shop.Stock`
    pub fn class_text(&self, class: ClassIx) -> String {
        self.symbols.class_text(self.class(class).name)
    }

    /// `shop.Stock.items`
    pub fn field_text(&self, field: FieldIx) -> String {
        let found = self.field(field);
        format!(
            "{}.{}",
            self.class_text(found.class),
            self.symbols.member_name(found.member)
        )
    }

    /// `shop.Stock.count()I`
    pub fn method_text(&self, method: MethodIx) -> String {
        let found = self.method(method);
        format!("{}.{}", self.class_text(found.class), self.symbols.text(found.selector))
    }
}
