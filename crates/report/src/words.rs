//! The JVM's names and Ravel's enumerations in the words that people read. Every format says the same thing the same
//! way because all of them ask here.

use ravel_analysis::finding::{Evidence, Finding, Outcome, Rule, Step, UnitKind};
use ravel_analysis::readable;

/// All rules, in the order in which pages and suites list them.
pub const RULES: [Rule; 12] = [
    Rule::DataRace,
    Rule::Atomicity,
    Rule::AtomicSet,
    Rule::Unserializable,
    Rule::LockDiscipline,
    Rule::LockOrder,
    Rule::LockPattern,
    Rule::GuardedBy,
    Rule::DoubleCheckedLocking,
    Rule::ReassignedLock,
    Rule::WaitOutsideLoop,
    Rule::NakedNotify,
];

/// All steps of the evidence ladder, strongest first.
pub const LADDER: [Evidence; 5] = [
    Evidence::Harmful,
    Evidence::Confirmed,
    Evidence::Witnessed,
    Evidence::Predicted,
    Evidence::Suspected,
];

/// The rule's id, `data-race`.
pub fn rule(rule: Rule) -> &'static str {
    rule.name()
}

/// The evidence's id, `harmful`.
pub fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Suspected => "suspected",
        Evidence::Predicted => "predicted",
        Evidence::Witnessed => "witnessed",
        Evidence::Confirmed => "confirmed",
        Evidence::Harmful => "harmful",
    }
}

/// The evidence with this id.
pub fn parse_evidence(name: &str) -> Option<Evidence> {
    LADDER.into_iter().find(|&e| evidence(e) == name)
}

/// The rule with this id.
pub fn parse_rule(name: &str) -> Option<Rule> {
    RULES.into_iter().find(|&r| rule(r) == name)
}

/// What a step of the ladder says, and what it leaves open.
pub fn evidence_meaning(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Suspected => "a rule of thumb is broken; no order of the threads was worked out that shows harm",
        Evidence::Predicted => {
            "locks and order allow it; no whole schedule was found that leads there, so it was not forced"
        }
        Evidence::Witnessed => "a whole schedule leads there; it has not happened in a forced run",
        Evidence::Confirmed => "it happened in a forced run; that run ended as a serial order could also end",
        Evidence::Harmful => "it happened in a forced run, and that run ended as no serial order ends",
    }
}

/// The kind of unit, as a noun.
pub fn unit_kind(kind: UnitKind) -> &'static str {
    match kind {
        UnitKind::Section => "critical section",
        UnitKind::Method => "method",
        UnitKind::Compound => "compound action",
        UnitKind::Declared => "declared unit",
    }
}

/// What kind of end a forced run had, as a noun phrase.
pub fn outcome_kind(outcome: &Outcome) -> &str {
    match outcome.kind.as_str() {
        "normal" => "ended normally",
        "exception" => "uncaught exception",
        "deadlock" => "deadlock",
        "hang" => "hang",
        "exit" => "another exit code",
        "output" => "another output",
        "value" => "wrong value",
        "return" => "wrong result",
        other => other,
    }
}

/// `shop.Stock$1` without its package: `Stock$1`.
pub fn simple_class(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// `shop.Stock$1` without its class: `shop`, empty for the default package.
pub fn package(class: &str) -> &str {
    class.rsplit_once('.').map_or("", |(package, _)| package)
}

/// `shop.Stock.items` as `items`, `int[] in shop.Stock` as `int[]`. The state of a class of the JDK keeps that class,
/// `AtomicInteger.state`: its name alone would tell nothing.
pub fn simple_variable(variable: &str) -> String {
    if variable.starts_with("java.") || variable.starts_with("javax.") {
        return short_variable(variable);
    }
    readable::member(raw_variable(variable))
}

/// `shop.Stock.items` as `items`, as the class file has it.
fn raw_variable(variable: &str) -> &str {
    match variable.split_once(" in ") {
        Some((array, _)) => array,
        None => variable.rsplit('.').next().unwrap_or(variable),
    }
}

/// `shop.Stock.items` as `Stock.items`, `int[] in shop.Stock` as `int[] in Stock`.
pub fn short_variable(variable: &str) -> String {
    if let Some((array, class)) = variable.split_once(" in ") {
        return format!("{array} in {}", readable::class(class));
    }
    match variable.rsplit_once('.') {
        Some((class, field)) => format!("{}.{}", readable::class(class), readable::member(field)),
        None => readable::class(variable),
    }
}

/// The class of `shop.Stock.items` or `int[] in shop.Stock`: `shop.Stock`.
pub fn class_of_variable(variable: &str) -> Option<&str> {
    match variable.split_once(" in ") {
        Some((_, class)) => Some(class),
        None => variable.rsplit_once('.').map(|(class, _)| class),
    }
}

/// The word that stands for a variable in source code; none for array elements and the state of library objects.
pub fn variable_word(variable: &str) -> Option<&str> {
    if variable.starts_with("java.") || variable.starts_with("javax.") || variable.contains(" in ") {
        return None;
    }
    let name = raw_variable(variable).split(['[', '{']).next()?;
    // Scala's lazy values and private members have longer names in the class file.
    let name = name.rsplit("$$").next()?.split("$lzy").next()?;
    (!name.is_empty()).then_some(name)
}

/// `shop.Stock.take` as `Stock.take`.
pub fn short_name(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((class, member)) => readable::method(class, member),
        None => readable::member(name),
    }
}

/// `shop.Stock.take(ILjava/lang/String;)Z` as `Stock.take(int, String)`; what is no descriptor is left alone.
pub fn method(qualified: &str) -> String {
    let (name, descriptor) = match qualified.find('(') {
        Some(at) => qualified.split_at(at),
        None => (qualified, ""),
    };
    let short = short_name(name);
    let (class, member) = name.rsplit_once('.').unwrap_or(("", name));
    if !readable::has_own_parameters(class, member) {
        return short;
    }
    match parameters(descriptor) {
        Some(parameters) => format!("{short}({})", parameters.join(", ")),
        None => format!("{short}{descriptor}"),
    }
}

/// A line of a stack, `shop.Stock.count (Stock.java:14)`, with the name as people wrote it.
pub fn frame(frame: &str) -> String {
    match frame.split_once(" (") {
        Some((method, place)) => format!("{} ({place}", short_name(method)),
        None => short_name(frame),
    }
}

/// The method of a step, with its class: `Stock.count()`; empty for a trace that knows no methods.
pub fn step_method(step: &Step) -> String {
    match (step.class.is_empty(), step.method.is_empty()) {
        (true, _) => method(&step.method),
        (false, true) => readable::class(&step.class),
        (false, false) => method(&format!("{}.{}", step.class, step.method)),
    }
}

/// Where a step happens, as in ` at Stock.java:14 in Stock.count()`; empty if nothing is known.
pub fn at(step: &Step) -> String {
    let (place, method) = (place(step), step_method(step));
    match (place.is_empty(), method.is_empty()) {
        (true, true) => String::new(),
        (false, true) => format!(" at {place}"),
        (true, false) => format!(" in {method}"),
        (false, false) => format!(" at {place} in {method}"),
    }
}

fn parameters(descriptor: &str) -> Option<Vec<String>> {
    let inner = descriptor.strip_prefix('(')?.split_once(')')?.0;
    let mut rest = inner;
    let mut parameters = Vec::new();
    while !rest.is_empty() {
        let element = rest.trim_start_matches('[');
        let dimensions = rest.len() - element.len();
        let (name, after) = match element.chars().next()? {
            'L' => {
                let (class, after) = element[1..].split_once(';')?;
                (readable::class(class.rsplit('/').next().unwrap_or(class)), after)
            }
            primitive => (primitive_name(primitive)?.to_owned(), &element[1..]),
        };
        parameters.push(format!("{name}{}", "[]".repeat(dimensions)));
        rest = after;
    }
    Some(parameters)
}

fn primitive_name(code: char) -> Option<&'static str> {
    Some(match code {
        'Z' => "boolean",
        'B' => "byte",
        'C' => "char",
        'S' => "short",
        'I' => "int",
        'J' => "long",
        'F' => "float",
        'D' => "double",
        _ => return None,
    })
}

/// What a step does, as in `reads items`.
pub fn step_does(step: &Step) -> String {
    let verb = match step.op.as_str() {
        "read" => "reads",
        "write" => "writes",
        "update" => "updates",
        "acquire" => "takes",
        "release" => "gives up",
        "block" => "waits for",
        "wait" => "waits",
        "notify" => "notifies",
        "fork" => "starts a thread",
        "begin" => "begins",
        "end" => "ends",
        "join" => "joins a thread",
        "enter" => "enters",
        "exit" => "leaves",
        other => other,
    };
    with_object(verb, step)
}

/// A step as a short order, as in `read items`.
pub fn step_op(step: &Step) -> String {
    let order = if step.op == "block" { "wait for" } else { &step.op };
    with_object(order, step)
}

/// Who does a step: its thread, or nobody in particular for what was found without a run.
pub fn who(step: &Step) -> &str {
    if step.thread.is_empty() {
        "a thread"
    } else {
        &step.thread
    }
}

fn with_object(verb: &str, step: &Step) -> String {
    if let Some(lock) = lock_of(step) {
        return format!("{verb} {}", lock_name(lock));
    }
    if !step.variable.is_empty() {
        return format!("{verb} {}", simple_variable(&step.variable));
    }
    match step.op.as_str() {
        "acquire" | "block" | "release" => format!("{verb} a lock"),
        "enter" | "exit" => format!("{verb} {}", step_method(step)),
        _ => verb.to_owned(),
    }
}

/// The lock that a lock operation is about: named as its variable, else the newest of those held after an acquire.
pub fn lock_of(step: &Step) -> Option<&str> {
    match step.op.as_str() {
        "acquire" | "block" | "release" if !step.variable.is_empty() => Some(&step.variable),
        "acquire" => step.locks.last().map(String::as_str),
        _ => None,
    }
}

/// `shop.Stock$Shelf@3` as `Stock.Shelf@3`, `shop.Stock.lock` as `Stock.lock`, `shop.Stock.class` as `Stock.class`. What
/// code calls a lock (`this.lock`, `other.lock`) has no package and is left alone.
pub fn lock_name(lock: &str) -> String {
    if let Some((name, number)) = lock.split_once('@') {
        return format!("{}@{number}", lock_name(name));
    }
    let is_class = |part: &str| part.starts_with(|c: char| c.is_uppercase());
    let parts: Vec<&str> = lock.split('.').collect();
    match parts.iter().position(|part| is_class(part)) {
        _ if parts[0] == "this" => lock.to_owned(),
        Some(at) if at + 1 < parts.len() => {
            let members: Vec<String> = parts[at + 1..].iter().map(|part| readable::member(part)).collect();
            format!("{}.{}", readable::class(parts[at]), members.join("."))
        }
        Some(_) => readable::class(lock),
        None => lock.to_owned(),
    }
}

/// The locks held beside the one that the step itself takes or gives up, as in `holding Stock, Log`; none if there are
/// none.
pub fn holding(step: &Step) -> Option<String> {
    let mut names: Vec<&str> = step.locks.iter().map(String::as_str).collect();
    // One lock, not all of that name: two objects of one class are two locks. A blocked step does not hold its lock.
    if step.op != "block"
        && let Some(own) = lock_of(step)
        && let Some(at) = names.iter().rposition(|name| *name == own)
    {
        names.remove(at);
    }
    let names: Vec<String> = names.into_iter().map(lock_name).collect();
    (!names.is_empty()).then(|| format!("holding {}", names.join(", ")))
}

/// The locks of a step, as in `, holding Stock, Log`; an access says so when there are none.
pub fn locks_held(step: &Step) -> String {
    match holding(step) {
        Some(holding) => format!(", {holding}"),
        None if is_access(step) => ", no lock held".to_owned(),
        None => String::new(),
    }
}

/// Whether the step reads or writes a location.
pub fn is_access(step: &Step) -> bool {
    matches!(step.op.as_str(), "read" | "write" | "update")
}

/// A step as a sentence: `t1 reads items at Stock.java:14 in Stock.count(), no lock held`.
pub fn step_told(step: &Step) -> String {
    format!("{} {}{}{}", who(step), step_does(step), at(step), locks_held(step))
}

/// `Stock.java:14`, `Stock.java`, or the class if the file is not known; empty if nothing is.
pub fn place(step: &Step) -> String {
    let name = if step.file.is_empty() {
        readable::class(&step.class)
    } else {
        step.file.clone()
    };
    match (name.is_empty(), step.line) {
        (_, 0) => name,
        (true, line) => format!("line {line}"),
        (false, line) => format!("{name}:{line}"),
    }
}

/// The threads of the interleaving, in order of first appearance.
pub fn threads(finding: &Finding) -> Vec<&str> {
    let mut threads: Vec<&str> = Vec::new();
    for step in &finding.steps {
        if !threads.contains(&step.thread.as_str()) {
            threads.push(&step.thread);
        }
    }
    threads
}

/// Which step decides: the one of another thread that gets in between, the second access of a race, the acquire that
/// closes the circle. Only an interleaving of two threads has one.
pub fn decisive(finding: &Finding) -> Option<usize> {
    let steps = &finding.steps;
    let first = steps.first()?;
    if steps.iter().all(|s| s.thread == first.thread) {
        return None;
    }
    match finding.rule {
        Rule::LockOrder => steps.iter().rposition(|s| matches!(s.op.as_str(), "acquire" | "block")),
        Rule::Atomicity | Rule::AtomicSet | Rule::Unserializable => {
            let opener = steps.iter().find(|s| is_access(s)).unwrap_or(first);
            let resumes = steps.iter().rposition(|s| s.thread == opener.thread && is_access(s))?;
            steps[..resumes]
                .iter()
                .rposition(|s| s.thread != opener.thread && is_access(s))
        }
        _ => steps.iter().rposition(is_access),
    }
}

/// What the interleaving of a finding shows.
pub fn order_heading(finding: &Finding) -> &'static str {
    match (finding.evidence, finding.rule) {
        (Evidence::Suspected, _) => "the accesses",
        (_, Rule::DataRace) => "two accesses that nothing keeps apart",
        (_, Rule::LockOrder) => "the order that locks up",
        _ => "the order that breaks it",
    }
}

/// The finding as it is told to people: what happens inside the JDK where the program called it; in a circle of locks, the last acquire of each thread is the one that blocks.
pub fn told(finding: &Finding) -> Finding {
    let mut told = finding.clone();
    told.candidates.clear();
    for step in &mut told.steps {
        if let Some(seen) = ravel_analysis::describe::seen_by_caller(step) {
            *step = seen;
        }
    }
    if told.rule != Rule::LockOrder {
        return told;
    }
    let is_acquire = |s: &Step| s.op == "acquire";
    for at in 0..told.steps.len() {
        let thread = told.steps[at].thread.clone();
        let others = |range: &[Step]| range.iter().any(|s| is_acquire(s) && s.thread == thread);
        let blocks = is_acquire(&told.steps[at]) && others(&told.steps[..at]) && !others(&told.steps[at + 1..]);
        if blocks {
            let step = &mut told.steps[at];
            if let Some(own) = step.locks.iter().rposition(|l| *l == step.variable) {
                step.locks.remove(own);
            }
            step.op = "block".to_owned();
        }
    }
    tell_locks_apart(&mut told.steps);
    told
}

/// Two threads that wait for each other over locks of one class: each waits for the one that the other holds, so they can
/// be told apart, `Account@1` and `Account@2`, where their names alone are the same.
fn tell_locks_apart(steps: &mut [Step]) {
    let [first, second, third, fourth] = steps else { return };
    let one_name = [&*second, &*third, &*fourth]
        .iter()
        .all(|s| s.variable == first.variable);
    let in_turn = first.thread == third.thread && second.thread == fourth.thread && first.thread != second.thread;
    let shape = first.op == "acquire" && second.op == "acquire" && third.op == "block" && fourth.op == "block";
    if !(one_name && in_turn && shape) || first.variable.is_empty() {
        return;
    }
    let name = first.variable.clone();
    for (step, held, own) in [(first, 1, 1), (second, 2, 2), (third, 1, 2), (fourth, 2, 1)] {
        if let Some(lock) = step.locks.iter_mut().rfind(|l| **l == name) {
            *lock = format!("{name}@{held}");
        }
        step.variable = format!("{name}@{own}");
    }
}

/// The step where a reader should look first: the decisive one, else the first that has a line, else the first.
pub fn main_place(finding: &Finding) -> Option<&Step> {
    decisive(finding)
        .and_then(|at| finding.steps.get(at))
        .filter(|s| !s.file.is_empty())
        .or_else(|| finding.steps.iter().find(|s| s.line > 0))
        .or(finding.steps.first())
}

/// The variables of a finding, as in `Range.low, Range.high`; a class whose fields are named is not named itself.
pub fn variables(finding: &Finding) -> String {
    let all = &finding.variables;
    let is_owner = |v: &String| {
        all.iter()
            .any(|o| o.strip_prefix(v.as_str()).is_some_and(|r| r.starts_with('.')))
    };
    let is_lock = |v: &String| {
        let of = |s: &Step| lock_of(s).is_some_and(|l| l.split('@').next() == Some(v));
        finding.rule == Rule::LockOrder || finding.steps.iter().any(of)
    };
    let short = all.iter().filter(|v| !is_owner(v)).map(|v| match is_lock(v) {
        true => lock_name(v),
        false => short_variable(v),
    });
    listed(short.collect(), MOST_VARIABLES)
}

/// Names that a line has room for.
const MOST_VARIABLES: usize = 5;

/// The first few of a list, and how many more there are.
pub fn listed(all: Vec<String>, most: usize) -> String {
    match all.len().saturating_sub(most) {
        0 => all.join(", "),
        more => format!("{} and {more} more", all[..most].join(", ")),
    }
}

/// What is expected to be one step, a line for each method: `Stock.take(int) in t1 and t2 (critical section)`.
pub fn units(finding: &Finding) -> Vec<String> {
    let mut known: Vec<(&str, Vec<&str>, Vec<UnitKind>)> = Vec::new();
    for unit in &finding.units {
        if !known.iter().any(|(method, ..)| *method == unit.method) {
            known.push((&unit.method, Vec::new(), Vec::new()));
        }
        let Some((_, threads, kinds)) = known.iter_mut().find(|(method, ..)| *method == unit.method) else {
            continue;
        };
        if !unit.thread.is_empty() && !threads.contains(&unit.thread.as_str()) {
            threads.push(&unit.thread);
        }
        kinds.push(unit.kind);
    }
    let line = |(name, threads, kinds): (&str, Vec<&str>, Vec<UnitKind>)| {
        let within = match threads.as_slice() {
            [] => String::new(),
            [init @ .., last] if !init.is_empty() => format!(" in {} and {last}", init.join(", ")),
            [one, ..] => format!(" in {one}"),
        };
        // The surest reason to call it one step is reason enough.
        let kind = SURENESS.into_iter().find(|kind| kinds.contains(kind));
        let kind = kind.map(|kind| format!(" ({})", unit_kind(kind))).unwrap_or_default();
        format!("{}{within}{kind}", method(name))
    };
    known.into_iter().map(line).collect()
}

/// Kinds of units, the surest first.
const SURENESS: [UnitKind; 4] = [
    UnitKind::Declared,
    UnitKind::Section,
    UnitKind::Compound,
    UnitKind::Method,
];

/// A command for people: `java` for wherever the JVM lies.
pub fn program(command: &str) -> String {
    let (first, rest) = command.split_once(' ').unwrap_or((command, ""));
    match first.rsplit_once('/') {
        Some((_, name @ ("java" | "java.exe"))) => format!("{name} {rest}").trim_end().to_owned(),
        _ => command.to_owned(),
    }
}

/// How a forced run ended, as in `uncaught exception in t1: java.lang.Exception`.
pub fn outcome(outcome: &Outcome) -> String {
    let mut text = outcome_kind(outcome).to_owned();
    if let Some(thread) = &outcome.thread {
        text.push_str(" in ");
        text.push_str(thread);
    }
    if !outcome.message.is_empty() {
        text.push_str(": ");
        text.push_str(&outcome.message);
    }
    text
}

/// A number with its thousands marked: `1,204,331`.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 bug`, `2 bugs`.
pub fn count(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", number(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_read_like_java() {
        assert_eq!(method("shop.Stock.take(I)Z"), "Stock.take(int)");
        assert_eq!(
            method("shop.Stock$1.put([[JLjava/util/Map$Entry;D)V"),
            "Stock$1.put(long[][], Map.Entry, double)"
        );
        assert_eq!(method("Main.run()V"), "Main.run()");
    }

    #[test]
    fn what_happens_in_the_jdk_is_told_where_it_was_called() {
        let text = r#"{"thread": "t", "op": "write", "variable": "java.util.HashMap$Node.value", "class": "java.util.HashMap",
            "method": "putVal()V", "file": "HashMap.java", "line": 654, "locks": [],
            "stack": ["shop.Stock.remove (Stock.java:22)", "shop.Shop.sell (Shop.java:16)"]}"#;
        let step: Step = serde_json::from_str(text).expect("a step");
        let seen = ravel_analysis::describe::seen_by_caller(&step).expect("a caller");
        assert_eq!(
            step_told(&seen),
            "t writes HashMap.Node.value at Stock.java:22 in Stock.remove, no lock held"
        );
        assert_eq!(ravel_analysis::describe::seen_by_caller(&seen), None);
    }

    #[test]
    fn a_damaged_descriptor_is_left_alone() {
        for damaged in ["a.B.c(", "a.B.c(Q)V", "a.B.c(Lx)V", "a.B.c([)V", "", "(", "a.B.c(é)V"] {
            method(damaged);
        }
        assert_eq!(method("a.B.c(Q)V"), "B.c(Q)V");
    }

    #[test]
    fn variables_keep_their_class() {
        assert_eq!(short_variable("shop.Stock.items"), "Stock.items");
        assert_eq!(short_variable("x"), "x");
        assert_eq!(simple_variable("shop.Stock.items"), "items");
        assert_eq!(simple_variable("int[] in shop.Stock"), "int[]");
        assert_eq!(short_variable("int[] in shop.Stock"), "int[] in Stock");
        assert_eq!(class_of_variable("int[] in shop.Stock"), Some("shop.Stock"));
        let state = "java.util.concurrent.atomic.AtomicInteger.state";
        assert_eq!(simple_variable(state), "AtomicInteger.state");
        assert_eq!(variable_word("shop.Stock.items"), Some("items"));
        assert_eq!(
            (variable_word(state), variable_word("int[] in a.B"), variable_word("")),
            (None, None, None)
        );
    }

    #[test]
    fn locks_are_named_without_packages() {
        for (lock, name) in [
            ("shop.Stock$Shelf@3", "Stock.Shelf@3"),
            ("shop.Stock.lock", "Stock.lock"),
            ("shop.Stock.lock@2", "Stock.lock@2"),
            ("shop.Stock.class", "Stock.class"),
            ("an object of shop.Stock", "Stock"),
            ("this.stock.lock", "this.stock.lock"),
            ("this", "this"),
            ("other.lock", "other.lock"),
            ("a local variable", "a local variable"),
            ("*", "*"),
            ("", ""),
        ] {
            assert_eq!(lock_name(lock), name, "{lock}");
        }
    }

    #[test]
    fn thousands_are_marked() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1000), "1,000");
        assert_eq!(number(1_204_331), "1,204,331");
    }
}
