//! Annotations of declarations and of types.

use std::borrow::Cow;

use super::item::{Item, item, read_list1, write_list1};
use crate::bytes::{Reader, put_u2};
use crate::error::{ErrorKind, Result};
use crate::pool::ConstantPool;

/// What is said of annotations in annotations in annotations.
pub(crate) const TOO_DEEP: &str = "annotation: nested too deep";

item! {
    /// An annotation.
    Annotation {
        /// The descriptor of its type (`Ljava/lang/Deprecated;`).
        type_descriptor: u16,
        /// Its elements.
        pairs: Vec<AnnotationPair>,
    }
}

item! {
    /// An element of an annotation with its value.
    AnnotationPair {
        /// The name.
        name: u16,
        /// The value.
        value: ElementValue,
    }
}

/// The value of an element of an annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementValue {
    /// A number, a character or a boolean: its type as in descriptors, and the constant.
    Constant(u8, u16),
    /// A string.
    String(u16),
    /// A constant of an enum.
    Enum {
        /// The descriptor of the enum.
        type_descriptor: u16,
        /// The name of the constant.
        name: u16,
    },
    /// A class, by the descriptor of its type.
    Class(u16),
    /// An annotation.
    Annotation(Annotation),
    /// A list of values.
    Array(Vec<ElementValue>),
}

impl Item for ElementValue {
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        let at = r.offset();
        Ok(match r.u1()? {
            tag @ (b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z') => ElementValue::Constant(tag, r.u2()?),
            b's' => ElementValue::String(r.u2()?),
            b'e' => ElementValue::Enum {
                type_descriptor: r.u2()?,
                name: r.u2()?,
            },
            b'c' => ElementValue::Class(r.u2()?),
            b'@' => ElementValue::Annotation(r.nested(TOO_DEEP, Item::read)?),
            b'[' => ElementValue::Array(r.nested(TOO_DEEP, Item::read)?),
            _ => return Err(ErrorKind::Malformed("annotation value").at(at)),
        })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let (tag, index) = match self {
            ElementValue::Constant(tag, index) => (*tag, *index),
            ElementValue::String(index) => (b's', *index),
            ElementValue::Class(index) => (b'c', *index),
            ElementValue::Enum { type_descriptor, name } => {
                out.push(b'e');
                put_u2(out, *type_descriptor);
                put_u2(out, *name);
                return Ok(());
            }
            ElementValue::Annotation(annotation) => {
                out.push(b'@');
                return annotation.write(out);
            }
            ElementValue::Array(values) => {
                out.push(b'[');
                return values.write(out);
            }
        };
        out.push(tag);
        put_u2(out, index);
        Ok(())
    }
}

impl Annotation {
    /// The name of its type without packages and outer classes (`GuardedBy`).
    pub fn simple_name<'a>(&self, pool: &'a ConstantPool) -> Result<&'a [u8]> {
        let descriptor = pool.utf8(self.type_descriptor)?;
        let name = descriptor
            .strip_prefix(b"L")
            .and_then(|name| name.strip_suffix(b";"))
            .unwrap_or(descriptor);
        Ok(name.rsplit(|byte| matches!(byte, b'/' | b'$')).next().unwrap_or(name))
    }

    /// The value of the element with this name.
    pub fn value(&self, pool: &ConstantPool, name: &str) -> Option<&ElementValue> {
        self.pairs
            .iter()
            .find(|pair| pool.utf8(pair.name) == Ok(name.as_bytes()))
            .map(|pair| &pair.value)
    }

    /// The text of an element that is a string, or a list with a string first; usually the element `value`.
    pub fn string<'a>(&self, pool: &'a ConstantPool, name: &str) -> Option<Cow<'a, str>> {
        let index = match self.value(pool, name)? {
            ElementValue::String(index) => *index,
            ElementValue::Array(values) => match values.first()? {
                ElementValue::String(index) => *index,
                _ => return None,
            },
            _ => return None,
        };
        pool.text(index).ok()
    }
}

/// An annotation of a use of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeAnnotation {
    /// Where the type is used.
    pub target: TypeTarget,
    /// Which part of the type is annotated.
    pub path: Vec<TypePathStep>,
    /// The annotation.
    pub annotation: Annotation,
}

item! {
    /// A step into a type.
    TypePathStep {
        /// 0: into an array, 1: into a nested type, 2: to the bound of a wildcard, 3: to a type argument.
        kind: u8,
        /// Which type argument.
        argument: u8,
    }
}

item! {
    /// Where a local variable has a value.
    VariableRange {
        /// The first position.
        start: u16,
        /// The length.
        length: u16,
        /// The slot.
        slot: u16,
    }
}

/// Where a type is used; the first number is the specification's `target_type`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeTarget {
    /// The declaration of a type parameter.
    TypeParameter(u8, u8),
    /// An `extends` or `implements` clause.
    Supertype(u8, u16),
    /// A bound of a type parameter.
    TypeParameterBound(u8, u8, u8),
    /// A field, a result or a receiver.
    Empty(u8),
    /// A parameter.
    FormalParameter(u8, u8),
    /// A `throws` clause.
    Throws(u8, u16),
    /// A local variable.
    LocalVariable(u8, Vec<VariableRange>),
    /// An exception handler, by its place in the table.
    Catch(u8, u16),
    /// An instruction, by its position.
    Offset(u8, u16),
    /// A type argument at an instruction.
    TypeArgument(u8, u16, u8),
}

impl Item for TypeAnnotation {
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        use TypeTarget as T;
        let at = r.offset();
        let target = match r.u1()? {
            tag @ (0x00 | 0x01) => T::TypeParameter(tag, r.u1()?),
            tag @ 0x10 => T::Supertype(tag, r.u2()?),
            tag @ (0x11 | 0x12) => T::TypeParameterBound(tag, r.u1()?, r.u1()?),
            tag @ 0x13..=0x15 => T::Empty(tag),
            tag @ 0x16 => T::FormalParameter(tag, r.u1()?),
            tag @ 0x17 => T::Throws(tag, r.u2()?),
            tag @ (0x40 | 0x41) => T::LocalVariable(tag, Item::read(r)?),
            tag @ 0x42 => T::Catch(tag, r.u2()?),
            tag @ 0x43..=0x46 => T::Offset(tag, r.u2()?),
            tag @ 0x47..=0x4b => T::TypeArgument(tag, r.u2()?, r.u1()?),
            _ => return Err(ErrorKind::Malformed("type annotation").at(at)),
        };
        Ok(TypeAnnotation {
            target,
            path: read_list1(r)?,
            annotation: Item::read(r)?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        use TypeTarget as T;
        match &self.target {
            T::Empty(tag) => out.push(*tag),
            T::TypeParameter(tag, index) | T::FormalParameter(tag, index) => out.extend([*tag, *index]),
            T::TypeParameterBound(tag, parameter, bound) => out.extend([*tag, *parameter, *bound]),
            T::Supertype(tag, index) | T::Throws(tag, index) | T::Catch(tag, index) | T::Offset(tag, index) => {
                out.push(*tag);
                put_u2(out, *index);
            }
            T::LocalVariable(tag, ranges) => {
                out.push(*tag);
                ranges.write(out)?;
            }
            T::TypeArgument(tag, offset, argument) => {
                out.push(*tag);
                put_u2(out, *offset);
                out.push(*argument);
            }
        }
        write_list1(&self.path, out)?;
        self.annotation.write(out)
    }
}
