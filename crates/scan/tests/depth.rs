//! Locks that are named by many parts: followed up to a bound, and counted beyond it.

use crate::common::{compile, methods, scan_folder};
use ravel_scan::Options;
use ravel_scan::expr::MAX_PARTS;

/// A chain of objects, and two methods that lock the object at its end in two steps: within one method, and in a callee.
fn chain(fields: u32) -> String {
    let path = ".next".repeat(fields as usize);
    format!(
        "class Link {{ final Link next = null; int n; }}
         class Chain {{
           final Link first = new Link();
           synchronized void stepsBad() {{
             int n;
             synchronized (first{path}) {{ n = first{path}.n; }}
             synchronized (first{path}) {{ first{path}.n = n + 1; }}
           }}
           synchronized void calledBad() {{ set(get() + 1); }}
           int get() {{ synchronized (first{path}) {{ return first{path}.n; }} }}
           void set(int n) {{ synchronized (first{path}) {{ first{path}.n = n; }} }}
         }}"
    )
}

#[test]
fn long_names_of_locks_are_followed() {
    // `this.unit.tick.guard` has four parts. The longest here has one less than count: `n` is one more.
    for fields in [2, 6, MAX_PARTS - 3] {
        let folder = compile(&[("Chain.java", &chain(fields))]);
        let found = scan_folder(&folder, &Options::default());
        let shown = methods(&found.findings, "lock-pattern");
        assert_eq!(shown, ["Chain.calledBad", "Chain.stepsBad"], "{fields}");
        assert!(found.findings.iter().all(|finding| finding.shown), "{fields}");
        assert_eq!((found.counts.long, found.counts.unnamed), (0, 0), "{fields}");
    }
}

/// A known miss beyond the bound, and said.
#[test]
fn longer_names_are_counted() {
    let folder = compile(&[("Chain.java", &chain(MAX_PARTS - 1))]);
    let found = scan_folder(&folder, &Options::default());
    assert!(found.findings.is_empty(), "{:?}", found.findings);
    // Three methods name the object, once each; four acquisitions have a lock without a name.
    assert_eq!((found.counts.long, found.counts.unnamed), (3, 4));
}

/// A name that grows from caller to caller is counted as well.
#[test]
fn names_that_grow_too_long_in_callers_are_counted() {
    let half = ".next".repeat(MAX_PARTS as usize / 2);
    let source = format!(
        "class Link {{ Link next; int n;
           void inner() {{ synchronized (this{half}) {{ n++; }} }}
           void outer() {{ this{half}.inner(); }}
         }}"
    );
    let folder = compile(&[("Link.java", &source)]);
    let found = scan_folder(&folder, &Options::default());
    assert_eq!((found.counts.long > 0, found.counts.unnamed), (true, 0));
}
