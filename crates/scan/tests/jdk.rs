//! All of java.base of every JDK on this machine is read and scanned without a failure.

use crate::common;
use ravel_scan::{Options, scan};

#[test]
fn java_base_is_scanned_without_a_failure() {
    for jdk in common::jdks() {
        let options = Options {
            modules: vec!["java.base".to_owned()],
            ..Options::default()
        };
        let found = scan(std::slice::from_ref(&jdk), &options).expect("scanned");
        assert_eq!(found.problems, Vec::<String>::new());
        assert_eq!(found.counts.failed_methods, 0, "{}", jdk.display());
        assert!(found.counts.classes > 5_000 && found.counts.methods > 50_000);
        assert!(
            found
                .findings
                .iter()
                .all(|finding| !finding.message.is_empty() && !finding.steps.is_empty())
        );
    }
}
