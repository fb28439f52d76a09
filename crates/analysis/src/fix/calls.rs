//! What to change about calls of the JDK: one call instead of two, a lock over both, a class that threads may share.

use super::{distinct, method};
use crate::describe::listed;
use crate::finding::{Finding, FindingStep};
use ravel_trace::naming;

/// The one method that does what several calls of the interrupted unit do, where the calls say which.
pub(super) fn one_call(variables: &[String], steps: &[FindingStep]) -> Option<&'static str> {
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
    let by_handle = |step: &FindingStep| {
        let call = step.inside.as_deref().unwrap_or_default();
        call.starts_with("java.lang.invoke.VarHandle.")
    };
    if steps.iter().all(by_handle) && calls[0].starts_with("get") && last.starts_with("set") {
        return Some("Use one atomic operation of the VarHandle (getAndAdd, getAndSet, or compareAndSet in a loop)");
    }
    if is(".ConcurrentHashMap") || is(".ConcurrentSkipListMap") {
        return one_map_call(calls[0], last);
    }
    let is_queue = calls.iter().all(|call| QUEUE_CALLS.contains(call));
    if is_queue && variables.iter().all(|name| is_queue_class(name)) {
        return one_queue_call(calls[0], last);
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

/// Methods of queues that look, and those that take.
const QUEUE_CALLS: [&str; 6] = ["isEmpty", "size", "peek", "poll", "remove", "take"];

/// Whether a variable is the state of a queue of `java.util.concurrent`.
fn is_queue_class(variable: &str) -> bool {
    let class = naming::variable::class_of(variable).unwrap_or_default();
    class.starts_with("java.util.concurrent.") && (class.ends_with("Queue") || class.ends_with("Deque"))
}

/// The method of a queue that does what two of its methods do one after the other.
fn one_queue_call(first: &str, last: &str) -> Option<&'static str> {
    match (first, last) {
        ("isEmpty" | "size" | "peek", "poll" | "remove" | "take") => {
            Some("Use poll alone and test its result for null")
        }
        _ => None,
    }
}

/// The method of a map that does what two of its methods do one after the other.
fn one_map_call(first: &str, last: &str) -> Option<&'static str> {
    match (first, last) {
        ("containsKey", "put") => Some("Use putIfAbsent or computeIfAbsent"),
        ("get" | "getOrDefault", "put" | "replace") => Some(
            "Use computeIfAbsent if it puts only what is missing, or merge if the new value depends on the old one",
        ),
        ("get" | "containsKey", "remove") => Some("Use remove(key, value) or computeIfPresent"),
        _ => None,
    }
}

/// The calls of an interrupted unit on an object of the JDK, first and last, if they are known and differ.
fn calls_of_unit(steps: &[FindingStep]) -> Option<(&str, &str)> {
    let thread = &steps.first()?.thread;
    let mut own = steps.iter().filter(|step| step.thread == *thread);
    let (first, last) = (own.next()?, own.next_back()?);
    let known = !first.called.is_empty() && !last.called.is_empty() && first.called != last.called;
    known.then_some((first.called.as_str(), last.called.as_str()))
}

/// What to change where a unit calls a collection more than once that is synchronised by itself; none if its calls are not known. `name` is the
/// field that holds the collection.
pub fn synchronised_help(finding: &Finding, name: &str) -> Option<String> {
    let unit = naming::method_in_sentence(&finding.units.first()?.method);
    let own: Vec<&FindingStep> = {
        let thread = &finding.steps.first()?.thread;
        finding.steps.iter().filter(|step| step.thread == *thread).collect()
    };
    let calls = distinct(own.iter().map(|step| step.called.clone()).collect());
    if calls.iter().any(String::is_empty) {
        return None;
    }
    let field = naming::variable::simple(name);
    let calls_words = match calls.as_slice() {
        [one] => format!("all calls of {one}"),
        several => format!("the calls of {}", listed(several)),
    };
    let lock = format!("put {calls_words} in {unit} into one block, synchronized ({field}) {{ … }}");
    let one = calls_of_unit(&finding.steps).and_then(|(first, last)| one_map_call(first, last));
    Some(match one {
        Some(one) => format!("{one}, or {lock}."),
        None => format!("P{}.", &lock[1..]),
    })
}

/// What to add to the fix of a race inside a map if a method asks the map and then changes it: a class whose calls exclude each other does not
/// make two of them one step. None if the calls are not known.
pub fn together_help(finding: &Finding) -> Option<String> {
    let steps = || finding.steps.iter().filter(|step| !step.called.is_empty());
    let pairs = steps().flat_map(|one| steps().map(move |other| (one, other)));
    let mut pairs = pairs.filter(|(one, other)| (&one.class, &one.method) == (&other.class, &other.method));
    pairs.find_map(|(one, other)| {
        let words = one_map_call(&one.called, &other.called)?;
        let unit = method(one)?;
        Some(format!(
            "{unit} calls {} and {}: to make them one step, u{}, or hold the lock over the whole of {unit}.",
            one.called,
            other.called,
            &words[1..]
        ))
    })
}

/// What to change where threads race inside an object of the platform.
pub fn library_help(class: &str, callers: &[String]) -> String {
    let name = match class {
        "java.lang.AbstractStringBuilder" => "StringBuilder".to_owned(),
        _ => naming::class(class),
    };
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
    use crate::finding::{Rule, UnitRef};
    use crate::fix::help;

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
    fn a_look_at_a_queue_and_a_poll_become_one_poll() {
        let queue = ["java.util.concurrent.ConcurrentLinkedQueue.state".to_owned()];
        let call =
            |thread: &str, name: &str| step(thread, &format!("java.util.concurrent.ConcurrentLinkedQueue.{name}"));
        let told = |first: &str, last: &str| {
            let steps = [call("t", first), call("u", "poll"), call("t", last)];
            help(Rule::Atomicity, &queue, &[], &steps)
        };
        assert!(told("isEmpty", "poll").starts_with("Use poll alone and test its result for null, or hold one lock"));
        assert!(told("poll", "poll").starts_with("Hold one lock"));
    }

    #[test]
    fn a_handle_has_atomic_operations_of_its_own() {
        let call = |thread: &str, name: &str| step(thread, &format!("java.lang.invoke.VarHandle.{name}"));
        let steps = [
            call("t", "getVolatile"),
            call("u", "setVolatile"),
            call("t", "setVolatile"),
        ];
        let told = help(Rule::Atomicity, &["pool.Sequence.next".to_owned()], &[], &steps);
        assert!(told.starts_with("Use one atomic operation of the VarHandle"), "{told}");
    }

    fn calling(called: &[&str]) -> Finding {
        let call = |name: &&str| FindingStep {
            thread: "t".to_owned(),
            called: (*name).to_owned(),
            ..FindingStep::default()
        };
        let unit = UnitRef {
            thread: "t".to_owned(),
            method: "shop.Shop.find(I)V".to_owned(),
            kind: crate::finding::UnitKind::Compound,
        };
        Finding {
            steps: called.iter().map(call).collect(),
            units: vec![unit],
            ..Finding::new(String::new(), Rule::Atomicity, crate::finding::Evidence::Predicted)
        }
    }

    #[test]
    fn calls_of_a_synchronised_collection_become_one_call_or_one_block() {
        let told = |called: &[&str]| synchronised_help(&calling(called), "shop.Shop.seats");
        assert_eq!(
            told(&["containsKey", "put"]).as_deref(),
            Some(
                "Use putIfAbsent or computeIfAbsent, or put the calls of containsKey and put in Shop.find into one block, \
                 synchronized (seats) { … }."
            )
        );
        assert_eq!(
            told(&["size", "add"]).as_deref(),
            Some("Put the calls of size and add in Shop.find into one block, synchronized (seats) { … }.")
        );
        assert_eq!(
            told(&["next", "next"]).as_deref(),
            Some("Put all calls of next in Shop.find into one block, synchronized (seats) { … }.")
        );
        assert_eq!(told(&["size", ""]), None);
    }

    #[test]
    fn a_race_inside_a_map_that_is_asked_and_then_changed_needs_one_step() {
        let mut race = calling(&["put", "get"]);
        let in_method = |step: &mut FindingStep, name: &str| {
            (step.class, step.method) = ("shop.Shop".to_owned(), format!("{name}(I)V"));
        };
        race.steps.iter_mut().for_each(|step| in_method(step, "find"));
        assert_eq!(
            together_help(&race).as_deref(),
            Some(
                "Shop.find calls get and put: to make them one step, use computeIfAbsent if it puts only what is missing, or merge if the \
                 new value depends on the old one, or hold the lock over the whole of Shop.find."
            )
        );
        in_method(&mut race.steps[0], "add");
        assert_eq!(together_help(&race), None, "two methods");
        let mut lists = calling(&["isEmpty", "remove"]);
        lists.steps.iter_mut().for_each(|step| in_method(step, "find"));
        assert_eq!(together_help(&lists), None);
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
