//! STD text to a trace file, as it streams past: only names are kept in memory.
//!
//! The text is one total order. A text that no run can have had is refused: a lock with two holders, a thread that goes on
//! after another one joined it. Analyses of it would predict orders that cannot be.
//!
//! The counter of the [raw records](crate::raw) keeps it: it moves on whenever another
//! thread's turn comes, so that no two threads ever share a number.

use std::io::{self, BufRead};

use rustc_hash::FxHashMap;

use super::{Line, StdOp, parse_line, trim_line};
use crate::definition::Definition;
use crate::ids::{ClassId, FieldId, MethodId, ObjectId, SiteId, ThreadId};
use crate::names::{Class, Field, Method, Site, SiteKind, Thread, flags};
use crate::raw::{RawKind, RawRecord, SITE_BITS};
use crate::writer::Writer;

/// Why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The text could not be read.
    #[error("cannot read: {0}")]
    Read(io::Error),
    /// The trace could not be written.
    #[error("cannot write the trace: {0}")]
    Write(io::Error),
    /// A line is not what the format says.
    #[error("line {line}: {message}")]
    Line {
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
}

/// What was imported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ImportSummary {
    /// Events.
    pub events: u64,
    /// Threads.
    pub threads: u64,
    /// Variables.
    pub variables: u64,
    /// Locks.
    pub locks: u64,
}

/// Records of a thread written at a time.
const BUFFER: usize = 1 << 15;

/// A line longer than this is no line of a trace.
const LONGEST_LINE: u64 = 1 << 20;

/// Reads STD text and appends it to a trace that has nothing but its header.
pub fn import<W: io::Write>(mut text: impl BufRead, writer: &mut Writer<W>) -> Result<ImportSummary, ImportError> {
    let mut importer = Importer::new(writer).map_err(ImportError::Write)?;
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        // Most lines lie whole in the reader's buffer and need no copy.
        let available = text.fill_buf().map_err(ImportError::Read)?;
        if available.is_empty() {
            break;
        }
        let mut used = 0;
        while let Some(length) = find_newline(&available[used..]) {
            number += 1;
            importer.line(&available[used..used + length], number)?;
            used += length + 1;
        }
        let rest = available.len() - used;
        if used > 0 || rest == 0 {
            text.consume(used);
            if used > 0 {
                continue;
            }
        }
        number += 1;
        line.clear();
        let read = io::Read::take(&mut text, LONGEST_LINE)
            .read_until(b'\n', &mut line)
            .map_err(ImportError::Read)?;
        if read as u64 == LONGEST_LINE {
            return Err(ImportError::Line {
                line: number,
                message: "the line is longer than a megabyte".into(),
            });
        }
        importer.line(&line, number)?;
    }
    importer.finish()
}

fn find_newline(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', bytes)
}

struct Importer<'a, W: io::Write> {
    writer: &'a mut Writer<W>,
    threads: FxHashMap<Vec<u8>, u32>,
    variables: FxHashMap<Vec<u8>, u32>,
    locks: FxHashMap<Vec<u8>, u32>,
    /// Who has each lock, by its number.
    holders: Vec<Option<Holder>>,
    /// By variable (or none) and place.
    sites: FxHashMap<(u32, u32), u32>,
    own: Vec<Own>,
    counter: u64,
    last_thread: u32,
    /// Somebody's plain events lie under the counter as it stands.
    counter_used: bool,
    events: u64,
}

/// What is kept for each thread.
#[derive(Default)]
struct Own {
    records: Vec<RawRecord>,
    position: u32,
    mark: u64,
    children: u32,
    /// The line in which another thread joined it.
    joined: Option<u64>,
}

/// A thread that has a lock.
#[derive(Clone, Copy)]
struct Holder {
    thread: u32,
    /// How often it took the lock without giving it up.
    times: u32,
    /// Where it took it first.
    line: u64,
}

/// The site of what is done to no variable.
const NO_VARIABLE: u32 = u32::MAX;

impl<'a, W: io::Write> Importer<'a, W> {
    fn new(writer: &'a mut Writer<W>) -> io::Result<Self> {
        writer.define(&Definition::Class(ClassId(0), Class::default()))?;
        writer.define(&Definition::Method(MethodId(0), Method::default()))?;
        writer.define(&Definition::Site(SiteId(0), Site::default()))?;
        Ok(Importer {
            writer,
            threads: FxHashMap::default(),
            variables: FxHashMap::default(),
            locks: FxHashMap::default(),
            holders: Vec::new(),
            sites: FxHashMap::default(),
            own: Vec::new(),
            counter: 0,
            last_thread: 0,
            counter_used: false,
            events: 0,
        })
    }

    fn line(&mut self, line: &[u8], number: u64) -> Result<(), ImportError> {
        let Some(line) = trim_line(line) else { return Ok(()) };
        let wrong = |message: &str| ImportError::Line {
            line: number,
            message: message.to_string(),
        };
        let line = parse_line(line).map_err(wrong)?;
        let thread = self.thread(line.thread).map_err(ImportError::Write)?;
        self.check_possible(thread, &line, number)
            .map_err(|message| wrong(&message))?;
        if thread != self.last_thread {
            self.last_thread = thread;
            if self.counter_used {
                self.counter += 1;
                self.counter_used = false;
            }
        }
        if self.sites.len() + 2 >= 1 << SITE_BITS {
            return Err(wrong("the trace has more than 67 million different places"));
        }
        self.event(thread, &line).map_err(ImportError::Write)
    }

    /// Follows who has which lock and who was joined; says what is impossible.
    fn check_possible(&mut self, thread: u32, line: &Line<'_>, number: u64) -> Result<(), String> {
        if let Some(joined) = self.own[thread as usize].joined {
            return Err(format!(
                "thread {} goes on although it was joined in line {joined}",
                lossy(line.thread)
            ));
        }
        let write = |error: io::Error| error.to_string();
        match line.op {
            StdOp::Acquire => {
                let lock = self.lock(line.name).map_err(write)? as usize;
                if self.holders.len() <= lock {
                    self.holders.resize(lock + 1, None);
                }
                match &mut self.holders[lock] {
                    Some(holder) if holder.thread != thread => {
                        let (other, since) = (holder.thread, holder.line);
                        let of_holder = |(name, known): (&Vec<u8>, &u32)| (*known == other).then(|| lossy(name));
                        let other = self.threads.iter().find_map(of_holder).unwrap_or_default();
                        return Err(format!(
                            "lock {} has two holders: thread {other} has it since line {since}",
                            lossy(line.name)
                        ));
                    }
                    Some(holder) => holder.times += 1,
                    free => {
                        *free = Some(Holder {
                            thread,
                            times: 1,
                            line: number,
                        });
                    }
                }
            }
            StdOp::Release => {
                let lock = self.lock(line.name).map_err(write)? as usize;
                // A trace may begin in the middle of a run: what was taken before is given up now.
                if let Some(Some(holder)) = self.holders.get_mut(lock)
                    && holder.thread == thread
                {
                    holder.times -= 1;
                    if holder.times == 0 {
                        self.holders[lock] = None;
                    }
                }
            }
            StdOp::Join => {
                let child = self.thread(line.name).map_err(write)?;
                self.own[child as usize].joined.get_or_insert(number);
            }
            StdOp::Read | StdOp::Write | StdOp::Fork | StdOp::Begin | StdOp::End => {}
        }
        Ok(())
    }

    fn event(&mut self, thread: u32, line: &Line<'_>) -> io::Result<()> {
        self.events += 1;
        match line.op {
            StdOp::Read | StdOp::Write => {
                let kind = if line.op == StdOp::Read {
                    RawKind::Read
                } else {
                    RawKind::Write
                };
                let variable = self.variable(line.name)?;
                let site = self.site(variable, line.place)?;
                self.plain(thread, kind, site)
            }
            StdOp::Begin | StdOp::End => {
                let kind = if line.op == StdOp::Begin {
                    RawKind::UnitBegin
                } else {
                    RawKind::UnitEnd
                };
                let site = self.site(NO_VARIABLE, line.place)?;
                self.plain(thread, kind, site)
            }
            StdOp::Acquire | StdOp::Release => {
                let kind = if line.op == StdOp::Acquire {
                    RawKind::Acquire
                } else {
                    RawKind::Release
                };
                let lock = self.lock(line.name)?;
                self.sequenced(thread, kind, line.place, lock.into())
            }
            StdOp::Fork => {
                let child = self.thread(line.name)?;
                self.forked(thread, child, line.name)?;
                self.sequenced(thread, RawKind::Fork, line.place, child.into())
            }
            StdOp::Join => {
                let child = self.thread(line.name)?;
                self.sequenced(thread, RawKind::Join, line.place, child.into())
            }
        }
    }

    fn plain(&mut self, thread: u32, kind: RawKind, site: u32) -> io::Result<()> {
        self.counter_used = true;
        let counter = self.counter;
        let own = &mut self.own[thread as usize];
        if own.mark != counter {
            own.mark = counter;
            own.records
                .push(RawRecord::new(RawKind::Mark, 0, own.position, counter, 0));
        }
        self.push(thread, kind, site, 0, 0)
    }

    fn sequenced(&mut self, thread: u32, kind: RawKind, place: u32, a: u64) -> io::Result<()> {
        let site = self.site(NO_VARIABLE, place)?;
        let number = self.counter;
        self.counter += 1;
        self.counter_used = false;
        self.own[thread as usize].mark = self.counter;
        self.push(thread, kind, site, a, number)
    }

    fn push(&mut self, thread: u32, kind: RawKind, site: u32, a: u64, b: u64) -> io::Result<()> {
        let own = &mut self.own[thread as usize];
        own.records.push(RawRecord::new(kind, site, own.position, a, b));
        own.position = own.position.wrapping_add(1);
        if own.records.len() >= BUFFER {
            self.writer.buffer(ThreadId(thread), &own.records)?;
            own.records.clear();
        }
        Ok(())
    }

    fn thread(&mut self, name: &[u8]) -> io::Result<u32> {
        if let Some(thread) = self.threads.get(name) {
            return Ok(*thread);
        }
        let thread = self.threads.len() as u32;
        self.threads.insert(name.to_vec(), thread);
        self.own.push(Own::default());
        let entry = Thread {
            name: lossy(name),
            ..Thread::default()
        };
        self.writer.define(&Definition::Thread(ThreadId(thread), entry))?;
        Ok(thread)
    }

    fn forked(&mut self, parent: u32, child: u32, name: &[u8]) -> io::Result<()> {
        let spawn_index = self.own[parent as usize].children;
        self.own[parent as usize].children += 1;
        let entry = Thread {
            name: lossy(name),
            parent: Some(ThreadId(parent)),
            spawn_index,
            ..Thread::default()
        };
        self.writer.define(&Definition::Thread(ThreadId(child), entry))
    }

    fn variable(&mut self, name: &[u8]) -> io::Result<u32> {
        if let Some(variable) = self.variables.get(name) {
            return Ok(*variable);
        }
        let variable = self.variables.len() as u32;
        self.variables.insert(name.to_vec(), variable);
        let field = Field {
            name: lossy(name),
            flags: flags::NAMED,
            ..Field::default()
        };
        self.writer.define(&Definition::Field(FieldId(variable), field))?;
        Ok(variable)
    }

    fn lock(&mut self, name: &[u8]) -> io::Result<u32> {
        if let Some(lock) = self.locks.get(name) {
            return Ok(*lock);
        }
        let lock = self.locks.len() as u32 + 1;
        self.locks.insert(name.to_vec(), lock);
        self.writer.define(&Definition::Object {
            object: ObjectId(lock.into()),
            class_name: lossy(name),
        })?;
        Ok(lock)
    }

    fn site(&mut self, variable: u32, place: u32) -> io::Result<u32> {
        if let Some(site) = self.sites.get(&(variable, place)) {
            return Ok(*site);
        }
        let site = self.sites.len() as u32 + 1;
        self.sites.insert((variable, place), site);
        let what = if variable == NO_VARIABLE {
            SiteKind::Lock
        } else {
            SiteKind::Field(FieldId(variable))
        };
        let entry = Site {
            method: MethodId(0),
            bci: place,
            line: place,
            what,
        };
        self.writer.define(&Definition::Site(SiteId(site), entry))?;
        Ok(site)
    }

    fn finish(self) -> Result<ImportSummary, ImportError> {
        for (thread, own) in self.own.iter().enumerate() {
            if !own.records.is_empty() {
                self.writer
                    .buffer(ThreadId::from(thread), &own.records)
                    .map_err(ImportError::Write)?;
            }
        }
        Ok(ImportSummary {
            events: self.events,
            threads: self.threads.len() as u64,
            variables: self.variables.len() as u64,
            locks: self.locks.len() as u64,
        })
    }
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
