//! The lock pattern within one method: the dataflow of LockPattern, section 4.2, with the transfer functions of Fig. 6 and,
//! for the variant, Fig. 9.
//!
//! The facts are the paper's R (released once), T (released twice in turn) and P (witnesses of the pattern), here with
//! the statements that acquired, so that a warning can show them. A witness is a pair of locks; in the original pattern both
//! are the same. At a point inside synchronized blocks there is one set of facts for the method and one for each open
//! block: entering a block starts from nothing, leaving it applies the transfer function of SYNC. T and P only grow along a
//! path, so their values at the exit are the union of those everywhere, and code that never returns is covered too.
//!
//! Cost: linear in the number of statements for each lock that is acquired, twice that for loops.

use crate::body::{Body, Stmt};
use crate::expr::{ExprId, Exprs, UNKNOWN};

/// Two acquisitions in turn: the locks (equal in the original pattern) and the statement of the second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Twice {
    /// The lock acquired first.
    pub first: ExprId,
    /// The lock acquired second.
    pub second: ExprId,
    /// The statement that acquires the second.
    pub at: u32,
}

/// A witness inside its context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Witness {
    /// The acquisitions.
    pub twice: Twice,
    /// The site whose lock is held meanwhile.
    pub context: u16,
}

/// Set in the statement of a first acquisition when something was thrown since. Of two ways to the same fact the least is
/// kept, so it stays set only if every way is such.
pub const THROWN: u32 = 1 << 31;

/// A small map with sorted keys that keeps the least value of each.
type Least<K> = Vec<(K, u32)>;

fn put<K: Ord + Copy>(map: &mut Least<K>, key: K, value: u32) -> bool {
    match map.binary_search_by(|(known, _)| known.cmp(&key)) {
        Ok(at) if map[at].1 <= value => false,
        Ok(at) => {
            map[at].1 = value;
            true
        }
        Err(at) => {
            map.insert(at, (key, value));
            true
        }
    }
}

/// The facts of one scope; values are the statements of first acquisitions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// R
    pub released: Least<ExprId>,
    /// T
    pub twice: Least<Twice>,
    /// P
    pub witnesses: Least<Witness>,
}

impl Facts {
    fn join(&mut self, other: &Facts) -> bool {
        let mut changed = false;
        for (key, value) in &other.released {
            changed |= put(&mut self.released, *key, *value);
        }
        for (key, value) in &other.twice {
            changed |= put(&mut self.twice, *key, *value);
        }
        for (key, value) in &other.witnesses {
            changed |= put(&mut self.witnesses, *key, *value);
        }
        changed
    }

    /// The locks of `acquired` (with the statements that acquire them) were acquired and released one way or another.
    fn acquire(&mut self, acquired: &[(ExprId, u32)], variant: bool) {
        for (lock, at) in acquired {
            for (known, first) in &self.released {
                if variant || known == lock {
                    let twice = Twice {
                        first: *known,
                        second: *lock,
                        at: at & !THROWN,
                    };
                    put(&mut self.twice, twice, *first);
                }
            }
        }
        for (lock, at) in acquired {
            put(&mut self.released, *lock, *at);
        }
    }

    /// SYNC e sb: the block with these facts and lock has been left.
    fn leave(&mut self, block: &Facts, (lock, kept): (ExprId, bool), site: u16, enter: u32, variant: bool) {
        let mut acquired = block.released.clone();
        if lock != UNKNOWN && !kept {
            put(&mut acquired, lock, enter);
        }
        self.acquire(&acquired, variant);
        let other = |twice: &Twice| lock == UNKNOWN || (twice.first != lock && twice.second != lock);
        for (twice, first) in block.twice.iter().filter(|(twice, _)| other(twice)) {
            let witness = Witness {
                twice: *twice,
                context: site,
            };
            put(&mut self.witnesses, witness, *first);
        }
        for (witness, first) in block.witnesses.iter().filter(|(witness, _)| other(&witness.twice)) {
            put(&mut self.witnesses, *witness, *first);
        }
    }
}

/// The facts of the method and of each open block, with the sites of the blocks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct PatternState {
    sites: Vec<u16>,
    scopes: Vec<Facts>,
}

/// What the analysis of one method needs.
pub struct Analysis<'a> {
    /// The method's code.
    pub body: &'a Body,
    /// Its expressions, with those that calls brought.
    pub exprs: &'a Exprs,
    /// For each statement that is a call, the locks that it acquires: L of Fig. 6 (b).
    pub calls: &'a dyn Fn(u32) -> Vec<ExprId>,
    /// Whether to look for the variant.
    pub variant: bool,
    /// Visits blocks in another order, for tests.
    pub shuffled: Option<u64>,
}

impl Analysis<'_> {
    /// The facts at the exit of the method.
    pub fn run(&self) -> Facts {
        let blocks = &self.body.blocks;
        let mut entries: Vec<Option<PatternState>> = vec![None; blocks.len()];
        let Some(first) = blocks.first() else {
            return Facts::default();
        };
        entries[0] = Some(PatternState {
            sites: first.held.clone(),
            scopes: vec![Facts::default(); first.held.len() + 1],
        });
        let mut enters = vec![0u32; self.body.sites.len()];
        for (at, stmt) in self.body.stmts.iter().enumerate() {
            if let Stmt::Enter(site) = stmt
                && let Some(enter) = enters.get_mut(usize::from(*site))
            {
                *enter = at as u32;
            }
        }
        let calls: Vec<Vec<(ExprId, u32)>> = (0..self.body.stmts.len() as u32)
            .map(|at| match self.body.stmts[at as usize] {
                Stmt::Call { .. } => (self.calls)(at).into_iter().map(|lock| (lock, at)).collect(),
                _ => Vec::new(),
            })
            .collect();
        let mut exit = Facts::default();
        let mut pending = vec![false; blocks.len()];
        pending[0] = true;
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        if let Some(seed) = self.shuffled {
            order.sort_by_key(|block| (*block as u64 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        let mut again = true;
        while again {
            again = false;
            for &number in &order {
                if !std::mem::replace(&mut pending[number], false) {
                    continue;
                }
                let block = &blocks[number];
                let Some(mut state) = entries[number].clone() else {
                    continue;
                };
                let mut flow =
                    |state: &PatternState, to: u16, thrown: bool, entries: &mut Vec<Option<PatternState>>| {
                        let to = usize::from(to);
                        if self.flow(state, &blocks[to].held, thrown, &mut entries[to], &enters) {
                            pending[to] = true;
                            again = true;
                        }
                    };
                for handler in &block.handlers {
                    flow(&state, *handler, true, &mut entries);
                }
                for at in block.stmts.clone() {
                    let stmt = &self.body.stmts[at as usize];
                    self.step(&mut state, stmt, &calls[at as usize], &enters);
                    // A call may throw after it has locked; the others do not throw.
                    if matches!(stmt, Stmt::Call { .. } | Stmt::Assign(_)) {
                        for handler in &block.handlers {
                            flow(&state, *handler, true, &mut entries);
                        }
                    }
                }
                for successor in &block.successors {
                    flow(&state, *successor, false, &mut entries);
                }
                self.collapse(&mut state, 0, &enters);
                exit.join(&state.scopes[0]);
            }
        }
        exit
    }

    fn step(&self, state: &mut PatternState, stmt: &Stmt, acquired: &[(ExprId, u32)], enters: &[u32]) {
        match stmt {
            Stmt::Enter(site) => {
                state.sites.push(*site);
                state.scopes.push(Facts::default());
            }
            Stmt::Exit(Some(site)) => {
                if let Some(at) = state.sites.iter().rposition(|held| held == site) {
                    self.leave(state, at, enters);
                }
            }
            Stmt::Call { .. } if !acquired.is_empty() => {
                if let Some(scope) = state.scopes.last_mut() {
                    scope.acquire(acquired, self.variant);
                }
            }
            // A wait on the context gives it up: the code before the wait is not meant to be one step with the code behind it.
            Stmt::Wait(lock) => {
                if let Some(at) = self.body.waited_on(&state.sites, *lock) {
                    for scope in state.scopes.iter_mut().skip(at + 1) {
                        scope.released.clear();
                    }
                }
            }
            // Fig. 9 has no rule for assignments: in the variant the two locks may differ anyway.
            Stmt::Assign(assigned) if !self.variant => {
                for scope in &mut state.scopes {
                    scope.released.retain(|(lock, _)| !self.exprs.depends(*lock, *assigned));
                }
            }
            _ => {}
        }
    }

    /// Leaves the open block at a place, which need not be the innermost.
    fn leave(&self, state: &mut PatternState, at: usize, enters: &[u32]) {
        let site = state.sites.remove(at);
        let facts = state.scopes.remove(at + 1);
        let enter = enters.get(usize::from(site)).copied().unwrap_or(0);
        let kept = self.body.sites.get(usize::from(site)).is_some_and(|site| site.kept);
        let lock = (self.body.lock(site), kept);
        state.scopes[at].leave(&facts, lock, site, enter, self.variant);
    }

    /// Leaves all blocks but the outermost few.
    fn collapse(&self, state: &mut PatternState, keep: usize, enters: &[u32]) {
        while state.sites.len() > keep {
            let innermost = state.sites.len() - 1;
            self.leave(state, innermost, enters);
        }
    }

    /// Carries facts along an edge to a block where only `held` is open.
    fn flow(
        &self,
        state: &PatternState,
        held: &[u16],
        thrown: bool,
        entry: &mut Option<PatternState>,
        enters: &[u32],
    ) -> bool {
        let common = state.sites.iter().zip(held).take_while(|(a, b)| a == b).count();
        let mut state = state.clone();
        self.collapse(&mut state, common, enters);
        for (_, first) in state.scopes.iter_mut().flat_map(|scope| &mut scope.released) {
            *first |= if thrown { THROWN } else { 0 };
        }
        match entry {
            None => {
                *entry = Some(state);
                true
            }
            Some(entry) => {
                let mut changed = false;
                for (known, new) in entry.scopes.iter_mut().zip(&state.scopes) {
                    changed |= known.join(new);
                }
                changed
            }
        }
    }
}
