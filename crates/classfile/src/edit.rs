//! Inserting straight-line code into a method, with everything that names a position in the code moved along.
//!
//! Only straight-line code can be inserted: then the types in the stack-map frames stay as they are, and it is enough to
//! move the frames. A method that would outgrow a limit of the class-file format is left as it was.

use crate::code::{Code, ExceptionEntry, MAX_CODE};
use crate::error::{ErrorKind, Result};
use crate::instruction::{Instruction, Instructions, Operand, falls_through, switch_padding};
use crate::opcode as op;
use crate::pool::ConstantPool;
use crate::relocate;

/// The first class-file version whose code is checked by stack-map frames.
const FIRST_WITH_FRAMES: u16 = 50;

/// Collects insertions into one method's code and applies them together.
///
/// All positions are those of the code before the edit. Inserted bytes are whole instructions without branches and
/// switches; except for the end of a handler and of a replacement they neither return nor throw.
///
/// - Exception handlers: code inserted before or after an instruction is protected by whatever protects the
///   instruction. Code inserted at the entry is protected by nothing.
/// - Lines: inserted code belongs to the line of its instruction, entry code to the first line.
/// - Attributes of the code that are not in the JVM specification are kept as they are, but for `CharacterRangeTable`,
///   `CoverageTable` and `StackMap`, which hold positions in the code and are dropped.
/// - A `finalize()` that is a lone `return` must stay one, above all that of `java/lang/Object`: the JVM takes any other
///   for a real finalizer and registers every object of the class. The constructor of `java/lang/Object` must get no
///   handler: the compiler of JDK 17 crashes on one.
#[derive(Debug, Clone, Default)]
pub struct CodeEditor {
    /// The inserted bytes, one insertion after the other.
    bytes: Vec<u8>,
    insertions: Vec<Insertion>,
    entry: Vec<u8>,
    catch_alls: Vec<CatchAll>,
    stack: u16,
}

#[derive(Debug, Clone, Copy)]
struct Insertion {
    pc: u32,
    place: InsertionPlace,
    start: u32,
    len: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum InsertionPlace {
    Before,
    Instead,
    After,
}

#[derive(Debug, Clone)]
struct CatchAll {
    start: u32,
    end: u32,
    handler: Vec<u8>,
}

/// Where the instructions of the code went.
#[derive(Debug, Clone)]
pub struct PcMap {
    /// For each old position where a jump to it now leads. Inside an instruction it is the instruction's, marked with
    /// `INSIDE`. The end of the code is last.
    labels: Vec<u32>,
    /// For each old position the instruction itself, which comes after what was inserted before it, or `NOWHERE`.
    instructions: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

/// Code is at most 64 KB long, so this bit of a position is free.
const INSIDE: u32 = 1 << 31;

impl PcMap {
    /// A map where nothing was inserted before instructions; `positions` has one entry per old position and the end.
    pub(crate) fn from_positions(positions: &[Option<u32>]) -> PcMap {
        let mut last = 0;
        let label = |new: &Option<u32>| match new {
            Some(new) => {
                last = *new;
                *new
            }
            None => last | INSIDE,
        };
        PcMap {
            labels: positions.iter().map(label).collect(),
            instructions: positions.iter().map(|new| new.unwrap_or(NOWHERE)).collect(),
        }
    }

    /// The new position of the instruction that was at `pc`.
    pub fn instruction(&self, pc: u32) -> Option<u32> {
        self.instructions
            .get(pc as usize)
            .copied()
            .filter(|new| *new != NOWHERE)
    }

    /// Where a jump to `pc` now leads: to the code inserted before its instruction. The old length of the code is
    /// mapped to the end of the moved code.
    pub fn label(&self, pc: u32) -> Option<u32> {
        self.labels.get(pc as usize).copied().filter(|new| new & INSIDE == 0)
    }

    /// The label of the last instruction at or before `pc`, for debug tables, which nothing forces to be exact; with
    /// position 0 kept, so that entry code belongs to the first line and the parameters are visible in it.
    pub(crate) fn nearest(&self, pc: u32) -> u32 {
        if pc == 0 {
            return 0;
        }
        self.labels
            .get(pc as usize)
            .or(self.labels.last())
            .map_or(0, |new| new & !INSIDE)
    }
}

impl CodeEditor {
    /// An editor without insertions.
    pub fn new() -> Self {
        CodeEditor::default()
    }

    /// Forgets everything, keeping the memory for the next method.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.insertions.clear();
        self.entry.clear();
        self.catch_alls.clear();
        self.stack = 0;
    }

    /// Whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.insertions.is_empty() && self.entry.is_empty() && self.catch_alls.is_empty() && self.stack == 0
    }

    fn insert(&mut self, pc: u32, place: InsertionPlace, bytes: &[u8]) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        self.insertions.push(Insertion {
            pc,
            place,
            start,
            len: bytes.len() as u32,
        });
    }

    /// Inserts code that runs whenever the instruction at `pc` is about to, however it is reached. Several insertions
    /// at one place run in the order in which they were made.
    pub fn insert_before(&mut self, pc: u32, bytes: &[u8]) {
        self.insert(pc, InsertionPlace::Before, bytes);
    }

    /// Inserts code that runs when execution goes on from the instruction at `pc` to the next one, but not when
    /// something else jumps there. After an instruction that never goes on to the next one nothing is inserted.
    pub fn insert_after(&mut self, pc: u32, bytes: &[u8]) {
        self.insert(pc, InsertionPlace::After, bytes);
    }

    /// Inserts code that runs once when the method is entered, and not when a loop comes back to its first instruction.
    pub fn insert_at_entry(&mut self, bytes: &[u8]) {
        self.entry.extend_from_slice(bytes);
    }

    /// Replaces the instruction at `pc`; the bytes must not be empty. The last replacement counts.
    pub fn replace(&mut self, pc: u32, bytes: &[u8]) {
        self.insert(pc, InsertionPlace::Instead, bytes);
    }

    /// Appends a handler for everything thrown from `start` up to `end` (not included) that no handler of the method
    /// takes. It starts with the exception alone on the stack and must end with `athrow` or a return; it sees no local
    /// variables. In a constructor the range must start after the call of the super constructor. An empty range adds nothing.
    pub fn add_catch_all(&mut self, start: u32, end: u32, handler: &[u8]) {
        if start < end {
            self.catch_alls.push(CatchAll {
                start,
                end,
                handler: handler.to_vec(),
            });
        }
    }

    /// Makes the operand stack `slots` deeper than it was; the largest demand counts.
    pub fn grow_stack(&mut self, slots: u16) {
        self.stack = self.stack.max(slots);
    }

    /// Applies the insertions to `code` of a class with this constant pool and major version. On an error the code is
    /// as it was. Worth telling apart are [`ErrorKind::CodeTooLarge`] and [`ErrorKind::BranchOutOfRange`]: the method is
    /// valid but has no room.
    pub fn apply(&self, code: &mut Code, pool: &mut ConstantPool, major: u16) -> Result<PcMap> {
        let mut insertions = self.insertions.clone();
        // Stable: equal places keep their order.
        insertions.sort_by_key(|insertion| (insertion.pc, insertion.place));
        let (map, jumps) = self.layout(code, &insertions)?;
        let mut new_code = self.emit(code, &insertions, &jumps, &map)?;

        let label = |pc: u32| {
            map.label(pc)
                .ok_or_else(|| ErrorKind::NotAnInstruction(pc).at(code.offset))
        };
        let mut exceptions = Vec::with_capacity(code.exceptions.len() + self.catch_alls.len());
        for entry in &code.exceptions {
            // Below 65536, as the new code's length was checked.
            exceptions.push(ExceptionEntry {
                start: label(u32::from(entry.start))? as u16,
                end: label(u32::from(entry.end))? as u16,
                handler: label(u32::from(entry.handler))? as u16,
                catch_type: entry.catch_type,
            });
        }
        let mut handlers = Vec::with_capacity(self.catch_alls.len());
        for catch_all in &self.catch_alls {
            let handler = new_code.len() as u16;
            new_code.extend_from_slice(&catch_all.handler);
            if new_code.len() > MAX_CODE {
                return Err(ErrorKind::CodeTooLarge(new_code.len()).at(code.offset));
            }
            let (start, end) = (label(catch_all.start)? as u16, label(catch_all.end)? as u16);
            exceptions.push(ExceptionEntry {
                start,
                end,
                handler,
                catch_type: 0,
            });
            handlers.push(handler);
        }
        if exceptions.len() > usize::from(u16::MAX) {
            return Err(ErrorKind::TooMany("the exception handlers").at(code.offset));
        }
        let least = if handlers.is_empty() { 0 } else { 1 };
        let max_stack = code.max_stack.max(least).checked_add(self.stack);
        let max_stack = max_stack.ok_or_else(|| ErrorKind::StackTooDeep.at(code.offset))?;

        let frames = if major >= FIRST_WITH_FRAMES { &handlers[..] } else { &[] };
        let attributes = relocate::attributes(&code.attributes, pool, &map, frames)?;
        code.code = new_code;
        code.exceptions = exceptions;
        code.attributes = attributes;
        code.max_stack = max_stack;
        Ok(map)
    }

    fn bytes_of(&self, insertion: &Insertion) -> &[u8] {
        let start = insertion.start as usize;
        self.bytes
            .get(start..start + insertion.len as usize)
            .unwrap_or_default()
    }

    /// Decides where everything goes; also returns the positions of the branches and switches, which change.
    fn layout(&self, code: &Code, insertions: &[Insertion]) -> Result<(PcMap, Vec<u32>)> {
        let length = code.code.len();
        let mut labels = Vec::with_capacity(length + 1);
        let mut instructions = Vec::with_capacity(length + 1);
        // Called in order, for one instruction after the other.
        let mut set = |old_length: usize, label: usize, instruction: usize| {
            labels.push(label as u32);
            instructions.push(instruction as u32);
            let inside = labels.len() + old_length.saturating_sub(1);
            labels.resize(inside, label as u32 | INSIDE);
            instructions.resize(inside, NOWHERE);
        };
        let mut pending = Pending { rest: insertions };
        let mut at = self.entry.len();
        let mut jumps = Vec::new();
        let mut steps = code.instructions();
        while let Some(instruction) = steps.step() {
            let instruction = instruction?;
            let pc = instruction.pc;
            if instruction.is_jump() {
                jumps.push(pc);
            }
            let here = pending.take(pc, code.offset)?;
            let label = at;
            at += here
                .before
                .iter()
                .map(|insertion| insertion.len as usize)
                .sum::<usize>();
            set(instruction.len as usize, label, at);
            match here.instead {
                Some(replacement) if replacement.len == 0 => {
                    return Err(
                        ErrorKind::Malformed("edit: an instruction cannot be replaced by nothing").at(code.offset),
                    );
                }
                Some(replacement) => at += replacement.len as usize,
                None if instruction.is_switch() => {
                    at += instruction.len as usize - switch_padding(pc as usize) + switch_padding(at);
                }
                None => at += instruction.len as usize,
            }
            if self.goes_on(instruction.opcode, &here)? {
                at += here.after.iter().map(|insertion| insertion.len as usize).sum::<usize>();
            }
        }
        if let Some(left) = pending.rest.first() {
            return Err(ErrorKind::NotAnInstruction(left.pc).at(code.offset));
        }
        set(1, at, at);
        if at > MAX_CODE {
            return Err(ErrorKind::CodeTooLarge(at).at(code.offset));
        }
        Ok((PcMap { labels, instructions }, jumps))
    }

    /// Whether execution goes on after an instruction, as replaced.
    fn goes_on(&self, opcode: u8, here: &Here<'_>) -> Result<bool> {
        if here.after.is_empty() {
            return Ok(false);
        }
        let Some(replacement) = here.instead else {
            return Ok(falls_through(opcode));
        };
        let last = Instructions::new(self.bytes_of(replacement)).last();
        Ok(last.transpose()?.is_none_or(|last| last.falls_through()))
    }

    /// Writes the moved and inserted instructions, catch-all handlers not included.
    fn emit(&self, code: &Code, insertions: &[Insertion], jumps: &[u32], map: &PcMap) -> Result<Vec<u8>> {
        let handlers: usize = self.catch_alls.iter().map(|catch_all| catch_all.handler.len()).sum();
        let mut out = Vec::with_capacity(code.code.len() + self.entry.len() + self.bytes.len() + handlers + 8);
        out.extend_from_slice(&self.entry);
        let mut pending = Pending { rest: insertions };
        let mut jumps = jumps.iter().copied().peekable();
        // Between the places where something happens the code is copied as it is.
        let mut copied = 0;
        loop {
            let insertion = pending.rest.first().map(|insertion| insertion.pc);
            let Some(pc) = [insertion, jumps.peek().copied()].into_iter().flatten().min() else {
                break;
            };
            out.extend_from_slice(code.code.get(copied..pc as usize).unwrap_or_default());
            let decoded = Instructions::starting(&code.code, pc, code.offset).next();
            let Some(instruction) = decoded.transpose()? else { break };
            copied = instruction.next_pc() as usize;
            jumps.next_if_eq(&pc);
            let here = pending.take(pc, code.offset)?;
            for insertion in here.before {
                out.extend_from_slice(self.bytes_of(insertion));
            }
            match here.instead {
                Some(replacement) => out.extend_from_slice(self.bytes_of(replacement)),
                None => put_moved(&mut out, code, &instruction, map)?,
            }
            if self.goes_on(instruction.opcode, &here)? {
                for insertion in here.after {
                    out.extend_from_slice(self.bytes_of(insertion));
                }
            }
        }
        out.extend_from_slice(code.code.get(copied..).unwrap_or_default());
        Ok(out)
    }
}

/// Writes an instruction at its new place.
fn put_moved(out: &mut Vec<u8>, code: &Code, instruction: &Instruction<'_>, map: &PcMap) -> Result<()> {
    let pc = instruction.pc;
    let start = out.len();
    let here = code.offset + pc as usize;
    let offset_to = |target: u32| match map.label(target) {
        // The new code is shorter than 64 KB.
        Some(new) => Ok(new as i32 - start as i32),
        None => Err(ErrorKind::BadBranch {
            pc,
            target: i64::from(target),
        }
        .at(here)),
    };
    match instruction.operand {
        Operand::Branch(target) => {
            let offset = offset_to(target)?;
            out.push(instruction.opcode);
            if matches!(instruction.opcode, op::GOTO_W | op::JSR_W) {
                out.extend_from_slice(&offset.to_be_bytes());
            } else {
                let offset = i16::try_from(offset).map_err(|_| ErrorKind::BranchOutOfRange(pc).at(here))?;
                out.extend_from_slice(&offset.to_be_bytes());
            }
        }
        Operand::Switch(switch) => {
            out.push(instruction.opcode);
            out.resize(out.len() + switch_padding(start), 0);
            let mut word = |value: i32| out.extend_from_slice(&value.to_be_bytes());
            word(offset_to(switch.default_target())?);
            match switch.low() {
                Some(low) => {
                    word(low);
                    word(low.wrapping_add(switch.len() as i32).wrapping_sub(1));
                }
                None => word(switch.len() as i32),
            }
            for (key, target) in switch.cases() {
                if switch.low().is_none() {
                    word(key);
                }
                word(offset_to(target)?);
            }
        }
        _ => out.extend_from_slice(
            code.code
                .get(pc as usize..instruction.next_pc() as usize)
                .unwrap_or_default(),
        ),
    }
    Ok(())
}

/// The insertions not yet placed, in order of position.
struct Pending<'a> {
    rest: &'a [Insertion],
}

/// What is to happen at one instruction.
struct Here<'a> {
    before: &'a [Insertion],
    instead: Option<&'a Insertion>,
    after: &'a [Insertion],
}

impl<'a> Pending<'a> {
    /// Takes what belongs to the instruction at `pc`; anything earlier was in the middle of an instruction.
    fn take(&mut self, pc: u32, offset: usize) -> Result<Here<'a>> {
        match self.rest.first() {
            Some(first) if first.pc == pc => {}
            Some(first) if first.pc < pc => return Err(ErrorKind::NotAnInstruction(first.pc).at(offset)),
            _ => {
                return Ok(Here {
                    before: &[],
                    instead: None,
                    after: &[],
                });
            }
        }
        let before = self.run(pc, InsertionPlace::Before);
        let instead = self.run(pc, InsertionPlace::Instead).last();
        let after = self.run(pc, InsertionPlace::After);
        Ok(Here { before, instead, after })
    }

    fn run(&mut self, pc: u32, place: InsertionPlace) -> &'a [Insertion] {
        let count = self
            .rest
            .iter()
            .take_while(|insertion| insertion.pc == pc && insertion.place == place)
            .count();
        let (run, rest) = self.rest.split_at(count);
        self.rest = rest;
        run
    }
}
