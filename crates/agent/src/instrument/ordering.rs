//! Classes that are left out of the recording: frameworks, and what the user excludes. Nothing of them is recorded but the order
//! that they make between threads: volatile fields, monitors, and their calls of modelled methods of the JDK. Without it, an
//! access before a hand-over through a library and the one after it would look like a race.

use ravel_classfile::{ClassFile, Code, CodeEditor, Operand, Result, access, decode_modified_utf8, op, super_call_pc};
use ravel_trace::names::{Site, flags};

use super::emit::Emit;
use super::hook::{self, Hook};
use super::{Context, MethodContext, methods};
use crate::models;
use crate::registry::Knowledge;

/// How much deeper the operand stack gets at most.
const STACK: u16 = 6;

const OBJECT: &str = "(Ljava/lang/Object;)V";
const OBJECT_AT_SITE: &str = "(Ljava/lang/Object;I)V";

/// Rewrites all methods; false if nothing was changed.
pub fn rewrite(cx: &mut Context<'_>, class: &mut ClassFile) -> Result<bool> {
    let mut changed = false;
    for mut method in methods(class)? {
        changed |= rewrite_method(cx, class, &mut method)?;
    }
    Ok(changed)
}

fn rewrite_method(cx: &mut Context<'_>, class: &mut ClassFile, method: &mut MethodContext) -> Result<bool> {
    let Some(code) = class.code(&class.methods[method.index])? else {
        return Ok(false);
    };
    let start = match method.name.as_str() {
        // `this` is no object before.
        "<init>" => match super_call_pc(&code, &class.pool) {
            Some(pc) => pc + 3,
            None => return Ok(false),
        },
        _ => 0,
    };
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    for instruction in code.instructions() {
        let instruction = instruction?;
        let pc = instruction.pc;
        if pc < start {
            continue;
        }
        match (instruction.opcode, instruction.operand) {
            (op::GETFIELD | op::PUTFIELD | op::GETSTATIC | op::PUTSTATIC, Operand::Field(index)) => {
                field(cx, class, &mut edit, pc, instruction.opcode, index)?;
            }
            (op::MONITORENTER, _) => {
                let after = Emit::new().call(hook::ORDER_RECEIVED, OBJECT, &mut class.pool)?;
                edit.insert_before(pc, &[op::DUP]);
                edit.insert_after(pc, &after.bytes);
            }
            (op::MONITOREXIT, _) => {
                let before = Emit::new()
                    .op(op::DUP)
                    .call(hook::ORDER_SENDING, OBJECT, &mut class.pool)?;
                edit.insert_before(pc, &before.bytes);
            }
            (_, Operand::Method(index) | Operand::InterfaceMethod(index, _)) => {
                call(class, &mut edit, pc, instruction.opcode, index)?;
            }
            _ => {}
        }
    }
    if method.access & access::SYNCHRONIZED != 0 {
        monitor(cx, class, method, &mut edit, &code)?;
    }
    if edit.is_empty() {
        return Ok(false);
    }
    cx.apply(class, method.index, &edit, code)
}

/// A field, if it is volatile. The class that declares it may not be loaded yet: then the site knows later.
fn field(
    cx: &mut Context<'_>,
    class: &mut ClassFile,
    edit: &mut CodeEditor,
    pc: u32,
    opcode: u8,
    index: u16,
) -> Result<()> {
    let field = class.pool.member_ref(index)?;
    let owner = decode_modified_utf8(field.class).into_owned();
    let name = decode_modified_utf8(field.name).into_owned();
    let descriptor = decode_modified_utf8(field.descriptor).into_owned();
    let declared = class
        .fields
        .iter()
        .find(|own| {
            owner == cx.name
                && class.member_name(own).is_ok_and(|own| own == name.as_bytes())
                && class
                    .member_descriptor(own)
                    .is_ok_and(|own| own == descriptor.as_bytes())
        })
        .map(|own| own.access);
    let is_static = matches!(opcode, op::GETSTATIC | op::PUTSTATIC);
    if ravel_trace::origin::is_platform(&owner) || declared.is_some_and(|flags| flags & flags::VOLATILE == 0) {
        return Ok(());
    }
    let certain = declared.is_some();
    let mut site = 0;
    if is_static || !certain {
        let made = cx
            .state
            .registry
            .field_site(Site::default(), &owner, &name, &descriptor);
        match made {
            Some((_, Knowledge::Flags(flags))) if flags & flags::VOLATILE == 0 => return Ok(()),
            Some((id, _)) => site = id.0 as i32,
            None => return Ok(()),
        }
    }
    let wide = matches!(descriptor.as_str(), "J" | "D");
    let pool = &mut class.pool;
    let tell = |emit: Emit, hook: Hook, pool: &mut ravel_classfile::ConstantPool| match certain {
        true => emit.call(hook, OBJECT, pool),
        false => emit.int(site, pool)?.call(hook, OBJECT_AT_SITE, pool),
    };
    if is_static {
        let (hook, read) = match opcode {
            op::GETSTATIC => (hook::ORDER_RECEIVED_STATIC, true),
            _ => (hook::ORDER_SENDING_STATIC, false),
        };
        let emit = Emit::new().int(site, pool)?.call(hook, "(I)V", pool)?;
        if read {
            edit.insert_after(pc, &emit.bytes);
        } else {
            edit.insert_before(pc, &emit.bytes);
        }
    } else if opcode == op::GETFIELD {
        let under: &[u8] = if wide { &[op::DUP2_X1, op::POP2] } else { &[op::SWAP] };
        let after = tell(Emit::new().ops(under), hook::ORDER_RECEIVED, pool)?;
        edit.insert_before(pc, &[op::DUP]);
        edit.insert_after(pc, &after.bytes);
    } else {
        let copy: &[u8] = if wide {
            &[op::DUP2_X1, op::POP2, op::DUP_X2]
        } else {
            &[op::DUP2, op::POP]
        };
        let before = tell(Emit::new().ops(copy), hook::ORDER_SENDING, pool)?;
        edit.insert_before(pc, &before.bytes);
    }
    Ok(())
}

/// A call that may be of a modelled method, and a wait, which gives the monitor up and takes it back.
fn call(class: &mut ClassFile, edit: &mut CodeEditor, pc: u32, opcode: u8, index: u16) -> Result<()> {
    let callee = class.pool.member_ref(index)?;
    if opcode == op::INVOKEVIRTUAL && callee.name == b"wait" {
        let copy: &[u8] = match callee.descriptor {
            b"()V" => &[op::DUP, op::DUP],
            b"(J)V" => &[op::DUP2_X1, op::POP2, op::DUP_X2, op::DUP_X2],
            _ => return Ok(()),
        };
        let pool = &mut class.pool;
        let before = Emit::new().ops(copy).call(hook::ORDER_SENDING, OBJECT, pool)?;
        let after = Emit::new().call(hook::ORDER_RECEIVED, OBJECT, pool)?;
        edit.insert_before(pc, &before.bytes);
        edit.insert_after(pc, &after.bytes);
        return Ok(());
    }
    let owner = decode_modified_utf8(callee.class);
    let name = decode_modified_utf8(callee.name);
    // An object of a framework may extend a class of the JDK, and an interface may stand for one.
    let platform = ravel_trace::origin::is_platform(owner.as_bytes());
    let modelled = models::is_access(&owner) || (!platform || models::orders(&owner)) && models::is_named(&name);
    if name.starts_with('<') || !modelled {
        return Ok(());
    }
    let emit = Emit::new().call(hook::ORDER_CALLING, "()V", &mut class.pool)?;
    edit.insert_before(pc, &emit.bytes);
    Ok(())
}

/// The monitor of a synchronized method. An exit by exception tells nothing: a handler has no `this`.
fn monitor(
    cx: &mut Context<'_>,
    class: &mut ClassFile,
    method: &MethodContext,
    edit: &mut CodeEditor,
    code: &Code,
) -> Result<()> {
    let is_static = method.access & access::STATIC != 0;
    let mut returns = Vec::new();
    for instruction in code.instructions() {
        let instruction = instruction?;
        match instruction.operand {
            // Another object in the place of `this`.
            Operand::Local(0) if !is_static && is_store(instruction.opcode) => return Ok(()),
            _ if (op::IRETURN..=op::RETURN).contains(&instruction.opcode) => returns.push(instruction.pc),
            _ => {}
        }
    }
    let (name, major, pool) = (cx.name.clone(), class.major, &mut class.pool);
    let lock = |pool: &mut ravel_classfile::ConstantPool| match is_static {
        true => Emit::new().class(&name, major, pool),
        false => Ok(Emit::new().load(0)),
    };
    let entry = lock(pool)?.call(hook::ORDER_RECEIVED, OBJECT, pool)?;
    edit.insert_at_entry(&entry.bytes);
    let exit = lock(pool)?.call(hook::ORDER_SENDING, OBJECT, pool)?;
    for pc in returns {
        edit.insert_before(pc, &exit.bytes);
    }
    Ok(())
}

fn is_store(opcode: u8) -> bool {
    (op::ISTORE..=op::ASTORE_3).contains(&opcode)
}
