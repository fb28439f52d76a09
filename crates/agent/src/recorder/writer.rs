//! The one thread that writes the buffers of all threads to the trace file.

use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender};
use ravel_trace::definition::Definition;
use ravel_trace::ids::ThreadId;
use ravel_trace::raw::RawRecord;
use ravel_trace::run_info::Footer;
use ravel_trace::writer::Writer;

use super::lock;
use super::told::ToldValues;
use crate::sync::{AtomicBool, Ordering};

/// Records of the largest buffer of a thread.
pub(super) const LAST_BUFFER: usize = 8192;
/// Full buffers that may wait for the writer.
pub(super) const QUEUE: usize = 128;

/// The trace has reached the size that was asked for.
pub(super) static FULL: AtomicBool = AtomicBool::new(false);
/// The trace could not be written.
pub(super) static FAILED: AtomicBool = AtomicBool::new(false);

/// Buffers to be used again, the one that was last in use first: it is still in a cache.
pub(super) type Spares = Arc<Mutex<Vec<Vec<RawRecord>>>>;

pub(super) enum Message {
    Buffer(ThreadId, Vec<RawRecord>),
    Finish(Box<Footer>, Sender<Finished>),
}

/// How the writing ended.
#[derive(Debug, Clone, Default)]
pub struct Finished {
    /// Bytes of the trace.
    pub bytes: u64,
    /// Records in it.
    pub records: u64,
    /// What went wrong, if anything did.
    pub error: Option<String>,
}

pub(super) fn write(
    writer: Writer<std::fs::File>,
    messages: &Receiver<Message>,
    names: &Mutex<Vec<Definition>>,
    give_back: &Spares,
    told: Option<&ToldValues>,
    max_size: Option<u64>,
) {
    let mut writer = Some(writer);
    let mut outcome = Finished::default();
    for message in messages {
        let new = std::mem::take(&mut *lock(names));
        let named = writer
            .as_mut()
            .map_or(Ok(()), |open| new.iter().try_for_each(|name| open.define(name)));
        let written = match (message, writer.as_mut()) {
            (Message::Buffer(thread, mut records), Some(open)) => {
                // Events until the threads notice are still written: a trace with holes would mislead.
                if max_size.is_some_and(|limit| open.bytes_written() >= limit) {
                    FULL.store(true, Ordering::Relaxed);
                }
                let values = told.map_or(Ok(()), |told| {
                    open.define_values(thread, &mut records, |value| told.take(value))
                });
                let result = values.and_then(|()| open.buffer(thread, &records));
                let mut spares = lock(give_back);
                if records.capacity() >= LAST_BUFFER && spares.len() < QUEUE {
                    spares.push(records);
                }
                result
            }
            (Message::Finish(footer, answer), open) => {
                if let Some(open) = open {
                    outcome.bytes = open.bytes_written();
                    outcome.records = open.records_written();
                }
                if let Some(Err(error)) = writer.take().map(|open| open.finish(&footer)) {
                    outcome.error.get_or_insert(error.to_string());
                }
                let _ = answer.send(outcome);
                return;
            }
            _ => Ok(()),
        };
        if let Err(error) = named.and(written)
            && let Some(open) = writer.take()
        {
            outcome = Finished {
                bytes: open.bytes_written(),
                records: open.records_written(),
                error: Some(error.to_string()),
            };
            FAILED.store(true, Ordering::Relaxed);
        }
    }
}
