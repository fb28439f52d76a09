//! What rules that look at one method alone notice in it: waits outside loops, notifications without a change, double-checked
//! locking.

use ravel_classfile::{Operand, access, op};

use super::{Mark, Run};
use crate::body::{SiteKind, Stmt};
use crate::expr::{ExprId, Node, UNKNOWN};
use crate::program::{LocalFact, LocalKind};
use crate::symbols::PairId;

impl Run<'_, '_> {
    /// The sites held at a mark.
    pub(super) fn held_at(&self, mark: Mark) -> Vec<u16> {
        let block = &self.blocks[usize::from(mark.block)];
        let mut held = block.held.clone();
        for at in block.stmts.start..mark.stmt.min(block.stmts.end) {
            crate::body::step(&mut held, &self.stmts[at as usize]);
        }
        held
    }

    pub(super) fn local_rules(&mut self) {
        // A method that does nothing but wait passes the call on: its caller has the loop.
        let branches = self
            .instructions
            .iter()
            .any(|at| at.jump_targets().next().is_some() && at.opcode != op::GOTO);
        let calls = self
            .stmts
            .iter()
            .filter(|stmt| matches!(stmt, Stmt::Call { .. }))
            .count();
        // Without a field and a call there is no condition to test again.
        let only_waits = self.instructions.iter().all(|at| match at.operand {
            Operand::Field(_) => false,
            Operand::Method(index) | Operand::InterfaceMethod(index, _) => {
                let name = self.context.pool.member_ref(index).map(|called| called.name);
                matches!(name, Ok(b"wait" | b"await" | b"toMillis" | b"toNanos"))
            }
            _ => true,
        });
        let passes_on = self.mutations.is_empty() && (only_waits || !branches && calls == 1);
        self.noted();
        for wait in &self.waits {
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
        let inside: Vec<LocalFact> = self
            .assignments
            .iter()
            .filter_map(|(field, mark)| self.replaced(*field, *mark))
            .collect();
        self.out.local.extend(inside);
        let mut fields: Vec<PairId> = self.tests.iter().map(|(field, _)| *field).collect();
        fields.sort_unstable();
        fields.dedup();
        let found: Vec<LocalFact> = fields
            .into_iter()
            .filter_map(|field| self.double_checked(field))
            .collect();
        self.out.local.extend(found);
        let mut assigned: Vec<LocalFact> = Vec::new();
        for (field, mark) in &self.assignments {
            let known = assigned.iter().any(|fact| fact.field == Some(*field));
            assigned.extend(self.tested_before(*field, *mark).filter(|_| !known));
        }
        self.out.local.extend(assigned);
    }

    /// A field that was tested with no lock held and is now assigned under one.
    fn tested_before(&self, field: PairId, mark: Mark) -> Option<LocalFact> {
        let site = *self.held_at(mark).first()?;
        let taken = self.sites[usize::from(site)].pc;
        let test = self.tests.iter().find(|(tested, test)| {
            *tested == field
                && test.pc < taken
                && taken < mark.pc
                && self.held_at(*test).is_empty()
                && self.is_behind_null(*test, mark.pc)
        })?;
        Some(LocalFact {
            kind: LocalKind::TestLockAssign,
            pc: mark.pc,
            other: test.1.pc,
            field: Some(field),
        })
    }

    /// Whether a position is on the side of a test where the field was null; tests of numbers have both.
    fn is_behind_null(&self, test: Mark, pc: u16) -> bool {
        let Some(branch) = self.instructions.iter().find(|at| at.pc == u32::from(test.pc)) else {
            return true;
        };
        let target = branch.jump_targets().next().unwrap_or(0);
        match branch.opcode {
            op::IFNONNULL => u32::from(pc) < target,
            op::IFNULL => u32::from(pc) >= target,
            _ => true,
        }
    }

    /// Whether an assignment puts null into its field.
    fn assigns_null(&self, mark: Mark) -> bool {
        let at = self.instructions.partition_point(|at| at.pc < u32::from(mark.pc));
        let before = at.checked_sub(1).and_then(|at| self.instructions.get(at));
        before.is_some_and(|before| before.opcode == op::ACONST_NULL)
    }

    /// An assignment to a field inside a block that locks the object in it.
    fn replaced(&self, field: PairId, mark: Mark) -> Option<LocalFact> {
        // Without an object there is none that others could lock instead.
        if self.assigns_null(mark) {
            return None;
        }
        let held = self.held_at(mark);
        let site = held.iter().map(|site| self.sites[usize::from(*site)]).find(|site| {
            let lock = self.exprs.node(site.lock);
            site.kind == SiteKind::Block
                && matches!(lock, Node::Field(_, named) | Node::Static(named) if named == field)
        })?;
        Some(LocalFact {
            kind: LocalKind::ReplacedInside,
            pc: mark.pc,
            other: site.pc,
            field: Some(field),
        })
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
            self.assignments.iter().find(|(assigned, mark)| {
                *assigned == field && !self.assigns_null(*mark) && self.held_at(*mark).contains(&site)
            })
        };
        tests.iter().find_map(|(inside, held)| {
            let site = *held.first()?;
            let (_, assigned) = assigned(site)?;
            let after = inside.pc > outside.pc && self.sites[usize::from(site)].pc > outside.pc;
            (after && self.cfg.leads_to(outside.block, inside.block)).then_some(LocalFact {
                kind: LocalKind::DoubleChecked,
                pc: assigned.pc,
                other: outside.pc,
                field: Some(field),
            })
        })
    }
}
