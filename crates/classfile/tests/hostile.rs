//! Damaged and hostile class files: an error or a class, never a panic, never much memory or time.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::LazyLock;

use common::everything::use_everything;
use proptest::prelude::*;
use ravel_classfile::{AttributeValue, ClassFile, Code, ConstantPool, ExceptionEntry, LocalVariable, op};

/// Counts what the current thread holds, and remembers the most.
struct Counting;

thread_local! {
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(change: isize) {
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + change, most.max(now + change)));
    });
}

#[allow(unsafe_code, reason = "an allocator that counts cannot be written without")]
// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most memory that `work` held at once.
fn peak(work: impl FnOnce()) -> usize {
    let before = HELD.get().0;
    HELD.set((before, before));
    work();
    (HELD.get().1 - before) as usize
}

/// Some real classes of every kind: large and small, with switches, records, annotations, a module.
static SEEDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let homes = common::jdks();
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for home in &homes {
        let classes = common::sample(home, 97, |module, _| module == "java.base");
        seeds.extend(
            classes
                .into_iter()
                .map(|class| class.bytes)
                .filter(|bytes| bytes.len() < 20_000),
        );
        let module = common::sample(home, 1, |module, name| module == "java.sql" && name == "module-info");
        seeds.extend(module.into_iter().map(|class| class.bytes));
    }
    assert!(seeds.len() > 50);
    seeds
});

#[derive(Debug, Clone)]
enum Damage {
    Flip(usize, u8),
    Byte(usize, u8),
    Huge2(usize),
    Huge4(usize),
    Cut(usize),
    Drop(usize, usize),
    Double(usize, usize),
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len().max(1);
        let put = |bytes: &mut Vec<u8>, at: usize, new: &[u8]| {
            for (place, byte) in bytes.iter_mut().skip(at % length).zip(new) {
                *place = *byte;
            }
        };
        match *self {
            Damage::Flip(at, bit) => {
                if let Some(byte) = bytes.get_mut(at % length) {
                    *byte ^= 1 << (bit % 8);
                }
            }
            Damage::Byte(at, value) => put(bytes, at, &[value]),
            Damage::Huge2(at) => put(bytes, at, &[0xff; 2]),
            Damage::Huge4(at) => put(bytes, at, &[0x7f, 0xff, 0xff, 0xff]),
            Damage::Cut(at) => bytes.truncate(at % length),
            Damage::Drop(at, count) => {
                let start = at % length;
                bytes.drain(start..(start + count % 9).min(bytes.len()));
            }
            Damage::Double(at, count) => {
                let start = at % length;
                let piece = bytes[start..(start + count % 64).min(bytes.len())].to_vec();
                bytes.splice(start..start, piece);
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<u32>().prop_map(|at| at as usize);
    prop_oneof![
        4 => (at.clone(), any::<u8>()).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        4 => (at.clone(), any::<u8>()).prop_map(|(at, value)| Damage::Byte(at, value)),
        2 => at.clone().prop_map(Damage::Huge2),
        2 => at.clone().prop_map(Damage::Huge4),
        1 => at.clone().prop_map(Damage::Cut),
        1 => (at.clone(), any::<usize>()).prop_map(|(at, count)| Damage::Drop(at, count)),
        1 => (at, any::<usize>()).prop_map(|(at, count)| Damage::Double(at, count)),
    ]
}

/// Reading and editing hold copies, tables of positions and typed views; this bounds them all.
fn allowed(bytes: &[u8]) -> usize {
    200 * bytes.len() + (1 << 20)
}

fn check(bytes: &[u8]) {
    let parsing = peak(|| drop(ClassFile::parse(bytes)));
    assert!(
        parsing <= 8 * bytes.len() + 4096,
        "parsing {} bytes held {parsing}",
        bytes.len()
    );
    let all = peak(|| use_everything(bytes));
    assert!(all <= allowed(bytes), "{} bytes held {all}", bytes.len());
}

/// How many damaged classes to try; the environment can ask for more.
fn cases() -> u32 {
    std::env::var("HOSTILE_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(6_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_classes_are_survived(seed in any::<prop::sample::Index>(), damages in prop::collection::vec(damage(), 1..5)) {
        let mut bytes = seed.get(&SEEDS).clone();
        for damage in &damages {
            damage.apply(&mut bytes);
        }
        check(&bytes);
    }

    /// The damage is inside one attribute, so that the rest of the class leads there.
    #[test]
    fn damaged_attributes_are_survived(
        seed in any::<prop::sample::Index>(),
        which in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let seed: &Vec<u8> = seed.get(&SEEDS);
        let mut class = ClassFile::parse(seed).expect("a real class");
        let members = class.fields.iter_mut().chain(&mut class.methods);
        let mut attributes: Vec<_> =
            members.flat_map(|member| &mut member.attributes).chain(&mut class.attributes).collect();
        if !attributes.is_empty() {
            let chosen = which.index(attributes.len());
            for damage in &damages {
                damage.apply(&mut attributes[chosen].info);
            }
            check(&class.write().expect("small"));
        }
    }
}

#[test]
fn every_cut_of_a_class_is_an_error_at_its_end() {
    let whole = SEEDS
        .iter()
        .find(|bytes| (1_000..3_000).contains(&bytes.len()))
        .expect("a small class");
    for length in 0..whole.len() {
        let error = ClassFile::parse(&whole[..length]).expect_err("cut off");
        assert!(error.offset <= length, "{error} in {length} bytes");
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert_eq!(
        ClassFile::parse(&longer).expect_err("one byte too many").offset,
        whole.len()
    );
}

#[test]
fn every_single_byte_set_to_extremes_is_survived() {
    let whole = SEEDS
        .iter()
        .find(|bytes| (1_000..2_000).contains(&bytes.len()))
        .expect("a small class");
    for at in 0..whole.len() {
        for value in [0, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            check(&bytes);
        }
    }
}

/// A constructor made of one instruction, repeated, with as many handlers and variables as the format allows.
fn crowded(instruction: &[u8], last: &[u8]) -> Vec<u8> {
    let mut pool = ConstantPool::new();
    let variable = LocalVariable {
        start: 40_001,
        length: 20_000,
        name: 1,
        descriptor: 1,
        slot: 0,
    };
    let mut bytes = Vec::new();
    while bytes.len() + instruction.len() + last.len() <= 60_000 {
        bytes.extend(instruction);
    }
    bytes.extend(last);
    let mut code = Code::new(60_000, 60_000, bytes);
    let handler = (code.code.len() - last.len()) as u16;
    code.exceptions = vec![
        ExceptionEntry {
            start: 0,
            end: handler,
            handler,
            catch_type: 0
        };
        65_000
    ];
    let variables = AttributeValue::LocalVariableTable(vec![variable; 65_000]);
    code.attributes
        .push(variables.to_attribute(&mut pool, 0).expect("room"));
    let this_class = pool.add_class("A").expect("room");
    let mut class = ClassFile {
        minor: 0,
        major: 61,
        pool,
        access: 0,
        this_class,
        super_class: 0,
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods: Vec::new(),
        attributes: Vec::new(),
    };
    class.add_method(0, "<init>", "()V", Some(&code)).expect("room");
    class.write().expect("small")
}

#[test]
fn the_largest_tables_cost_little_time() {
    let mut switch = vec![op::TABLESWITCH, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    switch.extend(14_000u32.to_be_bytes());
    switch.resize(16 + 4 * 14_001, 0);
    for (instruction, last) in [
        (&[op::NOP][..], &[op::RETURN][..]),
        (&[op::ALOAD_0], &[op::RETURN]),
        (&[op::ACONST_NULL, op::IFNULL, 0, 3], &[op::RETURN]),
        (&[op::DUP2], &[op::RETURN]),
        (&switch, &[op::RETURN]),
    ] {
        let bytes = crowded(instruction, last);
        let start = std::time::Instant::now();
        check(&bytes);
        let elapsed = start.elapsed();
        // Well below a second each, if the machine has time; what is quadratic takes minutes.
        assert!(elapsed.as_secs() < 60, "{:?} took {elapsed:?}", &instruction[..1]);
    }
}
