//! Makes a schedule simpler: fewest context switches, then fewest steps.
//!
//! Two ways, both descents to a local best. [`gather`] joins turns of one thread across turns that have nothing to do
//! with them; it needs no check, and its time is linear, but for a small window. [`shrink`] tries moves that change what
//! comes before what, and leaves out what nothing needs; each move costs one check, so it is for short schedules.

use rustc_hash::FxHashMap;

use crate::image::{Image, ThreadStep};

/// Simplifies an order that passes the check; the result passes it too. At most `steps` steps are checked.
pub(crate) fn shrink(order: Vec<ThreadStep>, steps: u64, passes: impl Fn(&[ThreadStep]) -> bool) -> Vec<ThreadStep> {
    let mut left = steps;
    let mut turns = turns(&order);
    loop {
        let mut better = None;
        'moves: for place in 0..turns.len() {
            for candidate in moves(&turns, place) {
                let cost = order.len() as u64;
                if left < cost {
                    break 'moves;
                }
                left -= cost;
                let flat: Vec<ThreadStep> = candidate.iter().flatten().copied().collect();
                if passes(&flat) {
                    better = Some(flat);
                    break 'moves;
                }
            }
        }
        match better {
            Some(flat) => turns = self::turns(&flat),
            None => return turns.into_iter().flatten().collect(),
        }
    }
}

/// How often the turn passes to another thread.
pub(crate) fn switches(order: &[ThreadStep]) -> usize {
    order.windows(2).filter(|w| w[0].thread != w[1].thread).count()
}

/// How many turns a turn is moved across at most.
const WINDOW: usize = 24;

/// Joins turns of one thread that only independent turns separate. Turns with a step of the pattern stay where they are.
pub(crate) fn gather(image: &Image, pattern: &[ThreadStep], order: Vec<ThreadStep>) -> Vec<ThreadStep> {
    let mut out: Vec<Turn> = Vec::new();
    for steps in turns(&order) {
        let mut turn = Turn::new(image, pattern, steps);
        let near = out.len().saturating_sub(WINDOW);
        let same = (near..out.len())
            .rev()
            .find(|&i| out[i].steps[0].thread == turn.steps[0].thread);
        let Some(same) = same.filter(|&i| !turn.fixed || !out[i].fixed) else {
            out.push(turn);
            continue;
        };
        let between = &out[same + 1..];
        if !turn.fixed && between.iter().all(|t| !t.fixed && t.independent(&turn)) {
            out[same].join(turn);
        } else if !out[same].fixed && between.iter().all(|t| !t.fixed && out[same].independent(t)) {
            let mut earlier = out.remove(same);
            std::mem::swap(&mut earlier, &mut turn);
            turn.join(earlier);
            out.push(turn);
        } else {
            out.push(turn);
        }
    }
    out.into_iter().flat_map(|t| t.steps).collect()
}

/// A turn with what it touches.
struct Turn {
    steps: Vec<ThreadStep>,
    /// Locations, and whether one is written.
    locations: FxHashMap<u32, bool>,
    locks: FxHashMap<u32, ()>,
    /// Steps of other threads that it comes after.
    after: Vec<ThreadStep>,
    /// Holds a step of the pattern.
    fixed: bool,
}

impl Turn {
    fn new(image: &Image, pattern: &[ThreadStep], steps: Vec<ThreadStep>) -> Turn {
        let mut turn = Turn {
            fixed: steps.iter().any(|s| pattern.contains(s)),
            steps: Vec::new(),
            locations: FxHashMap::default(),
            locks: FxHashMap::default(),
            after: Vec::new(),
        };
        for &event in steps.iter().flat_map(|&s| image.events(s)) {
            let operand = image.operand(event);
            if image.is_access(event) {
                if image.is_shared(operand) {
                    *turn.locations.entry(operand).or_insert(false) |= image.code(event).is_write();
                }
            } else if image.is_locking(event) {
                turn.locks.insert(operand, ());
            }
            turn.after
                .extend(image.comes_after(event).iter().map(|&e| image.step_of(e)));
        }
        turn.steps = steps;
        turn
    }

    /// Whether this turn and a later one could change places.
    fn independent(&self, later: &Turn) -> bool {
        let (few, many) = if self.locations.len() < later.locations.len() {
            (self, later)
        } else {
            (later, self)
        };
        let clash = |(location, &written): (&u32, &bool)| many.locations.get(location).is_some_and(|&w| w || written);
        !few.locations.iter().any(clash)
            && !self.locks.keys().any(|l| later.locks.contains_key(l))
            && !later.after.iter().any(|s| self.has(*s))
    }

    fn has(&self, step: ThreadStep) -> bool {
        let (first, last) = (self.steps[0], self.steps[self.steps.len() - 1]);
        first.thread == step.thread && (first.number..=last.number).contains(&step.number)
    }

    /// Adds what the same thread does next.
    fn join(&mut self, next: Turn) {
        self.steps.extend(next.steps);
        for (location, written) in next.locations {
            *self.locations.entry(location).or_insert(false) |= written;
        }
        self.locks.extend(next.locks);
        self.after.extend(next.after);
        self.fixed |= next.fixed;
    }
}

fn turns(order: &[ThreadStep]) -> Vec<Vec<ThreadStep>> {
    order
        .chunk_by(|a, b| a.thread == b.thread)
        .map(<[ThreadStep]>::to_vec)
        .collect()
}

/// The orders that are one move away and simpler: the turn at `place` joined with the next one of its thread, later or
/// earlier, or left out.
fn moves(turns: &[Vec<ThreadStep>], place: usize) -> Vec<Vec<Vec<ThreadStep>>> {
    let thread = turns[place][0].thread;
    let again = (place + 1..turns.len()).find(|&p| turns[p][0].thread == thread);
    let mut result = Vec::new();
    if let Some(again) = again {
        let mut later = turns.to_vec();
        let moved = later.remove(place);
        later.insert(again - 1, moved);
        let mut earlier = turns.to_vec();
        let moved = earlier.remove(again);
        earlier.insert(place + 1, moved);
        result.extend([later, earlier]);
    } else {
        let mut without = turns.to_vec();
        without.remove(place);
        result.push(without);
        if turns[place].len() > 1 {
            let mut shorter = turns.to_vec();
            shorter[place].pop();
            result.push(shorter);
        }
    }
    result
}
