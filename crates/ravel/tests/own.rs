//! `ravel own` and `--focus`: what a plan leaves out is never needed, a focused recording finds and forces the same bugs, and
//! a changed class ends the plan.
//!
//! A sample of the subjects by default; all of them with `RAVEL_FOCUS_ALL=1`.

#[path = "own/lossless.rs"]
mod lossless;
#[path = "own/random.rs"]
mod random;

use lossless::{loses_nothing, loses_nothing_within, open};

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::{Jdk, compile_some, compiled, each, ravel, root, run, sources, tested_jdks};
use ravel_own::plan::{Plan, RACE_UNSAFE};
use ravel_trace::Source;

const LIMIT: Duration = Duration::from_secs(120);
/// For real programs.
const REAL_LIMIT: Duration = Duration::from_secs(600);

/// Subjects with different sharing.
const SAMPLE: [(&str, &str); 14] = [
    ("bugs", "Account"),
    ("bugs", "BufferedOutput"),
    ("bugs", "CounterLost"),
    ("bugs", "Elevator"),
    ("bugs", "LinkedChain"),
    ("bugs", "NumberRange"),
    ("bugs", "Salesman"),
    ("bugs", "UnsafePublication"),
    ("benign", "ReadOnly"),
    ("benign", "ThreadConfined"),
    ("events", "InnerClasses"),
    ("events", "Lambdas"),
    ("events", "Executor"),
    ("events", "FieldUpdaters"),
];

fn everything() -> bool {
    std::env::var_os("RAVEL_FOCUS_ALL").is_some()
}

/// Makes a plan of the classes in a folder.
fn plan(classes: &Path, to: &Path) -> Plan {
    plan_of(&[classes.to_path_buf()], to, LIMIT)
}

fn plan_of(classes: &[PathBuf], to: &Path, limit: Duration) -> Plan {
    let output = run(ravel().arg("own").args(classes).arg("-o").arg(to), limit);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    Plan::read(to).expect("a plan was written")
}

fn record(jdk: &Jdk, classes: &Path, name: &str, trace: &Path, options: &[&str]) -> std::process::Output {
    record_within(jdk, classes, name, trace, options, LIMIT)
}

fn record_within(
    jdk: &Jdk,
    classes: &Path,
    name: &str,
    trace: &Path,
    options: &[&str],
    limit: Duration,
) -> std::process::Output {
    run(
        ravel()
            .args(["record", "--exit-code", "program", "-o"])
            .arg(trace)
            .args(options)
            .arg("--")
            .arg(jdk.tool("java"))
            .arg("-cp")
            .arg(classes)
            .arg(name),
        limit,
    )
}

#[test]
fn what_a_plan_leaves_out_is_never_needed() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut jobs: Vec<(Jdk, PathBuf, usize, String)> = Vec::new();
    let mut plans: Vec<Plan> = Vec::new();
    for jdk in tested_jdks() {
        for folder in ["bugs", "benign", "events"] {
            let classes = compiled(&jdk, folder, 17);
            plans.push(plan(
                &classes,
                &dir.path().join(format!("{folder}-{}.toml", jdk.release)),
            ));
            let names: Vec<String> = if everything() {
                let stems = sources(folder)
                    .into_iter()
                    .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
                stems.collect()
            } else {
                let sample = SAMPLE.iter().filter(|(wanted, _)| *wanted == folder);
                sample.map(|(_, name)| (*name).to_owned()).collect()
            };
            jobs.extend(
                names
                    .into_iter()
                    .map(|name| (jdk.clone(), classes.clone(), plans.len() - 1, name)),
            );
        }
    }
    assert!(plans.iter().all(|plan| plan.summary.accesses_left_out > 0));
    each(&jobs, |(jdk, classes, plan, name)| {
        loses_nothing(jdk, classes, &plans[*plan], name, dir.path())
    });
}

/// The same for random programs; with every one its own plan.
#[test]
fn nothing_is_lost_of_random_programs() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let count = if everything() { 60 } else { 4 };
    let mut jobs = Vec::new();
    for jdk in tested_jdks() {
        for seed in 1..=count {
            jobs.push((jdk.clone(), seed));
        }
    }
    each(&jobs, |(jdk, seed)| {
        let name = format!("Random{seed}");
        let classes = dir.path().join(format!("{name}-{}", jdk.release));
        let source = dir.path().join(format!("{name}-{}/source/{name}.java", jdk.release));
        std::fs::create_dir_all(source.parent().expect("a folder")).expect("made");
        std::fs::write(&source, random::program(&name, *seed)).expect("written");
        compile_some(jdk, std::slice::from_ref(&source), &classes);
        let plan = plan(&classes, &dir.path().join(format!("{name}-{}.toml", jdk.release)));
        loses_nothing(jdk, &classes, &plan, &name, dir.path())
    });
}

/// What one lock guards, and a race beside it.
const SHELF: &str = "import java.util.*;
public class Shelf {
    static class Stock {
        private final Map<String, Integer> counts = new HashMap<>();
        private final int[] sizes = new int[4];
        private int changes;
        synchronized void add(String name, int n) { counts.merge(name, n, Integer::sum); sizes[n & 3]++; changes++; }
        synchronized int total() { int sum = 0; for (int n : counts.values()) sum += n; return sum + sizes[1] + changes; }
    }
    static int racy;
    public static void main(String[] args) throws Exception {
        Stock stock = new Stock();
        Runnable body = () -> { for (int i = 0; i < 50; i++) { stock.add(\"a\" + i % 5, i); racy++; stock.total(); } };
        Thread a = new Thread(body), b = new Thread(body);
        a.start(); b.start(); a.join(); b.join();
        System.out.println(stock.total());
    }
}";

#[test]
fn a_recording_for_races_has_the_races_and_nothing_that_a_lock_guards() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let source = dir.path().join("Shelf.java");
    std::fs::write(&source, SHELF).expect("written");
    for jdk in tested_jdks() {
        let classes = dir.path().join(format!("classes-{}", jdk.release));
        compile_some(&jdk, std::slice::from_ref(&source), &classes);
        let file = dir.path().join("plan.toml");
        plan(&classes, &file);
        let trace = dir.path().join("t.ravel");
        let focus = ["--focus", file.to_str().expect("text"), "--focus-mode", "races"];
        let output = record(&jdk, &classes, "Shelf", &trace, &focus);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut reader = open(&trace);
        let mut places = std::collections::BTreeSet::new();
        while let Some(event) = reader.next_event().expect("it can be read") {
            if let Some(location) = event.op.location() {
                places.insert(reader.names().location_name(location));
            }
        }
        assert_eq!(places.into_iter().collect::<Vec<_>>(), ["Shelf.racy"]);
        let output = run(ravel().arg("check").arg("--all").arg(&trace), LIMIT);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("Shelf.racy"), "{text}{errors}");
        assert!(errors.contains("checking for races only"), "{errors}");
    }
    let output = run(
        ravel().args([
            "run",
            "--focus",
            "p.toml",
            "--focus-mode",
            "races",
            "--",
            "java",
            "-version",
        ]),
        LIMIT,
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("use combined"));
}

/// Races in a field of an object whose other fields cannot race, in a collection, and on the way back from an exception.
/// What races is not printed: updates may be lost. The main thread does the same again alone, and prints its own counts.
const LANES: &str = "import java.util.*;
public class Lanes {
    static class Box {
        final String name;
        private long guarded;
        private double level;
        int racy;
        Box(String name) { this.name = name; }
        synchronized void add(long n) { guarded += n; level += n; }
        synchronized double all() { return guarded + level; }
        void bump() { racy += name.length(); }
    }
    static class Index {
        private final Map<String, Integer> words = new HashMap<>();
        void note(String word) {
            words.put(word, 1);
        }
    }
    static int deep(int n) {
        if (n == 0) throw new IllegalStateException();
        try { return deep(n - 1); } finally { seen++; }
    }
    static int seen;
    static void work(Box box, Index index) {
        for (int i = 0; i < 40; i++) { box.add(i); box.bump(); index.note(\"w\" + i % 7); }
        try { deep(5); } catch (IllegalStateException e) { box.add(1); }
        List.of(1, 2, 3).forEach(n -> { box.add(n); box.bump(); });
    }
    public static void main(String[] args) throws Exception {
        Box box = new Box(\"x\");
        Index index = new Index();
        Thread a = new Thread(() -> work(box, index), \"a\");
        Thread b = new Thread(() -> work(box, index), \"b\");
        a.start(); b.start(); a.join(); b.join();
        Box own = new Box(\"y\");
        seen = 0;
        work(own, new Index());
        System.out.println(box.all() + \" \" + own.racy + \" \" + seen);
    }
}
";

#[test]
fn a_recording_for_races_behaves_the_same_and_tells_the_places() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let source = dir.path().join("Lanes.java");
    std::fs::write(&source, LANES).expect("written");
    for jdk in tested_jdks() {
        let classes = dir.path().join(format!("classes-{}", jdk.release));
        compile_some(&jdk, std::slice::from_ref(&source), &classes);
        let file = dir.path().join("plan.toml");
        let plan = plan(&classes, &file);
        let bump = plan
            .classes
            .iter()
            .find(|class| class.name == "Lanes$Box")
            .expect("the class");
        let add = bump
            .methods
            .iter()
            .find(|method| method.name == "add(J)V")
            .expect("the method");
        assert_eq!(
            add.touching.len(),
            4,
            "the guarded fields are read and written: {add:?}"
        );
        let trace = dir.path().join("t.ravel");
        let output = run(
            ravel()
                .args(["record", "--exit-code", "program", "-o"])
                .arg(&trace)
                .arg("--focus")
                .arg(&file)
                .args(["--focus-mode", "races", "--"])
                .arg(jdk.tool("java"))
                .args(["-Xverify:all", "-cp"])
                .arg(&classes)
                .arg("Lanes"),
            LIMIT,
        );
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "3148.0 43 5\n",
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let output = run(ravel().args(["check", "--all", "--format", "json"]).arg(&trace), LIMIT);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
        let findings = report["findings"].as_array().expect("findings");
        let mut seen = Vec::new();
        for finding in findings {
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            let stack = finding["steps"][0]["stack"].as_array().expect("a stack");
            let own = stack.iter().map(text).find(|frame| !frame.starts_with("java."));
            seen.push((text(&finding["variables"][0]), own.unwrap_or_default()));
            assert!(finding["replay"].as_str().is_none_or(str::is_empty), "{finding}");
        }
        seen.sort();
        let place = |name: &str, place: &str| (name.to_owned(), place.to_owned());
        assert_eq!(
            seen,
            [
                place("Lanes$Box.racy", "Lanes$Box.bump (Lanes.java:11)"),
                place("Lanes$Index.words", "Lanes$Index.note (Lanes.java:16)"),
                place("Lanes.seen", "Lanes.deep (Lanes.java:21)"),
            ]
        );
        let output = run(ravel().arg("replay").arg(&trace), LIMIT);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("--focus-mode races"));
    }
}

/// The same for real programs, in the folder `RAVEL_REALWORLD` that `make realworld` leaves (`realworld/target`): all, or those that
/// `RAVEL_REALWORLD_ONLY` names. The first part of each recording must do.
#[test]
#[ignore = "needs the programs of make realworld, which runs it"]
fn nothing_is_lost_of_real_programs() {
    let folder = PathBuf::from(std::env::var_os("RAVEL_REALWORLD").expect("RAVEL_REALWORLD is set"));
    let only = std::env::var("RAVEL_REALWORLD_ONLY").unwrap_or_else(|_| "H2 Jetty Derby Lucene".to_owned());
    let dir = tempfile::tempdir().expect("a temporary directory");
    let jars: Vec<PathBuf> = std::fs::read_dir(folder.join("dependency"))
        .expect("the programs are there")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    let mut wrong = Vec::new();
    for program in only.split_whitespace() {
        let name = |jar: &PathBuf| jar.file_name().map(|name| name.to_string_lossy().into_owned());
        let wanted = |jar: &&PathBuf| {
            name(jar).is_some_and(|name| name.starts_with(&program.to_lowercase()) || name.starts_with("slf4j"))
        };
        let mut classes: Vec<PathBuf> = jars.iter().filter(wanted).cloned().collect();
        classes.push(folder.join("drivers-1.jar"));
        let plan = plan_of(&classes, &dir.path().join(format!("{program}.toml")), REAL_LIMIT);
        assert!(plan.summary.accesses_left_out > 0, "{program}: {:?}", plan.summary);
        let path = std::env::join_paths(&classes).expect("no colon in a path");
        let driver = format!("realworld.{program}Driver");
        let bound = ["--max-size", "20M"];
        for jdk in tested_jdks() {
            let start = std::time::Instant::now();
            let result = loses_nothing_within(&jdk, Path::new(&path), &plan, &driver, dir.path(), &bound, REAL_LIMIT);
            let (release, seconds) = (jdk.release, start.elapsed().as_secs_f64());
            match result {
                Ok(checked) => println!(
                    "| {program} | {release} | {} | {} | {} | {} | {seconds:.0} |",
                    checked.events, checked.left_out, checked.for_races, checked.other_examples
                ),
                Err(error) => wrong.push(error),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The bug of the subject `Account`, in a program that also has objects that need no recording.
fn purse(amount: i32) -> String {
    format!(
        "public class Purse {{
            static class Slip {{ int lines; void add() {{ lines++; }} }}
            int balance = 100;
            synchronized void deposit(int amount) {{ balance += amount; }}
            synchronized void transfer(Purse to, int amount) {{
                Slip slip = new Slip();
                for (int i = 0; i < 3; i++) slip.add();
                balance -= amount;
                to.balance += amount;
            }}
            synchronized int balance() {{ return balance; }}
            public static void main(String[] args) throws Exception {{
                Purse mine = new Purse(), yours = new Purse();
                Thread t1 = new Thread(() -> mine.transfer(yours, {amount}));
                Thread t2 = new Thread(() -> {{
                    try {{ Thread.sleep(100); }} catch (InterruptedException e) {{ throw new AssertionError(e); }}
                    yours.deposit(5);
                }});
                t1.start(); t2.start(); t1.join(); t2.join();
                int total = mine.balance() + yours.balance();
                System.out.println(total);
                if (total != 205) System.exit(1);
            }}
        }}"
    )
}

#[test]
fn a_focused_run_proves_the_same_bug_and_a_changed_class_is_recorded_in_full() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let source = dir.path().join("Purse.java");
    for jdk in tested_jdks() {
        let classes = dir.path().join(format!("classes-{}", jdk.release));
        std::fs::write(&source, purse(30)).expect("written");
        compile_some(&jdk, std::slice::from_ref(&source), &classes);
        let file = dir.path().join("plan.toml");
        let made = plan(&classes, &file);
        assert!(made.summary.accesses_left_out > 0, "{:?}", made.summary);
        let trace = dir.path().join("t.ravel");
        let focused_run = |focus: &str| {
            run(
                ravel()
                    .env("RAVEL_CACHE", dir.path().join("cache"))
                    .args(["run", "--budget", "60", "--focus", focus, "-o"])
                    .arg(&trace)
                    .arg("--")
                    .arg(jdk.tool("java"))
                    .arg("-cp")
                    .arg(&classes)
                    .arg("Purse"),
                LIMIT,
            )
        };
        let focused = || open(&trace).header().options.iter().any(|(name, _)| name == "focus");
        for focus in [file.to_str().expect("text"), "auto"] {
            let output = focused_run(focus);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{text}{errors}");
            assert!(text.contains("harmful"), "{text}");
            assert!(focused(), "{errors}");
        }
        let shown = run(ravel().args(["trace", "info"]).arg(&trace), LIMIT).stdout;
        let shown = String::from_utf8_lossy(&shown).into_owned();
        let told: Vec<&str> = shown.lines().filter(|line| line.contains("left out")).collect();
        assert!(
            matches!(told.as_slice(), [line] if line.starts_with("focus       plan for 2 classes; left out: ")),
            "{shown}"
        );
        assert!(!shown.contains("ravel-focus"), "{shown}");
        std::fs::write(&source, purse(40)).expect("written");
        compile_some(&jdk, std::slice::from_ref(&source), &classes);
        let output = focused_run(file.to_str().expect("text"));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.contains("have changed since"), "{errors}");
        assert!(!focused() && output.status.code() == Some(1), "{errors}");
        // Unknown to the plan only when it is loaded: the plan's paths are gone.
        let moved = dir.path().join(format!("moved-{}", jdk.release));
        std::fs::rename(&classes, &moved).expect("renamed");
        let output = record(
            &jdk,
            &moved,
            "Purse",
            &trace,
            &["--focus", file.to_str().expect("text")],
        );
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.contains("does not cover"), "{errors}");
    }
}

/// Two threads bump a counter under its lock, many times.
const BUSY: &str = "public class Busy {
    int n, racy;
    synchronized void bump() { n++; }
    synchronized int get() { return n; }
    public static void main(String[] args) throws Exception {
        Busy busy = new Busy();
        Runnable body = () -> { for (int i = 0; i < 2000; i++) { busy.bump(); busy.racy++; } };
        Thread a = new Thread(body), b = new Thread(body);
        a.start(); b.start(); a.join(); b.join();
        System.out.println(busy.get());
    }
}";

#[test]
fn a_sample_is_small_and_shows_the_owners() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let source = dir.path().join("Busy.java");
    std::fs::write(&source, BUSY).expect("written");
    for jdk in tested_jdks() {
        let classes = dir.path().join(format!("classes-{}", jdk.release));
        compile_some(&jdk, std::slice::from_ref(&source), &classes);
        let trace = dir.path().join("t.ravel");
        let accesses = |options: &[&str]| {
            let output = record(&jdk, &classes, "Busy", &trace, options);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let mut reader = open(&trace);
            let mut count = 0;
            while let Some(event) = reader.next_event().expect("it can be read") {
                count += usize::from(event.op.location().is_some());
            }
            count
        };
        let (whole, sampled) = (
            accesses(&["--keep-repeats"]),
            accesses(&["--keep-repeats", "--sample", "3"]),
        );
        // Six accesses in the code, three times by each of two threads, and what main reads.
        assert!(whole > 5000 && (12..=60).contains(&sampled), "{whole} and {sampled}");
        let file = dir.path().join("plan.toml");
        let output = run(ravel().arg("own").arg(&trace).arg(&classes).arg("-o").arg(&file), LIMIT);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let plan = Plan::read(&file).expect("a plan was written");
        let found = |name: &str| {
            let field = plan
                .fields
                .iter()
                .find(|field| field.name == name)
                .expect("it is there");
            (field.discovered.clone().unwrap_or_default(), field.owner.clone())
        };
        assert_eq!(found("Busy.n").0, "self");
        assert_eq!(found("Busy.racy").1, RACE_UNSAFE);
        let output = run(ravel().arg("check").arg(&trace), LIMIT);
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("--sample"),
            "check says that it is thin"
        );
    }
}

#[test]
fn fields_and_methods_are_explained_and_wrong_input_is_named() {
    let jdk = &tested_jdks()[0];
    let dir = tempfile::tempdir().expect("a temporary directory");
    compile_some(jdk, &[root().join("subjects/bugs/Account.java")], dir.path());
    let own = |words: &[&str]| run(ravel().arg("own").arg(dir.path()).args(words), LIMIT);
    let output = own(&["--explain", "Purse.balance"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("race-unsafe") && text.contains("Account.java:"), "{text}");
    let output = own(&["--explain", "Purse.nothing"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no field or method"));
    std::fs::write(dir.path().join("Broken.class"), b"\xca\xfe\xba\xbe....").expect("written");
    let output = own(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Broken.class"));
    let bad = dir.path().join("bad.toml");
    std::fs::write(&bad, "nonsense").expect("written");
    let output = run(
        ravel()
            .args(["record", "--focus"])
            .arg(&bad)
            .args(["--", "java", "-version"]),
        LIMIT,
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("bad.toml"));
}

/// The modes that only the comparison with the paper needs are there, and help does not offer them.
#[test]
fn help_offers_two_modes_and_the_others_can_be_named() {
    let output = run(ravel().args(["record", "--help"]), LIMIT);
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(help.contains("- combined:") && help.contains("- races:"), "{help}");
    assert!(!help.contains("- field") && !help.contains("- none"), "{help}");
    let errors = |mode: &str| {
        let plan = ["--focus", "missing.toml", "--focus-mode", mode];
        let output = run(ravel().arg("record").args(plan).args(["--", "java"]), LIMIT);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let unknown = errors("sideways");
    assert!(unknown.contains("[possible values: combined, races]"), "{unknown}");
    for mode in ["field", "method", "none", "combined", "races"] {
        assert!(errors(mode).contains("missing.toml"), "{mode}");
    }
}
