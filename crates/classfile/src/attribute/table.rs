//! The attributes that are tables of numbers.

use super::item::{Item, item};
use crate::bytes::Reader;
use crate::class::Attribute;
use crate::error::Result;

item! {
    /// A nested class that the class names.
    InnerClass {
        /// The class.
        inner: u16,
        /// The class it is a member of; 0 if none.
        outer: u16,
        /// Its simple name; 0 if anonymous.
        name: u16,
        /// Its access flags in the source.
        access: u16,
    }
}

item! {
    /// Where a local or anonymous class stands.
    EnclosingMethod {
        /// The class around it.
        class: u16,
        /// The name and type of the method around it; 0 if none.
        method: u16,
    }
}

item! {
    /// From a position on, code comes from this source line.
    LineNumber {
        /// The position.
        start: u16,
        /// The line.
        line: u16,
    }
}

impl LineNumber {
    /// The line of the code at `pc`: that of the entry that starts last before it.
    pub fn at(table: &[LineNumber], pc: u32) -> Option<u16> {
        let before = table.iter().filter(|entry| u32::from(entry.start) <= pc);
        before.max_by_key(|entry| entry.start).map(|entry| entry.line)
    }
}

item! {
    /// A local variable, in part of the code.
    LocalVariable {
        /// The first position where it has a value.
        start: u16,
        /// The length of that part.
        length: u16,
        /// Its name.
        name: u16,
        /// Its descriptor, or its signature in a `LocalVariableTypeTable`.
        descriptor: u16,
        /// Its slot.
        slot: u16,
    }
}

item! {
    /// A bootstrap method and its static arguments.
    BootstrapMethod {
        /// The method handle.
        method: u16,
        /// The arguments: constants.
        arguments: Vec<u16>,
    }
}

item! {
    /// A parameter of a method.
    MethodParameter {
        /// Its name; 0 if it has none.
        name: u16,
        /// Its access flags.
        access: u16,
    }
}

item! {
    /// A component of a record.
    RecordComponent {
        /// Its name.
        name: u16,
        /// Its descriptor.
        descriptor: u16,
        /// Its attributes.
        attributes: Vec<Attribute>,
    }
}

/// An attribute is a list element here only; its list is the one of classes and members.
impl Item for Attribute {
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        crate::class::read_attribute(r)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        crate::class::write_attribute(out, self)
    }
}
