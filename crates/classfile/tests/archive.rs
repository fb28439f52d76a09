//! Classes in jars, wars, jars in jars and directories.

use std::fs;
use std::io::{Cursor, Write};
use std::ops::ControlFlow;
use std::path::Path;

use ravel_classfile::archive::{ArchiveError, Options, for_each_class};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn jar(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).expect("started");
        zip.write_all(content).expect("written");
    }
    zip.finish().expect("finished").into_inner()
}

fn list(path: &Path, options: &Options) -> Result<Vec<(String, String, Vec<u8>)>, ArchiveError> {
    let mut classes = Vec::new();
    for_each_class(path, options, &mut |class| {
        let origin = class
            .origin
            .rsplit_once(std::path::MAIN_SEPARATOR)
            .map_or(class.origin.clone(), |(_, end)| end.to_owned());
        classes.push((class.name, origin, class.bytes));
        ControlFlow::Continue(())
    })?;
    Ok(classes)
}

fn names(path: &Path, options: &Options) -> Vec<String> {
    list(path, options)
        .expect("readable")
        .into_iter()
        .map(|(name, ..)| name)
        .collect()
}

const MULTI: &[u8] = b"Manifest-Version: 1.0\nMulti-Release: true\n";

#[test]
fn a_boot_jar_gives_its_classes_and_those_of_its_libraries() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("app.jar");
    let library = jar(&[
        ("l/L.class", b"old"),
        ("META-INF/versions/11/l/L.class", b"new"),
        ("META-INF/MANIFEST.MF", MULTI),
    ]);
    let app = jar(&[
        ("BOOT-INF/classes/a/A.class", b"a"),
        ("BOOT-INF/lib/l.jar", &library),
        ("org/Loader.class", b"o"),
        ("static/other.jar", &jar(&[("x/X.class", b"x")])),
        ("readme.md", b""),
    ]);
    fs::write(&path, app).expect("written");
    let classes = list(&path, &Options::default()).expect("readable");
    let names: Vec<_> = classes
        .iter()
        .map(|(name, _, bytes)| (name.as_str(), bytes.as_slice()))
        .collect();
    assert_eq!(
        names,
        [("a/A", &b"a"[..]), ("org/Loader", b"o"), ("l/L", b"new"), ("x/X", b"x")]
    );
    let java_8 = list(
        &path,
        &Options {
            release: 8,
            ..Options::default()
        },
    )
    .expect("readable");
    assert_eq!(java_8[2].2, b"old");
    assert_eq!(
        self::names(
            &path,
            &Options {
                nested: false,
                ..Options::default()
            }
        ),
        ["a/A", "org/Loader"]
    );
}

#[test]
fn a_directory_gives_its_classes_in_order() {
    let directory = tempfile::tempdir().expect("a directory");
    for name in [
        "b/B.class",
        "a/A.class",
        "a/A$1.class",
        "x.txt",
        "WEB-INF/classes/w/W.class",
    ] {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("created");
        fs::write(path, name).expect("written");
    }
    assert_eq!(
        names(directory.path(), &Options::default()),
        ["a/A", "a/A$1", "b/B", "w/W"]
    );
    assert_eq!(names(&directory.path().join("a/A.class"), &Options::default()), ["A"]);
}

#[test]
fn stopping_stops() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("app.war");
    fs::write(&path, jar(&[("A.class", b""), ("B.class", b"")])).expect("written");
    let mut seen = 0;
    for_each_class(&path, &Options::default(), &mut |_| {
        seen += 1;
        ControlFlow::Break(())
    })
    .expect("readable");
    assert_eq!(seen, 1);
}

#[test]
fn damaged_archives_are_errors_that_name_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("app.jar");
    let error = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("written");
        let error = list(&path, &Options::default()).expect_err("damaged").to_string();
        assert!(error.contains("app.jar"), "{error}");
        error
    };
    error(b"");
    error(b"hello");
    let good = jar(&[("A.class", b"0123456789012345678901234567890123456789")]);
    error(&good[..good.len() - 5]);
    error(b"PK\x03\x04 and nothing");
    let nested = jar(&[("lib/broken.jar", b"PK\x03\x04")]);
    assert!(error(&nested).contains("broken.jar"));
    assert!(list(&directory.path().join("none.jar"), &Options::default()).is_err());
}

#[test]
fn a_jdk_before_modules_is_read_from_its_jars() {
    use ravel_classfile::archive::{for_each_jdk_class, is_jdk};
    let directory = tempfile::tempdir().expect("a directory");
    let lib = directory.path().join("jre/lib");
    fs::create_dir_all(&lib).expect("made");
    assert!(!is_jdk(directory.path()));
    fs::write(lib.join("jce.jar"), jar(&[("j/J.class", b"j")])).expect("written");
    fs::write(lib.join("rt.jar"), jar(&[("java/lang/Object.class", b"o")])).expect("written");
    fs::write(lib.join("other.jar"), jar(&[("x/X.class", b"x")])).expect("written");
    assert!(is_jdk(directory.path()));
    let mut found = Vec::new();
    for_each_jdk_class(directory.path(), &mut |class| {
        found.push(class.name);
        ControlFlow::Continue(())
    })
    .expect("readable");
    assert_eq!(found, ["java/lang/Object", "j/J"]);
}
