//! A trace file that several readers go through, one after the other. It is opened once, and decoded once if it is short
//! enough for its events to be kept; a longer one is decoded anew by each reading.

use std::path::Path;

use crate::error::TraceError;
use crate::event::Event;
use crate::names::Names;
use crate::reader::{ReadOptions, Reader};
use crate::source::{Source, SourceError};

/// Records up to which the events of a trace are kept. At 40 bytes an event that is 200 MB, a fifth of what schedules may
/// take of a long trace. A longer trace is read again instead, at 20 to 50 million records a second.
pub const KEPT_RECORDS: u64 = 5_000_000;

/// A trace file and, if it is short, its events. As a [`Source`] it goes on from where it is; [`rewind`](Self::rewind) starts
/// over.
pub struct Trace {
    reader: Reader,
    /// The events read so far, from the first on; none if there may be too many.
    kept: Option<Vec<Event>>,
    /// How the file ended, once all of it is kept.
    end: Option<Result<(), SourceError>>,
    /// The number of the next event.
    next: usize,
}

impl Trace {
    /// Opens a file.
    pub fn open(path: impl AsRef<Path>, options: ReadOptions) -> Result<Trace, TraceError> {
        Ok(Trace::new(Reader::open(path, options)?, KEPT_RECORDS))
    }

    /// A trace whose events are kept if it has at most so many records.
    pub fn new(reader: Reader, most: u64) -> Trace {
        Trace {
            kept: (reader.records() <= most).then(Vec::new),
            reader,
            end: None,
            next: 0,
        }
    }

    /// The file: header, footer, warnings.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// All events, if the file was read to its end and they are kept.
    pub fn events(&self) -> Option<&[Event]> {
        self.end.as_ref()?;
        self.kept.as_deref()
    }

    /// Starts over.
    pub fn rewind(&mut self) {
        self.next = 0;
        if self.kept.is_none() {
            self.reader.rewind();
        }
    }
}

impl Source for Trace {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        let Some(kept) = &mut self.kept else {
            return self.reader.next_event();
        };
        let number = self.next;
        self.next += 1;
        if let Some(event) = kept.get(number) {
            return Ok(Some(*event));
        }
        if let Some(end) = &self.end {
            // Damage is said once by each reading, as a reader does.
            return if number == kept.len() {
                end.clone().map(|()| None)
            } else {
                Ok(None)
            };
        }
        let event = self.reader.next_event();
        match &event {
            Ok(Some(event)) => {
                if kept.is_empty() {
                    // A record becomes two events only where a lock changes its mode.
                    kept.reserve_exact(usize::try_from(self.reader.records()).unwrap_or(0));
                }
                kept.push(*event);
            }
            Ok(None) => self.end = Some(Ok(())),
            Err(error) => self.end = Some(Err(error.clone())),
        }
        event
    }

    fn names(&self) -> &Names {
        self.reader.names()
    }

    fn again(&mut self) -> Option<Box<dyn Source + '_>> {
        self.rewind();
        Some(Box::new(Again(self)))
    }
}

/// A reading before another one.
struct Again<'t>(&'t mut Trace);

impl Source for Again<'_> {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        self.0.next_event()
    }

    fn names(&self) -> &Names {
        self.0.names()
    }
}

impl Drop for Again<'_> {
    fn drop(&mut self) {
        self.0.rewind();
    }
}
