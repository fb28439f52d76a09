//! One pass over one trace, for all analyses at once: what analyses are, and how they are run. [`pass`] follows the events.
//!
//! The engine keeps, per thread, what several analyses need (locks held, call stack, units, clocks), each part only if
//! some chosen analysis asks for it, and hands the events over in batches ([`crate::batch`]) with what was known at each. That
//! is what holds *during* the event: an acquired lock is already in the lockset, a released one still is; a read of a volatile
//! location already has the happens-before edge from the write that it saw, a write has not created one yet.

mod chains;
mod pass;

use crate::locks::{LocksetId, Locksets};
use crate::numbers::number;
use crate::optimistic::{SectionSearch, Sections, has_optimistic_reads};
use crate::order::Order;
use crate::raw::RawReport;
use crate::sets::Cells;
use crate::sharing::Sharing;
use crate::stacks::{StackId, Stacks};
use crate::stop::Stop;
use crate::units::{UnitId, UnitSettings, UnitTable, Units};
use pass::Pass;
use ravel_trace::{Names, SiteId, Source, SourceError};
use std::sync::Mutex;

pub use crate::batch::{Access, BatchStep, Happened, View};

/// What an analysis wants the engine to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// Clocks of the hard order.
    pub hard: bool,
    /// Clocks of the full order.
    pub full: bool,
    /// Ids of past hard clocks ([`Access::clock`], [`Happened::clock`]) and [`Order::before_without`].
    pub history: bool,
    /// The units of every access.
    pub units: bool,
    /// The outermost unit even before its first access ([`Happened::transaction`]).
    pub transactions: bool,
    /// Whether accesses are repetitions ([`Access::repeated`]); without it none is said to be.
    pub repeats: bool,
    /// Accesses to locations on which no two conflict, as well ([`crate::sharing`]).
    pub every: bool,
}

impl Needs {
    /// What either needs.
    pub fn and(self, other: Needs) -> Needs {
        Needs {
            hard: self.hard || other.hard,
            full: self.full || other.full,
            history: self.history || other.history,
            units: self.units || other.units,
            transactions: self.transactions || other.transactions,
            repeats: self.repeats || other.repeats,
            every: self.every || other.every,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct ThreadState {
    locks: LocksetId,
    stack: StackId,
    /// The program's call inside which the thread runs code of the JDK, if it does.
    call: SiteId,
}

/// What the engine keeps.
#[derive(Debug, Default)]
pub struct EngineState {
    threads: Vec<ThreadState>,
    /// Sets of locks.
    pub locksets: Locksets,
    /// Call stacks.
    pub stacks: Stacks,
    /// Clocks.
    pub order: Order,
    /// Units; complete at the end of the trace.
    pub units: UnitTable,
    /// Locations.
    pub cells: Cells,
    open: Units,
}

/// What an analysis sees when the trace has ended.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The trace's tables.
    pub names: &'a Names,
    /// What the engine keeps.
    pub state: &'a EngineState,
    /// Whether to go on with what takes long.
    pub stop: &'a Stop<'a>,
}

/// An analysis: handlers of events, and reports at the end.
pub trait Analysis: Send {
    /// Its name, as `--analyses` takes it.
    fn name(&self) -> &'static str;

    /// What it wants kept.
    fn needs(&self) -> Needs;

    /// The settings of the pass that is about to begin.
    fn set_up(&mut self, settings: &UnitSettings) {
        let _ = settings;
    }

    /// A read, write or update.
    fn access(&mut self, view: &View, access: &Access) {
        let _ = (view, access);
    }

    /// Any other event, but for calls and returns: units and stacks tell of those.
    fn event(&mut self, view: &View, event: &Happened) {
        let _ = (view, event);
    }

    /// A unit that owned an access has ended, by the event of this number.
    fn unit_end(&mut self, view: &View, unit: UnitId, index: u64) {
        let _ = (view, unit, index);
    }

    /// Goes through a batch, step by step.
    fn batch(&mut self, view: &View) {
        for step in view.steps() {
            match step {
                BatchStep::Access(access) => self.access(view, access),
                BatchStep::Event(event) => self.event(view, event),
                BatchStep::UnitEnd(unit, index) => self.unit_end(view, *unit, *index),
            }
        }
    }

    /// The trace has ended; every unit that was still open has ended too.
    fn finish(&mut self, cx: &Context<'_>) -> Vec<RawReport>;

    /// What was left out at a bound so far, each as a sentence for the user; empty if nothing was.
    fn left_out(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What an analysis left out, as sentences: of each number that is not 0, with what it counts.
pub(crate) fn left_out<'a>(analysis: &str, counts: impl IntoIterator<Item = (u64, &'a str)>) -> Vec<String> {
    let some = counts.into_iter().filter(|(count, _)| *count > 0);
    some.map(|(count, what)| format!("{analysis} left out {} {}", number(count), in_number(count, what)))
        .collect()
}

/// Words that begin with a plural, with the singular for one: `units of a method`, `unit of a method`.
fn in_number(count: u64, what: &str) -> String {
    let mut words: Vec<&str> = what.split(' ').collect();
    if count == 1
        && let Some(noun) = words.iter_mut().take(2).find(|word| word.ends_with('s'))
    {
        *noun = noun
            .strip_suffix("sses")
            .map_or(&noun[..noun.len() - 1], |_| &noun[..noun.len() - 2]);
    }
    words.join(" ")
}

/// What a pass gives.
#[derive(Debug)]
pub struct PassResult {
    /// Observations, analysis by analysis in the order given.
    pub reports: Vec<RawReport>,
    /// What was left out at a bound, as sentences.
    pub left_out: Vec<String>,
    /// The engine's tables, to give the reports names.
    pub state: EngineState,
    /// How many events there were.
    pub events: u64,
    /// How many threads did something.
    pub threads: u64,
    /// Why reading stopped before the end of the trace, if it did.
    pub error: Option<SourceError>,
    /// Whether the search was cut short because the user asked for it.
    pub stopped: bool,
}

/// The engine.
pub struct Engine<'a> {
    settings: &'a UnitSettings,
    analyses: Vec<Box<dyn Analysis>>,
    needs: Needs,
    threads: usize,
    stop: &'a (dyn Fn() -> bool + Sync),
    own_threads: usize,
}

impl<'a> Engine<'a> {
    /// An engine for these analyses, on one core.
    pub fn new(settings: &'a UnitSettings, mut analyses: Vec<Box<dyn Analysis>>) -> Self {
        analyses.iter_mut().for_each(|analysis| analysis.set_up(settings));
        let mut needs = analyses.iter().fold(Needs::default(), |n, a| n.and(a.needs()));
        needs.hard |= needs.history;
        needs.units |= needs.transactions;
        Engine {
            settings,
            analyses,
            needs,
            threads: 1,
            stop: &|| false,
            own_threads: chains::OWN,
        }
    }

    /// So many threads keep their numbers during the pass.
    #[cfg(test)]
    fn own_threads(mut self, own: usize) -> Self {
        self.own_threads = own;
        self
    }

    /// Asks now and then whether the user has had enough; what takes long after the trace is read is then cut short.
    #[must_use]
    pub fn stop_when(mut self, stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        self.stop = stop;
        self
    }

    /// On so many cores. The outcome is the same on any number.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Reads a trace to its end. A source that fails ends the trace there; the reports on what was read remain.
    pub fn run(mut self, source: &mut dyn Source) -> PassResult {
        let (sharing, sections) = self.first_look(source);
        let mut pass = Pass::new(self.settings, self.needs, sharing, sections, self.own_threads);
        let mut view = View::default();
        pass.fill(source);
        while !pass.batch.steps.is_empty() {
            view.turn(&mut pass.batch, &pass.state.locksets);
            if self.threads == 1 {
                self.analyses.iter_mut().for_each(|analysis| analysis.batch(&view));
                pass.fill(source);
            } else {
                self.share(&view, || pass.fill(source));
            }
        }
        // The births and ends of the last, empty batch.
        view.turn(&mut pass.batch, &pass.state.locksets);
        let (mut state, chains) = (pass.state, pass.chains);
        state.units = view.units;
        let stop = Stop::new(self.stop);
        let cx = Context {
            names: source.names(),
            state: &state,
            stop: &stop,
        };
        let (mut reports, mut left_out) = self.finish(&cx);
        for step in reports.iter_mut().flat_map(|report| &mut report.steps) {
            step.location = step.location.map(|location| state.cells.named(location));
            step.point.thread = chains.thread(step.point.thread, step.point.index);
        }
        state.units.rename_threads(|chain, index| chains.thread(chain, index));
        if state.order.coarse() > 0 {
            left_out.push(format!(
                "the order of events is approximate after the first {} moments",
                crate::order::MOMENTS
            ));
        }
        let stopped = stop.was_heeded();
        if stopped {
            left_out.push("interrupted: the events were not analysed to the end".to_owned());
        }
        PassResult {
            stopped,
            reports,
            left_out,
            events: pass.index,
            threads: chains.threads() as u64,
            state,
            error: pass.error,
        }
    }

    /// Reads the trace once for [`Sharing`] and [`Sections`], if that is possible. For the first alone it may not be worth its time.
    fn first_look(&self, source: &mut dyn Source) -> (Option<Sharing>, Sections) {
        let worth = (self.analyses.len() > 1 || self.needs.history) && !self.needs.every;
        if !worth && !has_optimistic_reads(source.names()) {
            return (None, Sections::default());
        }
        let Some(mut first) = source.again() else {
            return (None, Sections::default());
        };
        let mut search = SectionSearch::default();
        let sharing = Sharing::of(first.as_mut(), self.stop, |names, index, event| {
            search.step(names, index, event)
        });
        (worth.then_some(sharing), search.finish(first.names()))
    }

    /// Gives a batch to all analyses, on all cores, while this thread first does something else.
    fn share(&mut self, view: &View, meanwhile: impl FnOnce()) {
        let waiting = Mutex::new(self.analyses.iter_mut());
        let work = || {
            let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
            while let Some(analysis) = next() {
                analysis.batch(view);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads {
                scope.spawn(work);
            }
            meanwhile();
            work();
        });
    }

    fn finish(&mut self, cx: &Context<'_>) -> (Vec<RawReport>, Vec<String>) {
        let analyses = self.analyses.iter_mut();
        let work = |analysis: &mut Box<dyn Analysis>| (analysis.finish(cx), analysis.left_out());
        let done: Vec<(Vec<RawReport>, Vec<String>)> = if self.threads == 1 {
            analyses.map(work).collect()
        } else {
            let mut done: Vec<Option<(Vec<RawReport>, Vec<String>)>> = Vec::new();
            done.resize_with(analyses.len(), || None);
            let waiting = Mutex::new(analyses.zip(&mut done));
            std::thread::scope(|scope| {
                for _ in 0..self.threads {
                    scope.spawn(|| {
                        let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
                        while let Some((analysis, slot)) = next() {
                            *slot = Some(work(analysis));
                        }
                    });
                }
            });
            done.into_iter().flatten().collect()
        };
        let (mut reports, mut left_out) = (Vec::new(), Vec::new());
        for (mut some, mut words) in done {
            reports.append(&mut some);
            left_out.append(&mut words);
        }
        (reports, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use crate::units::UnitSettings;
    use fastrand::Rng;
    use ravel_trace::memory::MemoryTrace;
    use ravel_trace::text::parse;
    use std::collections::BTreeSet;
    use std::fmt::Write;

    /// Waves of threads: `main` starts some, which access three variables with and without a lock, joins most of them, and starts the next.
    fn waves(rng: &mut Rng) -> String {
        let names: Vec<String> = (0..12).map(|n| format!("t{n}")).collect();
        let mut text = format!("main | {}\n", names.join(" | "));
        let mut say = |column: usize, what: &str| {
            let _ = writeln!(text, "{}{what}", " | ".repeat(column));
        };
        let mut line = 1;
        for wave in 0..4 {
            for thread in 0..3 {
                say(0, &format!("fork t{}", wave * 3 + thread));
            }
            for _ in 0..rng.usize(4..10) {
                let column = 1 + wave * 3 + rng.usize(0..3);
                let kind = if rng.bool() { "r" } else { "w" };
                let access = format!("{kind} {} @{line}", ["x", "y", "z"][rng.usize(0..3)]);
                line += 1;
                if rng.usize(0..3) == 0 {
                    say(column, "acq l");
                    say(column, &access);
                    say(column, "rel l");
                } else {
                    say(column, &access);
                }
            }
            for thread in 0..3 {
                say(1 + wave * 3 + thread, "end");
                if rng.usize(0..4) > 0 {
                    say(0, &format!("join t{}", wave * 3 + thread));
                }
            }
            if rng.usize(0..3) == 0 {
                say(0, &format!("r x @{line}"));
                line += 1;
            }
        }
        text
    }

    /// The pairs of sites that race, and the threads of each report by name of their sites.
    fn races(trace: &mut MemoryTrace, own: usize) -> BTreeSet<(u32, u32)> {
        trace.rewind();
        let analyses = vec![registry::by_name("race").expect("a known analysis")];
        let settings = UnitSettings::default();
        let outcome = Engine::new(&settings, analyses).own_threads(own).run(trace);
        let mut pairs = BTreeSet::new();
        for report in &outcome.reports {
            let [a, b] = [0, 1].map(|step| report.steps[step].point.site.0);
            pairs.insert((a.min(b), a.max(b)));
        }
        // Each site is that of one thread alone, so that the event tells whether the thread is right.
        trace.rewind();
        let mut events = Vec::new();
        while let Ok(Some(event)) = trace.next_event() {
            events.push(event);
        }
        for step in outcome.reports.iter().flat_map(|report| &report.steps) {
            assert_eq!(step.point.thread, events[step.point.index as usize].thread);
        }
        pairs
    }

    #[test]
    fn what_is_left_out_is_counted_in_words() {
        let counts = [
            (1, "units of methods"),
            (2, "units of methods"),
            (1, "further places"),
            (1, "accesses"),
        ];
        assert_eq!(
            left_out("race", counts.into_iter().chain([(0, "steps"), (1200, "steps")])),
            [
                "race left out 1 unit of methods",
                "race left out 2 units of methods",
                "race left out 1 further place",
                "race left out 1 access",
                "race left out 1,200 steps",
            ]
        );
    }

    #[test]
    fn chains_of_threads_change_no_race() {
        let mut found = 0;
        for seed in 0..300 {
            let text = waves(&mut Rng::with_seed(seed));
            let mut trace = parse(&text).expect("a trace");
            let apart = races(&mut trace, usize::MAX);
            assert_eq!(races(&mut trace, 0), apart, "seed {seed}\n{text}");
            assert_eq!(races(&mut trace, 4), apart, "seed {seed}\n{text}");
            found += apart.len();
        }
        assert!(found > 300, "{found} races in all");
    }
}
