//! The way of one finding: its occurrences, their schedules, the runs, and what they are compared with.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use ravel_analysis::finding::{Candidate, Evidence, Finding, Outcome, OutcomeKind};
use ravel_analysis::limit::{Limit, LimitKind};
use ravel_schedule::{
    CheckVerdict, Contenders, Effort, Generated, Goal, Image, Leave, Schedule, Shape, Start, generate, generate_from,
    naming,
};
use ravel_trace::{Event, Names};
use rustc_hash::FxHashSet;

use super::clock::Clock;
use super::divergence::{RecordedPath, Shifts, TurnsFound};
use super::endings::{self, Ending};
use super::marks::{Marks, key_given};
use super::objects::Objects;
use super::ordered;
use super::retell::ToldAccess;
use super::runs::Runs;
use super::surroundings::left;
use super::{ForcingLine, Recorded, Tally};
use crate::runner::Forced;
use crate::words;

/// Occurrences of one finding that are tried before it is given up.
const MOST_CANDIDATES: usize = 24;
/// Occurrences that did not happen before it is given up.
const MOST_FAILURES: usize = 4;
/// Runs of one finding after which no further occurrence is tried.
const MOST_RUNS: usize = 48;
/// Runs that a finding may need at most before every other one had its first try.
const FIRST_TRY: usize = 9;
/// Runs from which an occurrence that has not happened yet learns turn by turn.
const MOST_LESSONS: usize = 2;
/// Events before an occurrence that make no difference.
const FEW: u64 = 10_000;

/// What it takes to prove one finding; several work side by side on the same trace.
pub struct Prover<'a> {
    pub(super) image: &'a Image,
    runs: &'a Runs<'a>,
    pub(super) marks: &'a Marks,
    pub(super) path: &'a RecordedPath<'a>,
    /// No run is begun after this.
    time: Time<'a>,
    /// Runs that this finding needs, whether they were made for it or not: schedule and number.
    needed: FxHashSet<(Schedule, usize)>,
    /// How many of the trace's events schedules are made of, if not of all.
    cut: Option<u64>,
    /// Which runs may stand for others.
    pub(super) sparing: Sparing,
    /// What was tried.
    pub tally: Tally,
    /// Whether a run went another way than its schedule, which may be for lack of a processor.
    pub disturbed: bool,
    /// Whether runs of this finding went on side by side.
    pub beside: bool,
    /// Whether more could have been tried with more time.
    pub cut_short: bool,
}

/// The time that there is.
#[derive(Clone, Copy)]
pub struct Time<'a> {
    /// What time it is.
    pub clock: &'a dyn Clock,
    /// When everything ends.
    pub total: Instant,
    /// When this finding has had its share.
    pub share: Instant,
    /// Whether it has its first try only: there is little time, and the others come before its second.
    pub first_try: bool,
}

impl Time<'_> {
    fn is_over(self) -> bool {
        self.clock.now() >= self.share.min(self.total)
    }

    /// Why nothing more is tried.
    fn limit(self) -> Limit {
        if self.clock.is_interrupted() {
            return Limit::new("interrupted", [LimitKind::Interrupted]);
        }
        let words = match self.clock.now() < self.total {
            true => "its share of the time ran out (--budget)",
            false => "the time ran out (--budget)",
        };
        Limit::new(words, [LimitKind::Budget])
    }
}

/// Whether a run that was made under another schedule may stand for one that would be the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Sparing {
    /// Every run is made: the result is evidence.
    #[default]
    Nothing,
    /// It may.
    Allowed,
    /// It did.
    Done,
}

/// A way round in which the events of an occurrence count as the pattern.
pub(super) struct Way {
    pub(super) candidate: Candidate,
    pub(super) goal: Goal,
    /// Whether other code writes to the same locations as well.
    pub(super) contended: bool,
    /// Whether several threads of the pattern go on after it.
    pub(super) goes_on: bool,
    /// Schedules that have the pattern, each with the endings that were not tried and the start that it has in common with serial orders.
    pub(super) schedules: VecDeque<(VecDeque<Ending>, Option<Start>)>,
    /// Whether it happened under the first of them; the others are gone then.
    pub(super) happened: bool,
}

/// What an ending of an occurrence that happened came to.
struct EndingTold {
    /// What the schedule was learnt from, if its runs leave the recorded path.
    went: Option<Went>,
    /// Why it is not harmful, empty if it is.
    limit: Limit,
    /// Whether its outcome may be harm.
    may_harm: bool,
}

/// Runs that had the pattern.
pub(super) struct Happened {
    pub(super) runs: Vec<Arc<Forced>>,
    /// The schedule that they were forced into.
    pub(super) schedule: Schedule,
    pub(super) shifts: Shifts,
    /// What the schedule was learnt from, if its runs leave the recorded path.
    pub(super) went: Option<Went>,
}

/// How a schedule was learnt whose runs leave the recorded path.
#[derive(Clone)]
pub(super) enum Went {
    /// From a whole run: its threads always pass other points.
    Whole(Arc<Forced>),
    /// Turn by turn: they do because of the order.
    Turns(TurnsFound),
}

impl Went {
    fn learn(&self, path: &RecordedPath<'_>, schedule: &Schedule) -> Option<(Schedule, Shifts)> {
        match self {
            Went::Whole(run) => path.learn(schedule, run),
            Went::Turns(turns) => Some((turns.applied(schedule), turns.shifts())),
        }
    }
}

impl<'a> Prover<'a> {
    /// Nothing tried yet.
    pub fn new(recorded: &'a Recorded<'a>, runs: &'a Runs<'a>, time: Time<'a>) -> Prover<'a> {
        Prover {
            image: &recorded.image,
            runs,
            marks: &recorded.marks,
            path: &recorded.path,
            time,
            needed: FxHashSet::default(),
            cut: recorded.cut,
            sparing: Sparing::default(),
            tally: Tally::default(),
            disturbed: false,
            beside: false,
            cut_short: false,
        }
    }

    /// Forces a finding, if there is time for it.
    pub fn attempt(&mut self, finding: &mut Finding, line: &ForcingLine<'_>) -> Result<()> {
        if self.time.clock.is_interrupted() {
            self.give_up(finding, Limit::interrupted());
            return Ok(());
        }
        if self.is_over() {
            self.cut_short = true;
            self.give_up(finding, Limit::no_time());
            return Ok(());
        }
        line.begins(finding);
        self.finding(finding)
    }

    pub(super) fn is_over(&self) -> bool {
        let had_first_try = self.time.first_try && self.needed.len() >= FIRST_TRY;
        had_first_try || self.time.is_over() || self.time.clock.is_interrupted()
    }

    fn give_up(&mut self, finding: &mut Finding, reason: Limit) {
        // Directed runs came first: how they fared says more than that no schedule was tried.
        let untried = reason.has(LimitKind::NotTried);
        if finding.limit.is_some() && (untried || finding.evidence >= Evidence::Confirmed) {
            return;
        }
        finding.limit = Some(reason.clone());
        self.tally.reasons.push((finding.id.clone(), reason));
    }

    fn finding(&mut self, finding: &mut Finding) -> Result<()> {
        let mut reason: Limit = match self.cut {
            Some(cut) if !finding.candidates.is_empty() => {
                format!("it occurs only after the first {cut} events of the trace, and schedules cover only those")
                    .into()
            }
            _ => "the trace has no occurrence of it to force".into(),
        };
        let (mut scheduled, mut failures, mut happened) = (false, 0, false);
        for candidate in self.by_promise(finding) {
            if self.is_over() {
                self.cut_short = true;
                reason = match (self.needed.is_empty(), happened) {
                    (true, _) => self.time.limit(),
                    (false, false) => reason.then(self.time.limit()),
                    (false, true) => reason,
                };
                break;
            }
            if failures >= MOST_FAILURES || self.needed.len() >= MOST_RUNS {
                break;
            }
            if self.time.first_try && !self.needed.is_empty() {
                self.cut_short = true;
                break;
            }
            let needed = self.needed.len();
            match self.candidate(finding, &candidate, &mut scheduled)? {
                Ok(limit) => {
                    happened = true;
                    reason = limit;
                    if finding.evidence == Evidence::Harmful {
                        break;
                    }
                }
                Err(why) => {
                    // Only what was run costs time.
                    let tried = self.needed.len() > needed;
                    failures += usize::from(tried);
                    if !happened && (tried || failures == 0) && !why.is_empty() {
                        reason = why;
                    }
                }
            }
        }
        self.tally.scheduled += usize::from(scheduled);
        self.tally.happened += usize::from(happened);
        if !self.needed.is_empty() {
            self.tally.forced.insert(finding.id.clone());
        }
        if !reason.is_empty() {
            self.give_up(finding, reason);
        }
        Ok(())
    }

    /// The occurrences to try: those of code that was not tried yet come first, then those that much less comes before.
    fn by_promise(&self, finding: &Finding) -> Vec<Candidate> {
        let mut seen = BTreeSet::new();
        let last = |candidate: &Candidate| candidate.events.iter().map(|event| event.index).max().unwrap_or(0);
        let within = |candidate: &&Candidate| self.cut.is_none_or(|cut| last(candidate) < cut);
        let mut all: Vec<(bool, u32, &Candidate)> = finding
            .candidates
            .iter()
            .filter(within)
            .map(|candidate| {
                let sites = candidate.events.iter().map(|event| self.marks.get(event.index));
                let code: Vec<_> = sites.map(|mark| mark.map(|mark| (&mark.thread, &mark.site))).collect();
                (
                    !seen.insert(code),
                    (last(candidate) / FEW).checked_ilog2().map_or(0, |log| log + 1),
                    candidate,
                )
            })
            .collect();
        all.sort_by_key(|(again, before, _)| (*again, *before));
        let chosen = all.into_iter().take(MOST_CANDIDATES);
        chosen.map(|(.., candidate)| candidate.clone()).collect()
    }

    /// Forces one occurrence. Why it got no further if it happened (empty if there is no further), or why it did not happen.
    fn candidate(
        &mut self,
        finding: &mut Finding,
        candidate: &Candidate,
        scheduled: &mut bool,
    ) -> Result<Result<Limit, Limit>> {
        let mut candidate = candidate.clone();
        self.marks.add_units(&mut candidate);
        let Some(mut goal) = Goal::of_candidate(finding.rule, &candidate) else {
            return Ok(Err("the trace has no occurrence of it to force".into()));
        };
        self.marks.add_ends(&candidate, &mut goal);
        let contenders = Contenders::of(self.image, &goal);
        let contended = contenders.is_contended();
        let mut result = Err(Limit::default());
        let mut ways = Vec::new();
        for (candidate, goal) in ways_round(&candidate, &goal) {
            let began = Instant::now();
            let made = self.schedules(&goal);
            self.tally.scheduling += began.elapsed();
            match made {
                Ok(made) => {
                    *scheduled = true;
                    let mut schedules = Vec::new();
                    for (made, start) in made {
                        if made.verdict == CheckVerdict::Witnessed {
                            finding.evidence = finding.evidence.max(Evidence::Witnessed);
                        }
                        let endings =
                            endings::endings(self.image, self.marks, &candidate, &goal, &contenders, &made.schedule);
                        schedules.push((endings.into(), start));
                    }
                    ways.push(Way {
                        goes_on: endings::goes_on(self.image, &candidate, &goal),
                        candidate,
                        goal,
                        contended,
                        schedules: schedules.into(),
                        happened: false,
                    });
                }
                Err(error) => result = Err(error),
            }
        }
        let mut went = None;
        let mut may_harm = false;
        // What the threads do next is varied only when every way round was tried.
        while !ways.is_empty() {
            let mut left = Vec::new();
            for mut way in ways {
                // A pattern that does not happen from a common start may do so from elsewhere.
                while let Some((mut endings, start)) = way.schedules.pop_front() {
                    let Some(ending) = endings.pop_front() else {
                        break;
                    };
                    if self.is_over() {
                        self.cut_short = true;
                        return Ok(result);
                    }
                    match self.ending(finding, &way, (&ending, start.as_ref()), result.is_err(), went.as_ref())? {
                        Ok(told) => {
                            went = went.or(told.went);
                            may_harm |= told.may_harm;
                            // With other writers, only an ending in which these come later can be compared.
                            let tells_more = ending.keeps_others_away() == contended && !may_harm;
                            if result.is_err() || told.may_harm || tells_more || told.limit.is_empty() {
                                result = Ok(told.limit);
                            }
                            if finding.evidence == Evidence::Harmful {
                                return Ok(result);
                            }
                            way.schedules.clear();
                            way.happened = true;
                        }
                        Err(why) => {
                            if finding.schedule.is_empty() {
                                finding.schedule = ending.schedule.to_pairs();
                            }
                            if result.is_err() {
                                result = Err(why);
                            }
                            // The pattern comes before what the threads do next: that would not change it. Without a thread that was held back it
                            // may happen.
                            if !way.happened && ending.held_back.is_empty() {
                                continue;
                            }
                        }
                    }
                    way.schedules.push_front((endings, start));
                    left.push(way);
                    break;
                }
            }
            ways = left;
        }
        Ok(result)
    }

    /// Forces an occurrence with one of its endings and judges it; why it did not happen. Runs that were made for something else may stand for
    /// those of a finding that has happened, as long as they show neither harm nor that it does not happen this time.
    fn ending(
        &mut self,
        finding: &mut Finding,
        way: &Way,
        (ending, start): (&Ending, Option<&Start>),
        first: bool,
        went: Option<&Went>,
    ) -> Result<Result<EndingTold, Limit>> {
        self.sparing = match finding.evidence >= Evidence::Confirmed {
            true => Sparing::Allowed,
            false => Sparing::Nothing,
        };
        loop {
            let told = self.ending_once(finding, way, (ending, start), first, went)?;
            let is_final = matches!(&told, Ok(Some(_))) || told.is_err() && self.sparing != Sparing::Done;
            self.sparing = Sparing::Nothing;
            match told {
                Ok(Some(told)) => return Ok(Ok(told)),
                Err(why) if is_final => return Ok(Err(why)),
                _ => {}
            }
        }
    }

    /// The same with such runs as may be used now; none if they would show harm, and some were made for something else.
    fn ending_once(
        &mut self,
        finding: &mut Finding,
        way: &Way,
        (ending, start): (&Ending, Option<&Start>),
        first: bool,
        went: Option<&Went>,
    ) -> Result<Result<Option<EndingTold>, Limit>> {
        let wanted = if finding.evidence < Evidence::Confirmed { 2 } else { 1 };
        let attempt = self.confirm((&way.candidate, &way.goal), &ending.schedule, (first, wanted), went)?;
        let happened = match attempt {
            Ok(happened) => happened,
            Err(why) => return Ok(Err(why)),
        };
        let schedule = happened.schedule.clone();
        let went = happened.went.clone();
        let (accesses, objects) = self.accesses(&way.candidate, &happened);
        if first && finding.evidence < Evidence::Confirmed {
            finding.schedule = schedule.to_pairs();
            self.marks
                .retell(finding, &way.candidate, &accesses, self.image.thread_names());
        }
        let before = finding.outcome.clone();
        let Some(limit) = self.judge(finding, way, happened, (ending, start), &objects)? else {
            return Ok(Ok(None));
        };
        if finding.evidence == Evidence::Harmful {
            finding.schedule = schedule.to_pairs();
            self.marks
                .retell(finding, &way.candidate, &accesses, self.image.thread_names());
        }
        // An outcome that may be harm has its own reason why that is not certain.
        let is_normal = |outcome: &Outcome| outcome.kind == OutcomeKind::Normal;
        let may_harm = finding.outcome != before && !finding.outcome.as_ref().is_some_and(is_normal);
        Ok(Ok(Some(EndingTold { went, limit, may_harm })))
    }

    /// The schedules of a goal: from a common start of its units, if there is one, then from anywhere. Why there is none.
    fn schedules(&self, goal: &Goal) -> Result<Vec<(Generated, Option<Start>)>, Limit> {
        let effort = Effort::default();
        let start = (goal.shape != Shape::Blocked)
            .then(|| Start::of(self.image, goal, &effort))
            .flatten();
        let from_start = start.and_then(|start| {
            let made = generate_from(self.image, goal, &effort, &start)?;
            Some((made, Some(start)))
        });
        let anywhere = generate(self.image, goal, &effort).map(|made| (made, None));
        match (from_start, anywhere) {
            (None, Err(error)) => Err(error.to_string().into()),
            (from_start, anywhere) => Ok(from_start.into_iter().chain(anywhere).collect()),
        }
    }

    /// What the events of a candidate read and wrote when it happened, in the run whose outcome is told, and the objects among that.
    fn accesses(&self, candidate: &Candidate, happened: &Happened) -> (Vec<ToldAccess>, Objects) {
        let Some(run) = happened.runs.first() else {
            return Default::default();
        };
        let Some((events, names)) = run.trace.as_ref() else {
            return Default::default();
        };
        let found = self
            .marks
            .find(candidate, &happened.shifts, events, names)
            .unwrap_or_default();
        let values: Vec<Option<String>> = found.iter().map(|at| names.value_text(&events[*at])).collect();
        let objects = Objects::of(values.iter().map(Option::as_ref));
        let told = found.into_iter().zip(values).map(|(at, value)| ToldAccess {
            value: value.map(|value| objects.told(&value)),
            part: names.part_text(&events[at]),
            key: key_given(&events[at], run.call_before(at, events[at].thread), names),
        });
        (told.collect(), objects)
    }

    /// A schedule's run of this number, from 0, or one that stands for it, where that may be.
    pub(super) fn run(&mut self, schedule: &Schedule, number: usize) -> Result<Arc<Forced>> {
        if self.sparing != Sparing::Nothing
            && number == 0
            && let Some(run) = self.runs.like(schedule)
        {
            self.sparing = Sparing::Done;
            self.tally.spared += 1;
            return Ok(run);
        }
        let start = Instant::now();
        let (run, new) = self.runs.get(schedule, number)?;
        self.tally.replaying += start.elapsed();
        self.tally.runs += usize::from(new);
        self.needed.insert((schedule.clone(), number));
        Ok(run)
    }

    /// Makes runs side by side that are about to be asked for, so many of each schedule, where that can be: an expectation that may fail, and costs
    /// no time then.
    pub(super) fn expect(&mut self, mut wanted: Vec<(Schedule, usize)>) {
        if self.sparing != Sparing::Nothing {
            wanted.retain(|(schedule, _)| self.runs.like(schedule).is_none());
        }
        if self.is_over() || wanted.is_empty() {
            return;
        }
        let start = Instant::now();
        let made = self.runs.make_ahead(&wanted);
        self.tally.replaying += start.elapsed();
        self.tally.runs += made;
        self.beside |= made > 0;
    }

    /// So many runs out of as many must have the pattern: two, until the finding is confirmed. With `first`, the occurrence has not been seen to
    /// happen yet; `went` tells which other points the threads pass on the way there, if they do.
    fn confirm(
        &mut self,
        (candidate, goal): (&Candidate, &Goal),
        schedule: &Schedule,
        (first, wanted): (bool, usize),
        went: Option<&Went>,
    ) -> Result<Result<Happened, Limit>> {
        let mut runs = Vec::new();
        let (mut retry, mut number) = (first, 0);
        let mut lessons = if first { MOST_LESSONS } else { 0 };
        let recorded = schedule;
        let known = went.and_then(|went| went.learn(self.path, recorded));
        let (mut schedule, mut shifts) = known.unwrap_or_else(|| (recorded.clone(), Shifts::default()));
        let mut went = None;
        // What the turns of the first run were, until it is known that learning from the whole of it does not help.
        let mut first_turns = None;
        self.expect(vec![(schedule.clone(), wanted)]);
        while runs.len() < wanted {
            let run = self.run(&schedule, number)?;
            number += 1;
            if let (Some(Went::Turns(_)), true) = (&went, runs.is_empty())
                && let Some(turns) = self.path.turns(recorded, &schedule, &run)
            {
                shifts = turns.shifts();
                went = Some(Went::Turns(turns));
            }
            let lesson = |first: &mut Option<TurnsFound>| match &went {
                Some(Went::Turns(turns)) => Some(turns.clone()),
                _ => first.take(),
            };
            match self.happened(candidate, goal, &shifts, &run) {
                Ok(()) => runs.push(run),
                // The first try may meet classes that are not loaded yet, or a machine that was busy; or the threads pass
                // other points than they did when they were recorded, which is then known.
                Err(_) if retry && runs.is_empty() => {
                    retry = false;
                    first_turns = self.path.turns(recorded, &schedule, &run);
                    if let Some(learnt) = self.path.learn(&schedule, &run) {
                        (schedule, shifts) = learnt;
                        number = 0;
                        went = Some(Went::Whole(run));
                    }
                }
                Err(why) => {
                    // Or they do so because of the order.
                    let turns = (runs.is_empty() && lessons > 0 && !self.is_over())
                        .then(|| lesson(&mut first_turns))
                        .flatten()
                        .filter(|turns| turns.misplaced && turns.applied(recorded) != schedule);
                    if let Some(turns) = turns {
                        lessons -= 1;
                        (schedule, shifts) = (turns.applied(recorded), turns.shifts());
                        number = 0;
                        went = Some(Went::Turns(turns));
                        continue;
                    }
                    let place = self.path.first_divergence(&schedule, &run);
                    self.disturbed |= place.as_ref().is_none_or(|place| !place.by_order);
                    return Ok(Err(match place {
                        Some(place) => why.because(place.limit()),
                        None => why,
                    }));
                }
            }
        }
        Ok(Ok(Happened {
            runs,
            schedule,
            shifts,
            went,
        }))
    }

    /// Whether a run had the candidate's events, by the same threads at the same places, in the wanted order.
    pub(super) fn happened(
        &self,
        candidate: &Candidate,
        goal: &Goal,
        shifts: &Shifts,
        run: &Forced,
    ) -> Result<(), Limit> {
        if goal.shape == Shape::Blocked {
            return match run.deadlock() {
                Some(threads) if self.threads_of(candidate).iter().all(|name| threads.contains(name)) => Ok(()),
                Some(_) => Err("other threads deadlocked".into()),
                None if run.complete() => Err("the threads did not deadlock".into()),
                None => Err(words::left_schedule(words::failure(run))),
            };
        }
        let slipped = |why: Limit| match run.slip() {
            Some(slip) => words::left_schedule(words::lost_turn(slip)),
            None => why,
        };
        let Some((events, names)) = &run.trace else {
            return Err(Limit::from("the run left no trace").because(words::failure(run)));
        };
        // Turns after the pattern may be cut short by the program's end.
        let found = match self.marks.find(candidate, shifts, events, names) {
            Ok(found) => found,
            Err(_) if !run.complete() => return Err(words::left_schedule(words::failure(run))),
            Err(why) => return Err(slipped(why.into())),
        };
        if found.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(slipped("the accesses happened in another order".into()));
        }
        if !self.is_in_units((candidate, goal), shifts, run, (&found, events, names)) {
            return Err("an access of the pattern came after its unit".into());
        }
        let first = events[found[0]].op.location();
        if goal.shape == Shape::Adjacent && events[found[found.len() - 1]].op.location() != first {
            return Err("the accesses were to different objects".into());
        }
        let last = found[found.len() - 1];
        // What was left out may have ordered them.
        if goal.shape == Shape::Adjacent && run.partial {
            return Err("the run was too long to record everything that may order the accesses".into());
        }
        if goal.shape == Shape::Adjacent && ordered::is_ordered(&events[found[0]..=last], names) {
            return Err(slipped("synchronisation ordered the accesses".into()));
        }
        Ok(())
    }

    /// Whether the events that were found lie before the ends of their units, as far as the run tells. Where threads pass other points than when they were
    /// recorded, an access may be taken for that of a later unit.
    fn is_in_units(
        &self,
        (candidate, goal): (&Candidate, &Goal),
        shifts: &Shifts,
        run: &Forced,
        (found, events, names): (&[usize], &[Event], &Names),
    ) -> bool {
        if *shifts == Shifts::default() {
            return true;
        }
        let paths = naming::thread_names(names, names.threads.len());
        let end = |owner: usize| {
            let (unit, span) = (candidate.units.get(owner)?, goal.units.get(owner)?);
            let mark = self.marks.get(unit.begin.index)?;
            let begin = shifts.position(&mark.thread, span.begin);
            let is_method = matches!(span.leave, Some(Leave::Frame { .. }));
            let method = mark.method.as_deref().filter(|_| is_method)?;
            left(&run.frames, names, &paths, (&mark.thread, method, begin))
        };
        let is_inside = |(&place, owner): (&usize, &Option<usize>)| {
            let end = owner.and_then(end);
            end.is_none_or(|end| events[place].position <= end)
        };
        found.iter().zip(&candidate.owners).all(is_inside)
    }

    /// The names of the threads of a candidate's events.
    pub(super) fn threads_of(&self, candidate: &Candidate) -> BTreeSet<String> {
        let names = self.image.thread_names();
        let threads = candidate.events.iter().map(|event| event.thread.index());
        threads
            .filter_map(|thread| names.get(thread))
            .map(|name| name.name.clone())
            .collect()
    }
}

/// The orders in which a candidate's events count as the pattern. Those of a race are two, and the one that was not
/// recorded comes first: the recorded one is known to do no harm.
fn ways_round(candidate: &Candidate, goal: &Goal) -> Vec<(Candidate, Goal)> {
    let mut ways = vec![(candidate.clone(), goal.clone())];
    if goal.shape == Shape::Adjacent {
        let (mut candidate, mut goal) = (candidate.clone(), goal.clone());
        candidate.events.reverse();
        candidate.owners.reverse();
        goal.events.reverse();
        ways.push((candidate, goal));
        ways.sort_by_key(|(candidate, _)| candidate.events.is_sorted_by_key(|event| event.index));
    }
    ways
}
