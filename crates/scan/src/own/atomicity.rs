//! Atomicity types: how a piece of code can be interleaved, as far as locks tell. Focus, section 3.2, after Flanagan and Qadeer.
//!
//! A conditional atomicity is kept as a decision over locks in rising order, in which no question is asked whose answer
//! does not matter. So two atomicities mean the same exactly if they are equal, and every operation is done case by case.

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
    /// Is as if nobody else did anything meanwhile.
    Atomic,
    /// None of these.
    Cmpd,
    /// Breaks the locking discipline.
    Error,
}

impl Basic {
    /// All, rising.
    pub const ALL: [Basic; 5] = [Basic::Const, Basic::Mover, Basic::Atomic, Basic::Cmpd, Basic::Error];

    /// One after the other.
    pub fn then(self, next: Basic) -> Basic {
        match (self, next) {
            (Basic::Atomic, Basic::Atomic) => Basic::Cmpd,
            _ => self.max(next),
        }
    }

    /// Any number of times.
    pub fn repeated(self) -> Basic {
        match self {
            Basic::Atomic => Basic::Cmpd,
            other => other,
        }
    }

    /// As the plan has it.
    pub fn name(self) -> &'static str {
        match self {
            Basic::Const => "const",
            Basic::Mover => "mover",
            Basic::Atomic => "atomic",
            Basic::Cmpd => "cmpd",
            Basic::Error => "error",
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

    fn each(&self, of: &dyn Fn(Basic) -> Basic) -> Atomicity {
        match self {
            Atomicity::Basic(basic) => Atomicity::Basic(of(*basic)),
            Atomicity::If(lock, cases) => node(*lock, cases.0.each(of), cases.1.each(of)),
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

    /// `a; b`: one after the other.
    pub fn then(&self, next: &Atomicity) -> Atomicity {
        self.both(next, &Basic::then)
    }

    /// `a*`: any number of times.
    pub fn repeated(&self) -> Atomicity {
        self.each(&Basic::repeated)
    }

    /// `a ⊔ b`: one or the other.
    pub fn or(&self, other: &Atomicity) -> Atomicity {
        self.both(other, &Basic::max)
    }

    /// `S(l, a)`: with the lock taken around it. If it is held already nothing is taken.
    pub fn synchronized(&self, lock: LockName) -> Atomicity {
        let inside = self.given(lock, true);
        Atomicity::choose(lock, &inside, &inside.each(&|basic| basic.max(Basic::Atomic)))
    }

    /// Whether it is at least as good, whatever is held.
    pub fn is_at_most(&self, other: &Atomicity) -> bool {
        match (self, other) {
            (Atomicity::Basic(a), Atomicity::Basic(b)) => a <= b,
            _ => {
                let top = [self.top(), other.top()]
                    .into_iter()
                    .flatten()
                    .min()
                    .unwrap_or_default();
                [true, false]
                    .into_iter()
                    .all(|held| self.given(top, held).is_at_most(&other.given(top, held)))
            }
        }
    }

    /// The worst that it can be.
    pub fn worst(&self) -> Basic {
        match self {
            Atomicity::Basic(basic) => *basic,
            Atomicity::If(_, cases) => cases.0.worst().max(cases.1.worst()),
        }
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
        prop::sample::select(Basic::ALL.to_vec())
    }

    /// Atomicities over three locks, made by the operations themselves.
    fn atomicities() -> impl Strategy<Value = Atomicity> {
        let leaf = basics().prop_map(Atomicity::Basic);
        leaf.prop_recursive(4, 24, 2, |inner| {
            prop_oneof![
                (0..LOCKS, inner.clone(), inner.clone()).prop_map(|(lock, a, b)| Atomicity::choose(lock, &a, &b)),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| a.then(&b)),
                (0..LOCKS, inner).prop_map(|(lock, a)| a.synchronized(lock)),
            ]
        })
    }

    /// All sets of held locks, as bits.
    fn contexts() -> impl Iterator<Item = impl Fn(LockName) -> bool> {
        (0u32..1 << LOCKS).map(|set| move |lock: LockName| set & (1 << lock) != 0)
    }

    proptest! {
        #[test]
        fn operations_mean_what_they_mean_case_by_case(a in atomicities(), b in atomicities(), lock in 0..LOCKS) {
            for held in contexts() {
                let (x, y) = (a.under(&held), b.under(&held));
                prop_assert_eq!(a.then(&b).under(&held), x.then(y));
                prop_assert_eq!(a.repeated().under(&held), x.repeated());
                prop_assert_eq!(a.or(&b).under(&held), x.max(y));
                let chosen = if held(lock) { x } else { y };
                prop_assert_eq!(Atomicity::choose(lock, &a, &b).under(&held), chosen);
                let inside = a.under(&|other| other == lock || held(other));
                let wanted = if held(lock) { inside } else { inside.max(Basic::Atomic) };
                prop_assert_eq!(a.synchronized(lock).under(&held), wanted);
            }
        }

        #[test]
        fn equal_meaning_is_equality(a in atomicities(), b in atomicities()) {
            let same = contexts().all(|held| a.under(&held) == b.under(&held));
            prop_assert_eq!(same, a == b);
            let below = contexts().all(|held| a.under(&held) <= b.under(&held));
            prop_assert_eq!(below, a.is_at_most(&b));
        }

        #[test]
        fn the_order_is_a_lattice(a in atomicities(), b in atomicities(), c in atomicities()) {
            prop_assert!(a.is_at_most(&a));
            prop_assert!(!(a.is_at_most(&b) && b.is_at_most(&a)) || a == b);
            prop_assert!(!(a.is_at_most(&b) && b.is_at_most(&c)) || a.is_at_most(&c));
            prop_assert_eq!(a.or(&b), b.or(&a));
            prop_assert_eq!(a.or(&b).or(&c), a.or(&b.or(&c)));
            prop_assert_eq!(a.or(&a), a.clone());
            prop_assert!(a.is_at_most(&a.or(&b)));
            let upper = a.is_at_most(&c) && b.is_at_most(&c);
            prop_assert_eq!(upper, a.or(&b).is_at_most(&c));
        }

        #[test]
        fn sequences_and_loops_obey_their_laws(a in atomicities(), b in atomicities(), c in atomicities()) {
            let nothing = Atomicity::Basic(Basic::Const);
            prop_assert_eq!(a.then(&b).then(&c), a.then(&b.then(&c)));
            prop_assert_eq!(nothing.then(&a), a.clone());
            prop_assert_eq!(a.then(&nothing), a.clone());
            prop_assert_eq!(a.or(&b).then(&c), a.then(&c).or(&b.then(&c)));
            prop_assert!(a.is_at_most(&a.repeated()));
            prop_assert_eq!(a.repeated().repeated(), a.repeated());
            prop_assert!(a.repeated().then(&a).is_at_most(&a.repeated()));
        }

        #[test]
        fn every_operation_is_monotone(a in atomicities(), b in atomicities(), c in atomicities(), lock in 0..LOCKS) {
            let (low, high) = (a.clone(), a.or(&b));
            prop_assert!(low.then(&c).is_at_most(&high.then(&c)));
            prop_assert!(c.then(&low).is_at_most(&c.then(&high)));
            prop_assert!(low.repeated().is_at_most(&high.repeated()));
            prop_assert!(low.or(&c).is_at_most(&high.or(&c)));
            prop_assert!(Atomicity::choose(lock, &low, &c).is_at_most(&Atomicity::choose(lock, &high, &c)));
            prop_assert!(Atomicity::choose(lock, &c, &low).is_at_most(&Atomicity::choose(lock, &c, &high)));
            prop_assert!(low.synchronized(lock).is_at_most(&high.synchronized(lock)));
        }
    }

    #[test]
    fn a_synchronized_mover_is_atomic_unless_the_lock_is_held() {
        let inside = Atomicity::choose(1, &Basic::Mover.into(), &Basic::Error.into());
        let wanted = Atomicity::choose(1, &Basic::Mover.into(), &Basic::Atomic.into());
        assert_eq!(inside.synchronized(1), wanted);
        let twice = wanted.then(&wanted);
        assert_eq!(twice.synchronized(1), wanted);
        assert_eq!(twice.given(1, false), Basic::Cmpd.into());
    }
}
