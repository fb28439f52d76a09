//! When each thread of a recording was busy, over the events of the whole trace, and when it held which lock; and a source that
//! watches the events go by, for that and for progress. All in bounded space, for a trace of any length.

use std::collections::BTreeMap;

use ravel_trace::naming;
use ravel_trace::{Event, Names, Source, SourceError, ThreadId};
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::holds::{self, LockHolds, LockLane};

/// The most threads with a lane in a report: the busiest.
const MOST_LANES: usize = 64;

/// One recorded JVM: its threads over the whole recording, and where in it the findings lie.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Recording {
    /// The trace's file.
    pub trace: String,
    /// Events in it.
    pub events: u64,
    /// Events that one cell of a lane stands for.
    pub cell: u64,
    /// The threads, in order of appearance.
    pub lanes: Vec<Lane>,
    /// Threads that are left out because others were busier.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_threads: u64,
    /// The locks that several threads held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<LockLane>,
    /// For each finding, by id, the number of the event that each of its steps was.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub moments: BTreeMap<String, Vec<u64>>,
}

/// One thread of a recording.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Lane {
    /// Its name.
    pub thread: String,
    /// Its events in each cell; in JSON one string, `12 0 3`, because a hundred lines would be harder to read.
    #[serde(with = "spaced")]
    pub cells: Vec<u64>,
}

/// Numbers as one text.
mod spaced {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(cells: &[u64], to: S) -> Result<S::Ok, S::Error> {
        let words: Vec<String> = cells.iter().map(u64::to_string).collect();
        to.serialize_str(&words.join(" "))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
        let text = String::deserialize(from)?;
        let numbers = text.split_whitespace().map(|word| {
            let known = word.parse();
            known.map_err(|_| D::Error::custom(format!("`{word}` is not a number of events")))
        });
        numbers.collect()
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Counts events per thread and stretch of the trace. The stretches double as the trace grows, so that nothing need
/// be known of its length.
#[derive(Clone, Debug)]
pub struct Timeline {
    most: usize,
    threads: Vec<Vec<u64>>,
    cells: usize,
    width: u64,
    in_cell: u64,
    holds: LockHolds,
}

impl Default for Timeline {
    /// As wide as a terminal has room for.
    fn default() -> Timeline {
        Timeline::new(48)
    }
}

impl Timeline {
    /// A timeline of at most so many cells, an even number.
    pub fn new(most: usize) -> Timeline {
        Timeline {
            most: most.max(2) & !1,
            threads: Vec::new(),
            cells: 1,
            width: 1,
            in_cell: 0,
            holds: LockHolds::default(),
        }
    }

    /// Counts an event, and notes the lock that it acquires or releases; `index` is its number.
    pub fn event(&mut self, event: &Event, index: u64) {
        self.count(event.thread);
        self.holds.event(event, index, self.width);
    }

    /// Counts an event.
    pub fn count(&mut self, thread: ThreadId) {
        if self.in_cell == self.width {
            if self.cells == self.most {
                self.halve();
            } else {
                self.cells += 1;
                self.in_cell = 0;
            }
        }
        self.in_cell += 1;
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, Vec::new());
        }
        let cells = &mut self.threads[thread.index()];
        // A thread that never comes costs nothing.
        if cells.is_empty() {
            cells.resize(self.most, 0);
        }
        cells[self.cells - 1] += 1;
    }

    fn halve(&mut self) {
        for cells in self.threads.iter_mut().filter(|cells| !cells.is_empty()) {
            for index in 0..self.most / 2 {
                cells[index] = cells[2 * index] + cells[2 * index + 1];
            }
            cells[self.most / 2..].fill(0);
        }
        self.cells = self.most / 2 + 1;
        self.width *= 2;
        self.in_cell = 0;
    }

    /// Events of a thread.
    pub fn total(&self, thread: ThreadId) -> u64 {
        self.cells(thread).iter().sum()
    }

    /// Events of a thread in each stretch.
    pub fn cells(&self, thread: ThreadId) -> &[u64] {
        match self.threads.get(thread.index()) {
            Some(cells) if !cells.is_empty() => &cells[..self.cells],
            _ => &[],
        }
    }

    /// Events that one stretch has, and how many the last one has so far.
    pub fn width(&self) -> (u64, u64) {
        (self.width, self.in_cell)
    }

    /// A thread's line: the busier, the higher.
    pub fn line(&self, thread: ThreadId) -> String {
        const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let cells = self.cells(thread);
        let line: String = cells
            .iter()
            .enumerate()
            .map(|(index, &count)| {
                let whole = if index + 1 == self.cells {
                    self.in_cell
                } else {
                    self.width
                };
                match count {
                    0 => ' ',
                    _ => LEVELS[(count * 7 / whole.max(1)).min(7) as usize],
                }
            })
            .collect();
        line.trim_end().to_string()
    }

    /// The timeline as a report keeps it.
    pub fn recording(&self, trace: &str, names: &Names) -> Recording {
        let known = naming::thread_names(names, 0);
        let mut busy: Vec<ThreadId> = (0..self.threads.len())
            .map(|index| ThreadId(index as u32))
            .filter(|thread| self.total(*thread) > 0)
            .collect();
        let events = busy.iter().map(|thread| self.total(*thread)).sum();
        busy.sort_by_key(|thread| (std::cmp::Reverse(self.total(*thread)), *thread));
        let more_threads = busy.len().saturating_sub(MOST_LANES) as u64;
        busy.truncate(MOST_LANES);
        busy.sort();
        let name = |thread: ThreadId| {
            let known = known.get(thread.index()).cloned();
            known.unwrap_or_else(|| format!("thread-{}", thread.0))
        };
        let lane = |thread: ThreadId| Lane {
            thread: name(thread),
            cells: self.cells(thread).to_vec(),
        };
        Recording {
            trace: trace.to_owned(),
            events,
            cell: self.width,
            lanes: busy.iter().copied().map(lane).collect(),
            locks: self.holds.lanes(names, name, events.max(1) - 1),
            more_threads,
            moments: BTreeMap::new(),
        }
    }
}

impl Recording {
    /// Notes where the steps of the findings of this recording lie.
    pub fn note(&mut self, findings: &[Finding]) {
        for finding in findings {
            if let Some(moments) = moments(finding) {
                self.moments.insert(finding.id.clone(), moments);
            }
        }
    }

    /// Forgets the moments of findings that a report takes from another recording, and the locks that do not matter.
    pub fn keep_only(&mut self, findings: &[Finding]) {
        self.moments.retain(|id, known| {
            let finding = findings.iter().find(|finding| finding.id == *id);
            finding.and_then(moments).is_some_and(|moments| moments == *known)
        });
        holds::keep_for(&mut self.locks, findings, &self.moments);
    }
}

fn moments(finding: &Finding) -> Option<Vec<u64>> {
    let moments: Option<Vec<u64>> = finding.steps.iter().map(|s| s.event.map(|e| e.index)).collect();
    moments.filter(|moments| !moments.is_empty())
}

/// Events of a source on their way to an analysis, counted. They end as soon as `go_on` returns false.
pub struct Watched<'s> {
    source: &'s mut dyn Source,
    timeline: Timeline,
    seen: u64,
    stopped: bool,
    go_on: &'s mut dyn FnMut(u64) -> bool,
}

/// `go_on` is asked after so many events.
const ASK: u64 = 1 << 14;

impl<'s> Watched<'s> {
    /// Watches a source; `go_on` gets the number of events so far, now and then.
    pub fn new(source: &'s mut dyn Source, cells: usize, go_on: &'s mut dyn FnMut(u64) -> bool) -> Watched<'s> {
        Watched {
            source,
            timeline: Timeline::new(cells),
            seen: 0,
            stopped: false,
            go_on,
        }
    }

    /// Whether the source was left before its end.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// The threads' business so far.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }
}

impl Source for Watched<'_> {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        if self.seen.is_multiple_of(ASK) && !self.stopped {
            self.stopped = !(self.go_on)(self.seen);
        }
        if self.stopped {
            return Ok(None);
        }
        let event = self.source.next_event()?;
        if let Some(event) = &event {
            self.timeline.event(event, self.seen);
            self.seen += 1;
        }
        Ok(event)
    }

    fn names(&self) -> &Names {
        self.source.names()
    }

    fn again(&mut self) -> Option<Box<dyn Source + '_>> {
        Some(Box::new(FirstLook {
            source: self.source.again()?,
            seen: 0,
            stopped: false,
            go_on: self.go_on,
        }))
    }
}

/// The same events beforehand, without counting them.
struct FirstLook<'s> {
    source: Box<dyn Source + 's>,
    seen: u64,
    stopped: bool,
    go_on: &'s mut dyn FnMut(u64) -> bool,
}

impl Source for FirstLook<'_> {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        if self.seen.is_multiple_of(ASK) && !self.stopped {
            self.stopped = !(self.go_on)(0);
        }
        self.seen += 1;
        match self.stopped {
            true => Ok(None),
            false => self.source.next_event(),
        }
    }

    fn names(&self) -> &Names {
        self.source.names()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: usize = 48;

    #[test]
    fn a_timeline_counts_everything_and_never_outgrows_its_line() {
        let mut timeline = Timeline::new(CELLS);
        for event in 0..10_000u32 {
            timeline.count(ThreadId(event / 5_000));
        }
        assert_eq!(
            (timeline.total(ThreadId(0)), timeline.total(ThreadId(1))),
            (5_000, 5_000)
        );
        let (first, second) = (timeline.line(ThreadId(0)), timeline.line(ThreadId(1)));
        assert!(first.chars().count() <= CELLS && second.chars().count() <= CELLS);
        assert!(first.starts_with('█') && second.starts_with(' ') && second.ends_with('█'));
        assert_eq!(timeline.line(ThreadId(2)), "");
    }

    #[test]
    fn a_recording_goes_round_through_json() {
        let mut timeline = Timeline::new(4);
        (0..9u32).for_each(|event| timeline.count(ThreadId(event % 2)));
        let recording = timeline.recording("t.ravel", &Names::default());
        let text = serde_json::to_string(&recording).expect("JSON");
        assert!(text.contains(r#""cells":"2 2 1""#), "{text}");
        assert_eq!(serde_json::from_str::<Recording>(&text).expect("read"), recording);
        let broken = text.replace("2 2 1", "2 x 1");
        let error = serde_json::from_str::<Recording>(&broken).expect_err("no number");
        assert!(error.to_string().contains("`x` is not a number"), "{error}");
    }

    #[test]
    fn a_report_keeps_the_busiest_threads() {
        let mut timeline = Timeline::new(4);
        for thread in 0..100u32 {
            for _ in 0..=thread {
                timeline.count(ThreadId(thread));
            }
        }
        let recording = timeline.recording("t.ravel", &Names::default());
        assert_eq!((recording.lanes.len(), recording.more_threads), (64, 36));
        assert_eq!(recording.lanes[0].thread, "thread-36", "the first 36 did least");
        assert_eq!(recording.events, 5050);
    }
}
