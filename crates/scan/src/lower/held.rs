//! Pairs releases with acquisitions: which acquisitions are open at each block.
//!
//! Bytecode has no synchronized blocks, only `monitorenter` and `monitorexit`, the latter several times (once per way out)
//! and, in the handlers that compilers add, inside the range that they protect themselves. A forward pass over the graph
//! keeps the open acquisitions as a stack; where paths meet that disagree, what they have in common from the bottom stays.
//! That is right for javac, ecj and kotlinc, and harmless for code that locks without structure.

use crate::body::{Block, Site, SiteKind, Stmt};
use crate::expr::{ExprId, UNKNOWN};

/// A release as the code has it: of a monitor, or of an explicit lock with its expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawExit {
    pub stmt: u32,
    pub explicit: Option<ExprId>,
}

pub(super) fn resolve(
    blocks: &mut [Block],
    order: &[u16],
    sites: &[Site],
    stmts: &mut [Stmt],
    exits: &[RawExit],
    entry: &[u16],
) {
    if sites.is_empty() {
        for block in order {
            blocks[usize::from(*block)].reached = true;
        }
        return;
    }
    let raw = |stmt: u32| {
        exits
            .binary_search_by_key(&stmt, |exit| exit.stmt)
            .ok()
            .map(|at| exits[at].explicit)
    };
    let released = |held: &[u16], stmt: u32| -> Option<u16> {
        let explicit = raw(stmt)?;
        let kind = |site: u16| sites.get(usize::from(site)).map(|site| (site.kind, site.lock));
        let found = match explicit {
            None => held
                .iter()
                .rposition(|site| matches!(kind(*site), Some((SiteKind::Block, _)))),
            Some(lock) => {
                let named = |site: &u16| kind(*site) == Some((SiteKind::Explicit, lock)) && lock != UNKNOWN;
                let unnamed = |site: &u16| kind(*site) == Some((SiteKind::Explicit, UNKNOWN));
                held.iter().rposition(named).or_else(|| held.iter().rposition(unnamed))
            }
        };
        found.map(|at| held[at])
    };
    if let Some(first) = blocks.first_mut() {
        first.held = entry.to_vec();
        first.reached = true;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for block in order {
            let block = &blocks[usize::from(*block)];
            if !block.reached {
                continue;
            }
            let mut held = block.held.clone();
            let handlers = block.handlers.clone();
            let successors = block.successors.clone();
            let range = block.stmts.clone();
            for handler in &handlers {
                changed |= meet(&mut blocks[usize::from(*handler)], &held);
            }
            for at in range {
                for handler in &handlers {
                    changed |= meet(&mut blocks[usize::from(*handler)], &held);
                }
                match stmts[at as usize] {
                    Stmt::Enter(site) => held.push(site),
                    Stmt::Exit(_) => {
                        let site = released(&held, at);
                        crate::body::step(&mut held, &Stmt::Exit(site));
                    }
                    _ => {}
                }
            }
            for successor in &successors {
                changed |= meet(&mut blocks[usize::from(*successor)], &held);
            }
        }
    }
    for block in order {
        let block = &blocks[usize::from(*block)];
        let mut held = block.held.clone();
        for at in block.stmts.clone() {
            if let Stmt::Exit(_) = stmts[at as usize] {
                stmts[at as usize] = Stmt::Exit(released(&held, at));
            }
            crate::body::step(&mut held, &stmts[at as usize]);
        }
    }
}

/// Takes what a block's start and a way to it have in common.
fn meet(block: &mut Block, held: &[u16]) -> bool {
    if !block.reached {
        block.reached = true;
        block.held = held.to_vec();
        return true;
    }
    let common = block.held.iter().zip(held).take_while(|(a, b)| a == b).count();
    let shorter = common < block.held.len();
    block.held.truncate(common);
    shorter
}
