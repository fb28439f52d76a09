//! The main class of this JVM, as far as its command line tells: a program of a package that is otherwise left out as a
//! framework's is recorded all the same.

use std::path::Path;

use ravel_classfile::archive;

/// Options of `java` that are followed by a word of their own.
pub const WITH_VALUE: [&str; 12] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--add-reads",
    "--add-exports",
    "--add-opens",
    "--patch-module",
    "--limit-modules",
];

/// How the internal names of main classes begin that run somebody else's program: build tools and test runners.
const LAUNCHERS: &[&str] = &[
    "org/apache/maven/",
    "org/codehaus/plexus/classworlds/",
    "org/codehaus/classworlds/",
    "org/codehaus/groovy/tools/",
    "groovy/ui/",
    "org/gradle/",
    "worker/org/gradle/",
    "org/junit/platform/",
    "org/junit/runner/",
    "junit/textui/",
    "junit/swingui/",
    "junit/awtui/",
    "org/testng/TestNG",
    "com/intellij/rt/",
    "org/eclipse/jdt/internal/junit",
    "scala/tools/",
    "aj/org/",
    "ravel/junit/",
];

/// The words of this process's command line.
pub fn command_line() -> std::io::Result<Vec<String>> {
    let command = std::fs::read("/proc/self/cmdline")?;
    let mut words: Vec<String> = command
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    // The last word ends with a zero byte as well.
    words.pop();
    Ok(words)
}

/// The internal name of the main class of a `java` command; none if the command does not tell.
pub fn main_class(words: &[String]) -> Option<String> {
    main_and_arguments(words).map(|(main, _)| main)
}

/// The same with what the program gets as its arguments.
pub fn main_and_arguments(words: &[String]) -> Option<(String, Vec<String>)> {
    let mut rest = words.iter().skip(1).map(String::as_str);
    while let Some(word) = rest.next() {
        let named = match word {
            "-jar" => archive::main_class(Path::new(rest.next()?))?,
            "-m" | "--module" => rest.next()?.split_once('/')?.1.to_string(),
            _ if WITH_VALUE.contains(&word) => {
                rest.next();
                continue;
            }
            _ if word.starts_with(['-', '@']) => continue,
            _ => word.to_string(),
        };
        return Some((named.replace('.', "/"), rest.map(str::to_string).collect()));
    }
    None
}

/// Whether a main class (internal name) runs somebody else's program.
pub fn is_launcher(main: &str) -> bool {
    LAUNCHERS.iter().any(|prefix| main.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_class_is_read_off_the_command() {
        let main = |line: &str| main_class(&line.split(' ').map(str::to_string).collect::<Vec<_>>());
        assert_eq!(main("java -Xmx1g -cp a:b shop.Main x y").as_deref(), Some("shop/Main"));
        assert_eq!(
            main("java --add-opens java.base/java.lang=ALL-UNNAMED -m shop/shop.Main").as_deref(),
            Some("shop/Main")
        );
        assert_eq!(main("java -version"), None);
        assert_eq!(main("java -jar no/such.jar x"), None);
    }

    #[test]
    fn runners_of_other_programs_are_known() {
        assert!(
            is_launcher("org/junit/platform/console/ConsoleLauncher") && is_launcher("org/gradle/launcher/GradleMain")
        );
        assert!(!is_launcher("com/google/common/demo/Main") && !is_launcher("kotlin/demo/MainKt"));
    }
}
