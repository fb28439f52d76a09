//! The `Code` attribute of a method.

use crate::bytes::{Reader, put_list, put_u2, put_u4};
use crate::class::{Attribute, find_attribute, read_attributes, write_attributes};
use crate::error::{ErrorKind, Result};
use crate::instruction::Instructions;
use crate::pool::ConstantPool;

/// The longest code a method may have.
pub const MAX_CODE: usize = 65_535;

/// The code of a method, with its tables.
#[derive(Debug, Clone, Default)]
pub struct Code {
    /// The greatest depth of the operand stack, in slots.
    pub max_stack: u16,
    /// The number of local-variable slots, parameters included.
    pub max_locals: u16,
    /// The instructions.
    pub code: Vec<u8>,
    /// The exception handlers, in the order in which they are searched.
    pub exceptions: Vec<ExceptionEntry>,
    /// The attributes of the code.
    pub attributes: Vec<Attribute>,
    /// Where the instructions began in the file that was read; 0 for new code. For error messages.
    pub offset: usize,
    /// Whether the attribute has the shorter fields that compilers wrote before version 45.3.
    pub short: bool,
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        (
            self.max_stack,
            self.max_locals,
            &self.code,
            &self.exceptions,
            &self.attributes,
        ) == (
            other.max_stack,
            other.max_locals,
            &other.code,
            &other.exceptions,
            &other.attributes,
        )
    }
}

impl Eq for Code {}

/// An exception handler: where it protects, and where it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceptionEntry {
    /// The first position protected.
    pub start: u16,
    /// The position after the last one protected.
    pub end: u16,
    /// Where the handler starts.
    pub handler: u16,
    /// The class caught; 0 catches everything.
    pub catch_type: u16,
}

impl Code {
    /// New code without handlers and tables.
    pub fn new(max_stack: u16, max_locals: u16, code: Vec<u8>) -> Self {
        Code {
            max_stack,
            max_locals,
            code,
            ..Code::default()
        }
    }

    /// Reads a `Code` attribute. `old` says that the class is older than version 45.3, so its fields may be shorter. The JVMs
    /// of today read the longer form whatever the version says, so that form comes first.
    pub fn parse(attribute: &Attribute, old: bool) -> Result<Code> {
        let long = Code::parse_as(attribute, false);
        match long {
            Err(_) if old => Code::parse_as(attribute, true).or(long),
            long => long,
        }
    }

    fn parse_as(attribute: &Attribute, short: bool) -> Result<Code> {
        let mut r = attribute.reader();
        let (max_stack, max_locals, length) = if short {
            (u16::from(r.u1()?), u16::from(r.u1()?), usize::from(r.u2()?))
        } else {
            (r.u2()?, r.u2()?, r.u4()? as usize)
        };
        if length > MAX_CODE {
            return Err(ErrorKind::CodeTooLarge(length).at(r.offset() - 4));
        }
        let offset = r.offset();
        let code = r.take(length)?.to_vec();
        let exceptions = r.list2(read_exception)?;
        let attributes = read_attributes(&mut r)?;
        r.end()?;
        Ok(Code {
            max_stack,
            max_locals,
            code,
            exceptions,
            attributes,
            offset,
            short,
        })
    }

    /// The content of the attribute.
    pub fn write(&self) -> Result<Vec<u8>> {
        let attributes: usize = self.attributes.iter().map(|attribute| 6 + attribute.info.len()).sum();
        let mut out = Vec::with_capacity(12 + self.code.len() + 8 * self.exceptions.len() + attributes);
        if self.code.len() > MAX_CODE {
            return Err(ErrorKind::CodeTooLarge(self.code.len()).at(self.offset));
        }
        if self.short {
            let small = |value: u16| u8::try_from(value).map_err(|_| ErrorKind::StackTooDeep.at(self.offset));
            out.push(small(self.max_stack)?);
            out.push(small(self.max_locals)?);
            put_u2(&mut out, self.code.len() as u16);
        } else {
            put_u2(&mut out, self.max_stack);
            put_u2(&mut out, self.max_locals);
            put_u4(&mut out, self.code.len() as u32);
        }
        out.extend_from_slice(&self.code);
        put_list(&mut out, &self.exceptions, "the exception handlers", |out, entry| {
            put_u2(out, entry.start);
            put_u2(out, entry.end);
            put_u2(out, entry.handler);
            put_u2(out, entry.catch_type);
            Ok(())
        })?;
        write_attributes(&mut out, &self.attributes)?;
        Ok(out)
    }

    /// The instructions, decoded one by one.
    pub fn instructions(&self) -> Instructions<'_> {
        Instructions::at(&self.code, self.offset)
    }

    /// The attribute of the code with that name.
    pub fn attribute(&self, pool: &ConstantPool, name: &str) -> Option<&Attribute> {
        find_attribute(&self.attributes, pool, name)
    }
}

fn read_exception(r: &mut Reader<'_>) -> Result<ExceptionEntry> {
    Ok(ExceptionEntry {
        start: r.u2()?,
        end: r.u2()?,
        handler: r.u2()?,
        catch_type: r.u2()?,
    })
}
