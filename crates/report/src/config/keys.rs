//! The keys of `ravel.toml`, said once: the reader checks files against this table, and the schema for editors is made
//! from it.

use ravel_analysis::finding::Rule;
use serde_json::{Value, json};

use crate::{Format, words};

/// What a key holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// A list of texts.
    Texts,
    /// A step of the evidence ladder.
    Evidence,
    /// A rule.
    Rule,
    /// A list of kinds of unit.
    UnitKinds,
    /// A list of `FORMAT=FILE`.
    Outputs,
    /// A day, `2027-06-30`.
    Day,
    /// An order of accesses, `R1(x) W2(x) W1(x)`.
    Steps,
}

/// One key of a section.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
    /// What it means.
    pub about: &'static str,
}

/// One section.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// Whether it may be repeated, `[[name]]`.
    pub repeated: bool,
    /// What it means.
    pub about: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key {
        name,
        kind,
        required: false,
        about,
    }
}

const fn required(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key {
        name,
        kind,
        required: true,
        about,
    }
}

/// All sections.
pub const SECTIONS: [Section; 7] = [
    Section {
        name: "record",
        repeated: false,
        about: "The classes to record.",
        keys: &[
            key(
                "include",
                Kind::Texts,
                "Record only classes whose full names start with one of these.",
            ),
            key(
                "exclude",
                Kind::Texts,
                "Do not record classes whose full names start with one of these.",
            ),
        ],
    },
    Section {
        name: "units",
        repeated: false,
        about: "The code that should be atomic.",
        keys: &[
            key(
                "kinds",
                Kind::UnitKinds,
                "The kinds of unit to check; the default is all.",
            ),
            key(
                "declare",
                Kind::Texts,
                "Methods that must be atomic, as patterns of full names.",
            ),
            key("not-atomic", Kind::Texts, "Methods and fields that need not be atomic."),
        ],
    },
    Section {
        name: "atomic-set",
        repeated: true,
        about: "Fields that are consistent only together.",
        keys: &[
            required("name", Kind::Text, "The name of the set."),
            required("fields", Kind::Texts, "Its fields, as patterns of full names."),
            key(
                "units",
                Kind::Texts,
                "Methods that must be one step on this set alone, as patterns of full names.",
            ),
        ],
    },
    Section {
        name: "pattern",
        repeated: true,
        about: "An order of accesses to report.",
        keys: &[
            required("name", Kind::Text, "Its name in reports."),
            required("steps", Kind::Steps, "Its accesses, as in `R1(x) W2(x) W1(x)`."),
        ],
    },
    Section {
        name: "scan",
        repeated: false,
        about: "The classes that the static analysis assumes to be shared.",
        keys: &[
            key(
                "unshared",
                Kind::Texts,
                "Classes with synchronized methods whose objects no two threads share; `*` at the end matches every suffix.",
            ),
            key(
                "shared",
                Kind::Texts,
                "Classes on the built-in list of unshared classes whose objects this program shares.",
            ),
        ],
    },
    Section {
        name: "report",
        repeated: false,
        about: "The report.",
        keys: &[
            key(
                "fail-on",
                Kind::Evidence,
                "The weakest evidence that fails a build; the default is every shown finding.",
            ),
            key("source", Kind::Texts, "Folders and archives that contain sources."),
            key("baseline", Kind::Text, "The file of accepted findings."),
            key("out", Kind::Outputs, "Reports to write, as FORMAT=FILE."),
        ],
    },
    Section {
        name: "suppress",
        repeated: true,
        about: "Findings that are not bugs.",
        keys: &[
            key("id", Kind::Text, "The finding's id."),
            key("rule", Kind::Rule, "The rule."),
            key("class", Kind::Text, "The class of one of its places, as a pattern."),
            key("field", Kind::Text, "One of its variables, as a pattern."),
            key("method", Kind::Text, "One of its units or places, as a pattern."),
            required("reason", Kind::Text, "Why it is not a bug."),
            key("until", Kind::Day, "The last day of the suppression."),
        ],
    },
];

/// The kinds of unit that may be chosen; what is declared is a unit in any case.
pub const UNIT_KINDS: [&str; 3] = ["section", "method", "compound"];

/// A JSON schema of `ravel.toml`, for editors.
pub fn schema() -> Value {
    let mut properties = serde_json::Map::new();
    for section in SECTIONS {
        let keys: serde_json::Map<String, Value> = section
            .keys
            .iter()
            .map(|k| (k.name.to_owned(), key_schema(k)))
            .collect();
        let needed: Vec<&str> = section.keys.iter().filter(|k| k.required).map(|k| k.name).collect();
        let mut table = json!({
            "type": "object",
            "description": section.about,
            "additionalProperties": false,
            "properties": keys,
        });
        if !needed.is_empty() {
            table["required"] = json!(needed);
        }
        if section.name == "suppress" {
            table["minProperties"] = json!(2);
        }
        let value = if section.repeated {
            json!({ "type": "array", "description": section.about, "items": table })
        } else {
            table
        };
        properties.insert(section.name.to_owned(), value);
    }
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "ravel.toml",
        "description": "Configuration of Ravel, which finds concurrency bugs of JVM programs.",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn key_schema(key: &Key) -> Value {
    let mut schema = match key.kind {
        Kind::Text | Kind::Steps => json!({ "type": "string" }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Evidence => json!({ "enum": words::LADDER.map(words::evidence) }),
        Kind::Rule => json!({ "enum": Rule::ids() }),
        Kind::UnitKinds => json!({ "type": "array", "items": { "enum": UNIT_KINDS } }),
        Kind::Outputs => {
            let pattern = format!("^({})=.+$", Format::names().join("|"));
            json!({ "type": "array", "items": { "type": "string", "pattern": pattern } })
        }
        // Editors hand a day over as text or as a date of their own.
        Kind::Day => json!({ "type": ["string", "object"], "format": "date" }),
    };
    schema["description"] = json!(key.about);
    schema
}
