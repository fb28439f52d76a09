//! Data flow: a forward pass over the code that says for each value which reads and results it is computed from.

use ravel_classfile::{ConstantPool, Instruction, Operand, op, stack_effect};

use super::control::Choices;
use super::{At, Kind, NOWHERE, Origins, kind, parameter};
use crate::lower::cfg::Cfg;
use crate::symbols::{parameters, result, slots};

/// A value on the stack or in a local.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Value {
    /// The instruction whose result it is, unchanged; none if several meet or it was computed.
    exact: At,
    origins: Origins,
}

impl Value {
    fn unknown() -> Value {
        Value {
            exact: NOWHERE,
            origins: Origins::default(),
        }
    }

    fn join(&mut self, other: &Value) -> bool {
        let mut changed = self.origins.join(&other.origins);
        if self.exact != other.exact && self.exact != NOWHERE {
            self.exact = NOWHERE;
            changed = true;
        }
        changed
    }
}

/// The values on the stack and in the locals at one point of a method.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct ValueState {
    stack: Vec<Value>,
    locals: Vec<Value>,
}

impl ValueState {
    fn join(&mut self, other: &ValueState) -> bool {
        let mut changed = false;
        let pairs = self.stack.iter_mut().zip(&other.stack);
        for (known, new) in pairs.chain(self.locals.iter_mut().zip(&other.locals)) {
            changed |= known.join(new);
        }
        changed
    }
}

/// The pass over a method: what each instruction takes.
pub(super) struct Pass<'a, 'c> {
    pool: &'a ConstantPool,
    cfg: &'a Cfg,
    instructions: &'a [Instruction<'c>],
    /// For each instruction that makes an object, the origins of the values that calls put into it.
    filled: Vec<Origins>,
    /// What decides which values meet at the start of each block, as far as asked.
    choices: Choices,
    /// How many values are on the stack at the end of each block.
    heights: Vec<usize>,
    pub used: Vec<Origins>,
    pub operands: Vec<Vec<At>>,
}

impl<'a, 'c> Pass<'a, 'c> {
    pub fn new(pool: &'a ConstantPool, cfg: &'a Cfg, instructions: &'a [Instruction<'c>]) -> Self {
        Pass {
            pool,
            cfg,
            instructions,
            filled: vec![Origins::default(); instructions.len()],
            choices: Choices::default(),
            heights: vec![0; cfg.blocks.len()],
            used: vec![Origins::default(); instructions.len()],
            operands: vec![Vec::new(); instructions.len()],
        }
    }

    pub fn run(&mut self, locals: usize, parameters: usize) -> Option<()> {
        let cfg = self.cfg;
        let mut entries: Vec<Option<ValueState>> = vec![None; cfg.blocks.len()];
        let mut first = ValueState {
            stack: Vec::new(),
            locals: vec![Value::unknown(); locals],
        };
        // Parameters have names of their own above all instructions, so that two of them differ.
        for (slot, value) in first.locals.iter_mut().enumerate().take(parameters) {
            value.exact = parameter(slot);
        }
        *entries.first_mut()? = Some(first);
        let mut pending = vec![true; cfg.blocks.len()];
        let mut rounds = 0;
        loop {
            let mut again = false;
            for &number in &cfg.order {
                let Some(mut state) = entries[usize::from(number)].clone() else {
                    continue;
                };
                if !std::mem::replace(&mut pending[usize::from(number)], false) {
                    continue;
                }
                let raw = &cfg.blocks[usize::from(number)];
                let mut flow = |state: &ValueState, to: u16, entries: &mut Vec<Option<ValueState>>| {
                    let to = usize::from(to);
                    let changed = match &mut entries[to] {
                        None => {
                            entries[to] = Some(state.clone());
                            true
                        }
                        Some(known) => known.join(state),
                    };
                    if changed {
                        pending[to] = true;
                        again = true;
                    }
                };
                let thrown = |state: &ValueState| ValueState {
                    stack: vec![Value::unknown()],
                    locals: state.locals.clone(),
                };
                for handler in &raw.handlers {
                    flow(&thrown(&state), *handler, &mut entries);
                }
                self.chosen(&mut state, number);
                let last = raw.range.end.checked_sub(1)?;
                let before = (raw.successors.len() > 1).then(|| self.used[last].clone());
                for at in raw.range.clone() {
                    self.instruction(&mut state, at)?;
                }
                let decides = before.is_some_and(|before| before != self.used[last]);
                self.heights[usize::from(number)] = state.stack.len();
                for handler in &raw.handlers {
                    flow(&thrown(&state), *handler, &mut entries);
                }
                for successor in &raw.successors {
                    flow(&state, *successor, &mut entries);
                }
                for block in self.choices.by(number).filter(|_| decides) {
                    pending[usize::from(block)] = true;
                    again = true;
                }
            }
            rounds += 1;
            if !again || rounds > 64 {
                return Some(());
            }
        }
    }

    /// Values that meet on the stack at the start of a block are those of a conditional expression: they also come from the
    /// conditions that chose among them.
    fn chosen(&mut self, state: &mut ValueState, block: u16) {
        if state.stack.is_empty() {
            return;
        }
        let Some((first, branches)) = self.choices.of(self.cfg, block) else {
            return;
        };
        let mut origins = Origins::default();
        for branch in branches {
            if let Some(last) = self.cfg.blocks[usize::from(*branch)].range.end.checked_sub(1) {
                origins.join(&self.used[last]);
            }
        }
        // What was there before the first condition is the same whichever way was taken.
        let before = self.heights[usize::from(first)];
        for value in state.stack.iter_mut().skip(before) {
            value.origins.join(&origins);
        }
    }

    /// A value with what was put into the object that it is.
    fn seen(&self, mut value: Value) -> Value {
        if let Some(filled) = self.filled.get(usize::from(value.exact)) {
            value.origins.join(filled);
        }
        value
    }

    fn instruction(&mut self, state: &mut ValueState, at: usize) -> Option<()> {
        let instruction = self.instructions[at];
        let opcode = instruction.opcode;
        match (opcode, instruction.operand) {
            (op::ILOAD..=op::ALOAD_3, Operand::Local(slot)) => {
                let value = state.locals.get(usize::from(slot))?.clone();
                if is_wide(opcode, op::ILOAD) {
                    state.stack.push(value.clone());
                }
                state.stack.push(value);
            }
            (op::ISTORE..=op::ASTORE_3, Operand::Local(slot)) => {
                let value = state.stack.pop()?;
                if is_wide(opcode, op::ISTORE) {
                    state.stack.pop();
                    *state.locals.get_mut(usize::from(slot) + 1)? = value.clone();
                }
                *state.locals.get_mut(usize::from(slot))? = value;
            }
            (op::IINC, Operand::Increment(slot, _)) => state.locals.get_mut(usize::from(slot))?.exact = NOWHERE,
            (op::CHECKCAST, _) => {}
            (op::POP..=op::SWAP, _) => shuffle(&mut state.stack, opcode)?,
            _ => self.computed(state, at, &instruction)?,
        }
        Some(())
    }

    /// An instruction that computes its result from its operands.
    fn computed(&mut self, state: &mut ValueState, at: usize, instruction: &Instruction<'_>) -> Option<()> {
        let (pops, pushes) = stack_effect(instruction, self.pool).ok()?;
        let left = state.stack.len().checked_sub(pops as usize)?;
        let taken: Vec<Value> = state.stack.split_off(left).into_iter().map(|v| self.seen(v)).collect();
        let mut origins = Origins::default();
        for value in &taken {
            origins.join(&value.origins);
        }
        let call = match instruction.operand {
            Operand::Method(index) | Operand::InterfaceMethod(index, _) => Some(self.pool.member_ref(index).ok()?),
            _ => None,
        };
        let mut operands: Vec<At> = Vec::with_capacity(taken.len());
        match call {
            Some(method) => {
                let receiver = usize::from(instruction.opcode != op::INVOKESTATIC);
                let mut slot = receiver;
                operands.extend(taken.first().filter(|_| receiver == 1).map(|value| value.exact));
                for parameter in parameters(method.descriptor) {
                    operands.push(taken.get(slot).map_or(NOWHERE, |value| value.exact));
                    slot += slots(parameter);
                }
                // What is passed to an object that the method made may be in it from here on.
                if receiver == 1
                    && let Some(filled) = taken
                        .first()
                        .and_then(|made| self.filled.get_mut(usize::from(made.exact)))
                {
                    filled.join(&origins);
                }
            }
            None => operands.extend(taken.iter().map(|value| value.exact)),
        }
        self.used[at].join(&origins);
        match self.operands.get_mut(at) {
            Some(known) if known.is_empty() => *known = operands,
            Some(known) => {
                for (known, new) in known.iter_mut().zip(&operands) {
                    if known != new {
                        *known = NOWHERE;
                    }
                }
            }
            None => {}
        }
        let source = match kind(instruction) {
            Kind::Call(_) => call.is_some_and(|method| !matches!(result(method.descriptor), b"V")),
            Kind::Read(_) | Kind::Load => true,
            _ => false,
        };
        if source {
            origins.insert(at as At);
        }
        let made = source || matches!(instruction.opcode, op::NEW | op::NEWARRAY | op::ANEWARRAY);
        let value = Value {
            exact: if made { at as At } else { NOWHERE },
            origins,
        };
        state.stack.extend(std::iter::repeat_n(value, pushes as usize));
        Some(())
    }
}

/// Whether a load or store is of a value of two slots; `first` is the first of the kind.
fn is_wide(opcode: u8, first: u8) -> bool {
    match opcode - first {
        kind @ 0..5 => matches!(kind, 1 | 3),
        short => matches!((short - 5) / 4, 1 | 3),
    }
}

fn shuffle(stack: &mut Vec<Value>, opcode: u8) -> Option<()> {
    let (copied, deepest) = match opcode {
        op::POP => (0, 1),
        op::POP2 => (0, 2),
        op::DUP => (1, 1),
        op::DUP_X1 => (1, 2),
        op::DUP_X2 => (1, 3),
        op::DUP2 => (2, 2),
        op::DUP2_X1 => (2, 3),
        op::SWAP => {
            let length = stack.len();
            if length < 2 {
                return None;
            }
            stack.swap(length - 1, length - 2);
            return Some(());
        }
        _ => (2, 4),
    };
    let length = stack.len();
    let bottom = length.checked_sub(deepest)?;
    if copied == 0 {
        stack.truncate(bottom);
        return Some(());
    }
    let copies: Vec<Value> = stack[length - copied..].to_vec();
    stack.splice(bottom..bottom, copies);
    Some(())
}
