//! One entry of the location table of a `modules` file: a short list of attributes.

/// What the table says about a resource; strings are positions in the string table.
#[derive(Debug, Default)]
pub(super) struct Location {
    pub module: u64,
    pub parent: u64,
    pub base: u64,
    pub extension: u64,
    /// Relative to the first resource.
    pub offset: u64,
    /// The compressed length; 0 if it is not compressed.
    pub compressed: u64,
    /// The length when unpacked.
    pub length: u64,
}

impl Location {
    /// Reads attributes up to the end mark. Each is one byte, its kind in the upper five bits and one less than the
    /// length of its value in the lower three, followed by the value, high byte first.
    pub fn parse(mut bytes: &[u8]) -> Option<Location> {
        let mut location = Location::default();
        loop {
            let (head, rest) = bytes.split_first()?;
            let kind = head >> 3;
            if kind == 0 {
                return Some(location);
            }
            let (value, rest) = rest.split_at_checked(usize::from(head & 7) + 1)?;
            let value = value.iter().fold(0, |value, byte| (value << 8) | u64::from(*byte));
            match kind {
                1 => location.module = value,
                2 => location.parent = value,
                3 => location.base = value,
                4 => location.extension = value,
                5 => location.offset = value,
                6 => location.compressed = value,
                7 => location.length = value,
                _ => return None,
            }
            bytes = rest;
        }
    }
}
