//! What lowering notes for rules that look at one method alone and need no more than what is held: shared date formats, objects
//! that leave their constructor, locks that are not given up, and uses of fields.

use ravel_classfile::{MemberRef, op};

use super::{Leak, Mark, Run};
use crate::body::{SiteKind, Stmt};
use crate::expr::{ExprId, Node};
use crate::program::{LocalFact, LocalKind, Touch};
use crate::symbols::PairId;

/// The classes whose objects go wrong when two threads use them, and which are often kept in static fields.
const FORMATS: [&[u8]; 4] = [
    b"java/text/DateFormat",
    b"java/text/SimpleDateFormat",
    b"java/util/Calendar",
    b"java/util/GregorianCalendar",
];

/// Their methods that change nothing.
const HARMLESS: [&[u8]; 9] = [
    b"clone",
    b"equals",
    b"getTimeZone",
    b"hashCode",
    b"isLenient",
    b"setTimeZone",
    b"setLenient",
    b"toPattern",
    b"toString",
];

impl Run<'_, '_> {
    /// Notes a call before it is lowered.
    pub(super) fn note_call(&mut self, method: &MemberRef<'_>, object: ExprId, called: PairId) {
        if FORMATS.contains(&method.class)
            && !HARMLESS.contains(&method.name)
            && !method.name.starts_with(b"<")
            && let Node::Static(field) = self.exprs.node(object)
        {
            self.formats.push((field, self.mark()));
        }
        if self.context.name == b"<init>" && method.name == b"start" && method.descriptor == b"()V" {
            self.leaks.push((Leak::Started(called), self.mark()));
        }
    }

    /// Turns what was noted into facts, now that it is known what is held where.
    pub(super) fn noted(&mut self) {
        let reached = |mark: &Mark| self.blocks[usize::from(mark.block)].reached;
        let fact = |kind, pc, other, field| LocalFact { kind, pc, other, field };
        let mut facts = Vec::new();
        if self.context.name != b"<clinit>" {
            for (field, mark) in self.formats.iter().filter(|(_, mark)| reached(mark)) {
                if self.held_at(*mark).is_empty() {
                    facts.push(fact(LocalKind::SharedFormat, mark.pc, mark.pc, Some(*field)));
                }
            }
        }
        for (leak, mark) in &self.leaks {
            let later = self
                .assignments
                .iter()
                .find(|(_, assigned)| self.leads_to(*mark, *assigned));
            let later = later.map_or(mark.pc, |(_, assigned)| assigned.pc);
            let (kind, member) = match leak {
                Leak::Started(method) => (LocalKind::StartedInConstructor, *method),
                Leak::Published(field) => (LocalKind::PublishedInConstructor, *field),
            };
            facts.push(fact(kind, mark.pc, later, Some(member)));
        }
        facts.extend(self.left_locked());
        let touches: Vec<Touch> = self
            .touches
            .iter()
            .filter(|(_, _, mark)| reached(mark))
            .map(|(field, write, mark)| Touch {
                field: *field,
                write: *write,
                pc: mark.pc,
                locks: self
                    .held_at(*mark)
                    .iter()
                    .map(|site| self.sites[usize::from(*site)].lock)
                    .collect(),
            })
            .collect();
        self.out.local.extend(facts);
        self.out.touches = touches;
    }

    /// Whether a way leads from one place to another that is further down.
    fn leads_to(&self, from: Mark, to: Mark) -> bool {
        if to.pc <= from.pc || from.block == to.block {
            return to.pc > from.pc;
        }
        let mut seen = vec![false; self.blocks.len()];
        let mut pending = vec![from.block];
        while let Some(block) = pending.pop() {
            let block = &self.blocks[usize::from(block)];
            for next in block.successors.iter().chain(&block.handlers) {
                if *next == to.block {
                    return true;
                }
                if seen
                    .get_mut(usize::from(*next))
                    .is_some_and(|seen| !std::mem::replace(seen, true))
                {
                    pending.push(*next);
                }
            }
        }
        false
    }

    /// Explicit locks that some way out of the method leaves held although another one gives them up.
    fn left_locked(&self) -> Vec<LocalFact> {
        let mut facts = Vec::new();
        for (number, site) in self.sites.iter().enumerate() {
            if site.kind != SiteKind::Explicit || site.kept || site.tried {
                continue;
            }
            let Ok(number) = u16::try_from(number) else { break };
            let returned = self.cfg.blocks.iter().zip(&self.blocks).find_map(|(raw, block)| {
                let last = self.instructions.get(raw.range.end.checked_sub(1)?)?;
                let is_return = matches!(last.opcode, op::IRETURN..=op::RETURN) && block.reached;
                let end = Mark {
                    block: 0,
                    stmt: block.stmts.end,
                    pc: last.pc as u16,
                };
                let mut held = block.held.clone();
                for at in block.stmts.start..end.stmt {
                    crate::body::step(&mut held, &self.stmts[at as usize]);
                }
                (is_return && held.contains(&number)).then_some(end.pc)
            });
            if let Some(pc) = returned {
                facts.push(LocalFact {
                    kind: LocalKind::LockLeft,
                    pc,
                    other: site.pc,
                    field: None,
                });
                continue;
            }
            if let Some(pc) = self.thrown_with(number) {
                facts.push(LocalFact {
                    kind: LocalKind::LockLeftByException,
                    pc,
                    other: site.pc,
                    field: None,
                });
            }
        }
        facts
    }

    /// A call with a site's lock held in a block without handlers.
    fn thrown_with(&self, site: u16) -> Option<u16> {
        for block in self
            .blocks
            .iter()
            .filter(|block| block.reached && block.handlers.is_empty())
        {
            let mut held = block.held.clone();
            for at in block.stmts.clone() {
                let stmt = &self.stmts[at as usize];
                if matches!(stmt, Stmt::Call { .. }) && held.contains(&site) {
                    return self.pcs.get(at as usize).copied();
                }
                crate::body::step(&mut held, stmt);
            }
        }
        None
    }
}
