//! Locks: by the class of the object (`shop.Stock`), by the field that holds it (`shop.Stock.guard`), or by the expression
//! that code locks (`this.guard`). Several locks of one name in one finding have numbers: `shop.Stock@2`.

use super::source::{class, member};

/// `shop.Stock$Shelf@3` as `Stock.Shelf@3`, `shop.Stock.lock` as `Stock.lock`, `shop.Stock.class` as `Stock.class`. An
/// expression of code (`this.lock`, `other.lock`) has no package and is left alone.
pub fn short(lock: &str) -> String {
    if let Some((name, number)) = lock.split_once('@') {
        return format!("{}@{number}", short(name));
    }
    let is_class = |part: &str| part.starts_with(|c: char| c.is_uppercase());
    let parts: Vec<&str> = lock.split('.').collect();
    match parts.iter().position(|part| is_class(part)) {
        _ if parts[0] == "this" => lock.to_owned(),
        Some(at) if at + 1 < parts.len() => {
            let members: Vec<String> = parts[at + 1..].iter().map(|part| member(part)).collect();
            format!("{}.{}", class(parts[at]), members.join("."))
        }
        Some(_) => class(lock),
        None => lock.to_owned(),
    }
}

/// The second of the locks of one name: `shop.Stock@2`.
pub fn numbered(name: &str, number: usize) -> String {
    format!("{name}@{number}")
}

/// The name without the number that tells it from others: `shop.Stock`.
pub fn unnumbered(lock: &str) -> &str {
    lock.split('@').next().unwrap_or(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_named_without_packages() {
        for (lock, name) in [
            ("shop.Stock$Shelf@3", "Stock.Shelf@3"),
            ("shop.Stock.lock", "Stock.lock"),
            ("shop.Stock.LEFT", "Stock.LEFT"),
            ("shop.Stock.lock@2", "Stock.lock@2"),
            ("shop.Stock.class", "Stock.class"),
            ("java.lang.Object", "Object"),
            ("an object of shop.Stock", "Stock"),
            ("this.stock.lock", "this.stock.lock"),
            ("this", "this"),
            ("other.lock", "other.lock"),
            ("a local variable", "a local variable"),
            ("*", "*"),
            ("", ""),
        ] {
            assert_eq!(short(lock), name, "{lock}");
        }
    }

    #[test]
    fn numbers_tell_locks_of_one_name_apart() {
        assert_eq!(numbered("shop.Stock", 2), "shop.Stock@2");
        assert_eq!((unnumbered("shop.Stock@2"), unnumbered("this")), ("shop.Stock", "this"));
    }
}
