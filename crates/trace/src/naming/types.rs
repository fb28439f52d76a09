//! Types as Java writes them, from the descriptors of the JVM.

use super::source::class;

/// The type of a field descriptor, `[Ljava/util/Map$Entry;` as `Map.Entry[]`, and the text behind it; none if it is damaged.
fn first(descriptor: &str) -> Option<(String, &str)> {
    let element = descriptor.trim_start_matches('[');
    let dimensions = descriptor.len() - element.len();
    let (name, rest) = match element.chars().next()? {
        'L' => {
            let (name, rest) = element[1..].split_once(';')?;
            (class(name.rsplit('/').next().unwrap_or(name)), rest)
        }
        code => (primitive(code)?.to_owned(), &element[1..]),
    };
    Some((format!("{name}{}", "[]".repeat(dimensions)), rest))
}

/// The parameters of a method descriptor: `(I[J)V` as `int` and `long[]`; none if it is damaged.
pub fn parameters(descriptor: &str) -> Option<Vec<String>> {
    let mut rest = descriptor.strip_prefix('(')?.split_once(')')?.0;
    let mut parameters = Vec::new();
    while !rest.is_empty() {
        let (name, after) = first(rest)?;
        parameters.push(name);
        rest = after;
    }
    Some(parameters)
}

/// The type of an array, `[Ljava/lang/Object;` as `Object[]`; `array[]` if the descriptor does not say.
pub fn array(descriptor: &str) -> String {
    match first(descriptor) {
        Some((name, "")) if descriptor.starts_with('[') => name,
        _ => "array[]".to_owned(),
    }
}

fn primitive(code: char) -> Option<&'static str> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_become_types() {
        assert_eq!(array("[I"), "int[]");
        assert_eq!(array("[[Ljava/util/Map$Entry;"), "Map.Entry[][]");
        for unknown in ["[", "", "I", "[Q", "[Lx", "[II"] {
            assert_eq!(array(unknown), "array[]", "{unknown}");
        }
        assert_eq!(parameters("(I[J)V"), Some(vec!["int".to_owned(), "long[]".to_owned()]));
        assert_eq!((parameters("()V"), parameters("(")), (Some(Vec::new()), None));
    }
}
