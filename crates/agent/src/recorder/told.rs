//! The values of references in words, in forced runs: a report shows what each step read and wrote. A record has room for a number,
//! so the hooks ask here for one that stands for the words, and the writer puts the digest back in its place.

use std::sync::Mutex;

use ravel_trace::raw::TOLD;
use ravel_trace::{SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::lock;

/// The most values and keys that get words; later ones have none.
const MOST: usize = 1 << 16;
/// The most characters of a string that are kept.
const LONGEST: usize = 60;

/// A string.
pub const STRING: i32 = 0;
/// What has a name: a constant of an enum.
pub const NAME: i32 = 1;
/// A boxed number: the number.
pub const INTEGRAL: i32 = 2;
/// A boxed boolean: 0 or 1.
pub const BOOLEAN: i32 = 3;
/// A boxed character: its code.
pub const CHARACTER: i32 = 4;
/// A boxed float: its bits.
pub const FLOAT: i32 = 5;
/// A boxed double: its bits.
pub const DOUBLE: i32 = 6;
/// Any other object: its number in the trace, 0 if it has none.
pub const OBJECT: i32 = 7;

/// Values in words, by the numbers that records have for them.
#[derive(Debug, Default)]
pub struct ToldValues {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The digest of each value, and its words.
    values: Vec<(u64, String)>,
    numbers: FxHashMap<(u64, String), u64>,
    keys: FxHashMap<u32, String>,
    /// How many keys of calls have words.
    given: usize,
    /// The calls of threads that were made when there was no more room.
    silent: FxHashSet<(ThreadId, SiteId)>,
}

impl ToldValues {
    /// The number that stands for a value in records; the digest itself if there are too many values.
    pub fn number(&self, digest: u64, words: String) -> u64 {
        let mut known = lock(&self.known);
        let value = (digest, words);
        if let Some(number) = known.numbers.get(&value) {
            return *number;
        }
        if known.values.len() == MOST {
            return digest;
        }
        let number = TOLD | known.values.len() as u64;
        known.values.push(value.clone());
        known.numbers.insert(value, number);
        number
    }

    /// What a number stands for: the digest and the words.
    pub fn take(&self, number: u64) -> Option<(u64, String)> {
        let known = lock(&self.known);
        let index = usize::try_from(number.checked_sub(TOLD)?).ok()?;
        known.values.get(index).cloned()
    }

    /// Notes the words of a key: those to define now, if they are new. Words of two keys of one number would mislead.
    pub fn key(&self, number: u32, words: String) -> Option<String> {
        let mut known = lock(&self.known);
        let words = match known.keys.get(&number) {
            Some(same) if *same == words || same.is_empty() => return None,
            Some(_) => String::new(),
            None if known.keys.len() == MOST => return None,
            None => words,
        };
        known.keys.insert(number, words.clone());
        Some(words)
    }

    /// The words of the key that a thread gives a map in the call at a site: those to define now. Where there is no more room they are empty once, so
    /// that a reader does not take the key of an earlier call for that of a later one.
    pub fn given(&self, thread: ThreadId, site: SiteId, words: impl FnOnce() -> String) -> Option<String> {
        let mut known = lock(&self.known);
        if known.given == MOST {
            return known.silent.insert((thread, site)).then(String::new);
        }
        known.given += 1;
        Some(words())
    }
}

/// A value of a sort in words.
pub fn words(sort: i32, number: i64, text: Option<&str>, class: impl FnOnce() -> String) -> Option<String> {
    Some(match sort {
        STRING => quoted(text?),
        NAME => text?.to_owned(),
        INTEGRAL => number.to_string(),
        BOOLEAN => (number != 0).to_string(),
        CHARACTER => format!("{:?}", char::from_u32(u32::try_from(number).ok()?)?),
        FLOAT => format!("{:?}", f32::from_bits(number as u32)),
        DOUBLE => format!("{:?}", f64::from_bits(number as u64)),
        _ => match (class(), number) {
            (class, _) if class.is_empty() => return None,
            (class, number) => format!("{class}@{number}"),
        },
    })
}

/// A string as code has it, cut where it is long.
pub fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_number_and_get_their_digest_back() {
        let told = ToldValues::default();
        let first = told.number(7, "\"a\"".into());
        assert_eq!(told.number(7, "\"a\"".into()), first);
        let other = told.number(7, "\"b\"".into());
        assert_ne!(other, first);
        assert_eq!(told.take(other), Some((7, "\"b\"".into())));
        for unknown in [0, 1, 7, TOLD - 1, TOLD + 2, u64::MAX] {
            assert_eq!(told.take(unknown), None);
        }
    }

    #[test]
    fn two_keys_of_one_number_have_no_words() {
        let told = ToldValues::default();
        assert_eq!(told.key(1, "\"Aa\"".into()), Some("\"Aa\"".into()));
        assert_eq!(told.key(1, "\"Aa\"".into()), None);
        assert_eq!(told.key(1, "\"BB\"".into()), Some(String::new()));
        assert_eq!(told.key(1, "\"Aa\"".into()), None);
    }

    #[test]
    fn keys_of_calls_end_with_an_empty_one() {
        let told = ToldValues::default();
        let (thread, site) = (ThreadId(1), SiteId(7));
        let given = |site| told.given(thread, site, || "\"a\"".to_owned());
        for _ in 0..MOST {
            assert_eq!(given(site).as_deref(), Some("\"a\""));
        }
        assert_eq!(given(site).as_deref(), Some(""));
        assert_eq!(given(site), None);
        assert_eq!(given(SiteId(8)).as_deref(), Some(""));
    }

    #[test]
    fn values_are_told_by_their_sort() {
        let told = |sort, number, text| words(sort, number, text, || "shop.Session".into());
        assert_eq!(told(STRING, 0, Some("a")), Some("\"a\"".into()));
        assert_eq!(told(STRING, 0, None), None);
        assert_eq!(told(NAME, 0, Some("OPEN")), Some("OPEN".into()));
        assert_eq!(told(INTEGRAL, -3, None), Some("-3".into()));
        assert_eq!(told(BOOLEAN, 1, None), Some("true".into()));
        assert_eq!(told(CHARACTER, 120, None), Some("'x'".into()));
        assert_eq!(told(FLOAT, i64::from(0.5_f32.to_bits()), None), Some("0.5".into()));
        assert_eq!(told(DOUBLE, 10.0_f64.to_bits() as i64, None), Some("10.0".into()));
        assert_eq!(told(OBJECT, 17, None), Some("shop.Session@17".into()));
        assert_eq!(told(OBJECT, 0, None), Some("shop.Session@0".into()));
    }

    #[test]
    fn strings_are_quoted_and_cut() {
        assert_eq!(quoted("a\n\"b"), r#""a\n\"b""#);
        assert_eq!(quoted(&"x".repeat(61)).chars().count(), 63);
    }
}
