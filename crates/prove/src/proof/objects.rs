//! Objects as a report names them: `Session@1`, `Session@2`, by class and in the order in which the steps of one run have them. The numbers of the
//! trace mean nothing to a reader.

use ravel_analysis::numbers::with_article;
use ravel_trace::naming::class;

/// The objects of the steps of one run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Objects(Vec<String>);

impl Objects {
    /// Those that these values are.
    pub fn of<'v>(values: impl IntoIterator<Item = Option<&'v String>>) -> Objects {
        let mut known: Vec<String> = Vec::new();
        for value in values.into_iter().flatten() {
            if parts(value).is_some_and(|(_, number)| number != "0") && !known.contains(value) {
                known.push(value.clone());
            }
        }
        Objects(known)
    }

    /// A value of the run for people: `Session@2` for `shop.Session@17`; what is no object is left alone.
    pub fn told(&self, value: &str) -> String {
        let Some((name, number)) = parts(value) else {
            return value.to_owned();
        };
        let same = || {
            self.0
                .iter()
                .filter(|known| parts(known).is_some_and(|(other, _)| other == name))
        };
        match same().position(|known| known == value) {
            Some(at) => format!("{}@{}", class(name), at + 1),
            None if number != "0" && same().next().is_some() => format!("another {}", class(name)),
            None => with_article(&class(name)),
        }
    }
}

/// Class and number of an object; none of other values. Strings and characters are quoted.
fn parts(value: &str) -> Option<(&str, &str)> {
    let (name, number) = value.rsplit_once('@').filter(|_| !value.starts_with(['"', '\'']))?;
    number
        .bytes()
        .all(|digit| digit.is_ascii_digit())
        .then_some((name, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_numbers_by_class() {
        let values = [
            "shop.Session@17",
            "null",
            "shop.Order@9",
            "shop.Session@4",
            "shop.Session@17",
        ]
        .map(String::from);
        let objects = Objects::of(values.iter().map(Some).chain([None]));
        let told = |value: &str| objects.told(value);
        assert_eq!(told("shop.Session@17"), "Session@1");
        assert_eq!(told("shop.Session@4"), "Session@2");
        assert_eq!(told("shop.Order@9"), "Order@1");
        assert_eq!(told("shop.Session@5"), "another Session");
        assert_eq!(told("shop.Session@0"), "a Session");
        assert_eq!(told("shop.Event@8"), "an Event");
        for other in ["3", "null", "\"a@1\"", "OPEN", "0.5", "'@'", "a@b"] {
            assert_eq!(told(other), other);
        }
        assert_eq!(Objects::default().told("shop.Session@17"), "a Session");
    }
}
