//! Names for the locks of recorded runs. A trace knows the class of a lock, which says little when it is `Object` or
//! `ReentrantLock`; the code that took it knows the field. Where the class files are at hand, the frames of a step say which
//! acquisitions of the code are open there, and a lock is named by the one whose type fits: `shop.Account.guard`,
//! `shop.Account.class`. What does not fit, or fits twice, keeps the name of its class; so do
//! objects of the program's own classes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use ravel_analysis::describe::{listed, message};
use ravel_analysis::finding::{Finding, FindingStep, RuleFamily};
use ravel_analysis::fix;
use ravel_classfile::archive;
use ravel_trace::naming::Frame;
use ravel_trace::naming::lock::{short, unnumbered};
use ravel_trace::origin::is_platform;

use crate::body::{Body, Stmt};
use crate::expr::{ExprId, Node};
use crate::filter::class_of;
use crate::lower::{self, Input};
use crate::program::{MethodId, Program};

/// Renames the locks in the steps of findings, as far as the classes under `paths` name them. What cannot be read names
/// nothing.
pub fn name_locks(findings: &mut [Finding], paths: &[PathBuf]) {
    let steps = findings.iter().flat_map(|finding| &finding.steps);
    let wanted: BTreeSet<String> = steps
        .filter(|step| !step.locks.is_empty())
        .flat_map(frames)
        .map(|frame| frame.class.replace('.', "/"))
        .collect();
    if wanted.is_empty() || paths.is_empty() {
        return;
    }
    let mut inputs = Vec::new();
    for path in paths {
        let mut each = |entry: archive::ClassEntry| {
            if wanted.contains(&entry.name) {
                inputs.push(Input {
                    origin: entry.origin,
                    bytes: entry.bytes,
                    wanted: true,
                });
            }
            ControlFlow::Continue(())
        };
        let _unread = archive::for_each_class(path, &archive::Options::default(), &mut each);
    }
    let code = Code::of(&lower::extend(Program::default(), inputs));
    for finding in findings {
        code.rename(finding);
    }
}

/// A sentence about threads that wait, with another name for a lock: `t1 waits for Object, which t2 holds`.
fn waited_for(sentence: &str, lock: &str, name: &str) -> String {
    let mut told = sentence.to_owned();
    for before in ["waits for ", "waits for a notification of "] {
        for after in [",", ";", "."] {
            told = told.replace(&format!("{before}{lock}{after}"), &format!("{before}{name}{after}"));
        }
    }
    told
}

/// The frames of a step, innermost first: those of its stack, and before them its own place if the stack begins elsewhere.
fn frames(step: &FindingStep) -> Vec<Frame<'_>> {
    let known = step.stack.iter().map(|frame| Frame::parse(frame));
    let mut frames: Vec<Frame<'_>> = known.filter(|frame| frame.line > 0).collect();
    let own = step.frame();
    if frames
        .first()
        .is_none_or(|first| (first.class, first.method) != (own.class, own.method))
    {
        frames.insert(0, own);
    }
    frames
}

/// An acquisition and the lines on which its lock is held.
#[derive(Debug)]
struct Open {
    from: u32,
    to: u32,
    lock: Lock,
}

/// What code locks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Lock {
    /// The object itself, of this class or one below it.
    This(String),
    /// What a field or a class literal names: its declared type, and the name.
    Named(String, String),
}

/// The acquisitions of each method, by class and name.
#[derive(Debug, Default)]
struct Code {
    methods: BTreeMap<(String, String), Vec<Open>>,
}

impl Code {
    fn of(program: &Program) -> Code {
        let mut code = Code::default();
        for method in program.method_ids() {
            let Some(body) = program.body(method).filter(|body| !body.sites.is_empty()) else {
                continue;
            };
            let class = program.symbols.class_text(program.class_of(method).name);
            let name = program.symbols.member_name(program.method(method).selector);
            let known = code.methods.entry((class, name)).or_default();
            known.extend(acquisitions(program, method, body));
        }
        code
    }

    fn rename(&self, finding: &mut Finding) {
        let is_generated = finding.help == fix::of(finding);
        let mut names: BTreeMap<String, Option<String>> = BTreeMap::new();
        for step in &finding.steps {
            for (lock, name) in self.names(step) {
                let known = names.entry(lock).or_insert_with(|| Some(name.clone()));
                if known.as_ref() != Some(&name) {
                    *known = None;
                }
            }
        }
        let names: BTreeMap<String, String> = names
            .into_iter()
            .filter_map(|(lock, name)| Some((lock, name?)))
            .collect();
        let is_usual = finding.message == message(finding.rule, &finding.variables, &finding.units, &finding.steps);
        // A number stays where it still tells two locks apart.
        let told = |lock: &str| -> Option<String> {
            let name = names.get(lock)?;
            let alone = names.values().filter(|other| *other == name).count() == 1;
            let number = lock.split_once('@').filter(|_| !alone).map(|(_, number)| number);
            Some(number.map_or(name.clone(), |number| format!("{name}@{number}")))
        };
        let rename = |lock: &mut String| {
            if let Some(name) = told(lock) {
                *lock = name;
            }
        };
        for step in &mut finding.steps {
            step.lock_names_mut().for_each(rename);
            if matches!(step.op.as_str(), "acquire" | "release" | "block") {
                rename(&mut step.variable);
            }
        }
        // Variables have no numbers: one stands for all locks of its class.
        let mut variables: Vec<String> = Vec::new();
        for variable in &finding.variables {
            let of_class = names.iter().filter(|(lock, _)| unnumbered(lock) == variable);
            let of_class: Vec<String> = of_class.map(|(_, name)| name.clone()).collect();
            let new = if of_class.is_empty() {
                vec![variable.clone()]
            } else {
                of_class
            };
            for name in new {
                if !variables.contains(&name) {
                    variables.push(name);
                }
            }
        }
        if finding.rule.family() == RuleFamily::LockOrder && is_usual {
            // Two locks of one class may be two fields, of one object: another sentence.
            finding.message = message(finding.rule, &variables, &finding.units, &finding.steps);
        } else if finding.rule.family() == RuleFamily::LockOrder {
            let words = |all: &[String]| listed(&all.iter().map(|lock| short(lock)).collect::<Vec<_>>());
            finding.message = finding.message.replace(&words(&finding.variables), &words(&variables));
        }
        for lock in names.keys() {
            let new = told(lock).unwrap_or_default();
            finding.message = waited_for(&finding.message, &short(lock), &short(&new));
        }
        finding.variables = variables;
        if is_generated {
            finding.help = fix::of(finding);
        }
    }

    /// The locks of a step that its frames name.
    fn names(&self, step: &FindingStep) -> Vec<(String, String)> {
        let mut open: BTreeSet<&Lock> = BTreeSet::new();
        for frame in frames(step) {
            let method = (frame.class.to_owned(), frame.method.to_owned());
            let known = self.methods.get(&method).into_iter().flatten();
            open.extend(
                known
                    .filter(|open| (open.from..=open.to).contains(&frame.line))
                    .map(|open| &open.lock),
            );
        }
        let class_of = |lock: &str| unnumbered(lock).to_owned();
        let mut locks: Vec<&String> = step.locks.iter().collect();
        for lock in &open {
            if let Lock::This(class) = lock
                && let Some(at) = locks.iter().position(|lock| class_of(lock) == *class)
            {
                locks.remove(at);
            }
        }
        let mut found = Vec::new();
        let named = open.iter().filter_map(|lock| match lock {
            Lock::Named(class, name) => Some((class, name)),
            Lock::This(_) => None,
        });
        let named: Vec<(&String, &String)> = named.collect();
        // A class of the program says what its lock is for, and one object may lie in several fields.
        for lock in locks.iter().filter(|lock| is_platform(lock)) {
            let fitting: Vec<&&String> = named
                .iter()
                .filter(|(declared, _)| fits(declared, &class_of(lock)))
                .map(|(_, name)| name)
                .collect();
            let rivals = locks.iter().filter(|other| class_of(other) == class_of(lock)).count();
            if let ([name], 1) = (fitting.as_slice(), rivals) {
                found.push(((*lock).clone(), (**name).clone()));
            }
        }
        found
    }
}

/// Whether a field declared with one type may hold a lock of a class. Types of the program are not known to extend each other
/// here, so only the same will do.
fn fits(declared: &str, class: &str) -> bool {
    const LOCKS: &str = "java.util.concurrent.locks.";
    declared == class || (declared.starts_with(LOCKS) && class.starts_with(LOCKS))
}

fn acquisitions(program: &Program, method: MethodId, body: &Body) -> Vec<Open> {
    let first = body.lines.iter().map(|(_, line)| u32::from(*line)).min().unwrap_or(0);
    let last = body.lines.iter().map(|(_, line)| u32::from(*line)).max().unwrap_or(0);
    let mut open = Vec::new();
    for (number, site) in body.sites.iter().enumerate() {
        let Some(lock) = lock(program, method, &body.exprs, site.lock) else {
            continue;
        };
        let leaves = |stmt: &Stmt| matches!(stmt, Stmt::Exit(Some(left)) if usize::from(*left) == number);
        let exits = (0..).zip(body.stmts.iter()).filter(|(_, stmt)| leaves(stmt));
        let (from, to) = match site.kind {
            crate::body::SiteKind::Method => (first, last),
            _ => (
                body.line(site.pc),
                exits.map(|(at, _)| body.stmt_line(at)).max().unwrap_or(last),
            ),
        };
        open.push(Open { from, to, lock });
    }
    open
}

fn lock(program: &Program, method: MethodId, nodes: &[Node], expr: ExprId) -> Option<Lock> {
    let symbols = &program.symbols;
    match *nodes.get(expr.0 as usize)? {
        Node::This => Some(Lock::This(symbols.class_text(program.class_of(method).name))),
        Node::Class(class) => Some(Lock::Named(
            "java.lang.Class".to_owned(),
            format!("{}.class", symbols.class_text(class)),
        )),
        Node::Field(_, pair) | Node::Static(pair) => {
            let declared = class_of(program, method, nodes, expr)?;
            // The class that declares the field, if it was read.
            let pair = program.field(pair).map_or(pair, |field| field.pair);
            Some(Lock::Named(symbols.class_text(declared), program.field_text(pair)))
        }
        Node::ReadWrite(whole) => lock(program, method, nodes, whole),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use ravel_analysis::finding::Rule;

    use super::*;

    fn code(opens: &[(&str, u32, u32, Lock)]) -> Code {
        let mut code = Code::default();
        for (method, from, to, lock) in opens {
            let known = code
                .methods
                .entry(("shop.Bank".to_owned(), (*method).to_owned()))
                .or_default();
            known.push(Open {
                from: *from,
                to: *to,
                lock: lock.clone(),
            });
        }
        code
    }

    fn named(class: &str, name: &str) -> Lock {
        Lock::Named(class.to_owned(), name.to_owned())
    }

    fn step(locks: &[&str], stack: &[&str]) -> FindingStep {
        FindingStep {
            thread: "t".to_owned(),
            op: "read".to_owned(),
            variable: "shop.Bank.balance".to_owned(),
            class: "shop.Bank".to_owned(),
            method: "get()I".to_owned(),
            file: "Bank.java".to_owned(),
            line: 9,
            locks: locks.iter().map(|lock| (*lock).to_owned()).collect(),
            stack: stack.iter().map(|frame| (*frame).to_owned()).collect(),
            ..FindingStep::default()
        }
    }

    #[test]
    fn a_lock_is_named_by_the_frame_that_holds_it() {
        let code = code(&[
            ("get", 8, 10, named("java.lang.Object", "shop.Bank.guard")),
            ("get", 20, 30, named("java.lang.Object", "shop.Bank.other")),
            (
                "add",
                15,
                19,
                named("java.util.concurrent.locks.Lock", "shop.Bank.lock"),
            ),
            ("add", 15, 19, Lock::This("shop.Bank".to_owned())),
        ]);
        let reentrant = "java.util.concurrent.locks.ReentrantLock";
        let step = step(
            &["shop.Bank", reentrant, "java.lang.Object@2"],
            &["shop.Bank.get (Bank.java:9)", "shop.Bank.add (Bank.java:17)"],
        );
        assert_eq!(
            code.names(&step),
            [
                (reentrant.to_owned(), "shop.Bank.lock".to_owned()),
                ("java.lang.Object@2".to_owned(), "shop.Bank.guard".to_owned())
            ]
        );
    }

    #[test]
    fn a_circle_of_locks_is_told_by_its_fields() {
        let object = "java.lang.Object";
        let code = code(&[
            ("ab", 1, 9, named(object, "shop.Bank.LEFT")),
            ("ba", 1, 9, named(object, "shop.Bank.right")),
        ]);
        let take = |method: &str, lock: &str| FindingStep {
            op: "acquire".to_owned(),
            variable: lock.to_owned(),
            method: format!("{method}()V"),
            ..step(&[lock], &[])
        };
        let mut finding = Finding {
            shown: true,
            variables: vec![object.to_owned()],
            steps: vec![take("ab", "java.lang.Object@1"), take("ba", "java.lang.Object@2")],
            message: "Threads take Object in different orders.".to_owned(),
            ..Finding::new(
                "1".to_owned(),
                Rule::LockOrder,
                ravel_analysis::finding::Evidence::Harmful,
            )
        };
        code.rename(&mut finding);
        let locks: Vec<&str> = finding.steps.iter().map(|step| step.variable.as_str()).collect();
        assert_eq!(locks, ["shop.Bank.LEFT", "shop.Bank.right"]);
        assert_eq!(finding.variables, locks);
        assert_eq!(
            finding.message,
            "Threads take Bank.LEFT and Bank.right in different orders."
        );
        // Two fields are no longer several objects of one class.
        let mut usual = Finding {
            variables: vec![object.to_owned()],
            steps: vec![take("ab", "java.lang.Object@1"), take("ba", "java.lang.Object@2")],
            message: "Threads lock several Object objects in different orders and can deadlock.".to_owned(),
            ..finding
        };
        code.rename(&mut usual);
        assert_eq!(
            usual.message,
            "Threads lock Bank.LEFT and Bank.right in different orders and can deadlock."
        );
    }

    #[test]
    fn what_fits_twice_keeps_its_class() {
        let two = code(&[
            ("get", 8, 10, named("java.lang.Object", "shop.Bank.guard")),
            ("get", 8, 10, named("java.lang.Object", "shop.Bank.other")),
        ]);
        let locks = ["java.lang.Object@1", "java.lang.Object@2"];
        assert_eq!(two.names(&step(&locks, &[])), []);
        let one = code(&[("get", 8, 10, named("java.lang.Object", "shop.Bank.guard"))]);
        assert_eq!(one.names(&step(&locks, &[])), []);
        assert_eq!(one.names(&step(&["shop.Guard"], &[])), []);
        assert_eq!(
            one.names(&step(&["java.lang.Object"], &[])).len(),
            1,
            "a step is its own frame"
        );
        assert_eq!(one.names(&step(&["java.lang.Object"], &["damaged", "a.b ("])).len(), 1);
    }
}
