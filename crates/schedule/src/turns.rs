//! From an order of steps to a [`Schedule`]: which steps share a turn, and which need none.

use ravel_protocol::{Leave, Schedule};
use rustc_hash::FxHashMap;

use crate::image::{Image, ThreadStep};

/// The schedule that takes these steps.
pub fn from_steps(image: &Image, order: &[ThreadStep]) -> Schedule {
    from_steps_and_units(image, order, |_| None)
}

/// The same, but that some steps belong to units: at the first step of one, its thread runs to the unit's position and
/// out of it; the others are left out.
pub fn from_steps_and_units(
    image: &Image,
    order: &[ThreadStep],
    unit: impl Fn(ThreadStep) -> Option<Option<(u32, Leave)>>,
) -> Schedule {
    let mut schedule = Schedule::default();
    let mut index: FxHashMap<u32, usize> = FxHashMap::default();
    for &step in order {
        let inside = unit(step);
        if inside == Some(None) || inside.is_none() && image.is_by_itself(step) {
            continue;
        }
        let thread = *index.entry(step.thread).or_insert_with(|| {
            schedule
                .threads
                .push(image.thread_names()[step.thread as usize].clone());
            schedule.threads.len() - 1
        });
        match inside.flatten() {
            Some((until, leave)) => schedule.leave(thread, until, leave),
            None => schedule.run(thread, image.position(step)),
        }
    }
    schedule
}
