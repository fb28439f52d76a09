//! Field and method descriptors.

use crate::error::{ClassError, ErrorKind, Result};

/// The type of a field, a parameter or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldType<'a> {
    /// `byte`.
    Byte,
    /// `char`.
    Char,
    /// `double`, which takes two slots.
    Double,
    /// `float`.
    Float,
    /// `int`.
    Int,
    /// `long`, which takes two slots.
    Long,
    /// `short`.
    Short,
    /// `boolean`.
    Boolean,
    /// An object of the class with this internal name.
    Object(&'a [u8]),
    /// An array, with its whole descriptor (`[[I`).
    Array(&'a [u8]),
}

impl FieldType<'_> {
    /// How many slots of the operand stack or of the locals it takes.
    pub fn slots(&self) -> u16 {
        if matches!(self, FieldType::Double | FieldType::Long) {
            2
        } else {
            1
        }
    }

    /// Whether it is an object or an array.
    pub fn is_reference(&self) -> bool {
        matches!(self, FieldType::Object(_) | FieldType::Array(_))
    }
}

/// A method descriptor taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodDescriptor<'a> {
    /// The types of the parameters.
    pub parameters: Vec<FieldType<'a>>,
    /// The type of the result; none for `void`.
    pub result: Option<FieldType<'a>>,
}

impl MethodDescriptor<'_> {
    /// How many slots the parameters take, the receiver not counted.
    pub fn argument_slots(&self) -> u16 {
        // The JVM allows 255; a hostile descriptor has at most as many parameters as bytes, below 65536.
        self.parameters
            .iter()
            .map(FieldType::slots)
            .fold(0, u16::saturating_add)
    }

    /// How many slots the result takes: 0, 1 or 2.
    pub fn result_slots(&self) -> u16 {
        self.result.map_or(0, |result| result.slots())
    }
}

fn bad(descriptor: &[u8], rest: &[u8]) -> ClassError {
    ErrorKind::BadDescriptor.at(descriptor.len() - rest.len())
}

/// Takes the first type off the front.
fn split_type(descriptor: &[u8]) -> Option<(FieldType<'_>, &[u8])> {
    let (first, rest) = descriptor.split_first()?;
    Some(match first {
        b'B' => (FieldType::Byte, rest),
        b'C' => (FieldType::Char, rest),
        b'D' => (FieldType::Double, rest),
        b'F' => (FieldType::Float, rest),
        b'I' => (FieldType::Int, rest),
        b'J' => (FieldType::Long, rest),
        b'S' => (FieldType::Short, rest),
        b'Z' => (FieldType::Boolean, rest),
        b'L' => {
            let end = rest.iter().position(|byte| *byte == b';')?;
            (FieldType::Object(rest.get(..end)?), rest.get(end + 1..)?)
        }
        b'[' => {
            let dimensions = descriptor.iter().take_while(|byte| **byte == b'[').count();
            let element = descriptor.get(dimensions..)?;
            let rest = match element.first()? {
                // Not by calling this function again: a long row of brackets must not cost stack.
                b'[' => return None,
                _ => split_type(element)?.1,
            };
            (FieldType::Array(descriptor.get(..descriptor.len() - rest.len())?), rest)
        }
        _ => return None,
    })
}

/// Parses a field descriptor. The offset of an error is that in the descriptor.
pub fn parse_field_descriptor(descriptor: &[u8]) -> Result<FieldType<'_>> {
    match split_type(descriptor) {
        Some((ty, [])) => Ok(ty),
        Some((_, rest)) => Err(bad(descriptor, rest)),
        None => Err(bad(descriptor, descriptor)),
    }
}

/// Parses a method descriptor. The offset of an error is that in the descriptor.
pub fn parse_method_descriptor(descriptor: &[u8]) -> Result<MethodDescriptor<'_>> {
    let Some(mut rest) = descriptor.strip_prefix(b"(") else {
        return Err(bad(descriptor, descriptor));
    };
    let mut parameters = Vec::new();
    loop {
        match rest {
            [b')', result @ ..] => {
                let result = match result {
                    b"V" => None,
                    _ => match split_type(result) {
                        Some((ty, [])) => Some(ty),
                        _ => return Err(bad(descriptor, result)),
                    },
                };
                return Ok(MethodDescriptor { parameters, result });
            }
            _ => {
                let (ty, after) = split_type(rest).ok_or_else(|| bad(descriptor, rest))?;
                parameters.push(ty);
                rest = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn method_descriptors_give_types_and_slots() {
        let parsed = parse_method_descriptor(b"(IJLjava/lang/String;[[D)D").expect("valid");
        assert_eq!(
            parsed.parameters,
            vec![
                FieldType::Int,
                FieldType::Long,
                FieldType::Object(b"java/lang/String"),
                FieldType::Array(b"[[D")
            ]
        );
        assert_eq!((parsed.argument_slots(), parsed.result_slots()), (5, 2));
        assert_eq!(parse_method_descriptor(b"()V").expect("valid").result, None);
    }

    #[test]
    fn malformed_descriptors_say_where() {
        for (text, offset) in [
            ("", 0),
            ("I", 0),
            ("(I", 2),
            ("(V)V", 1),
            ("()", 2),
            ("()VV", 2),
            ("(Lx)V", 1),
            ("([)V", 1),
        ] {
            let error = parse_method_descriptor(text.as_bytes()).expect_err(text);
            assert_eq!(error.offset, offset, "{text}");
        }
        assert!(parse_field_descriptor(b"II").is_err());
        assert!(parse_field_descriptor(&[b'['; 100_000]).is_err());
    }
}
