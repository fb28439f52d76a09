//! The JVM's names as people write them: classes, methods, variables, locks.

use ravel_analysis::readable;

/// `shop.Stock$1` without its package: `Stock$1`.
pub fn simple_class(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// `shop.Stock$1` without its class: `shop`, empty for the default package.
pub fn package(class: &str) -> &str {
    class.rsplit_once('.').map_or("", |(package, _)| package)
}

/// `shop.Stock.items` as `items`, `int[] in shop.Stock` as `int[]`. The state of a class of the JDK keeps that class,
/// `AtomicInteger.state`: its name alone would tell nothing.
pub fn simple_variable(variable: &str) -> String {
    if variable.starts_with("java.") || variable.starts_with("javax.") {
        return short_variable(variable);
    }
    readable::member(raw_variable(variable))
}

/// `shop.Stock.items` as `items`, as the class file has it.
fn raw_variable(variable: &str) -> &str {
    match variable.split_once(" in ") {
        Some((array, _)) => array,
        None => variable.rsplit('.').next().unwrap_or(variable),
    }
}

/// `shop.Stock.items` as `Stock.items`, `int[] in shop.Stock` as `int[] in Stock`.
pub fn short_variable(variable: &str) -> String {
    if let Some((array, class)) = variable.split_once(" in ") {
        return format!("{array} in {}", readable::class(class));
    }
    match variable.rsplit_once('.') {
        Some((class, field)) => format!("{}.{}", readable::class(class), readable::member(field)),
        None => readable::class(variable),
    }
}

/// The class of `shop.Stock.items` or `int[] in shop.Stock`: `shop.Stock`.
pub fn class_of_variable(variable: &str) -> Option<&str> {
    match variable.split_once(" in ") {
        Some((_, class)) => Some(class),
        None => variable.rsplit_once('.').map(|(class, _)| class),
    }
}

/// The word that stands for a variable in source code; none for array elements and the state of library objects.
pub fn variable_word(variable: &str) -> Option<&str> {
    if variable.starts_with("java.") || variable.starts_with("javax.") || variable.contains(" in ") {
        return None;
    }
    let name = raw_variable(variable).split(['[', '{']).next()?;
    // Scala's lazy values and private members have longer names in the class file.
    let name = name.rsplit("$$").next()?.split("$lzy").next()?;
    (!name.is_empty()).then_some(name)
}

/// `shop.Stock.take` as `Stock.take`.
pub fn short_name(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((class, member)) => readable::method(class, member),
        None => readable::member(name),
    }
}

/// `shop.Stock.take(ILjava/lang/String;)Z` as `Stock.take(int, String)`; what is no descriptor is left alone.
pub fn method(qualified: &str) -> String {
    let (name, descriptor) = match qualified.find('(') {
        Some(at) => qualified.split_at(at),
        None => (qualified, ""),
    };
    let short = short_name(name);
    let (class, member) = name.rsplit_once('.').unwrap_or(("", name));
    if !readable::has_own_parameters(class, member) {
        return short;
    }
    match parameters(descriptor) {
        Some(parameters) => format!("{short}({})", parameters.join(", ")),
        None => format!("{short}{descriptor}"),
    }
}

/// A line of a stack, `shop.Stock.count (Stock.java:14)`, with the name as people wrote it.
pub fn frame(frame: &str) -> String {
    match frame.split_once(" (") {
        Some((method, place)) => format!("{} ({place}", short_name(method)),
        None => short_name(frame),
    }
}

fn parameters(descriptor: &str) -> Option<Vec<String>> {
    let inner = descriptor.strip_prefix('(')?.split_once(')')?.0;
    let mut rest = inner;
    let mut parameters = Vec::new();
    while !rest.is_empty() {
        let element = rest.trim_start_matches('[');
        let dimensions = rest.len() - element.len();
        let (name, after) = match element.chars().next()? {
            'L' => {
                let (class, after) = element[1..].split_once(';')?;
                (readable::class(class.rsplit('/').next().unwrap_or(class)), after)
            }
            primitive => (primitive_name(primitive)?.to_owned(), &element[1..]),
        };
        parameters.push(format!("{name}{}", "[]".repeat(dimensions)));
        rest = after;
    }
    Some(parameters)
}

fn primitive_name(code: char) -> Option<&'static str> {
    Some(match code {
        'Z' => "boolean",
        'B' => "byte",
        'C' => "char",
        'S' => "short",
        'I' => "int",
        'J' => "long",
        'F' => "float",
        'D' => "double",
        _ => return None,
    })
}

/// `shop.Stock$Shelf@3` as `Stock.Shelf@3`, `shop.Stock.lock` as `Stock.lock`, `shop.Stock.class` as `Stock.class`. What
/// code calls a lock (`this.lock`, `other.lock`) has no package and is left alone.
pub fn lock_name(lock: &str) -> String {
    if let Some((name, number)) = lock.split_once('@') {
        return format!("{}@{number}", lock_name(name));
    }
    let is_class = |part: &str| part.starts_with(|c: char| c.is_uppercase());
    let parts: Vec<&str> = lock.split('.').collect();
    match parts.iter().position(|part| is_class(part)) {
        _ if parts[0] == "this" => lock.to_owned(),
        Some(at) if at + 1 < parts.len() => {
            let members: Vec<String> = parts[at + 1..].iter().map(|part| readable::member(part)).collect();
            format!("{}.{}", readable::class(parts[at]), members.join("."))
        }
        Some(_) => readable::class(lock),
        None => lock.to_owned(),
    }
}

/// A command for people: `java` for wherever the JVM lies, without the option that Ravel's own agent is.
pub fn program(command: &str) -> String {
    let is_agent = |word: &&str| word.starts_with("-agentpath:") && word.contains("ravel-agent");
    let words: Vec<&str> = command.split(' ').filter(|word| !is_agent(word)).collect();
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
    fn methods_read_like_java() {
        assert_eq!(method("shop.Stock.take(I)Z"), "Stock.take(int)");
        assert_eq!(
            method("shop.Stock$1.put([[JLjava/util/Map$Entry;D)V"),
            "Stock$1.put(long[][], Map.Entry, double)"
        );
        assert_eq!(method("Main.run()V"), "Main.run()");
    }

    #[test]
    fn a_damaged_descriptor_is_left_alone() {
        for damaged in ["a.B.c(", "a.B.c(Q)V", "a.B.c(Lx)V", "a.B.c([)V", "", "(", "a.B.c(é)V"] {
            method(damaged);
        }
        assert_eq!(method("a.B.c(Q)V"), "B.c(Q)V");
    }

    #[test]
    fn variables_keep_their_class() {
        assert_eq!(short_variable("shop.Stock.items"), "Stock.items");
        assert_eq!(short_variable("x"), "x");
        assert_eq!(simple_variable("shop.Stock.items"), "items");
        assert_eq!(simple_variable("int[] in shop.Stock"), "int[]");
        assert_eq!(short_variable("int[] in shop.Stock"), "int[] in Stock");
        assert_eq!(class_of_variable("int[] in shop.Stock"), Some("shop.Stock"));
        let state = "java.util.concurrent.atomic.AtomicInteger.state";
        assert_eq!(simple_variable(state), "AtomicInteger.state");
        assert_eq!(variable_word("shop.Stock.items"), Some("items"));
        assert_eq!(
            (variable_word(state), variable_word("int[] in a.B"), variable_word("")),
            (None, None, None)
        );
    }

    #[test]
    fn a_command_is_shown_without_what_ravel_added() {
        let recorded = "/opt/jdk/bin/java -agentpath:/c/ravel-agent-1.so=out=t -cp a  b.Main -x";
        assert_eq!(program(recorded), "java -cp a  b.Main -x");
        assert_eq!(program("./start.sh now"), "./start.sh now");
        assert_eq!((program(""), program("java")), (String::new(), "java".to_owned()));
    }

    #[test]
    fn locks_are_named_without_packages() {
        for (lock, name) in [
            ("shop.Stock$Shelf@3", "Stock.Shelf@3"),
            ("shop.Stock.lock", "Stock.lock"),
            ("shop.Stock.lock@2", "Stock.lock@2"),
            ("shop.Stock.class", "Stock.class"),
            ("an object of shop.Stock", "Stock"),
            ("this.stock.lock", "this.stock.lock"),
            ("this", "this"),
            ("other.lock", "other.lock"),
            ("a local variable", "a local variable"),
            ("*", "*"),
            ("", ""),
        ] {
            assert_eq!(lock_name(lock), name, "{lock}");
        }
    }
}
