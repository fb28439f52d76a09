//! What to change: the fix that a finding proposes, as specific as the calls of its steps allow.

use crate::describe::listed;
use crate::finding::{FindingStep, Rule, RuleFamily, UnitRef};
use ravel_trace::naming;

/// What to change.
pub fn help(rule: Rule, variables: &[String], units: &[UnitRef], steps: &[FindingStep]) -> String {
    let what = listed(
        &variables
            .iter()
            .map(|name| naming::variable::short(name))
            .collect::<Vec<_>>(),
    );
    let unit = units
        .first()
        .map_or_else(|| "the unit".to_owned(), |u| naming::qualified_method(&u.method));
    match rule.family() {
        RuleFamily::Race | RuleFamily::Discipline => {
            format!(
                "Guard every access to {what} by one lock, or make it volatile or atomic if single accesses suffice."
            )
        }
        RuleFamily::Atomicity | RuleFamily::AtomicSet => match one_call(variables, steps) {
            Some(call) => format!("{call}, or hold one lock over the whole of {unit} and all other uses of {what}."),
            None => format!(
                "Hold one lock over the whole of {unit}, the same that all other code takes for {what}, or use one atomic operation."
            ),
        },
        RuleFamily::Serializability => {
            format!("If {unit} must be atomic, hold one lock over all of it; if not, mark it @NotAtomic.")
        }
        RuleFamily::LockOrder => "Take the locks in the same order everywhere.".to_owned(),
        RuleFamily::Failure => "Order the threads so that it cannot happen.".to_owned(),
        RuleFamily::Code => "Hold the lock over both calls.".to_owned(),
    }
}

/// The one method that does what several calls of the interrupted unit do, where the calls say which.
fn one_call(variables: &[String], steps: &[FindingStep]) -> Option<&'static str> {
    let first = steps.first()?;
    let calls = steps.iter().filter(|step| step.thread == first.thread);
    let calls: Option<Vec<&str>> = calls
        .map(|step| {
            let call = naming::without_descriptor(step.inside.as_deref()?);
            call.rsplit('.').next()
        })
        .collect();
    let calls = calls?;
    let is = |class: &str| {
        let of = |name: &String| naming::variable::class_of(name).is_some_and(|name| name.ends_with(class));
        !variables.is_empty() && variables.iter().all(of)
    };
    let last = *calls.last()?;
    if is(".ConcurrentHashMap") || is(".ConcurrentSkipListMap") {
        return match (calls[0], last) {
            ("containsKey", "put") => Some("Use putIfAbsent or computeIfAbsent"),
            ("get" | "getOrDefault", "put" | "replace") => Some(
                "Use computeIfAbsent if it puts only what is missing, or merge if the new value depends on the old one",
            ),
            ("get" | "containsKey", "remove") => Some("Use remove(key, value) or computeIfPresent"),
            _ => None,
        };
    }
    if is(".AtomicInteger") || is(".AtomicLong") {
        return match (calls[0], last) {
            (
                "get",
                "set" | "lazySet" | "incrementAndGet" | "getAndIncrement" | "decrementAndGet" | "getAndDecrement"
                | "addAndGet" | "getAndAdd",
            ) => Some("Use one atomic operation (getAndIncrement, updateAndGet, or compareAndSet in a loop)"),
            _ => None,
        };
    }
    None
}

/// What to change where threads race inside an object of the platform.
pub fn library_help(class: &str, callers: &[String]) -> String {
    let name = naming::class(class);
    let callers = listed(&callers.iter().map(|caller| naming::class(caller)).collect::<Vec<_>>());
    let lock = format!("guard every call of it in {callers} by one lock");
    match class {
        "java.util.Vector" | "java.util.Hashtable" | "java.util.Stack" => format!(
            "Each method of {name} is synchronised, but its iterators, and several calls in a row, are not: hold the lock of the {name} over them \
             in {callers}."
        ),
        "java.text.SimpleDateFormat" => format!(
            "SimpleDateFormat is not made to be used by several threads at once: use a java.time.format.DateTimeFormatter, which \
             is immutable, or {lock}."
        ),
        _ => format!(
            "{name} is not made to be used by several threads at once: {}{lock}, or give each thread its own.",
            instead(class)
        ),
    }
}

/// The class that is made to be shared in place of another.
fn instead(class: &str) -> &'static str {
    match class {
        "java.util.HashMap" => "use a ConcurrentHashMap, ",
        "java.util.TreeMap" => "use a ConcurrentSkipListMap, ",
        "java.util.ArrayList" => "use a CopyOnWriteArrayList if it is read far more often than changed, ",
        "java.util.ArrayDeque" | "java.util.LinkedList" => "use a ConcurrentLinkedDeque, ",
        "java.util.PriorityQueue" => "use a PriorityBlockingQueue, ",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(thread: &str, inside: &str) -> FindingStep {
        FindingStep {
            thread: thread.to_owned(),
            inside: Some(inside.to_owned()),
            ..FindingStep::default()
        }
    }

    #[test]
    fn a_check_and_a_put_become_one_call() {
        let map = ["java.util.concurrent.ConcurrentHashMap.entry".to_owned()];
        let between = step("u", "java.util.concurrent.ConcurrentHashMap.put");
        let steps = |first: &str, last: &str| {
            let call = |name: &str| step("t", &format!("java.util.Map.{name}"));
            [call(first), between.clone(), call(last)]
        };
        let told = |first, last| help(Rule::Atomicity, &map, &[], &steps(first, last));
        assert!(told("containsKey", "put").starts_with("Use putIfAbsent or computeIfAbsent, or hold one lock"));
        assert!(told("get", "put").contains("computeIfAbsent") && told("get", "put").contains("merge"));
        assert!(told("size", "put").starts_with("Hold one lock"));
        let mut own = steps("get", "put");
        own[2].inside = None;
        assert!(help(Rule::Atomicity, &map, &[], &own).starts_with("Hold one lock"));
    }

    #[test]
    fn a_shared_object_of_the_jdk_has_its_own_advice() {
        let callers = ["shop.Shop".to_owned()];
        for (class, words) in [
            (
                "java.util.HashMap",
                "use a ConcurrentHashMap, guard every call of it in Shop by one lock",
            ),
            ("java.util.ArrayList", "CopyOnWriteArrayList"),
            ("java.text.SimpleDateFormat", "DateTimeFormatter"),
            (
                "java.util.Hashtable",
                "Each method of Hashtable is synchronised, but its iterators",
            ),
            ("java.util.BitSet", "at once: guard every call"),
        ] {
            let told = library_help(class, &callers);
            assert!(told.contains(words), "{told}");
        }
    }
}
