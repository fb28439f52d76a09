//! Words for people: names of threads, methods and locks, the steps of an interleaving, what can happen and what to
//! change. Separate from merging, which decides what is one bug.

use crate::engine::State;
use crate::finding::{EventRef, Rule, Step, UnitRef};
use crate::raw::{RawStep, StepKind};
use crate::readable;
use crate::sets::location_name;
use crate::units::Owner;
use ravel_trace::{LockId, MethodId, Names, SiteId, ThreadId};
use rustc_hash::FxHashMap;

/// Names things of one trace.
pub struct Describer<'a> {
    names: &'a Names,
    state: &'a State,
    threads: Vec<String>,
}

impl<'a> Describer<'a> {
    /// For a trace that has been read.
    pub fn new(names: &'a Names, state: &'a State) -> Self {
        Describer {
            names,
            state,
            threads: thread_names(names),
        }
    }

    /// The tables.
    pub fn names(&self) -> &'a Names {
        self.names
    }

    /// `main`, `worker`, `worker#2`
    pub fn thread(&self, thread: ThreadId) -> String {
        self.threads
            .get(thread.index())
            .cloned()
            .unwrap_or_else(|| format!("thread-{}", thread.0))
    }

    /// `shop.Stock`
    fn class_of(&self, method: MethodId) -> &'a str {
        let class = self
            .names
            .methods
            .get(method.index())
            .and_then(|m| self.names.classes.get(m.class.index()));
        class.map_or("", |c| c.name.as_str())
    }

    /// `count()I`
    fn signature(&self, method: MethodId) -> String {
        self.names
            .methods
            .get(method.index())
            .map_or_else(String::new, |m| format!("{}{}", m.name, m.descriptor))
    }

    /// `shop.Stock.count()I`
    pub fn method(&self, method: MethodId) -> String {
        match self.class_of(method) {
            "" => self.signature(method),
            class => format!("{class}.{}", self.signature(method)),
        }
    }

    /// `shop.Stock.count`
    pub fn short_method(&self, method: MethodId) -> String {
        let name = self.names.methods.get(method.index()).map_or("", |m| m.name.as_str());
        match self.class_of(method) {
            "" => name.to_owned(),
            class => format!("{class}.{name}"),
        }
    }

    /// The method that a step is in: by its stack, else by its site.
    pub fn method_of(&self, step: &RawStep) -> Option<MethodId> {
        self.method_of_site(step.point.site)
            .or_else(|| self.state.stacks.frames(step.point.stack).next().map(|f| f.method))
    }

    fn method_of_site(&self, site: SiteId) -> Option<MethodId> {
        let site = if site == SiteId(0) {
            None
        } else {
            self.names.sites.get(site.index())
        };
        site.map(|s| s.method).filter(|m| m.index() < self.names.methods.len())
    }

    /// The name of what a step accesses.
    pub fn variable(&self, step: &RawStep) -> String {
        step.location
            .map_or_else(String::new, |l| location_name(self.names, l, step.point.site))
    }

    /// The name of what a step is about: a lock or a variable.
    pub fn target(&self, step: &RawStep) -> String {
        match step.lock {
            Some(lock) => self.names.lock(lock).name.clone(),
            None => self.variable(step),
        }
    }

    /// The code that a unit is: its method, or where it begins, or the thread it runs in.
    pub fn unit_code(&self, owner: Owner) -> String {
        let info = self.state.units.info(owner.unit);
        match info.method.or_else(|| self.method_of_site(info.site)) {
            Some(method) => self.method(method),
            None => format!("unit of {}", self.thread(info.thread)),
        }
    }

    /// A unit, for the report.
    pub fn unit(&self, owner: Owner) -> UnitRef {
        let info = self.state.units.info(owner.unit);
        UnitRef {
            thread: self.thread(info.thread),
            method: self.unit_code(owner),
            kind: owner.kind,
        }
    }

    /// The event that a step is.
    pub fn event(&self, step: &RawStep) -> EventRef {
        EventRef {
            index: step.point.index,
            thread: step.point.thread,
            position: step.point.position,
            location: step.location,
            lock: step.lock,
        }
    }

    /// A step, for the report.
    pub fn step(&self, step: &RawStep) -> Step {
        let method = self.method_of(step);
        let class = method.map_or("", |m| self.class_of(m));
        let file = method.map_or_else(String::new, |m| self.file(m));
        let locks = self.state.locksets.locks(step.point.locks);
        Step {
            thread: self.thread(step.point.thread),
            op: op(step.point.kind).to_owned(),
            variable: self.target(step),
            class: class.to_owned(),
            method: method.map_or_else(String::new, |m| self.signature(m)),
            file,
            line: self.line(step.point.site),
            locks: locks.iter().map(|h| self.names.lock(h.lock).name.clone()).collect(),
            stack: self.stack(step),
            event: Some(self.event(step)),
        }
    }

    fn file(&self, method: MethodId) -> String {
        let class = self
            .names
            .methods
            .get(method.index())
            .and_then(|m| self.names.classes.get(m.class.index()));
        class.map_or_else(String::new, |c| c.file.clone())
    }

    fn line(&self, site: SiteId) -> u32 {
        self.names.sites.get(site.index()).map_or(0, |s| s.line)
    }

    /// `shop.Stock.count (Stock.java:14)`, innermost first. Not every method leaves a frame (those of collections of the JDK do
    /// not); where a call was made in another method than the next frame's, that method has its line too.
    fn stack(&self, step: &RawStep) -> Vec<String> {
        let mut at = step.point.site;
        let mut lines = Vec::new();
        for frame in self.state.stacks.frames(step.point.stack) {
            if let Some(method) = self.method_of_site(at).filter(|method| *method != frame.method) {
                lines.push(self.stack_line(method, at));
                at = SiteId(0);
            }
            lines.push(self.stack_line(frame.method, at));
            at = frame.call;
        }
        lines.extend(self.method_of_site(at).map(|method| self.stack_line(method, at)));
        lines
    }

    fn stack_line(&self, method: MethodId, at: SiteId) -> String {
        let name = self.short_method(method);
        match (self.file(method), self.line(at)) {
            (file, _) if file.is_empty() => name,
            (file, 0) => format!("{name} ({file})"),
            (file, line) => format!("{name} ({file}:{line})"),
        }
    }
}

fn op(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Read => "read",
        StepKind::Write => "write",
        StepKind::Update => "update",
        StepKind::Acquire => "acquire",
        StepKind::Release => "release",
    }
}

/// What the threads of a trace are called: `worker`, and where a name repeats `worker#2`.
pub fn thread_names(names: &Names) -> Vec<String> {
    let mut seen: FxHashMap<&str, u32> = FxHashMap::default();
    let name = |(i, t): (usize, &'_ ravel_trace::names::Thread)| {
        if t.name.is_empty() {
            format!("thread-{i}")
        } else {
            t.name.clone()
        }
    };
    let mut result = Vec::with_capacity(names.threads.len());
    for (i, thread) in names.threads.iter().enumerate() {
        let count = seen.entry(thread.name.as_str()).or_insert(0);
        *count += 1;
        result.push(match *count {
            1 => name((i, thread)),
            n => format!("{}#{n}", name((i, thread))),
        });
    }
    result
}

/// `shop.Stock.count()I` as `Stock.count`, as people wrote it.
fn brief(method: &str) -> String {
    let name = method.split('(').next().unwrap_or(method);
    match name.rsplit_once('.') {
        Some((class, member)) => readable::method(class, member),
        None => name.to_owned(),
    }
}

/// `shop.Stock.items` as `Stock.items`; what is no name of a field is left alone.
fn brief_variable(variable: &str) -> String {
    if let Some((array, class)) = variable.split_once(" in ") {
        return format!("{array} in {}", readable::class(class));
    }
    match variable.rsplit_once('.') {
        Some((class, field)) if !field.is_empty() && !variable.contains(' ') => {
            format!("{}.{}", readable::class(class), readable::member(field))
        }
        _ => variable.to_owned(),
    }
}

/// Different locks of one name within a finding get numbers, `shop.Account@1` and `shop.Account@2`, so that nobody takes
/// them for one.
pub fn tell_locks_apart(names: &Names, state: &State, raw: &[RawStep], steps: &mut [Step]) {
    let mut seen: Vec<(&str, LockId)> = Vec::new();
    let held = |step: &RawStep| -> Vec<LockId> {
        let held = state.locksets.locks(step.point.locks).iter().map(|h| h.lock);
        held.collect()
    };
    for step in raw {
        for lock in step.lock.into_iter().chain(held(step)) {
            let entry = (names.lock(lock).name.as_str(), lock);
            if !seen.contains(&entry) {
                seen.push(entry);
            }
        }
    }
    let told = |lock: LockId| {
        let name = names.lock(lock).name.as_str();
        let same: Vec<LockId> = seen.iter().filter(|(n, _)| *n == name).map(|(_, l)| *l).collect();
        match same.iter().position(|l| *l == lock) {
            Some(at) if same.len() > 1 => format!("{name}@{}", at + 1),
            _ => name.to_owned(),
        }
    };
    for (step, raw) in steps.iter_mut().zip(raw) {
        if let Some(lock) = raw.lock {
            step.variable = told(lock);
        }
        step.locks = held(raw).into_iter().map(told).collect();
    }
}

/// A step inside the JDK as its caller sees it: what the program did there, at the place where it called. None for a step
/// in the program's own code, and where no caller is known.
pub fn seen_by_caller(step: &Step) -> Option<Step> {
    let is_library = |class: &str| ["java.", "javax.", "jdk.", "sun."].iter().any(|p| class.starts_with(p));
    if !is_library(&step.class) {
        return None;
    }
    let own = |frame: &String| !is_library(frame);
    let with_line = |frame: &String| own(frame) && frame.contains(':');
    let at = step
        .stack
        .iter()
        .position(with_line)
        .or(step.stack.iter().position(own))?;
    let (name, place) = step.stack[at].strip_suffix(')')?.split_once(" (")?;
    let (class, method) = name.rsplit_once('.')?;
    let (file, line) = place.split_once(':').unwrap_or((place, "0"));
    Some(Step {
        class: class.to_owned(),
        method: method.to_owned(),
        file: file.to_owned(),
        line: line.parse().ok()?,
        stack: step.stack[at..].to_vec(),
        ..step.clone()
    })
}

/// What can happen, in one sentence.
pub fn message(rule: Rule, variables: &[String], units: &[UnitRef], steps: &[Step]) -> String {
    let is_lock = |name: &String| {
        let of =
            |s: &Step| s.variable.split('@').next() == Some(name) && matches!(s.op.as_str(), "acquire" | "release");
        steps.iter().any(of)
    };
    let told = variables.iter().map(|name| match is_lock(name) {
        true => readable::class(name),
        false => brief_variable(name),
    });
    let what = listed(&told.collect::<Vec<_>>());
    let steps: Vec<Step> = steps
        .iter()
        .map(|step| seen_by_caller(step).unwrap_or_else(|| step.clone()))
        .collect();
    let steps = steps.as_slice();
    let place = |s: &Step| match (s.method.is_empty(), s.line) {
        (true, _) => format!("thread {}", s.thread),
        (false, 0) => brief(&format!("{}.{}", s.class, s.method)),
        (false, line) => format!("{} (line {line})", brief(&format!("{}.{}", s.class, s.method))),
    };
    let unit = units.first().map_or_else(|| "a unit".to_owned(), |u| brief(&u.method));
    let other = steps
        .iter()
        .find(|s| steps.first().is_some_and(|f| f.thread != s.thread));
    match (rule, steps, other) {
        (Rule::DataRace, [first, .., second], _) => format!(
            "{} can {} {what} while {} {}s it: nothing orders the two.",
            place(first),
            first.op,
            place(second),
            second.op
        ),
        (Rule::LockDiscipline, [first, .., second], _) => {
            format!(
                "{what} is shared and written, but {} and {} hold no common lock.",
                place(first),
                place(second)
            )
        }
        (Rule::Atomicity, _, Some(other)) => {
            format!(
                "{unit} is interrupted: {} {}s {what} between two of its accesses.",
                place(other),
                other.op
            )
        }
        (Rule::AtomicSet, _, Some(other)) => format!(
            "{what} belong together, but {unit} and {} interleave so that one sees or leaves them half changed.",
            place(other)
        ),
        (Rule::Unserializable, _, _) => {
            format!("{unit} interleaves with other threads in a way that no order of whole steps gives ({what}).")
        }
        (Rule::LockOrder, _, _) => {
            format!("Threads take {what} in different orders and can block each other for ever.")
        }
        _ => format!("{what} is accessed without a consistent rule."),
    }
}

/// What to change.
pub fn help(rule: Rule, variables: &[String], units: &[UnitRef]) -> String {
    let what = listed(&variables.iter().map(|name| brief_variable(name)).collect::<Vec<_>>());
    let unit = units
        .first()
        .map_or_else(|| "the unit".to_owned(), |u| brief(&u.method));
    match rule {
        Rule::DataRace | Rule::LockDiscipline => {
            format!(
                "Guard every access to {what} by one lock, or make it volatile or atomic if single accesses suffice."
            )
        }
        Rule::Atomicity | Rule::AtomicSet => format!(
            "Hold one lock over the whole of {unit}, the same that all other code takes for {what}, or use one atomic operation."
        ),
        Rule::Unserializable => {
            format!("If {unit} must be one step, hold one lock over all of it; if not, mark it @NotAtomic.")
        }
        Rule::LockOrder => "Take the locks in the same order everywhere.".to_owned(),
        _ => "Hold the lock over both calls.".to_owned(),
    }
}

/// What to change where threads race inside an object of the platform.
pub fn library_help(class: &str, callers: &[String]) -> String {
    let class = readable::class(class);
    let callers = listed(&callers.iter().map(|caller| readable::class(caller)).collect::<Vec<_>>());
    format!(
        "{class} is not made to be used by several threads at once: guard every call of it in {callers} by one lock, give each \
         thread its own, or use a class that is made for it."
    )
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => "shared state".to_owned(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}
