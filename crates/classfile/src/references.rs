//! Method references with a body: `list::add` as `x -> list.add(x)`.
//!
//! A compiler makes no method for a reference. The class that the JVM makes for it calls the method meant, no agent sees that class, and so no
//! code of the program is on the stack. What is made here is what the compiler makes for the lambda, with the name and the line that it would have.

use std::collections::BTreeSet;

use crate::attribute::{AttributeValue, BootstrapMethod, LineNumber};
use crate::class::{Attribute, ClassFile, access};
use crate::code::Code;
use crate::descriptor::{FieldType, parse_method_descriptor};
use crate::error::{ErrorKind, Result};
use crate::instruction::{Instruction, Operand};
use crate::opcode as op;
use crate::pool::{Constant, decode_modified_utf8};

/// The maker of lambdas, and its method for those with nothing special.
const FACTORY: (&[u8], &[u8]) = (b"java/lang/invoke/LambdaMetafactory", b"metafactory");

/// Kinds of method handles.
mod kind {
    pub const VIRTUAL: u8 = 5;
    pub const STATIC: u8 = 6;
    pub const INTERFACE: u8 = 9;
}

/// A reference in the code of a method.
struct Reference {
    /// The method that it stands in, of `methods`.
    method: usize,
    /// Its instruction.
    pc: u32,
    line: Option<u16>,
    /// Its entry of `BootstrapMethods`.
    bootstrap: usize,
    /// What it makes: name and descriptor of the call site.
    name: String,
    descriptor: String,
    /// What it refers to.
    kind: u8,
    class: String,
    member: String,
    member_descriptor: String,
    interface: bool,
}

/// Gives each reference to a `wanted` method a body, by its class (internal name), name and descriptor. The same class file gets the same bodies.
/// Whether there was one; a class in which not all of them can have one stays as it is.
pub fn give_references_bodies(class: &mut ClassFile, wanted: impl Fn(&[u8], &[u8], &[u8]) -> bool) -> bool {
    let Ok(Some((at, bootstraps, found))) = in_class(class, wanted) else {
        return false;
    };
    let mut changed = class.clone();
    let done = give(&mut changed, at, bootstraps, &found).is_ok();
    if done {
        *class = changed;
    }
    done
}

/// The position of `BootstrapMethods`, what it contains, and the references; none if there are none.
type InClass = (usize, Vec<BootstrapMethod>, Vec<Reference>);

fn in_class(class: &ClassFile, wanted: impl Fn(&[u8], &[u8], &[u8]) -> bool) -> Result<Option<InClass>> {
    let is_table = |attribute: &Attribute| class.pool.utf8(attribute.name) == Ok(b"BootstrapMethods");
    let Some(at) = class.attributes.iter().position(is_table) else {
        return Ok(None);
    };
    // An interface of an older version cannot have such methods.
    if class.is(access::INTERFACE) && class.major < 52 {
        return Ok(None);
    }
    let AttributeValue::BootstrapMethods(bootstraps) = AttributeValue::parse(&class.attributes[at], &class.pool)?
    else {
        return Ok(None);
    };
    let found = references(class, &bootstraps, wanted)?;
    Ok((!found.is_empty()).then_some((at, bootstraps, found)))
}

fn give(class: &mut ClassFile, at: usize, mut bootstraps: Vec<BootstrapMethod>, found: &[Reference]) -> Result<()> {
    let names: Vec<&[u8]> = class
        .methods
        .iter()
        .filter_map(|member| class.member_name(member).ok())
        .collect();
    let mut taken: BTreeSet<String> = names
        .into_iter()
        .map(|name| decode_modified_utf8(name).into_owned())
        .collect();
    for of_method in found.chunk_by(|one, other| one.method == other.method) {
        let method = of_method[0].method;
        let Some(mut code) = class.code(&class.methods[method])? else {
            continue;
        };
        for reference in of_method {
            let mut bootstrap = bootstraps[reference.bootstrap].clone();
            bootstrap.arguments[1] = body_handle(class, reference, &mut taken)?;
            bootstraps.push(bootstrap);
            let number =
                u16::try_from(bootstraps.len() - 1).map_err(|_| ErrorKind::TooMany("bootstrap methods").at(0))?;
            let site = class
                .pool
                .add_invoke_dynamic(number, &reference.name, &reference.descriptor)?;
            let operand = reference.pc as usize + 1;
            code.code[operand..operand + 2].copy_from_slice(&site.to_be_bytes());
        }
        class.set_code(method, &code)?;
    }
    let name = class.attributes[at].name;
    class.attributes[at] = AttributeValue::BootstrapMethods(bootstraps).to_attribute(&mut class.pool, name)?;
    Ok(())
}

/// The object that a reference binds, as the code says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bound {
    /// A local variable or a parameter, by the name that the source gives it.
    Local(String),
    /// A field: its class (internal name) and its name.
    Field(String, String),
}

/// What the reference binds whose body has this name; none if it binds nothing, or the value of another expression.
pub fn bound_by_reference(class: &ClassFile, body: &str) -> Option<Bound> {
    let table = class.attribute("BootstrapMethods")?;
    let AttributeValue::BootstrapMethods(bootstraps) = AttributeValue::parse(table, &class.pool).ok()? else {
        return None;
    };
    let pool = &class.pool;
    let is_of_body = |index: u16| {
        let (bootstrap, _, descriptor) = pool.dynamic(index).ok()?;
        let entry = bootstraps.get(usize::from(bootstrap))?;
        let Constant::MethodHandle(kind::STATIC, target) = pool.get(*entry.arguments.get(1)?).ok()? else {
            return None;
        };
        let target = pool.member_ref(target).ok()?;
        let is_own = class.name().is_ok_and(|name| name == target.class);
        let binds = !descriptor.starts_with(b"()");
        (binds && is_own && decode_modified_utf8(target.name) == body).then_some(())
    };
    for member in &class.methods {
        let Ok(Some(code)) = class.code(member) else { continue };
        let mut before: Vec<Instruction<'_>> = Vec::new();
        for instruction in code.instructions() {
            let instruction = instruction.ok()?;
            if let Operand::Dynamic(index) = instruction.operand
                && is_of_body(index).is_some()
            {
                return bound(class, &code, &before);
            }
            before.push(instruction);
        }
    }
    None
}

/// The object that the instructions before a reference load, and test for null.
fn bound(class: &ClassFile, code: &Code, before: &[Instruction<'_>]) -> Option<Bound> {
    let pool = &class.pool;
    let load = match before {
        [.., load, dup, test, pop] if dup.opcode == op::DUP && pop.opcode == op::POP => match test.operand {
            Operand::Method(_) => load,
            _ => return None,
        },
        [.., load] => load,
        [] => return None,
    };
    match load.operand {
        Operand::Field(index) if matches!(load.opcode, op::GETSTATIC | op::GETFIELD) => {
            let field = pool.member_ref(index).ok()?;
            let text = |bytes: &[u8]| decode_modified_utf8(bytes).into_owned();
            Some(Bound::Field(text(field.class), text(field.name)))
        }
        _ => {
            let (op::ALOAD | op::ALOAD_0..=op::ALOAD_3, Operand::Local(slot)) = (load.opcode, load.operand) else {
                return None;
            };
            let table = code.attribute(pool, "LocalVariableTable")?;
            let AttributeValue::LocalVariableTable(locals) = AttributeValue::parse(table, pool).ok()? else {
                return None;
            };
            let local = locals.iter().find(|local| {
                let (start, end) = (u32::from(local.start), u32::from(local.start) + u32::from(local.length));
                local.slot == slot && start <= load.pc && load.pc < end
            })?;
            let name = pool.text(local.name).ok()?;
            (name != "this").then(|| Bound::Local(name.into_owned()))
        }
    }
}

/// The references to methods of wanted classes.
fn references(
    class: &ClassFile,
    bootstraps: &[BootstrapMethod],
    wanted: impl Fn(&[u8], &[u8], &[u8]) -> bool,
) -> Result<Vec<Reference>> {
    let pool = &class.pool;
    let mut found = Vec::new();
    for (method, member) in class.methods.iter().enumerate() {
        let Some(code) = class.code(member)? else { continue };
        let mut lines = None;
        for instruction in code.instructions() {
            let instruction = instruction?;
            let Operand::Dynamic(index) = instruction.operand else {
                continue;
            };
            let (bootstrap, name, descriptor) = pool.dynamic(index)?;
            let bootstrap = usize::from(bootstrap);
            let Some(entry) = bootstraps.get(bootstrap) else {
                continue;
            };
            let (Constant::MethodHandle(_, factory), Some(&target)) = (pool.get(entry.method)?, entry.arguments.get(1))
            else {
                continue;
            };
            let factory = pool.member_ref(factory)?;
            if (factory.class, factory.name) != FACTORY {
                continue;
            }
            let Constant::MethodHandle(kind @ (kind::VIRTUAL | kind::STATIC | kind::INTERFACE), target) =
                pool.get(target)?
            else {
                continue;
            };
            let target = pool.member_ref(target)?;
            // A lambda has its body in this class, and so has a method that the class declares.
            let is_own = class.name().is_ok_and(|own| own == target.class)
                && class.methods.iter().any(|member| {
                    let name = class.member_name(member).is_ok_and(|name| name == target.name);
                    name && class.member_descriptor(member).is_ok_and(|of| of == target.descriptor)
                });
            if is_own || !wanted(target.class, target.name, target.descriptor) {
                continue;
            }
            if lines.is_none() {
                lines = Some(code.line_numbers(pool)?);
            }
            let text = |bytes: &[u8]| decode_modified_utf8(bytes).into_owned();
            found.push(Reference {
                method,
                pc: instruction.pc,
                line: lines.as_deref().and_then(|lines| LineNumber::at(lines, instruction.pc)),
                bootstrap,
                name: text(name),
                descriptor: text(descriptor),
                kind,
                class: text(target.class),
                member: text(target.name),
                member_descriptor: text(target.descriptor),
                interface: target.interface,
            });
        }
    }
    Ok(found)
}

/// A handle of the body of a reference, which is added.
fn body_handle(class: &mut ClassFile, reference: &Reference, taken: &mut BTreeSet<String>) -> Result<u16> {
    let (name, descriptor) = add_body(class, reference, taken)?;
    let host = decode_modified_utf8(class.name()?).into_owned();
    let method = match class.is(access::INTERFACE) {
        true => class.pool.add_interface_method_ref(&host, &name, &descriptor)?,
        false => class.pool.add_method_ref(&host, &name, &descriptor)?,
    };
    class.pool.add_method_handle(kind::STATIC, method)
}

/// Adds the body of a reference; its name and descriptor.
fn add_body(class: &mut ClassFile, reference: &Reference, taken: &mut BTreeSet<String>) -> Result<(String, String)> {
    let home = decode_modified_utf8(class.member_name(&class.methods[reference.method])?).into_owned();
    let home = match home.as_str() {
        "<init>" => "new",
        "<clinit>" => "static",
        // A lambda within a lambda is named for the method around both.
        name => name
            .strip_prefix("lambda$")
            .and_then(|rest| rest.rsplit_once('$'))
            .map_or(name, |(method, _)| method),
    };
    let numbers = class.methods.len()..;
    let name = numbers
        .map(|number| format!("lambda${home}${number}"))
        .find(|name| taken.insert(name.clone()))
        .unwrap_or_default();
    let descriptor = body_descriptor(reference)?;
    let mut code = Code {
        max_stack: 0,
        max_locals: 0,
        code: Vec::new(),
        exceptions: Vec::new(),
        attributes: Vec::new(),
        offset: 0,
        short: false,
    };
    let parsed = parse_method_descriptor(descriptor.as_bytes())?;
    let mut slot = 0;
    for (at, parameter) in parsed.parameters.iter().enumerate() {
        load(&mut code.code, parameter, slot);
        slot = slot
            .checked_add(parameter.slots())
            .ok_or_else(|| ErrorKind::TooMany("arguments").at(0))?;
        let is_receiver = at == 0 && reference.kind != kind::STATIC;
        if is_receiver && !matches!(parameter, FieldType::Object(name) if *name == reference.class.as_bytes()) {
            code.code.push(op::CHECKCAST);
            let cast = class.pool.add_class(&reference.class)?;
            code.code.extend(cast.to_be_bytes());
        }
    }
    let (owner, member, of) = (&reference.class, &reference.member, &reference.member_descriptor);
    let target = match reference.interface {
        true => class.pool.add_interface_method_ref(owner, member, of)?,
        false => class.pool.add_method_ref(owner, member, of)?,
    };
    code.code.push(match reference.kind {
        kind::STATIC => op::INVOKESTATIC,
        kind::INTERFACE => op::INVOKEINTERFACE,
        _ => op::INVOKEVIRTUAL,
    });
    code.code.extend(target.to_be_bytes());
    if reference.kind == kind::INTERFACE {
        let count = u8::try_from(slot).map_err(|_| ErrorKind::TooMany("arguments").at(0))?;
        code.code.extend([count, 0]);
    }
    code.code.push(parsed.result.as_ref().map_or(op::RETURN, return_of));
    code.max_locals = slot;
    code.max_stack = slot.max(parsed.result_slots());
    if let Some(line) = reference.line {
        let table = AttributeValue::LineNumberTable(vec![LineNumber { start: 0, line }]);
        let attribute: Attribute = table.to_attribute(&mut class.pool, 0)?;
        code.attributes.push(attribute);
    }
    let flags = access::PRIVATE | access::STATIC | access::SYNTHETIC;
    class.add_method(flags, &name, &descriptor, Some(&code))?;
    Ok((name, descriptor))
}

/// The descriptor of a body: the object first, as the call site gives it if it is bound, then the arguments.
fn body_descriptor(reference: &Reference) -> Result<String> {
    let of = &reference.member_descriptor;
    if reference.kind == kind::STATIC {
        return Ok(of.clone());
    }
    let malformed = || ErrorKind::Malformed("descriptor").at(0);
    // What else is bound is an argument.
    let receiver = match parse_method_descriptor(reference.descriptor.as_bytes())?
        .parameters
        .first()
    {
        None => format!("L{};", reference.class),
        Some(FieldType::Object(name)) => format!("L{};", decode_modified_utf8(name)),
        Some(_) => return Err(malformed()),
    };
    Ok(format!("({receiver}{}", of.strip_prefix('(').ok_or_else(malformed)?))
}

fn load(code: &mut Vec<u8>, of: &FieldType<'_>, slot: u16) {
    let opcode = match of {
        FieldType::Long => op::LLOAD,
        FieldType::Float => op::FLOAD,
        FieldType::Double => op::DLOAD,
        of if of.is_reference() => op::ALOAD,
        _ => op::ILOAD,
    };
    match u8::try_from(slot) {
        Ok(slot) => code.extend([opcode, slot]),
        Err(_) => {
            code.extend([op::WIDE, opcode]);
            code.extend(slot.to_be_bytes());
        }
    }
}

fn return_of(of: &FieldType<'_>) -> u8 {
    match of {
        FieldType::Long => op::LRETURN,
        FieldType::Float => op::FRETURN,
        FieldType::Double => op::DRETURN,
        of if of.is_reference() => op::ARETURN,
        _ => op::IRETURN,
    }
}
