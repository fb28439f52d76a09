//! Why a trace could not be read, with the file, the byte, and a way out.

use std::fmt;
use std::io;

use crate::block::VERSION;
use crate::source::SourceError;

/// Why a trace could not be opened or read on.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The system refused.
    #[error("cannot read {file}: {error}")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        error: io::Error,
    },
    /// Too short to be a trace at all.
    #[error("{file} is empty or shorter than 16 bytes: it holds no recording")]
    Empty {
        /// The file.
        file: String,
    },
    /// Something else.
    #[error("{file} is not a Ravel trace; `ravel trace import` converts a text trace in STD form")]
    Foreign {
        /// The file.
        file: String,
    },
    /// Made by a later Ravel.
    #[error(
        "{file} has version {version} of the trace format; this Ravel reads up to version {VERSION}. Use a newer Ravel"
    )]
    Newer {
        /// The file.
        file: String,
        /// Its version.
        version: u32,
    },
    /// Bytes in the middle are not what was written.
    #[error("{file} is damaged at byte {offset}: {what}. --salvage skips the damage")]
    Damaged {
        /// The file.
        file: String,
        /// Where the damaged block begins.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
}

impl From<TraceError> for SourceError {
    fn from(error: TraceError) -> Self {
        SourceError(error.to_string())
    }
}

/// What is worth saying about a trace that could be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Warning {
    /// The end of the file is not whole, as when the recorder was killed; it was left out.
    TornTail {
        /// Where it begins.
        offset: u64,
        /// How many bytes were left out.
        bytes: u64,
    },
    /// There is no footer: the recording was cut short.
    Unfinished,
    /// Damage in the middle that was passed over.
    Skipped {
        /// Where it begins.
        offset: u64,
        /// How many bytes were passed over.
        bytes: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// Threads that began but had not ended when the trace stopped.
    NotEnded {
        /// Their names.
        threads: Vec<String>,
    },
    /// Locks given up that were not seen to be taken; left out.
    UnmatchedReleases {
        /// How many.
        count: u64,
    },
    /// Waits without a monitor seen to be held, or ends of waits that were not seen to begin.
    UnmatchedWaits {
        /// How many.
        count: u64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::TornTail { offset, bytes } => {
                write!(
                    out,
                    "the last block is incomplete: ignored {bytes} bytes from byte {offset} on"
                )
            }
            Warning::Unfinished => write!(out, "the recording was cut short: the file has no footer"),
            Warning::Skipped { offset, bytes, what } => {
                write!(out, "skipped {bytes} damaged bytes at byte {offset}: {what}")
            }
            Warning::NotEnded { threads } => {
                const SHOWN: usize = 5;
                let names = threads
                    .iter()
                    .take(SHOWN)
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", ");
                let s = if threads.len() == 1 { "" } else { "s" };
                write!(out, "{} thread{s} had not ended: {names}", threads.len())?;
                if threads.len() > SHOWN {
                    write!(out, ", …")
                } else {
                    Ok(())
                }
            }
            Warning::UnmatchedReleases { count } => {
                write!(
                    out,
                    "ignored {count} releases of locks whose acquisition was not recorded"
                )
            }
            Warning::UnmatchedWaits { count } => write!(out, "{count} waits were recorded only in part"),
        }
    }
}
