//! The command of a program as people read it. Names of code come from [`ravel_trace::naming`].

use ravel_trace::added::is_added;

/// A command for people: `java` for wherever the JVM lies, without the options that Ravel added.
pub fn program(command: &str) -> String {
    let words: Vec<&str> = command.split(' ').filter(|word| !is_added(word)).collect();
    let mut words = words.into_iter();
    let first = words.next().unwrap_or_default();
    let first = match first.rsplit_once('/') {
        Some((_, name @ ("java" | "java.exe"))) => name,
        _ => first,
    };
    let all: Vec<&str> = std::iter::once(first).chain(words).collect();
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_without_what_ravel_added() {
        let recorded = "/opt/jdk/bin/java -agentpath:/c/ravel-agent-1.so=out=t -cp a  b.Main -x";
        assert_eq!(program(recorded), "java -cp a  b.Main -x");
        assert_eq!(program("./start.sh now"), "./start.sh now");
        assert_eq!((program(""), program("java")), (String::new(), "java".to_owned()));
    }
}
