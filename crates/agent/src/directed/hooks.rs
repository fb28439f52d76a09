//! Hooks of a directed run: calls of `RavelDirector` around the instructions of steps and hold points, and at the boundaries
//! of units. Everything else in the class stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use ravel_classfile::{
    ClassFile, Code, CodeEditor, FieldType, Instruction, Operand, Result, decode_modified_utf8, give_references_bodies,
    op, parse_method_descriptor,
};

use ravel_trace::origin;

use crate::instrument::emit::Emit;
use crate::instrument::hook;
use ravel_protocol::goal::{CodeMethod, CodeSite, Goals, StepKind};

/// How much deeper the operand stack gets at most.
const STACK: u16 = 10;

/// What a class gets.
#[derive(Default)]
struct ClassHooks {
    /// By method: instructions, each with its site.
    methods: BTreeMap<(String, String), MethodHooks>,
}

#[derive(Default)]
struct MethodHooks {
    sites: Vec<(u32, usize)>,
    unit: Option<usize>,
}

/// A class with its hooks.
#[derive(Debug, Default)]
pub struct Rewritten {
    /// The class file.
    pub bytes: Vec<u8>,
    /// What could not be hooked, and why.
    pub missing: Vec<String>,
    /// The sites that have hooks, by index.
    pub found: Vec<usize>,
}

/// What all classes of a plan get.
pub struct Hooks {
    classes: BTreeMap<String, ClassHooks>,
    sites: Vec<CodeSite>,
    /// Sites whose instructions must write a field.
    writes: BTreeSet<usize>,
}

impl Hooks {
    /// The hooks of a plan.
    pub fn new(plan: &Goals) -> Hooks {
        let mut classes: BTreeMap<String, ClassHooks> = BTreeMap::new();
        let mut hooks_of = |method: &CodeMethod, change: &mut dyn FnMut(&mut MethodHooks)| {
            let class = classes.entry(method.class.clone()).or_default();
            let key = (method.name.clone(), method.descriptor.clone());
            change(class.methods.entry(key).or_default());
        };
        for (number, site) in plan.sites.iter().enumerate() {
            hooks_of(&site.method, &mut |hooks| hooks.sites.push((site.bci, number)));
        }
        for (number, method) in plan.methods.iter().enumerate() {
            hooks_of(method, &mut |hooks| hooks.unit = Some(number));
        }
        let steps = plan.goals.iter().flat_map(|goal| &goal.steps);
        Hooks {
            classes,
            sites: plan.sites.clone(),
            writes: steps
                .filter(|step| step.kind == StepKind::Write)
                .map(|step| step.site)
                .collect(),
        }
    }

    /// Whether a class (internal name) gets any.
    pub fn concern(&self, class: &str) -> bool {
        self.classes.contains_key(class)
    }

    /// The class with its hooks. An error if it cannot be rewritten at all.
    pub fn rewrite(&self, name: &str, bytes: &[u8]) -> Result<Rewritten> {
        let mut class = ClassFile::parse(bytes)?;
        let mut result = Rewritten::default();
        let Some(hooks) = self.classes.get(name) else {
            result.bytes = bytes.to_vec();
            return Ok(result);
        };
        // Steps may be in them.
        give_references_bodies(&mut class, origin::is_called_by_reference);
        for ((method, descriptor), wanted) in &hooks.methods {
            let index = class.methods.iter().position(|member| {
                class
                    .member_name(member)
                    .is_ok_and(|name| decode_modified_utf8(name) == method.as_str())
                    && class
                        .member_descriptor(member)
                        .is_ok_and(|text| decode_modified_utf8(text) == descriptor.as_str())
            });
            let Some(index) = index else {
                result.missing.push(format!("there is no method {method}{descriptor}"));
                continue;
            };
            let Some(code) = class.code(&class.methods[index])? else {
                result.missing.push(format!("{method}{descriptor} has no code"));
                continue;
            };
            let is_constructor = method == "<init>";
            let edited = self.edit(&mut class, code, wanted, is_constructor, &mut result)?;
            if let Some(code) = edited {
                class.set_code(index, &code)?;
            }
        }
        result.bytes = class.write()?;
        Ok(result)
    }

    fn edit(
        &self,
        class: &mut ClassFile,
        mut code: Code,
        wanted: &MethodHooks,
        is_constructor: bool,
        result: &mut Rewritten,
    ) -> Result<Option<Code>> {
        let mut edit = CodeEditor::new();
        edit.grow_stack(STACK);
        let locals = code.max_locals;
        let mut most_locals = locals;
        let mut found = vec![false; wanted.sites.len()];
        for instruction in code.instructions() {
            let instruction = instruction?;
            for (place, (bci, site)) in wanted.sites.iter().enumerate() {
                if *bci != instruction.pc || !self.is_recorded(class, &instruction, *site) {
                    continue;
                }
                let Some(used) = around(class, &mut edit, &instruction, *site as i32, locals, is_constructor)? else {
                    continue;
                };
                most_locals = most_locals.max(locals.saturating_add(used));
                found[place] = true;
            }
            let returns = (op::IRETURN..=op::RETURN).contains(&instruction.opcode);
            if let Some(unit) = wanted.unit.filter(|_| returns && !is_constructor) {
                let leave = leave(class, instruction.opcode, unit as i32)?;
                edit.insert_before(instruction.pc, &leave.bytes);
            }
        }
        for ((_, number), found) in wanted.sites.iter().zip(found) {
            if found {
                result.found.push(*number);
            } else {
                let site = &self.sites[*number];
                result.missing.push(format!(
                    "instruction {} of {}{} is not the recorded one",
                    site.bci, site.method.name, site.method.descriptor
                ));
            }
        }
        if let Some(unit) = wanted.unit.filter(|_| !is_constructor) {
            let enter =
                Emit::new()
                    .int(unit as i32, &mut class.pool)?
                    .call(hook::ENTER_UNIT, "(I)V", &mut class.pool)?;
            edit.insert_at_entry(&enter.bytes);
            let leave = Emit::new()
                .op(op::DUP)
                .int(unit as i32, &mut class.pool)?
                .call(hook::LEAVE_THROWN, "(Ljava/lang/Throwable;I)V", &mut class.pool)?
                .op(op::ATHROW);
            edit.add_catch_all(0, code.code.len() as u32, &leave.bytes);
        }
        if edit.is_empty() {
            return Ok(None);
        }
        code.max_locals = most_locals;
        let major = class.major;
        edit.apply(&mut code, &mut class.pool, major)?;
        Ok(Some(code))
    }

    /// Whether an instruction is the one that the site names.
    fn is_recorded(&self, class: &ClassFile, instruction: &Instruction<'_>, site: usize) -> bool {
        let member = self.sites[site].member.as_str();
        let named = match instruction.operand {
            Operand::Field(index) | Operand::Method(index) | Operand::InterfaceMethod(index, _) => {
                class.pool.member_ref(index).map(|member| member.name.to_vec()).ok()
            }
            _ => None,
        };
        let writes = matches!(instruction.opcode, op::PUTFIELD | op::PUTSTATIC);
        (writes || !self.writes.contains(&site))
            && (member.is_empty() || named.is_some_and(|name| decode_modified_utf8(&name) == member))
    }
}

/// Puts hooks around an instruction; the local variables that they need above those of the method. None if the
/// instruction is of no kind that can be a step.
fn around(
    class: &mut ClassFile,
    edit: &mut CodeEditor,
    instruction: &Instruction<'_>,
    site: i32,
    locals: u16,
    is_constructor: bool,
) -> Result<Option<u16>> {
    let pc = instruction.pc;
    const OBJECT: &str = "(Ljava/lang/Object;I)V";
    const ELEMENT: &str = "(Ljava/lang/Object;II)V";
    const KEY: &str = "(Ljava/lang/Object;Ljava/lang/Object;I)V";
    let (copy, descriptor): (&[u8], &str) = match (instruction.opcode, instruction.operand) {
        (op::GETSTATIC | op::PUTSTATIC, _) => (&[op::ACONST_NULL], OBJECT),
        (op::GETFIELD, _) => (&[op::DUP], OBJECT),
        (op::PUTFIELD, Operand::Field(index)) => {
            let field = class.pool.member_ref(index)?;
            match field.descriptor.first() {
                Some(b'J' | b'D') => (&[op::DUP2_X1, op::POP2, op::DUP_X2], OBJECT),
                _ => (&[op::DUP2, op::POP], OBJECT),
            }
        }
        (op::IALOAD..=op::SALOAD, _) => (&[op::DUP2], ELEMENT),
        (op::LASTORE | op::DASTORE, _) => (&[op::DUP2_X2, op::POP2, op::DUP2_X2], ELEMENT),
        (op::IASTORE..=op::SASTORE, _) => (&[op::DUP_X2, op::POP, op::DUP2_X1], ELEMENT),
        (op::MONITORENTER, _) => (&[op::DUP], OBJECT),
        (op::INVOKESTATIC, _) => (&[op::ACONST_NULL], OBJECT),
        (
            op::INVOKEVIRTUAL | op::INVOKEINTERFACE | op::INVOKESPECIAL,
            Operand::Method(index) | Operand::InterfaceMethod(index, _),
        ) => {
            let callee = class.pool.member_ref(index)?;
            if callee.name == b"<init>" || is_constructor && instruction.opcode == op::INVOKESPECIAL {
                return Ok(None);
            }
            let descriptor = callee.descriptor.to_vec();
            let parameters = parse_method_descriptor(&descriptor)?.parameters;
            let slots = parameters.iter().map(FieldType::slots).sum::<u16>();
            let mut emit = Emit::new();
            let mut at = locals + slots;
            for parameter in parameters.iter().rev() {
                at -= parameter.slots();
                emit = emit.local(store(parameter), at);
            }
            emit = emit.op(op::DUP);
            emit = match parameters.first() {
                Some(first) if first.is_reference() => emit.local(op::ALOAD, locals),
                _ => emit.op(op::ACONST_NULL),
            };
            emit = emit
                .int(site, &mut class.pool)?
                .call(hook::BEFORE_STEP, KEY, &mut class.pool)?;
            for parameter in &parameters {
                emit = emit.local(load(parameter), at);
                at += parameter.slots();
            }
            edit.insert_before(pc, &emit.bytes);
            let after = after(class, instruction, site)?;
            edit.insert_after(pc, &after.bytes);
            return Ok(Some(slots));
        }
        _ => return Ok(None),
    };
    let mut before =
        Emit::new()
            .ops(copy)
            .int(site, &mut class.pool)?
            .call(hook::BEFORE_STEP, descriptor, &mut class.pool)?;
    if !is_constructor {
        before = writes(class, instruction, before, site)?;
    }
    edit.insert_before(pc, &before.bytes);
    let after = after(class, instruction, site)?;
    edit.insert_after(pc, &after.bytes);
    Ok(Some(0))
}

/// The call after an instruction, with the value that it has read if that is a number.
fn after(class: &mut ClassFile, instruction: &Instruction<'_>, site: i32) -> Result<Emit> {
    match value(class, instruction)? {
        Some(copy) => {
            Emit::new()
                .ops(copy)
                .int(site, &mut class.pool)?
                .call(hook::AFTER_VALUE, "(JI)V", &mut class.pool)
        }
        None => Emit::new()
            .int(site, &mut class.pool)?
            .call(hook::AFTER_STEP, "(I)V", &mut class.pool),
    }
}

/// Adds the call before a write of a number to a field: the value that is there, read again since the thread may have been held,
/// and the one that will be.
fn writes(class: &mut ClassFile, instruction: &Instruction<'_>, before: Emit, site: i32) -> Result<Emit> {
    let Operand::Field(index) = instruction.operand else {
        return Ok(before);
    };
    let kind = class.pool.member_ref(index)?.descriptor.first().copied();
    let is_long = match kind {
        Some(b'J') => true,
        Some(b'I' | b'Z' | b'B' | b'C' | b'S') => false,
        _ => return Ok(before),
    };
    let before = match (instruction.opcode, is_long) {
        (op::PUTFIELD, false) => before
            .ops(&[op::DUP2, op::I2L, op::DUP2_X1, op::POP2])
            .indexed(op::GETFIELD, index)
            .op(op::I2L),
        (op::PUTFIELD, true) => before
            .ops(&[op::DUP2_X1, op::POP2, op::DUP_X2])
            .indexed(op::GETFIELD, index)
            .ops(&[op::DUP2_X2, op::POP2, op::DUP2_X2, op::DUP2_X2, op::POP2]),
        (op::PUTSTATIC, false) => before
            .ops(&[op::DUP, op::I2L])
            .indexed(op::GETSTATIC, index)
            .op(op::I2L),
        (op::PUTSTATIC, true) => before.op(op::DUP2).indexed(op::GETSTATIC, index),
        _ => return Ok(before),
    };
    before
        .int(site, &mut class.pool)?
        .call(hook::WRITES, "(JJI)V", &mut class.pool)
}

/// The call before an instruction that ends a unit, with its result if that is known.
fn leave(class: &mut ClassFile, opcode: u8, unit: i32) -> Result<Emit> {
    let (copy, hook, descriptor): (&[u8], _, _) = match opcode {
        op::IRETURN => (&[op::DUP, op::I2L], hook::LEAVE_WITH_VALUE, "(JI)V"),
        op::LRETURN => (&[op::DUP2], hook::LEAVE_WITH_VALUE, "(JI)V"),
        op::ARETURN => (&[op::DUP], hook::LEAVE_WITH_OBJECT, "(Ljava/lang/Object;I)V"),
        _ => (&[], hook::LEAVE_UNIT, "(I)V"),
    };
    Emit::new()
        .ops(copy)
        .int(unit, &mut class.pool)?
        .call(hook, descriptor, &mut class.pool)
}

/// How the value that an instruction has read or a call has returned is copied as a `long`; none if it cannot be.
fn value(class: &ClassFile, instruction: &Instruction<'_>) -> Result<Option<&'static [u8]>> {
    const INT: &[u8] = &[op::DUP, op::I2L];
    const LONG: &[u8] = &[op::DUP2];
    let of_kind = |kind: Option<&u8>| match kind {
        Some(b'I' | b'Z' | b'B' | b'C' | b'S') => Some(INT),
        Some(b'J') => Some(LONG),
        _ => None,
    };
    Ok(match (instruction.opcode, instruction.operand) {
        (op::GETFIELD | op::GETSTATIC, Operand::Field(index)) => {
            of_kind(class.pool.member_ref(index)?.descriptor.first())
        }
        (
            op::INVOKEVIRTUAL | op::INVOKEINTERFACE | op::INVOKESPECIAL,
            Operand::Method(index) | Operand::InterfaceMethod(index, _),
        ) => {
            let descriptor = class.pool.member_ref(index)?.descriptor;
            let result = descriptor.iter().rposition(|byte| *byte == b')');
            of_kind(result.and_then(|end| descriptor.get(end + 1)))
        }
        (op::IALOAD | op::BALOAD | op::CALOAD | op::SALOAD, _) => Some(INT),
        (op::LALOAD, _) => Some(LONG),
        _ => None,
    })
}

fn store(parameter: &FieldType<'_>) -> u8 {
    match parameter {
        FieldType::Long => op::LSTORE,
        FieldType::Float => op::FSTORE,
        FieldType::Double => op::DSTORE,
        FieldType::Object(_) | FieldType::Array(_) => op::ASTORE,
        _ => op::ISTORE,
    }
}

fn load(parameter: &FieldType<'_>) -> u8 {
    match parameter {
        FieldType::Long => op::LLOAD,
        FieldType::Float => op::FLOAD,
        FieldType::Double => op::DLOAD,
        FieldType::Object(_) | FieldType::Array(_) => op::ALOAD,
        _ => op::ILOAD,
    }
}
