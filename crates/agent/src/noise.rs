//! Yields and short sleeps at recorded points, so that a run takes other turns than usual (AtomicSet, section 4.2).

use std::time::Duration;

use fastrand::Rng;

use crate::options::Options;
use crate::thread_block::ThreadBlock;

/// Perhaps lets other threads go first.
pub fn at_point(options: &Options, block: &ThreadBlock) {
    let Some((_, rate)) = options.noise else { return };
    let mut random = Rng::with_seed(block.noise.get().into());
    if random.u32(..1000) < rate {
        match random.u32(..4) {
            0 | 1 => std::thread::yield_now(),
            2 => std::thread::sleep(Duration::from_micros(random.u64(..200))),
            _ => std::thread::sleep(Duration::from_micros(random.u64(..2000))),
        }
    }
    block.noise.set(random.u32(..));
}
