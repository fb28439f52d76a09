//! Numbers of one to ten bytes, the small ones short: what every part of the file format is made of.
//!
//! Seven bits a byte, least significant first, the top bit set on all but the last. Signed numbers are folded first
//! (0, -1, 1, -2, …) so that small ones of either sign are short.

/// Appends a number.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The most bytes that a number has.
pub(crate) const MAX_LEN: usize = 10;

/// Writes a number at `at`, where there is room for it, and moves `at` past it.
#[inline]
pub(crate) fn put_at(out: &mut [u8], at: &mut usize, mut value: u64) {
    let mut end = *at;
    while value >= 0x80 {
        out[end] = value as u8 | 0x80;
        value >>= 7;
        end += 1;
    }
    out[end] = value as u8;
    *at = end + 1;
}

/// Takes the number at `at` and moves `at` past it; none if it does not end, or does not fit 64 bits.
#[inline]
pub(crate) fn get(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    *at += 1;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    get_rest(bytes, at, first)
}

#[inline]
fn get_rest(bytes: &[u8], at: &mut usize, first: u8) -> Option<u64> {
    let mut value = u64::from(first & 0x7f);
    let mut shift = 7;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if shift == 63 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
        shift += 7;
    }
}

/// Folds a signed number into an unsigned one.
#[inline]
pub(crate) fn fold(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The reverse of [`fold`].
#[inline]
pub(crate) fn unfold(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Appends a string: its length in bytes, then its bytes.
pub(crate) fn put_str(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Takes a string; none if it is longer than what is left. Bytes that are no UTF-8 are replaced.
pub(crate) fn get_str(bytes: &[u8], at: &mut usize) -> Option<String> {
    Some(String::from_utf8_lossy(get_slice(bytes, at)?).into_owned())
}

/// Takes a stretch of bytes that its length precedes; none if it is longer than what is left.
pub(crate) fn get_slice<'a>(bytes: &'a [u8], at: &mut usize) -> Option<&'a [u8]> {
    let length = usize::try_from(get(bytes, at)?).ok()?;
    let end = at.checked_add(length)?;
    let slice = bytes.get(*at..end)?;
    *at = end;
    Some(slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_at_the_edges() {
        for shift in 0..64 {
            for value in [(1u64 << shift) - 1, 1 << shift, u64::MAX >> shift] {
                let mut bytes = Vec::new();
                put(&mut bytes, value);
                let mut at = 0;
                assert_eq!(get(&bytes, &mut at), Some(value));
                assert_eq!(at, bytes.len());
                assert_eq!(unfold(fold(value as i64)), value as i64);
            }
        }
    }

    #[test]
    fn too_long_or_unfinished_numbers_are_refused() {
        assert_eq!(get(&[0x80], &mut 0), None);
        assert_eq!(get(&[0xff; 11], &mut 0), None);
        assert_eq!(
            get(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2], &mut 0),
            None
        );
        assert_eq!(get(&[], &mut 0), None);
        assert_eq!(get_str(&[5, b'a'], &mut 0), None);
    }
}
