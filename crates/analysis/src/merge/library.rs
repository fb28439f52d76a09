//! Races inside the platform: one unsynchronised use of a `HashMap` or a `SimpleDateFormat` is one bug, however many fields
//! it touches in there.
//!
//! A program cannot change the library's fields, only its own calls; so one such bug is one sort of object that is
//! shared, the classes of the program that call it, and within them the calls that have an object in common: two maps of one class that
//! no call has in common are two bugs. A trace has no receivers. The object is therefore identified by its
//! fields: its class is the most derived one that declares any that was accessed, an element or a node is part of what its code
//! is about (`HashMap$Node` of `HashMap`). A format of `java.text` has a calendar and digits of its own: where a format is shared, they
//! are part of it.

use crate::engine::EngineState;
use crate::raw::{RawReport, RawStep};
use ravel_trace::names::Location;
use ravel_trace::origin::is_platform;
use ravel_trace::{Names, ObjectId, SiteId};
use rustc_hash::FxHashMap;

const DATE_FORMAT: &str = "java.text.SimpleDateFormat";
const NUMBER_FORMAT: &str = "java.text.DecimalFormat";

/// An object of the platform that the program shares with itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Shared {
    /// `java.util.HashMap`
    pub class: String,
    /// The program's classes that call it, in order.
    pub callers: Vec<String>,
}

/// What two reports about one shared object have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Link {
    Object(ObjectId),
    /// The program's call of the platform.
    Call(SiteId),
}

/// Numbers reports, given their links, by the shared object that they are about: two that have a link in common are about one.
pub(super) fn connected(reports: &[Vec<Link>]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..reports.len()).collect();
    let root = |first: &[usize], mut at: usize| {
        while first[at] != at {
            at = first[at];
        }
        at
    };
    let mut known: FxHashMap<Link, usize> = FxHashMap::default();
    for (number, links) in reports.iter().enumerate() {
        for link in links {
            let other = *known.entry(*link).or_insert(number);
            let (one, other) = (root(&first, number), root(&first, other));
            first[one.max(other)] = one.min(other);
        }
    }
    (0..reports.len()).map(|number| root(&first, number)).collect()
}

/// Knows objects of the platform by the fields that were accessed.
pub(super) struct Library<'a> {
    names: &'a Names,
    state: &'a EngineState,
    classes: FxHashMap<ObjectId, &'a str>,
    /// The sort of format that the program shares, if it does.
    format: Option<&'static str>,
}

impl<'a> Library<'a> {
    /// For the objects that reports are about.
    pub(super) fn new(names: &'a Names, state: &'a EngineState, reports: &[RawReport]) -> Self {
        let mut library = Library {
            names,
            state,
            classes: FxHashMap::default(),
            format: None,
        };
        for step in reports.iter().flat_map(|report| &report.steps) {
            if library.is_inside(step)
                && let Some((object, class)) = library.object(step)
            {
                library.classes.insert(object, class);
            }
        }
        if library.classes.is_empty() {
            return library;
        }
        let named = names.classes.iter().map(|class| (class.name.as_str(), class));
        let named: FxHashMap<&str, &ravel_trace::names::Class> = named.collect();
        let inherits = |class: &str, from: &str| {
            let superclass = |class: &&'a str| named.get(class).map(|class| class.superclass.as_str());
            let first = named.get(class).map(|class| class.name.as_str());
            // A damaged trace may have a circle of superclasses.
            std::iter::successors(first, superclass)
                .take(64)
                .any(|class| class == from)
        };
        for location in &names.locations {
            if let Location::Field(object, field) = *location
                && let Some(known) = library.classes.get_mut(&object)
                && let Some(class) = names.classes.get(names.field(field).class.index())
                && class.name != *known
                && inherits(&class.name, known)
            {
                *known = class.name.as_str();
            }
        }
        library.format = shared_format(names);
        library
    }

    /// Whether a step is in code of the platform.
    fn is_inside(&self, step: &RawStep) -> bool {
        is_platform(self.names.class_of_site(step.point.site))
    }

    /// The object that a step is on and the class that declares the field.
    fn object(&self, step: &RawStep) -> Option<(ObjectId, &'a str)> {
        match *self.names.locations.get(step.location?.index())? {
            Location::Field(object, field) => {
                let class = self.names.classes.get(self.names.field(field).class.index())?;
                Some((object, class.name.as_str()))
            }
            _ => None,
        }
    }

    fn class(&self, step: &RawStep) -> Option<&'a str> {
        let location = *self.names.locations.get(step.location?.index())?;
        let class = match location {
            Location::Field(object, _) => self.classes.get(&object).copied()?,
            Location::Element(..) => self.names.class_of_site(step.point.site),
            _ => return None,
        };
        is_platform(class).then(|| self.whole(outer(class)))
    }

    /// What an object of a class is part of.
    fn whole(&self, class: &'a str) -> &'a str {
        let is_digits = class.starts_with("java.text.");
        let is_date = matches!(class, "java.util.Calendar" | "java.util.GregorianCalendar");
        match self.format {
            Some(format) if is_digits || is_date && format == DATE_FORMAT => format,
            _ => class,
        }
    }

    fn caller(&self, step: &RawStep) -> Option<&'a str> {
        let mut frames = self.state.stacks.frames(step.point.stack);
        let own = |class: &&str| !class.is_empty() && !is_platform(class);
        let class = frames.find_map(|frame| {
            let callee = Some(self.names.class_of(frame.method)).filter(own);
            callee.or_else(|| Some(self.names.class_of_site(frame.call)).filter(own))
        })?;
        Some(outer(class))
    }

    /// The program's call that led to a step inside the platform.
    fn call(&self, step: &RawStep) -> Option<SiteId> {
        let mut frames = self.state.stacks.frames(step.point.stack);
        let is_own = |class: &str| !class.is_empty() && !is_platform(class);
        let into_platform = frames.find(|frame| {
            is_platform(self.names.class_of(frame.method)) && is_own(self.names.class_of_site(frame.call))
        })?;
        Some(into_platform.call)
    }

    /// The objects and the calls that the steps of a report have.
    pub(super) fn links(&self, report: &RawReport) -> Vec<Link> {
        let object = |step: &RawStep| match *self.names.locations.get(step.location?.index())? {
            Location::Field(object, _) | Location::Element(object, _) => Some(Link::Object(object)),
            _ => None,
        };
        let steps = report.steps.iter();
        steps
            .flat_map(|step| {
                // Steps without a known call may come from any.
                let call = Link::Call(self.call(step).unwrap_or_default());
                object(step).into_iter().chain([call])
            })
            .collect()
    }

    /// The methods of the program that contain the calls among links, in order.
    pub(super) fn methods(&self, links: &[Link]) -> Vec<String> {
        let calls = links.iter().filter_map(|link| match link {
            Link::Call(site) if *site != SiteId::default() => self.names.method_of(*site),
            _ => None,
        });
        let mut methods: Vec<String> = calls.map(|method| self.names.method_text(method)).collect();
        methods.sort_unstable();
        methods.dedup();
        methods
    }

    /// What a report is about, if all its steps are inside the platform, on one sort of object.
    pub(super) fn shared(&self, report: &RawReport) -> Option<Shared> {
        let class = self.class(report.steps.first()?)?;
        let mut callers = Vec::new();
        for step in &report.steps {
            if !self.is_inside(step) || self.class(step) != Some(class) {
                return None;
            }
            callers.push(self.caller(step)?.to_owned());
        }
        callers.sort_unstable();
        callers.dedup();
        Some(Shared {
            class: class.to_owned(),
            callers,
        })
    }
}

/// The sort of format that has fields in a trace. A date format has a number format, so it comes first.
fn shared_format(names: &Names) -> Option<&'static str> {
    let kinds: Vec<Option<&'static str>> = names
        .classes
        .iter()
        .map(|class| match class.name.as_str() {
            DATE_FORMAT | "java.text.DateFormat" => Some(DATE_FORMAT),
            NUMBER_FORMAT | "java.text.NumberFormat" => Some(NUMBER_FORMAT),
            _ => None,
        })
        .collect();
    let formats = names.locations.iter().filter_map(|location| match *location {
        Location::Field(_, field) => *kinds.get(names.field(field).class.index())?,
        _ => None,
    });
    formats.max_by_key(|format| *format == DATE_FORMAT)
}

/// `java.util.HashMap` for `java.util.HashMap$Node`.
fn outer(class: &str) -> &str {
    class.split('$').next().unwrap_or(class)
}

#[cfg(test)]
mod tests {
    use super::{Link, connected};
    use crate::analyse::analyse;
    use crate::finding::{Finding, Rule};
    use crate::registry;
    use crate::units::UnitSettings;
    use ravel_trace::memory::MemoryTrace;
    use ravel_trace::{ObjectId, SiteId};

    fn races(text: &str) -> Vec<Finding> {
        let mut trace = MemoryTrace::parse(text).expect("the trace of a test parses");
        let analysed = analyse(&mut trace, &UnitSettings::default(), registry::all());
        let races = analysed.findings.into_iter().filter(|f| f.rule == Rule::DataRace);
        races.collect()
    }

    /// Two threads put into maps of the program without a lock, each in a class of its own or both in one.
    fn puts(first: &str, second: &str) -> String {
        let put = |column: &str, class: &str| {
            let lines = [
                "begin",
                &format!("enter {class}.add"),
                "enter java.util.HashMap.put",
                "r java.util.HashMap.size @10",
                "w java.util.HashMap.size @11",
                "w java.util.HashMap.modCount @12",
                "exit",
                "exit",
                "end",
            ];
            lines.map(|line| format!("{column}{line}\n")).concat()
        };
        let fields = "main | t1 | t2\nw java.util.HashMap.size @1\nfork t1\nfork t2\n";
        format!("{fields}{}{}", put("| ", first), put("| | ", second))
    }

    #[test]
    fn reports_with_a_common_object_or_call_are_about_one_object() {
        let (object, call) = (|id| Link::Object(ObjectId(id)), |id| Link::Call(SiteId(id)));
        let reports = [
            vec![object(1), call(5)],
            vec![object(2), call(7)],
            vec![object(1), call(6)],
            vec![object(3), call(7)],
            vec![object(4), call(6), call(8)],
        ];
        assert_eq!(connected(&reports), [0, 1, 0, 1, 0]);
    }

    #[test]
    fn one_call_that_races_inside_the_platform_is_one_finding() {
        let found = races(&puts("Phonebook", "Phonebook$1"));
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].variables.len() >= 2, "{:?}", found[0].variables);
        assert!(
            found[0].help.contains("every call of it in Phonebook by one lock"),
            "{}",
            found[0].help
        );
    }

    #[test]
    fn a_calendar_is_part_of_the_format_that_has_it_and_of_nothing_else() {
        let parse = |column: &str| {
            let lines = [
                "begin",
                "enter Dates.parse",
                "r java.text.DateFormat.calendar @5",
                "enter java.util.Calendar.clear",
                "w java.util.Calendar.time @6",
                "exit",
                "enter java.text.DigitList.append",
                "w java.text.DigitList.count @7",
                "exit",
                "exit",
                "end",
            ];
            lines.map(|line| format!("{column}{line}\n")).concat()
        };
        let text = format!("main | t1 | t2\nfork t1\nfork t2\n{}{}", parse("| "), parse("| | "));
        let found = races(&text);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(
            found[0].variables,
            ["java.util.Calendar.time", "java.text.DigitList.count"]
        );
        assert!(
            found[0].help.starts_with("SimpleDateFormat is not made"),
            "{}",
            found[0].help
        );
        let apart = text.replace("r java.text.DateFormat.calendar @5", "r Dates.other @5");
        assert_eq!(races(&apart).len(), 2);
    }

    #[test]
    fn its_id_is_that_of_the_sort_of_object_and_the_callers() {
        let ids = |text: &str| races(text).into_iter().map(|f| f.id).collect::<Vec<_>>();
        let both = ids(&puts("Phonebook", "Phonebook"));
        let fewer = puts("Phonebook", "Phonebook").replace("w java.util.HashMap.modCount @12", "r other @12");
        assert_eq!(both, ids(&fewer), "whichever fields are met");
        assert_ne!(both, ids(&puts("Addresses", "Addresses")));
    }
}
