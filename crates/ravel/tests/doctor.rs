//! `ravel doctor` on the JVMs that are here, and on some that are not as they should be.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use crate::common::{jdks, ravel, run, tested_jdks};

const LIMIT: Duration = Duration::from_secs(120);

fn doctor(java_home: &Path, words: &[&str]) -> Output {
    run(ravel().arg("doctor").args(words).env("JAVA_HOME", java_home), LIMIT)
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn every_jdk_is_found_and_tried() {
    for jdk in tested_jdks() {
        let output = doctor(&jdk.home, &[]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let first = said.lines().find(|line| line.starts_with("java ")).expect("a JVM");
        assert!(first.contains(&jdk.home.display().to_string()), "{said}");
        assert!(first.ends_with("JDK, by JAVA_HOME"), "{said}");
        let works = said.matches("the agent loads: ").count();
        assert!(works >= jdks().len(), "{said}");
    }
}

#[test]
fn a_jvm_that_is_too_old_is_a_problem_with_a_way_out() {
    let home = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(home.path().join("bin")).expect("made");
    let java = home.path().join("bin/java");
    std::fs::write(&java, "#!/bin/sh\nexit 1\n").expect("written");
    std::fs::set_permissions(&java, std::fs::Permissions::from_mode(0o755)).expect("executable");
    std::fs::write(home.path().join("release"), "JAVA_VERSION=\"1.7.0_80\"\n").expect("written");
    let output = doctor(home.path(), &[]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("Java 1.7.0_80 is not supported: Ravel needs 8, 11 or later"),
        "{said}"
    );
    assert!(said.contains("1 problem to solve"), "{said}");
    assert!(said.contains("set JAVA_HOME="), "{said}");
}

#[test]
fn a_jvm_that_does_not_start_is_a_problem() {
    let home = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(home.path().join("bin")).expect("made");
    std::fs::write(home.path().join("bin/java"), "not a program").expect("written");
    std::fs::write(home.path().join("release"), "JAVA_VERSION=\"21.0.1\"\n").expect("written");
    let output = doctor(home.path(), &[]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot be recorded: cannot start"), "{said}");
}

#[test]
fn a_runtime_without_a_compiler_will_do() {
    let jdk = tested_jdks().swap_remove(0);
    let home = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(home.path().join("bin")).expect("made");
    symlink(jdk.tool("java"), home.path().join("bin/java")).expect("linked");
    std::fs::copy(jdk.home.join("release"), home.path().join("release")).expect("copied");
    let output = doctor(home.path(), &[]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("runtime without javac, by JAVA_HOME"), "{said}");
}

#[test]
fn what_would_be_recorded_follows_the_options() {
    let jdk = tested_jdks().swap_remove(0);
    let names = ["shop.Stock", "org.junit.Test", "java.util.HashMap"];
    let said = text(&doctor(&jdk.home, &names));
    for line in [
        "shop.Stock: recorded\n",
        "org.junit.Test: left alone (framework)\n",
        "java.util.HashMap: recorded when application code calls it\n",
    ] {
        assert!(said.contains(line), "{said}");
    }
    let said = text(&doctor(
        &jdk.home,
        &[
            "--exclude",
            "shop.",
            "--keep-frameworks",
            "shop.Stock",
            "org.junit.Test",
        ],
    ));
    assert!(said.contains("shop.Stock: left alone (excluded)\n"), "{said}");
    assert!(said.contains("org.junit.Test: recorded\n"), "{said}");
    let output = doctor(&jdk.home, &["no/such.jar"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("no/such.jar: no such file"), "{}", text(&output));
}
