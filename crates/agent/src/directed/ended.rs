//! How the activation of a unit ended, as the Java hooks tell it: a kind, and a text that depends on it.

use ravel_protocol::goal::UnitEnd;

/// It returned, and has no result.
pub const NOTHING: i32 = 0;
/// It returned a value that the text spells out.
pub const VALUE: i32 = 1;
/// It returned an object; the text is its class.
pub const OBJECT: i32 = 2;
/// An exception left it; the text is its class.
pub const THROWN: i32 = 3;

/// What a kind and its text mean; none for a kind that no hook tells.
pub fn ended(kind: i32, text: String) -> Option<UnitEnd> {
    match kind {
        NOTHING => Some(UnitEnd::Nothing),
        VALUE => Some(UnitEnd::Value(text)),
        OBJECT => Some(UnitEnd::Object(text)),
        THROWN => Some(UnitEnd::Thrown(text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_nothing_of_its_kind() {
        let told = |kind| ended(kind, "nothing".into());
        assert_eq!(told(NOTHING), Some(UnitEnd::Nothing));
        assert_eq!(told(VALUE), Some(UnitEnd::Value("nothing".into())));
        assert_eq!(told(OBJECT), Some(UnitEnd::Object("nothing".into())));
        assert_eq!(told(THROWN), Some(UnitEnd::Thrown("nothing".into())));
        assert_eq!(told(4), None);
    }
}
