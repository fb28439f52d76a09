//! Sets of small numbers, as bits: what the points-to analysis is made of.

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number; says whether it is new.
    pub fn insert(&mut self, at: u32) -> bool {
        let (word, bit) = (at as usize / 64, 1 << (at % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    /// Whether a number is in it.
    pub fn contains(&self, at: u32) -> bool {
        self.0
            .get(at as usize / 64)
            .is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    /// How many words it takes.
    pub fn words(&self) -> u64 {
        self.0.len() as u64
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Whether it has a number in common with another.
    pub fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// What it has in common with another.
    pub fn and(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// What it has and another has not.
    pub fn without(&self, other: &Bits) -> Bits {
        let other = other.0.iter().copied().chain(std::iter::repeat(0));
        Bits(self.0.iter().zip(other).map(|(a, b)| a & !b).collect())
    }

    /// Adds all of another.
    pub fn add(&mut self, other: &Bits) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    /// Adds all of another that a mask lets through, to this and, what is new here, to `new`; says whether anything is.
    pub fn add_through(&mut self, other: &Bits, mask: Option<&Bits>, new: &mut Bits) -> bool {
        let mut changed = false;
        for (at, word) in other.0.iter().enumerate() {
            let mut word = *word;
            if let Some(mask) = mask {
                word &= mask.0.get(at).copied().unwrap_or(0);
            }
            word &= !self.0.get(at).copied().unwrap_or(0);
            if word == 0 {
                continue;
            }
            changed = true;
            for set in [&mut *self, &mut *new] {
                if set.0.len() <= at {
                    set.0.resize(at + 1, 0);
                }
                set.0[at] |= word;
            }
        }
        changed
    }

    /// The numbers in it, rising.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros();
                    word &= word - 1;
                    at as u32 * 64 + bit
                })
            })
        })
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<T: IntoIterator<Item = u32>>(numbers: T) -> Bits {
        let mut bits = Bits::default();
        for number in numbers {
            bits.insert(number);
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn bits_are_sets() {
        let numbers = |seed: u32| (0..40u32).map(move |at| at.wrapping_mul(2_654_435_761).wrapping_add(seed) % 300);
        let (a, b, mask): (BTreeSet<u32>, BTreeSet<u32>, BTreeSet<u32>) =
            (numbers(1).collect(), numbers(7).take(9).collect(), numbers(5).collect());
        let bits = |set: &BTreeSet<u32>| set.iter().copied().collect::<Bits>();
        let back = |bits: &Bits| bits.iter().collect::<BTreeSet<u32>>();
        assert_eq!(back(&bits(&a)), a);
        assert_eq!(back(&bits(&a).and(&bits(&b))), &a & &b);
        assert_eq!(back(&bits(&a).without(&bits(&b))), &a - &b);
        assert_eq!(back(&bits(&b).without(&bits(&a))), &b - &a);
        assert_eq!(bits(&a).meets(&bits(&b)), !(&a & &b).is_empty());
        let (mut sum, mut new) = (bits(&b), Bits::default());
        assert!(sum.add_through(&bits(&a), Some(&bits(&mask)), &mut new));
        assert_eq!(back(&sum), &b | &(&a & &mask));
        assert_eq!(back(&new), &(&a & &mask) - &b);
        assert!(!sum.add_through(&bits(&a), Some(&bits(&mask)), &mut new));
        sum.add(&bits(&a));
        assert_eq!(back(&sum), &a | &b);
        assert!(Bits::default().is_empty() && !sum.is_empty() && sum.contains(*a.first().expect("some")));
    }
}
