//! Code as a list of instructions whose jumps name labels instead of positions, for analysis and for free editing.

use crate::bytes::{put_u2, put_u4};
use crate::class::Attribute;
use crate::code::{Code, ExceptionEntry, MAX_CODE};
use crate::edit::PcMap;
use crate::error::{ErrorKind, Result};
use crate::instruction::{Operand, switch_padding};
use crate::opcode::{self as op, Layout};
use crate::pool::ConstantPool;
use crate::relocate;

/// The name of a place in a [`CodeList`]. Those of decoded instructions are their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(u32);

impl Label {
    /// The position that the instruction had when it was decoded; meaningless for a label made later.
    pub fn pc(self) -> u32 {
        self.0
    }
}

/// One instruction of a [`CodeList`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its label; none for an instruction that was added and that nothing jumps to.
    pub label: Option<Label>,
    /// Its opcode, never `wide`: the wide form is chosen when the operands need it.
    pub opcode: u8,
    /// Its operands.
    pub arg: Arg,
}

/// The operands of an instruction in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// It has none.
    None,
    /// The number that `bipush` or `sipush` pushes.
    Int(i16),
    /// A constant-pool index: of a constant, field, method, call site or class.
    Index(u16),
    /// The local variable of a load, a store or `ret`.
    Local(u16),
    /// `iinc`: the local variable and what is added to it.
    Increment(u16, i16),
    /// The target of a branch.
    Branch(Label),
    /// `tableswitch`.
    TableSwitch {
        /// The key of the first case.
        low: i32,
        /// The targets of the cases.
        targets: Vec<Label>,
        /// The target when no case matches.
        default: Label,
    },
    /// `lookupswitch`.
    LookupSwitch {
        /// The keys, rising, and targets of the cases.
        cases: Vec<(i32, Label)>,
        /// The target when no case matches.
        default: Label,
    },
    /// `invokeinterface`: the method and the count of argument slots.
    InterfaceMethod(u16, u8),
    /// The element type of `newarray`.
    NewArray(u8),
    /// `multianewarray`: the class and the number of dimensions.
    MultiArray(u16, u8),
}

/// An exception handler of a [`CodeList`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    /// The first instruction protected.
    pub start: Label,
    /// The one after the last protected.
    pub end: Label,
    /// Where the handler starts.
    pub handler: Label,
    /// The class caught; 0 catches everything.
    pub catch_type: u16,
}

/// The code of a method as a list of instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeList {
    /// The greatest depth of the operand stack.
    pub max_stack: u16,
    /// The number of local-variable slots.
    pub max_locals: u16,
    /// The instructions.
    pub nodes: Vec<Node>,
    /// The exception handlers, in the order in which they are searched.
    pub handlers: Vec<Handler>,
    /// The attributes of the code; positions in them are those of the labels of decoded instructions.
    pub attributes: Vec<Attribute>,
    /// The label after the last instruction.
    end: Label,
    next_label: u32,
}

impl Code {
    /// Decodes the code to a list of instructions with labels.
    pub fn decode(&self) -> Result<CodeList> {
        let mut nodes = Vec::new();
        let mut starts = vec![false; self.code.len() + 1];
        for instruction in self.instructions() {
            let instruction = instruction?;
            if let Some(start) = starts.get_mut(instruction.pc as usize) {
                *start = true;
            }
            let arg = match instruction.operand {
                Operand::None => Arg::None,
                Operand::Local(_) if op::layout(instruction.opcode) == Some(Layout::ShortLocal) => Arg::None,
                Operand::Int(value) => Arg::Int(value),
                Operand::Constant(index) | Operand::Field(index) | Operand::Method(index) => Arg::Index(index),
                Operand::Dynamic(index) | Operand::Class(index) => Arg::Index(index),
                Operand::Local(local) => Arg::Local(local),
                Operand::Increment(local, by) => Arg::Increment(local, by),
                Operand::Branch(target) => Arg::Branch(Label(target)),
                Operand::Switch(switch) => {
                    let default = Label(switch.default_target());
                    match switch.low() {
                        Some(low) => {
                            let targets = switch.cases().map(|(_, target)| Label(target)).collect();
                            Arg::TableSwitch { low, targets, default }
                        }
                        None => {
                            let cases = switch.cases().map(|(key, target)| (key, Label(target))).collect();
                            Arg::LookupSwitch { cases, default }
                        }
                    }
                }
                Operand::InterfaceMethod(index, count) => Arg::InterfaceMethod(index, count),
                Operand::NewArray(ty) => Arg::NewArray(ty),
                Operand::MultiArray(class, dimensions) => Arg::MultiArray(class, dimensions),
            };
            nodes.push(Node {
                label: Some(Label(instruction.pc)),
                opcode: instruction.opcode,
                arg,
            });
        }
        let end = self.code.len() as u32;
        if let Some(start) = starts.last_mut() {
            *start = true;
        }
        let label = |pc: u16| match starts.get(usize::from(pc)) {
            Some(true) => Ok(Label(u32::from(pc))),
            _ => Err(ErrorKind::NotAnInstruction(u32::from(pc)).at(self.offset)),
        };
        let mut handlers = Vec::with_capacity(self.exceptions.len());
        for entry in &self.exceptions {
            let (start, end, handler) = (label(entry.start)?, label(entry.end)?, label(entry.handler)?);
            handlers.push(Handler {
                start,
                end,
                handler,
                catch_type: entry.catch_type,
            });
        }
        let list = CodeList {
            max_stack: self.max_stack,
            max_locals: self.max_locals,
            nodes,
            handlers,
            attributes: self.attributes.clone(),
            end: Label(end),
            next_label: end + 1,
        };
        for node in &list.nodes {
            for target in node.targets() {
                if starts.get(target.0 as usize) != Some(&true) || target == list.end {
                    let pc = node.label.map_or(0, Label::pc);
                    let kind = ErrorKind::BadBranch {
                        pc,
                        target: i64::from(target.0),
                    };
                    return Err(kind.at(self.offset + pc as usize));
                }
            }
        }
        Ok(list)
    }
}

impl Node {
    /// An instruction without a label.
    pub fn new(opcode: u8, arg: Arg) -> Self {
        Node {
            label: None,
            opcode,
            arg,
        }
    }

    /// The labels it can jump to; the default of a switch comes first.
    pub fn targets(&self) -> impl Iterator<Item = Label> + '_ {
        let (first, table, pairs): (_, &[Label], &[(i32, Label)]) = match &self.arg {
            Arg::Branch(target) => (Some(*target), &[], &[]),
            Arg::TableSwitch { targets, default, .. } => (Some(*default), targets, &[]),
            Arg::LookupSwitch { cases, default } => (Some(*default), &[], cases),
            _ => (None, &[], &[]),
        };
        first
            .into_iter()
            .chain(table.iter().copied())
            .chain(pairs.iter().map(|(_, target)| *target))
    }

    /// Whether execution can go on with the next instruction.
    pub fn falls_through(&self) -> bool {
        crate::instruction::falls_through(self.opcode)
    }

    /// The length when it starts at `at`.
    fn length(&self, at: usize) -> usize {
        match &self.arg {
            Arg::None => 1,
            Arg::Int(_) => {
                if self.opcode == op::BIPUSH {
                    2
                } else {
                    3
                }
            }
            Arg::Index(_) => match self.opcode {
                op::LDC => 2,
                op::INVOKEDYNAMIC => 5,
                _ => 3,
            },
            Arg::Local(local) => {
                if *local > 255 {
                    4
                } else {
                    2
                }
            }
            Arg::Increment(local, by) => {
                if is_wide_increment(*local, *by) {
                    6
                } else {
                    3
                }
            }
            Arg::Branch(_) => {
                if matches!(self.opcode, op::GOTO_W | op::JSR_W) {
                    5
                } else {
                    3
                }
            }
            Arg::TableSwitch { targets, .. } => 13 + switch_padding(at) + 4 * targets.len(),
            Arg::LookupSwitch { cases, .. } => 9 + switch_padding(at) + 8 * cases.len(),
            Arg::InterfaceMethod(..) => 5,
            Arg::NewArray(_) => 2,
            Arg::MultiArray(..) => 4,
        }
    }
}

fn is_wide_increment(local: u16, by: i16) -> bool {
    local > 255 || i8::try_from(by).is_err()
}

impl CodeList {
    /// The label after the last instruction.
    pub fn end(&self) -> Label {
        self.end
    }

    /// A label that is not used yet.
    pub fn new_label(&mut self) -> Label {
        self.next_label += 1;
        Label(self.next_label - 1)
    }

    /// Encodes the list. Attributes that hold positions are moved along as [`CodeEditor`](crate::CodeEditor) does;
    /// frames for new jump targets are the caller's to add.
    pub fn encode(&self, pool: &mut ConstantPool) -> Result<Code> {
        let mut positions = Positions {
            at: vec![None; self.next_label as usize],
        };
        let mut at = 0;
        for node in &self.nodes {
            if let Some(label) = node.label {
                positions.set(label, at)?;
            }
            at += node.length(at);
            if at > MAX_CODE {
                return Err(ErrorKind::CodeTooLarge(at).at(0));
            }
        }
        positions.set(self.end, at)?;

        let mut code = Vec::with_capacity(at);
        for node in &self.nodes {
            encode(node, &positions, &mut code)?;
        }
        let mut exceptions = Vec::with_capacity(self.handlers.len());
        for handler in &self.handlers {
            // Positions are at most the length of the code.
            exceptions.push(ExceptionEntry {
                start: positions.get(handler.start, 0)? as u16,
                end: positions.get(handler.end, 0)? as u16,
                handler: positions.get(handler.handler, 0)? as u16,
                catch_type: handler.catch_type,
            });
        }
        let old: Vec<Option<u32>> = positions.at.iter().take(self.end.0 as usize + 1).copied().collect();
        let attributes = relocate::attributes(&self.attributes, pool, &PcMap::from_positions(&old), &[])?;
        let CodeList {
            max_stack, max_locals, ..
        } = *self;
        Ok(Code {
            max_stack,
            max_locals,
            code,
            exceptions,
            attributes,
            offset: 0,
            short: false,
        })
    }
}

/// The new positions of labels.
struct Positions {
    at: Vec<Option<u32>>,
}

impl Positions {
    fn set(&mut self, label: Label, at: usize) -> Result<()> {
        match self.at.get_mut(label.0 as usize) {
            Some(place @ None) => {
                *place = Some(at as u32);
                Ok(())
            }
            _ => Err(ErrorKind::Malformed("list: a label is used twice or unknown").at(at)),
        }
    }

    fn get(&self, label: Label, from: usize) -> Result<u32> {
        let position = self.at.get(label.0 as usize).copied().flatten();
        position.ok_or_else(|| {
            ErrorKind::BadBranch {
                pc: from as u32,
                target: i64::from(label.0),
            }
            .at(from)
        })
    }

    /// The distance from an instruction to a label.
    fn offset(&self, label: Label, from: usize) -> Result<i32> {
        // Both are below 65536.
        Ok(self.get(label, from)? as i32 - from as i32)
    }
}

fn encode(node: &Node, positions: &Positions, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    let opcode = node.opcode;
    let bad_operand = || ErrorKind::Malformed("list: operand does not fit its instruction").at(start);
    match &node.arg {
        Arg::Local(local) if *local > 255 => {
            out.extend([op::WIDE, opcode]);
            put_u2(out, *local);
            return Ok(());
        }
        Arg::Increment(local, by) if is_wide_increment(*local, *by) => {
            out.extend([op::WIDE, opcode]);
            put_u2(out, *local);
            put_u2(out, *by as u16);
            return Ok(());
        }
        _ => out.push(opcode),
    }
    let layout = op::layout(opcode).ok_or_else(|| ErrorKind::BadOpcode(opcode).at(start))?;
    match (&node.arg, layout) {
        (Arg::None, Layout::Plain | Layout::ShortLocal) => {}
        (Arg::Int(value), Layout::Byte) => out.push(i8::try_from(*value).map_err(|_| bad_operand())? as u8),
        (Arg::Int(value), Layout::Short) => put_u2(out, *value as u16),
        (Arg::Index(index), Layout::Constant1) => out.push(u8::try_from(*index).map_err(|_| bad_operand())?),
        (Arg::Index(index), Layout::Dynamic) => {
            put_u2(out, *index);
            put_u2(out, 0);
        }
        (Arg::Index(index), Layout::Constant2 | Layout::Field | Layout::Method | Layout::Class) => put_u2(out, *index),
        (Arg::Local(local), Layout::Local) => out.push(*local as u8),
        (Arg::Increment(local, by), Layout::Increment) => out.extend([*local as u8, *by as u8]),
        (Arg::Branch(target), Layout::Branch2) => {
            let offset = i16::try_from(positions.offset(*target, start)?);
            put_u2(
                out,
                offset.map_err(|_| ErrorKind::BranchOutOfRange(start as u32).at(start))? as u16,
            );
        }
        (Arg::Branch(target), Layout::Branch4) => put_u4(out, positions.offset(*target, start)? as u32),
        (Arg::TableSwitch { low, targets, default }, Layout::TableSwitch) => {
            let high = i64::from(*low) + targets.len() as i64 - 1;
            let high = i32::try_from(high).map_err(|_| ErrorKind::BadSwitch.at(start))?;
            out.resize(out.len() + switch_padding(start), 0);
            put_u4(out, positions.offset(*default, start)? as u32);
            put_u4(out, *low as u32);
            put_u4(out, high as u32);
            for target in targets {
                put_u4(out, positions.offset(*target, start)? as u32);
            }
        }
        (Arg::LookupSwitch { cases, default }, Layout::LookupSwitch) => {
            out.resize(out.len() + switch_padding(start), 0);
            put_u4(out, positions.offset(*default, start)? as u32);
            put_u4(out, cases.len() as u32);
            for (key, target) in cases {
                put_u4(out, *key as u32);
                put_u4(out, positions.offset(*target, start)? as u32);
            }
        }
        (Arg::InterfaceMethod(index, count), Layout::Interface) => {
            put_u2(out, *index);
            out.extend([*count, 0]);
        }
        (Arg::NewArray(ty), Layout::NewArray) => out.push(*ty),
        (Arg::MultiArray(class, dimensions), Layout::MultiArray) => {
            put_u2(out, *class);
            out.push(*dimensions);
        }
        _ => return Err(bad_operand()),
    }
    Ok(())
}
