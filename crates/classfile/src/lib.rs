//! Reads, edits and writes Java class files.
//!
//! A [`ClassFile`] keeps what it read as bytes and decodes on demand: reading is cheap, an unmodified class is written
//! back byte for byte, and unknown attributes survive. Input is not trusted: damaged bytes give a
//! [`ClassError`] with the byte offset, never a panic, and never more memory than a small multiple of the input.
//!
//! # Reading
//!
//! ```
//! use ravel_classfile::{ClassFile, Operand};
//! # fn show(bytes: &[u8]) -> Result<(), ravel_classfile::ClassError> {
//! let class = ClassFile::parse(bytes)?;
//! for method in &class.methods {
//!     let name = class.member_name(method)?; // names are bytes in modified UTF-8
//!     let Some(code) = class.code(method)? else { continue };
//!     for instruction in code.instructions() {
//!         let instruction = instruction?;
//!         if let Operand::Field(index) = instruction.operand {
//!             let field = class.pool.member_ref(index)?;
//!             println!("{name:?} {} {} {:?}", instruction.pc, instruction.mnemonic(), field.name);
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Editing
//!
//! Straight-line code is inserted with a [`CodeEditor`]; branches, frames, handlers and tables move along.
//!
//! ```
//! use ravel_classfile::{ClassError, ClassFile, CodeEditor, ErrorKind, op, super_call_pc};
//! # fn instrument(bytes: &[u8]) -> Result<Vec<u8>, ClassError> {
//! let mut class = ClassFile::parse(bytes)?;
//! for index in 0..class.methods.len() {
//!     let method = &class.methods[index];
//!     let Some(mut code) = class.code(method)? else { continue };
//!     let constructor = class.member_name(method)? == b"<init>";
//!     let [high, low] = class.pool.add_method_ref("tool/Probe", "hit", "()V")?.to_be_bytes();
//!     let probe = [op::INVOKESTATIC, high, low];
//!
//!     let mut edit = CodeEditor::new();
//!     edit.insert_at_entry(&probe);
//!     for instruction in code.instructions() {
//!         let instruction = instruction?;
//!         if matches!(instruction.opcode, op::GETFIELD | op::PUTFIELD) {
//!             edit.insert_after(instruction.pc, &probe);
//!         }
//!     }
//!     let start = if constructor { super_call_pc(&code, &class.pool).map(|pc| pc + 3) } else { Some(0) };
//!     if let Some(start) = start {
//!         let handler = [op::INVOKESTATIC, high, low, op::ATHROW];
//!         edit.add_catch_all(start, code.code.len() as u32, &handler);
//!     }
//!     edit.grow_stack(2);
//!     match edit.apply(&mut code, &mut class.pool, class.major) {
//!         Ok(_positions) => class.set_code(index, &code)?,
//!         Err(error) if matches!(error.kind, ErrorKind::CodeTooLarge(_) | ErrorKind::BranchOutOfRange(_)) => {
//!             // No room: the method stays as it was.
//!         }
//!         Err(error) => return Err(error),
//!     }
//! }
//! class.write()
//! # }
//! ```
//!
//! # Analysing
//!
//! [`Code::decode`] gives the instructions as a list whose jumps name labels, [`Flow`] the control flow between them,
//! [`ClassFile::attribute_value`] and [`ClassFile::annotation`] the typed content of attributes, and [`archive`] the
//! classes of jars, directories and JDKs.
//!
//! ```
//! use ravel_classfile::archive::{Options, for_each_class};
//! use ravel_classfile::{ClassFile, Flow, LineNumber};
//! # fn scan(path: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
//! let mut classes = Vec::new();
//! for_each_class(path, &Options::default(), &mut |entry| {
//!     classes.push(entry.bytes);
//!     std::ops::ControlFlow::Continue(())
//! })?;
//! for bytes in &classes {
//!     let class = ClassFile::parse(bytes)?;
//!     for field in &class.fields {
//!         if let Some(annotation) = class.annotation(&field.attributes, "GuardedBy")? {
//!             println!("guarded by {:?}", annotation.string(&class.pool, "value"));
//!         }
//!     }
//!     for method in &class.methods {
//!         let Some(code) = class.code(method)? else { continue };
//!         let lines = code.line_numbers(&class.pool)?;
//!         let list = code.decode()?;
//!         let flow = Flow::of(&list);
//!         for (index, node) in list.nodes.iter().enumerate() {
//!             let line = node.label.and_then(|label| LineNumber::at(&lines, label.pc()));
//!             println!("{index}: {line:?} {node:?} goes on to {:?}", flow.successors(index));
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```

pub mod archive;
mod attribute;
mod bytes;
mod class;
mod code;
mod constructor;
mod descriptor;
mod edit;
mod error;
mod flow;
mod hash;
mod instruction;
mod list;
mod opcode;
mod pool;
mod references;
mod relocate;
mod stack;

pub use attribute::*;
pub use class::{Attribute, ClassFile, Member, access};
pub use code::{Code, ExceptionEntry, MAX_CODE};
pub use constructor::super_call_pc;
pub use descriptor::{FieldType, MethodDescriptor, parse_field_descriptor, parse_method_descriptor};
pub use edit::{CodeEditor, PcMap};
pub use error::{ClassError, ErrorKind, Result};
pub use flow::Flow;
pub use hash::content_hash;
pub use instruction::{Instruction, Instructions, Operand, Switch};
pub use list::{Arg, CodeList, Handler, Label, Node};
pub use pool::{Constant, ConstantPool, MemberRef, decode_modified_utf8, encode_modified_utf8};
pub use references::{Bound, bound_by_reference, give_references_bodies};
pub use stack::stack_effect;

/// The opcodes of the JVM by name.
pub mod op {
    pub use crate::opcode::*;
}
