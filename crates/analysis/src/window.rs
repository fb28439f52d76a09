//! Units that have ended; whether they matter is not yet known.
//!
//! A unit matters if another thread can come between its steps. Whether one can is often known only later: the other thread
//! has yet to do its part, or the unit that it interrupts has yet to end. So ended units wait here, a bounded number of
//! steps of them, and are judged when they leave: a trace that fits is judged with all that there is to know.

use std::collections::VecDeque;

/// The shapes of units met lately: an equal unit tells nothing new. One that is not known any more is only looked at again.
#[derive(Debug)]
pub struct Shapes {
    slots: Vec<u64>,
}

impl Default for Shapes {
    fn default() -> Self {
        Shapes {
            slots: vec![0; 1 << 16],
        }
    }
}

impl Shapes {
    /// Whether a shape is not among those met lately; from now on it is.
    pub fn is_new(&mut self, shape: u64) -> bool {
        // The hash of a lone zero would look like an empty slot.
        let shape = shape | 1;
        let slot = &mut self.slots[(shape.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize];
        std::mem::replace(slot, shape) != shape
    }
}

/// The units that wait, oldest first.
#[derive(Debug)]
pub struct Window<U> {
    units: VecDeque<(U, usize)>,
    size: usize,
    limit: usize,
}

impl<U> Window<U> {
    /// A window for so many steps.
    pub fn new(limit: usize) -> Self {
        Window {
            units: VecDeque::new(),
            size: 0,
            limit,
        }
    }

    /// Lets a unit of so many steps wait.
    pub fn push(&mut self, unit: U, steps: usize) {
        self.size += steps;
        self.units.push_back((unit, steps));
    }

    /// The oldest unit, if there are too many.
    pub fn overflow(&mut self) -> Option<U> {
        if self.size <= self.limit {
            return None;
        }
        self.pop()
    }

    /// The oldest unit.
    pub fn pop(&mut self) -> Option<U> {
        let (unit, steps) = self.units.pop_front()?;
        self.size -= steps;
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_new_once() {
        let mut shapes = Shapes::default();
        assert!(shapes.is_new(0));
        assert!(!shapes.is_new(0));
        assert!(shapes.is_new(2));
    }

    #[test]
    fn the_oldest_leave_first_and_only_when_there_are_too_many() {
        let mut window = Window::new(10);
        window.push('a', 6);
        assert_eq!(window.overflow(), None);
        window.push('b', 6);
        assert_eq!(window.overflow(), Some('a'));
        assert_eq!(window.overflow(), None);
        assert_eq!(window.pop(), Some('b'));
        assert_eq!(window.pop(), None);
    }
}
