//! Accesses of application code to fields and array elements, in runs.
//!
//! Every access is a point, and moving the thread's position is most of what a point costs. So accesses that follow each other in
//! straight-line code form a run: the first moves the position for all of them, and each knows how many come after it.
//! A run that an exception cuts short counts as whole. Forced runs of the program need the exact position at each access, to
//! stop before it: there each access moves it by one, and what was cut short is made up for.

use ravel_classfile::{Code, Instruction, Operand, Result, decode_modified_utf8, op};
use ravel_trace::ids::{FieldId, SiteId};
use ravel_trace::names::{Site, SiteKind, flags};

use super::application::{MethodWriter, value_descriptor, value_kind};
use super::emit::Emit;
use super::hook;
use crate::registry::Knowledge;

/// Most points of a run: five bits count them.
pub(crate) const LONGEST: usize = 31;
/// Where the number of points to move by stands in what a hook is given, above the site; see `pass` in `RavelPoints.java`.
pub(crate) const MOVE: u32 = 27;
/// Where the number of points stands that are still to come.
pub(crate) const COMING: u32 = 22;

/// An access that gets a hook.
pub(super) struct Access {
    pc: u32,
    opcode: u8,
    site: i32,
    kind: Kind,
}

enum Kind {
    /// The class that the code names as the field's, its type, and whether it is volatile.
    Field(String, String, Volatile),
    Element,
}

/// Whether a field is volatile, as far as is known when the code is rewritten.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Volatile {
    No,
    Perhaps,
    Yes,
}

/// Where code is reached otherwise than from the instruction before, rising.
pub(super) fn entries(code: &Code) -> Result<Vec<u32>> {
    let mut entries: Vec<u32> = code.exceptions.iter().map(|entry| entry.handler.into()).collect();
    for instruction in code.instructions() {
        entries.extend(instruction?.jump_targets());
    }
    entries.sort_unstable();
    entries.dedup();
    Ok(entries)
}

/// Whether an instruction ends the run before it: it goes elsewhere, calls, is a point of another kind, or may run a class
/// initialiser, whose records must not have a later position than what follows.
pub(super) fn parts(instruction: &Instruction<'_>) -> bool {
    match instruction.operand {
        Operand::Branch(_)
        | Operand::Switch(_)
        | Operand::Method(_)
        | Operand::InterfaceMethod(..)
        | Operand::Dynamic(_) => true,
        Operand::Field(_) => matches!(instruction.opcode, op::GETSTATIC | op::PUTSTATIC),
        Operand::Class(_) => instruction.opcode == op::NEW,
        _ => !instruction.falls_through() || matches!(instruction.opcode, op::MONITORENTER | op::MONITOREXIT),
    }
}

/// A field reference of the class's pool.
struct FieldRef {
    owner: String,
    name: String,
    descriptor: String,
}

impl MethodWriter<'_, '_> {
    fn field_ref(&self, index: u16) -> Result<FieldRef> {
        let field = self.class.pool.member_ref(index)?;
        Ok(FieldRef {
            owner: decode_modified_utf8(field.class).into_owned(),
            name: decode_modified_utf8(field.name).into_owned(),
            descriptor: decode_modified_utf8(field.descriptor).into_owned(),
        })
    }

    /// An access to a field, if it is of interest.
    pub(super) fn field(&mut self, pc: u32, opcode: u8, index: u16) -> Result<()> {
        let field = self.field_ref(index)?;
        if !self.cx.filter.has_word(&field.owner) || field.name.starts_with("this$") {
            return Ok(());
        }
        let known = self
            .cx
            .state
            .registry
            .field_flags(&field.owner, &field.name, &field.descriptor);
        if known.is_some_and(|known| known & flags::FINAL != 0) && !self.cx.filter.keeps_final() {
            return Ok(());
        }
        if self.focus.is_some_and(|focus| focus.only_touches(pc)) {
            return self.touch(pc, opcode, &field);
        }
        let method = self.cx.method_id(self.method);
        let site = Site {
            method,
            bci: pc,
            line: self.lines.at(pc),
            what: match self.fenced.contains(&pc) {
                // Which field it is comes next.
                true => SiteKind::Fenced(FieldId(0)),
                false => SiteKind::Unknown,
            },
        };
        let Some((site, knowledge)) =
            self.cx
                .state
                .registry
                .field_site(site, &field.owner, &field.name, &field.descriptor)
        else {
            return Ok(());
        };
        if matches!(opcode, op::PUTFIELD | op::PUTSTATIC) {
            self.cx.state.registry.writes(site);
        }
        let volatile = match knowledge {
            _ if self.fenced.contains(&pc) => Volatile::Yes,
            Knowledge::Flags(known) if known & flags::VOLATILE != 0 => Volatile::Yes,
            Knowledge::Flags(_) => Volatile::No,
            Knowledge::Nothing => Volatile::Perhaps,
        };
        self.join(Access {
            pc,
            opcode,
            site: site.0 as i32,
            kind: Kind::Field(field.owner, field.descriptor, volatile),
        })
    }

    /// An access to a field that only shows that the thread has the object.
    fn touch(&mut self, pc: u32, opcode: u8, field: &FieldRef) -> Result<()> {
        let wide = matches!(value_kind(&field.descriptor), 'J' | 'D');
        let (before, after): (&[u8], &[u8]) = match (opcode, wide) {
            (op::GETFIELD, false) => (&[op::DUP], &[op::SWAP]),
            (op::GETFIELD, true) => (&[op::DUP], &[op::DUP2_X1, op::POP2]),
            (op::PUTFIELD, false) => (&[op::DUP2], &[op::POP]),
            (op::PUTFIELD, true) => (&[op::DUP2_X1, op::POP2, op::DUP, op::DUP2_X2, op::POP2], &[]),
            _ => return Ok(()),
        };
        let pool = &mut self.class.pool;
        let after = Emit::new().ops(after).op(op::DUP).word(&field.owner, pool)?.call(
            hook::TOUCH,
            "(Ljava/lang/Object;J)V",
            pool,
        )?;
        self.edit.insert_before(pc, before);
        self.edit.insert_after(pc, &after.bytes);
        Ok(())
    }

    /// An access to an element of an array.
    pub(super) fn element(&mut self, pc: u32, opcode: u8) -> Result<()> {
        let Some(site) = self.site(pc, SiteKind::Element(element_type(opcode).0.to_string())) else {
            return Ok(());
        };
        if opcode >= op::IASTORE {
            self.cx.state.registry.writes(SiteId(site as u32));
        }
        self.join(Access {
            pc,
            opcode,
            site,
            kind: Kind::Element,
        })
    }

    fn join(&mut self, access: Access) -> Result<()> {
        self.run.push(access);
        if self.run.len() == LONGEST {
            self.end_run()?;
        }
        Ok(())
    }

    /// Writes the hooks of the accesses that have come together.
    pub(super) fn end_run(&mut self) -> Result<()> {
        let run = std::mem::take(&mut self.run);
        for (place, access) in run.iter().enumerate() {
            if self.cx.forcing {
                let hook = if place == 0 { hook::ALONE } else { hook::POINT };
                let pool = &mut self.class.pool;
                let emit = Emit::new().int(access.site, pool)?.call(hook, "(I)V", pool)?;
                self.edit.insert_before(access.pc, &emit.bytes);
            }
            // A recording for races needs no positions.
            let steps = if place == 0 && !self.cx.for_races { run.len() } else { 0 };
            let coming = if self.cx.for_races { 0 } else { run.len() - 1 - place };
            let code = (steps as u32) << MOVE | (coming as u32) << COMING | access.site as u32;
            match &access.kind {
                Kind::Field(owner, descriptor, volatile) => {
                    self.field_hook(access, code as i32, owner, descriptor, *volatile)?;
                }
                Kind::Element => self.element_hook(access, code as i32)?,
            }
        }
        self.run = run;
        self.run.clear();
        Ok(())
    }

    fn field_hook(
        &mut self,
        access: &Access,
        code: i32,
        owner: &str,
        descriptor: &str,
        volatile: Volatile,
    ) -> Result<()> {
        let (pc, opcode) = (access.pc, access.opcode);
        let writes = matches!(opcode, op::PUTFIELD | op::PUTSTATIC);
        let pool = &mut self.class.pool;
        if writes && volatile != Volatile::No {
            let emit = Emit::new().int(access.site, pool)?.call(hook::STAMP, "(I)V", pool)?;
            self.edit.insert_before(pc, &emit.bytes);
        }
        let kind = value_kind(descriptor);
        let wide = matches!(kind, 'J' | 'D');
        let value = value_descriptor(kind);
        let (before, after): (&[u8], Emit) = match (opcode, wide) {
            (op::GETSTATIC, false) => (&[], Emit::new().op(op::DUP)),
            (op::GETSTATIC, true) => (&[], Emit::new().op(op::DUP2)),
            (op::PUTSTATIC, false) => (&[op::DUP], Emit::new()),
            (op::PUTSTATIC, true) => (&[op::DUP2], Emit::new()),
            (op::GETFIELD, false) => (&[op::DUP], Emit::new().ops(&[op::DUP_X1, op::SWAP])),
            (op::GETFIELD, true) => (&[op::DUP], Emit::new().ops(&[op::DUP2_X1, op::DUP2_X1, op::POP2])),
            (_, false) => (&[op::DUP2], Emit::new().op(op::SWAP)),
            (_, true) => (
                &[op::DUP2_X1, op::DUP2_X1, op::POP2, op::DUP_X2, op::DUP_X2, op::POP],
                Emit::new(),
            ),
        };
        let after = if matches!(opcode, op::GETSTATIC | op::PUTSTATIC) {
            let hook = if writes { hook::PUT_STATIC } else { hook::GET_STATIC };
            after.int(code, pool)?.call(hook, &format!("({value}I)V"), pool)?
        } else {
            let hook = match volatile {
                Volatile::No if writes => hook::PUT,
                _ if writes => hook::VOLATILE_PUT,
                Volatile::Yes => hook::VOLATILE_GET,
                _ => hook::GET,
            };
            let descriptor = format!("({value}Ljava/lang/Object;JI)V");
            after
                .op(op::DUP)
                .word(owner, pool)?
                .int(code, pool)?
                .call(hook, &descriptor, pool)?
        };
        self.edit.insert_before(pc, before);
        self.edit.insert_after(pc, &after.bytes);
        Ok(())
    }

    fn element_hook(&mut self, access: &Access, code: i32) -> Result<()> {
        let (pc, opcode) = (access.pc, access.opcode);
        let kind = element_type(opcode).1;
        let pool = &mut self.class.pool;
        let wide = matches!(kind, 'J' | 'D');
        let value = value_descriptor(kind);
        if opcode <= op::SALOAD {
            let keep = if wide { op::DUP2_X2 } else { op::DUP_X2 };
            let descriptor = format!("(Ljava/lang/Object;I{value}I)V");
            let after = Emit::new()
                .op(keep)
                .int(code, pool)?
                .call(hook::AGET, &descriptor, pool)?;
            self.edit.insert_before(pc, &[op::DUP2]);
            self.edit.insert_after(pc, &after.bytes);
        } else {
            let descriptor = format!("({value}Ljava/lang/Object;II)V");
            let (copy, back): (&[u8], &[u8]) = if wide {
                (
                    &[op::DUP2_X2, op::DUP2_X2, op::POP2, op::DUP2_X2],
                    &[op::DUP2_X2, op::POP2],
                )
            } else {
                (
                    &[op::DUP_X2, op::DUP_X2, op::POP, op::DUP2_X1],
                    &[op::DUP2_X1, op::POP2],
                )
            };
            let emit = Emit::new()
                .ops(copy)
                .int(code, pool)?
                .call(hook::APUT, &descriptor, pool)?
                .ops(back);
            self.edit.insert_before(pc, &emit.bytes);
        }
        Ok(())
    }
}

/// The type of the array that an instruction accesses, and what its elements are passed as.
fn element_type(opcode: u8) -> (&'static str, char) {
    match opcode {
        op::IALOAD | op::IASTORE => ("[I", 'I'),
        op::LALOAD | op::LASTORE => ("[J", 'J'),
        op::FALOAD | op::FASTORE => ("[F", 'F'),
        op::DALOAD | op::DASTORE => ("[D", 'D'),
        op::AALOAD | op::AASTORE => ("[Ljava/lang/Object;", 'L'),
        op::BALOAD | op::BASTORE => ("[B", 'I'),
        op::CALOAD | op::CASTORE => ("[C", 'I'),
        _ => ("[S", 'I'),
    }
}
