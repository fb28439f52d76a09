//! The flow of values within one method: which reads and results a value is computed from, and which decide whether an
//! instruction runs.
//!
//! Data flow is a forward pass over the bytecode. A value carries its origins: the calls and the reads of fields and array
//! elements that went into it, also through arithmetic, other calls, local variables, conditional expressions and objects that the
//! method makes and fills (`values`). Control flow is control dependence by postdominators, closed over nesting: an early `return` or `throw` decides about
//! everything behind it (`control`). Exceptions that a callee throws decide about nothing.
//!
//! The pass costs more than the rest of a scan together, so only methods about which a rule has a question are looked at; the
//! bytes of their classes are kept for that.

mod control;
mod values;

use std::hash::Hasher;

use ravel_classfile::{ClassFile, Code, ConstantPool, Instruction, Member, Operand, op};
use rustc_hash::FxHasher;

use crate::body::{Body, step};
use crate::lower::cfg::Cfg;
use crate::program::{MethodId, Program};
use crate::symbols::{PairId, parameters, slots};
use control::decided;
use values::Pass;

/// Methods with more instructions are not looked at, and counted.
const MAX_INSTRUCTIONS: usize = 6_000;

/// Methods with more blocks than this are not looked at either: the sets of postdominators grow with the square.
const MAX_BLOCKS: usize = 1_500;

/// Whether a method is too large to be looked at.
pub(crate) fn is_too_large(instructions: usize, blocks: usize) -> bool {
    instructions > MAX_INSTRUCTIONS || blocks > MAX_BLOCKS
}

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
    /// A cast; the number of the class.
    Cast(u16),
    /// Something else.
    Other,
}

/// The flow of one method.
#[derive(Debug)]
pub struct Flow {
    pcs: Vec<u32>,
    /// A hash of the bytes of each instruction.
    texts: Vec<u64>,
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
        let cfg = Cfg::of(code, &instructions)?;
        if is_too_large(instructions.len(), cfg.blocks.len()) {
            return None;
        }
        let mut block = vec![0; instructions.len()];
        for (number, raw) in cfg.blocks.iter().enumerate() {
            block[raw.range.clone()].fill(number as u16);
        }
        let mut pass = Pass::new(pool, &cfg, &instructions);
        pass.run(usize::from(code.max_locals), parameters)?;
        let decided = decided(&cfg, &pass.used);
        Some(Flow {
            pcs: instructions.iter().map(|instruction| instruction.pc).collect(),
            texts: instructions.iter().map(|instruction| text(code, instruction)).collect(),
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

    /// Whether two instructions are in one block.
    pub fn together(&self, one: At, other: At) -> bool {
        self.block.get(usize::from(one)) == self.block.get(usize::from(other))
    }

    /// Whether the instructions of a range are those that begin at another one.
    pub fn same_code(&self, range: std::ops::Range<At>, at: At) -> bool {
        let (range, at) = (usize::from(range.start)..usize::from(range.end), usize::from(at));
        let there = self.texts.get(at..at + range.len());
        there.is_some() && self.texts.get(range) == there
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

fn text(code: &Code, instruction: &Instruction<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    let bytes = instruction.pc as usize..instruction.next_pc() as usize;
    hasher.write(code.code.get(bytes).unwrap_or_default());
    hasher.finish()
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
        (op::CHECKCAST, Operand::Class(index)) => Kind::Cast(index),
        (_, Operand::Switch(_)) => Kind::Branch,
        (op::GOTO | op::GOTO_W | op::JSR | op::JSR_W, _) => Kind::Other,
        (_, Operand::Branch(_)) => Kind::Branch,
        _ => Kind::Other,
    }
}

/// The name of a parameter as an operand: they count down from the top, and methods are far shorter.
pub fn parameter(slot: usize) -> At {
    NOWHERE - 1 - slot as At
}

/// A method of the program in its class file.
pub(crate) fn member<'c>(program: &Program, class: &'c ClassFile, method: MethodId) -> Option<&'c Member> {
    let selector = program.symbols.bytes(program.method(method).selector);
    class.methods.iter().find(|member| {
        let (Ok(name), Ok(descriptor)) = (class.member_name(member), class.member_descriptor(member)) else {
            return false;
        };
        selector.strip_prefix(name) == Some(descriptor)
    })
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
        let class = ClassFile::parse(program.class_of(method).bytes.as_deref()?).ok()?;
        let selector = program.symbols.bytes(program.method(method).selector);
        let member = member(program, &class, method)?;
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
