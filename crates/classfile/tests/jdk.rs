//! Classes of the JDKs on this machine: written back exactly, and accepted by the JVM after heavy editing.
//!
//! All classes are gone through by the `roundtrip` example; here is a sample of each JDK.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{self, exact, heavy};
use ravel_classfile::{ClassFile, Code, ConstantPool, access, op, super_call_pc};

#[test]
fn a_sample_of_every_jdk_is_written_back_exactly() {
    for home in common::jdks() {
        let mut compared = exact::Compared::default();
        let classes = common::sample(&home, 61, |_, _| true);
        assert!(
            classes.len() > 300,
            "{}: only {} classes",
            home.display(),
            classes.len()
        );
        for class in classes {
            exact::check(&class.bytes, &mut compared).unwrap_or_else(|what| panic!("{}: {what}", class.origin));
        }
        assert!(compared.known > 5_000 && compared.codes > 1_500, "{compared:?}");
    }
}

#[test]
fn modules_and_jmods_give_the_same_classes() {
    use ravel_classfile::archive::{Options, for_each_class};
    use std::ops::ControlFlow;
    for home in common::jdks() {
        let jmod = home.join("jmods/java.sql.jmod");
        if !jmod.is_file() {
            continue;
        }
        let mut packed = Vec::new();
        for_each_class(&jmod, &Options::default(), &mut |class| {
            packed.push((class.module, class.name));
            ControlFlow::Continue(())
        })
        .expect("a readable jmod");
        let image = common::sample(&home, 1, |module, _| module == "java.sql");
        let image: Vec<_> = image.into_iter().map(|class| (class.module, class.name)).collect();
        assert!(packed.len() > 50);
        assert_eq!(packed, image, "{}", home.display());
    }
}

/// Nothing is written outside the temporary directory; `java` runs with the given arguments and its output is returned.
fn java(home: &Path, directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new(home.join("bin/java"))
        .args(arguments)
        .current_dir(directory)
        .env_remove("JAVA_TOOL_OPTIONS")
        .output()
        .expect("java starts");
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{}: {text}", home.display());
    text
}

fn compile(home: &Path, directory: &Path, sources: &[&str]) {
    let sources = sources
        .iter()
        .map(|source| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java").join(source));
    let output = Command::new(home.join("bin/javac"))
        .args(["-g", "-d", "."])
        .args(sources)
        .current_dir(directory)
        .env_remove("JAVA_TOOL_OPTIONS")
        .output()
        .expect("javac starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_jvm_verifies_and_runs_heavily_edited_collections() {
    for home in common::jdks() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut done = heavy::Done::default();
        let mut names = String::new();
        let classes = common::sample(&home, 1, |module, name| {
            module == "java.base" && (name.starts_with("java/util/concurrent/") || name.starts_with("java/lang/String"))
        });
        for class in &classes {
            let edited = heavy::edit(&class.bytes, &mut done).expect("editable");
            let path = directory.path().join("patch").join(format!("{}.class", class.name));
            fs::create_dir_all(path.parent().expect("a package")).expect("created");
            fs::write(path, edited).expect("written");
            names += &format!("{}\n", class.name);
        }
        assert!(
            classes.len() > 300 && done.methods > 3_000,
            "{}: {done:?}",
            home.display()
        );
        assert_eq!((done.no_room, done.undecided), (0, 0), "{}", home.display());
        fs::write(directory.path().join("names"), names).expect("written");
        compile(&home, directory.path(), &["LinkAll.java"]);
        let arguments = [
            "-Xverify:all",
            "--patch-module",
            "java.base=patch",
            "-cp",
            ".",
            "LinkAll",
            "names",
        ];
        let text = java(&home, directory.path(), &arguments);
        assert!(text.contains(&format!("linked {} failed 0", classes.len())), "{text}");
    }
}

/// The feature release of a JDK.
fn release(home: &Path) -> u32 {
    let text = fs::read_to_string(home.join("release")).unwrap_or_default();
    let version = text
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION=\""))
        .unwrap_or_default();
    version
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .and_then(|first| first.parse().ok())
        .unwrap_or(0)
}

/// Edits every class of a program and runs it before and after.
fn behaves_as_before(home: &Path, program: &str) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    compile(home, directory.path(), &[&format!("{program}.java")]);
    let before = java(home, directory.path(), &["-cp", ".", program]);
    assert!(before.lines().count() >= 2, "{before}");
    let mut done = heavy::Done::default();
    for entry in fs::read_dir(directory.path()).expect("readable") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|extension| extension == "class") {
            let bytes = fs::read(&path).expect("readable");
            exact::check(&bytes, &mut exact::Compared::default()).expect("exact");
            fs::write(&path, heavy::edit(&bytes, &mut done).expect("editable")).expect("written");
        }
    }
    assert!(
        done.methods >= 4 && done.no_room == 0 && done.undecided == 0,
        "{done:?}"
    );
    let after = java(home, directory.path(), &["-Xverify:all", "-cp", ".", program]);
    assert_eq!(before, after);
}

#[test]
fn an_edited_program_behaves_as_before() {
    for home in common::jdks() {
        behaves_as_before(&home, "Shapes");
    }
}

#[test]
fn constructors_with_code_before_the_super_call_can_be_edited() {
    // Only compilers since 25 take them.
    let mut tried = 0;
    for home in common::jdks().iter().filter(|home| release(home) >= 25) {
        behaves_as_before(home, "Flexible");
        tried += 1;
    }
    if tried == 0 {
        ravel_testing::skip(
            ravel_testing::SECOND_JDK,
            "code before the super call needs JDK 25 to compile",
        );
    }
}

#[test]
fn an_old_class_with_subroutines_is_built_edited_and_run() {
    let mut pool = ConstantPool::new();
    let index = |index: ravel_classfile::Result<u16>| index.expect("room").to_be_bytes();
    let [out_high, out_low] = index(pool.add_field_ref("java/lang/System", "out", "Ljava/io/PrintStream;"));
    let [print_high, print_low] = index(pool.add_method_ref("java/io/PrintStream", "println", "(Ljava/lang/String;)V"));
    let [_, text] = index(pool.add_string("in a subroutine"));
    let this_class = pool.add_class("Old").expect("room");
    let super_class = pool.add_class("java/lang/Object").expect("room");
    let mut bytes = vec![op::JSR, 0, 7, op::JSR, 0, 4, op::RETURN, op::ASTORE_1];
    bytes.extend([
        op::GETSTATIC,
        out_high,
        out_low,
        op::LDC,
        text,
        op::INVOKEVIRTUAL,
        print_high,
        print_low,
        op::RET,
        1,
    ]);
    let code = Code::new(2, 2, bytes);
    let mut class = ClassFile {
        minor: 0,
        major: 48,
        pool,
        access: access::PUBLIC | access::SUPER,
        this_class,
        super_class,
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods: Vec::new(),
        attributes: Vec::new(),
    };
    class.add_field(access::STATIC, "unused", "J").expect("room");
    class
        .add_method(
            access::PUBLIC | access::STATIC,
            "main",
            "([Ljava/lang/String;)V",
            Some(&code),
        )
        .expect("room");
    let plain = class.write().expect("small");
    let edited = heavy::edit(&plain, &mut heavy::Done::default()).expect("editable");
    assert!(edited.len() > plain.len() + 20);
    for home in common::jdks() {
        for bytes in [&plain, &edited] {
            let directory = tempfile::tempdir().expect("a temporary directory");
            fs::write(directory.path().join("Old.class"), bytes).expect("written");
            let text = java(&home, directory.path(), &["-Xverify:all", "-cp", ".", "Old"]);
            assert_eq!(text.matches("in a subroutine").count(), 2, "{text}");
        }
    }
}

#[test]
fn the_super_call_of_every_sampled_constructor_is_found() {
    for home in common::jdks() {
        let mut found = 0;
        for class in common::sample(&home, 23, |module, _| module == "java.base") {
            let file = ClassFile::parse(&class.bytes).expect("valid");
            if class.name == "java/lang/Object" {
                continue;
            }
            for method in &file.methods {
                if file.member_name(method) == Ok(b"<init>") {
                    let code = file.code(method).expect("valid").expect("a constructor has code");
                    let pc = super_call_pc(&code, &file.pool).unwrap_or_else(|| panic!("{}", class.origin));
                    assert_eq!(code.code.get(pc as usize), Some(&op::INVOKESPECIAL));
                    found += 1;
                }
            }
        }
        assert!(found > 200, "{found}");
    }
}
