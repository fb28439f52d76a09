//! Code as it lies in the file: an iterator that decodes one instruction after another, with absolute branch targets.

use crate::bytes::Reader;
use crate::error::{ErrorKind, Result};
use crate::opcode::{self as op, Layout};

/// One decoded instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// Its position in the code.
    pub pc: u32,
    /// Its opcode; for a `wide` instruction the opcode that `wide` widens.
    pub opcode: u8,
    /// Its length in bytes, `wide`, operands and padding included.
    pub len: u32,
    /// Its operands.
    pub operand: Operand<'a>,
}

/// The operands of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand<'a> {
    /// It has none.
    None,
    /// The number that `bipush` or `sipush` pushes.
    Int(i16),
    /// The constant that `ldc`, `ldc_w` or `ldc2_w` pushes.
    Constant(u16),
    /// The local variable of a load, a store or `ret`, the short (`aload_0`) and wide forms included.
    Local(u16),
    /// `iinc`: the local variable and what is added to it.
    Increment(u16, i16),
    /// The target of a branch.
    Branch(u32),
    /// `tableswitch` or `lookupswitch`.
    Switch(Switch<'a>),
    /// The field reference of `getfield`, `putfield`, `getstatic` or `putstatic`.
    Field(u16),
    /// The method reference of `invokevirtual`, `invokespecial` or `invokestatic`.
    Method(u16),
    /// `invokeinterface`: the method reference and the count of argument slots.
    InterfaceMethod(u16, u8),
    /// The call site of `invokedynamic`.
    Dynamic(u16),
    /// The class of `new`, `anewarray`, `checkcast` or `instanceof`.
    Class(u16),
    /// The element type of `newarray` (4 to 11).
    NewArray(u8),
    /// `multianewarray`: the array class and the number of dimensions.
    MultiArray(u16, u8),
}

/// The cases of a `tableswitch` or `lookupswitch`, decoded as they are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch<'a> {
    pc: u32,
    default: u32,
    /// The key of the first case of a `tableswitch`; none for a `lookupswitch`.
    low: Option<i32>,
    /// The four-byte words of the cases.
    words: &'a [[u8; 4]],
}

impl<'a> Switch<'a> {
    /// Where the switch goes when no case matches.
    pub fn default_target(&self) -> u32 {
        self.default
    }

    /// The key of the first case of a `tableswitch`; none for a `lookupswitch`.
    pub fn low(&self) -> Option<i32> {
        self.low
    }

    /// How many cases there are, the default not counted.
    pub fn len(&self) -> usize {
        if self.low.is_some() {
            self.words.len()
        } else {
            self.words.len() / 2
        }
    }

    /// Whether there is only the default.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The cases in order: key and target.
    pub fn cases(&self) -> impl Iterator<Item = (i32, u32)> + use<'a> {
        let Switch { pc, low, words, .. } = *self;
        // Targets were checked when the instruction was decoded.
        let target = move |word: [u8; 4]| pc.wrapping_add_signed(i32::from_be_bytes(word));
        let (table, pairs) = match low {
            Some(low) => (Some((low, words)), &[][..]),
            None => (None, words.as_chunks::<2>().0),
        };
        let table = table.into_iter().flat_map(move |(low, words)| {
            words
                .iter()
                .enumerate()
                .map(move |(at, word)| (low.wrapping_add(at as i32), target(*word)))
        });
        table.chain(
            pairs
                .iter()
                .map(move |[key, offset]| (i32::from_be_bytes(*key), target(*offset))),
        )
    }

    /// All targets: the default, then the cases in order.
    pub fn targets(&self) -> impl Iterator<Item = u32> + use<'a> {
        std::iter::once(self.default).chain(self.cases().map(|(_, target)| target))
    }
}

impl<'a> Instruction<'a> {
    /// The position of the instruction that follows in the code.
    pub fn next_pc(&self) -> u32 {
        self.pc + self.len
    }

    /// Whether execution can go on with the next instruction.
    pub fn falls_through(&self) -> bool {
        falls_through(self.opcode)
    }

    /// Where it can jump to: a branch's target or a switch's targets.
    pub fn jump_targets(&self) -> impl Iterator<Item = u32> + use<'a> {
        let (branch, switch) = match self.operand {
            Operand::Branch(target) => (Some(target), None),
            Operand::Switch(switch) => (None, Some(switch)),
            _ => (None, None),
        };
        branch
            .into_iter()
            .chain(switch.into_iter().flat_map(|switch| switch.targets()))
    }

    /// The instruction's name as in the JVM specification.
    pub fn mnemonic(&self) -> &'static str {
        op::mnemonic(self.opcode).unwrap_or("?")
    }
}

/// Whether execution can go on with the instruction after one with this opcode. For `jsr` it can: that is where its
/// subroutine returns to.
pub(crate) fn falls_through(opcode: u8) -> bool {
    !matches!(
        opcode,
        op::GOTO | op::GOTO_W | op::RET | op::TABLESWITCH..=op::RETURN | op::ATHROW
    )
}

/// An iterator over the instructions of some code; it ends at the first error.
#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    code: &'a [u8],
    pc: usize,
    base: usize,
}

impl<'a> Instructions<'a> {
    /// The instructions of `code`.
    pub fn new(code: &'a [u8]) -> Self {
        Instructions { code, pc: 0, base: 0 }
    }

    /// The instructions of `code`, which lies at `base` in the class file.
    pub fn at(code: &'a [u8], base: usize) -> Self {
        Instructions { code, pc: 0, base }
    }

    /// The instructions of `code` from the one at `pc` on.
    pub(crate) fn starting(code: &'a [u8], pc: u32, base: usize) -> Self {
        Instructions {
            code,
            pc: pc as usize,
            base,
        }
    }

    /// The next instruction, without its operands; much cheaper than decoding it.
    pub(crate) fn step(&mut self) -> Option<Result<InstructionAt>> {
        let pc = self.pc;
        let opcode = *self.code.get(pc)?;
        let len = op::fixed_length(opcode);
        if len > 0 && pc + len as usize <= self.code.len() {
            self.pc += len as usize;
            return Some(Ok(InstructionAt {
                pc: pc as u32,
                opcode,
                len,
            }));
        }
        let decoded = self.next()?;
        Some(decoded.map(|Instruction { pc, opcode, len, .. }| InstructionAt { pc, opcode, len }))
    }

    fn decode(&self) -> Result<Instruction<'a>> {
        let pc = self.pc as u32;
        let start = self.base + self.pc;
        let rest = self.code.get(self.pc..).unwrap_or_default();
        let mut r = Reader::new(rest, start);
        let opcode = r.u1()?;
        let layout = op::layout(opcode).ok_or_else(|| ErrorKind::BadOpcode(opcode).at(start))?;
        let target = |offset: i32| {
            let target = i64::from(pc) + i64::from(offset);
            match u32::try_from(target) {
                Ok(target) if (target as usize) < self.code.len() => Ok(target),
                _ => Err(ErrorKind::BadBranch { pc, target }.at(start)),
            }
        };
        let mut widened = opcode;
        let operand = match layout {
            Layout::Plain => Operand::None,
            Layout::Byte => Operand::Int(i16::from(r.u1()? as i8)),
            Layout::Short => Operand::Int(r.i2()?),
            Layout::Constant1 => Operand::Constant(u16::from(r.u1()?)),
            Layout::Constant2 => Operand::Constant(r.u2()?),
            Layout::Local => Operand::Local(u16::from(r.u1()?)),
            Layout::ShortLocal => Operand::Local(short_local(opcode)),
            Layout::Increment => Operand::Increment(u16::from(r.u1()?), i16::from(r.u1()? as i8)),
            Layout::Branch2 => Operand::Branch(target(i32::from(r.i2()?))?),
            Layout::Branch4 => Operand::Branch(target(r.i4()?)?),
            Layout::Field => Operand::Field(r.u2()?),
            Layout::Method => Operand::Method(r.u2()?),
            Layout::Interface => {
                let operand = Operand::InterfaceMethod(r.u2()?, r.u1()?);
                r.u1()?;
                operand
            }
            Layout::Dynamic => {
                let operand = Operand::Dynamic(r.u2()?);
                r.u2()?;
                operand
            }
            Layout::Class => Operand::Class(r.u2()?),
            Layout::NewArray => Operand::NewArray(r.u1()?),
            Layout::MultiArray => Operand::MultiArray(r.u2()?, r.u1()?),
            Layout::Wide => {
                widened = r.u1()?;
                match op::layout(widened) {
                    Some(Layout::Local) => Operand::Local(r.u2()?),
                    Some(Layout::Increment) => Operand::Increment(r.u2()?, r.i2()?),
                    _ => return Err(ErrorKind::BadOpcode(widened).at(start + 1)),
                }
            }
            Layout::TableSwitch | Layout::LookupSwitch => {
                r.take(switch_padding(self.pc))?;
                let default = target(r.i4()?)?;
                let (low, words) = if layout == Layout::TableSwitch {
                    let (low, high) = (i64::from(r.i4()?), i64::from(r.i4()?));
                    (Some(low as i32), high - low + 1)
                } else {
                    (None, i64::from(r.i4()?) * 2)
                };
                // Also checks a huge length before it is multiplied.
                let words = usize::try_from(words).ok().filter(|words| *words <= r.left() / 4);
                let words = words.ok_or_else(|| ErrorKind::BadSwitch.at(start))?;
                let words = r.take(words * 4)?.as_chunks::<4>().0;
                let offsets = words.iter().skip(usize::from(low.is_none()));
                for word in offsets.step_by(if low.is_none() { 2 } else { 1 }) {
                    target(i32::from_be_bytes(*word))?;
                }
                Operand::Switch(Switch {
                    pc,
                    default,
                    low,
                    words,
                })
            }
        };
        Ok(Instruction {
            pc,
            opcode: widened,
            len: r.position() as u32,
            operand,
        })
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<Instruction<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.pc >= self.code.len() {
            return None;
        }
        let decoded = self.decode();
        match &decoded {
            Ok(instruction) => self.pc += instruction.len as usize,
            Err(_) => self.pc = self.code.len(),
        }
        Some(decoded)
    }
}

/// Where an instruction lies.
pub(crate) struct InstructionAt {
    pub pc: u32,
    pub opcode: u8,
    pub len: u32,
}

impl InstructionAt {
    /// Whether its operands depend on where it lies.
    #[inline]
    pub fn is_jump(&self) -> bool {
        matches!(self.opcode, op::IFEQ..=op::JSR | op::TABLESWITCH | op::LOOKUPSWITCH | op::IFNULL..=op::JSR_W)
    }

    /// Whether its length depends on where it lies.
    #[inline]
    pub fn is_switch(&self) -> bool {
        matches!(self.opcode, op::TABLESWITCH | op::LOOKUPSWITCH)
    }
}

/// The bytes between a switch's opcode at `pc` and its first operand.
#[inline]
pub(crate) fn switch_padding(pc: usize) -> usize {
    3 - pc % 4
}

/// The local variable of a short form such as `aload_0`.
fn short_local(opcode: u8) -> u16 {
    let first = if opcode < op::ISTORE_0 {
        op::ILOAD_0
    } else {
        op::ISTORE_0
    };
    u16::from((opcode - first) % 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(code: &[u8]) -> Vec<Instruction<'_>> {
        Instructions::new(code).collect::<Result<_>>().expect("valid code")
    }

    #[test]
    fn short_and_wide_forms_name_their_local() {
        let code = [
            op::ALOAD_0,
            op::DSTORE_3,
            op::WIDE,
            op::ILOAD,
            1,
            2,
            op::WIDE,
            op::IINC,
            0,
            5,
            0xff,
            0xfe,
        ];
        let operands: Vec<_> = decode(&code).iter().map(|i| (i.opcode, i.len, i.operand)).collect();
        assert_eq!(
            operands,
            vec![
                (op::ALOAD_0, 1, Operand::Local(0)),
                (op::DSTORE_3, 1, Operand::Local(3)),
                (op::ILOAD, 4, Operand::Local(258)),
                (op::IINC, 6, Operand::Increment(5, -2)),
            ]
        );
    }

    #[test]
    fn switches_give_keys_and_absolute_targets() {
        let mut code = vec![op::ICONST_0, op::TABLESWITCH, 0, 0];
        for word in [19i32, -1, 0, 20, 19] {
            code.extend(word.to_be_bytes());
        }
        code.truncate(24);
        code.extend([op::NOP; 4]);
        code[24] = op::RETURN;
        let all = decode(&code[..]);
        let Operand::Switch(switch) = all[1].operand else {
            panic!("a switch")
        };
        assert_eq!(switch.default_target(), 20);
        assert_eq!(switch.cases().collect::<Vec<_>>(), vec![(-1, 21), (0, 20)]);
        assert_eq!(all[1].jump_targets().collect::<Vec<_>>(), vec![20, 21, 20]);
        assert!(!all[1].falls_through());
    }

    #[test]
    fn lookupswitch_pairs_keys_with_targets() {
        let mut code = vec![op::LOOKUPSWITCH, 0, 0, 0];
        for word in [28i32, 2, -7, 0, 9, 28] {
            code.extend(word.to_be_bytes());
        }
        code.push(op::RETURN);
        let all = decode(&code);
        let Operand::Switch(switch) = all[0].operand else {
            panic!("a switch")
        };
        assert_eq!(switch.cases().collect::<Vec<_>>(), vec![(-7, 0), (9, 28)]);
    }

    #[test]
    fn hostile_switch_lengths_are_errors() {
        for (opcode, words) in [
            (op::TABLESWITCH, [0, i32::MIN, i32::MAX]),
            (op::TABLESWITCH, [0, 5, 4 - 2]),
            (op::LOOKUPSWITCH, [0, i32::MAX, 0]),
            (op::LOOKUPSWITCH, [0, -1, 0]),
        ] {
            let mut code = vec![opcode, 0, 0, 0];
            code.extend(words.iter().flat_map(|word| word.to_be_bytes()));
            let first = Instructions::at(&code, 100).next().expect("one item");
            assert_eq!(first.expect_err("malformed"), ErrorKind::BadSwitch.at(100));
        }
    }

    #[test]
    fn a_branch_out_of_the_code_is_an_error() {
        let code = [op::GOTO, 0, 3];
        let error = Instructions::new(&code).next().expect("one").expect_err("outside");
        assert_eq!(error.kind, ErrorKind::BadBranch { pc: 0, target: 3 });
    }
}
