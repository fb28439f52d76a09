//! Shapes that everybody has and that locks or order prove safe: nothing may be said of them.

use super::{MINE, findings_of, parse, reports, reports_of, verdicts};
use crate::units::UnitSettings;

#[test]
fn read_locks_for_readers_and_a_write_lock_for_the_writer_ok() {
    let text = "
        t1       | t2      | t3
        acqs l
        r x
        rels l
                 | acqs l
                 | r x
                 | rels l
                 |         | acq l
                 |         | w x
                 |         | rel l
        acqs l
        r x
        rels l
    ";
    assert_eq!(verdicts(text), []);
}

/// Shapes that everybody has, proven safe by locks or order: nothing at all may be said of them.
#[test]
fn benign_shapes_are_not_even_predicted_ok() {
    let shapes = [
        (
            "read-only after construction, start and join",
            "
            main                | t1           | t2
            enter <init>.make
            w Point.x
            exit
            fork t1
            fork t2
                                | begin
                                | enter Point.length
                                | r Point.x
                                | r Point.x
                                | exit
                                |              | begin
                                |              | enter Point.length
                                |              | r Point.x
                                |              | exit
                                | end
                                |              | end
            join t1
            join t2
            w Point.x
            ",
        ),
        (
            "hand-over through a queue",
            "
            t1          | t2
            w Job.input
            send queue
                        | recv queue
                        | r Job.input
                        | w Job.output
                        | send back
            recv back
            r Job.output
            w Job.input
            ",
        ),
        (
            "volatile publication",
            "
            volatile Box.ready
            t1            | t2
            w Box.content
            w Box.ready
                          | r Box.ready
                          | r Box.content
            ",
        ),
        (
            "a stop flag read by a thread's own loop",
            "
            volatile Worker.stop
            t1                    | t2
            enter Worker.run
            enter Worker.loop
            r Worker.stop @5
            r Worker.stop @5
                                  | enter Worker.cancel
                                  | w Worker.stop
                                  | exit
            r Worker.stop @5
            exit
            exit
            ",
        ),
        (
            "reentrant calls under one monitor",
            "
            t1                              | t2
            enter synchronized Stock.take
            acq Stock
            enter synchronized Stock.count
            r Stock.items
            exit
            w Stock.items
            rel Stock
            exit
                                            | enter synchronized Stock.take
                                            | acq Stock
                                            | enter synchronized Stock.count
                                            | r Stock.items
                                            | exit
                                            | w Stock.items
                                            | rel Stock
                                            | exit
            ",
        ),
        (
            "the caching of a hash code",
            "
            t1                   | t2
            enter Text.hashCode
            r Text.hash=0 @3
                                 | enter Text.hashCode
                                 | r Text.hash=0 @3
                                 | w Text.hash=77 @4
                                 | exit
            acq elsewhere
            rel elsewhere
            w Text.hash=77 @4
            exit
            ",
        ),
    ];
    for (what, text) in shapes {
        let found = reports(text, &["race", "lockset"]);
        let cached = what.contains("hash");
        let serious: Vec<_> = found.iter().filter(|r| !cached || r.analysis != "lockset").collect();
        assert!(serious.is_empty(), "{what}: {serious:#?}");
        // The repeated hash is an interrupted method: an assumed unit, held back until it shows harm.
        if !cached {
            let found = reports(text, &["automata", "serializability"]);
            assert!(found.is_empty(), "{what}: {found:#?}");
        }
    }
}

#[test]
fn a_compare_and_set_loop_ok() {
    let mut trace = parse(
        "
        volatile java.util.concurrent.atomic.AtomicInteger.state
        t1                                                  | t2
        enter Counter.inc
        r java.util.concurrent.atomic.AtomicInteger.state @3
                                                            | enter Counter.inc
                                                            | r java.util.concurrent.atomic.AtomicInteger.state @3
                                                            | u java.util.concurrent.atomic.AtomicInteger.state @4
                                                            | exit
        r java.util.concurrent.atomic.AtomicInteger.state @3
        u java.util.concurrent.atomic.AtomicInteger.state @4
        exit
    ",
    );
    for site in &mut trace.names_mut().sites {
        if site.line == 4 {
            site.what = ravel_trace::names::SiteKind::Call(
                "java.util.concurrent.atomic.AtomicInteger.compareAndSet".to_owned(),
            );
        }
    }
    assert_eq!(reports_of(&mut trace, &MINE, &UnitSettings::default()), []);
}

/// A number that a socket keeps to itself is nothing that the program updates, whatever locks of the JDK are held around it.
#[test]
fn what_a_service_of_the_jdk_keeps_inside_ok() {
    let of = |callee: &str| {
        let mut trace = parse(
            "
            volatile java.util.concurrent.atomic.AtomicLong.value
            t1                                                  | t2
            enter Client.read
            acq m
            r java.util.concurrent.atomic.AtomicLong.value @3
                                                                | enter Client.write
                                                                | acq n
                                                                | u java.util.concurrent.atomic.AtomicLong.value @3
                                                                | rel n
                                                                | exit
            u java.util.concurrent.atomic.AtomicLong.value @3
            rel m
            exit
        ",
        );
        for site in trace.names_mut().sites.iter_mut().filter(|site| site.line == 3) {
            site.what = ravel_trace::names::SiteKind::Call(callee.to_owned());
        }
        findings_of(&mut trace).len()
    };
    assert_eq!(of("java.io.InputStream.read"), 0);
    assert_ne!(of("java.util.concurrent.atomic.AtomicLong.getAndIncrement"), 0);
}

/// No thread accesses a static field before its class is initialised, even if the trace has no such order: t2 has waited for t1, and what it reads then
/// is merged by a number that it drew before.
#[test]
fn what_a_class_initialiser_writes_comes_before_every_use_ok() {
    let written_by = |method: &str| {
        format!(
            "
            static Pool.size
            t1                        | t2
                                      | enter synchronized Pool.grow
                                      | acq m
                                      | r Pool.size
            enter static Pool.{method}
            r Pool.size
            w Pool.size
            init Pool
            exit
                                      | r Pool.size
                                      | rel m
                                      | exit
            "
        )
    };
    assert_eq!(verdicts(&written_by("<clinit>")), []);
    assert!(!reports(&written_by("set"), &["race"]).is_empty());
    assert!(!reports(&written_by("set"), &["patterns"]).is_empty());
}
