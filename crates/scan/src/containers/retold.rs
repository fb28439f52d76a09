//! Sentences about the outcome of a run with the names that the program has: the size of `Log.lines` for `java.util.ArrayList.size`, the
//! element of `Stock.cells` for that of an `int[] in shop.Stock`, `true` for 1 in an array of booleans. Separate from finding these names:
//! this sees nothing but the finished sentence.

use ravel_trace::naming::variable;
use ravel_trace::origin::is_platform;

use super::{BOOLEANS, is_array};

/// A sentence about an outcome with the names that the program has: `the size of Log.lines was 2` for `java.util.ArrayList.size was 2`,
/// `Stock.cells[3] was 7` for `element 3 of int[] in shop.Stock was 7`.
pub(super) fn retold(text: &str, arrays: &[String], named: impl Fn(&str) -> String) -> String {
    let mut text = text.to_owned();
    for array in arrays.iter().filter(|name| is_array(name)) {
        let name = named(array);
        let shown = variable::short(name.trim_end_matches(BOOLEANS));
        let tail = format!(" of {array}");
        while let Some(at) = text.find(&tail) {
            let start = text[..at].rfind("element ").unwrap_or(at);
            let index = text[start..at].trim_start_matches("element ").to_owned();
            let element = match (is_array(&name), shown.starts_with(['i', 'O', 'I', 'A', 'E', 'U'])) {
                (true, true) => format!("element {index} of an {shown}"),
                (true, false) => format!("element {index} of a {shown}"),
                (false, _) => format!("{shown}[{index}]"),
            };
            text.replace_range(start..at + tail.len(), &element);
            if name.ends_with(BOOLEANS) {
                text = with_booleans(&text, &element);
            }
        }
    }
    let text = without_arrays_inside(text, &named);
    let all: Vec<&str> = text.split(' ').collect();
    let words = all.iter().enumerate().map(|(at, word)| {
        // A sentence names a variable before its value; a word alone may be the class of an exception.
        let has_value = all.get(at + 1) == Some(&"was");
        let is_state = word.starts_with("java.") && variable::class_of(word).is_some_and(is_platform);
        match is_state && has_value {
            false => (*word).to_owned(),
            true => state(word, &variable::short(&named(word))),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A sentence without the arrays that collections are made of: `element 3 of out was 7` for `element 3 of Object[] in java.util.ArrayList was 7`.
fn without_arrays_inside(mut text: String, named: impl Fn(&str) -> String) -> String {
    const INSIDE: &str = "[] in java.";
    let mut done = 0;
    while let Some(at) = text[done..].find(INSIDE).map(|at| done + at) {
        let from = text[..at].rfind(" of ").map_or(at, |of| of + " of ".len());
        let class = at + "[] in ".len();
        let end = text[class..].find(' ').map_or(text.len(), |end| class + end);
        let name = variable::short(&named(&format!("{}.elements", &text[class..end])));
        text.replace_range(from..end, &name);
        done = from + name.len();
    }
    text
}

/// A sentence about an element of a `boolean[]`, whose values a trace has as 0 and 1: `flags[2] was 1; every serial order gives 0`,
/// `flags[2] was 1 and Door.open was true; every serial order gives 0 and true, or 1 and false`.
fn with_booleans(text: &str, element: &str) -> String {
    let word = |digit: &str| match digit {
        "0" => "false".to_owned(),
        "1" => "true".to_owned(),
        other => other.to_owned(),
    };
    let (head, serial) = text
        .split_once("; ")
        .map_or((text, None), |(head, rest)| (head, Some(rest)));
    let label = format!("{element} was ");
    let mut places: Vec<usize> = Vec::new();
    let mut values: Vec<String> = Vec::new();
    for (place, value) in head.split(" and ").enumerate() {
        values.push(match value.strip_prefix(&label) {
            Some(digit) => {
                places.push(place);
                format!("{label}{}", word(digit))
            }
            None => value.to_owned(),
        });
    }
    let head = values.join(" and ");
    let Some(serial) = serial else { return head };
    // The values in serial orders come in the same order, without their names.
    let verb = [" gives ", " give "].into_iter().find(|verb| serial.contains(verb));
    let Some((orders, (verb, given))) = verb.and_then(|verb| {
        let (orders, given) = serial.split_once(verb)?;
        Some((orders, (verb, given)))
    }) else {
        return format!("{head}; {serial}");
    };
    let or = if values.len() == 1 { " or " } else { ", or " };
    let given = given.split(or).map(|order| {
        let mut given: Vec<String> = order.split(" and ").map(str::to_owned).collect();
        if given.len() == values.len() {
            places.iter().for_each(|place| given[*place] = word(&given[*place]));
        }
        given.join(" and ")
    });
    format!("{head}; {orders}{verb}{}", given.collect::<Vec<_>>().join(or))
}

/// What a field inside of an object of the JDK is to the program.
fn state(inner: &str, name: &str) -> String {
    match inner_field(inner) {
        SIZE if is_text(inner) => format!("the length of {name}"),
        SIZE => format!("the size of {name}"),
        CHANGES => format!("the number of changes to {name}"),
        VALUE => name.to_owned(),
        ENTRY => format!("an entry of {name}"),
        _ => format!("the inside of {name} ({})", variable::short(inner)),
    }
}

pub(super) const SIZE: &str = "size";
const CHANGES: &str = "modCount";
const VALUE: &str = "the value";
pub(super) const ENTRY: &str = "an entry";

/// Whether a field is one of a text that can be changed.
pub(super) fn is_text(variable: &str) -> bool {
    variable.starts_with("java.lang.AbstractStringBuilder.")
}

/// A field of a class of the JDK by what it means.
pub(super) fn inner_field(variable: &str) -> &str {
    match variable.rsplit('.').next().unwrap_or_default() {
        "size" | "elementCount" | "count" => SIZE,
        CHANGES => CHANGES,
        "value" | "state" if variable.starts_with("java.util.concurrent.") => VALUE,
        "value" if variable.contains("$Node.") || variable.contains("$Entry.") => ENTRY,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, name: &str) -> String {
        let arrays = ["byte[] in shop.Stock".to_owned(), "int[] in shop.Stock".to_owned()];
        retold(text, &arrays, |_| name.to_owned())
    }

    #[test]
    fn outcomes_are_told_in_the_terms_of_the_program() {
        for (text, shown) in [
            (
                "java.util.ArrayList.size was 1; every serial order gives 2",
                "the size of Log.lines was 1; every serial order gives 2",
            ),
            (
                "java.util.AbstractList.modCount was 1",
                "the number of changes to Log.lines was 1",
            ),
            (
                "java.util.HashMap.table was null",
                "the inside of Log.lines (HashMap.table) was null",
            ),
            (
                "java.util.concurrent.atomic.AtomicInteger.state was 2",
                "Log.lines was 2",
            ),
            (
                "element 3 of int[] in shop.Stock was 7; every serial order gives 14",
                "Log.lines[3] was 7; every serial order gives 14",
            ),
            (
                "element 108 of Object[] in java.util.ArrayList was 107; the 2 serial orders tried give 108",
                "element 108 of Log.lines was 107; the 2 serial orders tried give 108",
            ),
            (
                "java.lang.AbstractStringBuilder.count was 1; every serial order gives 2",
                "the length of Log.lines was 1; every serial order gives 2",
            ),
            (
                "java.lang.IllegalStateException: x",
                "java.lang.IllegalStateException: x",
            ),
            (
                "java.util.ConcurrentModificationException",
                "java.util.ConcurrentModificationException",
            ),
            ("Account.balance was 3", "Account.balance was 3"),
            (
                "java.util.HashMap$Node.value was 2; every serial order gives 3",
                "an entry of Log.lines was 2; every serial order gives 3",
            ),
        ] {
            assert_eq!(told(text, "shop.Log.lines"), shown);
        }
        let bools = |text: &str| told(text, "shop.Stock.flags[Z");
        assert_eq!(
            bools("element 2 of byte[] in shop.Stock was 1; every serial order gives 0"),
            "Stock.flags[2] was true; every serial order gives false"
        );
        assert_eq!(
            bools(
                "element 2 of byte[] in shop.Stock was 1 and Stock.open was 1; every serial order gives 0 and 1, or 1 and 0"
            ),
            "Stock.flags[2] was true and Stock.open was 1; every serial order gives false and 1, or true and 0"
        );
        assert_eq!(
            bools("element 2 of byte[] in shop.Stock was 1 and Stock.mark in t1 returned true"),
            "Stock.flags[2] was true and Stock.mark in t1 returned true"
        );
        // An array that nothing names keeps its type.
        assert_eq!(
            told("element 3 of int[] in shop.Stock was 7", "int[] in shop.Stock"),
            "element 3 of an int[] in Stock was 7"
        );
    }
}
