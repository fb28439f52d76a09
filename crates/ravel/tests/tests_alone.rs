//! Tests that a test runner tells of: findings name their test, and forced runs are runs of that test alone. The runner is a program of this
//! folder that says what ravel-junit says; `scripts/plugins-test.sh` does the same with JUnit and Maven.

use std::path::Path;
use std::time::Duration;

use crate::common::{compile_some, each, kept_directory, ravel, root, run, tested_jdks};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(180);

#[test]
fn a_test_is_forced_alone_and_named() {
    let classes = kept_directory("tests-alone-classes");
    let source = root().join("crates/ravel/tests/java/TellsTests.java");
    compile_some(&tested_jdks()[0], &[source], &classes);
    each(&tested_jdks(), |jdk| {
        let directory = kept_directory(&format!("tests-alone-{}", jdk.release));
        let java = jdk.tool("java").to_string_lossy().into_owned();
        // A script, as a build tool is: runs of all tests would go through it.
        let script = directory.join("build.sh");
        let log = directory.join("builds");
        let _ = std::fs::remove_file(&log);
        let text = format!(
            "echo build >>{}\n{java} -cp {} TellsTests\n",
            log.display(),
            classes.display()
        );
        std::fs::write(&script, text).map_err(|error| error.to_string())?;
        let file = |name: &str| directory.join(name).display().to_string();
        let output = run(
            ravel()
                .args(["run", "--budget", "90", "--explore", "0", "--orders", "0", "-o"])
                .arg(file("t.ravel"))
                .args(["--out", &format!("json={}", file("t.json"))])
                .args(["--out", &format!("junit={}", file("t.xml"))])
                .args(["--", "sh"])
                .arg(&script),
            LIMIT,
        );
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let report: Value =
            serde_json::from_str(&read(Path::new(&file("t.json")))).map_err(|e| format!("{e}: {told}"))?;
        let findings = report["findings"].as_array().ok_or("no findings")?;
        let shown: Vec<&Value> = findings.iter().filter(|finding| finding["shown"] == true).collect();
        let [finding] = shown.as_slice() else {
            return Err(format!("{} shown findings: {told}", shown.len()));
        };
        let tests = &finding["tests"];
        if *tests != serde_json::json!(["bank.TellsTests.broken"]) {
            return Err(format!("the test is {tests}: {told}"));
        }
        if !told.contains("test: bank.TellsTests.broken") {
            return Err(format!("the text names no test: {told}"));
        }
        let junit = read(Path::new(&file("t.xml")));
        if !junit.contains("<testcase classname=\"bank.TellsTests\" name=\"broken: ") {
            return Err(format!("the JUnit report names no test: {junit}"));
        }
        let builds = read(&log).lines().count();
        if builds != 1 {
            return Err(format!("{builds} builds: {told}"));
        }
        let again = finding["replay"].as_str().ok_or("no command")?;
        if !again.contains("t-test-") {
            return Err(format!("{again} is not of a test alone"));
        }
        Ok(())
    });
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
