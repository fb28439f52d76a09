//! Variables: fields (`shop.Stock.items`), the state of modelled objects (`java.util.concurrent.atomic.AtomicInteger.value`),
//! elements of arrays (`int[] in shop.Stock`), and the variables of imported traces, which have no class.

use super::source::{class, field, member};
use crate::origin::is_platform;

/// `shop.Stock.items` as `Stock.items`, `int[] in shop.Stock` as `int[] in Stock`. Text that is no name is left alone.
pub fn short(variable: &str) -> String {
    if let Some((array, owner)) = variable.split_once(" in ") {
        return format!("{array} in {}", class(owner));
    }
    match variable.rsplit_once('.') {
        Some((_, name)) if name.is_empty() || variable.contains(' ') => variable.to_owned(),
        Some((owner, name)) => field(owner, name),
        None => class(variable),
    }
}

/// `shop.Stock.items` as `items`, `int[] in shop.Stock` as `int[]`. The state of a class of the JDK keeps that class,
/// `AtomicInteger.value`: its name alone would tell nothing.
pub fn simple(variable: &str) -> String {
    if is_platform(variable) {
        return short(variable);
    }
    member(raw(variable))
}

/// The class of `shop.Stock.items` or `int[] in shop.Stock`: `shop.Stock`.
pub fn class_of(variable: &str) -> Option<&str> {
    match variable.split_once(" in ") {
        Some((_, class)) => Some(class),
        None => variable.rsplit_once('.').map(|(class, _)| class),
    }
}

/// The word that stands for a variable in source code; none for elements of an array without a name and the state of library objects.
pub fn word(variable: &str) -> Option<&str> {
    let is_type = variable
        .split_once(" in ")
        .is_some_and(|(name, _)| name.ends_with("[]"));
    if is_platform(variable) || is_type {
        return None;
    }
    let name = raw(variable).split(['[', '{']).next()?;
    // Scala's lazy values and private members have longer names in the class file.
    let name = name.rsplit("$$").next()?.split("$lzy").next()?;
    (!name.is_empty()).then_some(name)
}

/// `shop.Stock.items` as `items`, as the class file has it.
fn raw(variable: &str) -> &str {
    match variable.split_once(" in ") {
        Some((array, _)) => array,
        None => variable.rsplit('.').next().unwrap_or(variable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_keep_their_class() {
        assert_eq!(short("shop.Stock.items"), "Stock.items");
        assert_eq!(
            (short("x"), short("no name. at all")),
            ("x".into(), "no name. at all".into())
        );
        assert_eq!(simple("shop.Stock.items"), "items");
        assert_eq!(simple("int[] in shop.Stock"), "int[]");
        assert_eq!(short("int[] in shop.Stock"), "int[] in Stock");
        assert_eq!(class_of("int[] in shop.Stock"), Some("shop.Stock"));
        let state = "java.util.concurrent.atomic.AtomicInteger.state";
        assert_eq!(simple(state), "AtomicInteger.state");
        assert_eq!(word("shop.Stock.items"), Some("items"));
        assert_eq!(word("taken in shop.Seats"), Some("taken"), "a parameter");
        assert_eq!((word(state), word("int[] in a.B"), word("")), (None, None, None));
    }
}
