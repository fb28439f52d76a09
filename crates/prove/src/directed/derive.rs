//! From an occurrence of a finding to the goals of a directed run: roles, steps and hold points.

use ravel_analysis::finding::{Candidate, Rule};
use ravel_protocol::goal::{CodeMethod, CodeSite, Goal, GoalShape, GoalStep, Goals, Hold};
use ravel_trace::ThreadId;

use super::places::{EventPlace, Places};

/// A plan that grows goal by goal.
#[derive(Debug)]
pub struct GoalsBuilder(Goals);

impl GoalsBuilder {
    /// Without goals.
    pub fn new(seed: u64) -> GoalsBuilder {
        GoalsBuilder(Goals {
            sites: Vec::new(),
            methods: Vec::new(),
            goals: Vec::new(),
            seed,
        })
    }

    /// The plan.
    pub fn finish(self) -> Goals {
        self.0
    }

    /// How many goals it has.
    pub fn len(&self) -> usize {
        self.0.goals.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.goals.is_empty()
    }

    /// Adds a goal in terms of code.
    pub fn add(&mut self, id: &str, goal: &CodeGoal) {
        let mut roles = Vec::new();
        for method in &goal.roles {
            roles.push(method.as_ref().map(|method| index_of(&mut self.0.methods, method)));
        }
        let mut steps = Vec::new();
        for step in &goal.steps {
            steps.push(GoalStep {
                role: step.role,
                site: index_of(&mut self.0.sites, &step.site),
                object: step.object,
                hold: match &step.hold {
                    CodeHold::Never => Hold::Never,
                    CodeHold::Here => Hold::Here,
                    CodeHold::At(site) => Hold::At(index_of(&mut self.0.sites, site)),
                },
                while_held: step.while_held,
            });
        }
        self.0.goals.push(Goal {
            id: id.to_string(),
            shape: goal.shape,
            roles,
            steps,
        });
    }
}

fn index_of<T: Clone + PartialEq>(all: &mut Vec<T>, one: &T) -> usize {
    all.iter().position(|known| known == one).unwrap_or_else(|| {
        all.push(one.clone());
        all.len() - 1
    })
}

/// A goal before its sites are numbered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeGoal {
    /// How its steps lie.
    pub shape: GoalShape,
    /// By role: the method of its unit.
    pub roles: Vec<Option<CodeMethod>>,
    /// In the wanted order.
    pub steps: Vec<CodeStep>,
}

/// A step before its site is numbered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeStep {
    /// Index of the role.
    pub role: usize,
    /// The instruction.
    pub site: CodeSite,
    /// Steps with the same number concern the same object.
    pub object: usize,
    /// Where a thread waits that comes too early.
    pub hold: CodeHold,
    /// The role that must be held meanwhile.
    pub while_held: Option<usize>,
}

/// Where a thread waits that comes too early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CodeHold {
    /// Nowhere.
    Never,
    /// Right before the step.
    Here,
    /// Before another instruction.
    At(CodeSite),
}

/// The goals of an occurrence: the pattern, each way round that counts. Why there is none, if so.
pub fn pattern_goals(rule: Rule, candidate: &Candidate, places: &Places) -> Result<Vec<CodeGoal>, String> {
    let events = Events::of(candidate, places)?;
    match rule {
        Rule::DataRace | Rule::LockDiscipline if events.0.len() == 2 => {
            Ok(vec![events.race(0, 1)?, events.race(1, 0)?])
        }
        Rule::LockOrder => Ok(vec![events.cycle()?]),
        Rule::Atomicity | Rule::AtomicSet | Rule::Unserializable => Ok(vec![events.ordered(candidate, places)?]),
        _ => Err("no order of events can show it".into()),
    }
}

/// The same units one after the other, in each order. Empty if they are not two.
pub fn serial_goals(rule: Rule, candidate: &Candidate, places: &Places) -> Vec<CodeGoal> {
    let Ok(events) = Events::of(candidate, places) else {
        return Vec::new();
    };
    let threads = events.threads();
    if threads.len() != 2 || !matches!(rule, Rule::Atomicity | Rule::AtomicSet | Rule::Unserializable) {
        return Vec::new();
    }
    let order = |[first, second]: [ThreadId; 2]| {
        let steps_of = |role: usize, thread: ThreadId| {
            let own = events.0.iter().filter(move |event| event.thread == thread);
            own.enumerate().map(move |(number, event)| CodeStep {
                role,
                site: event.site.clone(),
                object: event.object,
                // The thread that comes second waits before its first step.
                hold: if role == 1 && number == 0 {
                    CodeHold::Here
                } else {
                    CodeHold::Never
                },
                while_held: (role == 0).then_some(1),
            })
        };
        CodeGoal {
            shape: GoalShape::Ordered,
            roles: vec![
                events.unit_of(candidate, places, first),
                events.unit_of(candidate, places, second),
            ],
            steps: steps_of(0, first).chain(steps_of(1, second)).collect(),
        }
    };
    vec![order([threads[0], threads[1]]), order([threads[1], threads[0]])]
}

/// The events of an occurrence with their places.
struct Events<'p>(Vec<PlacedEvent<'p>>);

struct PlacedEvent<'p> {
    thread: ThreadId,
    place: &'p EventPlace,
    site: CodeSite,
    object: usize,
    /// The unit it belongs to.
    owner: Option<usize>,
}

impl<'p> Events<'p> {
    fn of(candidate: &Candidate, places: &'p Places) -> Result<Events<'p>, String> {
        let mut cells = Vec::new();
        let mut events: Vec<PlacedEvent<'p>> = Vec::new();
        for (number, event) in candidate.events.iter().enumerate() {
            let place = places
                .get(event.index)
                .ok_or("an event of the pattern is not in the trace")?;
            let site = place
                .site
                .clone()
                .ok_or("the trace does not name the instruction of a step")?;
            let cell = place
                .cell
                .or(event.lock.map(|lock| (u64::from(lock.0), 0)))
                .unwrap_or((u64::MAX, number as u32));
            let object = index_of(&mut cells, &cell);
            // Several events of one instruction are one step: a call that changes an entry and the size.
            let same = |last: &&PlacedEvent<'_>| last.thread == event.thread && last.place.position == place.position;
            if events.last().as_ref().is_some_and(same) {
                continue;
            }
            events.push(PlacedEvent {
                thread: event.thread,
                place,
                site,
                object,
                owner: candidate.owners.get(number).copied().flatten(),
            });
        }
        let events = Events(events);
        match events.threads().len() {
            0 | 1 => Err("a pattern needs two threads".into()),
            _ => Ok(events),
        }
    }

    fn threads(&self) -> Vec<ThreadId> {
        let mut threads = Vec::new();
        for event in &self.0 {
            index_of(&mut threads, &event.thread);
        }
        threads
    }

    /// One thread stands right before its access while the other one completes its own.
    fn race(&self, held: usize, passing: usize) -> Result<CodeGoal, String> {
        let step = |event: &PlacedEvent<'_>, role: usize| CodeStep {
            role,
            site: event.site.clone(),
            object: 0,
            hold: if role == 1 { CodeHold::Here } else { CodeHold::Never },
            while_held: (role == 0).then_some(1),
        };
        let (held, passing) = (&self.0[held], &self.0[passing]);
        if held.thread == passing.thread {
            return Err("a race needs two threads".into());
        }
        Ok(CodeGoal {
            shape: GoalShape::Ordered,
            roles: vec![None, None],
            steps: vec![step(passing, 0), step(held, 1)],
        })
    }

    /// Every thread stands before its last acquisition.
    fn cycle(&self) -> Result<CodeGoal, String> {
        let mut steps: Vec<CodeStep> = Vec::new();
        for (role, thread) in self.threads().into_iter().enumerate() {
            let last = self
                .0
                .iter()
                .filter(|event| event.thread == thread)
                .max_by_key(|event| event.place.position);
            let last = last.ok_or("a thread of the cycle has no acquisition")?;
            steps.push(CodeStep {
                role,
                site: last.site.clone(),
                object: last.object,
                hold: CodeHold::Here,
                while_held: None,
            });
        }
        Ok(CodeGoal {
            shape: GoalShape::Blocked,
            roles: vec![None; steps.len()],
            steps,
        })
    }

    /// The pattern's events in their order; a thread that another one cuts in on is held before it goes on.
    fn ordered(&self, candidate: &Candidate, places: &Places) -> Result<CodeGoal, String> {
        let threads = self.threads();
        let roles = threads.iter().map(|thread| self.unit_of(candidate, places, *thread));
        let mut steps: Vec<CodeStep> = Vec::new();
        for (number, event) in self.0.iter().enumerate() {
            let role = threads.iter().position(|thread| *thread == event.thread).unwrap_or(0);
            let before = (0..number)
                .rev()
                .find(|&earlier| self.0[earlier].thread == event.thread);
            let cut = before.is_some_and(|before| before + 1 < number);
            let hold = match before.filter(|_| cut) {
                Some(before) => hold_between(self.0[before].place, event.place),
                None => CodeHold::Never,
            };
            // The thread that did the step before, if it has more to do: it must be held meanwhile.
            let previous = number.checked_sub(1).map(|previous| &self.0[previous]);
            let waiting = previous.filter(|previous| {
                previous.thread != event.thread && self.0[number..].iter().any(|later| later.thread == previous.thread)
            });
            let while_held = match waiting {
                Some(previous) => threads.iter().position(|thread| *thread == previous.thread),
                None => steps
                    .last()
                    .filter(|last| last.role == role)
                    .and_then(|last| last.while_held),
            };
            steps.push(CodeStep {
                role,
                site: event.site.clone(),
                object: event.object,
                hold,
                while_held,
            });
        }
        Ok(CodeGoal {
            shape: GoalShape::Ordered,
            roles: roles.collect(),
            steps,
        })
    }

    /// The method whose activation a thread's steps belong to, if it takes several.
    fn unit_of(&self, candidate: &Candidate, places: &Places, thread: ThreadId) -> Option<CodeMethod> {
        let own: Vec<&PlacedEvent<'_>> = self.0.iter().filter(|event| event.thread == thread).collect();
        let unit = candidate.units.get(own.first()?.owner?)?;
        let begin = places.get(unit.begin.index)?;
        let method = begin.stack.last().map(|activation| activation.method.clone())?;
        // The activation must be on the stack of every step, or the steps would never count.
        let common = own
            .iter()
            .all(|event| event.place.stack.iter().any(|activation| activation.method == method));
        (own.len() > 1 && common && !method.name.starts_with('<')).then_some(method)
    }
}

/// Where a thread is held that goes from one event to another: outside the locks that it takes in between.
fn hold_between(from: &EventPlace, to: &EventPlace) -> CodeHold {
    let later_call = to.stack.iter().find(|activation| activation.entered > from.position);
    let later_lock = to.locks.iter().find(|lock| lock.taken > from.position);
    let call = later_call.and_then(|activation| Some((activation.entered, activation.call.clone()?)));
    let lock = later_lock.and_then(|lock| Some((lock.taken, lock.site.clone()?)));
    let first = match (call, lock) {
        (Some(call), Some(lock)) => Some(if lock.0 < call.0 { lock } else { call }),
        (call, lock) => call.or(lock),
    };
    first.map_or(CodeHold::Here, |(_, site)| CodeHold::At(site))
}
