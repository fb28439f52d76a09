//! The one reading of a recorded trace that proof makes: schedules, the events of the findings and the path of the threads are
//! all taken from it.

use std::borrow::Cow;

use anyhow::Result;
use ravel_analysis::finding::Finding;
use ravel_schedule::{Image, Limits};
use ravel_trace::{Event, Names, Source, SourceError};

use super::Recorded;
use super::divergence::{MOST_EVENTS, RecordedPath};
use super::marks::MarksBuilder;
use crate::directed::PlacesBuilder;

/// Events after which it is asked whether to go on.
const ASK: u64 = 1 << 14;

impl<'t> Recorded<'t> {
    /// Reads a trace from its first event to its last, for these findings and what the scan suspects; an error if `go_on` says no before that.
    /// `kept` gives its events where they are in memory; otherwise as many are kept as are compared with forced runs.
    pub fn read<S: Source>(
        trace: &'t mut S,
        (findings, suspicions): (&[Finding], &[Finding]),
        kept: impl Fn(&S) -> Option<&[Event]>,
        go_on: impl Fn() -> bool,
    ) -> Result<Recorded<'t>> {
        let collects = kept(trace).is_none();
        let mut marks = MarksBuilder::of(findings);
        let mut places = PlacesBuilder::of(findings, suspicions);
        let mut beginning = Vec::new();
        let mut reading = Reading {
            source: trace,
            seen: 0,
            go_on,
            see: |event: &Event, names: &Names| {
                marks.event(event, names);
                places.event(event, names);
                if collects && beginning.len() < MOST_EVENTS {
                    beginning.push(*event);
                }
            },
        };
        let (image, cut) = Image::beginning(&mut reading, Limits::default())?;
        // Schedules may be made of the beginning alone; marks are of the whole.
        while reading.next_event()?.is_some() {}
        let trace: &'t S = trace;
        let marks = marks.finish(trace.names(), image.thread_names());
        let events = match kept(trace) {
            Some(kept) if !collects => Cow::Borrowed(kept),
            _ => Cow::Owned(beginning),
        };
        Ok(Recorded {
            image,
            cut,
            marks,
            places: places.finish(trace.names()),
            path: RecordedPath::new(events, trace.names()),
        })
    }
}

/// A source whose events another reader sees as well.
struct Reading<'s, F, G> {
    source: &'s mut dyn Source,
    seen: u64,
    go_on: G,
    see: F,
}

impl<F: FnMut(&Event, &Names), G: Fn() -> bool> Source for Reading<'_, F, G> {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        self.seen += 1;
        if self.seen.is_multiple_of(ASK) && !(self.go_on)() {
            return Err(SourceError("the reading was ended".to_owned()));
        }
        let event = self.source.next_event()?;
        if let Some(event) = &event {
            (self.see)(event, self.source.names());
        }
        Ok(event)
    }

    fn names(&self) -> &Names {
        self.source.names()
    }
}
