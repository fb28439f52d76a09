//! Large tables that instrumented code reads by address: reserved at once, backed by memory only where they are used.

use std::marker::PhantomData;

/// Zeroed memory for `count` values of `T`, aligned to a page, never moved, never given back.
pub struct Region<T> {
    start: *mut T,
    count: usize,
    of: PhantomData<T>,
}

impl<T> Region<T> {
    /// Reserves the memory.
    pub fn new(count: usize) -> Result<Self, String> {
        // SAFETY: an anonymous private mapping at an address of the kernel's choice touches nothing that exists.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                count * size_of::<T>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(format!("cannot reserve {} bytes of memory", count * size_of::<T>()));
        }
        Ok(Region {
            start: start.cast(),
            count,
            of: PhantomData,
        })
    }

    /// The address of a value. Panics beyond the end: no caller has an index from outside.
    pub fn at(&self, index: usize) -> *mut T {
        assert!(index < self.count, "index {index} of a table of {}", self.count);
        // SAFETY: just checked to be inside the mapping.
        unsafe { self.start.add(index) }
    }
}
