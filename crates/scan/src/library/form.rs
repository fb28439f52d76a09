//! The file form of a library: numbers of seven bits a byte, names once each, in the order of their first use.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::read::Reader;
use super::write::{Numbering, Writer};
use crate::program::Program;
use crate::symbols::{PairId, Sym};

const MAGIC: &[u8; 8] = b"RAVELJDK";

/// Magic and checksum.
const HEADER: usize = 16;

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// The file.
pub(super) fn encode(program: &Program) -> Vec<u8> {
    let mut writer = Writer {
        out: Vec::new(),
        symbols: &program.symbols,
        names: Numbering::default(),
        pairs: Numbering::default(),
    };
    writer.counts(&program.counts);
    writer.list(&program.classes, |writer, class| writer.class(program, class));
    writer.list(&program.lent.exprs, |writer, node| writer.node(*node));
    writer.list(&program.lent.held, |writer, (method, set)| {
        writer.number(method.0);
        writer.list(set, Writer::entry);
    });
    let body = std::mem::take(&mut writer.out);
    // Naming the pairs numbers their names.
    let pairs = std::mem::take(&mut writer.pairs.order);
    writer.list(&pairs, |writer, pair| {
        let (class, member) = program.symbols.members(PairId(*pair));
        writer.sym(class);
        writer.sym(member);
    });
    let pairs = std::mem::take(&mut writer.out);
    let names = std::mem::take(&mut writer.names.order);
    writer.list(&names, |writer, name| writer.bytes(program.symbols.bytes(Sym(*name))));
    let mut payload = std::mem::take(&mut writer.out);
    payload.extend(pairs);
    payload.extend(body);
    let mut file = Vec::with_capacity(HEADER + payload.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&checksum(&payload).to_le_bytes());
    file.extend(payload);
    file
}

/// The program in a file; none if the file is damaged.
pub(super) fn decode(file: &[u8]) -> Option<Program> {
    let (header, payload) = file.split_at_checked(HEADER)?;
    let (magic, sum) = header.split_at(MAGIC.len());
    if magic != MAGIC || sum != checksum(payload).to_le_bytes() {
        return None;
    }
    let mut reader = Reader {
        bytes: payload,
        names: 0,
        pairs: 0,
    };
    let mut program = Program::default();
    for _ in 0..reader.number()? {
        program.symbols.intern(reader.bytes()?);
        reader.names += 1;
    }
    for _ in 0..reader.number()? {
        let (class, member) = (reader.sym()?, reader.sym()?);
        program.symbols.pair(class, member);
        reader.pairs += 1;
    }
    program.counts = reader.counts()?;
    for _ in 0..reader.number()? {
        reader.class(&mut program)?;
    }
    program.lent = reader.lent(program.methods.len() as u32)?;
    reader.bytes.is_empty().then_some(program)
}
