//! The local variables of a method: which slot is which variable where, how often each is assigned, and what it is called.

use ravel_classfile::{Code, ConstantPool, Instruction, access};

use super::cfg::stored_local;
use crate::expr::Node;
use crate::symbols::{parameters, slots};

/// A row of the debug table: slot, positions, name.
struct Row {
    slot: u16,
    start: u32,
    end: u32,
    name: u16,
}

pub(super) struct Variables<'a> {
    pool: &'a ConstantPool,
    rows: Vec<Row>,
    /// What each slot holds at the start; none for slots that are no parameters or that are assigned.
    parameters: Vec<Option<Node>>,
    /// Assignments of each variable: slots first, then rows.
    stores: Vec<u32>,
    max_locals: u16,
}

impl<'a> Variables<'a> {
    pub fn new(
        pool: &'a ConstantPool,
        selector: &[u8],
        flags: u16,
        code: &Code,
        slot_stores: Vec<u32>,
        instructions: &[Instruction<'_>],
    ) -> Self {
        let mut holds = Vec::new();
        if flags & access::STATIC == 0 {
            holds.push(Some(Node::This));
        }
        for (index, parameter) in parameters(selector).enumerate() {
            holds.push(Some(Node::Param(index as u16)));
            if slots(parameter) == 2 {
                holds.push(None);
            }
        }
        for (slot, node) in holds.iter_mut().enumerate() {
            if slot_stores.get(slot).is_none_or(|stores| *stores > 0) {
                *node = None;
            }
        }
        let mut variables = Variables {
            pool,
            rows: rows(pool, code),
            parameters: holds,
            stores: slot_stores,
            max_locals: code.max_locals,
        };
        if !variables.rows.is_empty() {
            variables.stores = vec![0; variables.stores.len() + variables.rows.len()];
            for instruction in instructions {
                if let Some(slot) = stored_local(instruction)
                    && let Node::Local(variable) = variables.written(slot, instruction.pc as u16, instruction.next_pc())
                    && let Some(stores) = variables.stores.get_mut(usize::from(variable))
                {
                    *stores += 1;
                }
            }
        }
        variables
    }

    fn parameter(&self, slot: u16) -> Option<Node> {
        self.parameters.get(usize::from(slot)).copied().flatten()
    }

    fn find(&self, slot: u16, pc: u32) -> Node {
        let row = self
            .rows
            .iter()
            .position(|row| row.slot == slot && row.start <= pc && pc < row.end);
        let variable = row.and_then(|row| u16::try_from(usize::from(self.max_locals) + row).ok());
        Node::Local(variable.unwrap_or(slot))
    }

    /// What a load from a slot reads.
    pub fn read(&self, slot: u16, pc: u16) -> Node {
        self.parameter(slot).unwrap_or_else(|| self.find(slot, u32::from(pc)))
    }

    /// What a store to a slot writes: the variable whose scope has begun when the store is done.
    pub fn written(&self, slot: u16, _pc: u16, next_pc: u32) -> Node {
        self.parameter(slot).unwrap_or_else(|| self.find(slot, next_pc))
    }

    /// How often a variable is assigned. A parameter that is assigned at all counts its first value as well.
    pub fn stores(&self, variable: u16) -> u32 {
        let is_parameter = usize::from(variable) < self.parameters.len();
        let in_rows = usize::from(variable)
            .checked_sub(usize::from(self.max_locals))
            .and_then(|row| self.rows.get(row))
            .is_some_and(|row| row.start == 0);
        let stores = self.stores.get(usize::from(variable)).copied().unwrap_or(2);
        stores + 2 * u32::from(is_parameter || in_rows)
    }

    /// The name of a parameter or local for people.
    pub fn name(&self, node: Node) -> Option<Box<str>> {
        let row = match node {
            Node::Local(variable) => self
                .rows
                .get(usize::from(variable).checked_sub(usize::from(self.max_locals))?)?,
            Node::Param(_) => {
                let slot = self.parameters.iter().position(|known| *known == Some(node))?;
                self.rows
                    .iter()
                    .find(|row| usize::from(row.slot) == slot && row.start == 0)?
            }
            _ => return None,
        };
        self.pool.text(row.name).ok().map(|name| name.into())
    }
}

fn table<'c>(pool: &ConstantPool, code: &'c Code, name: &[u8], width: usize) -> impl Iterator<Item = &'c [u8]> {
    let found = code
        .attributes
        .iter()
        .find(move |attribute| pool.utf8(attribute.name) == Ok(name));
    let info = found.map_or(&[][..], |attribute| &attribute.info);
    info.get(2..).unwrap_or_default().chunks_exact(width)
}

fn word(row: &[u8], at: usize) -> u16 {
    match row.get(2 * at..2 * at + 2) {
        Some([high, low]) => u16::from_be_bytes([*high, *low]),
        _ => 0,
    }
}

fn rows(pool: &ConstantPool, code: &Code) -> Vec<Row> {
    let rows = table(pool, code, b"LocalVariableTable", 10);
    rows.map(|row| Row {
        slot: word(row, 4),
        start: u32::from(word(row, 0)),
        end: u32::from(word(row, 0)) + u32::from(word(row, 1)),
        name: word(row, 2),
    })
    .collect()
}

/// Position and line, in the order of positions.
pub(super) fn lines(pool: &ConstantPool, code: &Code) -> Box<[(u16, u16)]> {
    let mut lines: Vec<(u16, u16)> = Vec::new();
    let tables = code
        .attributes
        .iter()
        .filter(|attribute| pool.utf8(attribute.name) == Ok(b"LineNumberTable"));
    for attribute in tables {
        let rows = attribute.info.get(2..).unwrap_or_default().chunks_exact(4);
        lines.extend(rows.map(|row| (word(row, 0), word(row, 1))));
    }
    lines.sort_unstable();
    lines.into()
}
