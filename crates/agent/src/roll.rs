//! Which of the JVMs that a command starts this one is: a script or a build tool starts several, and a forced run must find
//! the recorded one among them again.
//!
//! A JVM is known by what it runs (main class or archive, and arguments, without what differs from run to run) and by how
//! many of the same came before it. Every JVM of a command signs a list when it starts.

use std::path::Path;

use ravel_protocol::{JvmName, Signature, line};

use crate::agent::append;
use crate::main_class::{WITH_VALUE, command_line};

/// What a JVM with this command line runs, in words that mean the same in another run.
pub fn what(words: &[String], temporary: &Path) -> String {
    let mut rest = words.iter().skip(1).map(String::as_str);
    let mut found = Vec::new();
    while let Some(word) = rest.next() {
        match word {
            "-jar" | "-m" | "--module" => {
                found.push(word.to_string());
                found.extend(rest.next().map(|word| steady(base(word), temporary)));
                break;
            }
            _ if WITH_VALUE.contains(&word) => {
                rest.next();
            }
            _ if word.starts_with('-') => {}
            _ => {
                found.push(steady(word, temporary));
                break;
            }
        }
    }
    found.extend(rest.map(|word| steady(word, temporary)));
    found.join(" ")
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Numbers differ from run to run (times, process ids), and so do names of temporary files.
fn steady(word: &str, temporary: &Path) -> String {
    if Path::new(word).starts_with(temporary) {
        return "TEMPORARY".to_string();
    }
    let mut out = String::with_capacity(word.len());
    for letter in word.chars() {
        match letter {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            '\t' | '\n' => out.push(' '),
            _ => out.push(letter),
        }
    }
    out
}

/// Signs the list; gives what this JVM runs and how many of the same signed before.
pub fn sign(list: &Path) -> Result<JvmName, String> {
    let words = command_line().map_err(|error| format!("the command line: {error}"))?;
    sign_as(list, what(&words, &std::env::temp_dir()), std::process::id())
}

fn sign_as(list: &Path, runs: String, process: u32) -> Result<JvmName, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", list.display());
    let own = Signature { process, runs };
    let line = line::encode(&own).map_err(|error| error.to_string())?;
    append(list, &line).map_err(failed)?;
    let text = std::fs::read_to_string(list).map_err(failed)?;
    let mut number = 0;
    for signed in line::decode::<Signature>(&text, list) {
        let signed = signed.map_err(|error| error.to_string())?;
        if signed == own {
            break;
        }
        number += usize::from(signed.runs == own.runs);
    }
    Ok(JvmName { number, runs: own.runs })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_string).collect()
    }

    #[test]
    fn a_jvm_is_known_by_what_it_runs() {
        let temporary = Path::new("/tmp");
        for (line, wanted) in [
            ("java -cp a:b -Xmx2g shop.Main one", "shop.Main one"),
            ("/jdk/bin/java --add-opens x=y -Da=b Main", "Main"),
            ("java -ea -jar /home/me/app-1.23.jar 8080", "-jar app-#.#.jar #"),
            (
                "java -jar /tmp/surefire77/surefirebooter1.jar /tmp/surefire77 2026-11-16T02-jvmRun1",
                "-jar surefirebooter#.jar TEMPORARY #-#-#T#-jvmRun#",
            ),
            ("java -m mod/Main x", "-m Main x"),
            ("java", ""),
        ] {
            assert_eq!(what(&words(line), temporary), wanted);
        }
    }

    #[test]
    fn the_same_are_told_apart_by_their_order() {
        let list = std::env::temp_dir().join(format!("ravel-roll-{}", std::process::id()));
        let sign = |runs: &str, process| sign_as(&list, runs.to_string(), process);
        let named = |name: &str| Ok(name.parse::<JvmName>().expect("a name"));
        assert_eq!(sign("Main", 10), named("0:Main"));
        assert_eq!(sign("Other", 11), named("0:Other"));
        assert_eq!(sign("Main", 12), named("1:Main"));
        std::fs::remove_file(&list).expect("removed");
    }
}
