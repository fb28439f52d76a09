//! What can be scanned: directories, single classes, jars, wars with jars inside, jars for several releases; with and without
//! the classes of a JDK.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{compile_with, jdks, methods};
use ravel_scan::{Options, Scan, scan};

const CELL: &str = "package a; public class Cell { int v; public synchronized int get() { return v; }
  public synchronized void set(int w) { v = w; } }";

const USER: &str = "package a; public class User { public synchronized void bad(Cell c) { c.set(c.get() + 1); } }";

/// The same class for Java 8, without the bug.
const USER_8: &str = "package a; public class User { public synchronized void bad(Cell c) { c.get(); } }";

fn compile(sources: &[(&str, &str)]) -> tempfile::TempDir {
    compile_with(&jdks()[0], sources, &["-g"])
}

fn jar(folder: &Path, arguments: &[&str]) {
    let output = Command::new(jdks()[0].join("bin/jar"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("jar runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn patterns(paths: &[PathBuf]) -> Vec<String> {
    let found = scan(paths, &Options::default()).expect("scanned");
    assert_eq!(found.problems, Vec::<String>::new());
    methods(&found.findings, "lock-pattern")
}

#[test]
fn classes_are_found_wherever_they_are() {
    let folder = compile(&[("Cell.java", CELL), ("User.java", USER)]);
    let home = folder.path();
    let classes = home.join("classes");
    assert_eq!(patterns(std::slice::from_ref(&classes)), ["a.User.bad"]);
    let singles = [classes.join("a/Cell.class"), classes.join("a/User.class")];
    assert_eq!(patterns(&singles), ["a.User.bad"]);
    jar(home, &["-cf", "cell.jar", "-C", "classes", "a/Cell.class"]);
    jar(home, &["-cf", "user.jar", "-C", "classes", "a/User.class"]);
    assert_eq!(
        patterns(&[home.join("cell.jar"), home.join("user.jar")]),
        ["a.User.bad"]
    );
    // A war: classes of its own, libraries inside; and a jar with everything in a jar inside.
    for (archive, inside, library) in [
        ("app.war", "WEB-INF/classes/a/User.class", "WEB-INF/lib/cell.jar"),
        ("boot.jar", "BOOT-INF/classes/a/User.class", "BOOT-INF/lib/cell.jar"),
    ] {
        let root = home.join(archive).with_extension("d");
        for (from, to) in [(classes.join("a/User.class"), inside), (home.join("cell.jar"), library)] {
            std::fs::create_dir_all(root.join(to).parent().expect("a folder")).expect("made");
            std::fs::copy(from, root.join(to)).expect("copied");
        }
        let root = root
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name")
            .to_owned();
        jar(home, &["-cf", archive, "-C", &root, "."]);
        assert_eq!(patterns(&[home.join(archive)]), ["a.User.bad"], "{archive}");
    }
}

#[test]
fn a_jar_for_several_releases_counts_once_with_its_newest_classes() {
    let old = compile_with(
        &jdks()[0],
        &[("Cell.java", CELL), ("User.java", USER_8)],
        &["-g", "--release", "8"],
    );
    let new = compile_with(
        &jdks()[0],
        &[("Cell.java", CELL), ("User.java", USER)],
        &["-g", "--release", "11"],
    );
    let (old, new) = (old.path().join("classes"), new.path().join("classes"));
    let folder = tempfile::tempdir().expect("a folder");
    let text = |path: &Path| path.display().to_string();
    jar(
        folder.path(),
        &[
            "-cf",
            "m.jar",
            "-C",
            &text(&old),
            ".",
            "--release",
            "11",
            "-C",
            &text(&new),
            ".",
        ],
    );
    let path = [folder.path().join("m.jar")];
    let found = scan(&path, &Options::default()).expect("scanned");
    assert_eq!(methods(&found.findings, "lock-pattern"), ["a.User.bad"]);
    assert_eq!((found.counts.classes, found.counts.duplicates), (2, 0));
}

#[test]
fn what_is_missing_reflective_or_native_is_counted_and_harmless() {
    let source = "package a;
        public class User extends Gone {
          static native void hidden();
          public synchronized void bad(Gone g, java.lang.reflect.Method m) throws Exception {
            g.get(); g.get(); m.invoke(g); m.invoke(g); hidden(); hidden();
          }
        }";
    let gone = "package a; public class Gone { public synchronized int get() { return 1; } }";
    let folder = compile(&[("User.java", source), ("Gone.java", gone)]);
    let user = folder.path().join("classes/a/User.class");
    let whole = scan(&[folder.path().join("classes")], &Options::default()).expect("scanned");
    assert_eq!(methods(&whole.findings, "lock-pattern"), ["a.User.bad"]);
    let alone = scan(&[user], &Options::default()).expect("scanned");
    assert!(alone.findings.is_empty());
    assert_eq!(alone.counts.missing, 2, "Gone, and the JDK's Method");
    assert_eq!((alone.counts.reflective, alone.counts.native), (2, 1));
    assert!(alone.counts.unresolved > whole.counts.unresolved);
}

/// Only a JDK's own classes know that a timer's schedule locks its queue.
#[test]
fn a_jdk_lends_its_summaries() {
    let source = "import java.util.*;
        public class Uses {
          final Timer timer = new Timer();
          synchronized void bad(TimerTask a, TimerTask b) { timer.schedule(a, 1); timer.schedule(b, 1); }
          synchronized void ok(TimerTask a) { timer.schedule(a, 1); }
          synchronized void filtered(Vector<String> v) { v.add(\"a\"); v.add(\"b\"); }
        }";
    let folder = compile(&[("Uses.java", source)]);
    let paths = [folder.path().join("classes")];
    let with = |jdk: Option<PathBuf>, shared: &[&str]| -> Scan {
        let mut options = Options {
            jdk,
            modules: vec!["java.base".to_owned()],
            ..Options::default()
        };
        for class in shared {
            assert!(options.filter.remove_unshared(class), "{class} is on the list");
        }
        scan(&paths, &options).expect("scanned")
    };
    assert!(with(None, &[]).findings.is_empty());
    let jdk = jdks().remove(0);
    let found = with(Some(jdk.clone()), &[]);
    assert_eq!(methods(&found.findings, "lock-pattern"), ["Uses.bad"]);
    assert_eq!(found.counts.wanted, 1, "findings are wanted for the program alone");
    let shared = with(Some(jdk), &["java.util.Vector"]);
    assert_eq!(methods(&shared.findings, "lock-pattern"), ["Uses.bad", "Uses.filtered"]);
}

/// A folder of jars, an ear with a war and a library, a jar in a jar; and a damaged jar spoils itself alone.
#[test]
fn jars_are_found_in_folders_ears_and_jars() {
    let folder = compile(&[("Cell.java", CELL), ("User.java", USER)]);
    let home = folder.path();
    let path = |name: &str| home.join(name);
    std::fs::create_dir_all(path("dependency")).expect("made");
    std::fs::create_dir_all(path("ear")).expect("made");
    jar(home, &["-cf", "dependency/cell.jar", "-C", "classes", "a/Cell.class"]);
    jar(home, &["-cf", "dependency/user.jar", "-C", "classes", "a/User.class"]);
    assert_eq!(patterns(&[path("dependency")]), ["a.User.bad"]);
    jar(home, &["-cf", "ear/web.war", "-C", "classes", "a/User.class"]);
    jar(home, &["-cf", "ear/ejb.jar", "-C", "classes", "a/Cell.class"]);
    jar(home, &["-cf", "app.ear", "-C", "ear", "."]);
    assert_eq!(patterns(&[path("app.ear")]), ["a.User.bad"]);
    jar(
        home,
        &[
            "-cf",
            "outer.jar",
            "-C",
            "dependency",
            "cell.jar",
            "-C",
            "dependency",
            "user.jar",
        ],
    );
    assert_eq!(patterns(&[path("outer.jar")]), ["a.User.bad"]);

    std::fs::write(path("dependency/broken.jar"), b"PK\x03\x04 cut off").expect("written");
    let found = scan(&[path("dependency")], &Options::default()).expect("the others are scanned");
    assert_eq!(methods(&found.findings, "lock-pattern"), ["a.User.bad"]);
    assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
    assert!(found.problems[0].contains("broken.jar"), "{:?}", found.problems);
    let both = [path("dependency/broken.jar"), path("outer.jar")];
    assert_eq!(scan(&both, &Options::default()).expect("scanned").problems.len(), 1);
    scan(&both[..1], &Options::default()).expect_err("nothing else to look at");
}

#[test]
fn code_for_android_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let dex = folder.path().join("classes.dex");
    std::fs::write(&dex, b"dex\n035\0").expect("written");
    jar(folder.path(), &["-cf", "app.apk", "classes.dex"]);
    for path in [dex, folder.path().join("app.apk")] {
        let error = scan(&[path], &Options::default()).expect_err("refused").to_string();
        assert!(error.contains("dex"), "{error}");
    }
    // Beside classes they are left out and named, in a folder as in an archive.
    let classes = compile(&[("Cell.java", CELL), ("User.java", USER)]);
    let home = classes.path();
    std::fs::copy(folder.path().join("app.apk"), home.join("classes/app.apk")).expect("copied");
    jar(home, &["-cf", "app.jar", "-C", "classes", "."]);
    for path in [home.join("classes"), home.join("app.jar")] {
        let found = scan(&[path], &Options::default()).expect("the classes are scanned");
        assert_eq!(methods(&found.findings, "lock-pattern"), ["a.User.bad"]);
        assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
        let problem = &found.problems[0];
        assert!(problem.contains("app.apk") && problem.contains("dex"), "{problem}");
    }
}
