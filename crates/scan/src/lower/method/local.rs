//! What rules that look at one method alone notice in it: waits outside loops, notifications without a change, double-checked
//! locking.

use ravel_classfile::access;

use super::{Mark, Run};
use crate::body::Stmt;
use crate::expr::{ExprId, UNKNOWN};
use crate::program::{LocalFact, LocalKind};
use crate::symbols::PairId;

impl Run<'_, '_> {
    /// The sites held at a mark.
    fn held_at(&self, mark: Mark) -> Vec<u16> {
        let block = &self.blocks[usize::from(mark.block)];
        let mut held = block.held.clone();
        for at in block.stmts.start..mark.stmt.min(block.stmts.end) {
            crate::body::step(&mut held, &self.stmts[at as usize]);
        }
        held
    }

    pub(super) fn local_rules(&mut self) {
        for wait in &self.waits {
            // A method that is itself called `wait` or `await` only passes the call on.
            let passes_on = self.context.name.starts_with(b"wait") || self.context.name.starts_with(b"await");
            if !passes_on && !self.cfg.in_loop(wait.block) && self.blocks[usize::from(wait.block)].reached {
                self.out.local.push(LocalFact {
                    kind: LocalKind::WaitOutsideLoop,
                    pc: wait.pc,
                    other: wait.pc,
                    field: None,
                });
            }
        }
        if self.sites.is_empty() {
            return;
        }
        let naked: Vec<LocalFact> = self
            .notifies
            .iter()
            .filter_map(|(lock, mark)| self.naked(*lock, *mark))
            .collect();
        self.out.local.extend(naked);
        let mut fields: Vec<PairId> = self.tests.iter().map(|(field, _)| *field).collect();
        fields.sort_unstable();
        fields.dedup();
        let found: Vec<LocalFact> = fields
            .into_iter()
            .filter_map(|field| self.double_checked(field))
            .collect();
        self.out.local.extend(found);
    }

    fn naked(&self, lock: ExprId, mark: Mark) -> Option<LocalFact> {
        // A private helper's caller has changed the state.
        if self.context.access & access::PRIVATE != 0 || lock == UNKNOWN {
            return None;
        }
        let held = self.held_at(mark);
        let site = *held
            .iter()
            .rev()
            .find(|site| self.sites[usize::from(**site)].lock == lock)?;
        if self.mutations.iter().any(|mark| self.held_at(*mark).contains(&site)) {
            return None;
        }
        let mut calls = false;
        for block in self.blocks.iter().filter(|block| block.reached) {
            let mut held = block.held.clone();
            for at in block.stmts.clone() {
                let stmt = &self.stmts[at as usize];
                calls |= matches!(stmt, Stmt::Call { .. }) && held.contains(&site);
                crate::body::step(&mut held, stmt);
            }
        }
        let before = self.assignments.iter().filter(|(_, assigned)| assigned.pc < mark.pc);
        (!calls).then_some(LocalFact {
            kind: LocalKind::NakedNotify,
            pc: mark.pc,
            other: self.sites[usize::from(site)].pc,
            field: before.max_by_key(|(_, assigned)| assigned.pc).map(|(field, _)| *field),
        })
    }

    fn double_checked(&self, field: PairId) -> Option<LocalFact> {
        let tests: Vec<(Mark, Vec<u16>)> = self
            .tests
            .iter()
            .filter(|(tested, _)| *tested == field)
            .map(|(_, mark)| (*mark, self.held_at(*mark)))
            .collect();
        let outside = tests.iter().find(|(_, held)| held.is_empty())?.0;
        let assigned = |site: u16| {
            self.assignments
                .iter()
                .find(|(assigned, mark)| *assigned == field && self.held_at(*mark).contains(&site))
        };
        tests.iter().find_map(|(inside, held)| {
            let site = *held.first()?;
            let (_, assigned) = assigned(site)?;
            (inside.pc > outside.pc && self.sites[usize::from(site)].pc > outside.pc).then_some(LocalFact {
                kind: LocalKind::DoubleChecked,
                pc: assigned.pc,
                other: outside.pc,
                field: Some(field),
            })
        })
    }
}
