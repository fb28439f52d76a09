//! Events, ids and names of a recorded run; the trace file, its writer and reader; the STD text format.
//!
//! Depends on no other crate of Ravel: a stranger could use it alone.

pub mod event;
pub mod ids;
pub mod names;
pub mod raw;
pub mod source;

pub use event::{Event, Mode, Op, Value};
pub use ids::{ClassId, FieldId, LocationId, LockId, MethodId, ObjectId, SiteId, SyncId, ThreadId};
pub use names::Names;
pub use source::{Source, SourceError};
