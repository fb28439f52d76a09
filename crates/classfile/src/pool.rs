//! The constant pool: kept as the bytes of the file, decoded one entry at a time, and only ever appended to.
//!
//! Keeping the bytes makes reading a class cheap and writing it back exact. Appending keeps every index in the class valid.

use std::borrow::Cow;

use crate::bytes::{Reader, put_u2, put_u4};
use crate::error::{ErrorKind, Result};

/// The largest number of slots, the unused slot 0 included.
const MAX_SLOTS: usize = 65_535;

/// Where the first entry lies in a class file: after magic, versions and count.
const FIRST_ENTRY: usize = 10;

/// Marks a slot that holds no entry: slot 0, and the second slot of a long or double.
const NO_ENTRY: u32 = u32::MAX;

/// One decoded entry of the constant pool; indices are those of other entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant<'a> {
    /// A string in the class file's modified UTF-8.
    Utf8(&'a [u8]),
    /// An `int`.
    Integer(i32),
    /// A `float`, as its bits.
    Float(u32),
    /// A `long`.
    Long(i64),
    /// A `double`, as its bits.
    Double(u64),
    /// A class or array type, by the index of its name.
    Class(u16),
    /// A string, by the index of its text.
    String(u16),
    /// A field, by the indices of its class and its name and type.
    FieldRef(u16, u16),
    /// A method of a class, by the indices of the class and the name and type.
    MethodRef(u16, u16),
    /// A method of an interface, by the indices of the interface and the name and type.
    InterfaceMethodRef(u16, u16),
    /// A name and a descriptor.
    NameAndType(u16, u16),
    /// A method handle: its kind (1 to 9) and the member.
    MethodHandle(u8, u16),
    /// A method type, by the index of its descriptor.
    MethodType(u16),
    /// A dynamically computed constant: index into `BootstrapMethods`, and the name and type.
    Dynamic(u16, u16),
    /// A dynamically computed call site: index into `BootstrapMethods`, and the name and type.
    InvokeDynamic(u16, u16),
    /// A module, by the index of its name.
    Module(u16),
    /// A package, by the index of its name.
    Package(u16),
}

/// A field or method reference with its names looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRef<'a> {
    /// The class's internal name (`java/lang/Object`).
    pub class: &'a [u8],
    /// The member's name.
    pub name: &'a [u8],
    /// The member's descriptor.
    pub descriptor: &'a [u8],
    /// Whether it is a method of an interface.
    pub interface: bool,
}

/// The constant pool of a class.
#[derive(Debug, Clone, Default)]
pub struct ConstantPool {
    /// All entries as they stand in the file, tags included.
    raw: Vec<u8>,
    /// For each slot the position of its tag in `raw`.
    entries: Vec<u32>,
    /// Finds equal entries; built when the first constant is added.
    index: Option<Index>,
}

impl PartialEq for ConstantPool {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for ConstantPool {}

impl ConstantPool {
    /// An empty pool.
    pub fn new() -> Self {
        ConstantPool {
            raw: Vec::new(),
            entries: vec![NO_ENTRY],
            index: None,
        }
    }

    /// The pool that these bytes begin with: its count and its entries, as in a class file.
    ///
    /// # Errors
    ///
    /// If they are cut off or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::parse(&mut Reader::new(bytes, 0))
    }

    /// Reads the pool with its count; `reader` stands on the count.
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Self> {
        let count_at = reader.offset();
        let count = usize::from(reader.u2()?);
        if count == 0 {
            return Err(ErrorKind::Malformed("constant-pool count").at(count_at));
        }
        let mut rest = reader.clone();
        let start = rest.position();
        let mut entries = Vec::with_capacity(count.min(rest.left() / 3 + 2));
        entries.push(NO_ENTRY);
        while entries.len() < count {
            let at = rest.offset();
            entries.push((rest.position() - start) as u32);
            let tag = rest.u1()?;
            let length = match tag {
                tag::UTF8 => usize::from(rest.u2()?),
                tag => fixed_length(tag).ok_or_else(|| ErrorKind::BadConstantTag(tag).at(at))?,
            };
            rest.take(length)?;
            if is_wide(tag) {
                entries.push(NO_ENTRY);
            }
        }
        if entries.len() > count {
            return Err(ErrorKind::Malformed("constant pool: its last entry needs two slots").at(count_at));
        }
        let raw = reader.take(rest.position() - start)?.to_vec();
        Ok(ConstantPool {
            raw,
            entries,
            index: None,
        })
    }

    /// Appends the count and all entries.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        // `add` never lets the pool outgrow its count.
        put_u2(out, self.entries.len() as u16);
        out.extend_from_slice(&self.raw);
    }

    /// How many bytes `write` appends.
    pub(crate) fn written_len(&self) -> usize {
        2 + self.raw.len()
    }

    /// The number of slots, the unused slot 0 included: the `constant_pool_count` of the file.
    pub fn count(&self) -> u16 {
        self.entries.len() as u16
    }

    /// The indices that hold an entry, in order.
    pub fn indices(&self) -> impl Iterator<Item = u16> + '_ {
        self.entries
            .iter()
            .enumerate()
            .filter(|(_, at)| **at != NO_ENTRY)
            .map(|(index, _)| index as u16)
    }

    /// The offset in the file of an entry, for error messages.
    fn offset(&self, index: u16) -> usize {
        match self.entries.get(usize::from(index)) {
            Some(&at) if at != NO_ENTRY => FIRST_ENTRY + at as usize,
            _ => FIRST_ENTRY - 2,
        }
    }

    fn wrong(&self, index: u16, wanted: &'static str) -> crate::ClassError {
        ErrorKind::WrongConstant { index, wanted }.at(self.offset(index))
    }

    #[inline]
    fn entry(&self, index: u16) -> Result<&[u8]> {
        self.entries
            .get(usize::from(index))
            .and_then(|&at| self.raw.get(at as usize..))
            .ok_or_else(|| ErrorKind::BadConstantIndex(index).at(self.offset(index)))
    }

    /// The entry at `index`.
    pub fn get(&self, index: u16) -> Result<Constant<'_>> {
        let mut r = Reader::new(self.entry(index)?, self.offset(index));
        Ok(match r.u1()? {
            tag::UTF8 => {
                let length = r.u2()?;
                Constant::Utf8(r.take(usize::from(length))?)
            }
            tag::INTEGER => Constant::Integer(r.i4()?),
            tag::FLOAT => Constant::Float(r.u4()?),
            tag::LONG => Constant::Long((i64::from(r.i4()?) << 32) | i64::from(r.u4()?)),
            tag::DOUBLE => Constant::Double((u64::from(r.u4()?) << 32) | u64::from(r.u4()?)),
            tag::CLASS => Constant::Class(r.u2()?),
            tag::STRING => Constant::String(r.u2()?),
            tag::FIELD_REF => Constant::FieldRef(r.u2()?, r.u2()?),
            tag::METHOD_REF => Constant::MethodRef(r.u2()?, r.u2()?),
            tag::INTERFACE_METHOD_REF => Constant::InterfaceMethodRef(r.u2()?, r.u2()?),
            tag::NAME_AND_TYPE => Constant::NameAndType(r.u2()?, r.u2()?),
            tag::METHOD_HANDLE => Constant::MethodHandle(r.u1()?, r.u2()?),
            tag::METHOD_TYPE => Constant::MethodType(r.u2()?),
            tag::DYNAMIC => Constant::Dynamic(r.u2()?, r.u2()?),
            tag::INVOKE_DYNAMIC => Constant::InvokeDynamic(r.u2()?, r.u2()?),
            tag::MODULE => Constant::Module(r.u2()?),
            tag::PACKAGE => Constant::Package(r.u2()?),
            tag => return Err(ErrorKind::BadConstantTag(tag).at(self.offset(index))),
        })
    }

    /// The bytes of a `Utf8` entry, in modified UTF-8.
    #[inline]
    pub fn utf8(&self, index: u16) -> Result<&[u8]> {
        match self.entry(index)? {
            [tag::UTF8, high, low, rest @ ..] => {
                let length = usize::from(u16::from_be_bytes([*high, *low]));
                rest.get(..length).ok_or_else(|| self.wrong(index, "Utf8"))
            }
            _ => Err(self.wrong(index, "Utf8")),
        }
    }

    /// The text of a `Utf8` entry; what is not a Unicode character (a lone surrogate) becomes `U+FFFD`.
    pub fn text(&self, index: u16) -> Result<Cow<'_, str>> {
        self.utf8(index).map(decode_modified_utf8)
    }

    /// The internal name of a `Class` entry (`java/lang/Object`, `[I`).
    #[inline]
    pub fn class_name(&self, index: u16) -> Result<&[u8]> {
        match self.get(index)? {
            Constant::Class(name) => self.utf8(name),
            _ => Err(self.wrong(index, "Class")),
        }
    }

    /// The name of a `Module` entry.
    pub fn module_name(&self, index: u16) -> Result<&[u8]> {
        match self.get(index)? {
            Constant::Module(name) => self.utf8(name),
            _ => Err(self.wrong(index, "Module")),
        }
    }

    /// The name of a `Package` entry.
    pub fn package_name(&self, index: u16) -> Result<&[u8]> {
        match self.get(index)? {
            Constant::Package(name) => self.utf8(name),
            _ => Err(self.wrong(index, "Package")),
        }
    }

    /// The text of a `String` entry, in modified UTF-8.
    pub fn string(&self, index: u16) -> Result<&[u8]> {
        match self.get(index)? {
            Constant::String(text) => self.utf8(text),
            _ => Err(self.wrong(index, "String")),
        }
    }

    /// The name and the descriptor of a `NameAndType` entry.
    pub fn name_and_type(&self, index: u16) -> Result<(&[u8], &[u8])> {
        match self.get(index)? {
            Constant::NameAndType(name, descriptor) => Ok((self.utf8(name)?, self.utf8(descriptor)?)),
            _ => Err(self.wrong(index, "NameAndType")),
        }
    }

    /// The names of a `FieldRef`, `MethodRef` or `InterfaceMethodRef` entry.
    pub fn member_ref(&self, index: u16) -> Result<MemberRef<'_>> {
        let (class, name_and_type, interface) = match self.get(index)? {
            Constant::FieldRef(class, member) | Constant::MethodRef(class, member) => (class, member, false),
            Constant::InterfaceMethodRef(class, member) => (class, member, true),
            _ => return Err(self.wrong(index, "field or method reference")),
        };
        let (name, descriptor) = self.name_and_type(name_and_type)?;
        Ok(MemberRef {
            class: self.class_name(class)?,
            name,
            descriptor,
            interface,
        })
    }

    /// The name and descriptor of a `Dynamic` or `InvokeDynamic` entry, with its index into `BootstrapMethods`.
    pub fn dynamic(&self, index: u16) -> Result<(u16, &[u8], &[u8])> {
        match self.get(index)? {
            Constant::Dynamic(bootstrap, member) | Constant::InvokeDynamic(bootstrap, member) => {
                let (name, descriptor) = self.name_and_type(member)?;
                Ok((bootstrap, name, descriptor))
            }
            _ => Err(self.wrong(index, "Dynamic or InvokeDynamic")),
        }
    }

    /// The index of an entry equal to the encoded one, if there is one already. Builds the look-up table.
    fn find(&mut self, entry: &[u8]) -> Option<u16> {
        let ConstantPool { raw, entries, index } = self;
        index
            .get_or_insert_with(|| Index::of(raw, entries))
            .find(raw, entries, entry)
    }

    /// Adds an encoded entry unless an equal one is there; returns its index.
    fn add(&mut self, entry: &[u8]) -> Result<u16> {
        if let Some(index) = self.find(entry) {
            return Ok(index);
        }
        let slots = if entry.first().copied().is_some_and(is_wide) {
            2
        } else {
            1
        };
        if self.entries.len() + slots > MAX_SLOTS {
            return Err(ErrorKind::PoolFull.at(FIRST_ENTRY - 2));
        }
        let slot = self.entries.len() as u16;
        self.entries.push(self.raw.len() as u32);
        self.entries.extend((1..slots).map(|_| NO_ENTRY));
        self.raw.extend_from_slice(entry);
        let ConstantPool { raw, entries, index } = self;
        if let Some(index) = index {
            index.insert(raw, entries, slot);
        }
        Ok(slot)
    }

    fn add_two(&mut self, tag: u8, first: u16, second: u16) -> Result<u16> {
        let ([a, b], [c, d]) = (first.to_be_bytes(), second.to_be_bytes());
        self.add(&[tag, a, b, c, d])
    }

    fn add_one(&mut self, tag: u8, first: u16) -> Result<u16> {
        let [a, b] = first.to_be_bytes();
        self.add(&[tag, a, b])
    }

    /// The index of a string in modified UTF-8, added if need be.
    pub fn add_utf8_bytes(&mut self, text: &[u8]) -> Result<u16> {
        let length =
            u16::try_from(text.len()).map_err(|_| ErrorKind::TooMany("a string's bytes").at(FIRST_ENTRY - 2))?;
        let mut entry = Vec::with_capacity(3 + text.len());
        entry.push(tag::UTF8);
        put_u2(&mut entry, length);
        entry.extend_from_slice(text);
        self.add(&entry)
    }

    /// The index of a string, added if need be.
    pub fn add_utf8(&mut self, text: &str) -> Result<u16> {
        self.add_utf8_bytes(&encode_modified_utf8(text))
    }

    /// The index of a class by internal name, added if need be.
    pub fn add_class(&mut self, name: &str) -> Result<u16> {
        let name = self.add_utf8(name)?;
        self.add_one(tag::CLASS, name)
    }

    /// The index of a string constant, added if need be.
    pub fn add_string(&mut self, text: &str) -> Result<u16> {
        let text = self.add_utf8(text)?;
        self.add_one(tag::STRING, text)
    }

    /// The index of a name and descriptor, added if need be.
    pub fn add_name_and_type(&mut self, name: &str, descriptor: &str) -> Result<u16> {
        let (name, descriptor) = (self.add_utf8(name)?, self.add_utf8(descriptor)?);
        self.add_two(tag::NAME_AND_TYPE, name, descriptor)
    }

    fn add_member(&mut self, tag: u8, class: &str, name: &str, descriptor: &str) -> Result<u16> {
        let class = self.add_class(class)?;
        let member = self.add_name_and_type(name, descriptor)?;
        self.add_two(tag, class, member)
    }

    /// The index of a field reference, added if need be.
    pub fn add_field_ref(&mut self, class: &str, name: &str, descriptor: &str) -> Result<u16> {
        self.add_member(tag::FIELD_REF, class, name, descriptor)
    }

    /// The index of a reference to a method of a class, added if need be.
    pub fn add_method_ref(&mut self, class: &str, name: &str, descriptor: &str) -> Result<u16> {
        self.add_member(tag::METHOD_REF, class, name, descriptor)
    }

    /// The index of a reference to a method of an interface, added if need be.
    pub fn add_interface_method_ref(&mut self, class: &str, name: &str, descriptor: &str) -> Result<u16> {
        self.add_member(tag::INTERFACE_METHOD_REF, class, name, descriptor)
    }

    /// The index of an `int`, added if need be.
    pub fn add_integer(&mut self, value: i32) -> Result<u16> {
        let mut entry = vec![tag::INTEGER];
        put_u4(&mut entry, value as u32);
        self.add(&entry)
    }

    /// The index of a `float` given by its bits, added if need be.
    pub fn add_float(&mut self, bits: u32) -> Result<u16> {
        let mut entry = vec![tag::FLOAT];
        put_u4(&mut entry, bits);
        self.add(&entry)
    }

    /// The index of a `long`, added if need be.
    pub fn add_long(&mut self, value: i64) -> Result<u16> {
        let mut entry = vec![tag::LONG];
        entry.extend_from_slice(&value.to_be_bytes());
        self.add(&entry)
    }

    /// The index of a `double` given by its bits, added if need be.
    pub fn add_double(&mut self, bits: u64) -> Result<u16> {
        let mut entry = vec![tag::DOUBLE];
        entry.extend_from_slice(&bits.to_be_bytes());
        self.add(&entry)
    }

    /// The index of a method handle of `kind` (1 to 9) on the member at `reference`, added if need be.
    pub fn add_method_handle(&mut self, kind: u8, reference: u16) -> Result<u16> {
        let [a, b] = reference.to_be_bytes();
        self.add(&[tag::METHOD_HANDLE, kind, a, b])
    }

    /// The index of a method type, added if need be.
    pub fn add_method_type(&mut self, descriptor: &str) -> Result<u16> {
        let descriptor = self.add_utf8(descriptor)?;
        self.add_one(tag::METHOD_TYPE, descriptor)
    }

    /// The index of an `invokedynamic` call site, added if need be; `bootstrap` is an index into `BootstrapMethods`.
    pub fn add_invoke_dynamic(&mut self, bootstrap: u16, name: &str, descriptor: &str) -> Result<u16> {
        let member = self.add_name_and_type(name, descriptor)?;
        self.add_two(tag::INVOKE_DYNAMIC, bootstrap, member)
    }

    /// Replaces texts: `edit` gets each `Utf8` entry and gives the one that takes its place, or none to keep it. Indices stay as they are.
    ///
    /// # Errors
    ///
    /// If a new text is too long.
    pub fn replace_utf8(&mut self, mut edit: impl FnMut(&[u8]) -> Option<Vec<u8>>) -> Result<()> {
        let mut raw = Vec::with_capacity(self.raw.len());
        let mut entries = self.entries.clone();
        for (slot, &at) in self.entries.iter().enumerate() {
            if at == NO_ENTRY {
                continue;
            }
            entries[slot] = raw.len() as u32;
            let entry = entry_bytes(&self.raw, &self.entries, slot as u16);
            let new = match entry.split_at_checked(3) {
                Some(([tag::UTF8, ..], text)) => edit(text),
                _ => None,
            };
            let Some(text) = new else {
                raw.extend_from_slice(entry);
                continue;
            };
            let length =
                u16::try_from(text.len()).map_err(|_| ErrorKind::TooMany("a string's bytes").at(FIRST_ENTRY - 2))?;
            raw.push(tag::UTF8);
            put_u2(&mut raw, length);
            raw.extend_from_slice(&text);
        }
        (self.raw, self.entries, self.index) = (raw, entries, None);
        Ok(())
    }

    /// The index of an existing `Utf8` entry, if there is one.
    pub fn find_utf8(&mut self, text: &str) -> Option<u16> {
        let text = encode_modified_utf8(text);
        let mut entry = vec![tag::UTF8];
        put_u2(&mut entry, u16::try_from(text.len()).ok()?);
        entry.extend_from_slice(&text);
        self.find(&entry)
    }
}

/// The tags of the entries.
mod tag {
    pub const UTF8: u8 = 1;
    pub const INTEGER: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const LONG: u8 = 5;
    pub const DOUBLE: u8 = 6;
    pub const CLASS: u8 = 7;
    pub const STRING: u8 = 8;
    pub const FIELD_REF: u8 = 9;
    pub const METHOD_REF: u8 = 10;
    pub const INTERFACE_METHOD_REF: u8 = 11;
    pub const NAME_AND_TYPE: u8 = 12;
    pub const METHOD_HANDLE: u8 = 15;
    pub const METHOD_TYPE: u8 = 16;
    pub const DYNAMIC: u8 = 17;
    pub const INVOKE_DYNAMIC: u8 = 18;
    pub const MODULE: u8 = 19;
    pub const PACKAGE: u8 = 20;
}

/// Whether an entry with this tag takes two slots.
fn is_wide(tag: u8) -> bool {
    tag == tag::LONG || tag == tag::DOUBLE
}

/// The bytes that follow the tag of an entry of fixed size.
fn fixed_length(tag: u8) -> Option<usize> {
    Some(match tag {
        tag::CLASS | tag::STRING | tag::METHOD_TYPE | tag::MODULE | tag::PACKAGE => 2,
        tag::METHOD_HANDLE => 3,
        tag::INTEGER | tag::FLOAT | tag::FIELD_REF | tag::METHOD_REF | tag::INTERFACE_METHOD_REF => 4,
        tag::NAME_AND_TYPE | tag::DYNAMIC | tag::INVOKE_DYNAMIC => 4,
        tag::LONG | tag::DOUBLE => 8,
        _ => return None,
    })
}

/// An open-addressing hash table from entry bytes to slots; it keeps no copy of the bytes.
///
/// A search looks at a bounded number of cells, whatever the hashes: a hostile pool can make it miss an entry, which
/// then is added a second time (that is allowed), but cannot make it slow.
#[derive(Debug, Clone)]
struct Index {
    /// Slots by hash; 0 is free, as slot 0 holds no entry.
    table: Vec<u16>,
    used: usize,
}

/// How many cells a search looks at; with at most three of four cells used, real pools need a handful.
const MAX_PROBES: usize = 64;

impl Index {
    fn of(raw: &[u8], entries: &[u32]) -> Index {
        // Twice the entries and some room: instrumentation adds a few dozen.
        let size = (entries.len() * 2 + 128).next_power_of_two();
        let mut index = Index {
            table: vec![0; size],
            used: 0,
        };
        for (slot, &at) in entries.iter().enumerate() {
            if at != NO_ENTRY {
                index.insert(raw, entries, slot as u16);
            }
        }
        index
    }

    fn insert(&mut self, raw: &[u8], entries: &[u32], slot: u16) {
        if self.used * 4 > self.table.len() * 3 {
            let mut table = vec![0; self.table.len() * 2];
            std::mem::swap(&mut table, &mut self.table);
            for old in table.into_iter().filter(|slot| *slot != 0) {
                self.place(raw, entries, old);
            }
        }
        self.place(raw, entries, slot);
        self.used += 1;
    }

    fn place(&mut self, raw: &[u8], entries: &[u32], slot: u16) {
        let entry = entry_bytes(raw, entries, slot);
        if let Some(cell) = self.probe(raw, entries, entry)
            && let Some(cell @ 0) = self.table.get_mut(cell)
        {
            *cell = slot;
        }
    }

    fn find(&self, raw: &[u8], entries: &[u32], wanted: &[u8]) -> Option<u16> {
        let cell = self.probe(raw, entries, wanted)?;
        self.table.get(cell).copied().filter(|slot| *slot != 0)
    }

    /// The cell that holds an entry equal to `wanted`, or the free one where it belongs.
    fn probe(&self, raw: &[u8], entries: &[u32], wanted: &[u8]) -> Option<usize> {
        let mask = self.table.len() - 1;
        let first = hash(wanted) as usize;
        (0..MAX_PROBES)
            .map(|step| first.wrapping_add(step) & mask)
            .find(|cell| match self.table.get(*cell) {
                Some(0) => true,
                Some(slot) => entry_bytes(raw, entries, *slot) == wanted,
                None => false,
            })
    }
}

/// The bytes of the entry in `slot`, tag included; empty if there is none.
fn entry_bytes<'a>(raw: &'a [u8], entries: &[u32], slot: u16) -> &'a [u8] {
    let entry = entries
        .get(usize::from(slot))
        .and_then(|&at| raw.get(at as usize..))
        .unwrap_or_default();
    let length = match entry {
        [tag::UTF8, high, low, ..] => 3 + usize::from(u16::from_be_bytes([*high, *low])),
        [tag, ..] => 1 + fixed_length(*tag).unwrap_or(0),
        [] => 0,
    };
    entry.get(..length).unwrap_or_default()
}

/// A multiply-and-rotate hash over eight bytes at a time.
fn hash(bytes: &[u8]) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = bytes.len() as u64;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        state = (state.rotate_left(5) ^ u64::from_le_bytes(*chunk)).wrapping_mul(K);
    }
    let mut tail = [0; 8];
    for (to, from) in tail.iter_mut().zip(rest) {
        *to = *from;
    }
    state = (state.rotate_left(5) ^ u64::from_le_bytes(tail)).wrapping_mul(K);
    state ^ (state >> 29)
}

/// Decodes the modified UTF-8 of class files; what is not a character becomes `U+FFFD`.
pub fn decode_modified_utf8(bytes: &[u8]) -> Cow<'_, str> {
    // Both encodings agree but for NUL (never one byte here), and characters beyond U+FFFF, which need four bytes in
    // UTF-8 and a pair of three-byte surrogates here; surrogates are not valid UTF-8.
    if let Ok(text) = std::str::from_utf8(bytes)
        && !bytes.iter().any(|byte| *byte >= 0xf0)
    {
        return Cow::Borrowed(text);
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        let (unit, length) = match (first, tail) {
            (0..=0x7f, _) => (u16::from(*first), 1),
            (0xc0..=0xdf, [a @ 0x80..=0xbf, ..]) => ((u16::from(first & 0x1f) << 6) | u16::from(a & 0x3f), 2),
            (0xe0..=0xef, [a @ 0x80..=0xbf, b @ 0x80..=0xbf, ..]) => (
                (u16::from(first & 0x0f) << 12) | (u16::from(a & 0x3f) << 6) | u16::from(b & 0x3f),
                3,
            ),
            _ => (0xfffd, 1),
        };
        units.push(unit);
        rest = rest.get(length..).unwrap_or_default();
    }
    Cow::Owned(String::from_utf16_lossy(&units))
}

/// Encodes text as the modified UTF-8 of class files.
pub fn encode_modified_utf8(text: &str) -> Cow<'_, [u8]> {
    if !text.bytes().any(|byte| byte == 0 || byte >= 0xf0) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    for unit in text.encode_utf16() {
        match unit {
            1..=0x7f => out.push(unit as u8),
            0 | 0x80..=0x7ff => out.extend([0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]),
            _ => out.extend([
                0xe0 | (unit >> 12) as u8,
                0x80 | ((unit >> 6) & 0x3f) as u8,
                0x80 | (unit & 0x3f) as u8,
            ]),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_constants_share_an_index() {
        let mut pool = ConstantPool::new();
        let a = pool.add_method_ref("a/B", "m", "()V").expect("room");
        let b = pool.add_method_ref("a/B", "m", "()V").expect("room");
        let c = pool.add_method_ref("a/B", "m", "()I").expect("room");
        assert_eq!(a, b);
        assert_ne!(a, c);
        let found = pool.member_ref(c).expect("present");
        assert_eq!(
            (found.class, found.name, found.descriptor),
            (&b"a/B"[..], &b"m"[..], &b"()I"[..])
        );
    }

    #[test]
    fn a_long_takes_two_slots() {
        let mut pool = ConstantPool::new();
        let long = pool.add_long(-5).expect("room");
        let int = pool.add_integer(7).expect("room");
        assert_eq!(int, long + 2);
        assert_eq!(pool.get(long), Ok(Constant::Long(-5)));
        assert!(pool.get(long + 1).is_err(), "the second slot holds nothing");
        assert_eq!(pool.indices().collect::<Vec<_>>(), vec![long, int]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "65,535 entries take Miri too long")]
    fn a_full_pool_is_an_error_and_stays_usable() {
        let mut pool = ConstantPool::new();
        for value in 0..65_533 {
            pool.add_integer(value).expect("room");
        }
        assert_eq!(pool.add_long(1).expect_err("one slot left").kind, ErrorKind::PoolFull);
        assert_eq!(pool.add_integer(-1), Ok(65_534));
        assert_eq!(pool.add_integer(-2).expect_err("full").kind, ErrorKind::PoolFull);
        assert_eq!(pool.add_integer(77), Ok(78));
    }

    #[test]
    #[cfg_attr(miri, ignore = "65,535 entries take Miri too long")]
    fn a_pool_of_equal_entries_is_indexed_quickly() {
        let mut bytes = vec![0xff, 0xff];
        for _ in 1..65_535 {
            bytes.extend([tag::UTF8, 0, 1, b'x']);
        }
        let mut pool = ConstantPool::parse(&mut Reader::new(&bytes, 8)).expect("valid");
        let start = std::time::Instant::now();
        assert_eq!(pool.find_utf8("x"), Some(1));
        assert!(start.elapsed().as_millis() < 500, "{:?}", start.elapsed());
    }

    #[test]
    fn modified_utf8_keeps_nul_and_emoji() {
        for text in ["", "plain", "\0", "né", "a\u{1F600}b", "\u{FFFF}"] {
            assert_eq!(decode_modified_utf8(&encode_modified_utf8(text)), text);
        }
        assert_eq!(&*encode_modified_utf8("\0"), &[0xc0, 0x80]);
        assert_eq!(
            decode_modified_utf8(&[0xed, 0xa0, 0x80]),
            "\u{FFFD}",
            "a lone surrogate"
        );
        assert_eq!(decode_modified_utf8(&[0xff, b'a', 0xe0]), "\u{FFFD}a\u{FFFD}");
    }
}
