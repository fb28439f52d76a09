//! Yields and short sleeps at recorded points, so that a run takes other turns than usual (AtomicSet, section 4.2).

use std::cell::Cell;
use std::time::Duration;

use crate::options::Options;
use crate::thread_block::ThreadBlock;

/// Perhaps lets other threads go first.
pub fn at_point(options: &Options, block: &ThreadBlock) {
    let Some((_, rate)) = options.noise else { return };
    let draw = next(&block.noise);
    if draw % 1000 >= rate {
        return;
    }
    match next(&block.noise) % 4 {
        0 | 1 => std::thread::yield_now(),
        2 => std::thread::sleep(Duration::from_micros(u64::from(next(&block.noise) % 200))),
        _ => std::thread::sleep(Duration::from_micros(u64::from(next(&block.noise) % 2000))),
    }
}

/// Xorshift: good enough to scatter, and the same for the same seed and thread.
fn next(state: &Cell<u32>) -> u32 {
    let mut x = state.get().max(1);
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    state.set(x);
    x
}
