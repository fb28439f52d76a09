//! Calls: those that mean something to the analyses, above all explicit locks, and those that are passed on.

use ravel_classfile::{Operand, op};

use super::super::calls::{Meaning, meaning};
use super::Run;
use crate::body::{Block, CallRef, SiteKind, Stmt};
use crate::expr::{ExprId, Node, UNKNOWN};
use crate::symbols::{PairId, parameters, result, slots};

impl Run<'_, '_> {
    /// A field that gets `this.lock.readLock()` names the same lock as `this.lock`. Fields that get the halves of a lock which is in
    /// no field are named after the first of them.
    pub(super) fn note_half(&mut self, pair: PairId, value: ExprId) {
        let Node::ReadWrite(whole) = self.exprs.node(value) else {
            return;
        };
        match self.exprs.node(whole) {
            Node::Field(owner, lock) if self.exprs.node(owner) == Node::This => self.out.halves.push((pair, lock)),
            Node::New(_) | Node::Local(_) | Node::Param(_) => {
                let known = self.wholes.iter().find(|(known, _)| *known == whole);
                let first = known.map_or(pair, |(_, first)| *first);
                self.wholes.push((whole, first));
                self.out.halves.push((pair, first));
            }
            _ => {}
        }
    }

    pub(super) fn call(&mut self, opcode: u8, index: u16, number: usize) -> Option<()> {
        let method = self.context.pool.member_ref(index).ok()?;
        let receiver = opcode != op::INVOKESTATIC;
        let start = self.args.len();
        let widths: usize = parameters(method.descriptor).map(slots).sum();
        let mut at = self.stack.len().saturating_sub(widths + usize::from(receiver));
        let bottom = at;
        if receiver {
            self.args.push(self.stack.get(at).copied().unwrap_or(UNKNOWN));
            at += 1;
        }
        for parameter in parameters(method.descriptor) {
            let value = self.stack.get(at).copied().unwrap_or(UNKNOWN);
            let kept = if slots(parameter) == 1 { value } else { UNKNOWN };
            self.args.push(kept);
            if kept != UNKNOWN {
                self.escape(kept);
            }
            at += slots(parameter);
        }
        self.stack.truncate(bottom);
        let object = if receiver { self.args[start] } else { UNKNOWN };
        let mut answer = UNKNOWN;
        let pair = PairId(self.id(index)?);
        let is_lock = || self.context.locks.contains(&(self.context.members)(pair).0);
        let meant = meaning(&method, &is_lock);
        self.note_call(&method, object, pair);
        match meant {
            Meaning::Lock if receiver => {
                self.args.truncate(start);
                self.enter(object, SiteKind::Explicit);
                return Some(());
            }
            Meaning::Unlock if receiver => {
                self.args.truncate(start);
                self.exit(Some(object));
                return Some(());
            }
            Meaning::TryLock if receiver => {
                self.args.truncate(start);
                self.try_lock(object, number);
                self.push(UNKNOWN);
                return Some(());
            }
            Meaning::ReadWrite if receiver => answer = self.exprs.add(Node::ReadWrite(object)),
            Meaning::Wait | Meaning::TimedWait if receiver => {
                if meant == Meaning::Wait {
                    self.waits.push(self.mark());
                }
                let lock = if method.name == b"wait" { object } else { UNKNOWN };
                self.emit(Stmt::Wait(lock));
            }
            Meaning::Notify if receiver => {
                self.notifies.push((object, self.mark()));
                self.args.truncate(start);
                self.emit(Stmt::Notify {
                    lock: object,
                    all: method.name == b"notifyAll",
                });
                return Some(());
            }
            Meaning::Reflective => self.out.reflective += 1,
            _ => {}
        }
        let target = CallRef {
            pair,
            is_virtual: matches!(opcode, op::INVOKEVIRTUAL | op::INVOKEINTERFACE),
        };
        let count = u8::try_from(self.args.len() - start).ok()?;
        self.emit(Stmt::Call {
            target,
            args: start as u32,
            count,
            receiver,
        });
        let width = slots(result(method.descriptor));
        if width == 1 {
            self.push(answer);
        } else {
            self.push_unknown(width);
        }
        Some(())
    }

    /// `tryLock` holds the lock where its answer was true. When the very next instruction asks, the way is known.
    fn try_lock(&mut self, lock: ExprId, number: usize) {
        let next = self.instructions.get(number + 1);
        let branch = next.and_then(|next| match (next.opcode, next.operand) {
            (op::IFEQ, _) => self.cfg.block(next.next_pc()),
            (op::IFNE, Operand::Branch(target)) => self.cfg.block(target),
            _ => None,
        });
        match branch {
            Some(target) => self.conditional.push((self.block, target, self.pc, lock)),
            None => {
                self.enter(lock, SiteKind::Explicit);
                self.mark_tried();
            }
        }
    }

    fn mark_tried(&mut self) {
        if let Some(site) = self.sites.last_mut() {
            site.tried = true;
        }
    }

    /// Puts an acquisition on the way from one block to another, as a block of its own.
    pub(super) fn add_conditional(&mut self) {
        for (from, to, pc, lock) in std::mem::take(&mut self.conditional) {
            let (Ok(site), Ok(block)) = (u16::try_from(self.sites.len()), u16::try_from(self.blocks.len())) else {
                continue;
            };
            self.pc = pc;
            let start = self.stmts.len() as u32;
            self.enter(lock, SiteKind::Explicit);
            self.mark_tried();
            debug_assert_eq!(usize::from(site) + 1, self.sites.len());
            self.blocks.push(Block {
                stmts: start..start + 1,
                successors: vec![to],
                ..Block::default()
            });
            let successors = &mut self.blocks[usize::from(from)].successors;
            for successor in successors.iter_mut().filter(|successor| **successor == to) {
                *successor = block;
            }
        }
    }
}
