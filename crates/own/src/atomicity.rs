//! Atomicity types: how a piece of code can be interleaved, as far as locks tell. Focus, section 3.2, after Flanagan and Qadeer.
//!
//! A conditional atomicity is kept as a decision over locks in rising order, in which no question is asked whose answer
//! does not matter. So two atomicities mean the same exactly if they are equal, and every operation is done case by case.
//!
//! **Departures.** The paper's operators for sequence, loop and `S(l, a)` are missing: bytecode has no such structure, and
//! [`atomic`](crate::atomic) follows the control flow graph instead. So is `error`: no access counts as a broken discipline.

use std::collections::BTreeSet;

/// A lock, by a number that means the same wherever atomicities are compared.
pub type LockName = u32;

/// How code can be interleaved, from the best to the worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Basic {
    /// Neither depends on nor changes what others can change.
    Const,
    /// Can be swapped with whatever other threads do just before or after it.
    Mover,
    /// Has the same effect as without any step of another thread in between.
    Atomic,
    /// None of these.
    Cmpd,
}

impl Basic {
    /// As the plan has it.
    pub fn name(self) -> &'static str {
        match self {
            Basic::Const => "const",
            Basic::Mover => "mover",
            Basic::Atomic => "atomic",
            Basic::Cmpd => "cmpd",
        }
    }
}

/// How code can be interleaved, depending on the locks that are held when it starts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Atomicity {
    /// Whatever is held.
    Basic(Basic),
    /// `l ? a : b`: `a` if the lock is held, else `b`. Made by [`Atomicity::choose`] alone, which keeps the form.
    If(LockName, Box<(Atomicity, Atomicity)>),
}

impl From<Basic> for Atomicity {
    fn from(basic: Basic) -> Self {
        Atomicity::Basic(basic)
    }
}

impl Atomicity {
    /// What it is when exactly these locks are held.
    pub fn under(&self, held: &dyn Fn(LockName) -> bool) -> Basic {
        match self {
            Atomicity::Basic(basic) => *basic,
            Atomicity::If(lock, cases) => match held(*lock) {
                true => cases.0.under(held),
                false => cases.1.under(held),
            },
        }
    }

    /// The locks it depends on.
    pub fn locks(&self) -> BTreeSet<LockName> {
        match self {
            Atomicity::Basic(_) => BTreeSet::new(),
            Atomicity::If(lock, cases) => {
                let mut locks = cases.0.locks();
                locks.append(&mut cases.1.locks());
                locks.insert(*lock);
                locks
            }
        }
    }

    fn top(&self) -> Option<LockName> {
        match self {
            Atomicity::Basic(_) => None,
            Atomicity::If(lock, _) => Some(*lock),
        }
    }

    /// What it is if it is known whether a lock is held.
    pub fn given(&self, lock: LockName, held: bool) -> Atomicity {
        match self {
            Atomicity::Basic(basic) => Atomicity::Basic(*basic),
            Atomicity::If(own, cases) if *own == lock => {
                let case = if held { &cases.0 } else { &cases.1 };
                case.given(lock, held)
            }
            Atomicity::If(own, cases) => node(*own, cases.0.given(lock, held), cases.1.given(lock, held)),
        }
    }

    /// `l ? a : b`
    pub fn choose(lock: LockName, held: &Atomicity, free: &Atomicity) -> Atomicity {
        let (held, free) = (held.given(lock, true), free.given(lock, false));
        let above = [held.top(), free.top()]
            .into_iter()
            .flatten()
            .filter(|top| *top < lock)
            .min();
        match above {
            None => node(lock, held, free),
            Some(top) => node(
                top,
                Atomicity::choose(lock, &held.given(top, true), &free.given(top, true)),
                Atomicity::choose(lock, &held.given(top, false), &free.given(top, false)),
            ),
        }
    }

    fn both(&self, other: &Atomicity, of: &dyn Fn(Basic, Basic) -> Basic) -> Atomicity {
        if let (Atomicity::Basic(a), Atomicity::Basic(b)) = (self, other) {
            return Atomicity::Basic(of(*a, *b));
        }
        let top = [self.top(), other.top()]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or_default();
        node(
            top,
            self.given(top, true).both(&other.given(top, true), of),
            self.given(top, false).both(&other.given(top, false), of),
        )
    }

    /// `a ⊔ b`: one or the other.
    pub fn or(&self, other: &Atomicity) -> Atomicity {
        self.both(other, &Basic::max)
    }
}

/// A question, unless its answer does not matter.
fn node(lock: LockName, held: Atomicity, free: Atomicity) -> Atomicity {
    if held == free {
        return held;
    }
    Atomicity::If(lock, Box::new((held, free)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOCKS: LockName = 3;

    fn basics() -> impl Strategy<Value = Basic> {
        prop::sample::select(vec![Basic::Const, Basic::Mover, Basic::Atomic, Basic::Cmpd])
    }

    /// Atomicities over three locks, made by the operations themselves.
    fn atomicities() -> impl Strategy<Value = Atomicity> {
        let leaf = basics().prop_map(Atomicity::Basic);
        leaf.prop_recursive(4, 24, 2, |inner| {
            prop_oneof![
                (0..LOCKS, inner.clone(), inner.clone()).prop_map(|(lock, a, b)| Atomicity::choose(lock, &a, &b)),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| a.or(&b)),
                (0..LOCKS, any::<bool>(), inner).prop_map(|(lock, held, a)| a.given(lock, held)),
            ]
        })
    }

    /// All sets of held locks, as bits.
    fn contexts() -> impl Iterator<Item = impl Fn(LockName) -> bool> {
        (0u32..1 << LOCKS).map(|set| move |lock: LockName| set & (1 << lock) != 0)
    }

    /// Whether one is at least as good as the other, whatever is held.
    fn is_at_most(a: &Atomicity, b: &Atomicity) -> bool {
        contexts().all(|held| a.under(&held) <= b.under(&held))
    }

    proptest! {
        #[test]
        fn operations_mean_what_they_mean_case_by_case(a in atomicities(), b in atomicities(), lock in 0..LOCKS) {
            for held in contexts() {
                let (x, y) = (a.under(&held), b.under(&held));
                prop_assert_eq!(a.or(&b).under(&held), x.max(y));
                let chosen = if held(lock) { x } else { y };
                prop_assert_eq!(Atomicity::choose(lock, &a, &b).under(&held), chosen);
                prop_assert_eq!(a.given(lock, true).under(&held), a.under(&|other| other == lock || held(other)));
                prop_assert_eq!(a.given(lock, false).under(&held), a.under(&|other| other != lock && held(other)));
            }
        }

        #[test]
        fn equal_meaning_is_equality(a in atomicities(), b in atomicities()) {
            let same = contexts().all(|held| a.under(&held) == b.under(&held));
            prop_assert_eq!(same, a == b);
        }

        #[test]
        fn it_depends_on_the_locks_it_names_and_no_others(a in atomicities(), lock in 0..LOCKS) {
            let matters = a.given(lock, true) != a.given(lock, false);
            prop_assert_eq!(a.locks().contains(&lock), matters);
        }

        #[test]
        fn one_or_the_other_is_the_least_upper_bound(a in atomicities(), b in atomicities(), c in atomicities()) {
            prop_assert_eq!(a.or(&b), b.or(&a));
            prop_assert_eq!(a.or(&b).or(&c), a.or(&b.or(&c)));
            prop_assert_eq!(a.or(&a), a.clone());
            prop_assert!(is_at_most(&a, &a.or(&b)));
            let upper = is_at_most(&a, &c) && is_at_most(&b, &c);
            prop_assert_eq!(upper, is_at_most(&a.or(&b), &c));
        }

        #[test]
        fn every_operation_is_monotone(a in atomicities(), b in atomicities(), c in atomicities(), lock in 0..LOCKS) {
            let (low, high) = (a.clone(), a.or(&b));
            prop_assert!(is_at_most(&low.or(&c), &high.or(&c)));
            prop_assert!(is_at_most(&Atomicity::choose(lock, &low, &c), &Atomicity::choose(lock, &high, &c)));
            prop_assert!(is_at_most(&Atomicity::choose(lock, &c, &low), &Atomicity::choose(lock, &c, &high)));
        }
    }
}
