//! The one interface through which analyses see a trace.

use crate::event::Event;
use crate::names::Names;

/// A stream of events in global order with the tables that name them. Implemented by the file reader and by traces
/// built in memory (tests, imports).
pub trait Source {
    /// The next event, or none at the end. After an error or the end, every further call gives the end.
    fn next_event(&mut self) -> Result<Option<Event>, SourceError>;

    /// The tables. Every id of an event already delivered is in them.
    fn names(&self) -> &Names;

    /// The same trace from its first event to its last, for a reader that comes before the one of this source; none if the
    /// trace can be read only once. It is asked for before the first event is taken; afterwards this source begins with its
    /// first event.
    fn again(&mut self) -> Option<Box<dyn Source + '_>> {
        None
    }
}

/// Why a trace could not be read on: a sentence that names the file and the byte.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);
