//! From an occurrence of a finding to the goals of a directed run: roles, steps and hold points.

use ravel_analysis::finding::{Candidate, Rule, RuleFamily};
use ravel_protocol::goal::{CodeMethod, CodeSite, Goal, GoalRole, GoalShape, GoalStep, Goals, Hold, Pause, StepKind};
use ravel_trace::ThreadId;
use ravel_trace::origin::is_platform;

use super::places::{Activation, EventPlace, Places};

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
            facts: 1,
            exclusive: Vec::new(),
        })
    }

    /// Lets the activations of a method exclude those of all others that were given here.
    pub fn exclude(&mut self, method: &CodeMethod) {
        let index = index_of(&mut self.0.methods, method);
        index_of(&mut self.0.exclusive, &index);
    }

    /// Lets each goal happen as often as it can.
    pub fn repeat(&mut self) {
        self.0.facts = u64::MAX;
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
        for role in &goal.roles {
            let mut number =
                |method: &Option<CodeMethod>| method.as_ref().map(|method| index_of(&mut self.0.methods, method));
            roles.push(GoalRole {
                unit: number(&role.unit),
                result: number(&role.result),
            });
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
                kind: step.kind,
            });
        }
        self.0.goals.push(Goal {
            id: id.to_string(),
            shape: goal.shape,
            roles,
            steps,
            pause: goal.pause.as_ref().map(|pause| Pause {
                role: pause.role,
                site: index_of(&mut self.0.sites, &pause.site),
                millis: pause.millis,
            }),
            whole: goal.whole,
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
    /// The threads that take the steps.
    pub roles: Vec<CodeRole>,
    /// In the wanted order.
    pub steps: Vec<CodeStep>,
    /// A wait that changes no order.
    pub pause: Option<CodePause>,
    /// Whether the first unit of a serial order must go the same way as in the pattern.
    pub whole: bool,
}

/// A role before its methods are numbered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CodeRole {
    /// The method whose activation all steps belong to.
    pub unit: Option<CodeMethod>,
    /// The method whose result is the role's.
    pub result: Option<CodeMethod>,
}

/// A wait before its site is numbered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodePause {
    /// The role whose thread waits.
    pub role: usize,
    /// The instruction before which it waits.
    pub site: CodeSite,
    /// How long.
    pub millis: u64,
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
    /// What it does.
    pub kind: StepKind,
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

/// The goals of an occurrence: the pattern, each way round that counts. Why there is none, if so. Where there is a choice of hold
/// points, `variant` says which: the outermost first.
pub fn pattern_goals(
    rule: Rule,
    candidate: &Candidate,
    places: &Places,
    variant: usize,
) -> Result<Vec<CodeGoal>, String> {
    if let Some(ready) = places.ready(candidate) {
        return Ok(vec![ready.pattern.clone()]);
    }
    let events = Events::of(candidate, places)?;
    match rule.family() {
        RuleFamily::Race | RuleFamily::Discipline if events.0.len() == 2 => {
            Ok(vec![events.race(0, 1)?, events.race(1, 0)?])
        }
        RuleFamily::LockOrder => Ok(vec![events.cycle()?]),
        // An occurrence of a defect of the code is a test and an act that another thread comes between.
        RuleFamily::Atomicity | RuleFamily::AtomicSet | RuleFamily::Serializability | RuleFamily::Code => {
            Ok(vec![events.ordered(candidate, places, variant)?])
        }
        RuleFamily::Race | RuleFamily::Discipline | RuleFamily::Failure => {
            Err("it is not about the order of events".into())
        }
    }
}

/// The same units one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SerialOrder {
    /// The pattern's roles in the order of the units.
    pub roles: [usize; 2],
    /// How it is brought about.
    pub goal: CodeGoal,
    /// For people: which unit comes first.
    pub words: String,
}

/// The units of a pattern in both serial orders; each waits `millis` where the pattern held a thread. Empty if they are not two.
pub fn serial_orders(
    rule: Rule,
    candidate: &Candidate,
    places: &Places,
    variant: usize,
    millis: u64,
) -> Vec<SerialOrder> {
    if let Some(ready) = places.ready(candidate) {
        return ready.serial_orders(millis);
    }
    let Ok(events) = Events::of(candidate, places) else {
        return Vec::new();
    };
    let threads = events.threads();
    let has_units = rule.family().is_interruption() || rule.family() == RuleFamily::Code;
    if threads.len() != 2 || !has_units {
        return Vec::new();
    }
    let pattern = events.ordered(candidate, places, variant).ok();
    let held = pattern.as_ref().and_then(|pattern| {
        pattern.steps.iter().find_map(|step| match &step.hold {
            CodeHold::Never => None,
            CodeHold::Here => Some((step.role, step.site.clone())),
            CodeHold::At(site) => Some((step.role, site.clone())),
        })
    });
    let order = |roles: [usize; 2]| {
        let steps_of = |place: usize, role: usize| {
            let step = |site: &CodeSite, object: usize| CodeStep {
                role: place,
                site: site.clone(),
                object,
                hold: CodeHold::Never,
                while_held: (place == 0).then_some(1),
                kind: StepKind::Access,
            };
            let mut own = events.0.iter().filter(|event| event.thread == threads[role]);
            let mut steps: Vec<CodeStep> = Vec::new();
            if let Some(first) = own.clone().next() {
                // What the unit has read on the way to its first step belongs to it: it must not be read too early.
                steps.extend(first.place.earlier.iter().map(|site| step(site, first.object)));
            }
            steps.extend(own.by_ref().map(|event| step(&event.site, event.object)));
            // The thread that comes second waits before its first step, outside the locks that it takes on the way.
            if let (1, Some(first)) = (place, events.0.iter().find(|event| event.thread == threads[role])) {
                let outside = events.hold_before(candidate, places, first);
                steps[0].hold = outside;
            }
            steps
        };
        let of = |role: usize| events.role(candidate, places, threads[role]);
        SerialOrder {
            roles,
            goal: CodeGoal {
                shape: GoalShape::Serial,
                roles: vec![of(roles[0]), of(roles[1])],
                steps: [steps_of(0, roles[0]), steps_of(1, roles[1])].concat(),
                pause: held.clone().map(|(role, site)| CodePause {
                    role: usize::from(roles[0] != role),
                    site,
                    millis,
                }),
                whole: true,
            },
            words: events.order_words(roles.map(|role| threads[role]), candidate, places),
        }
    };
    vec![order([0, 1]), order([1, 0])]
}

/// The methods whose activations the roles of a pattern are: in an exclusive run they exclude each other.
pub fn units(candidate: &Candidate, places: &Places) -> Vec<CodeMethod> {
    if let Some(ready) = places.ready(candidate) {
        return ready.units.clone();
    }
    let Ok(events) = Events::of(candidate, places) else {
        return Vec::new();
    };
    let threads = events.threads();
    let of = |thread: &ThreadId| events.role(candidate, places, *thread).result;
    let units: Vec<Option<CodeMethod>> = threads.iter().map(of).collect();
    match units.iter().all(Option::is_some) {
        true => units.into_iter().flatten().collect(),
        false => Vec::new(),
    }
}

/// Whether all steps concern one field of one object, so that its values can be compared from step to step.
pub fn is_of_one_cell(candidate: &Candidate, places: &Places) -> bool {
    let Ok(events) = Events::of(candidate, places) else {
        return false;
    };
    let first = &events.0[0];
    events
        .0
        .iter()
        .all(|event| event.object == first.object && event.site.member == first.site.member)
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
            if site.member == "<init>" {
                return Err("a step is inside a constructor of the JDK, where no thread can be held".into());
            }
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
            kind: StepKind::Access,
        };
        let (held, passing) = (&self.0[held], &self.0[passing]);
        if held.thread == passing.thread {
            return Err("a race needs two threads".into());
        }
        Ok(CodeGoal {
            shape: GoalShape::Ordered,
            roles: vec![CodeRole::default(); 2],
            steps: vec![step(passing, 0), step(held, 1)],
            pause: None,
            whole: false,
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
                kind: StepKind::Access,
            });
        }
        Ok(CodeGoal {
            shape: GoalShape::Blocked,
            roles: vec![CodeRole::default(); steps.len()],
            steps,
            pause: None,
            whole: false,
        })
    }

    /// The pattern's events in their order; a thread that another one cuts in on is held before it goes on.
    fn ordered(&self, candidate: &Candidate, places: &Places, variant: usize) -> Result<CodeGoal, String> {
        let threads = self.threads();
        let roles = threads.iter().map(|thread| {
            let role = self.role(candidate, places, *thread);
            // A thread that takes one step may come from anywhere.
            let steps = self.0.iter().filter(|event| event.thread == *thread).count();
            CodeRole {
                unit: role.unit.filter(|_| steps > 1),
                ..role
            }
        });
        let mut steps: Vec<CodeStep> = Vec::new();
        for (number, event) in self.0.iter().enumerate() {
            let role = threads.iter().position(|thread| *thread == event.thread).unwrap_or(0);
            let before = (0..number)
                .rev()
                .find(|&earlier| self.0[earlier].thread == event.thread);
            let cut = before.is_some_and(|before| before + 1 < number);
            let hold = match before.filter(|_| cut) {
                Some(before) => hold_between(self.0[before].place, event.place, variant),
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
                kind: StepKind::Access,
            });
        }
        Ok(CodeGoal {
            shape: GoalShape::Ordered,
            roles: roles.collect(),
            steps,
            pause: None,
            whole: false,
        })
    }

    /// The method whose activation a thread's steps belong to.
    fn role(&self, candidate: &Candidate, places: &Places, thread: ThreadId) -> CodeRole {
        let unit = self.unit_of(candidate, places, thread);
        CodeRole {
            unit: unit.clone(),
            result: unit,
        }
    }

    fn unit_of(&self, candidate: &Candidate, places: &Places, thread: ThreadId) -> Option<CodeMethod> {
        let begin = self.begin_of(candidate, places, thread)?;
        let mut own = self.0.iter().filter(|event| event.thread == thread);
        let first = own.next()?.place;
        let method = match own.clone().next() {
            // The innermost activation that has all steps, or the steps would never count, or keep each other out for a long time: a
            // method that serves many requests takes them in one activation.
            Some(_) => {
                let has_all = |one: &&Activation| own.clone().all(|event| event.place.stack.contains(one));
                first.stack.iter().rev().find(has_all)?.method.clone()
            }
            // A single step belongs to the same code as the others' if that is on the way to it.
            None => {
                let others = self.threads().into_iter().filter(|other| {
                    *other != thread && self.0.iter().filter(|event| event.thread == *other).count() > 1
                });
                let units: Vec<CodeMethod> = others
                    .filter_map(|other| self.unit_of(candidate, places, other))
                    .collect();
                let same = first.stack.iter().rev().find(|one| units.contains(&one.method));
                let begins = begin
                    .stack
                    .last()
                    .filter(|one| first.stack.iter().any(|own| own.method == one.method));
                same.or(begins)?.method.clone()
            }
        };
        (!method.name.starts_with('<')).then_some(method)
    }

    /// Where the unit of a thread's first step begins.
    fn begin_of(&self, candidate: &Candidate, places: &'p Places, thread: ThreadId) -> Option<&'p EventPlace> {
        let first = self.0.iter().find(|event| event.thread == thread)?;
        let unit = candidate.units.get(first.owner?)?;
        places.get(unit.begin.index)
    }

    /// Where a thread waits that must not begin its unit yet: outside the locks that it takes on the way to its first step.
    fn hold_before(&self, candidate: &Candidate, places: &Places, first: &PlacedEvent<'_>) -> CodeHold {
        let Some(begin) = self.begin_of(candidate, places, first.thread) else {
            return CodeHold::Here;
        };
        let of_calls = first.place.stack.iter().filter(|one| one.entered > begin.position);
        let of_locks = first.place.locks.iter().filter(|lock| lock.taken >= begin.position);
        let calls = of_calls.filter_map(|one| Some((one.entered, one.call.clone()?)));
        let locks = of_locks.filter_map(|lock| match &lock.site {
            Some(site) => Some((lock.taken, site.clone())),
            // A synchronized method has its monitor before its first instruction: the call stands for it.
            None => {
                let mut around = first.place.stack.iter().rev();
                let method = around.find(|one| one.entered <= lock.taken)?;
                Some((method.entered, method.call.clone()?))
            }
        });
        let outermost = calls.chain(locks).min_by_key(|(position, _)| *position);
        outermost.map_or(CodeHold::Here, |(_, site)| CodeHold::At(site))
    }

    /// Which unit comes first. Two activations of one method are told apart by the lines of their first steps.
    fn order_words(&self, order: [ThreadId; 2], candidate: &Candidate, places: &Places) -> String {
        let names = order.map(|thread| self.unit_name(thread, candidate, places));
        let lines = order.map(|thread| {
            let first = self.0.iter().find(|event| event.thread == thread);
            // A line of the JDK's code says nothing about the program.
            let own = first.filter(|first| !is_platform(first.site.method.class.replace('/', ".")));
            own.map_or(0, |first| first.site.line)
        });
        let [one, other] = &names;
        match one == other {
            false => format!("{one} before {other}"),
            true if lines[0] == lines[1] || lines.contains(&0) => format!("one {one} after the other"),
            true => format!("{one} (line {}) before {other} (line {})", lines[0], lines[1]),
        }
    }

    fn unit_name(&self, thread: ThreadId, candidate: &Candidate, places: &Places) -> String {
        let first = self.0.iter().find(|event| event.thread == thread);
        let method = self
            .unit_of(candidate, places, thread)
            .or(first.map(|first| first.site.method.clone()));
        method.map_or_else(String::new, |method| {
            let class = method.class.rsplit(['/', '$']).next().unwrap_or_default();
            format!("{class}.{}", method.name)
        })
    }
}

/// Where a thread is held that goes from one event to another: outside the locks that it takes in between if it can be, nearer to its
/// step if that has failed.
fn hold_between(from: &EventPlace, to: &EventPlace, variant: usize) -> CodeHold {
    let calls = to.stack.iter().filter(|one| one.entered > from.position);
    let calls = calls.filter_map(|one| Some((one.entered, one.call.clone()?)));
    let locks = to.locks.iter().filter(|lock| lock.taken > from.position);
    let locks = locks.filter_map(|lock| Some((lock.taken, lock.site.clone()?)));
    let mut on_the_way: Vec<(u32, CodeSite)> = calls.chain(locks).collect();
    on_the_way.sort_by_key(|(position, _)| *position);
    let mut sites: Vec<CodeHold> = on_the_way.into_iter().map(|(_, site)| CodeHold::At(site)).collect();
    sites.push(CodeHold::Here);
    sites.dedup();
    let chosen = variant % sites.len();
    sites.swap_remove(chosen)
}
