//! Words for people: names of threads, methods and locks, the steps of an interleaving, and what can happen. Separate from
//! merging, which decides what is one bug; [`crate::fix`] says what to change.

use crate::engine::EngineState;
use crate::finding::{EventRef, FindingStep, Rule, RuleFamily, UnitRef};
use crate::raw::{RawStep, StepKind};
use crate::stacks::StackFrame;
use crate::units::Owner;
use ravel_trace::names::SiteKind;
use ravel_trace::naming;
use ravel_trace::origin::is_platform;
use ravel_trace::{LocationId, LockId, MethodId, Names, SiteId, ThreadId};

/// Names things of one trace.
pub struct Describer<'a> {
    names: &'a Names,
    state: &'a EngineState,
    threads: Vec<String>,
}

impl<'a> Describer<'a> {
    /// For a trace that has been read.
    pub fn new(names: &'a Names, state: &'a EngineState) -> Self {
        Describer {
            names,
            state,
            threads: naming::thread_names(names, 0),
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

    /// The method that a step is in: by its stack, else by its site.
    pub fn method_of(&self, step: &RawStep) -> Option<MethodId> {
        self.names
            .method_of(step.point.site)
            .or_else(|| self.state.stacks.frames(step.point.stack).next().map(|f| f.method))
    }

    /// The name of what a step accesses.
    pub fn variable(&self, step: &RawStep) -> String {
        step.location
            .map_or_else(String::new, |l| self.names.variable_name(l, step.point.site))
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
        match info.method.or_else(|| self.names.method_of(info.site)) {
            Some(method) => self.names.method_text(method),
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

    /// A step, for the report: at the innermost frame of the program's own code, and inside the method of the JDK that it is in, if
    /// it is in one.
    pub fn step(&self, step: &RawStep) -> FindingStep {
        let locks = self.state.locksets.locks(step.point.locks);
        let frames = self.frames(step);
        let own = |(method, _): &&(MethodId, SiteId)| !is_platform(self.names.class_of(*method));
        let (method, site) = match frames.iter().find(own).or(frames.first()) {
            Some((method, site)) => (Some(*method), *site),
            None => (None, step.point.site),
        };
        let inside = match (frames.first(), self.names.sites.get(step.point.site.index())) {
            (Some((innermost, _)), _) if Some(*innermost) != method => Some(self.names.method_text(*innermost)),
            // A modelled method: its call stands for all that happens in it.
            (_, Some(place)) => match &place.what {
                SiteKind::Call(callee) if step.location.is_some() && is_platform(callee) => Some(callee.clone()),
                _ => None,
            },
            _ => None,
        };
        FindingStep {
            thread: self.thread(step.point.thread),
            op: op(step.point.kind).to_owned(),
            variable: self.target(step),
            value: None,
            part: step.location.and_then(|location| self.names.element_index(location)),
            class: method.map_or("", |m| self.names.class_of(m)).to_owned(),
            method: method.map_or_else(String::new, |m| self.names.selector(m)),
            file: method.map_or("", |m| self.names.file_of(m)).to_owned(),
            line: self.names.line(site),
            inside,
            locks: locks.iter().map(|h| self.names.lock(h.lock).name.clone()).collect(),
            read_locks: self
                .state
                .locksets
                .for_reading(step.point.locks)
                .map(|lock| self.names.lock(lock).name.clone())
                .collect(),
            stack: frames
                .iter()
                .map(|(method, site)| self.names.frame(*method, *site).to_string())
                .collect(),
            call: self.names.sites.get(site.index()).and_then(|place| match place.what {
                SiteKind::Call(_) | SiteKind::Element(_) => Some(place.bci),
                _ => None,
            }),
            called: String::new(),
            key: None,
            descriptor: step
                .location
                .map_or_else(String::new, |location| self.descriptor(location)),
            event: Some(self.event(step)),
        }
    }

    fn descriptor(&self, location: LocationId) -> String {
        let field = self.names.field_of(location).map(|field| self.names.field(field));
        field.map_or_else(String::new, |field| field.descriptor.clone())
    }

    fn frames(&self, step: &RawStep) -> Vec<(MethodId, SiteId)> {
        places(self.names, step.point.site, self.state.stacks.frames(step.point.stack))
    }
}

/// The methods of a stack and where each of them is, innermost first; the innermost one is at `site`. Not every method leaves a frame; where
/// a call was made in another method than the next frame's, that method has a place of its own.
pub fn places(names: &Names, site: SiteId, frames: impl Iterator<Item = StackFrame>) -> Vec<(MethodId, SiteId)> {
    let mut at = site;
    let mut places = Vec::new();
    for frame in frames {
        if let Some(method) = names.method_of(at).filter(|method| *method != frame.method) {
            places.push((method, at));
            at = SiteId(0);
        }
        places.push((frame.method, at));
        at = match is_call_of(names, frame) {
            true => frame.call,
            false => SiteId(0),
        };
    }
    places.extend(names.method_of(at).map(|method| (method, at)));
    places
}

/// Whether the call may have led to the method. The JVM runs a class initialiser where the class is first used; that is at the last
/// call before it only if that call is of the class.
fn is_call_of(names: &Names, StackFrame { method, call }: StackFrame) -> bool {
    let entered = names.methods.get(method.index());
    if entered.is_none_or(|method| method.name != "<clinit>") {
        return true;
    }
    match names.sites.get(call.index()).map(|site| &site.what) {
        Some(SiteKind::Call(callee)) => callee.rsplit_once('.').map(|(class, _)| class) == Some(names.class_of(method)),
        _ => false,
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

/// Different locks of one name within a finding get numbers, `shop.Account@1` and `shop.Account@2`.
pub fn tell_locks_apart(names: &Names, state: &EngineState, raw: &[RawStep], steps: &mut [FindingStep]) {
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
            Some(at) if same.len() > 1 => naming::lock::numbered(name, at + 1),
            _ => name.to_owned(),
        }
    };
    for (step, raw) in steps.iter_mut().zip(raw) {
        if let Some(lock) = raw.lock {
            step.variable = told(lock);
        }
        step.locks = held(raw).into_iter().map(told).collect();
        step.read_locks = state.locksets.for_reading(raw.point.locks).map(told).collect();
    }
}

/// What can happen, in one sentence.
pub fn message(rule: Rule, variables: &[String], units: &[UnitRef], steps: &[FindingStep]) -> String {
    as_sentence(words(rule, variables, units, steps))
}

/// A text that may begin with the name of a method, with a capital if that has an article: `The lambda in …`.
pub fn as_sentence(text: String) -> String {
    match text.strip_prefix("the ") {
        Some(rest) => format!("The {rest}"),
        None => text,
    }
}

fn words(rule: Rule, variables: &[String], units: &[UnitRef], steps: &[FindingStep]) -> String {
    let is_lock = |name: &String| {
        let of = |s: &FindingStep| {
            naming::lock::unnumbered(&s.variable) == name && matches!(s.op.as_str(), "acquire" | "release")
        };
        steps.iter().any(of)
    };
    let told = variables.iter().map(|name| match is_lock(name) {
        true => naming::lock::short(name),
        false => naming::variable::short(name),
    });
    let what = listed(&told.collect::<Vec<_>>());
    let place = |s: &FindingStep| match (s.method.is_empty(), s.line) {
        (true, _) => format!("thread {}", s.thread),
        (false, 0) => naming::method_in_sentence(&format!("{}.{}", s.class, s.method)),
        (false, line) => format!(
            "{} (line {line})",
            naming::method_in_sentence(&format!("{}.{}", s.class, s.method))
        ),
    };
    let bare_place = |s: &FindingStep| match place(s).split_once(" (line ") {
        Some((name, line)) => format!("{name}, line {}", line.trim_end_matches(')')),
        None => place(s),
    };
    let unit = units
        .first()
        .map_or_else(|| "a unit".to_owned(), |u| naming::method_in_sentence(&u.method));
    let other = steps
        .iter()
        .find(|s| steps.first().is_some_and(|f| f.thread != s.thread));
    let unruled = || format!("{what} is accessed without a consistent rule.");
    match rule.family() {
        RuleFamily::Race => match steps {
            [first, .., second] => match race_of_one_method(first, second, &what, variables.len() > 1) {
                Some(sentence) => sentence,
                None => format!(
                    "{} can {} {what} while {} {}s {}: nothing orders the two.",
                    place(first),
                    first.op,
                    place(second),
                    second.op,
                    if variables.len() > 1 { "them" } else { "it" }
                ),
            },
            _ => unruled(),
        },
        RuleFamily::Discipline => match steps {
            [first, .., second] => match places_of_one_method(first, second) {
                Some(calls) => format!("{what} is shared and written, but two calls of {calls} hold no common lock."),
                None => format!(
                    "{what} is shared and written, but {} and {} hold no common lock.",
                    place(first),
                    place(second)
                ),
            },
            _ => unruled(),
        },
        RuleFamily::Atomicity => match other {
            Some(other) => format!(
                "{unit} is not atomic: another thread can {} {what} ({}) between {}.",
                if other.op == "read" { "read" } else { "change" },
                bare_place(other),
                between(steps)
            ),
            None => unruled(),
        },
        RuleFamily::AtomicSet => match other {
            Some(other) => {
                let parts = match variables {
                    [_] => format!("The parts of {what}"),
                    _ => what,
                };
                let who = match is_in(other, units.first()) {
                    true => format!("two calls of {unit}"),
                    false => format!("{unit} and {}", place(other)),
                };
                format!("{parts} belong together, but {who} interleave so that one sees or leaves them half changed.")
            }
            None => unruled(),
        },
        RuleFamily::Serializability => {
            let who = match units_of_steps(units, steps).as_slice() {
                [one] => format!("Calls of {one} interleave"),
                some @ ([_, _] | [_, _, _]) => format!("{} interleave", listed(some)),
                _ => format!("{unit} interleaves with other threads"),
            };
            format!("{who} in a way that no serial order produces ({what}).")
        }
        RuleFamily::LockOrder => match variables {
            // Locks of one class have one name.
            [_] if what
                .rsplit('.')
                .next()
                .is_some_and(|name| name.starts_with(char::is_uppercase)) =>
            {
                format!("Threads lock several {what} objects in different orders and can deadlock.")
            }
            [_] => format!("Threads lock {what} of several objects in different orders and can deadlock."),
            _ => format!("Threads lock {what} in different orders and can deadlock."),
        },
        // The scan and the prover write their own sentences.
        RuleFamily::Failure | RuleFamily::Code => unruled(),
    }
}

/// A sentence about a pattern of the user's, under the name that the user gave it.
pub fn named(own_pattern: Option<&str>, sentence: String) -> String {
    match own_pattern {
        Some(name) => format!("{name}: {sentence}"),
        None => sentence,
    }
}

/// Between which of its own accesses a unit lets another thread in: those of the first step's thread around the first step of another. Of
/// an object of the JDK the program knows the calls.
fn between(steps: &[FindingStep]) -> String {
    let own = |step: &&FindingStep| step.thread == steps[0].thread;
    let first = steps.iter().take_while(own).last();
    let last = steps.iter().skip_while(own).find(own);
    let called = |step: Option<&FindingStep>| step.map(|step| step.called.clone()).filter(|name| !name.is_empty());
    if let (Some(one), Some(other)) = (called(first), called(last)) {
        return match one == other {
            true => format!("two of its calls of {one}"),
            false => format!("its calls of {one} and {other}"),
        };
    }
    let (first, last) = (first.map(|s| s.op.as_str()), last.map(|s| s.op.as_str()));
    let words = match (first.unwrap_or_default(), last.unwrap_or_default()) {
        ("read", "read") => "two of its reads",
        ("read", "write" | "update") => "its read and its write",
        ("write" | "update", "read") => "its write and its read",
        ("write" | "update", "write" | "update") => "two of its writes",
        _ => "two of its accesses",
    };
    words.to_owned()
}

/// The sentence of a race whose accesses lie in one method: two threads run it. None if they lie in two.
fn race_of_one_method(first: &FindingStep, second: &FindingStep, what: &str, several: bool) -> Option<String> {
    if !is_one_method(first, second) {
        return None;
    }
    let method = naming::method_in_sentence(&format!("{}.{}", first.class, first.method));
    let line = |line: u32| match line {
        0 => String::new(),
        line => format!(" (line {line})"),
    };
    let at = line(second.line);
    let deeds = match (first.op == second.op, first.line == second.line) {
        (true, true) => format!("both {} {what}{at}", first.op),
        (_, one_line) => format!(
            "one {}s {what}{} while the other {}s {}{at}",
            first.op,
            if one_line { String::new() } else { line(first.line) },
            second.op,
            if several { "them" } else { "it" }
        ),
    };
    Some(format!("Two threads can run {method} at once: {deeds}."))
}

/// Whether two steps are in one method that is known.
fn is_one_method(first: &FindingStep, second: &FindingStep) -> bool {
    !first.method.is_empty() && (&first.class, &first.method) == (&second.class, &second.method)
}

/// The methods that the steps' threads are in as units, each once; none if a thread is in no unit, or if there is but one thread.
fn units_of_steps(units: &[UnitRef], steps: &[FindingStep]) -> Vec<String> {
    let mut methods: Vec<String> = Vec::new();
    if steps.iter().all(|step| step.thread == steps[0].thread) {
        return methods;
    }
    for step in steps {
        let Some(unit) = units.iter().find(|unit| unit.thread == step.thread) else {
            return Vec::new();
        };
        let method = naming::method_in_sentence(&unit.method);
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    methods
}

/// Whether a step lies in the method that a unit is.
fn is_in(step: &FindingStep, unit: Option<&UnitRef>) -> bool {
    let method = format!("{}.{}", step.class, step.method);
    unit.is_some_and(|unit| !step.method.is_empty() && unit.method == method)
}

/// The method that two steps are in, with their lines: `Stock.add (line 41)`, `Stock.add (lines 41 and 43)`. None if they are in two methods.
fn places_of_one_method(first: &FindingStep, second: &FindingStep) -> Option<String> {
    if !is_one_method(first, second) {
        return None;
    }
    let method = naming::method_in_sentence(&format!("{}.{}", first.class, first.method));
    let (from, to) = (first.line.min(second.line), first.line.max(second.line));
    Some(match (from, to) {
        (0, 0) => method,
        (0, line) => format!("{method} (line {line})"),
        (from, to) if from == to => format!("{method} (line {to})"),
        (from, to) => format!("{method} (lines {from} and {to})"),
    })
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => "shared state".to_owned(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::UnitKind;

    fn step(thread: &str, op: &str, method: &str, line: u32) -> FindingStep {
        FindingStep {
            thread: thread.to_owned(),
            op: op.to_owned(),
            class: "shop.Phonebook".to_owned(),
            method: method.to_owned(),
            line,
            ..FindingStep::default()
        }
    }

    fn race(first: FindingStep, second: FindingStep) -> String {
        let variables = ["shop.Phonebook.numbers".to_owned()];
        message(Rule::DataRace, &variables, &[], &[first, second])
    }

    #[test]
    fn a_race_of_two_methods_names_both() {
        assert_eq!(
            race(step("t1", "read", "get()V", 9), step("t2", "write", "add()V", 16)),
            "Phonebook.get (line 9) can read Phonebook.numbers while Phonebook.add (line 16) writes it: nothing orders the two."
        );
    }

    #[test]
    fn a_race_of_one_method_with_itself_is_told_of_two_threads() {
        let told = |one: (&str, u32), other: (&str, u32), method: &str| {
            race(step("t1", one.0, method, one.1), step("t2", other.0, method, other.1))
        };
        assert_eq!(
            told(("read", 16), ("write", 16), "add()V"),
            "Two threads can run Phonebook.add at once: one reads Phonebook.numbers while the other writes it (line 16)."
        );
        assert_eq!(
            told(("write", 16), ("read", 18), "add()V"),
            "Two threads can run Phonebook.add at once: one writes Phonebook.numbers (line 16) while the other reads it \
             (line 18)."
        );
        assert_eq!(
            told(("write", 16), ("write", 16), "add()V"),
            "Two threads can run Phonebook.add at once: both write Phonebook.numbers (line 16)."
        );
        assert_eq!(
            told(("update", 0), ("update", 0), "lambda$main$0()V"),
            "Two threads can run the lambda in Phonebook.main at once: both update Phonebook.numbers."
        );
        assert!(
            race(
                step("t1", "read", "lambda$main$0()V", 5),
                step("t2", "write", "add()V", 16)
            )
            .starts_with("The lambda in Phonebook.main (line 5) can read ")
        );
        // Two overloads are two methods.
        assert!(
            race(step("t1", "read", "add()V", 16), step("t2", "write", "add(I)V", 20))
                .starts_with("Phonebook.add (line 16) can read ")
        );
    }

    #[test]
    fn a_cycle_names_its_methods() {
        let told = |methods: &[&str]| {
            let threads = ["t1", "t2", "t3", "t4"];
            let unit = |(method, thread): (&&str, &str)| UnitRef {
                thread: thread.to_owned(),
                method: format!("shop.Duty.{method}()V"),
                kind: UnitKind::Method,
            };
            let units: Vec<UnitRef> = methods.iter().zip(threads).map(unit).collect();
            let steps = threads.map(|thread| step(thread, "write", "leave()V", 7));
            let variables = ["shop.Duty.away".to_owned()];
            message(Rule::Unserializable, &variables, &units, &steps)
        };
        let rest = "in a way that no serial order produces (Duty.away).";
        assert_eq!(
            told(&["ann", "ben", "cleo", "ann"]),
            format!("Duty.ann, Duty.ben and Duty.cleo interleave {rest}")
        );
        assert_eq!(
            told(&["ann", "ann", "ann", "ann"]),
            format!("Calls of Duty.ann interleave {rest}")
        );
        let alone = format!("Duty.ann interleaves with other threads {rest}");
        assert_eq!(told(&["ann", "ben", "cleo", "dora"]), alone);
        assert_eq!(told(&["ann", "ben"]), alone, "two threads are in no unit");
    }

    #[test]
    fn two_calls_of_one_method_leave_a_set_half_changed() {
        let steps = [
            step("t1", "write", "set(II)V", 7),
            step("t2", "write", "set(II)V", 7),
            step("t2", "write", "set(II)V", 8),
            step("t1", "write", "set(II)V", 8),
        ];
        let variables = ["shop.Phonebook.low".to_owned(), "shop.Phonebook.high".to_owned()];
        let unit = UnitRef {
            thread: "t1".to_owned(),
            method: "shop.Phonebook.set(II)V".to_owned(),
            kind: UnitKind::Method,
        };
        assert_eq!(
            message(Rule::AtomicSet, &variables, &[unit], &steps),
            "Phonebook.low and Phonebook.high belong together, but two calls of Phonebook.set interleave so that one sees \
             or leaves them half changed."
        );
    }
}
