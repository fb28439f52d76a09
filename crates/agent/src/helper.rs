//! The Java classes that inserted code calls. They are compiled when their sources change and checked in, so that building Ravel
//! needs no JDK. `scripts/compile-java.sh` compiles them; the tests here find classes that are stale.

use std::borrow::Cow;
use std::ffi::CStr;

use ravel_classfile::{ClassFile, Result};

macro_rules! classes {
    ($($name:literal)+) => {
        /// Internal names and bytes, superclasses first.
        pub const CLASSES: &[(&CStr, &[u8])] = &[$((
            match CStr::from_bytes_with_nul(concat!("java/lang/", $name, "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name has no NUL inside"),
            },
            include_bytes!(concat!("../java/classes/", $name, ".class")),
        )),+];
    };
}

classes! {
    "Ravel"
    "RavelTables"
    "RavelFences"
    "RavelObjects"
    "RavelObjects$Ref"
    "RavelWords"
    "RavelPoints"
    "RavelRecords"
    "RavelRepeats"
    "RavelFields"
    "RavelArrays"
    "RavelMethods"
    "RavelMonitors"
    "RavelThreads"
    "RavelHandles"
    "RavelHandles$Known"
    "RavelFrameworks"
    "RavelPermits"
    "RavelModels"
    "RavelForced"
    "RavelSearch$Over"
    "RavelSearch"
    "RavelDriver$Lines"
    "RavelDriver$Loader"
    "RavelDriver$Root"
    "RavelDriver"
    "RavelChance"
    "RavelReflection"
    "RavelFailures"
    "RavelTests"
}

/// The class that inserted code calls in directed runs, which need none of the others.
pub const DIRECTOR: (&CStr, &[u8]) = (
    c"java/lang/RavelDirector",
    include_bytes!("../java/classes/RavelDirector.class"),
);

/// The class that calls of `sun.misc.Unsafe` go to on JDK 8; empty until the agent fills it.
pub const UNSAFE: (&CStr, &[u8]) = (
    c"java/lang/RavelUnsafe",
    include_bytes!("../java/classes/RavelUnsafe.class"),
);

/// Packages that had another name in JDK 8.
const PACKAGES_OF_8: [(&str, &str); 2] = [
    ("jdk/internal/misc/", "sun/misc/"),
    ("jdk/internal/vm/annotation/", "java/lang/invoke/"),
];

/// The same of names. `VarHandle` came later: no object is of the class that stands for it.
const NAMES_OF_8: [(&str, &str); 5] = [
    ("compareAndSetInt", "compareAndSwapInt"),
    ("compareAndSetLong", "compareAndSwapLong"),
    ("putLongRelease", "putOrderedLong"),
    ("getByteOpaque", "getByteVolatile"),
    ("java/lang/invoke/VarHandle", "java/lang/RavelTables"),
];

/// The version of class files that JDK 8 reads, and the first release that reads those which the compiler made.
const VERSION_OF_8: u16 = 52;
const MODULES: u32 = 9;

/// A class as a JVM of this release takes it. For JDK 8 the names of what it calls differ, and the version of the class file: the compiler makes
/// those of JDK 9, which have nothing else that is new.
pub fn for_release(class: &[u8], release: u32) -> Result<Cow<'_, [u8]>> {
    if release >= MODULES {
        return Ok(Cow::Borrowed(class));
    }
    let mut class = ClassFile::parse(class)?;
    class.major = VERSION_OF_8;
    class.pool.replace_utf8(|text| {
        let text = std::str::from_utf8(text).ok()?;
        if let Some((_, old)) = NAMES_OF_8.iter().find(|(new, _)| *new == text) {
            return Some(old.as_bytes().to_vec());
        }
        let renamed = PACKAGES_OF_8
            .iter()
            .fold(text.to_string(), |text, (new, old)| text.replace(new, old));
        (renamed != text).then(|| renamed.into_bytes())
    })?;
    class.write().map(Cow::Owned)
}

/// The class that stands in for added fields in a JVM that is running.
pub const ATTACHED: (&CStr, &[u8]) = (
    c"java/lang/RavelAttached",
    include_bytes!("../java/classes/RavelAttached.class"),
);

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fmt::Write as _;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use ravel_classfile::{Constant, access};
    use ravel_testing::{Jdk, OLDEST, installed_jdks, jdks, skip};

    use super::*;
    use crate::instrument::hook;
    use crate::layout::{DIGEST, FNV_BASIS, LAYOUT, fnv};

    /// The release whose compiler makes the classes that are checked in.
    const RELEASE: u32 = OLDEST;
    const STALE: &str = "run scripts/compile-java.sh";

    fn directory(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("java").join(name)
    }

    fn blessing() -> bool {
        std::env::var_os("BLESS").is_some_and(|value| value == "1")
    }

    /// The files of a directory with this extension, by name.
    fn files(directory: &Path, extension: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(directory).expect("the directory is there") {
            let path = entry.expect("can be listed").path();
            if path.extension().is_some_and(|found| found == extension) {
                let name = path.file_stem().expect("a file has a name").to_string_lossy();
                files.insert(name.into_owned(), std::fs::read(&path).expect("can be read"));
            }
        }
        files
    }

    fn sources() -> BTreeMap<String, Vec<u8>> {
        let mut sources = files(&directory("ravel/java/lang"), "java");
        sources.extend(files(&directory("stubs/java/lang"), "java"));
        sources
    }

    fn digest(files: &BTreeMap<String, Vec<u8>>) -> u64 {
        files.iter().fold(FNV_BASIS, |hash, (name, bytes)| {
            fnv(fnv(fnv(hash, name.as_bytes()), &[0]), bytes)
        })
    }

    /// The text of `RavelLayout.java`.
    fn layout() -> String {
        let mut text = String::from(
            "package java.lang;\n\n/** Generated from layout.rs by scripts/compile-java.sh: do not edit. */\nfinal class RavelLayout {\n    \
             private RavelLayout() {}\n",
        );
        for group in LAYOUT {
            let (name, about) = (group.name, group.about.trim());
            let _ = write!(
                text,
                "\n    /** {about} */\n    static final class {name} {{\n        private {name}() {{}}\n\n"
            );
            for (constant, value) in group.constants {
                let value = match group.java_type {
                    "long" => format!("{value}L"),
                    // Flags use the sign bit.
                    _ => (*value as i32).to_string(),
                };
                let _ = writeln!(text, "        static final {} {constant} = {value};", group.java_type);
            }
            text.push_str("    }\n");
        }
        text.push_str("}\n");
        text
    }

    /// The classes live in `java.lang`, so the compiler gets them as a patch of `java.base`, with a stub of `Thread` that has the
    /// fields which the agent adds when the real class is loaded.
    fn compile(jdk: &Jdk, out: &Path) {
        let (stubs, ravel) = (directory("stubs"), directory("ravel"));
        let path = format!("{}:{}", stubs.display(), ravel.display());
        let output = Command::new(jdk.tool("javac"))
            .args([
                // The oldest that can patch `java.base`; see `for_release`.
                "-source",
                "9",
                "-target",
                "9",
                "-XDstringConcat=inline",
                "-Xlint:-options",
                "-implicit:none",
                "-nowarn",
                "-g:none",
            ])
            .args([
                "--patch-module",
                &format!("java.base={path}"),
                "-sourcepath",
                &path,
                "-d",
            ])
            .arg(out)
            .args(
                files(&ravel.join("java/lang"), "java")
                    .keys()
                    // Constants that the others have copied.
                    .filter(|name| *name != "RavelLayout")
                    .map(|name| ravel.join(format!("java/lang/{name}.java"))),
            )
            .output()
            .expect("javac can be run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Brings everything up to date: the layout, the classes, and the digests that say what they were made of.
    #[test]
    fn classes_are_compiled_on_request() {
        if !blessing() {
            return;
        }
        std::fs::write(directory("ravel/java/lang/RavelLayout.java"), layout()).expect("can be written");
        let jdk = jdks().remove(0);
        assert_eq!(
            jdk.release, RELEASE,
            "compiling the Java classes needs JDK {RELEASE}: set JAVA_HOME"
        );
        let out = tempfile::tempdir().expect("a directory");
        compile(&jdk, out.path());
        let classes = directory("classes");
        for name in files(&classes, "class").keys() {
            std::fs::remove_file(classes.join(format!("{name}.class"))).expect("can be removed");
        }
        let compiled = files(&out.path().join("java/lang"), "class");
        for (name, bytes) in &compiled {
            std::fs::write(classes.join(format!("{name}.class")), bytes).expect("can be written");
        }
        std::fs::write(classes.join("layout.digest"), format!("{DIGEST:#018x}\n")).expect("can be written");
        std::fs::write(classes.join("classes.digest"), digests(&compiled)).expect("can be written");
    }

    fn digests(classes: &BTreeMap<String, Vec<u8>>) -> String {
        format!(
            "sources {:#018x}\nclasses {:#018x}\n",
            digest(&sources()),
            digest(classes)
        )
    }

    #[test]
    fn the_layout_in_java_is_that_of_rust() {
        if blessing() {
            return;
        }
        let path = directory("ravel/java/lang/RavelLayout.java");
        let found = std::fs::read_to_string(path).expect("can be read");
        assert_eq!(found, layout(), "RavelLayout.java is stale: {STALE}");
        let compiled = std::fs::read_to_string(directory("classes/layout.digest")).expect("can be read");
        assert_eq!(compiled, format!("{DIGEST:#018x}\n"), "the classes are stale: {STALE}");
    }

    #[test]
    fn the_classes_are_those_of_the_sources() {
        if blessing() {
            return;
        }
        let classes = files(&directory("classes"), "class");
        let recorded = std::fs::read_to_string(directory("classes/classes.digest")).expect("can be read");
        assert_eq!(recorded, digests(&classes), "the compiled classes are stale: {STALE}");
        let listed: Vec<String> = CLASSES
            .iter()
            .chain([&DIRECTOR, &UNSAFE, &ATTACHED])
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect();
        assert_eq!(listed.len(), classes.len(), "{listed:?} and {:?}", classes.keys());
    }

    #[test]
    fn classes_for_jdk_8_name_nothing_that_it_lacks() {
        for (name, bytes) in CLASSES.iter().chain([&DIRECTOR, &UNSAFE]) {
            assert!(matches!(for_release(bytes, 11), Ok(Cow::Borrowed(_))));
            let old = for_release(bytes, 8).expect("a class file");
            let class = ClassFile::parse(&old).expect("a class file");
            assert_eq!((class.major, class.name().expect("a name")), (52, name.to_bytes()));
            for index in class.pool.indices() {
                let Ok(text) = class.pool.text(index) else { continue };
                let lacking = [
                    "jdk/internal",
                    "VarHandle",
                    "StackWalker",
                    "Opaque",
                    "compareAndSetLong",
                ];
                assert!(!lacking.iter().any(|word| text.contains(word)), "{name:?} names {text}");
                assert!(
                    !matches!(class.pool.get(index), Ok(Constant::InvokeDynamic(..))),
                    "{name:?}"
                );
            }
        }
    }

    #[test]
    fn each_hook_is_a_method_of_its_class() {
        let mut methods = BTreeSet::new();
        // Test runners call this one, by reflection.
        let called_by_others = |name: &CStr| name == c"java/lang/RavelTests";
        for (name, bytes) in CLASSES.iter().chain([&DIRECTOR, &UNSAFE]) {
            let class = ClassFile::parse(bytes).expect("a class file");
            assert_eq!(class.name().expect("a name"), name.to_bytes());
            if called_by_others(name) {
                continue;
            }
            for method in &class.methods {
                if class.is(access::PUBLIC) && method.is(access::PUBLIC) && method.is(access::STATIC) {
                    let method = class.member_name(method).expect("a name");
                    methods.insert((name.to_bytes().to_vec(), method.to_vec()));
                }
            }
        }
        let hooks = hook::ALL
            .iter()
            .map(|hook| (hook.class.as_bytes().to_vec(), hook.name.as_bytes().to_vec()))
            .collect();
        assert_eq!(
            methods, hooks,
            "public methods of the classes, and hooks that inserted code calls"
        );
    }

    #[test]
    fn a_compiler_makes_the_same_classes() {
        if blessing() {
            return;
        }
        // The oldest comes first.
        let Some(jdk) = installed_jdks().into_iter().next() else {
            skip("jdk", "the Java classes are not compiled anew");
            return;
        };
        let out = tempfile::tempdir().expect("a directory");
        compile(&jdk, out.path());
        if jdk.release != RELEASE {
            skip(
                "jdk-17",
                "the Java classes are not compared with those that its compiler makes",
            );
            return;
        }
        let compiled = files(&out.path().join("java/lang"), "class");
        let kept = files(&directory("classes"), "class");
        assert_eq!(
            compiled.keys().collect::<Vec<_>>(),
            kept.keys().collect::<Vec<_>>(),
            "{STALE}"
        );
        for (name, bytes) in &compiled {
            assert!(kept[name] == *bytes, "{name}.class is stale: {STALE}");
        }
    }
}
