//! Optimistic reads of a `StampedLock`: found in a first look at a trace, so that the pass can treat them as what they are.
//!
//! Between `tryOptimisticRead` and `validate` a thread reads without a lock. If no writer came between, the reads are as good as
//! under the read lock; if one came, `validate` fails and the program must forget them. Only `validate` tells, so that the
//! end must be known before the reads are seen. A *section* is such a stretch of one thread in which it does nothing but read: it
//! has not used what it read. The pass takes the read lock for the time of a section that no writer interrupted, and passes over the reads of
//! one that was interrupted. Reads that are never validated, and reads whose values are used before (the thread writes, locks or
//! signals in between), stay plain accesses. So do reads before a `validate` whose result the program throws away, which the name of the call tells.
//!
//! **Misses.** A program that keeps the result of `validate` and then does the same in either case.
//!
//! Whether a writer came is read off the trace and not off the result: a section that the pass treats as locked must not overlap an
//! exclusive hold.

use ravel_trace::names::SiteKind;
use ravel_trace::{Event, LockId, Mode, Names, ObjectId, Op, SiteId, ThreadId};
use rustc_hash::FxHashMap;

/// What a call does to a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stamp {
    Begins,
    Ends,
    /// Ends one section and begins the next, or begins one when a lock is given up.
    Turns,
    /// Ends the section with a lock.
    Locks,
    Other,
}

/// A section that has begun.
#[derive(Clone, Copy, Debug)]
struct Open {
    object: ObjectId,
    begin: u64,
    /// How often the lock had been taken or given up alone; none if a writer held it.
    version: Option<u32>,
}

/// What becomes of the reads of a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Section {
    /// They are as if under the read lock.
    Shared(LockId),
    /// They are forgotten.
    Discarded,
}

/// The sections of a trace, by the numbers of the events at which they begin and end.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    begins: FxHashMap<u64, Section>,
    ends: FxHashMap<u64, Section>,
}

impl Sections {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.begins.is_empty()
    }

    /// The section that begins after an event.
    pub fn begins_after(&self, index: u64) -> Option<Section> {
        self.begins.get(&index).copied()
    }

    /// The section that ends before an event.
    pub fn ends_before(&self, index: u64) -> Option<Section> {
        self.ends.get(&index).copied()
    }
}

/// Looks for sections, event by event.
#[derive(Debug, Default)]
pub(crate) struct SectionSearch {
    stamps: Vec<Option<Stamp>>,
    open: FxHashMap<ThreadId, Open>,
    /// By lock: how often it was taken or given up alone, odd while it is held.
    versions: FxHashMap<ObjectId, u32>,
    found: Vec<(Open, u64, bool)>,
}

impl SectionSearch {
    /// Takes an event in.
    #[inline]
    pub fn step(&mut self, names: &Names, index: u64, event: &Event) {
        match event.op {
            Op::Read { .. } | Op::Enter { .. } | Op::Exit { .. } | Op::Call | Op::Returned { .. } => {}
            Op::Write { .. } | Op::Update { .. } if self.open.is_empty() => {}
            Op::Receive { sync } => {
                let object = names.syncs.get(sync.index()).map(|sync| sync.object);
                self.called(names, index, event, object);
            }
            Op::Acquire { lock, mode } | Op::Release { lock, mode } => {
                let object = names.locks.get(lock.index()).map(|lock| lock.object);
                self.called(names, index, event, object);
                let acquires = matches!(event.op, Op::Acquire { .. });
                if let (Mode::Exclusive, Some(object)) = (mode, object) {
                    let version = self.versions.entry(object).or_default();
                    // Odd while it is held, whatever the trace has lost.
                    *version += if (*version % 2 == 1) == acquires { 2 } else { 1 };
                }
                // A lock that was given up for an optimistic read is free by now.
                if !acquires && self.stamp(names, event.site) == Stamp::Turns {
                    self.begin(index, event.thread, object);
                }
            }
            _ => {
                self.open.remove(&event.thread);
            }
        }
    }

    /// A call of a `StampedLock`, or another event of that kind.
    fn called(&mut self, names: &Names, index: u64, event: &Event, object: Option<ObjectId>) {
        let stamp = self.stamp(names, event.site);
        if matches!(stamp, Stamp::Other) && matches!(event.op, Op::Receive { .. }) {
            return;
        }
        if let Some(open) = self.open.remove(&event.thread)
            && matches!(stamp, Stamp::Ends | Stamp::Locks | Stamp::Turns)
            && Some(open.object) == object
        {
            let now = self.versions.get(&open.object).copied().unwrap_or(0);
            self.found.push((open, index, open.version == Some(now)));
        }
        if matches!(stamp, Stamp::Begins) {
            self.begin(index, event.thread, object);
        }
    }

    fn begin(&mut self, begin: u64, thread: ThreadId, object: Option<ObjectId>) {
        if let Some(object) = object {
            let version = self.versions.get(&object).copied().unwrap_or(0);
            let version = (version % 2 == 0).then_some(version);
            self.open.insert(thread, Open { object, begin, version });
        }
    }

    fn stamp(&mut self, names: &Names, site: SiteId) -> Stamp {
        if self.stamps.len() <= site.index() {
            self.stamps.resize(site.index() + 1, None);
        }
        *self.stamps[site.index()].get_or_insert_with(|| stamp_at(names, site))
    }

    /// What was found.
    pub fn finish(self, names: &Names) -> Sections {
        let mut sections = Sections::default();
        if self.found.is_empty() {
            return sections;
        }
        let locks = names.locks.iter().enumerate();
        let locks: FxHashMap<ObjectId, LockId> = locks.map(|(id, lock)| (lock.object, LockId::from(id))).collect();
        for (open, end, undisturbed) in self.found {
            // Nothing is to be said of a lock that no thread ever takes.
            let Some(&lock) = locks.get(&open.object) else {
                continue;
            };
            let section = if undisturbed {
                Section::Shared(lock)
            } else {
                Section::Discarded
            };
            sections.begins.insert(open.begin, section);
            sections.ends.insert(end, section);
        }
        sections
    }
}

/// Whether code that reads optimistically is known of.
pub(crate) fn has_optimistic_reads(names: &Names) -> bool {
    (0..names.sites.len()).any(|site| stamp_at(names, SiteId::from(site)) != Stamp::Other)
}

fn stamp_at(names: &Names, site: SiteId) -> Stamp {
    let Some(SiteKind::Call(call)) = names.sites.get(site.index()).map(|site| &site.what) else {
        return Stamp::Other;
    };
    match call.strip_prefix("java.util.concurrent.locks.StampedLock.") {
        Some("tryOptimisticRead") => Stamp::Begins,
        Some("validate") => Stamp::Ends,
        Some("tryConvertToOptimisticRead") => Stamp::Turns,
        Some("tryConvertToReadLock" | "tryConvertToWriteLock") => Stamp::Locks,
        _ => Stamp::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::raw::RawReport;
    use crate::registry;
    use crate::units::UnitSettings;
    use ravel_trace::memory::MemoryTrace;
    use ravel_trace::text::parse;

    /// A trace in which `recv lock @91` is `tryOptimisticRead` and `recv lock @92` is `validate` of the lock `lock`; at 93 its result is ignored.
    fn trace(text: &str) -> MemoryTrace {
        let mut trace = parse(text).expect("a trace");
        let names = trace.names_mut();
        let object = names.locks[0].object;
        names.syncs.iter_mut().for_each(|sync| sync.object = object);
        for site in &mut names.sites {
            let method = match site.line {
                91 => "tryOptimisticRead",
                92 => "validate",
                93 => "validate (result unused)",
                _ => continue,
            };
            site.what = SiteKind::Call(format!("java.util.concurrent.locks.StampedLock.{method}"));
        }
        trace
    }

    fn reports(text: &str) -> Vec<RawReport> {
        let analyses = ["race", "automata", "patterns", "blocks", "serializability"];
        let analyses = analyses.iter().filter_map(|name| registry::by_name(name)).collect();
        Engine::new(&UnitSettings::default(), analyses)
            .run(&mut trace(text))
            .reports
    }

    const WRITER: &str = "
        t1                  | t2
        enter Pair.move
        acq lock
        w Pair.left @1
        w Pair.right @2
        rel lock
        exit
    ";

    #[test]
    fn reads_that_are_validated_are_as_if_under_the_lock_ok() {
        let text = format!(
            "{WRITER}
                            | enter Pair.sum
                            | recv lock @91
                            | r Pair.left @3
                            | r Pair.right @4
                            | recv lock @92
                            | exit
            "
        );
        let found = reports(&text);
        assert!(found.is_empty(), "{found:#?}");
    }

    #[test]
    fn reads_that_a_writer_interrupts_are_forgotten_ok() {
        let found = reports(
            "
            t1                  | t2
            enter Pair.move     | 
                                | enter Pair.sum
                                | recv lock @91
                                | r Pair.left @3
            acq lock
            w Pair.left @1
            w Pair.right @2
            rel lock
            exit
                                | r Pair.right @4
                                | recv lock @92
                                | acqs lock
                                | r Pair.left @5
                                | r Pair.right @6
                                | rels lock
                                | exit
            ",
        );
        assert!(found.is_empty(), "{found:#?}");
    }

    #[test]
    fn reads_that_are_not_validated_race_bad() {
        let text = format!(
            "{WRITER}
                            | enter Pair.sum
                            | recv lock @91
                            | r Pair.left @3
                            | r Pair.right @4
                            | exit
            "
        );
        assert!(!reports(&text).is_empty());
    }

    #[test]
    fn reads_whose_validation_is_ignored_race_bad() {
        let text = format!(
            "{WRITER}
                            | enter Pair.sum
                            | recv lock @91
                            | r Pair.left @3
                            | r Pair.right @4
                            | recv lock @93
                            | exit
            "
        );
        assert!(!reports(&text).is_empty());
    }

    #[test]
    fn values_that_are_used_before_they_are_validated_race_bad() {
        let text = format!(
            "{WRITER}
                            | enter Pair.sum
                            | recv lock @91
                            | r Pair.left @3
                            | r Pair.right @4
                            | w Pair.last @5
                            | recv lock @92
                            | exit
            "
        );
        assert!(!reports(&text).is_empty());
    }

    #[test]
    fn a_write_without_the_lock_races_with_validated_reads_bad() {
        let found = reports(
            "
            t1                  | t2
            acq lock
            rel lock
            w Pair.left @1
                                | enter Pair.sum
                                | recv lock @91
                                | r Pair.left @3
                                | recv lock @92
                                | exit
            ",
        );
        assert!(!found.is_empty());
    }
}
