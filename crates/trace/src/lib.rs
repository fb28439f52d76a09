//! Events, ids and names of a recorded run; the trace file, its writer and reader; the STD text format.
//!
//! Depends on no other crate of Ravel: a stranger could use it alone.

mod block;
mod columns;
pub mod definition;
pub mod error;
pub mod event;
pub mod growth;
pub mod ids;
pub mod memory;
pub mod names;
pub mod raw;
pub mod reader;
pub mod run_info;
pub mod source;
pub mod std_text;
pub mod text;
mod varint;
pub mod writer;

pub use block::VERSION;
pub use definition::Definition;
pub use error::{TraceError, Warning};
pub use event::{Event, Mode, Op, Value};
pub use ids::{ClassId, FieldId, LocationId, LockId, MethodId, ObjectId, SiteId, SyncId, ThreadId};
pub use memory::MemoryTrace;
pub use names::Names;
pub use reader::{ReadOptions, Reader};
pub use run_info::{EndReason, Footer, Header, StandardInput};
pub use source::{Source, SourceError};
pub use writer::{Writer, add_input};
