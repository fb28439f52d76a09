//! The flow of values within one method: which reads and results a value is computed from, and which decide whether an
//! instruction runs.
//!
//! Data flow is a forward pass over the bytecode. A value carries its origins: the calls and the reads of fields and array
//! elements that went into it, also through arithmetic, other calls, local variables and objects that the method makes and
//! fills. Control flow is control dependence by postdominators, closed over nesting: an early `return` or `throw` decides about
//! everything behind it. Exceptions that a callee throws decide about nothing.
//!
//! The pass costs more than the rest of a scan together, so only methods about which a rule has a question are looked at; the
//! bytes of their classes are kept for that.

use ravel_classfile::{ClassFile, Code, ConstantPool, Instruction, Operand, op, stack_effect};

use crate::body::{Body, step};
use crate::lower::cfg::Cfg;
use crate::program::{MethodId, Program};
use crate::symbols::{PairId, parameters, result, slots};

/// Methods with more instructions are not looked at.
const MAX_INSTRUCTIONS: usize = 6_000;

/// Methods with more blocks than this are not looked at: the sets of postdominators grow with the square.
const MAX_BLOCKS: usize = 1_500;

/// An instruction by its number in the method.
pub type At = u16;

const NOWHERE: At = At::MAX;

/// A set of origins, by the numbers of the instructions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origins(Vec<u64>);

impl Origins {
    /// The set of one instruction.
    pub fn one(at: At) -> Origins {
        let mut set = Origins::default();
        set.insert(at);
        set
    }

    /// Adds an instruction.
    pub fn insert(&mut self, at: At) {
        let word = usize::from(at) / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (at % 64);
    }

    /// Whether an instruction is in it.
    pub fn contains(&self, at: At) -> bool {
        self.0
            .get(usize::from(at) / 64)
            .is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    /// Adds another set; whether anything was new.
    pub fn join(&mut self, other: &Origins) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut changed = false;
        for (word, new) in self.0.iter_mut().zip(&other.0) {
            changed |= *new & !*word != 0;
            *word |= new;
        }
        changed
    }

    /// Whether the two have an instruction in common.
    pub fn meets(&self, other: &Origins) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// Its instructions.
    pub fn iter(&self) -> impl Iterator<Item = At> + '_ {
        let words = self.0.iter().enumerate();
        words.flat_map(|(word, bits)| {
            let set = (0..64).filter(move |bit| bits & (1 << bit) != 0);
            set.map(move |bit| (word * 64 + bit) as At)
        })
    }
}

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

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct State {
    stack: Vec<Value>,
    locals: Vec<Value>,
}

impl State {
    fn join(&mut self, other: &State) -> bool {
        let mut changed = false;
        let pairs = self.stack.iter_mut().zip(&other.stack);
        for (known, new) in pairs.chain(self.locals.iter_mut().zip(&other.locals)) {
            changed |= known.join(new);
        }
        changed
    }
}

/// The kind of an instruction, as far as rules ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A call; the number of the method reference in the constant pool.
    Call(u16),
    /// A call site of `invokedynamic`; its number in the constant pool.
    Dynamic(u16),
    /// A read of a field; the number of the reference.
    Read(u16),
    /// A write of a field.
    Write(u16),
    /// A read of an array element.
    Load,
    /// A write of an array element.
    Store,
    /// A branch or a switch.
    Branch,
    /// A return.
    Return,
    /// Something else.
    Other,
}

/// The flow of one method.
#[derive(Debug)]
pub struct Flow {
    pcs: Vec<u32>,
    kinds: Vec<Kind>,
    block: Vec<u16>,
    /// The origins of the values that each instruction takes.
    used: Vec<Origins>,
    /// The instruction whose unchanged result each operand is, the deepest first; a value of two slots counts once.
    operands: Vec<Vec<At>>,
    /// For each block the origins of the conditions that decide whether it runs.
    decided: Vec<Origins>,
}

impl Flow {
    /// The flow of some code; none if the code makes no sense or is too large.
    pub fn of(pool: &ConstantPool, code: &Code, parameters: usize) -> Option<Flow> {
        let instructions: Vec<Instruction<'_>> = code.instructions().collect::<Result<_, _>>().ok()?;
        if instructions.len() > MAX_INSTRUCTIONS {
            return None;
        }
        let cfg = Cfg::of(code, &instructions)?;
        if cfg.blocks.len() > MAX_BLOCKS {
            return None;
        }
        let mut block = vec![0; instructions.len()];
        for (number, raw) in cfg.blocks.iter().enumerate() {
            block[raw.range.clone()].fill(number as u16);
        }
        let mut pass = Pass {
            pool,
            cfg: &cfg,
            instructions: &instructions,
            filled: vec![Origins::default(); instructions.len()],
            used: vec![Origins::default(); instructions.len()],
            operands: vec![Vec::new(); instructions.len()],
        };
        pass.run(usize::from(code.max_locals), parameters)?;
        let decided = decided(&cfg, &pass.used);
        Some(Flow {
            pcs: instructions.iter().map(|instruction| instruction.pc).collect(),
            kinds: instructions.iter().map(kind).collect(),
            block,
            used: pass.used,
            operands: pass.operands,
            decided,
        })
    }

    /// The instruction at a position of the code.
    pub fn at(&self, pc: u16) -> Option<At> {
        self.pcs.binary_search(&u32::from(pc)).ok().map(|number| number as At)
    }

    /// The position of an instruction.
    pub fn pc(&self, at: At) -> u16 {
        self.pcs.get(usize::from(at)).map_or(0, |pc| *pc as u16)
    }

    /// All instructions.
    pub fn all(&self) -> impl Iterator<Item = At> + use<> {
        (0..self.kinds.len() as u32).map(|at| at as At)
    }

    /// The kind of an instruction.
    pub fn kind(&self, at: At) -> Kind {
        self.kinds.get(usize::from(at)).copied().unwrap_or(Kind::Other)
    }

    /// The origins of what an instruction takes.
    pub fn used(&self, at: At) -> &Origins {
        &self.used[usize::from(at)]
    }

    /// The instruction whose unchanged result an operand is; the deepest operand is the first.
    pub fn operand(&self, at: At, place: usize) -> Option<At> {
        let operands = self.operands.get(usize::from(at))?;
        operands.get(place).copied().filter(|exact| *exact != NOWHERE)
    }

    /// How many operands an instruction takes; a value of two slots counts once.
    pub fn operand_count(&self, at: At) -> usize {
        self.operands.get(usize::from(at)).map_or(0, Vec::len)
    }

    /// The instructions whose unchanged results the operands are.
    pub fn operands(&self, at: At) -> impl Iterator<Item = At> + '_ {
        let operands = self.operands.get(usize::from(at)).into_iter().flatten();
        operands.copied().filter(|exact| *exact != NOWHERE)
    }

    /// The origins of the conditions that decide whether an instruction runs.
    pub fn decided(&self, at: At) -> &Origins {
        &self.decided[usize::from(self.block[usize::from(at)])]
    }

    /// The sites of the method's body that hold their locks when each instruction runs; none for code that cannot be reached.
    pub fn held(&self, body: &Body) -> Vec<Option<Box<[u16]>>> {
        let mut all = vec![None; self.kinds.len()];
        let mut held = Vec::new();
        let mut at = 0;
        for (number, block) in body.blocks.iter().enumerate() {
            let Ok(number) = u16::try_from(number) else { break };
            held.clear();
            held.extend_from_slice(&block.held);
            let mut stmts = block.stmts.clone().peekable();
            // Blocks that only stand on an edge follow the code's own and have no instructions.
            while self.block.get(at) == Some(&number) {
                let pc = self.pcs[at];
                if block.reached {
                    all[at] = Some(held.as_slice().into());
                }
                while let Some(stmt) = stmts.next_if(|stmt| {
                    let known = body.pcs.get(*stmt as usize);
                    known.is_some_and(|known| u32::from(*known) <= pc)
                }) {
                    if let Some(stmt) = body.stmts.get(stmt as usize) {
                        step(&mut held, stmt);
                    }
                }
                at += 1;
            }
        }
        all
    }

    /// The instructions that run while a site of the method's body holds its lock.
    pub fn region(&self, body: &Body, site: u16) -> Vec<At> {
        let held = self.held(body).into_iter().enumerate();
        let inside = held.filter(|(_, held)| held.as_ref().is_some_and(|held| held.contains(&site)));
        inside.map(|(at, _)| at as At).collect()
    }
}

fn kind(instruction: &Instruction<'_>) -> Kind {
    match (instruction.opcode, instruction.operand) {
        (_, Operand::Method(index) | Operand::InterfaceMethod(index, _)) => Kind::Call(index),
        (_, Operand::Dynamic(index)) => Kind::Dynamic(index),
        (op::GETFIELD | op::GETSTATIC, Operand::Field(index)) => Kind::Read(index),
        (op::PUTFIELD | op::PUTSTATIC, Operand::Field(index)) => Kind::Write(index),
        (op::IALOAD..=op::SALOAD, _) => Kind::Load,
        (op::IASTORE..=op::SASTORE, _) => Kind::Store,
        (op::IRETURN..=op::RETURN, _) => Kind::Return,
        (_, Operand::Switch(_)) => Kind::Branch,
        (op::GOTO | op::GOTO_W | op::JSR | op::JSR_W, _) => Kind::Other,
        (_, Operand::Branch(_)) => Kind::Branch,
        _ => Kind::Other,
    }
}

struct Pass<'a, 'c> {
    pool: &'a ConstantPool,
    cfg: &'a Cfg,
    instructions: &'a [Instruction<'c>],
    /// For each instruction that makes an object, the origins of the values that calls put into it.
    filled: Vec<Origins>,
    used: Vec<Origins>,
    operands: Vec<Vec<At>>,
}

impl Pass<'_, '_> {
    fn run(&mut self, locals: usize, parameters: usize) -> Option<()> {
        let cfg = self.cfg;
        let mut entries: Vec<Option<State>> = vec![None; cfg.blocks.len()];
        let mut first = State {
            stack: Vec::new(),
            locals: vec![Value::unknown(); locals],
        };
        // Parameters have names of their own above all instructions, so that two of them are told apart.
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
                let mut flow = |state: &State, to: u16, entries: &mut Vec<Option<State>>| {
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
                let thrown = |state: &State| State {
                    stack: vec![Value::unknown()],
                    locals: state.locals.clone(),
                };
                for handler in &raw.handlers {
                    flow(&thrown(&state), *handler, &mut entries);
                }
                for at in raw.range.clone() {
                    self.instruction(&mut state, at)?;
                }
                for handler in &raw.handlers {
                    flow(&thrown(&state), *handler, &mut entries);
                }
                for successor in &raw.successors {
                    flow(&state, *successor, &mut entries);
                }
            }
            rounds += 1;
            if !again || rounds > 64 {
                return Some(());
            }
        }
    }

    /// A value with what was put into the object that it is.
    fn seen(&self, mut value: Value) -> Value {
        if let Some(filled) = self.filled.get(usize::from(value.exact)) {
            value.origins.join(filled);
        }
        value
    }

    fn instruction(&mut self, state: &mut State, at: usize) -> Option<()> {
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
    fn computed(&mut self, state: &mut State, at: usize, instruction: &Instruction<'_>) -> Option<()> {
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

/// The name of a parameter as an operand: they count down from the top, and methods are far shorter.
pub fn parameter(slot: usize) -> At {
    NOWHERE - 1 - slot as At
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

/// For each block the origins of the conditions on which it depends, nested ones included.
fn decided(cfg: &Cfg, used: &[Origins]) -> Vec<Origins> {
    let count = cfg.blocks.len();
    let after = postdominators(cfg);
    let is_after = |block: usize, of: usize| after[of][block / 64] & (1 << (block % 64)) != 0;
    // The branches on which each block depends directly.
    let mut branches: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (number, raw) in cfg.blocks.iter().enumerate() {
        if raw.successors.len() < 2 {
            continue;
        }
        for (block, branches) in branches.iter_mut().enumerate() {
            let follows = |next: &u16| is_after(block, usize::from(*next));
            let strictly = block != number && is_after(block, number);
            if !strictly && raw.successors.iter().any(follows) {
                branches.push(number);
            }
        }
    }
    let mut decided = vec![Origins::default(); count];
    let mut changed = true;
    while changed {
        changed = false;
        for block in 0..count {
            for &branch in &branches[block] {
                let mut origins = decided[branch].clone();
                if let Some(last) = cfg.blocks[branch].range.end.checked_sub(1) {
                    origins.join(&used[last]);
                }
                changed |= decided[block].join(&origins);
            }
        }
    }
    decided
}

/// For each block the blocks through which every way from it to an exit leads, itself included.
fn postdominators(cfg: &Cfg) -> Vec<Vec<u64>> {
    let count = cfg.blocks.len();
    let words = count.div_ceil(64);
    let mut after = vec![vec![u64::MAX; words]; count];
    let own = |block: usize| {
        let mut set = vec![0; words];
        set[block / 64] |= 1 << (block % 64);
        set
    };
    let mut changed = true;
    while changed {
        changed = false;
        for &number in cfg.order.iter().rev() {
            let block = usize::from(number);
            let mut set = own(block);
            let successors = &cfg.blocks[block].successors;
            if let Some((first, rest)) = successors.split_first() {
                let mut common = after[usize::from(*first)].clone();
                for next in rest {
                    for (word, other) in common.iter_mut().zip(&after[usize::from(*next)]) {
                        *word &= other;
                    }
                }
                for (word, other) in set.iter_mut().zip(&common) {
                    *word |= other;
                }
            }
            if set != after[block] {
                after[block] = set;
                changed = true;
            }
        }
    }
    after
}

/// The flow of a method of the program with the constants that its instructions name; none if its class was not kept.
pub struct MethodFlow {
    /// The flow.
    pub flow: Flow,
    /// The class that the method is in.
    pub class: ClassFile,
}

impl MethodFlow {
    /// Reads the method's code again.
    pub fn of(program: &Program, method: MethodId) -> Option<MethodFlow> {
        let found = program.method(method);
        let class = ClassFile::parse(program.class_of(method).bytes.as_deref()?).ok()?;
        let selector = program.symbols.bytes(found.selector);
        let member = class.methods.iter().find(|member| {
            let (Ok(name), Ok(descriptor)) = (class.member_name(member), class.member_descriptor(member)) else {
                return false;
            };
            selector.strip_prefix(name) == Some(descriptor)
        })?;
        let code = class.code(member).ok()??;
        let receiver = usize::from(member.access & ravel_classfile::access::STATIC == 0);
        let count = receiver + parameters(selector).map(slots).sum::<usize>();
        let flow = Flow::of(&class.pool, &code, count)?;
        Some(MethodFlow { flow, class })
    }

    /// The field that a read or write names, by the class that declares it.
    pub fn field(&self, program: &Program, index: u16) -> Option<PairId> {
        let member = self.class.pool.member_ref(index).ok()?;
        let symbols = &program.symbols;
        let name = [member.name, b":", member.descriptor].concat();
        let pair = symbols.find_pair(symbols.find(member.class)?, symbols.find(&name)?)?;
        Some(program.field(pair)?.pair)
    }

    /// The reads of a field.
    pub fn reads(&self, program: &Program, field: PairId) -> Origins {
        let mut reads = Origins::default();
        for at in self.flow.all() {
            if let Kind::Read(index) = self.flow.kind(at)
                && self.field(program, index) == Some(field)
            {
                reads.insert(at);
            }
        }
        reads
    }
}
