//! Events, ids and names of a recorded run; the trace file, its writer and reader; the STD text format.
//!
//! Depends on no other crate of Ravel: a stranger could use it alone.

mod access_mode;
pub mod added;
mod block;
mod columns;
mod count;
pub mod definition;
pub mod error;
pub mod event;
pub mod failure;
pub mod growth;
mod held;
pub mod ids;
pub mod memory;
pub mod names;
pub mod naming;
pub mod order;
pub mod origin;
pub mod raw;
pub mod reader;
pub mod run_info;
pub mod source;
pub mod spawn;
pub mod std_text;
pub mod test_run;
pub mod text;
mod trace;
mod varint;
pub mod writer;

pub use access_mode::AccessMode;
pub use block::VERSION;
pub use definition::Definition;
pub use error::{TraceError, Warning};
pub use event::{Event, Mode, Op, Value};
pub use failure::{FailedThread, Failure, FailureKind, WaitKind};
pub use ids::{ClassId, FieldId, LocationId, LockId, MethodId, ObjectId, SiteId, SyncId, ThreadId};
pub use memory::MemoryTrace;
pub use names::Names;
pub use origin::Origin;
pub use reader::{Figures, ReadOptions, Reader};
pub use run_info::{Counted, EndReason, Footer, Header, LeftFiles, StandardInput, ThreadCount};
pub use source::{Source, SourceError};
pub use test_run::{TestRun, Tests};
pub use trace::{KEPT_RECORDS, Trace};
pub use writer::{Writer, add_files, add_input};
