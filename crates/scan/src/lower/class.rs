//! One class: its names, and its methods one after another.

use ravel_classfile::{Annotation, ClassError, ClassFile, Constant, Member, access, op};
use rustc_hash::{FxHashMap, FxHashSet};

use super::method::{self, Context};
use crate::body::{Block, Body, CallRef, Stmt};
use crate::expr::{ExprId, Node, UNKNOWN};
use crate::program::{ClassNotes, Field, LocalFact, Touch};
use crate::symbols::{PairId, Sym, Symbols, parameters};

/// The names of a class as numbers.
#[derive(Debug)]
pub(super) struct Names {
    pub name: Sym,
    pub super_class: Option<Sym>,
    pub interfaces: Box<[Sym]>,
    /// For each constant: the symbol of a class, the pair of a member reference; 0 for others.
    pub ids: Vec<u32>,
    pub selectors: Vec<Sym>,
    pub fields: Vec<Field>,
    pub lambdas: Vec<Lambda>,
    pub notes: ClassNotes,
}

/// A lambda or method reference: an object of an interface whose method calls another method.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lambda {
    pub interface: Sym,
    pub selector: Sym,
    pub target: CallRef,
    /// How many of the target's arguments are captured when the object is made.
    pub captured: usize,
    /// How many arguments the target takes, a receiver included.
    pub arguments: usize,
    /// Whether the first of these is a receiver.
    pub receiver: bool,
}

impl Names {
    pub fn intern(class: &ClassFile, symbols: &mut Symbols) -> Result<Names, ClassError> {
        let pool = &class.pool;
        let mut ids = vec![0; usize::from(pool.count())];
        let mut buffer = Vec::new();
        let mut dynamic = Vec::new();
        for index in pool.indices() {
            let id = match pool.get(index)? {
                Constant::Class(name) => symbols.intern(pool.utf8(name)?).0,
                Constant::FieldRef(..) => {
                    let member = pool.member_ref(index)?;
                    joined(&mut buffer, member.name, b":", member.descriptor);
                    let (class, field) = (symbols.intern(member.class), symbols.intern(&buffer));
                    symbols.pair(class, field).0
                }
                Constant::MethodRef(..) | Constant::InterfaceMethodRef(..) => {
                    let member = pool.member_ref(index)?;
                    joined(&mut buffer, member.name, b"", member.descriptor);
                    let (class, method) = (symbols.intern(member.class), symbols.intern(&buffer));
                    symbols.pair(class, method).0
                }
                Constant::InvokeDynamic(bootstrap, _) => {
                    dynamic.push((index, bootstrap));
                    0
                }
                _ => 0,
            };
            if let Some(place) = ids.get_mut(usize::from(index)) {
                *place = id;
            }
        }
        let name = symbols.intern(class.name()?);
        let mut interfaces = Vec::new();
        for index in &class.interfaces {
            interfaces.push(symbols.intern(pool.class_name(*index)?));
        }
        let super_class = class.super_name()?.map(|name| symbols.intern(name));
        let mut selectors = Vec::new();
        for member in &class.methods {
            joined(
                &mut buffer,
                class.member_name(member)?,
                b"",
                class.member_descriptor(member)?,
            );
            selectors.push(symbols.intern(&buffer));
        }
        let mut fields = Vec::new();
        for member in &class.fields {
            joined(
                &mut buffer,
                class.member_name(member)?,
                b":",
                class.member_descriptor(member)?,
            );
            let field = symbols.intern(&buffer);
            fields.push(Field {
                pair: symbols.pair(name, field),
                access: member.access,
                guard: guard(class, &member.attributes),
            });
        }
        let mut names = Names {
            name,
            super_class,
            interfaces: interfaces.into(),
            ids,
            selectors,
            fields,
            lambdas: Vec::new(),
            notes: notes(class),
        };
        names.lambdas = lambdas(class, &names, &dynamic, symbols);
        Ok(names)
    }
}

fn joined(buffer: &mut Vec<u8>, name: &[u8], between: &[u8], descriptor: &[u8]) {
    buffer.clear();
    buffer.extend_from_slice(name);
    buffer.extend_from_slice(between);
    buffer.extend_from_slice(descriptor);
}

/// Damaged annotations say nothing.
fn annotations(class: &ClassFile, attributes: &[ravel_classfile::Attribute]) -> Vec<Annotation> {
    if attributes.is_empty() {
        return Vec::new();
    }
    class.annotations(attributes).unwrap_or_default()
}

fn guard(class: &ClassFile, attributes: &[ravel_classfile::Attribute]) -> Option<Box<str>> {
    let all = annotations(class, attributes);
    let found = all
        .iter()
        .find(|annotation| annotation.simple_name(&class.pool) == Ok(b"GuardedBy"))?;
    found.string(&class.pool, "value").map(|text| text.into())
}

fn notes(class: &ClassFile) -> ClassNotes {
    let mut notes = ClassNotes::default();
    for annotation in annotations(class, &class.attributes) {
        match annotation.simple_name(&class.pool) {
            Ok(b"NotThreadSafe") => notes.not_thread_safe = true,
            Ok(b"ThreadSafe") => notes.thread_safe = true,
            Ok(b"Immutable") => notes.immutable = true,
            _ => {}
        }
    }
    notes
}

/// The lambdas of a class. Call sites of other bootstrap methods (string concatenation, switches) call no code of the
/// program that could lock.
fn lambdas(class: &ClassFile, names: &Names, dynamic: &[(u16, u16)], symbols: &mut Symbols) -> Vec<Lambda> {
    let mut all = Vec::new();
    let Some(attribute) = class.attribute("BootstrapMethods").filter(|_| !dynamic.is_empty()) else {
        return all;
    };
    let word = |at: usize| match attribute.info.get(at..at + 2) {
        Some([high, low]) => u16::from_be_bytes([*high, *low]),
        _ => 0,
    };
    let mut starts = Vec::new();
    let mut at = 2;
    while at + 4 <= attribute.info.len() && starts.len() < usize::from(word(0)) {
        starts.push(at);
        at += 4 + 2 * usize::from(word(at + 2));
    }
    for (index, bootstrap) in dynamic {
        let Some(&start) = starts.get(usize::from(*bootstrap)) else {
            continue;
        };
        let arguments = [word(start + 4), word(start + 6), word(start + 8)];
        if word(start + 2) >= 3 {
            all.extend(lambda(class, names, *index, word(start), arguments, symbols));
        }
    }
    all
}

fn lambda(
    class: &ClassFile,
    names: &Names,
    index: u16,
    bootstrap: u16,
    arguments: [u16; 3],
    symbols: &mut Symbols,
) -> Option<Lambda> {
    let pool = &class.pool;
    let Constant::MethodHandle(_, factory) = pool.get(bootstrap).ok()? else {
        return None;
    };
    if pool.member_ref(factory).ok()?.class != b"java/lang/invoke/LambdaMetafactory" {
        return None;
    }
    let (_, name, descriptor) = pool.dynamic(index).ok()?;
    let interface = crate::symbols::class_of_descriptor(crate::symbols::result(descriptor))?;
    let Constant::MethodType(erased) = pool.get(arguments[0]).ok()? else {
        return None;
    };
    let Constant::MethodHandle(kind, target) = pool.get(arguments[1]).ok()? else {
        return None;
    };
    let mut selector = Vec::new();
    joined(&mut selector, name, b"", pool.utf8(erased).ok()?);
    // Field handles (1 to 4) call nothing.
    if !(5..=9).contains(&kind) {
        return None;
    }
    let method = pool.member_ref(target).ok()?;
    let receiver = kind != 6;
    Some(Lambda {
        interface: symbols.intern(interface),
        selector: symbols.intern(&selector),
        target: CallRef {
            pair: PairId(*names.ids.get(usize::from(target))?),
            is_virtual: matches!(kind, 5 | 9),
        },
        captured: parameters(descriptor).count() + usize::from(kind == 8),
        arguments: parameters(method.descriptor).count() + usize::from(receiver),
        receiver,
    })
}

impl Lambda {
    /// The method of the object: it passes its parameters on, after what was captured.
    pub fn body(&self) -> Option<Body> {
        let passed = self.arguments.checked_sub(self.captured)?;
        let mut exprs = vec![Node::Unknown];
        let mut args = vec![UNKNOWN; self.captured];
        for index in 0..passed {
            args.push(ExprId(exprs.len() as u32));
            exprs.push(Node::Param(index as u16));
        }
        Some(Body {
            exprs: exprs.into(),
            stmts: [Stmt::Call {
                target: self.target,
                args: 0,
                count: u8::try_from(args.len()).ok()?,
                receiver: self.receiver,
            }]
            .into(),
            pcs: [0].into(),
            args: args.into(),
            blocks: [Block {
                stmts: 0..1,
                reached: true,
                ..Block::default()
            }]
            .into(),
            ..Body::default()
        })
    }
}

/// A class with its methods lowered.
#[derive(Debug, Default)]
pub(super) struct LoweredClass {
    pub methods: Vec<LoweredMethod>,
    pub instantiates: Vec<Sym>,
    pub source: Option<Box<str>>,
    pub reflective: usize,
    pub unnamed: usize,
    pub long: usize,
    pub large: usize,
    pub failed: usize,
    pub lines: usize,
}

/// A method without its place in the program.
#[derive(Debug)]
pub(super) struct LoweredMethod {
    pub selector: Sym,
    pub access: u16,
    pub guard: Option<Box<str>>,
    pub body: Option<Box<Body>>,
    pub local: Box<[LocalFact]>,
    pub assigns: Box<[PairId]>,
    pub touches: Box<[Touch]>,
    pub stores_elements: bool,
}

pub(super) fn lower(
    class: &ClassFile,
    names: &Names,
    guarded: &FxHashSet<Sym>,
    locks: &FxHashSet<Sym>,
    symbols: &Symbols,
    wanted: bool,
) -> LoweredClass {
    let mut out = LoweredClass::default();
    if let Some(attribute) = class.attribute("SourceFile")
        && let [high, low] = attribute.info[..]
    {
        let text = class.pool.text(u16::from_be_bytes([high, low]));
        out.source = text.ok().map(|text| text.into());
    }
    let members = |pair| symbols.members(pair);
    let mut context = Context {
        pool: &class.pool,
        ids: &names.ids,
        class: names.name,
        name: b"",
        selector: b"",
        access: 0,
        guarded,
        locks,
        halves: &FxHashMap::default(),
        members: &members,
        uses_locks: wanted && uses_locks(class),
        wanted,
    };
    let halves = halves(class, names, context, symbols);
    context.halves = &halves;
    let mut lines = Vec::new();
    for (method, selector) in class.methods.iter().zip(&names.selectors) {
        let mut lowered = LoweredMethod {
            selector: *selector,
            access: method.access,
            guard: guard(class, &method.attributes),
            body: None,
            local: Box::default(),
            assigns: Box::default(),
            touches: Box::default(),
            stores_elements: false,
        };
        let context = of_method(context, class, method, *selector, symbols);
        if let Ok(Some(code)) = class.code(method) {
            match method::lower(&context, &code) {
                Some(done) => {
                    lines.extend(done.body.lines.iter().map(|(_, line)| *line));
                    lowered.body = Some(Box::new(done.body));
                    lowered.local = done.local.into();
                    out.instantiates.extend(done.instantiates);
                    lowered.assigns = done.assigns.into();
                    lowered.touches = done.touches.into();
                    lowered.stores_elements = done.stores_elements;
                    out.reflective += done.reflective;
                    out.unnamed += done.unnamed;
                    out.long += done.long;
                    out.large += usize::from(wanted && done.too_large);
                }
                None => out.failed += 1,
            }
        } else if method.access & (access::ABSTRACT | access::NATIVE) == 0 {
            out.failed += 1;
        }
        out.methods.push(lowered);
    }
    lines.sort_unstable();
    lines.dedup();
    out.lines = lines.len();
    out.instantiates.sort_unstable();
    out.instantiates.dedup();
    out
}

/// Whether any method of a class may lock: it is synchronized, or its code has the byte of `monitorenter` or calls `lock`.
fn uses_locks(class: &ClassFile) -> bool {
    let calls = class.pool.indices().any(|index| {
        let name = class.pool.member_ref(index).map(|member| member.name);
        matches!(name, Ok(b"lock" | b"lockInterruptibly" | b"tryLock"))
    });
    calls
        || class.methods.iter().any(|method| {
            method.access & access::SYNCHRONIZED != 0
                || method
                    .attributes
                    .iter()
                    .any(|part| part.info.contains(&op::MONITORENTER))
        })
}

fn of_method<'a>(
    context: Context<'a>,
    class: &'a ClassFile,
    method: &Member,
    selector: Sym,
    symbols: &'a Symbols,
) -> Context<'a> {
    Context {
        name: class.member_name(method).unwrap_or_default(),
        selector: symbols.bytes(selector),
        access: method.access,
        ..context
    }
}

/// The fields that hold the read or the write lock of the lock in another field, because a constructor says so and no other
/// method of the class says otherwise. Only classes with two fields for locks are looked at, so few are lowered twice.
fn halves(class: &ClassFile, names: &Names, context: Context<'_>, symbols: &Symbols) -> FxHashMap<PairId, PairId> {
    let mut halves = FxHashMap::default();
    let is_lock = |field: &&Field| {
        let member = symbols.bytes(symbols.members(field.pair).1);
        crate::symbols::field_descriptor(member).starts_with(b"Ljava/util/concurrent/locks/")
    };
    let candidates: FxHashSet<PairId> = names.fields.iter().filter(is_lock).map(|field| field.pair).collect();
    if candidates.len() < 2 {
        return halves;
    }
    let mut assigned = FxHashSet::default();
    for (method, selector) in class.methods.iter().zip(&names.selectors) {
        let context = of_method(context, class, method, *selector, symbols);
        if let Ok(Some(code)) = class.code(method)
            && let Some(done) = method::lower(&context, &code)
        {
            if !matches!(context.name, b"<init>" | b"<clinit>") {
                assigned.extend(done.assigns);
            }
            halves.extend(done.halves.into_iter().filter(|(half, _)| candidates.contains(half)));
        }
    }
    halves.retain(|half, _| !assigned.contains(half));
    halves
}
