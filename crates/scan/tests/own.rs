//! Owners that must be proven and owners that must not, as the comments of `java/Owners.java` state; atomicity of methods.

mod common;

use common::compile;
use ravel_scan::own::discover::Suggestions;
use ravel_scan::own::plan::Plan;
use ravel_scan::own::{own, read};

fn plan(name: &str, source: &str) -> Plan {
    let folder = compile(&[(name, source)]);
    let paths = [folder.path().to_path_buf()];
    let inputs = read(&paths).expect("the classes are there");
    let result = own(&inputs, &paths, &Suggestions::default());
    assert!(result.unreadable.is_empty(), "{:?}", result.unreadable);
    result.plan
}

/// Class, field and stated owner, from comments behind fields.
fn stated(source: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut class = "Owners".to_owned();
    for line in source.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(at) = words.iter().position(|word| *word == "class" || *word == "enum")
            && line.ends_with('{')
            && line.starts_with("    ")
        {
            class = format!("Owners${}", words[at + 1]);
        }
        if line == "    }" {
            class = "Owners".to_owned();
        }
        let Some((code, owner)) = line.split_once("; // ") else {
            continue;
        };
        let declared = code.split('=').next().unwrap_or_default();
        if let Some(name) = declared.split_whitespace().last() {
            all.push((format!("{class}.{name}"), owner.trim().to_owned()));
        }
    }
    all
}

#[test]
fn owners_are_proven_where_they_hold_and_nowhere_else() {
    let source = include_str!("java/Owners.java");
    let plan = plan("Owners.java", source);
    let stated = stated(source);
    assert!(stated.len() > 40, "{stated:?}");
    let mut wrong = Vec::new();
    for (name, owner) in &stated {
        match plan.fields.iter().find(|field| field.name == *name) {
            Some(field) if field.owner == *owner => {}
            Some(field) => wrong.push(format!(
                "{name}: {} instead of {owner} {:?}",
                field.owner, field.reasons
            )),
            None => wrong.push(format!("{name}: not there")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_what_needs_no_recording_is_left_out() {
    let plan = plan("Owners.java", include_str!("java/Owners.java"));
    let left_out = |name: &str| plan.fields.iter().any(|field| field.name == name && field.left_out);
    assert!(left_out("Owners$Scratch.used") && left_out("Owners$InArray.used"));
    assert!(left_out("Owners$Point.x") && left_out("Owners.settled"));
    // Free of races and still part of units: two sections on it may be torn apart.
    assert!(!left_out("Owners$Guarded.n") && !left_out("Owners$LockField.n"));
    // Its object changes: the first access of a second thread must be seen.
    assert!(!left_out("Owners$Mutable.y"));
    assert!(!left_out("Owners$InThread.used") && !left_out("Owners$Cast.used"));
}

const ATOMIC: &str = "
class Atomic {
    private int n;
    private final Object other = new Object();
    static int racy;
    synchronized int get() { return n; }
    synchronized void set(int v) { n = v; }
    synchronized void nested() { set(get() + 1); }
    void torn() { set(get() + 1); }
    void loop() { for (int i = 0; i < 3; i++) set(i); }
    private void helper() { n++; }
    synchronized void twice() { helper(); helper(); }
    int pure(int a) { return Math.abs(a) + 1; }
    void once() { racy++; }
    void read() { int x = racy; }
    void sections() { synchronized (this) { n++; } synchronized (other) { n(); } }
    void n() { }
    void both() { synchronized (this) { synchronized (other) { n++; } } }
    int choose(boolean b) { if (b) return get(); else { synchronized (this) { return n; } } }
    void waits() throws Exception { synchronized (this) { wait(); n++; } }
    public static void main(String[] args) throws Exception {
        Atomic a = new Atomic();
        Thread t = new Thread(() -> { a.torn(); a.loop(); a.twice(); a.once(); a.sections(); racy = 0; });
        t.start();
        a.nested(); a.both(); a.read(); a.choose(true); a.waits(); a.pure(2);
    }
}
";

#[test]
fn methods_are_verified_atomic_as_reduction_has_it() {
    let plan = plan("Atomic.java", ATOMIC);
    let class = plan
        .classes
        .iter()
        .find(|class| class.name == "Atomic")
        .expect("it is there");
    let of = |name: &str| {
        let method = class
            .methods
            .iter()
            .find(|method| method.name.split('(').next() == Some(name));
        method.expect("it is there").atomicity.as_deref()
    };
    for name in ["get", "set", "nested", "twice", "both", "choose", "read"] {
        assert_eq!(of(name), Some("atomic"), "{name}");
    }
    assert_eq!(of("helper"), Some("mover"));
    assert_eq!(of("pure"), Some("const"));
    for name in ["torn", "loop", "once", "sections", "waits"] {
        assert_eq!(of(name), None, "{name}");
    }
}
