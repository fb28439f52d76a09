//! The one error type of the crate: what was wrong, and at which byte of the class file.

use thiserror::Error;

/// An error in a class file or in an edit of one, with the byte offset where it was noticed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind} at byte {offset}")]
pub struct ClassError {
    /// The offset from the start of the class file (for code built in memory, from the start of the code).
    pub offset: usize,
    /// What was wrong.
    pub kind: ErrorKind,
}

/// What was wrong with a class file or an edit.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file ends in the middle of something.
    #[error("unexpected end: {needed} bytes wanted, {left} left")]
    UnexpectedEnd {
        /// How many bytes were to be read.
        needed: usize,
        /// How many there were.
        left: usize,
    },
    /// The file does not start with `CAFEBABE`.
    #[error("not a class file: magic number {0:#010x}")]
    BadMagic(u32),
    /// There are bytes after the end of the structure.
    #[error("{0} bytes left over after the end")]
    TrailingBytes(usize),
    /// A constant-pool entry has a tag that no known version defines.
    #[error("unknown constant-pool tag {0}")]
    BadConstantTag(u8),
    /// An index does not name a usable constant.
    #[error("constant-pool index {0} is out of range")]
    BadConstantIndex(u16),
    /// A constant is of another kind than its use demands.
    #[error("constant {index} is not a {wanted}")]
    WrongConstant {
        /// The constant's index.
        index: u16,
        /// The kind that was wanted.
        wanted: &'static str,
    },
    /// The constant pool has no room for another entry.
    #[error("the constant pool is full")]
    PoolFull,
    /// A count or length does not fit the field that holds it.
    #[error("{0} does not fit its length field")]
    TooMany(&'static str),
    /// A byte that is no opcode, or that may not follow `wide`.
    #[error("{0:#04x} is not an opcode")]
    BadOpcode(u8),
    /// A branch leads outside the code or into the middle of an instruction.
    #[error("branch at {pc} to {target}, which is no instruction")]
    BadBranch {
        /// The branch's position in the code.
        pc: u32,
        /// Where it leads.
        target: i64,
    },
    /// A `tableswitch` or `lookupswitch` with an impossible size.
    #[error("malformed switch")]
    BadSwitch,
    /// A position that should be the start of an instruction is not.
    #[error("{0} is not the start of an instruction")]
    NotAnInstruction(u32),
    /// A value in an attribute has no meaning.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// A field or method descriptor cannot be parsed.
    #[error("malformed descriptor")]
    BadDescriptor,
    /// The edited code would be longer than a method may be.
    #[error("the code would be {0} bytes long, more than 65535")]
    CodeTooLarge(usize),
    /// A 16-bit branch cannot reach its target any more.
    #[error("the branch at {0} would not reach its target with 16 bits")]
    BranchOutOfRange(u32),
    /// The operand stack would be deeper than a method may have it.
    #[error("the operand stack would be deeper than 65535")]
    StackTooDeep,
}

/// The result of anything that can fail on a class file.
pub type Result<T> = std::result::Result<T, ClassError>;

impl ErrorKind {
    /// This error at `offset`.
    pub(crate) fn at(self, offset: usize) -> ClassError {
        ClassError { offset, kind: self }
    }
}
