//! What a focus plan leaves out of a recording, as the agent gets it and as the header of the trace keeps it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::line::{self, LineError, Message};

/// What is left out of all classes. One message, so one line.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FocusDigest {
    /// The recording is for the race analyses alone: positions are not needed.
    #[serde(default)]
    pub for_races: bool,
    /// Collections of the JDK that need no recording, by internal name: `java/util/ArrayList`.
    #[serde(default)]
    pub plain: Vec<String>,
    /// The classes that the plan was made for.
    #[serde(default)]
    pub classes: Vec<ClassDigest>,
}

/// What is left out of one class.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ClassDigest {
    /// Internal name: `shop/Stock`.
    pub name: String,
    /// Hash of the bytes that the plan was made for, in hexadecimal. A class with other bytes is recorded in full.
    pub hash: String,
    /// Methods that the recording leaves out in part or as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<MethodDigest>,
}

/// What is left out of one method.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MethodDigest {
    /// Name and descriptor: `take(I)Z`.
    pub name: String,
    /// The whole method is left out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub quiet: bool,
    /// Only the program itself calls the method, so it leaves no frame.
    #[serde(default, skip_serializing_if = "is_false")]
    pub inner: bool,
    /// Positions without hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leave: Vec<u32>,
    /// Positions of accesses that record only that the thread has the object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touch: Vec<u32>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Message for FocusDigest {
    const KIND: &'static str = "focus";
}

impl FocusDigest {
    /// Reads the text of a digest; `file` is where it comes from, for errors.
    pub fn decode(text: &str, file: &Path) -> Result<FocusDigest, LineError> {
        line::decode_one(text, file)
    }

    /// Whether two digests are of the same classes with the same bytes.
    pub fn is_of_same_classes(&self, other: &FocusDigest) -> bool {
        let classes = |digest: &FocusDigest| -> Vec<(String, String)> {
            let classes = digest.classes.iter();
            classes.map(|class| (class.name.clone(), class.hash.clone())).collect()
        };
        classes(self) == classes(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest() -> FocusDigest {
        FocusDigest {
            for_races: true,
            plain: vec!["java/util/ArrayList".into()],
            classes: vec![ClassDigest {
                name: "shop/Stock".into(),
                hash: "0123456789abcdef".into(),
                methods: vec![MethodDigest {
                    name: "take stock(I)Z".into(),
                    inner: true,
                    leave: vec![3, 17],
                    touch: vec![21],
                    ..MethodDigest::default()
                }],
            }],
        }
    }

    #[test]
    fn a_digest_survives_its_line() {
        let text = line::encode(&digest()).expect("a line");
        assert_eq!(text.lines().count(), 1);
        assert_eq!(FocusDigest::decode(&text, Path::new("plan")).expect("sound"), digest());
        let missing = "{\"version\":1,\"kind\":\"focus\",\"body\":{\"classes\":[{\"name\":\"A\"}]}}";
        let error = FocusDigest::decode(missing, Path::new("plan")).expect_err("no hash");
        assert!(error.to_string().starts_with("plan:1: ") && error.to_string().contains("hash"));
        assert!(FocusDigest::decode("", Path::new("plan")).is_err());
    }

    #[test]
    fn a_changed_class_makes_another_digest() {
        let mut other = digest();
        other.classes[0].methods.clear();
        assert!(digest().is_of_same_classes(&other));
        other.classes[0].hash = "00".into();
        assert!(!digest().is_of_same_classes(&other));
    }
}
