//! Bounds-checked big-endian reading and writing, the only place where bytes become numbers.

use crate::error::{ErrorKind, Result};

/// A cursor over bytes that knows where they lie in the file, so that its errors can say so.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    base: usize,
    nesting: u32,
}

/// How deep structures may nest in each other; deeper is not a program but an attack on the stack.
const MAX_NESTING: u32 = 64;

impl<'a> Reader<'a> {
    /// A reader of `bytes`, which start at `base` in the file.
    pub fn new(bytes: &'a [u8], base: usize) -> Self {
        Reader {
            bytes,
            position: 0,
            base,
            nesting: 0,
        }
    }

    /// The current position relative to the start of the bytes.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The current position in the file.
    pub fn offset(&self) -> usize {
        self.base + self.position
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.position
    }

    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        match self.bytes.get(self.position..).and_then(|rest| rest.get(..count)) {
            Some(slice) => {
                self.position += count;
                Ok(slice)
            }
            None => Err(ErrorKind::UnexpectedEnd {
                needed: count,
                left: self.left(),
            }
            .at(self.offset())),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.bytes.get(self.position..).and_then(|rest| rest.first_chunk::<N>()) {
            Some(chunk) => {
                self.position += N;
                Ok(*chunk)
            }
            None => Err(ErrorKind::UnexpectedEnd {
                needed: N,
                left: self.left(),
            }
            .at(self.offset())),
        }
    }

    #[inline]
    pub fn u1(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub fn u2(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    #[inline]
    pub fn u4(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    #[inline]
    pub fn i2(&mut self) -> Result<i16> {
        self.array().map(i16::from_be_bytes)
    }

    #[inline]
    pub fn i4(&mut self) -> Result<i32> {
        self.array().map(i32::from_be_bytes)
    }

    /// A list with a `u2` count, each element read by `read`. Memory grows with what is there, not with the count.
    pub fn list2<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count = self.u2()?;
        let room = self.left() / size_of::<T>().max(1);
        let mut list = Vec::with_capacity(usize::from(count).min(room));
        for _ in 0..count {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// Reads something that can contain its own kind.
    pub fn nested<T>(&mut self, what: &'static str, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.nesting >= MAX_NESTING {
            return Err(ErrorKind::Malformed(what).at(self.offset()));
        }
        self.nesting += 1;
        let value = read(self);
        self.nesting -= 1;
        value
    }

    /// Fails when bytes are left over.
    pub fn end(&self) -> Result<()> {
        match self.left() {
            0 => Ok(()),
            left => Err(ErrorKind::TrailingBytes(left).at(self.offset())),
        }
    }
}

/// Appends a big-endian `u2`.
pub(crate) fn put_u2(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends a big-endian `u4`.
pub(crate) fn put_u4(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends a length as `u2`, or fails naming `what` is too many.
pub(crate) fn put_count(out: &mut Vec<u8>, count: usize, what: &'static str) -> Result<()> {
    let count = u16::try_from(count).map_err(|_| ErrorKind::TooMany(what).at(out.len()))?;
    put_u2(out, count);
    Ok(())
}

/// Appends a list with a `u2` count.
pub(crate) fn put_list<T>(
    out: &mut Vec<u8>,
    list: &[T],
    what: &'static str,
    mut put: impl FnMut(&mut Vec<u8>, &T) -> Result<()>,
) -> Result<()> {
    put_count(out, list.len(), what)?;
    for item in list {
        put(out, item)?;
    }
    Ok(())
}
