//! Reads `ravel.toml`: checks every key against the table of keys, says every mistake with its line and the nearest name
//! that would be right, and only then makes the values.

use std::ops::Range;
use std::path::PathBuf;

use ravel_analysis::finding::{Evidence, Rule, UnitKind};
use toml::de::{DeTable, DeValue};

use super::day::Day;
use super::keys::{Key, Kind, SECTIONS, Section, UNIT_KINDS};
use super::{AtomicSet, Config, ConfigError, Pattern, Problem, Suppression};
use crate::format::nearest;
use crate::{Output, words};

type Spanned<T> = toml::Spanned<T>;

/// Reads a configuration; `file` is its name in messages.
pub fn read(text: &str, file: &str) -> Result<Config, ConfigError> {
    let mut reader = Reader {
        text,
        problems: Vec::new(),
    };
    let mut config = Config::default();
    match DeTable::parse(text) {
        Ok(table) => reader.config(table.get_ref(), &mut config),
        Err(error) => reader.say(error.span().unwrap_or(0..0), error.message().to_owned()),
    }
    if reader.problems.is_empty() {
        return Ok(config);
    }
    reader.problems.sort_by_key(|p| (p.line, p.column));
    Err(ConfigError {
        file: file.to_owned(),
        problems: reader.problems,
    })
}

struct Reader<'t> {
    text: &'t str,
    problems: Vec<Problem>,
}

impl<'t> Reader<'t> {
    fn say(&mut self, span: Range<usize>, message: String) {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        self.problems.push(Problem { line, column, message });
    }

    fn line(&self, span: &Range<usize>) -> usize {
        self.text.get(..span.start).unwrap_or(self.text).matches('\n').count() + 1
    }

    fn config(&mut self, table: &DeTable<'t>, config: &mut Config) {
        for (name, value) in table {
            let Some(section) = SECTIONS.iter().find(|s| s.name == name.get_ref().as_ref()) else {
                self.unknown(name.span(), "section", name.get_ref(), SECTIONS.iter().map(|s| s.name));
                continue;
            };
            match (section.repeated, value.get_ref()) {
                (false, DeValue::Table(inner)) => self.section(section, inner, value.span(), config),
                (true, DeValue::Array(array)) => {
                    for item in array {
                        match item.get_ref() {
                            DeValue::Table(inner) => self.section(section, inner, item.span(), config),
                            _ => self.say(item.span(), format!("`{}` holds tables: write [[{0}]]", section.name)),
                        }
                    }
                }
                (true, _) => self.say(
                    name.span(),
                    format!("`{}` may be repeated: write [[{0}]]", section.name),
                ),
                (false, _) => self.say(name.span(), format!("`{}` is a section: write [{0}]", section.name)),
            }
        }
    }

    fn unknown<'n>(
        &mut self,
        span: Range<usize>,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'n str> + Clone,
    ) {
        let hint = match nearest(name, known.clone()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("known are {}", known.collect::<Vec<_>>().join(", ")),
        };
        self.say(span, format!("no {what} `{name}`; {hint}"));
    }

    fn section(&mut self, section: &Section, table: &DeTable<'t>, span: Range<usize>, config: &mut Config) {
        let known = self.problems.len();
        for (name, value) in table {
            match section.keys.iter().find(|k| k.name == name.get_ref().as_ref()) {
                Some(key) => self.check(key, value),
                None => {
                    let what = format!("key in [{}] named", section.name);
                    self.unknown(name.span(), &what, name.get_ref(), section.keys.iter().map(|k| k.name));
                }
            }
        }
        for key in section
            .keys
            .iter()
            .filter(|k| k.required && !table.contains_key(k.name))
        {
            self.say(
                span.clone(),
                format!("`{}` needs `{}`: {}", section.name, key.name, key.about),
            );
        }
        if section.name == "suppress"
            && !table
                .keys()
                .any(|k| !matches!(k.get_ref().as_ref(), "reason" | "until"))
        {
            let what = "a suppression names at least one of id, rule, class, field and method";
            self.say(span.clone(), what.to_owned());
        }
        if self.problems.len() == known {
            let line = self.line(&span);
            fill(section.name, &Values(table), line, config);
        }
    }

    fn check(&mut self, key: &Key, value: &Spanned<DeValue<'t>>) {
        match key.kind {
            Kind::Text => {
                let text = self.text_of(key, value);
                if text.is_some_and(|t| t.trim().is_empty()) {
                    self.say(value.span(), format!("`{}` is empty: {}", key.name, key.about));
                }
            }
            Kind::Texts => self.each(key, value, |_, _, _| {}),
            Kind::Evidence => self.one_of(key, value, &words::LADDER.map(words::evidence)),
            Kind::Rule => self.one_of(key, value, &Rule::ids()),
            Kind::UnitKinds => self.each(key, value, |reader, span, text| {
                if !UNIT_KINDS.contains(&text) {
                    reader.unknown(span, "kind of unit", text, UNIT_KINDS.into_iter());
                }
            }),
            Kind::Outputs => self.each(key, value, |reader, span, text| {
                if let Err(error) = text.parse::<Output>() {
                    reader.say(span, error.to_string());
                }
            }),
            Kind::Steps => {
                let steps = self
                    .text_of(key, value)
                    .map(str::parse::<ravel_analysis::patterns::language::Pattern>);
                match steps {
                    Some(Err(error)) => self.say(value.span(), error.to_string()),
                    Some(Ok(pattern)) if pattern.is_serializable() => self.say(
                        value.span(),
                        "no such pattern can be a bug: its accesses in this order are those of some serial order of the units".to_owned(),
                    ),
                    _ => {}
                }
            }
            Kind::Day => {
                if day_of(value.get_ref()).is_none() {
                    self.say(value.span(), format!("`{}` is a day: write it as 2027-06-30", key.name));
                }
            }
        }
    }

    fn text_of<'v>(&mut self, key: &Key, value: &'v Spanned<DeValue<'t>>) -> Option<&'v str> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.say(value.span(), format!("`{}` is a string: write it in quotes", key.name));
        }
        text
    }

    fn one_of(&mut self, key: &Key, value: &Spanned<DeValue<'t>>, known: &[&'static str]) {
        if let Some(text) = self.text_of(key, value)
            && !known.contains(&text)
        {
            self.unknown(value.span(), key.name, text, known.iter().copied());
        }
    }

    fn each(&mut self, key: &Key, value: &Spanned<DeValue<'t>>, mut check: impl FnMut(&mut Self, Range<usize>, &str)) {
        let DeValue::Array(array) = value.get_ref() else {
            self.say(
                value.span(),
                format!("`{}` is a list of strings: write it as [\"…\"]", key.name),
            );
            return;
        };
        for item in array {
            match item.get_ref().as_str() {
                Some(text) => check(self, item.span(), text),
                None => self.say(item.span(), format!("`{}` is a list of strings", key.name)),
            }
        }
    }
}

/// The values of a section that was checked; what is missing or wrong was said already.
struct Values<'t, 'v>(&'v DeTable<'t>);

impl Values<'_, '_> {
    fn text(&self, key: &str) -> Option<String> {
        self.0.get(key)?.get_ref().as_str().map(str::to_owned)
    }

    fn texts(&self, key: &str) -> Vec<String> {
        let Some(DeValue::Array(array)) = self.0.get(key).map(|v| v.get_ref()) else {
            return Vec::new();
        };
        array
            .iter()
            .filter_map(|item| item.get_ref().as_str().map(str::to_owned))
            .collect()
    }

    fn evidence(&self, key: &str) -> Option<Evidence> {
        words::parse_evidence(&self.text(key)?)
    }

    fn rule(&self, key: &str) -> Option<Rule> {
        words::parse_rule(&self.text(key)?)
    }

    fn day(&self, key: &str) -> Option<Day> {
        day_of(self.0.get(key)?.get_ref())
    }
}

fn fill(section: &str, values: &Values<'_, '_>, line: usize, config: &mut Config) {
    match section {
        "record" => {
            config.record.include = values.texts("include");
            config.record.exclude = values.texts("exclude");
        }
        "units" => {
            let kinds = values.texts("kinds");
            config.units.kinds = values
                .0
                .contains_key("kinds")
                .then(|| kinds.iter().filter_map(|k| unit_kind(k)).collect());
            config.units.declare = values.texts("declare");
            config.units.not_atomic = values.texts("not-atomic");
        }
        "atomic-set" => config.atomic_sets.push(AtomicSet {
            name: values.text("name").unwrap_or_default(),
            fields: values.texts("fields"),
            units: values.texts("units"),
        }),
        "pattern" => config.patterns.push(Pattern {
            name: values.text("name").unwrap_or_default(),
            steps: values.text("steps").unwrap_or_default(),
            line,
        }),
        "scan" => {
            config.scan.unshared = values.texts("unshared");
            config.scan.shared = values.texts("shared");
        }
        "report" => {
            config.report.fail_on = values.evidence("fail-on");
            config.report.source = values.texts("source").into_iter().map(PathBuf::from).collect();
            config.report.baseline = values.text("baseline").map(PathBuf::from);
            config.report.out = values.texts("out").iter().filter_map(|o| o.parse().ok()).collect();
        }
        "suppress" => config.suppressions.push(Suppression {
            id: values.text("id"),
            rule: values.rule("rule"),
            class: values.text("class"),
            field: values.text("field"),
            method: values.text("method"),
            reason: values.text("reason").unwrap_or_default(),
            until: values.day("until"),
            line,
        }),
        _ => {}
    }
}

fn unit_kind(name: &str) -> Option<UnitKind> {
    Some(match name {
        "section" => UnitKind::Section,
        "method" => UnitKind::Method,
        "compound" => UnitKind::Compound,
        _ => return None,
    })
}

/// A TOML date, or the same in quotes.
fn day_of(value: &DeValue<'_>) -> Option<Day> {
    match value {
        DeValue::Datetime(moment) => {
            let date = moment.date?;
            Day::new(i32::from(date.year), date.month, date.day)
        }
        DeValue::String(text) => text.parse().ok(),
        _ => None,
    }
}
