//! Names as numbers: classes, fields, methods. Numbers are given out in the order of the classes that were read, never by
//! threads, so that everything that is decided by comparing numbers comes out the same on every run.

use rustc_hash::FxHashMap;

/// An interned name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Sym(pub u32);

/// An interned pair of a class and a member of it: the member's name and descriptor are one symbol, `count()I` or
/// `items:I`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PairId(pub u32);

/// All names of a program.
#[derive(Debug, Default)]
pub struct Symbols {
    names: Vec<Box<[u8]>>,
    index: FxHashMap<Box<[u8]>, Sym>,
    pairs: Vec<(Sym, Sym)>,
    pair_index: FxHashMap<(Sym, Sym), PairId>,
}

impl Symbols {
    /// The symbol of a name, made if it is new.
    pub fn intern(&mut self, name: &[u8]) -> Sym {
        if let Some(sym) = self.index.get(name) {
            return *sym;
        }
        let sym = Sym(self.names.len() as u32);
        self.names.push(name.into());
        self.index.insert(name.into(), sym);
        sym
    }

    /// The symbol of a name that was seen.
    pub fn find(&self, name: &[u8]) -> Option<Sym> {
        self.index.get(name).copied()
    }

    /// The number of a class and member, made if it is new.
    pub fn pair(&mut self, class: Sym, member: Sym) -> PairId {
        if let Some(pair) = self.pair_index.get(&(class, member)) {
            return *pair;
        }
        let pair = PairId(self.pairs.len() as u32);
        self.pairs.push((class, member));
        self.pair_index.insert((class, member), pair);
        pair
    }

    /// The number of a class and member that was seen.
    pub fn find_pair(&self, class: Sym, member: Sym) -> Option<PairId> {
        self.pair_index.get(&(class, member)).copied()
    }

    /// The class and the member of a pair.
    pub fn members(&self, pair: PairId) -> (Sym, Sym) {
        self.pairs[pair.0 as usize]
    }

    /// How many pairs there are.
    pub fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    /// The bytes of a name, in modified UTF-8.
    pub fn bytes(&self, sym: Sym) -> &[u8] {
        &self.names[sym.0 as usize]
    }

    /// The text of a name.
    pub fn text(&self, sym: Sym) -> String {
        ravel_classfile::decode_modified_utf8(self.bytes(sym)).into_owned()
    }

    /// A class as people write it: `shop.Stock`.
    pub fn class_text(&self, sym: Sym) -> String {
        self.text(sym).replace('/', ".")
    }

    /// The name of a member without its descriptor.
    pub fn member_name(&self, sym: Sym) -> String {
        let text = self.text(sym);
        let end = text.find([':', '(']).unwrap_or(text.len());
        text[..end].to_owned()
    }
}

/// The name of the outermost class around a class, as far as its name says.
pub(crate) fn outermost(class: &[u8]) -> &[u8] {
    class.split(|byte| *byte == b'$').next().unwrap_or(class)
}

/// The class named by a field descriptor (`Ljava/lang/Object;`); none for arrays and numbers.
pub(crate) fn class_of_descriptor(descriptor: &[u8]) -> Option<&[u8]> {
    descriptor.strip_prefix(b"L")?.strip_suffix(b";")
}

/// The descriptor of a field symbol `items:I`.
pub fn field_descriptor(symbol: &[u8]) -> &[u8] {
    symbol
        .iter()
        .position(|byte| *byte == b':')
        .map_or(&[], |at| &symbol[at + 1..])
}

/// The parameters of a method symbol `add(ILjava/lang/Object;)Z`, each as its descriptor.
pub fn parameters(symbol: &[u8]) -> impl Iterator<Item = &[u8]> {
    let start = symbol
        .iter()
        .position(|byte| *byte == b'(')
        .map_or(symbol.len(), |at| at + 1);
    let mut rest = &symbol[start..];
    std::iter::from_fn(move || {
        let dimensions = rest.iter().take_while(|byte| **byte == b'[').count();
        let length = match rest.get(dimensions)? {
            b')' => return None,
            b'L' => dimensions + rest.get(dimensions..)?.iter().position(|byte| *byte == b';')? + 1,
            _ => dimensions + 1,
        };
        let (first, more) = rest.split_at(length);
        rest = more;
        Some(first)
    })
}

/// The result of a method symbol, as its descriptor.
pub fn result(symbol: &[u8]) -> &[u8] {
    symbol
        .iter()
        .rposition(|byte| *byte == b')')
        .map_or(&[], |at| &symbol[at + 1..])
}

/// The stack slots of a value with this descriptor.
pub fn slots(descriptor: &[u8]) -> usize {
    match descriptor {
        b"J" | b"D" => 2,
        b"V" | b"" => 0,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_taken_apart() {
        let symbol = b"put(Ljava/util/Map;[[I[Ljava/lang/Object;JZ)V";
        let parts: Vec<&[u8]> = parameters(symbol).collect();
        let wanted: [&[u8]; 5] = [b"Ljava/util/Map;", b"[[I", b"[Ljava/lang/Object;", b"J", b"Z"];
        assert_eq!(parts, wanted);
        assert_eq!(result(symbol), b"V");
        assert_eq!(field_descriptor(b"items:[I"), b"[I");
        assert_eq!(parameters(b"broken(Lno/end").count(), 0);
    }
}
