//! The steps of a finding in words: who does what, where, holding what, and which step decides.

use ravel_analysis::finding::{Evidence, Finding, FindingStep, RuleFamily};
use ravel_trace::naming::{self, lock};

/// The method of a step, with its class: `Stock.count()`; empty for a trace that knows no methods.
pub fn step_method(step: &FindingStep) -> String {
    match (step.class.is_empty(), step.method.is_empty()) {
        (true, _) => naming::signature(&step.method),
        (false, true) => naming::class(&step.class),
        (false, false) => naming::signature(&format!("{}.{}", step.class, step.method)),
    }
}

/// Where a step happens, as in ` at Stock.java:14 in Stock.count()`; empty if nothing is known.
pub fn at(step: &FindingStep) -> String {
    let (place, method) = (place(step), step_method(step));
    match (place.is_empty(), method.is_empty()) {
        (true, true) => String::new(),
        (false, true) => format!(" at {place}"),
        (true, false) => format!(" in {method}"),
        (false, false) => format!(" at {place} in {method}"),
    }
}

/// What a step does, as in `reads items`.
pub fn step_does(step: &FindingStep) -> String {
    let verb = match step.op.as_str() {
        "read" => "reads",
        "write" => "writes",
        "update" => "updates",
        "acquire" => "acquires",
        "release" => "releases",
        "block" => "waits for",
        "wait" => "waits on",
        "notify" => "notifies",
        "fork" => "starts a thread",
        "begin" => "starts",
        "end" => "ends",
        "join" => "joins a thread",
        "await-class" => "waits for the initialisation of",
        "throw" => "throws the exception",
        "return" => "returns",
        "enter" => "enters",
        "exit" => "leaves",
        "terminate" => "ends the program",
        other => other,
    };
    with_object(verb, step)
}

/// A step as a short order, as in `read items`.
pub fn step_op(step: &FindingStep) -> String {
    let order = match step.op.as_str() {
        "block" => "wait for",
        "wait" => "wait on",
        "await-class" => "wait for the initialisation of",
        "terminate" => "end the program",
        other => other,
    };
    with_object(order, step)
}

/// Who does a step: its thread, or "a thread" for a finding of the static scan.
pub fn who(step: &FindingStep) -> &str {
    if step.thread.is_empty() {
        "a thread"
    } else {
        &step.thread
    }
}

fn with_object(verb: &str, step: &FindingStep) -> String {
    if let Some(own) = lock_of(step) {
        return format!("{verb} {}", held_as(step, own));
    }
    if matches!(step.op.as_str(), "wait" | "notify") && !step.variable.is_empty() {
        let on = if step.op == "notify" {
            " the threads that wait on"
        } else {
            ""
        };
        return format!("{verb}{on} {}", lock::short(&step.variable));
    }
    if step.op == "await-class" {
        return format!("{verb} {}", naming::class(&step.variable));
    }
    if !step.variable.is_empty() {
        let name = part_of(&naming::variable::simple(&step.variable), step.part.as_deref());
        return match step
            .value
            .as_deref()
            .filter(|_| is_access(step) && is_value_of_variable(step))
        {
            Some(value) => format!("{verb} {name} = {value}"),
            None => format!("{verb} {name}"),
        };
    }
    match step.op.as_str() {
        "acquire" | "block" | "release" | "wait" => format!("{verb} a lock"),
        "enter" | "exit" => format!("{verb} {}", step_method(step)),
        _ => verb.to_owned(),
    }
}

/// Whether a step's value is that of the variable named, not of a field inside the collection or buffer that the variable holds.
fn is_value_of_variable(step: &FindingStep) -> bool {
    let tells = |inside: &str| {
        ["java.util.concurrent.atomic.", "java.lang.invoke."]
            .iter()
            .any(|of| inside.starts_with(of))
    };
    step.part.is_some() || step.inside.as_deref().is_none_or(tells)
}

/// The part of a variable that a step accesses: `cells[3]`, `m["k"]`, `lines.size()`. An array that nothing names is `int[]`, its element
/// `int[] at 3`.
fn part_of(name: &str, part: Option<&str>) -> String {
    match part {
        None => name.to_owned(),
        Some(method) if method.ends_with("()") => format!("{name}.{method}"),
        Some(index) if name.ends_with("[]") => format!("{name} at {index}"),
        Some(part) => format!("{name}[{part}]"),
    }
}

/// The lock that a lock operation is about: named as its variable, else the newest of those held after an acquire.
pub fn lock_of(step: &FindingStep) -> Option<&str> {
    match step.op.as_str() {
        "acquire" | "block" | "release" if !step.variable.is_empty() => Some(&step.variable),
        "acquire" => step.locks.last().map(String::as_str),
        _ => None,
    }
}

/// A lock that a step holds, and how: `Stock.guard`, `Stock.guard for reading`.
fn held_as(step: &FindingStep, name: &str) -> String {
    match step.read_locks.iter().any(|read| read == name) {
        true => format!("{} for reading", lock::short(name)),
        false => lock::short(name),
    }
}

/// The locks held beside the one that the step itself takes or gives up, as in `holding Stock, Log`; none if there are
/// none.
pub fn holding(step: &FindingStep) -> Option<String> {
    let mut names: Vec<&str> = step.locks.iter().map(String::as_str).collect();
    // One lock, not all of that name: two objects of one class are two locks. A blocked step does not hold its lock.
    if step.op != "block"
        && let Some(own) = lock_of(step)
        && let Some(at) = names.iter().rposition(|name| *name == own)
    {
        names.remove(at);
    }
    let names: Vec<String> = names.into_iter().map(|name| held_as(step, name)).collect();
    (!names.is_empty()).then(|| format!("holding {}", names.join(", ")))
}

/// The locks of a step, as in `, holding Stock, Log`; an access of a run says so when there are none. A step that was found in code
/// names only the locks that its rule is about.
pub fn locks_held(step: &FindingStep) -> String {
    match holding(step) {
        Some(holding) => format!(", {holding}"),
        None if is_access(step) && !step.thread.is_empty() => ", no lock held".to_owned(),
        None => String::new(),
    }
}

/// Whether the step reads or writes a location.
pub fn is_access(step: &FindingStep) -> bool {
    matches!(step.op.as_str(), "read" | "write" | "update")
}

/// A step as a sentence: `t1 reads items at Stock.java:14 in Stock.count(), no lock held`.
pub fn step_told(step: &FindingStep) -> String {
    format!("{} {}{}{}", who(step), step_does(step), at(step), locks_held(step))
}

/// `Stock.java:14`, `Stock.java`, or the class if the file is not known; empty if nothing is.
pub fn place(step: &FindingStep) -> String {
    step.frame().place_or_class()
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
    match finding.rule.family() {
        RuleFamily::LockOrder => steps.iter().rposition(|s| matches!(s.op.as_str(), "acquire" | "block")),
        RuleFamily::Atomicity | RuleFamily::AtomicSet | RuleFamily::Serializability => {
            let opener = steps.iter().find(|s| is_access(s)).unwrap_or(first);
            let resumes = steps.iter().rposition(|s| s.thread == opener.thread && is_access(s))?;
            steps[..resumes]
                .iter()
                .rposition(|s| s.thread != opener.thread && is_access(s))
        }
        RuleFamily::Race | RuleFamily::Discipline | RuleFamily::Code => steps.iter().rposition(is_access),
        RuleFamily::Failure => None,
    }
}

/// What the interleaving of a finding shows.
pub fn order_heading(finding: &Finding) -> &'static str {
    if finding.evidence == Evidence::Suspected {
        return match finding.steps.iter().all(is_access) {
            true => "the accesses",
            false => "the steps",
        };
    }
    match finding.rule.family() {
        RuleFamily::Race => "two accesses that nothing orders",
        RuleFamily::LockOrder => "the order that deadlocks",
        RuleFamily::Failure => "the threads at the failure",
        RuleFamily::Discipline
        | RuleFamily::Atomicity
        | RuleFamily::AtomicSet
        | RuleFamily::Serializability
        | RuleFamily::Code => "the order that breaks it",
    }
}

/// The finding as people read it: in a cycle of locks, the last acquire of each thread is the one that blocks.
pub fn told(finding: &Finding) -> Finding {
    let mut told = finding.clone();
    told.candidates.clear();
    if told.rule.family() != RuleFamily::LockOrder {
        return told;
    }
    let is_acquire = |s: &FindingStep| s.op == "acquire";
    for at in 0..told.steps.len() {
        let thread = told.steps[at].thread.clone();
        let others = |range: &[FindingStep]| range.iter().any(|s| is_acquire(s) && s.thread == thread);
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

/// Two threads that deadlock on locks of one class: each waits for the lock that the other holds, so the locks get numbers, `Account@1`
/// and `Account@2`.
fn tell_locks_apart(steps: &mut [FindingStep]) {
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
        for names in [&mut step.locks, &mut step.read_locks] {
            if let Some(known) = names.iter_mut().rfind(|l| **l == name) {
                *known = lock::numbered(&name, held);
            }
        }
        step.variable = lock::numbered(&name, own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravel_analysis::finding::Rule;

    #[test]
    fn a_step_tells_the_part_and_the_value() {
        let does = |variable: &str, part: Option<&str>, value: Option<&str>| {
            step_does(&FindingStep {
                op: "write".to_owned(),
                variable: variable.to_owned(),
                part: part.map(str::to_owned),
                value: value.map(str::to_owned),
                ..FindingStep::default()
            })
        };
        assert_eq!(does("shop.Stock.items", None, Some("3")), "writes items = 3");
        assert_eq!(does("shop.Stock.cells", Some("3"), Some("7")), "writes cells[3] = 7");
        assert_eq!(does("shop.Registry.m", Some("\"k\""), None), "writes m[\"k\"]");
        assert_eq!(does("int[] in shop.Stock", Some("3"), None), "writes int[] at 3");
        assert_eq!(
            does("shop.Log.lines", Some("size()"), Some("2")),
            "writes lines.size() = 2"
        );
        assert_eq!(
            does("shop.Cache.instance", None, Some("Session@1")),
            "writes instance = Session@1"
        );
    }

    #[test]
    fn a_counter_inside_a_map_is_not_the_value_of_the_variable() {
        let does = |inside: &str| {
            step_does(&FindingStep {
                op: "read".to_owned(),
                variable: "shop.Registry.m".to_owned(),
                value: Some("1".to_owned()),
                inside: Some(inside.to_owned()),
                ..FindingStep::default()
            })
        };
        assert_eq!(does("java.util.HashMap.putVal(I)V"), "reads m");
        assert_eq!(does("java.util.concurrent.atomic.AtomicInteger.get()I"), "reads m = 1");
    }

    #[test]
    fn the_heading_says_what_the_steps_are() {
        let told = |evidence, ops: &[&str]| {
            let step = |op: &&str| FindingStep {
                op: (*op).to_owned(),
                ..FindingStep::default()
            };
            order_heading(&Finding {
                steps: ops.iter().map(step).collect(),
                ..Finding::new("1".to_owned(), Rule::NestedWait, evidence)
            })
        };
        assert_eq!(told(Evidence::Suspected, &["read", "write"]), "the accesses");
        assert_eq!(told(Evidence::Suspected, &["acquire", "wait"]), "the steps");
        assert_eq!(
            told(Evidence::Confirmed, &["acquire", "wait"]),
            "the order that breaks it"
        );
    }

    #[test]
    fn only_a_run_knows_that_no_lock_is_held() {
        let mut step = FindingStep {
            thread: "t1".to_owned(),
            op: "write".to_owned(),
            ..FindingStep::default()
        };
        assert_eq!(locks_held(&step), ", no lock held");
        step.thread.clear();
        assert_eq!(locks_held(&step), "");
    }
}
