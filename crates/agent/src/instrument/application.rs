//! Application classes: every access, monitor operation, call and method boundary.

use std::collections::BTreeSet;

use ravel_classfile::{
    ClassFile, Code, CodeEditor, Instruction, Operand, Result, access, decode_modified_utf8, op, super_call_pc,
};
use ravel_trace::names::{Site, SiteKind, VALIDATE, VALIDATE_UNHEEDED};

use super::accesses::{Access, entries, parts};
use super::emit::{Emit, WORD};
use super::fences;
use super::hook::{self, Hook};
use super::unheeded::drops_result;
use super::{Context, Lines, MethodContext, methods};
use crate::focus::MethodFocus;
use crate::models;

/// How much deeper the operand stack gets at most.
const STACK: u16 = 10;

/// Rewrites all methods.
pub fn rewrite(cx: &mut Context<'_>, class: &mut ClassFile) -> Result<()> {
    for mut method in methods(class)? {
        if !rewrite_method(cx, class, &mut method, true)? {
            rewrite_method(cx, class, &mut method, false)?;
        }
    }
    Ok(())
}

/// Which parts of a method are worth hooks.
struct Plan {
    /// First position at which `this` is an object.
    start: u32,
    frame: bool,
    waits: bool,
}

fn rewrite_method(
    cx: &mut Context<'_>,
    class: &mut ClassFile,
    method: &mut MethodContext,
    calls: bool,
) -> Result<bool> {
    let Some(code) = class.code(&class.methods[method.index])? else {
        return Ok(true);
    };
    let lines = Lines::of(class, &code);
    let mut edit = CodeEditor::new();
    edit.grow_stack(STACK);
    let moved = cx.moved.get(method.index).copied().unwrap_or(false);
    let focus = cx
        .focus
        .filter(|_| !moved)
        .and_then(|class| class.method(&method.name, &method.descriptor));
    let Some(mut plan) = plan(cx, class, &code, method)? else {
        cx.leave_alone("a constructor whose super call cannot be told");
        return Ok(true);
    };
    plan.frame &= focus.is_none_or(|focus| !focus.quiet && !focus.inner);
    let entries = entries(&code)?;
    let fenced = fences::fenced(&code, &class.pool, &entries)?;
    let mut writer = MethodWriter {
        cx,
        class,
        method,
        lines: &lines,
        edit: &mut edit,
        code: &code,
        plan: &plan,
        calls,
        focus,
        fenced: &fenced,
        run: Vec::new(),
    };
    for instruction in code.instructions() {
        let instruction = instruction?;
        let before = instruction.pc < plan.start;
        if entries.binary_search(&instruction.pc).is_ok() || parts(&instruction) {
            writer.end_run()?;
        }
        match (instruction.opcode, instruction.operand) {
            // A new object gets its word whatever else is left out.
            (op::INVOKESPECIAL, Operand::Method(_)) if before => writer.before_super(&instruction)?,
            _ if focus.is_some_and(|focus| focus.leaves_out(instruction.pc)) => {}
            _ if before => writer.before_super(&instruction)?,
            _ => writer.instruction(&instruction)?,
        }
    }
    writer.end_run()?;
    writer.boundaries(&code)?;
    if edit.is_empty() {
        return Ok(true);
    }
    let done = cx.apply(class, method.index, &edit, code)?;
    if done && cx.forcing {
        class.methods[method.index].access &= !access::SYNCHRONIZED;
    }
    Ok(done)
}

fn plan(cx: &Context<'_>, class: &ClassFile, code: &Code, method: &MethodContext) -> Result<Option<Plan>> {
    let start = if method.name == "<init>" {
        match super_call_pc(code, &class.pool) {
            Some(pc) => pc + 3,
            None => return Ok(None),
        }
    } else {
        0
    };
    let (mut points, mut invokes, mut waits) = (0, 0, false);
    for instruction in code.instructions() {
        let instruction = instruction?;
        match instruction.operand {
            Operand::Field(_) => points += 1,
            Operand::Method(index) | Operand::InterfaceMethod(index, _) => {
                invokes += 1;
                let callee = class.pool.member_ref(index)?;
                waits |= is_wait(callee.name, callee.descriptor);
            }
            Operand::Dynamic(_) => invokes += 1,
            _ if is_array_access(instruction.opcode) => points += 1,
            _ if matches!(instruction.opcode, op::MONITORENTER | op::MONITOREXIT) => points += 2,
            _ => {}
        }
    }
    let bridge = method.access & access::BRIDGE != 0;
    let synchronized = method.access & access::SYNCHRONIZED != 0;
    let frame = synchronized || method.name == "<clinit>" || !bridge && (invokes > 0 || points > 1);
    // A constructor that only calls its super constructor.
    let trivial = method.name == "<init>" && points == 0 && invokes <= 1 && !cx.forcing;
    Ok(Some(Plan {
        start,
        frame: frame && !trivial,
        waits,
    }))
}

fn is_wait(name: &[u8], descriptor: &[u8]) -> bool {
    name == b"wait" && matches!(descriptor, b"()V" | b"(J)V" | b"(JI)V")
}

/// How many arguments a method of a map has whose first is a key; none if it is no such method. The keys of concurrent maps are in the records.
fn keyed_arguments(owner: &str, name: &[u8], descriptor: &[u8]) -> Option<usize> {
    const KEYED: [&[u8]; 11] = [
        b"get",
        b"getOrDefault",
        b"containsKey",
        b"put",
        b"putIfAbsent",
        b"remove",
        b"replace",
        b"merge",
        b"compute",
        b"computeIfAbsent",
        b"computeIfPresent",
    ];
    let is_map = match owner.strip_prefix("java/util/") {
        Some("Hashtable" | "Dictionary") => true,
        Some(name) => name.ends_with("Map") && !name.contains('/'),
        None => false,
    };
    let arguments = descriptor.strip_prefix(b"(Ljava/lang/Object;")?;
    if !is_map || !KEYED.contains(&name) {
        return None;
    }
    let arguments = &arguments[..arguments.iter().position(|byte| *byte == b')')?];
    let more = arguments.iter().filter(|byte| **byte == b';').count();
    // All are references: each ends with a semicolon and begins with an L.
    let is_plain = arguments
        .split(|byte| *byte == b';')
        .all(|argument| argument.is_empty() || argument.starts_with(b"L"));
    (is_plain && more < 3).then_some(1 + more)
}

fn is_array_access(opcode: u8) -> bool {
    (op::IALOAD..=op::SALOAD).contains(&opcode) || (op::IASTORE..=op::SASTORE).contains(&opcode)
}

pub(super) struct MethodWriter<'a, 'b> {
    pub(super) cx: &'a mut Context<'b>,
    pub(super) class: &'a mut ClassFile,
    pub(super) method: &'a mut MethodContext,
    pub(super) lines: &'a Lines,
    pub(super) edit: &'a mut CodeEditor,
    code: &'a Code,
    plan: &'a Plan,
    calls: bool,
    /// What a plan leaves out of the method.
    pub(super) focus: Option<&'a MethodFocus>,
    /// Accesses that fences order: see `fences`.
    pub(super) fenced: &'a BTreeSet<u32>,
    /// Accesses not yet written: see `accesses`.
    pub(super) run: Vec<Access>,
}

impl MethodWriter<'_, '_> {
    pub(super) fn site(&mut self, pc: u32, what: SiteKind) -> Option<i32> {
        let method = self.cx.method_id(self.method);
        let site = Site {
            method,
            bci: pc,
            line: self.lines.at(pc),
            what,
        };
        self.cx.state.registry.site(site).map(|id| id.0 as i32)
    }

    /// In forced runs: asks before a point that is in no run.
    fn point(&mut self, pc: u32, site: i32) -> Result<()> {
        if self.cx.forcing {
            let emit = Emit::new()
                .int(site, &mut self.class.pool)?
                .call(hook::ALONE, "(I)V", &mut self.class.pool)?;
            self.edit.insert_before(pc, &emit.bytes);
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &Instruction<'_>) -> Result<()> {
        let pc = instruction.pc;
        match (instruction.opcode, instruction.operand) {
            (op::GETFIELD | op::PUTFIELD | op::GETSTATIC | op::PUTSTATIC, Operand::Field(index)) => {
                self.field(pc, instruction.opcode, index)
            }
            (opcode, _) if is_array_access(opcode) => self.element(pc, opcode),
            (op::NEWARRAY | op::ANEWARRAY, _) => self.made(pc, hook::MADE),
            (op::MULTIANEWARRAY, _) => self.made(pc, hook::MADE_DEEP),
            (op::MONITORENTER, _) => self.monitor_enter(pc),
            (op::MONITOREXIT, _) => self.monitor_exit(pc),
            (_, Operand::Method(index) | Operand::InterfaceMethod(index, _)) => {
                self.invoke(pc, instruction.opcode, index)
            }
            (_, Operand::Dynamic(index)) => self.invoke_dynamic(pc, index),
            (op::IRETURN..=op::RETURN, _) => self.leave(pc, instruction.opcode),
            _ => Ok(()),
        }
    }

    /// Before the super constructor has been called only static fields and arrays can be looked at.
    fn before_super(&mut self, instruction: &Instruction<'_>) -> Result<()> {
        let pc = instruction.pc;
        match (instruction.opcode, instruction.operand) {
            (op::GETSTATIC | op::PUTSTATIC, Operand::Field(index)) => self.field(pc, instruction.opcode, index),
            (opcode, _) if is_array_access(opcode) => self.element(pc, opcode),
            (op::INVOKESPECIAL, Operand::Method(index)) if pc + 3 == self.plan.start => self.born(pc, index),
            _ => Ok(()),
        }
    }

    /// A new object gets its word where the class that declares it has called its own super constructor.
    fn born(&mut self, pc: u32, index: u16) -> Result<()> {
        let callee = self.class.pool.member_ref(index)?;
        if !self.cx.is_root() || decode_modified_utf8(callee.class) != self.cx.superclass.as_str() {
            return Ok(());
        }
        let pool = &mut self.class.pool;
        let word = pool.add_field_ref(&self.cx.name, WORD, "J")?;
        let emit = self.cx.give_word(Emit::new().load(0), hook::BORN, word, pool)?;
        self.edit.insert_after(pc, &emit.bytes);
        Ok(())
    }

    /// A new array belongs to the thread that makes it.
    fn made(&mut self, pc: u32, hook: Hook) -> Result<()> {
        let emit = Emit::new()
            .op(op::DUP)
            .call(hook, "(Ljava/lang/Object;)V", &mut self.class.pool)?;
        self.edit.insert_after(pc, &emit.bytes);
        Ok(())
    }

    fn monitor_enter(&mut self, pc: u32) -> Result<()> {
        let Some(site) = self.site(pc, SiteKind::Lock) else {
            return Ok(());
        };
        let pool = &mut self.class.pool;
        if self.cx.forcing {
            let emit =
                Emit::new()
                    .op(op::DUP)
                    .int(site, pool)?
                    .call(hook::LOCK_POINT, "(Ljava/lang/Object;I)V", pool)?;
            self.edit.insert_before(pc, &emit.bytes);
        }
        let after = Emit::new()
            .int(site, pool)?
            .call(hook::ACQUIRED, "(Ljava/lang/Object;I)V", pool)?;
        self.edit.insert_before(pc, &[op::DUP]);
        self.edit.insert_after(pc, &after.bytes);
        Ok(())
    }

    fn monitor_exit(&mut self, pc: u32) -> Result<()> {
        let Some(site) = self.site(pc, SiteKind::Lock) else {
            return Ok(());
        };
        self.point(pc, site)?;
        let pool = &mut self.class.pool;
        let before = Emit::new()
            .op(op::DUP)
            .int(site, pool)?
            .call(hook::RELEASING, "(Ljava/lang/Object;I)V", pool)?;
        self.edit.insert_before(pc, &before.bytes);
        Ok(())
    }

    fn invoke(&mut self, pc: u32, opcode: u8, index: u16) -> Result<()> {
        let callee = self.class.pool.member_ref(index)?;
        let (name, descriptor) = (callee.name.to_vec(), callee.descriptor.to_vec());
        let owner = decode_modified_utf8(callee.class).into_owned();
        if opcode == op::INVOKEVIRTUAL && is_wait(&name, &descriptor) {
            return self.wait(pc, &descriptor);
        }
        if opcode == op::INVOKEVIRTUAL && descriptor == b"()V" && (name == b"notify" || name == b"notifyAll") {
            let hook = if name == b"notify" {
                hook::NOTIFYING
            } else {
                hook::NOTIFYING_ALL
            };
            let Some(site) = self.site(
                pc,
                SiteKind::Call(format!("java.lang.Object.{}", decode_modified_utf8(&name))),
            ) else {
                return Ok(());
            };
            self.point(pc, site)?;
            let pool = &mut self.class.pool;
            let emit = Emit::new()
                .op(op::DUP)
                .int(site, pool)?
                .call(hook, "(Ljava/lang/Object;I)V", pool)?;
            self.edit.insert_before(pc, &emit.bytes);
            if self.cx.searching {
                let hook = match name == b"notify" {
                    true => hook::SEARCH_NOTIFY,
                    false => hook::SEARCH_NOTIFY_ALL,
                };
                let emit = Emit::new().call(hook, "(Ljava/lang/Object;)V", pool)?;
                self.edit.replace(pc, &emit.bytes);
            }
            return Ok(());
        }
        if models::asks_a_lock(name.as_ref()) {
            self.cx.state.registry.asks_locks();
        }
        let array_clone = owner.starts_with('[');
        if !array_clone && !is_simple(&owner, &name, &descriptor) {
            let mut callee = format!("{}.{}", owner.replace('/', "."), decode_modified_utf8(&name));
            if callee == VALIDATE && drops_result(self.code, pc) {
                callee = VALIDATE_UNHEEDED.to_string();
            }
            match keyed_arguments(&owner, &name, &descriptor).filter(|_| self.cx.forcing) {
                Some(arguments) => self.call_with_key(pc, callee, arguments)?,
                None => self.call(pc, callee)?,
            }
        }
        if opcode == op::INVOKESPECIAL
            && name == b"clone"
            && descriptor == b"()Ljava/lang/Object;"
            && !self.cx.filter.has_word(&owner)
        {
            let pool = &mut self.class.pool;
            let class = pool.add_class(&self.cx.name)?;
            let word = pool.add_field_ref(&self.cx.name, WORD, "J")?;
            let copy = Emit::new().op(op::DUP).indexed(op::CHECKCAST, class);
            let emit = self.cx.give_word(copy, hook::BORN, word, pool)?;
            self.edit.insert_after(pc, &emit.bytes);
        }
        Ok(())
    }

    /// Code that the JVM links at its first execution. It may call methods of the values it takes, as a concatenation does, unless it
    /// only makes a lambda.
    fn invoke_dynamic(&mut self, pc: u32, index: u16) -> Result<()> {
        let (_, name, descriptor) = self.class.pool.dynamic(index)?;
        if makes_value(descriptor) && takes_object(descriptor) {
            let callee = decode_modified_utf8(name).into_owned();
            self.call(pc, callee)?;
        }
        Ok(())
    }

    /// Says which call is made next.
    fn call(&mut self, pc: u32, callee: String) -> Result<()> {
        if !self.calls {
            return Ok(());
        }
        if let Some(site) = self.site(pc, SiteKind::Call(callee)) {
            let pool = &mut self.class.pool;
            let emit = Emit::new().int(site, pool)?.call(hook::CALL, "(I)V", pool)?;
            self.edit.insert_before(pc, &emit.bytes);
        }
        Ok(())
    }

    /// Says which call of a map is made next, and which key it is given: the first of its arguments, which are all references.
    fn call_with_key(&mut self, pc: u32, callee: String, arguments: usize) -> Result<()> {
        let site = if self.calls {
            self.site(pc, SiteKind::Call(callee))
        } else {
            None
        };
        let Some(site) = site else { return Ok(()) };
        let (before, after): (&[u8], &[u8]) = match arguments {
            1 => (&[op::DUP], &[]),
            2 => (&[op::DUP2, op::POP], &[]),
            _ => (&[op::DUP2_X1, op::POP2, op::DUP], &[op::DUP_X2, op::POP]),
        };
        let pool = &mut self.class.pool;
        let emit = Emit::new().ops(before).int(site, pool)?;
        let emit = emit.call(hook::CALL, "(Ljava/lang/Object;I)V", pool)?.ops(after);
        self.edit.insert_before(pc, &emit.bytes);
        Ok(())
    }

    fn wait(&mut self, pc: u32, descriptor: &[u8]) -> Result<()> {
        let Some(site) = self.site(pc, SiteKind::Call("java.lang.Object.wait".to_string())) else {
            return Ok(());
        };
        self.point(pc, site)?;
        let pool = &mut self.class.pool;
        if descriptor == b"(JI)V" {
            // Three operands deep: no way to copy the object from under them. The replacement waits in our stead.
            let emit = Emit::new()
                .int(site, pool)?
                .call(hook::WAIT_NANOS, "(Ljava/lang/Object;JII)V", pool)?;
            self.edit.replace(pc, &emit.bytes);
            return Ok(());
        }
        let copy: &[u8] = if descriptor == b"()V" {
            &[op::DUP]
        } else {
            &[op::DUP2_X1, op::POP2, op::DUP_X2]
        };
        let before = Emit::new()
            .ops(copy)
            .int(site, pool)?
            .call(hook::WAITING, "(Ljava/lang/Object;I)V", pool)?;
        let after = Emit::new().int(site, pool)?.call(hook::WAITED, "(I)V", pool)?;
        self.edit.insert_before(pc, &before.bytes);
        self.edit.insert_after(pc, &after.bytes);
        if self.cx.searching {
            let descriptor = match descriptor {
                b"()V" => "(Ljava/lang/Object;)V",
                _ => "(Ljava/lang/Object;J)V",
            };
            let emit = Emit::new().call(hook::SEARCH_AWAIT, descriptor, &mut self.class.pool)?;
            self.edit.replace(pc, &emit.bytes);
        }
        Ok(())
    }

    /// Whether the method has a frame only where code outside the program calls it.
    fn is_light(&self) -> bool {
        self.cx.for_races && self.method.access & access::SYNCHRONIZED == 0 && self.method.name != "<clinit>"
    }

    /// Whether the method's lock is taken by inserted code: in a forced run the thread must be asked before it blocks.
    fn forced_lock(&self) -> bool {
        self.cx.forcing && self.method.access & access::SYNCHRONIZED != 0
    }

    /// In forced runs: what the method returns.
    fn returned(&mut self, pc: u32, opcode: u8) -> Result<()> {
        if !self.cx.forcing || opcode == op::RETURN {
            return Ok(());
        }
        let descriptor = self.method.descriptor.clone();
        let Some((_, result)) = descriptor.rsplit_once(')') else {
            return Ok(());
        };
        let method = self.cx.method_id(self.method);
        let site = Site {
            method,
            bci: pc,
            line: self.lines.at(pc),
            what: SiteKind::Method,
        };
        let name = format!("{}.{}{descriptor}", self.cx.name.replace('/', "."), self.method.name);
        let Some(site) = self.cx.state.registry.result_site(site, &name) else {
            return Ok(());
        };
        let kind = value_kind(result);
        let copy = if matches!(kind, 'J' | 'D') { op::DUP2 } else { op::DUP };
        let pool = &mut self.class.pool;
        let emit = Emit::new().op(copy).int(site.0 as i32, pool)?.call(
            hook::RETURNED,
            &format!("({}I)V", value_descriptor(kind)),
            pool,
        )?;
        self.edit.insert_before(pc, &emit.bytes);
        Ok(())
    }

    /// Before a return.
    fn leave(&mut self, pc: u32, opcode: u8) -> Result<()> {
        if !self.plan.frame {
            return Ok(());
        }
        self.returned(pc, opcode)?;
        let id = self.cx.method_id(self.method).0 as i32;
        let (forced_lock, light) = (self.forced_lock(), self.is_light());
        let pool = &mut self.class.pool;
        let emit = if self.method.name == "<clinit>" {
            let class = self.cx.class.0 as i32;
            Emit::new()
                .int(id, pool)?
                .int(class, pool)?
                .call(hook::EXIT_INITIALIZER, "(II)V", pool)?
        } else {
            let hook = match forced_lock {
                true => hook::EXIT_FORCED,
                false if light => hook::EXIT_LIGHTLY,
                false => hook::EXIT,
            };
            Emit::new().int(id, pool)?.call(hook, "(I)V", pool)?
        };
        self.edit.insert_before(pc, &emit.bytes);
        Ok(())
    }

    /// The handlers that an interrupted thread goes to.
    fn interruptions(&mut self, code: &Code) -> Result<()> {
        let mut handlers = Vec::new();
        for entry in &code.exceptions {
            let caught = match entry.catch_type {
                0 => continue,
                index => self.class.pool.class_name(index)?,
            };
            if matches!(caught, b"java/lang/InterruptedException" | b"java/lang/Exception") {
                handlers.push(u32::from(entry.handler));
            }
        }
        handlers.sort_unstable();
        handlers.dedup();
        for handler in handlers {
            let emit =
                Emit::new()
                    .op(op::DUP)
                    .call(hook::INTERRUPTED, "(Ljava/lang/Throwable;)V", &mut self.class.pool)?;
            self.edit.insert_before(handler, &emit.bytes);
        }
        Ok(())
    }

    /// The entry, the exit by exception, and the handlers that a wait may end in.
    fn boundaries(&mut self, code: &Code) -> Result<()> {
        if self.plan.waits {
            let emit = Emit::new().call(hook::CAUGHT, "()V", &mut self.class.pool)?;
            let mut handlers: Vec<u16> = code.exceptions.iter().map(|entry| entry.handler).collect();
            handlers.sort_unstable();
            handlers.dedup();
            for handler in handlers {
                self.edit.insert_before(u32::from(handler), &emit.bytes);
            }
        }
        self.interruptions(code)?;
        if !self.plan.frame {
            return Ok(());
        }
        let id = self.cx.method_id(self.method).0 as i32;
        let entry = if self.method.access & access::SYNCHRONIZED != 0 {
            let Some(site) = self.site(0, SiteKind::Lock) else {
                return Ok(());
            };
            let major = self.class.major;
            let pool = &mut self.class.pool;
            let lock = if self.method.access & access::STATIC != 0 {
                Emit::new().class(&self.cx.name, major, pool)?
            } else {
                Emit::new().load(0)
            };
            let hook = match self.cx.forcing {
                true => hook::ENTER_FORCED,
                false => hook::ENTER_LOCKED,
            };
            lock.int(id, pool)?
                .int(site, pool)?
                .call(hook, "(Ljava/lang/Object;II)V", pool)?
        } else {
            let hook = match self.method.name.as_str() {
                "<clinit>" => hook::ENTER_INITIALIZER,
                _ if self.is_light() => hook::ENTER_LIGHTLY,
                _ => hook::ENTER,
            };
            let pool = &mut self.class.pool;
            Emit::new().int(id, pool)?.call(hook, "(I)V", pool)?
        };
        self.edit.insert_at_entry(&entry.bytes);
        let hook = match self.forced_lock() {
            true => hook::EXIT_FORCED_THROWN,
            false if self.is_light() => hook::EXIT_LIGHTLY_THROWN,
            false => hook::EXIT_THROWN,
        };
        let pool = &mut self.class.pool;
        let handler = Emit::new().int(id, pool)?.call(hook, "(I)V", pool)?.op(op::ATHROW);
        self.edit
            .add_catch_all(self.plan.start, code.code.len() as u32, &handler.bytes);
        Ok(())
    }
}

/// Whether a call runs no code of a collection and no model: its place in the program is not needed.
fn is_simple(owner: &str, name: &[u8], descriptor: &[u8]) -> bool {
    let Some(owner) = owner.strip_prefix("java/lang/") else {
        return false;
    };
    match owner {
        "Boolean" | "Byte" | "Character" | "Double" | "Float" | "Integer" | "Long" | "Math" | "Short"
        | "StrictMath" | "System" => true,
        "Object" => !matches!(name, b"toString" | b"hashCode" | b"equals"),
        "String" => !matches!(name, b"valueOf" | b"join" | b"format" | b"formatted") || !takes_object(descriptor),
        _ => false,
    }
}

/// Whether a parameter may be a collection.
fn takes_object(descriptor: &[u8]) -> bool {
    let parameters = descriptor.split(|byte| *byte == b')').next().unwrap_or_default();
    let mut rest = parameters;
    while let Some(at) = rest.iter().position(|byte| *byte == b'L') {
        let name = rest[at + 1..].split(|byte| *byte == b';').next().unwrap_or_default();
        let plain = [
            &b"java/lang/String"[..],
            b"java/lang/Integer",
            b"java/lang/Long",
            b"java/lang/Boolean",
            b"java/lang/Double",
        ];
        if !plain.contains(&name) {
            return true;
        }
        rest = &rest[at + 1 + name.len()..];
    }
    false
}

/// Whether a linked call gives a text, a number or a truth value: a concatenation, a method of a record. The maker of a lambda
/// gives an interface.
fn makes_value(descriptor: &[u8]) -> bool {
    descriptor.ends_with(b")Ljava/lang/String;") || descriptor.ends_with(b")I") || descriptor.ends_with(b")Z")
}

pub(super) fn value_kind(descriptor: &str) -> char {
    match descriptor.as_bytes().first() {
        Some(b'J') => 'J',
        Some(b'F') => 'F',
        Some(b'D') => 'D',
        Some(b'L' | b'[') => 'L',
        _ => 'I',
    }
}

pub(super) fn value_descriptor(kind: char) -> &'static str {
    match kind {
        'J' => "J",
        'F' => "F",
        'D' => "D",
        'L' => "Ljava/lang/Object;",
        _ => "I",
    }
}
