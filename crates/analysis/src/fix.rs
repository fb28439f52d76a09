//! What to change: the fix that a finding proposes, as specific as the calls of its steps allow.

use crate::describe::listed;
use crate::finding::{Finding, FindingStep, Rule, RuleFamily, UnitRef};
use ravel_trace::naming;

/// What to change.
pub fn help(rule: Rule, variables: &[String], units: &[UnitRef], steps: &[FindingStep]) -> String {
    let names: Vec<String> = variables.iter().map(|name| naming::variable::short(name)).collect();
    let what = listed(&names);
    let unit = units
        .first()
        .map_or_else(|| "the unit".to_owned(), |u| naming::qualified_method(&u.method));
    match rule.family() {
        RuleFamily::Race | RuleFamily::Discipline => one_lock_at(&what, steps),
        RuleFamily::Atomicity | RuleFamily::AtomicSet => match one_call(variables, steps) {
            Some(call) => format!("{call}, or hold one lock over the whole of {unit} and all other uses of {what}."),
            None => one_lock_over(&unit, &what, steps),
        },
        RuleFamily::Serializability => {
            let all: Vec<String> = units
                .iter()
                .map(|unit| naming::qualified_method(&unit.method))
                .collect();
            let all = match all.is_empty() {
                true => unit.clone(),
                false => listed(&distinct(all)),
            };
            format!("If {unit} must be atomic, hold one lock over the whole of {all}; if not, mark it @NotAtomic.")
        }
        RuleFamily::LockOrder => one_order(steps),
        RuleFamily::Failure => "Order the threads so that it cannot happen.".to_owned(),
        RuleFamily::Code => "Hold the lock over both calls.".to_owned(),
    }
}

/// What to change about a finding, from its own steps and units.
pub fn of(finding: &Finding) -> String {
    let variables = finding.steps.iter().map(|step| step.variable.clone());
    let variables = distinct(variables.filter(|name| !name.is_empty()).collect());
    help(finding.rule, &variables, &finding.units, &finding.steps)
}

/// The fix of two accesses that nothing orders.
fn one_lock_at(what: &str, steps: &[FindingStep]) -> String {
    let methods = distinct(steps.iter().filter_map(method).collect());
    if let Some(unit) = reads_and_writes(steps) {
        let atomic = match number_class(steps) {
            Some(class) => format!(", or make {what} an {class} and change it by one call"),
            None => String::new(),
        };
        return format!(
            "Hold one lock over the whole of {unit}, which reads {what} and then writes it, and at every other access{atomic}. volatile \
             is not enough."
        );
    }
    let volatile = match steps.iter().any(|step| step.op == "read") {
        true => format!(", or declare {what} volatile if no write depends on its old value"),
        false => format!(", or use an atomic variable for {what}"),
    };
    let holds = |step: &FindingStep| {
        let locks: Vec<String> = step.locks.iter().map(|lock| naming::lock::short(lock)).collect();
        let locks = match locks.is_empty() {
            true => "none".to_owned(),
            false => listed(&locks),
        };
        Some(format!("{} holds {locks}", method(step)?))
    };
    let (first, second) = (steps.first(), steps.last());
    let held: Vec<String> = first.into_iter().chain(second).filter_map(holds).collect();
    match held.as_slice() {
        [one, other] if one != other && steps.iter().any(|step| !step.locks.is_empty()) => {
            format!("Hold one lock at every access to {what}: {one}, {other}.")
        }
        _ if methods.is_empty() => format!("Hold one lock at every access to {what}{volatile}."),
        _ => format!(
            "Hold one lock at every access to {what}, in {}{volatile}.",
            listed(&methods)
        ),
    }
}

/// The method that reads a field without a lock in one thread and writes it in another: what it writes may depend on what it has read, as
/// in `if (instance == null) instance = new Settings()` or `hits++`.
fn reads_and_writes(steps: &[FindingStep]) -> Option<String> {
    let [first, .., last] = steps else { return None };
    let is_own = |step: &FindingStep| step.inside.is_none() && step.locks.is_empty() && step.part.is_none();
    let one_method = (&first.class, &first.method) == (&last.class, &last.method);
    let ops = [first.op.as_str(), last.op.as_str()];
    let both = matches!(ops, ["read", "write"] | ["write", "read"]);
    let method = method(first)?;
    (one_method && both && is_own(first) && is_own(last) && !method.contains("lambda in ")).then_some(method)
}

/// The class of `java.util.concurrent.atomic` for the number that steps access.
fn number_class(steps: &[FindingStep]) -> Option<&'static str> {
    match steps.first()?.descriptor.as_str() {
        "I" => Some("AtomicInteger"),
        "J" => Some("AtomicLong"),
        _ => None,
    }
}

/// The fix of a unit that others interrupt.
fn one_lock_over(unit: &str, what: &str, steps: &[FindingStep]) -> String {
    let Some(first) = steps.first() else {
        return format!("Hold one lock over the whole of {unit} and all other uses of {what}.");
    };
    let of = |own: bool| -> Vec<String> {
        let steps = steps.iter().filter(|step| (step.thread == first.thread) == own);
        let methods = steps.filter_map(method).filter(|name| name != unit);
        distinct(methods.collect())
    };
    let common = first
        .locks
        .iter()
        .map(|lock| naming::lock::unnumbered(lock))
        .find(|lock| {
            let holds = |step: &FindingStep| step.locks.iter().any(|own| naming::lock::unnumbered(own) == *lock);
            steps.iter().all(holds)
        });
    // An object is named by its class; a field names its lock by itself.
    let lock = common.map(|lock| match naming::lock::short(lock) {
        name if is_field(&name) => name,
        name => format!("the lock of {name}"),
    });
    match (lock, of(true).as_slice()) {
        (Some(lock), []) => format!("Hold {lock} over the whole of {unit}, not for each access by itself."),
        (Some(lock), [inner]) => {
            format!("Hold {lock} over the whole of {unit}: {inner} releases it after each call.")
        }
        (Some(lock), inner) => {
            format!(
                "Hold {lock} over the whole of {unit}: {} each release it when they return.",
                listed(inner)
            )
        }
        (None, _) => {
            let others = of(false);
            if let Some(fix) = lock_of_one_side(unit, &others, steps) {
                return fix;
            }
            let others = match others.is_empty() {
                true => String::new(),
                false => format!(", and in {}", listed(&others)),
            };
            let atomic = match atomic_class(steps) {
                Some(class) => format!("make {what} an {class} and change it by one call, such as addAndGet"),
                None => "use one atomic operation".to_owned(),
            };
            format!("Hold one lock over the whole of {unit}{others}, or {atomic}.")
        }
    }
}

/// The fix if one side holds a lock and the other none.
fn lock_of_one_side(unit: &str, others: &[String], steps: &[FindingStep]) -> Option<String> {
    let first = steps.first()?;
    let side = |own: bool| steps.iter().filter(move |step| (step.thread == first.thread) == own);
    let common = |own: bool| {
        let mut locks = side(own).next()?.locks.iter();
        locks.find(|lock| side(own).all(|step| step.locks.contains(lock)))
    };
    let has_none = |own: bool| side(own).all(|step| step.locks.is_empty());
    let told = |lock: &String| match naming::lock::short(naming::lock::unnumbered(lock)) {
        name if is_field(&name) => name,
        name => format!("the lock of {name}"),
    };
    if others.is_empty() || side(false).next().is_none() {
        return None;
    }
    match (common(true), common(false)) {
        (Some(lock), None) if has_none(false) => Some(format!(
            "Hold {} in {} too, as {unit} does.",
            told(lock),
            listed(others)
        )),
        (None, Some(lock)) if has_none(true) => Some(format!(
            "Hold {} over the whole of {unit}, as {} does.",
            told(lock),
            listed(others)
        )),
        _ => None,
    }
}

/// The class of `java.util.concurrent.atomic` for a number that one line of code reads and writes, and all steps access.
fn atomic_class(steps: &[FindingStep]) -> Option<&'static str> {
    let first = steps.first()?;
    let own: Vec<&FindingStep> = steps.iter().filter(|step| step.thread == first.thread).collect();
    let [read, write] = own.as_slice() else { return None };
    let one_line = read.line > 0 && (read.line, &read.method, &read.class) == (write.line, &write.method, &write.class);
    let one_number = steps
        .iter()
        .all(|step| step.variable == first.variable && step.descriptor == first.descriptor && step.inside.is_none());
    if !(one_line && one_number && read.op == "read" && write.op == "write") {
        return None;
    }
    number_class(steps)
}

fn is_field(lock: &str) -> bool {
    let last = lock.rsplit('.').next().unwrap_or_default();
    lock.contains('.') && !last.starts_with(char::is_uppercase)
}

/// The fix of a cycle of locks.
fn one_order(steps: &[FindingStep]) -> String {
    const FALLBACK: &str = "Acquire the locks in the same order everywhere.";
    let acquires = |step: &&FindingStep| matches!(step.op.as_str(), "acquire" | "block") && !step.variable.is_empty();
    let steps: Vec<&FindingStep> = steps.iter().filter(acquires).collect();
    let threads = distinct(steps.iter().map(|step| step.thread.clone()).collect());
    let ([first, second], Some(opener)) = (threads.as_slice(), steps.first()) else {
        return FALLBACK.to_owned();
    };
    let of = |thread: &str| {
        steps
            .iter()
            .filter(|step| step.thread == thread)
            .copied()
            .collect::<Vec<_>>()
    };
    let (one, other) = (of(first), of(second));
    let (Some(last), Some(opposite)) = (one.last(), other.first()) else {
        return FALLBACK.to_owned();
    };
    let name = |step: &FindingStep| naming::lock::unnumbered(&step.variable).to_owned();
    // The code that holds the first lock when it asks for the second decides the order.
    let outer = [opener, opposite].into_iter().filter_map(|step| method(step));
    let methods = listed(&distinct(outer.collect()));
    if name(opener) == name(last) && !methods.is_empty() {
        let lock = naming::lock::short(&name(opener));
        return format!("Lock the two {lock} objects in one order in {methods}, for example by a number or a name.");
    }
    match method(opposite) {
        Some(opposite) if name(opener) != name(last) => {
            let (lock, then) = (naming::lock::short(&name(opener)), naming::lock::short(&name(last)));
            format!("Acquire {lock} before {then} everywhere: {opposite} acquires {then} first.")
        }
        _ => FALLBACK.to_owned(),
    }
}

/// The method of a step, as in `Stock.take`.
fn method(step: &FindingStep) -> Option<String> {
    let name = naming::without_descriptor(&step.method);
    let known = !step.class.is_empty() && !name.is_empty();
    let name = known.then(|| naming::qualified_method(&format!("{}.{name}", step.class)))?;
    Some(match name.starts_with("lambda in ") {
        true => format!("the {name}"),
        false => name,
    })
}

fn distinct(names: Vec<String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
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
    let unit = naming::qualified_method(&finding.units.first()?.method);
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
    fn a_number_that_one_line_changes_may_become_an_atomic_one() {
        let access = |thread: &str, op: &str, line| FindingStep {
            thread: thread.to_owned(),
            op: op.to_owned(),
            variable: "shop.Shop.hits".to_owned(),
            descriptor: "I".to_owned(),
            class: "shop.Shop".to_owned(),
            method: "hit()V".to_owned(),
            line,
            ..FindingStep::default()
        };
        let hits = ["shop.Shop.hits".to_owned()];
        let mut steps = [access("t", "read", 3), access("u", "write", 3), access("t", "write", 3)];
        let told = |steps: &[FindingStep]| help(Rule::Atomicity, &hits, &[], steps);
        assert_eq!(
            told(&steps),
            "Hold one lock over the whole of the unit, and in Shop.hit, or make Shop.hits an AtomicInteger and change it by one call, such as \
             addAndGet."
        );
        // A check and an update are more than one call of an AtomicInteger.
        steps[2].line = 5;
        assert!(
            told(&steps).ends_with("or use one atomic operation."),
            "{}",
            told(&steps)
        );
    }

    #[test]
    fn a_method_that_reads_and_then_writes_needs_a_lock_over_both() {
        let access = |op: &str, descriptor: &str| FindingStep {
            op: op.to_owned(),
            class: "conf.Settings".to_owned(),
            method: "get()V".to_owned(),
            descriptor: descriptor.to_owned(),
            ..FindingStep::default()
        };
        let told = |descriptor| {
            let steps = [access("read", descriptor), access("write", descriptor)];
            help(Rule::DataRace, &["conf.Settings.instance".to_owned()], &[], &steps)
        };
        assert_eq!(
            told("Lconf/Settings;"),
            "Hold one lock over the whole of Settings.get, which reads Settings.instance and then writes it, and at every other access. \
             volatile is not enough."
        );
        assert!(told("I").contains(", or make Settings.instance an AtomicInteger and change it by one call. volatile"));
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

    fn locked(thread: &str, op: &str, method: &str, locks: &[&str]) -> FindingStep {
        FindingStep {
            thread: thread.to_owned(),
            op: op.to_owned(),
            class: "shop.Stock".to_owned(),
            method: format!("{method}()V"),
            variable: "shop.Stock.items".to_owned(),
            locks: locks.iter().map(|lock| (*lock).to_owned()).collect(),
            ..FindingStep::default()
        }
    }

    #[test]
    fn a_fix_names_the_lock_and_the_methods() {
        let variables = ["shop.Stock.items".to_owned()];
        let unit = |name: &str| UnitRef {
            thread: "t1".to_owned(),
            method: format!("shop.Stock.{name}()V"),
            kind: crate::finding::UnitKind::Method,
        };
        let lock: &[&str] = &["shop.Stock@1"];
        let race = |first: FindingStep, second| help(Rule::DataRace, &variables, &[], &[first, second]);
        assert_eq!(
            race(locked("t1", "write", "add", lock), locked("t2", "read", "count", &[])),
            "Hold one lock at every access to Stock.items: Stock.add holds Stock@1, Stock.count holds none."
        );
        assert_eq!(
            race(locked("t1", "write", "add", &[]), locked("t2", "write", "add", &[])),
            "Hold one lock at every access to Stock.items, in Stock.add, or use an atomic variable for Stock.items."
        );
        let torn = |locks: &[&str]| {
            let steps = [
                locked("t1", "read", "count", locks),
                locked("t2", "write", "remove", locks),
                locked("t1", "write", "remove", locks),
            ];
            help(Rule::Atomicity, &variables, &[unit("take")], &steps)
        };
        assert_eq!(
            torn(lock),
            "Hold the lock of Stock over the whole of Stock.take: Stock.count and Stock.remove each release it when they return."
        );
        assert_eq!(
            torn(&["shop.Stock$Shelf"]),
            "Hold the lock of Stock.Shelf over the whole of Stock.take: Stock.count and Stock.remove each release it when they return."
        );
        assert_eq!(
            torn(&["shop.Stock.guard"]),
            "Hold Stock.guard over the whole of Stock.take: Stock.count and Stock.remove each release it when they return."
        );
        assert_eq!(
            torn(&[]),
            "Hold one lock over the whole of Stock.take, and in Stock.remove, or use one atomic operation."
        );
        let half = |own: &[&str], other: &[&str]| {
            let steps = [
                locked("t1", "write", "take", own),
                locked("t2", "read", "count", other),
                locked("t1", "write", "take", own),
            ];
            help(Rule::AtomicSet, &variables, &[unit("take")], &steps)
        };
        assert_eq!(
            half(&["shop.Stock.guard"], &[]),
            "Hold Stock.guard in Stock.count too, as Stock.take does."
        );
        assert_eq!(
            half(&[], &["shop.Stock@1"]),
            "Hold the lock of Stock over the whole of Stock.take, as Stock.count does."
        );
    }

    #[test]
    fn a_deadlock_names_the_method_with_the_opposite_order() {
        let acquire = |thread: &str, method: &str, lock: &str| FindingStep {
            variable: lock.to_owned(),
            ..locked(thread, "acquire", method, &[])
        };
        let fix = |a: &str, b: &str| {
            let steps = [
                acquire("t1", "sell", a),
                acquire("t2", "audit", b),
                acquire("t1", "sell", b),
                acquire("t2", "audit", a),
            ];
            help(Rule::LockOrder, &[], &[], &steps)
        };
        assert_eq!(
            fix("shop.Stock.left", "shop.Stock.right"),
            "Acquire Stock.left before Stock.right everywhere: Stock.audit acquires Stock.right first."
        );
        assert_eq!(
            fix("shop.Account@1", "shop.Account@2"),
            "Lock the two Account objects in one order in Stock.sell and Stock.audit, for example by a number or a name."
        );
    }
}
