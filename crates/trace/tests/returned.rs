//! What methods returned: a record of its own, whose value has the type of the method's result.

use ravel_trace::definition::Definition;
use ravel_trace::names::{Class, Method, Site, SiteKind, Thread};
use ravel_trace::raw::{RawKind, RawRecord};
use ravel_trace::{
    ClassId, Footer, Header, MethodId, Op, ReadOptions, Reader, SiteId, Source, ThreadId, Value, Writer,
};

/// The values that a reader sees of what methods with these descriptors returned.
fn read_back(returned: &[(&str, u64)]) -> Vec<(MethodId, Value)> {
    let mut writer = Writer::new(Vec::new(), &Header::default()).expect("a writer");
    let mut definitions = vec![
        Definition::Class(
            ClassId(0),
            Class {
                name: "C".into(),
                ..Class::default()
            },
        ),
        Definition::Thread(ThreadId(0), Thread::default()),
        Definition::Site(SiteId(0), Site::default()),
    ];
    let mut records = Vec::new();
    for (number, (descriptor, bits)) in (0..).zip(returned) {
        let method = Method {
            name: "m".into(),
            descriptor: (*descriptor).into(),
            ..Method::default()
        };
        definitions.push(Definition::Method(MethodId(number), method));
        let site = Site {
            method: MethodId(number),
            what: SiteKind::Method,
            ..Site::default()
        };
        definitions.push(Definition::Site(SiteId(number + 1), site));
        records.push(RawRecord::new(RawKind::Returned, number + 1, 5, 0, *bits));
    }
    for definition in &definitions {
        writer.define(definition).expect("a definition");
    }
    writer.buffer(ThreadId(0), &records).expect("a buffer");
    let bytes = writer.finish(&Footer::default()).expect("the end");
    let path = std::env::temp_dir().join(format!("ravel-returned-{}.ravel", std::process::id()));
    std::fs::write(&path, bytes).expect("a file");
    let mut reader = Reader::open(&path, ReadOptions::default()).expect("a trace");
    let mut seen = Vec::new();
    while let Some(event) = reader.next_event().expect("an event") {
        if let Op::Returned { method, value } = event.op {
            assert_eq!(event.position, 5);
            assert_eq!(event.op.location(), None);
            seen.push((method, value));
        }
    }
    let _ = std::fs::remove_file(&path);
    seen
}

#[test]
fn a_value_is_kept_by_the_type_of_the_result() {
    let seen = read_back(&[
        ("(D)I", -7i64 as u64),
        ("()Ljava/lang/String;", 0),
        ("(I)[I", 9),
        ("()D", 1.5f64.to_bits()),
    ]);
    let methods: Vec<u32> = seen.iter().map(|(method, _)| method.0).collect();
    assert_eq!(methods, [0, 1, 2, 3]);
    assert_eq!(seen[0].1, Value::Exact(-7));
    assert_eq!(seen[1].1, Value::Exact(0));
    assert!(matches!(seen[2].1, Value::Digest(_)));
    assert!(matches!(seen[3].1, Value::Digest(_)));
}
