//! Classes of the JDK: modelled methods, collections, and the few places where Ravel must learn of threads or must stay
//! invisible.

use ravel_classfile::{
    ClassFile, CodeEditor, FieldType, Operand, Result, access, decode_modified_utf8, op, parse_method_descriptor,
    super_call_pc,
};
use ravel_trace::names::{Site, SiteKind, flags};
use ravel_trace::origin;

use super::application::{value_descriptor, value_kind};
use super::emit::{Emit, WORD};
use super::hook::{self, Hook};
use super::{Context, Lines, MethodContext, methods};
use crate::filter;
use crate::models::{self, Effect, FoundModel, Of, Transparent};

const STACK: u16 = 10;

/// In the site that the hooks of a collection get: it counts only where the program calls a tool of the JDK. Above the bits of sites.
pub const OF_TOOL: i32 = 1 << 30;

/// Whether a class of the JDK is changed at all; the others are not even parsed.
pub fn concerns(name: &str) -> bool {
    matches!(
        name,
        "java/lang/Thread"
            | "java/lang/VirtualThread"
            | "java/lang/Class"
            | "jdk/internal/reflect/Reflection"
            | "sun/reflect/Reflection"
    ) || models::concerns(name)
}

/// Rewrites a class that is no collection; false if nothing was changed.
pub fn rewrite(cx: &mut Context<'_>, class: &mut ClassFile) -> Result<bool> {
    let mut changed = add_fields(cx, class)?;
    for method in methods(class)? {
        if method.name == "<init>" && cx.filter.has_word(&cx.name) {
            changed |= constructor(cx, class, &method)?;
        }
        changed |= rewrite_method(cx, class, &method)?;
    }
    Ok(changed)
}

fn add_fields(cx: &Context<'_>, class: &mut ClassFile) -> Result<bool> {
    if !cx.adds_members {
        return Ok(false);
    }
    let access = access::PUBLIC | access::TRANSIENT | access::SYNTHETIC;
    match cx.name.as_str() {
        "java/lang/Thread" => {
            class.add_field(access, "ravel$t", "J")?;
            class.add_field(access, "ravel$n", "I")?;
            class.add_field(access, "ravel$l", "[Ljava/lang/Object;")?;
            class.add_field(access, "ravel$d", "I")?;
            Ok(true)
        }
        "java/lang/Class" => class.add_field(access, "ravel$o", "I").map(|_| true),
        _ => Ok(false),
    }
}

fn rewrite_method(cx: &mut Context<'_>, class: &mut ClassFile, method: &MethodContext) -> Result<bool> {
    let name = method.name.as_str();
    match (cx.name.as_str(), name) {
        ("java/lang/Thread" | "java/lang/VirtualThread", "start") => {
            return at_entry(cx, class, method, true, hook::STARTING, "(Ljava/lang/Thread;)V");
        }
        ("java/lang/Thread", "isAlive") => {
            return at_returns(cx, class, method, &[op::DUP], hook::ALIVE, "(ILjava/lang/Thread;)V");
        }
        (
            "java/util/concurrent/locks/AbstractQueuedSynchronizer"
            | "java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
            "getState" | "setState" | "compareAndSetState",
        ) => return synchronizer_state(cx, class, method),
        ("java/lang/Thread", "dispatchUncaughtException") => return uncaught(cx, class, method),
        ("java/lang/VirtualThread", "run") if method.descriptor == "(Ljava/lang/Runnable;)V" => {
            return virtual_run(cx, class, method);
        }
        // The second one is that of JDK 8.
        ("jdk/internal/reflect/Reflection" | "sun/reflect/Reflection", "filterFields") if cx.adds_members => {
            return filter_fields(cx, class, method);
        }
        _ => {}
    }
    if (cx.name.as_str(), name) == (models::ROUND.0, models::ROUND.1) {
        return round(cx, class, method);
    }
    if method.name.starts_with('<') || method.access & (access::BRIDGE | access::SYNTHETIC) != 0 {
        return Ok(false);
    }
    let is_static = method.access & access::STATIC != 0;
    match models::find(&cx.name, name, &method.descriptor, is_static) {
        Some(found) => model(cx, class, method, &found),
        None => Ok(false),
    }
}

/// Tells of a thread where a method begins.
fn at_entry(
    cx: &mut Context<'_>,
    class: &mut ClassFile,
    method: &MethodContext,
    this: bool,
    hook: Hook,
    descriptor: &str,
) -> Result<bool> {
    let Some(code) = class.code(&class.methods[method.index])? else {
        return Ok(false);
    };
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    let emit = if this { Emit::new().load(0) } else { Emit::new() };
    edit.insert_at_entry(&emit.call(hook, descriptor, &mut class.pool)?.bytes);
    cx.apply(class, method.index, &edit, code)
}

/// Tells of a thread where a method returns.
fn at_returns(
    cx: &mut Context<'_>,
    class: &mut ClassFile,
    method: &MethodContext,
    first: &[u8],
    hook: Hook,
    descriptor: &str,
) -> Result<bool> {
    let Some(code) = class.code(&class.methods[method.index])? else {
        return Ok(false);
    };
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    let emit = Emit::new().ops(first).load(0).call(hook, descriptor, &mut class.pool)?;
    for instruction in code.instructions() {
        let instruction = instruction?;
        if (op::IRETURN..=op::RETURN).contains(&instruction.opcode) {
            edit.insert_before(instruction.pc, &emit.bytes);
        }
    }
    cx.apply(class, method.index, &edit, code)
}

/// The state of a synchroniser that the program or a framework builds on the JDK's: reads come after writes.
fn synchronizer_state(cx: &mut Context<'_>, class: &mut ClassFile, method: &MethodContext) -> Result<bool> {
    let Some(code) = class.code(&class.methods[method.index])? else {
        return Ok(false);
    };
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    let pool = &mut class.pool;
    let descriptor = "(Ljava/lang/Object;)V";
    if method.name != "getState" {
        let before = Emit::new().load(0).call(hook::STATE_SENDING, descriptor, pool)?;
        edit.insert_at_entry(&before.bytes);
    }
    if method.name != "setState" {
        let after = Emit::new().load(0).call(hook::STATE_RECEIVED, descriptor, pool)?;
        for instruction in code.instructions() {
            let instruction = instruction?;
            if (op::IRETURN..=op::RETURN).contains(&instruction.opcode) {
                edit.insert_before(instruction.pc, &after.bytes);
            }
        }
    }
    cx.apply(class, method.index, &edit, code)
}

/// Tells which round of a barrier a thread takes part in, where the method first looks at it.
fn round(cx: &mut Context<'_>, class: &mut ClassFile, method: &MethodContext) -> Result<bool> {
    let Some(code) = class.code(&class.methods[method.index])? else {
        return Ok(false);
    };
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    for instruction in code.instructions() {
        let instruction = instruction?;
        let (op::GETFIELD, Operand::Field(index)) = (instruction.opcode, instruction.operand) else {
            continue;
        };
        let field = class.pool.member_ref(index)?;
        if (field.name, field.descriptor) == (models::ROUND.2.as_bytes(), models::ROUND.3.as_bytes()) {
            let emit = Emit::new().op(op::DUP);
            let emit = emit.call(hook::ROUND, "(Ljava/lang/Object;)V", &mut class.pool)?;
            edit.insert_after(instruction.pc, &emit.bytes);
            break;
        }
    }
    cx.apply(class, method.index, &edit, code)
}

fn uncaught(cx: &mut Context<'_>, class: &mut ClassFile, method: &MethodContext) -> Result<bool> {
    let Some(code) = class.code(&class.methods[method.index])? else {
        return Ok(false);
    };
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    let descriptor = "(Ljava/lang/Thread;Ljava/lang/Throwable;)V";
    edit.insert_at_entry(
        &Emit::new()
            .load(0)
            .load(1)
            .call(hook::UNCAUGHT, descriptor, &mut class.pool)?
            .bytes,
    );
    cx.apply(class, method.index, &edit, code)
}

fn virtual_run(cx: &mut Context<'_>, class: &mut ClassFile, method: &MethodContext) -> Result<bool> {
    let Some(code) = class.code(&class.methods[method.index])? else {
        return Ok(false);
    };
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    let pool = &mut class.pool;
    edit.insert_at_entry(&Emit::new().call(hook::BEGINNING, "()V", pool)?.bytes);
    let ending = Emit::new().call(hook::ENDING, "()V", pool)?;
    for instruction in code.instructions() {
        let instruction = instruction?;
        if (op::IRETURN..=op::RETURN).contains(&instruction.opcode) {
            edit.insert_before(instruction.pc, &ending.bytes);
        }
    }
    edit.add_catch_all(0, code.code.len() as u32, &ending.op(op::ATHROW).bytes);
    cx.apply(class, method.index, &edit, code)
}

/// Reflection does not show the fields that Ravel adds.
fn filter_fields(cx: &mut Context<'_>, class: &mut ClassFile, method: &MethodContext) -> Result<bool> {
    let Some(code) = class.code(&class.methods[method.index])? else {
        return Ok(false);
    };
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    let descriptor = "([Ljava/lang/reflect/Field;)[Ljava/lang/reflect/Field;";
    let emit = Emit::new().call(hook::VISIBLE, descriptor, &mut class.pool)?;
    for instruction in code.instructions() {
        let instruction = instruction?;
        if instruction.opcode == op::ARETURN {
            edit.insert_before(instruction.pc, &emit.bytes);
        }
    }
    cx.apply(class, method.index, &edit, code)
}

/// Puts `RavelModels.in` and `RavelModels.out` around a modelled method.
pub(super) fn model(
    cx: &mut Context<'_>,
    class: &mut ClassFile,
    method: &MethodContext,
    found: &FoundModel,
) -> Result<bool> {
    let Some(code) = class.code(&class.methods[method.index])? else {
        return Ok(false);
    };
    if let Some(told) = found.effect.transparent() {
        return transparent(cx, class, method, found, told, code);
    }
    let field = match found.state.as_str() {
        "" => 0,
        // The size of a map is the field after its entries.
        "entry" | "size" => {
            let entry = cx.state.registry.state_field(&cx.name, "entry").0;
            let size = cx.state.registry.state_field(&cx.name, "size").0;
            if found.state == "entry" { entry } else { size }
        }
        state => cx.state.registry.state_field(models::class_of_state(&cx.name), state).0,
    };
    if field > models::FIELD_MASK {
        cx.leave_alone("too many fields for a modelled method");
        return Ok(false);
    }
    let handle = matches!(found.state.as_str(), "handle" | "updated");
    let mut number = found.effect as u32 | field << models::FIELD_SHIFT;
    if handle {
        number |= models::THROUGH_HANDLE;
    }
    if found.always {
        number |= models::ALWAYS;
    }
    hook_model(cx, class, method, found, number as i32, code)
}

/// Loads the object that a model of a method of this class speaks of.
fn load_object(emit: Emit, of: Of, class: &str, pool: &mut ravel_classfile::ConstantPool) -> Result<Emit> {
    Ok(match of {
        Of::None => emit.op(op::ACONST_NULL),
        Of::This => emit.load(0),
        Of::Local(local) => emit.load(local),
        Of::Offset(local) => emit.ops(&[op::LLOAD, local]),
        Of::Index(local) => emit.load_int(local),
        Of::Thread => {
            let index = pool.add_method_ref("java/lang/Thread", "currentThread", "()Ljava/lang/Thread;")?;
            emit.indexed(op::INVOKESTATIC, index)
        }
        Of::Field(field, descriptor) => {
            let index = pool.add_field_ref(class, field, descriptor)?;
            emit.load(0).indexed(op::GETFIELD, index)
        }
    })
}

/// A model that only tells of order: what happens inside is recorded.
fn transparent(
    cx: &mut Context<'_>,
    class: &mut ClassFile,
    method: &MethodContext,
    found: &FoundModel,
    told: Transparent,
    code: ravel_classfile::Code,
) -> Result<bool> {
    let pool = &mut class.pool;
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    let emit = load_object(Emit::new(), found.object, &cx.name, pool)?;
    let emit = match told {
        Transparent::Complete => emit.call(hook::COMPLETING, "(Ljava/lang/Object;)V", pool)?,
        Transparent::Tell => emit.call(hook::TOLD, "(Ljava/lang/Object;)V", pool)?,
        Transparent::Hear => load_object(emit, found.argument, &cx.name, pool)?.call(
            hook::HEARD,
            "(Ljava/lang/Object;Ljava/lang/Object;)V",
            pool,
        )?,
    };
    edit.insert_at_entry(&emit.bytes);
    if told == Transparent::Hear {
        for instruction in code.instructions() {
            let instruction = instruction?;
            if (op::IRETURN..=op::RETURN).contains(&instruction.opcode) {
                edit.insert_before(instruction.pc, &emit.bytes);
            }
        }
    }
    cx.apply(class, method.index, &edit, code)
}

fn hook_model(
    cx: &mut Context<'_>,
    class: &mut ClassFile,
    method: &MethodContext,
    found: &FoundModel,
    number: i32,
    code: ravel_classfile::Code,
) -> Result<bool> {
    let name = cx.name.clone();
    let pool = &mut class.pool;
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    let load = |emit, of, pool: &mut ravel_classfile::ConstantPool| load_object(emit, of, &name, pool);
    let emit = load(Emit::new(), found.object, pool)?;
    let (emit, descriptor) = if found.effect.takes_stamp() {
        (emit.ops(&[op::LLOAD, 1]), "(Ljava/lang/Object;JI)V")
    } else if let Of::Offset(local) = found.argument {
        (emit.ops(&[op::LLOAD, local]), "(Ljava/lang/Object;JI)V")
    } else if matches!(found.argument, Of::Index(_)) {
        (load(emit, found.argument, pool)?, "(Ljava/lang/Object;II)V")
    } else {
        (
            load(emit, found.argument, pool)?,
            "(Ljava/lang/Object;Ljava/lang/Object;I)V",
        )
    };
    // In a forced run the thread must be asked before it blocks, so inserted code takes the lock of the method.
    let forced_lock = cx.forcing && found.effect == Effect::Monitor;
    let lock = if forced_lock {
        Emit::new()
            .load(0)
            .call(hook::BEFORE_MONITOR, "(Ljava/lang/Object;)V", pool)?
            .load(0)
            .op(op::MONITORENTER)
    } else {
        Emit::new()
    };
    let mut emit = lock.ops(&emit.int(number, pool)?.call(hook::IN, descriptor, pool)?.bytes);
    // How long it waits is for the scheduler of a search to say.
    if cx.searching
        && let (Effect::Join, Of::Offset(limit)) = (found.effect, found.argument)
    {
        let descriptor = "(Ljava/lang/Thread;J)J";
        emit = emit.load(0).ops(&[op::LLOAD, limit]);
        emit = emit
            .call(hook::SEARCH_LIMIT, descriptor, pool)?
            .ops(&[op::LSTORE, limit]);
    }
    edit.insert_at_entry(&emit.bytes);
    let unlock = |emit: Emit, pool: &mut ravel_classfile::ConstantPool| -> Result<Emit> {
        if !forced_lock {
            return Ok(emit);
        }
        let emit = emit.call(hook::AFTER_MONITOR, "()Ljava/lang/Object;", pool)?;
        Ok(emit.op(op::MONITOREXIT))
    };

    let result = parse_method_descriptor(method.descriptor.as_bytes())?.result;
    for instruction in code.instructions() {
        let instruction = instruction?;
        let (copy, descriptor) = match instruction.opcode {
            op::IRETURN => (Emit::new().op(op::DUP), "(II)V"),
            op::LRETURN => (Emit::new().op(op::DUP2), "(JI)V"),
            op::ARETURN => (Emit::new().op(op::DUP), "(Ljava/lang/Object;I)V"),
            op::FRETURN | op::DRETURN | op::RETURN => (Emit::new(), "(I)V"),
            _ => continue,
        };
        let emit = unlock(copy.int(number, pool)?.call(hook::OUT, descriptor, pool)?, pool)?;
        edit.insert_before(instruction.pc, &emit.bytes);
    }
    debug_assert!(result.is_none_or(|result: FieldType<'_>| result.slots() > 0));
    let handler =
        Emit::new()
            .op(op::DUP)
            .int(number, pool)?
            .call(hook::OUT_THROWN, "(Ljava/lang/Throwable;I)V", pool)?;
    let handler = unlock(handler, pool)?;
    edit.add_catch_all(0, code.code.len() as u32, &handler.op(op::ATHROW).bytes);
    let done = cx.apply(class, method.index, &edit, code)?;
    if done && forced_lock {
        class.methods[method.index].access &= !access::SYNCHRONIZED;
    }
    Ok(done)
}

/// Rewrites a collection: its fields and arrays, its monitors, and its birth. Of a tool the arrays stay as they are.
pub fn rewrite_collection(cx: &mut Context<'_>, class: &mut ClassFile) -> Result<()> {
    for mut method in methods(class)? {
        if method.name == "<clinit>" {
            continue;
        }
        collection_method(cx, class, &mut method)?;
    }
    Ok(())
}

fn collection_method(cx: &mut Context<'_>, class: &mut ClassFile, method: &mut MethodContext) -> Result<()> {
    let Some(code) = class.code(&class.methods[method.index])? else {
        return Ok(());
    };
    let lines = Lines::of(class, &code);
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    let start = match method.name.as_str() {
        "<init>" => match super_call_pc(&code, &class.pool) {
            Some(pc) => pc + 3,
            None => {
                cx.leave_alone("a constructor whose super call cannot be told");
                return Ok(());
            }
        },
        _ => 0,
    };
    for instruction in code.instructions() {
        let instruction = instruction?;
        let pc = instruction.pc;
        if pc < start {
            if pc + 3 == start && cx.is_root() && instruction.opcode == op::INVOKESPECIAL {
                born(cx, class, &mut edit, pc, instruction.operand)?;
            }
            continue;
        }
        match (instruction.opcode, instruction.operand) {
            (op::GETFIELD | op::PUTFIELD, Operand::Field(index)) => {
                collection_field(cx, class, method, &lines, &mut edit, pc, instruction.opcode, index)?;
            }
            (op::INVOKESPECIAL, Operand::Method(index)) => cloned(cx, class, &mut edit, pc, index)?,
            (op::AALOAD | op::AASTORE, _) if !origin::is_tool(&cx.name) => {
                let id = cx.method_id(method);
                let what = SiteKind::Element("[Ljava/lang/Object;".to_string());
                let site = Site {
                    method: id,
                    bci: pc,
                    line: lines.at(pc),
                    what,
                };
                let Some(site) = cx.state.registry.site(site) else {
                    continue;
                };
                let pool = &mut class.pool;
                if instruction.opcode == op::AALOAD {
                    let before = gate(cx, site.0 as i32, pool)?.op(op::DUP2);
                    let descriptor = "(Ljava/lang/Object;ILjava/lang/Object;I)V";
                    let after = Emit::new().op(op::DUP_X2).int(site.0 as i32, pool)?;
                    edit.insert_before(pc, &before.bytes);
                    edit.insert_after(pc, &after.call(hook::JAGET, descriptor, pool)?.bytes);
                } else {
                    let descriptor = "(Ljava/lang/Object;Ljava/lang/Object;II)V";
                    let emit = gate(cx, site.0 as i32, pool)?
                        .ops(&[op::DUP_X2, op::DUP_X2, op::POP, op::DUP2_X1])
                        .int(site.0 as i32, pool)?
                        .call(hook::JAPUT, descriptor, pool)?
                        .ops(&[op::DUP2_X1, op::POP2]);
                    edit.insert_before(pc, &emit.bytes);
                }
            }
            (op::MONITORENTER, _) => {
                let id = cx.method_id(method);
                let site = Site {
                    method: id,
                    bci: pc,
                    line: lines.at(pc),
                    what: SiteKind::Lock,
                };
                let Some(site) = cx.state.registry.site(site) else {
                    continue;
                };
                let pool = &mut class.pool;
                let before = if cx.forcing {
                    Emit::new()
                        .op(op::DUP)
                        .call(hook::BEFORE_LOCK, "(Ljava/lang/Object;)V", pool)?
                } else {
                    Emit::new()
                };
                let before = before.op(op::DUP);
                let after =
                    Emit::new()
                        .int(site.0 as i32, pool)?
                        .call(hook::JACQUIRED, "(Ljava/lang/Object;I)V", pool)?;
                edit.insert_before(pc, &before.bytes);
                edit.insert_after(pc, &after.bytes);
            }
            (op::MONITOREXIT, _) => {
                let id = cx.method_id(method);
                let site = Site {
                    method: id,
                    bci: pc,
                    line: lines.at(pc),
                    what: SiteKind::Lock,
                };
                let Some(site) = cx.state.registry.site(site) else {
                    continue;
                };
                let pool = &mut class.pool;
                let emit = Emit::new().op(op::DUP).int(site.0 as i32, pool)?.call(
                    hook::JRELEASING,
                    "(Ljava/lang/Object;I)V",
                    pool,
                )?;
                edit.insert_before(pc, &emit.bytes);
            }
            _ => {}
        }
    }
    let synchronized = method.access & access::SYNCHRONIZED != 0 && method.access & access::STATIC == 0;
    if !edit.is_empty() {
        let done = cx.apply(class, method.index, &edit, code)?;
        if !done {
            return Ok(());
        }
    }
    if synchronized && let Some(code) = class.code(&class.methods[method.index])? {
        let found = FoundModel {
            effect: Effect::Monitor,
            object: Of::This,
            argument: Of::None,
            state: String::new(),
            always: false,
        };
        hook_model(cx, class, method, &found, Effect::Monitor as i32, code)?;
    }
    Ok(())
}

/// An atomic gets its word where its super constructor has been called.
fn constructor(cx: &mut Context<'_>, class: &mut ClassFile, method: &MethodContext) -> Result<bool> {
    let Some(code) = class.code(&class.methods[method.index])? else {
        return Ok(false);
    };
    let Some(start) = super_call_pc(&code, &class.pool) else {
        return Ok(false);
    };
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    for instruction in code.instructions() {
        let instruction = instruction?;
        if instruction.pc == start {
            born(cx, class, &mut edit, start, instruction.operand)?;
        }
    }
    if edit.is_empty() {
        Ok(false)
    } else {
        cx.apply(class, method.index, &edit, code)
    }
}

/// In forced runs: asks before the point.
fn gate(cx: &Context<'_>, site: i32, pool: &mut ravel_classfile::ConstantPool) -> Result<Emit> {
    if cx.forcing {
        Emit::new().int(site, pool)?.call(hook::JPOINT, "(I)V", pool)
    } else {
        Ok(Emit::new())
    }
}

fn born(cx: &Context<'_>, class: &mut ClassFile, edit: &mut CodeEditor, pc: u32, operand: Operand<'_>) -> Result<()> {
    let Operand::Method(index) = operand else { return Ok(()) };
    if decode_modified_utf8(class.pool.member_ref(index)?.class) != cx.superclass.as_str() {
        return Ok(());
    }
    let pool = &mut class.pool;
    let word = pool.add_field_ref(&cx.name, WORD, "J")?;
    let emit = cx.give_word(Emit::new().load(0), hook::JBORN, word, pool)?;
    edit.insert_after(pc, &emit.bytes);
    Ok(())
}

/// A clone is an object of its own, but has got the word of the one that it was made of.
fn cloned(cx: &Context<'_>, class: &mut ClassFile, edit: &mut CodeEditor, pc: u32, index: u16) -> Result<()> {
    let callee = class.pool.member_ref(index)?;
    let is_clone = callee.name == b"clone" && callee.descriptor == b"()Ljava/lang/Object;";
    if !is_clone || cx.filter.has_word(&decode_modified_utf8(callee.class)) {
        return Ok(());
    }
    let pool = &mut class.pool;
    let own = pool.add_class(&cx.name)?;
    let word = pool.add_field_ref(&cx.name, WORD, "J")?;
    let copy = Emit::new().op(op::DUP).indexed(op::CHECKCAST, own);
    let emit = cx.give_word(copy, hook::JBORN, word, pool)?;
    edit.insert_after(pc, &emit.bytes);
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "one point of one method, all of it needed")]
fn collection_field(
    cx: &mut Context<'_>,
    class: &mut ClassFile,
    method: &mut MethodContext,
    lines: &Lines,
    edit: &mut CodeEditor,
    pc: u32,
    opcode: u8,
    index: u16,
) -> Result<()> {
    let field = class.pool.member_ref(index)?;
    let owner = decode_modified_utf8(field.class).into_owned();
    let name = decode_modified_utf8(field.name).into_owned();
    let descriptor = decode_modified_utf8(field.descriptor).into_owned();
    if !cx.filter.has_word(&owner) || name.starts_with("this$") || filter::is_view(&owner, &name) {
        return Ok(());
    }
    if cx
        .state
        .registry
        .field_flags(&owner, &name, &descriptor)
        .is_some_and(|known| known & flags::FINAL != 0)
    {
        return Ok(());
    }
    let id = cx.method_id(method);
    let site = Site {
        method: id,
        bci: pc,
        line: lines.at(pc),
        what: SiteKind::Unknown,
    };
    let Some((site, _)) = cx.state.registry.field_site(site, &owner, &name, &descriptor) else {
        return Ok(());
    };
    let tool = if origin::is_tool(&cx.name) { OF_TOOL } else { 0 };
    let site = site.0 as i32 | tool;
    let pool = &mut class.pool;
    let kind = value_kind(&descriptor);
    let wide = matches!(kind, 'J' | 'D');
    let (before, after): (&[u8], &[u8]) = match (opcode, wide) {
        (op::GETFIELD, false) => (&[op::DUP], &[op::DUP_X1, op::SWAP]),
        (op::GETFIELD, true) => (&[op::DUP], &[op::DUP2_X1, op::DUP2_X1, op::POP2]),
        (_, false) => (&[op::DUP2], &[op::SWAP]),
        (_, true) => (
            &[op::DUP2_X1, op::DUP2_X1, op::POP2, op::DUP_X2, op::DUP_X2, op::POP],
            &[],
        ),
    };
    let hook = if opcode == op::GETFIELD { hook::JGET } else { hook::JPUT };
    let before = gate(cx, site, pool)?.ops(before);
    let after = Emit::new()
        .ops(after)
        .op(op::DUP)
        .word(&owner, pool)?
        .int(site, pool)?
        .call(
            hook,
            &format!("({}Ljava/lang/Object;JI)V", value_descriptor(kind)),
            pool,
        )?;
    edit.insert_before(pc, &before.bytes);
    edit.insert_after(pc, &after.bytes);
    Ok(())
}
