//! One message as one line of JSON: `{"version":1,"kind":"status","body":{…}}`.
//!
//! The version and the kind are read before the body, so that a line of another version is reported as such, however
//! its body looks. Nothing here panics: the agent reads these files inside the program under test.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the protocol. Agent and command line are built together, so they accept only their own.
pub const VERSION: u32 = 1;

/// A message that is written as a line of its own.
pub trait Message: Serialize + DeserializeOwned {
    /// The kind, as it stands in the line.
    const KIND: &'static str;
}

/// Why a file does not hold the expected messages.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The file cannot be read.
    #[error("{file}: {error}", file = file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A line is not a message; lines count from 1.
    #[error("{file}:{line}: not a message of the protocol: {error}", file = file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Which line.
        line: usize,
        /// What JSON says.
        error: serde_json::Error,
    },
    /// A line of another version.
    #[error("{file}:{line}: protocol version {found}, expected {VERSION}", file = file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// Which line.
        line: usize,
        /// The version that the line has.
        found: u32,
    },
    /// A message of another kind.
    #[error("{file}:{line}: a message of kind `{found}`, expected `{expected}`", file = file.display())]
    Kind {
        /// The file.
        file: PathBuf,
        /// Which line.
        line: usize,
        /// The kind that the line has.
        found: String,
        /// The kind that was expected.
        expected: &'static str,
    },
    /// The file must hold one message and holds another number of them.
    #[error("{file}: {found} messages of kind `{expected}`, expected one", file = file.display())]
    Count {
        /// The file.
        file: PathBuf,
        /// How many it holds.
        found: usize,
        /// The kind that was expected.
        expected: &'static str,
    },
}

#[derive(Deserialize)]
struct Head {
    version: u32,
    kind: String,
}

#[derive(Deserialize)]
struct Body<T> {
    body: T,
}

#[derive(Serialize)]
struct Whole<'a, T> {
    version: u32,
    kind: &'static str,
    body: &'a T,
}

/// A message as a line, with its line break.
pub fn encode<T: Message>(message: &T) -> Result<String, serde_json::Error> {
    let whole = Whole {
        version: VERSION,
        kind: T::KIND,
        body: message,
    };
    serde_json::to_string(&whole).map(|line| line + "\n")
}

/// The messages of a text; `file` is where it comes from, for errors. A bad line is an error in its own place, so that
/// the reader decides whether the others still count.
pub fn decode<T: Message>(text: &str, file: &Path) -> Vec<Result<T, LineError>> {
    (1..)
        .zip(text.lines())
        .map(|(line, text)| decode_line(text, file, line))
        .collect()
}

fn decode_line<T: Message>(text: &str, file: &Path, line: usize) -> Result<T, LineError> {
    let damaged = |error| LineError::Damaged {
        file: file.to_path_buf(),
        line,
        error,
    };
    let head: Head = serde_json::from_str(text).map_err(damaged)?;
    if head.version != VERSION {
        return Err(LineError::Version {
            file: file.to_path_buf(),
            line,
            found: head.version,
        });
    }
    if head.kind != T::KIND {
        return Err(LineError::Kind {
            file: file.to_path_buf(),
            line,
            found: head.kind,
            expected: T::KIND,
        });
    }
    let body: Body<T> = serde_json::from_str(text).map_err(damaged)?;
    Ok(body.body)
}

/// The messages of a file; an error if one of its lines is wrong.
pub fn read_all<T: Message>(file: &Path) -> Result<Vec<T>, LineError> {
    decode(&text_of(file)?, file).into_iter().collect()
}

/// The message of a file that holds exactly one.
pub fn read_one<T: Message>(file: &Path) -> Result<T, LineError> {
    decode_one(&text_of(file)?, file)
}

/// The message of a text that holds exactly one; `file` is where it comes from, for errors.
pub fn decode_one<T: Message>(text: &str, file: &Path) -> Result<T, LineError> {
    let mut all: Vec<T> = decode(text, file).into_iter().collect::<Result<_, _>>()?;
    match (all.len(), all.pop()) {
        (1, Some(message)) => Ok(message),
        (found, _) => Err(LineError::Count {
            file: file.to_path_buf(),
            found,
            expected: T::KIND,
        }),
    }
}

fn text_of(file: &Path) -> Result<String, LineError> {
    std::fs::read_to_string(file).map_err(|error| LineError::Unreadable {
        file: file.to_path_buf(),
        error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JvmName, Signature};

    fn signature(process: u32) -> Signature {
        Signature {
            process,
            runs: "Main a\tb\n\u{e4}".into(),
        }
    }

    fn error(text: &str) -> String {
        let all: Result<Vec<Signature>, LineError> = decode(text, Path::new("roll")).into_iter().collect();
        all.expect_err("wrong").to_string()
    }

    #[test]
    fn a_message_is_one_line_whatever_it_holds() {
        let text = encode(&signature(7)).expect("a line") + &encode(&signature(8)).expect("a line");
        assert_eq!(text.lines().count(), 2);
        let all: Vec<Signature> = decode(&text, Path::new("roll"))
            .into_iter()
            .map(|message| message.expect("sound"))
            .collect();
        assert_eq!(all, [signature(7), signature(8)]);
    }

    #[test]
    fn a_wrong_line_is_named_with_its_file() {
        let good = encode(&signature(7)).expect("a line");
        let torn = format!("{good}{}", &good[..good.len() / 2]);
        assert!(
            error(&torn).starts_with("roll:2: not a message of the protocol: EOF"),
            "{}",
            error(&torn)
        );
        assert!(error("7\tMain\n").starts_with("roll:1: not a message of the protocol:"));
        let newer = r#"{"version":2,"kind":"signature","body":{"unheard":"of"}}"#;
        assert_eq!(error(newer), "roll:1: protocol version 2, expected 1");
        let other = r#"{"version":1,"kind":"watch","body":{}}"#;
        assert_eq!(error(other), "roll:1: a message of kind `watch`, expected `signature`");
        let lacking = r#"{"version":1,"kind":"signature","body":{"process":1}}"#;
        assert!(error(lacking).contains("missing field `runs`"), "{}", error(lacking));
    }

    #[test]
    fn a_file_of_one_message_holds_neither_none_nor_two() {
        let file = std::env::temp_dir().join(format!("ravel-line-{}", std::process::id()));
        let line = encode(&signature(7)).expect("a line");
        let read = |text: &str| {
            std::fs::write(&file, text).expect("written");
            read_one::<Signature>(&file)
        };
        assert_eq!(read(&line).expect("one"), signature(7));
        assert!(matches!(read(""), Err(LineError::Count { found: 0, .. })));
        let twice = line.repeat(2);
        assert!(matches!(read(&twice), Err(LineError::Count { found: 2, .. })));
        std::fs::remove_file(&file).expect("removed");
        assert!(matches!(
            read_one::<Signature>(&file),
            Err(LineError::Unreadable { .. })
        ));
    }

    #[test]
    fn a_jvm_is_named_in_one_word() {
        let name = JvmName {
            number: 1,
            runs: "-jar a:b.jar".into(),
        };
        assert_eq!(name.to_string(), "1:-jar a:b.jar");
        assert_eq!(name.to_string().parse(), Ok(name));
        assert!("Main".parse::<JvmName>().is_err());
    }
}
