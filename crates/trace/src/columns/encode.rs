//! Records to columns.

use super::{
    CLOCKS, COLUMNS, DIGESTS, EXACT_LIMIT, First, INDICES, NO_OBJECT, NUMBERS, POSITIONS, Second, VALUES, ValueType,
    digest, reference_digest, shape,
};
use crate::definition::Definition;
use crate::ids::{FieldId, MethodId};
use crate::names::{SiteKind, flags};
use crate::raw::{RawKind, RawRecord};
use crate::varint::{MAX_LEN, fold, put, put_at};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the definitions say of the values at each site.
#[derive(Default)]
pub(crate) struct ValueTypes {
    fields: FxHashMap<FieldId, u8>,
    /// Of the values that methods return.
    methods: FxHashMap<MethodId, u8>,
    sites: FxHashMap<u32, SiteValue>,
    /// The fields and methods whose values are floats, and not doubles.
    float_fields: FxHashSet<FieldId>,
    float_methods: FxHashSet<MethodId>,
}

enum SiteValue {
    Field(FieldId),
    /// An element of an array, and whether it is a float.
    Element(u8, bool),
    Method(MethodId),
}

impl ValueTypes {
    pub fn define(&mut self, definition: &Definition) {
        match definition {
            Definition::Field(id, field) => {
                let no_object = field.flags & (flags::STATIC | flags::NAMED) != 0;
                let absent = field.descriptor.is_empty();
                let value = if absent {
                    ValueType::Absent
                } else {
                    value_type(&field.descriptor)
                };
                let hint = value as u8 | if no_object { NO_OBJECT } else { 0 };
                self.fields.insert(*id, hint);
                if field.descriptor == FLOAT {
                    self.float_fields.insert(*id);
                }
            }
            Definition::Method(id, method) => {
                let result = method.descriptor.rsplit_once(')').map_or("", |(_, result)| result);
                self.methods.insert(*id, value_type(result) as u8);
                if result == FLOAT {
                    self.float_methods.insert(*id);
                }
            }
            Definition::Site(id, site) => {
                let value = match &site.what {
                    SiteKind::Method => SiteValue::Method(site.method),
                    SiteKind::Field(field) | SiteKind::Fenced(field) => SiteValue::Field(*field),
                    SiteKind::Element(descriptor) => {
                        let element = descriptor.strip_prefix('[').unwrap_or(descriptor);
                        SiteValue::Element(value_type(element) as u8, element == FLOAT)
                    }
                    _ => return,
                };
                self.sites.insert(id.0, value);
            }
            _ => {}
        }
    }

    /// The second byte of a dictionary entry. What is not defined counts as integral, and as having an object; a field
    /// without a descriptor has no values.
    fn hint(&self, kind: RawKind, site: u32) -> u8 {
        use RawKind::*;
        if !matches!(kind, Read | Write | Update | ReadElement | WriteElement | Returned) {
            return 0;
        }
        match self.sites.get(&site) {
            Some(SiteValue::Method(method)) => self.methods.get(method).copied().unwrap_or(0),
            Some(SiteValue::Element(hint, _)) => *hint,
            Some(SiteValue::Field(field)) => self.fields.get(field).copied().unwrap_or(0),
            None => 0,
        }
    }

    /// The type of the value of an access to a field or an element, or of a return; none of other records.
    pub fn of(&self, record: &RawRecord) -> Option<ValueType> {
        use RawKind::*;
        let kind = record
            .kind()
            .filter(|kind| matches!(kind, Read | Write | Update | ReadElement | WriteElement | Returned))?;
        match shape(kind, self.hint(kind, record.site()))?.1 {
            Second::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The value of a record in words, if no more than a digest of it is kept and its bits alone say what it is.
    pub fn words(&self, record: &RawRecord) -> Option<String> {
        match self.of(record)? {
            ValueType::Integral => {
                let value = record.b as i64;
                (!(-EXACT_LIMIT..EXACT_LIMIT).contains(&value)).then(|| value.to_string())
            }
            ValueType::Floating => Some(match self.is_float(record.site()) {
                true => format!("{:?}", f32::from_bits(record.b as u32)),
                false => format!("{:?}", f64::from_bits(record.b)),
            }),
            _ => None,
        }
    }

    fn is_float(&self, site: u32) -> bool {
        match self.sites.get(&site) {
            Some(SiteValue::Field(field)) => self.float_fields.contains(field),
            Some(SiteValue::Method(method)) => self.float_methods.contains(method),
            Some(SiteValue::Element(_, float)) => *float,
            None => false,
        }
    }
}

/// The descriptor of a float.
const FLOAT: &str = "F";

fn value_type(descriptor: &str) -> ValueType {
    match descriptor.as_bytes().first() {
        Some(b'F' | b'D') => ValueType::Floating,
        Some(b'L' | b'[') => ValueType::Reference,
        _ => ValueType::Integral,
    }
}

/// What is remembered of one kind of record at one site within a block.
struct EncodedEntry {
    first: First,
    second: Second,
    last_number: u64,
    last_index: u32,
    last_value: i64,
    last_digest: u16,
}

/// A slot of the table that finds a dictionary entry by the low half of a record's head.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// The block that filled the slot: an older one is an empty slot, so that nothing needs clearing.
    block: u32,
    head: u32,
    index: u32,
}

/// Takes records apart; keeps its memory from block to block.
pub(crate) struct Encoder {
    table: Table,
    codes: Vec<u16>,
    /// Room for the most that each column can have; where it ends is known while a block is made.
    columns: [Vec<u8>; COLUMNS],
}

/// The dictionary of a block while it grows.
struct Table {
    slots: Vec<Slot>,
    block: u32,
    entries: Vec<EncodedEntry>,
    dictionary: Vec<u8>,
}

/// What a thread carries from one block to the next.
#[derive(Clone, Copy, Default)]
pub(crate) struct ThreadState {
    /// The sequence number that the thread would see next.
    pub clock: u64,
    /// The last record was a `Stamp`.
    pub stamped: bool,
}

/// Twice the most entries of a block, so that probing always ends.
const SLOTS: usize = 2 * crate::block::MAX_RECORDS;

impl Encoder {
    pub fn new() -> Self {
        Encoder {
            table: Table {
                slots: vec![Slot::default(); SLOTS],
                block: 0,
                entries: Vec::new(),
                dictionary: Vec::new(),
            },
            codes: Vec::new(),
            columns: Default::default(),
        }
    }

    /// Appends the payload for these records, at most [`MAX_RECORDS`](crate::block::MAX_RECORDS), to `out`. None, and
    /// `out` is left alone, if a record's kind is unknown.
    pub fn encode(
        &mut self,
        records: &[RawRecord],
        state: &mut ThreadState,
        types: &ValueTypes,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        self.start(records.len());
        let mut clock = state.clock;
        let mut stamped = state.stamped;
        let mut position = 0u32;
        let mut ends = [0; COLUMNS];
        let [positions, numbers, indices, values, digests, clocks] = &mut self.columns;
        for record in records {
            let index = self.table.entry_index(record, types)?;
            self.codes.push(index as u16);
            let entry = &mut self.table.entries[index];
            put_at(
                positions,
                &mut ends[POSITIONS],
                record.position().wrapping_sub(position).into(),
            );
            position = record.position();
            stamped = false;
            match entry.first {
                First::None => {}
                First::Number => {
                    put_at(
                        numbers,
                        &mut ends[NUMBERS],
                        fold(record.a.wrapping_sub(entry.last_number) as i64),
                    );
                    entry.last_number = record.a;
                }
                First::Element => {
                    let array = record.a >> 32;
                    put_at(
                        numbers,
                        &mut ends[NUMBERS],
                        fold(array.wrapping_sub(entry.last_number) as i64),
                    );
                    entry.last_number = array;
                    let index = record.a as u32;
                    put_at(
                        indices,
                        &mut ends[INDICES],
                        fold(index.wrapping_sub(entry.last_index) as i32 as i64),
                    );
                    entry.last_index = index;
                }
                First::Mark => {
                    put_at(clocks, &mut ends[CLOCKS], fold(record.a.wrapping_sub(clock) as i64));
                    clock = record.a;
                }
                First::Stamp => {
                    put_at(clocks, &mut ends[CLOCKS], fold(record.a.wrapping_sub(clock) as i64));
                    clock = record.a.wrapping_add(1);
                    stamped = true;
                }
            }
            match entry.second {
                Second::None => {}
                Second::Sequence => {
                    put_at(clocks, &mut ends[CLOCKS], fold(record.b.wrapping_sub(clock) as i64));
                    clock = record.b.wrapping_add(1);
                }
                Second::Number => {
                    let value = i64::from(record.b as u32);
                    put_at(values, &mut ends[VALUES], fold(value - entry.last_value));
                    entry.last_value = value;
                }
                Second::Value(ValueType::Integral) => {
                    let value = record.b as i64;
                    if (-EXACT_LIMIT..EXACT_LIMIT).contains(&value) {
                        put_at(values, &mut ends[VALUES], fold(value - entry.last_value) << 1);
                        entry.last_value = value;
                    } else {
                        put_at(values, &mut ends[VALUES], u64::from(digest(record.b)) << 1 | 1);
                    }
                }
                Second::Value(value_type) => {
                    let digest = if value_type == ValueType::Reference {
                        reference_digest(record.b)
                    } else {
                        digest(record.b)
                    };
                    let at = ends[DIGESTS];
                    digests[at..at + 2].copy_from_slice(&(digest ^ entry.last_digest).to_le_bytes());
                    ends[DIGESTS] = at + 2;
                    entry.last_digest = digest;
                }
            }
        }
        *state = ThreadState { clock, stamped };
        self.finish(ends, out);
        Some(())
    }

    fn start(&mut self, records: usize) {
        self.table.start();
        self.codes.clear();
        for column in &mut self.columns {
            if column.len() < records * MAX_LEN {
                column.resize(records * MAX_LEN, 0);
            }
        }
    }

    fn finish(&mut self, ends: [usize; COLUMNS], out: &mut Vec<u8>) {
        let table = &mut self.table;
        put(out, table.entries.len() as u64);
        for end in ends {
            put(out, end as u64);
        }
        out.append(&mut table.dictionary);
        if table.entries.len() <= 256 {
            out.extend(self.codes.iter().map(|code| *code as u8));
        } else {
            out.extend(self.codes.iter().flat_map(|code| code.to_le_bytes()));
        }
        for (column, end) in self.columns.iter().zip(ends) {
            out.extend_from_slice(&column[..end]);
        }
    }
}

impl Table {
    fn start(&mut self) {
        self.block = self.block.wrapping_add(1);
        if self.block == 0 {
            self.slots.fill(Slot::default());
            self.block = 1;
        }
        self.entries.clear();
        self.dictionary.clear();
    }

    #[inline]
    fn entry_index(&mut self, record: &RawRecord, types: &ValueTypes) -> Option<usize> {
        let head = record.head as u32;
        let mut at = head.wrapping_mul(0x9e37_79b9) as usize >> (32 - SLOTS.trailing_zeros());
        loop {
            let slot = self.slots[at];
            if slot.block != self.block {
                return self.add_entry(record, at, types);
            }
            if slot.head == head {
                return Some(slot.index as usize);
            }
            at = (at + 1) % SLOTS;
        }
    }

    #[cold]
    fn add_entry(&mut self, record: &RawRecord, slot: usize, types: &ValueTypes) -> Option<usize> {
        let kind = record.kind()?;
        let hint = types.hint(kind, record.site());
        let (first, second) = shape(kind, hint)?;
        let index = self.entries.len();
        self.slots[slot] = Slot {
            block: self.block,
            head: record.head as u32,
            index: index as u32,
        };
        self.entries.push(EncodedEntry {
            first,
            second,
            last_number: 0,
            last_index: 0,
            last_value: 0,
            last_digest: 0,
        });
        put(&mut self.dictionary, u64::from(record.head as u32));
        self.dictionary.push(hint);
        Some(index)
    }
}
