//! Owners that must be proven and owners that must not, as the comments of `java/Owners.java` state; atomicity of methods.

use crate::common::compile;
use ravel_own::discover::Suggestions;
use ravel_own::plan::Plan;
use ravel_own::{own, read};

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

const GUARDED: &str = "
import java.util.*;
class Guarded {
    static class Kept {
        private final List<String> names = new ArrayList<>();
        private final int[] counts = new int[4];
        private final Object lock = new Object();
        private final Deque<int[]> queue = new ArrayDeque<>();
        private int n;
        synchronized void add(String name) { for (String old : names) n++; names.add(name); counts[n & 3]++; }
        void push(int[] item) { synchronized (lock) { queue.add(item); } }
        int[] pull() { synchronized (lock) { return queue.poll(); } }
    }
    static class Leaky {
        private final Map<String, String> map = new HashMap<>();
        private final BitSet bits = new BitSet();
        final TreeMap<String, String> seen = new TreeMap<>();
        private final LinkedList<String> given;
        private final int[] shown = new int[1];
        Leaky(LinkedList<String> given) { this.given = given; }
        synchronized void put(String k) { map.put(k, k); seen.put(k, k); given.add(k); shown[0]++; }
        synchronized Iterator<String> keys() { return map.keySet().iterator(); }
        void mark() { bits.set(1); }
        synchronized int[] shown() { return shown; }
    }
    static class Half { int safe, racy; synchronized void bump() { safe++; } void leak() { racy++; } }
    public static void main(String[] args) {
        Kept kept = new Kept();
        Leaky leaky = new Leaky(new LinkedList<>());
        Half half = new Half();
        Runnable body = () -> {
            kept.add(\"a\"); kept.push(new int[1]); kept.pull();
            leaky.put(\"b\"); leaky.mark(); leaky.seen.get(\"b\");
            for (Iterator<String> i = leaky.keys(); i.hasNext();) i.next();
            leaky.shown()[0]++;
            half.bump(); half.leak();
        };
        new Thread(body).start();
        body.run();
    }
}
";

#[test]
fn arrays_and_collections_are_guarded_where_only_their_owner_uses_them_under_one_lock() {
    let plan = plan("Guarded.java", GUARDED);
    let guarded = |class: &str, name: &str| {
        let class = plan
            .classes
            .iter()
            .find(|known| known.name == class)
            .expect("the class");
        let method = class
            .methods
            .iter()
            .find(|method| method.name.split('(').next() == Some(name));
        method.expect("the method").guarded.len()
    };
    // The fields are read twice (names), once (counts) and twice (n), which is written once; the element is read and written.
    assert_eq!(guarded("Guarded$Kept", "add"), 8, "{:?}", plan.classes);
    assert_eq!(guarded("Guarded$Leaky", "put"), 0);
    // A field may race beside it, so the first access of a second thread must be seen.
    assert_eq!(guarded("Guarded$Half", "bump"), 0);
    let plain = |name: &str| {
        plan.plain_for_races
            .iter()
            .any(|known| known == &format!("java.util.{name}"))
    };
    for name in ["ArrayList", "ArrayDeque"] {
        assert!(plain(name), "{name}: {:?}", plan.plain_for_races);
    }
    for name in ["HashMap", "BitSet", "TreeMap", "LinkedList"] {
        assert!(!plain(name), "{name}");
    }
}

const UNIQUE: &str = "
import java.util.*;
import java.util.concurrent.*;
class Unique {
    static class Shared { int n; }
    static class Fresh implements Runnable {
        private final List<String> own = new ArrayList<>();
        private final int[] path = new int[3];
        private final Shared shared;
        private int nodes;
        Fresh(Shared shared) { this.shared = shared; }
        public void run() { nodes++; own.add(\"x\"); path[1]++; shared.n++; step(); }
        private void step() { nodes += path[2]; System.arraycopy(best, 0, path, 0, 3); best = path.clone(); }
    }
    static volatile int[] best = new int[3];
    static class Chain implements Runnable {
        private final int[] given;
        private final int[] made = new int[1];
        Chain(int[] given) { this.given = given; }
        public void run() { made[0]++; int[] next = new int[1]; new Thread(new Chain(next)).start(); next[0]++; given[0]++; }
    }
    static class Twice implements Runnable { int n; public void run() { n++; } }
    static class Looked implements Runnable { int n; public void run() { n++; } }
    static class Kept implements Runnable { int n; public void run() { n++; } }
    static class Pooled implements Callable<Integer> { int n; public Integer call() { return n++; } }
    static class Captured implements Runnable { int n; public void run() { Runnable r = () -> n++; new Thread(r).start(); } }
    static class Leaking implements Runnable { int n; Leaking() { new Thread(this).start(); } public void run() { n++; } }
    static class Own extends Thread { private int n; public void run() { n++; } }
    static class Asked extends Thread { private int n; public void run() { n++; } int n() { return n; } }
    static class Told extends Thread { private int n; public void run() { n++; } public String toString() { return \"\" + n; } }
    static class Failing implements Runnable {
        private int n;
        public void run() {
            try { n++; Thread.sleep(1); } catch (InterruptedException e) { report(\"n\", e); throw new IllegalStateException(e); }
        }
    }
    static void report(String what, Throwable e) { System.err.println(what + e.getMessage()); }
    static Runnable kept;
    public static void main(String[] args) throws Exception {
        Shared shared = new Shared();
        Thread[] some = new Thread[2];
        for (int i = 0; i < 2; i++) {
            some[i] = new Thread(new Failing(), \"failing-\" + i);
            some[i].start();
        }
        for (Thread thread : some) thread.join();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 2; i++) {
            new Thread(new Fresh(shared)).start();
            pool.submit(new Pooled());
            new Thread(new Chain(new int[1])).start();
        }
        Twice twice = new Twice();
        for (int i = 0; i < 2; i++) new Thread(twice).start();
        Looked looked = new Looked();
        new Thread(looked).start();
        System.out.println(looked.n);
        Kept k = new Kept();
        kept = k;
        new Thread(k).start();
        kept.run();
        new Thread(new Captured()).start();
        new Leaking();
        List<Thread> all = new ArrayList<>();
        Own own = new Own();
        all.add(own);
        own.start();
        Asked asked = new Asked();
        asked.start();
        System.out.println(asked.n());
        Told told = new Told();
        told.start();
        System.out.println(told);
        for (Thread thread : all) thread.join();
    }
}
";

#[test]
fn what_goes_from_one_thread_to_one_other_is_unique() {
    let plan = plan("Unique.java", UNIQUE);
    let owner = |name: &str| {
        let found = plan.fields.iter().find(|field| field.name == format!("Unique${name}"));
        found.unwrap_or_else(|| panic!("{name} is there")).owner.clone()
    };
    for name in ["Fresh.nodes", "Pooled.n", "Own.n", "Failing.n"] {
        assert_eq!(owner(name), "unique", "{name}");
    }
    for name in [
        "Shared.n",
        "Twice.n",
        "Looked.n",
        "Kept.n",
        "Captured.n",
        "Leaking.n",
        "Asked.n",
        "Told.n",
    ] {
        assert_eq!(owner(name), "race-unsafe", "{name}");
    }
    let class = plan
        .classes
        .iter()
        .find(|class| class.name == "Unique$Fresh")
        .expect("the class");
    let run = class
        .methods
        .iter()
        .find(|method| method.name == "run()V")
        .expect("the method");
    // nodes twice, own, path, shared, and the element twice; of the shared object nothing.
    assert_eq!(run.unique.len(), 7, "{run:?}");
    assert_eq!(run.local.len() + run.unchanging.len(), 0, "{run:?}");
    // What a task gives to the next is both their own: given, made and next are read; made's array alone is accessed unseen.
    let class = plan
        .classes
        .iter()
        .find(|class| class.name == "Unique$Chain")
        .expect("the class");
    let run = class
        .methods
        .iter()
        .find(|method| method.name == "run()V")
        .expect("the method");
    assert_eq!((run.unique.len(), run.local.len()), (4, 0), "{run:?}");
}

const PASSED: &str = "
class Passed implements Runnable {
    private int n;
    public void run() {
        try { n++; Thread.sleep(1); } catch (InterruptedException e) { hand(e); }
    }
    static void hand(Object any) { if (any instanceof Passed) ((Passed) any).n++; }
    public static void main(String[] args) { new Thread(new Passed()).start(); }
}
";

#[test]
fn what_is_caught_may_be_a_task_to_those_who_take_anything() {
    let plan = plan("Passed.java", PASSED);
    assert_eq!(plan.fields[0].owner, "race-unsafe", "{:?}", plan.fields);
}

const HIDDEN: &str = "
import java.util.concurrent.atomic.*;
class Hidden {
    static class Node { int value; }
    static class Stack {
        static final AtomicReferenceFieldUpdater<Stack, Node> HEAD = AtomicReferenceFieldUpdater.newUpdater(Stack.class, Node.class, \"head\");
        volatile Node head = new Node();
        int push() { Node made = new Node(); HEAD.set(this, made); return made.value; }
        void bump() { head.value++; }
    }
    public static void main(String[] args) {
        Stack stack = new Stack();
        Runnable body = () -> { stack.push(); stack.bump(); };
        new Thread(body).start();
        new Thread(body).start();
    }
}
";

#[test]
fn what_an_updater_has_written_is_read_by_those_who_read_the_field() {
    let plan = plan("Hidden.java", HIDDEN);
    let class = plan.classes.iter().find(|class| class.name == "Hidden$Stack");
    let unchanging = |name: &str| {
        let methods = class.into_iter().flat_map(|class| &class.methods);
        let found = methods.into_iter().find(|method| method.name == name);
        found.unwrap_or_else(|| panic!("{name} is there")).unchanging.len()
    };
    assert_eq!(unchanging("push()I"), 0);
}

const REFLECTIVE: &str = "
import java.lang.invoke.*;
import java.lang.reflect.Field;
class Reflective {
    static class Named { int count; int other; Named(int n) { count = n; other = n; } int sum() { return count + other; } }
    static final VarHandle BYTES = MethodHandles.byteArrayViewVarHandle(int[].class, java.nio.ByteOrder.BIG_ENDIAN);
    static Named shared;
    MORE
    public static void main(String[] args) throws Exception {
        shared = new Named(args.length);
        BYTES.set(new byte[8], 0, 1);
        System.out.println(Named.class.getDeclaredField(\"count\").get(shared));
        DO
        new Thread(() -> System.out.println(shared.sum())).start();
    }
}
";

#[test]
fn fields_that_reflection_may_write_have_no_owner() {
    let owners = |text: &str, more: &str| {
        let source = REFLECTIVE.replace("DO", text).replace("MORE", more);
        let plan = plan("Reflective.java", &source);
        let owner = |name: &str| {
            let name = format!("Reflective$Named.{name}");
            let found = plan.fields.iter().find(|field| field.name == name);
            found.map(|field| field.owner.clone()).unwrap_or_default()
        };
        [owner("count"), owner("other")]
    };
    let lists = "static class Lister { static int size() { return Named.class.getDeclaredFields().length; } }";
    let puts = "static class Putter { static void put(Field field) throws Exception { field.set(shared, 3); } }";
    let named = "Named.class.getDeclaredField(\"count\").setInt(shared, 3);";
    let (none, one, both) = (
        ["readonly", "readonly"],
        ["race-unsafe", "readonly"],
        ["race-unsafe", "race-unsafe"],
    );
    assert_eq!(owners("String other = \"other\";", lists), none);
    assert_eq!(owners(named, ""), one);
    // Strings that name no field, and a list that no code writes with.
    assert_eq!(owners(&format!("System.out.println(\"other\"); {named}"), lists), one);
    let chosen = "Named.class.getDeclaredField(args.length > 1 ? \"other\" : \"count\").setInt(shared, 3);";
    assert_eq!(owners(chosen, ""), both);
    let handle = "MethodHandles.lookup().findVarHandle(Named.class, \"count\", int.class).set(shared, 3);";
    assert_eq!(owners(handle, ""), one);
    let setter = "MethodHandle set = MethodHandles.lookup().findSetter(Named.class, \"count\", int.class);
        try { set.invoke(shared, 3); } catch (Throwable e) { }";
    assert_eq!(owners(setter, ""), one);
    let all = "for (Field field : Named.class.getDeclaredFields()) field.set(shared, 3);";
    assert_eq!(owners(all, ""), both);
    let passed = "Putter.put(Named.class.getDeclaredField(\"count\")); Lister.size();";
    assert_eq!(owners(passed, &format!("{puts} {lists}")), both);
    assert_eq!(
        owners("Putter.put(Named.class.getDeclaredField(\"count\"));", puts),
        one
    );
}

const MAKES: &str = "
import java.util.*;
class Makes {
    static class Helper {
        private final List<String> kept = new LinkedList<>();
        void add(String name) { kept.add(name); }
    }
    static class Worker extends Thread {
        public void run() { Helper helper = new Helper(); helper.add(\"x\"); }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) { Worker worker = new Worker(); worker.start(); }
    }
}
";

#[test]
fn what_a_thread_makes_may_make_more_and_it_is_all_its_own() {
    let plan = plan("Makes.java", MAKES);
    assert!(
        plan.plain.iter().any(|known| known == "java.util.LinkedList"),
        "{:?}",
        plan.plain
    );
}

const GIVEN: &str = include_str!("java/Given.java");

#[test]
fn owners_given_by_annotations_are_checked() {
    let plan = plan("Given.java", GIVEN);
    let field = |name: &str| {
        let found = plan.fields.iter().find(|field| field.name == name);
        found.unwrap_or_else(|| panic!("{name} is there"))
    };
    let both = |name: &str| (field(name).given.clone().unwrap_or_default(), field(name).owner.clone());
    assert_eq!(both("Given$Kept.n"), ("guarded by this".into(), "self".into()));
    assert_eq!(both("Given$Broken.n"), ("guarded by lock".into(), "race-unsafe".into()));
    assert_eq!(
        both("Given$Locked.n"),
        ("guarded by lock".into(), "lock this.lock".into())
    );
    assert_eq!(both("Given$Pair.a").1, "readonly");
    assert_eq!(both("Given$Changed.a").1, "race-unsafe");
    assert_eq!(both("Given$Safe.n").1, "self");
    // Broken.n and Changed.a are what was said and is not so.
    assert_eq!(
        (plan.summary.given, plan.summary.given_and_proven),
        (6, 4),
        "{:?}",
        plan.summary
    );
}

#[test]
fn parameters_and_results_have_owners() {
    let plan = plan("Given.java", GIVEN);
    let methods = plan.classes.iter().flat_map(|class| &class.methods);
    let of = |name: &str| {
        let found = methods.clone().find(|method| method.name.starts_with(name));
        found.unwrap_or_else(|| panic!("{name} is there"))
    };
    assert_eq!(
        of("use(").parameters,
        ["readonly", "self", "thisThread", "thisThread", "-"]
    );
    assert_eq!(of("make(").returns.as_deref(), Some("readonly"));
    assert!(plan.summary.values_owned >= 5 && plan.summary.values >= plan.summary.values_owned);
}

const EARLY: &str = include_str!("java/Early.java");

#[test]
fn what_main_does_before_it_starts_threads_changes_nothing_later() {
    let plan = plan("Early.java", EARLY);
    let owner = |name: &str| {
        plan.fields
            .iter()
            .find(|field| field.name == name)
            .map(|field| field.owner.clone())
    };
    assert_eq!(owner("Early.limit").as_deref(), Some("readonly"));
    assert_eq!(owner("Early$Config.size").as_deref(), Some("readonly"));
    assert_eq!(owner("Early$Config.used").as_deref(), Some("race-unsafe"));
    let class = plan
        .classes
        .iter()
        .find(|class| class.name == "Early")
        .expect("it is there");
    let sum = class
        .methods
        .iter()
        .find(|method| method.name.starts_with("sum("))
        .expect("it is there");
    // limit, distances, a row, an element, TABLE's element, late and filled, but not the elements of these two, and not the
    // fields of Config, which changes.
    assert_eq!(sum.unchanging.len(), 7, "{sum:?}");
    let forks = EARLY.replace("load(config);", "new Thread(() -> { }).start(); load(config);");
    let plan = self::plan("Early.java", &forks);
    let owner = |name: &str| {
        plan.fields
            .iter()
            .find(|field| field.name == name)
            .map(|field| field.owner.clone())
    };
    assert_eq!(owner("Early.limit").as_deref(), Some("race-unsafe"));
}
