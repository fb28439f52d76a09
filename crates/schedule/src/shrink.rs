//! Makes a schedule simpler: fewest context switches, then fewest steps.
//!
//! A turn is moved next to another turn of the same thread, or left out if nothing needs it, for as long as a check
//! still passes. That is a descent to a local best, not the least possible; each move costs one check, and the steps
//! checked are bounded.

use crate::image::Step;

/// Simplifies an order that passes the check; the result passes it too. At most `steps` steps are checked.
pub(crate) fn shrink(order: Vec<Step>, steps: u64, passes: impl Fn(&[Step]) -> bool) -> Vec<Step> {
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
                let flat: Vec<Step> = candidate.iter().flatten().copied().collect();
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
pub(crate) fn switches(order: &[Step]) -> usize {
    order.windows(2).filter(|w| w[0].thread != w[1].thread).count()
}

fn turns(order: &[Step]) -> Vec<Vec<Step>> {
    order
        .chunk_by(|a, b| a.thread == b.thread)
        .map(<[Step]>::to_vec)
        .collect()
}

/// The orders that are one move away and simpler: the turn at `place` joined with the next one of its thread, later or
/// earlier, or left out.
fn moves(turns: &[Vec<Step>], place: usize) -> Vec<Vec<Vec<Step>>> {
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
