//! What the documentation tells people to type, typed: the tutorial from its first to its last line, and the lines of the
//! example workflow.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use crate::common::{self, Jdk, ravel, run, tested_jdks};

const LIMIT: Duration = Duration::from_secs(180);

/// The blocks of code of a page, each with its language.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block does not end");
    blocks
}

fn page(name: &str) -> String {
    std::fs::read_to_string(common::root().join("docs").join(name)).expect("the page is there")
}

/// Runs a line in a shell that finds `ravel` and the JDK.
fn shell(jdk: &Jdk, folder: &Path, line: &str) -> Output {
    let binary = Path::new(ravel().get_program()).to_path_buf();
    let own = binary.parent().expect("a folder").to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [own, jdk.home.join("bin")]
        .into_iter()
        .chain(std::env::split_paths(&path));
    run(
        Command::new("sh")
            .args(["-e", "-c", line])
            .current_dir(folder)
            .env("PATH", std::env::join_paths(path).expect("a path"))
            .env("JAVA_HOME", &jdk.home),
        LIMIT,
    )
}

/// The lines of a report that do not depend on the order of the threads.
fn is_steady(line: &str) -> bool {
    [
        "harmful[",
        "  id ",
        "  found ",
        "  see it again",
        "  fix:",
        "  forced run:",
        "  more:",
        // The second line of the sentence, and the steps of either thread.
        "  Votes.votes (",
        "               reads ",
        "               updates ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}

#[test]
fn the_tutorial_does_what_it_says() {
    let jdk = tested_jdks().swap_remove(0);
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("Votes.java");
    let mut codes = Vec::new();
    for (language, text) in blocks(&page("tutorial.md")) {
        if language == "java" {
            let new = match std::fs::read_to_string(&source) {
                Err(_) => text,
                Ok(old) => {
                    let start = old.find("    void vote(").expect("the method");
                    let end = start + old[start..].find("\n    }\n").expect("its end") + "\n    }\n".len();
                    format!("{}{text}{}", &old[..start], &old[end..])
                }
            };
            std::fs::write(&source, new).expect("written");
            continue;
        }
        for command in text.split("$ ").filter(|part| !part.trim().is_empty()) {
            let (line, told) = command.split_once('\n').expect("a line");
            if line.contains("app.jar") {
                continue;
            }
            let output = shell(&jdk, folder.path(), line);
            let (out, err) = (
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
            );
            codes.push((
                line.split(' ').take(2).collect::<Vec<_>>().join(" "),
                output.status.code(),
            ));
            for wanted in told.lines().filter(|line| is_steady(line)) {
                assert!(
                    out.lines().any(|line| line == wanted),
                    "{line}: {wanted:?} is not in\n{out}\n{err}"
                );
            }
        }
    }
    let code = |words: &str, code| (words.to_owned(), Some(code));
    assert_eq!(
        codes,
        [
            code("javac -g", 0),
            code("java -cp", 0),
            code("ravel run", 1),
            code("ravel run", 1),
            code("ravel explain", 0),
            code("ravel replay", 1),
            code("javac -g", 0),
            code("ravel run", 0),
        ]
    );
    assert!(folder.path().join("report.html").exists());
}

/// Words that a reader has to read twice, for which the field has a plain one.
const UNPLAIN: [&str; 7] = [
    "whoever",
    "nobody",
    "for ever",
    "as ever",
    "of which",
    "what is told",
    "what is done to",
];

#[test]
fn pages_rules_samples_and_help_are_in_plain_words() {
    let mut texts = vec![("README.md".to_owned(), common::root().join("README.md"))];
    for folder in ["docs", "docs/examples", "crates/report/src/rules"] {
        for entry in std::fs::read_dir(common::root().join(folder))
            .expect("a folder")
            .flatten()
        {
            let path = entry.path();
            if path.extension().is_some_and(|end| end == "md" || end == "txt") {
                texts.push((path.display().to_string(), path));
            }
        }
    }
    assert!(texts.len() > 60, "{} texts", texts.len());
    let read =
        |(name, path): &(String, std::path::PathBuf)| (name.clone(), std::fs::read_to_string(path).expect("text"));
    let mut texts: Vec<(String, String)> = texts.iter().map(read).collect();
    for command in [
        "", "run", "record", "check", "replay", "scan", "report", "own", "attach",
    ] {
        let words = command.split_whitespace().chain(["--help"]);
        let output = run(ravel().args(words), LIMIT);
        texts.push((
            format!("ravel {command} --help"),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        ));
    }
    for (name, text) in texts {
        let words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let text = format!(" {} ", words.join(" ").to_lowercase());
        for unplain in UNPLAIN {
            let at = text.find(&format!(" {unplain} "));
            let near = at.map(|at| text[at..].chars().take(80).collect::<String>());
            assert_eq!(near, None, "{name}");
        }
    }
}

#[test]
fn the_example_workflow_does_what_it_says() {
    let workflow = page("examples/ravel.yml");
    let shown = blocks(&page("build-tools.md"));
    let shown = shown
        .iter()
        .find(|(language, _)| language == "yaml")
        .expect("a workflow");
    assert!(workflow.ends_with(&shown.1), "the page and the file differ");
    let lines = workflow.split("run: |\n").nth(1).expect("lines to run");
    let lines: Vec<&str> = lines
        .lines()
        .take_while(|line| line.starts_with("          "))
        .collect();
    assert!(lines.len() >= 2, "{lines:?}");

    let jdk = tested_jdks().swap_remove(0);
    let folder = tempfile::tempdir().expect("a folder");
    let sources = folder.path().join("src/main/java/shop");
    std::fs::create_dir_all(&sources).expect("made");
    std::fs::create_dir(folder.path().join(".git")).expect("made");
    std::fs::write(sources.join("Shop.java"), include_str!("../demo/shop/Shop.java")).expect("written");
    let output = shell(&jdk, folder.path(), &lines.join("\n"));
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let sarif = std::fs::read_to_string(folder.path().join("ravel.sarif")).expect("a log");
    let sarif: serde_json::Value = serde_json::from_str(&sarif).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let place = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(place, "src/main/java/shop/Shop.java", "as the repository has it");
    assert!(folder.path().join("ravel.html").exists());
}
