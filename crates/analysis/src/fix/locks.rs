//! What to change about locks: one lock over a unit or at every access, the right lock, the right mode, one order of two.

use super::{distinct, method};
use crate::describe::listed;
use crate::finding::{FindingStep, UnitKind, UnitRef};
use ravel_trace::naming;

/// The fix of two accesses that nothing orders.
pub(super) fn one_lock_at(what: &str, steps: &[FindingStep]) -> String {
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
    if let Some(lock) = lock_of_readers(steps) {
        let writers = distinct(writers_as_readers(&lock, steps));
        return format!(
            "Hold {} for writing in {}: {NO_READER_EXCLUDED}.",
            told(&lock),
            listed(&writers)
        );
    }
    let volatile = match (array_class(steps), steps.iter().any(|step| step.op == "read")) {
        // A volatile array has no volatile elements.
        (Some(""), _) => String::new(),
        (Some(class), _) => format!(", or use an {class}"),
        (None, true) => format!(", or declare {what} volatile if no write depends on its old value"),
        (None, false) => match number_class(steps) {
            Some(class) => format!(", or make {what} an {class} and change it by one call, such as incrementAndGet"),
            None => format!(", or use an atomic variable for {what}"),
        },
    };
    let holds = |step: &FindingStep| {
        let held = step.locks.iter().map(|lock| match step.read_locks.contains(lock) {
            true => format!("{} for reading", naming::lock::short(lock)),
            false => naming::lock::short(lock),
        });
        let locks: Vec<String> = held.collect();
        let locks = match locks.is_empty() {
            true => "none".to_owned(),
            false => listed(&locks),
        };
        Some(format!("{} holds {locks}", method(step)?))
    };
    if let Some(fix) = lock_of_one(steps) {
        return fix;
    }
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

/// The fix if one of two accesses holds one lock and the other none.
fn lock_of_one(steps: &[FindingStep]) -> Option<String> {
    let [one, other] = steps else { return None };
    let (locked, bare) = match (one.locks.as_slice(), other.locks.as_slice()) {
        ([_], []) => (one, other),
        ([], [_]) => (other, one),
        _ => return None,
    };
    let (with, without) = (method(locked)?, method(bare)?);
    let lock = told(locked.locks.first().filter(|_| locked.read_locks.is_empty())?);
    if with == without && bare.line == 0 {
        return None;
    }
    Some(match with == without {
        true => format!("Hold {lock} in {without} at line {} too.", bare.line),
        false => format!("Hold {lock} in {without} too, as {with} does."),
    })
}

/// Why a lock held for reading is not enough to write.
const NO_READER_EXCLUDED: &str = "threads that hold it for reading do not exclude each other";

/// The lock that all steps hold, and some hold for reading alone while they write.
fn lock_of_readers(steps: &[FindingStep]) -> Option<String> {
    let lock = common_lock(steps)?;
    (!writers_as_readers(lock, steps).is_empty()).then(|| lock.clone())
}

/// The methods of the steps that write and hold a lock for reading alone.
fn writers_as_readers(lock: &str, steps: &[FindingStep]) -> Vec<String> {
    let writes = |step: &&FindingStep| step.writes_as_reader(lock);
    steps.iter().filter(writes).filter_map(method).collect()
}

/// The lock that all steps hold; two of one class are two locks.
fn common_lock(steps: &[FindingStep]) -> Option<&String> {
    let (first, rest) = steps.split_first()?;
    let mut locks = first.locks.iter();
    locks.find(|lock| rest.iter().all(|step| step.locks.contains(lock)))
}

/// A lock in a fix. An object is named by its class; a field names its lock by itself.
fn told(lock: &str) -> String {
    match naming::lock::short(naming::lock::unnumbered(lock)) {
        name if is_field(&name) => name,
        name => format!("the lock of {name}"),
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

/// The class of `java.util.concurrent.atomic` for the array whose elements steps access, empty if there is none; none of other variables.
fn array_class(steps: &[FindingStep]) -> Option<&'static str> {
    let (elements, _) = steps.first()?.variable.split_once("[] in ")?;
    Some(match elements {
        "int" => "AtomicIntegerArray",
        "long" => "AtomicLongArray",
        "byte" | "boolean" | "char" | "short" | "float" | "double" => "",
        _ => "AtomicReferenceArray",
    })
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
pub(super) fn one_lock_over(unit: &str, what: &str, own: Option<&UnitRef>, steps: &[FindingStep]) -> String {
    let Some(first) = steps.first() else {
        return format!("Hold one lock over the whole of {unit} and all other uses of {what}.");
    };
    let of = |own: bool| -> Vec<String> {
        let steps = steps.iter().filter(|step| (step.thread == first.thread) == own);
        let methods = steps.filter_map(method).filter(|name| name != unit);
        distinct(methods.collect())
    };
    let common = common_lock(steps);
    if let Some(fix) = common.and_then(|lock| lock_for_writing(unit, lock, &of(false), steps)) {
        return fix;
    }
    if let Some(fix) = common.filter(|lock| own.is_some_and(|own| is_own_monitor(lock, own, steps))) {
        let lock = told(fix);
        return match of(true).as_slice() {
            [] => format!("Make {unit} synchronized: it holds {lock} for each access by itself."),
            [inner] => format!("Make {unit} synchronized: {inner} releases {lock} after each call."),
            inner => format!(
                "Make {unit} synchronized: {} each release {lock} when they return.",
                listed(inner)
            ),
        };
    }
    match (common.map(|lock| told(lock)), of(true).as_slice()) {
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
            // The method that reads and writes, if a unit far above it is interrupted there.
            let unit = &one_activation(steps).unwrap_or_else(|| unit.to_owned());
            let others: Vec<String> = of(false).into_iter().filter(|other| other != unit).collect();
            if let Some(fix) = lock_of_one_side(unit, &others, steps) {
                return fix;
            }
            let others = match others.is_empty() {
                true => String::new(),
                false => format!(", and in {}", listed(&others)),
            };
            let atomic = match atomic_class(steps) {
                Some(class) => format!(", or make {what} an {class} and change it by one call, such as addAndGet"),
                None => String::new(),
            };
            format!("Hold one lock over the whole of {unit}{others}{atomic}.")
        }
    }
}

/// The method in which the interrupted thread has all its accesses, in one activation as far as the calls that led there say.
fn one_activation(steps: &[FindingStep]) -> Option<String> {
    let first = steps.first()?;
    let mut own = steps.iter().filter(|step| step.thread == first.thread);
    let same = |step: &FindingStep| {
        (&step.class, &step.method) == (&first.class, &first.method) && step.callers() == first.callers()
    };
    let known = !first.callers().is_empty() && own.clone().count() > 1;
    (known && own.all(same)).then(|| method(first))?
}

/// Whether a lock is the monitor of the object whose method a unit is: the lock has the name of its class, and the steps are in methods of it.
fn is_own_monitor(lock: &str, own: &UnitRef, steps: &[FindingStep]) -> bool {
    let name = naming::without_descriptor(&own.method);
    let class = name.rsplit_once('.').map_or("", |(class, _)| class);
    let is_method = own.kind == UnitKind::Method && !name.contains(['<', ' ']) && !name.contains("lambda$");
    let in_class = |step: &FindingStep| step.class == class && step.read_locks.is_empty() && step.inside.is_none();
    is_method && naming::lock::unnumbered(lock) == class && steps.iter().all(in_class)
}

/// The fix if a unit writes under a lock for reading, or reads under it and then writes under the lock for writing.
fn lock_for_writing(unit: &str, lock: &str, others: &[String], steps: &[FindingStep]) -> Option<String> {
    let first = steps.first()?;
    let (own, rest): (Vec<&FindingStep>, Vec<&FindingStep>) =
        steps.iter().partition(|step| step.thread == first.thread);
    let lock_told = told(lock);
    if steps.iter().any(|step| step.writes_as_reader(lock)) {
        let also = match rest.iter().any(|step| step.writes_as_reader(lock)) && !others.is_empty() {
            true => format!(" and in {}", listed(others)),
            false => String::new(),
        };
        return Some(format!(
            "Hold {lock_told} for writing over the whole of {unit}{also}: {NO_READER_EXCLUDED}."
        ));
    }
    let reads = own.iter().any(|step| step.read_locks.iter().any(|read| read == lock));
    let writes = own.iter().any(|step| matches!(step.op.as_str(), "write" | "update"));
    (reads && writes).then(|| {
        format!(
            "Hold {lock_told} for writing over the whole of {unit}, not for reading first and for writing afterwards."
        )
    })
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
    let unsafe_writes = steps
        .iter()
        .any(|step| step.locks.iter().any(|lock| step.writes_as_reader(lock)));
    if unsafe_writes || others.is_empty() || side(false).next().is_none() {
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
pub(super) fn one_order(steps: &[FindingStep]) -> String {
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

#[cfg(test)]
mod tests {
    use super::super::help;
    use crate::finding::{FindingStep, Rule, UnitRef};

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

    /// A step that holds `shop.Stock.guard` for reading.
    fn reading(thread: &str, op: &str, method: &str) -> FindingStep {
        let step = locked(thread, op, method, &["shop.Stock.guard"]);
        FindingStep {
            read_locks: step.locks.clone(),
            ..step
        }
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
        assert_eq!(
            told(&steps),
            "Hold one lock over the whole of the unit, and in Shop.hit."
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
    fn a_lock_held_for_reading_is_held_for_writing_instead() {
        let variables = ["shop.Stock.items".to_owned()];
        let unit = UnitRef {
            thread: "t1".to_owned(),
            method: "shop.Stock.take()V".to_owned(),
            kind: crate::finding::UnitKind::Method,
        };
        let over = |steps: &[FindingStep]| help(Rule::Atomicity, &variables, std::slice::from_ref(&unit), steps);
        let race = [reading("t1", "write", "take"), reading("t2", "read", "count")];
        assert_eq!(
            help(Rule::DataRace, &variables, &[], &race),
            "Hold Stock.guard for writing in Stock.take: threads that hold it for reading do not exclude each other."
        );
        let lost = [
            reading("t1", "read", "take"),
            reading("t2", "write", "give"),
            reading("t1", "write", "take"),
        ];
        assert_eq!(
            over(&lost),
            "Hold Stock.guard for writing over the whole of Stock.take and in Stock.give: threads that hold it for reading do not exclude \
             each other."
        );
        let guard: &[&str] = &["shop.Stock.guard"];
        let upgraded = [
            reading("t1", "read", "take"),
            locked("t2", "write", "give", guard),
            locked("t1", "write", "take", guard),
        ];
        assert_eq!(
            over(&upgraded),
            "Hold Stock.guard for writing over the whole of Stock.take, not for reading first and for writing afterwards."
        );
        // Two reads need the lock for reading alone, over both.
        let torn = [
            reading("t1", "read", "take"),
            locked("t2", "write", "give", guard),
            reading("t1", "read", "take"),
        ];
        assert_eq!(
            over(&torn),
            "Hold Stock.guard over the whole of Stock.take, not for each access by itself."
        );
        let other = [reading("t1", "write", "take"), locked("t2", "read", "count", &[])];
        assert_eq!(
            help(Rule::DataRace, &variables, &[], &other),
            "Hold one lock at every access to Stock.items: Stock.take holds Stock.guard for reading, Stock.count holds none."
        );
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
            "Hold the lock of Stock in Stock.count too, as Stock.add does."
        );
        let two = race(
            locked("t1", "write", "add", &["shop.Stock@1"]),
            locked("t2", "write", "add", &["shop.Stock@2"]),
        );
        assert_eq!(
            two,
            "Hold one lock at every access to Stock.items: Stock.add holds Stock@1, Stock.add holds Stock@2."
        );
        assert_eq!(
            race(locked("t1", "write", "add", &[]), locked("t2", "write", "add", &[])),
            "Hold one lock at every access to Stock.items, in Stock.add, or use an atomic variable for Stock.items."
        );
        let number = |step: FindingStep| FindingStep {
            descriptor: "J".to_owned(),
            ..step
        };
        let writes = || number(locked("t1", "write", "add", &[]));
        assert_eq!(
            race(writes(), writes()),
            "Hold one lock at every access to Stock.items, in Stock.add, or make Stock.items an AtomicLong and change it by one call, such as \
             incrementAndGet."
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
            "Make Stock.take synchronized: Stock.count and Stock.remove each release the lock of Stock when they return."
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
            "Hold one lock over the whole of Stock.take, and in Stock.remove."
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
    fn elements_of_an_array_are_not_volatile() {
        let told = |array: &str| {
            let access = |thread: &str, op: &str| FindingStep {
                variable: format!("{array} in shop.Hall"),
                ..locked(thread, op, op, &[])
            };
            let steps = [access("t1", "read"), access("t2", "write")];
            help(Rule::DataRace, &["seats".to_owned()], &[], &steps)
        };
        let plain = "Hold one lock at every access to seats, in Stock.read and Stock.write";
        assert_eq!(told("byte[]"), format!("{plain}."));
        assert_eq!(told("int[]"), format!("{plain}, or use an AtomicIntegerArray."));
        assert_eq!(told("String[]"), format!("{plain}, or use an AtomicReferenceArray."));
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
