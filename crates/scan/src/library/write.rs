//! Writes the file form of a library. `read` mirrors it, part by part.

use crate::body::{Body, SiteKind, Stmt};
use crate::expr::{ExprId, Node};
use crate::program::{Class, Counts, Method, Program};
use crate::summary::{SummaryEntry, Way};
use crate::symbols::{PairId, Sym, Symbols};

/// Old numbers to new ones, given out in the order of first use.
#[derive(Default)]
pub(super) struct Numbering {
    known: Vec<u32>,
    pub order: Vec<u32>,
}

impl Numbering {
    fn of(&mut self, old: u32) -> u32 {
        let at = old as usize;
        if self.known.len() <= at {
            self.known.resize(at + 1, u32::MAX);
        }
        if self.known[at] == u32::MAX {
            self.known[at] = self.order.len() as u32;
            self.order.push(old);
        }
        self.known[at]
    }
}

pub(super) struct Writer<'a> {
    pub out: Vec<u8>,
    pub symbols: &'a Symbols,
    pub names: Numbering,
    pub pairs: Numbering,
}

impl Writer<'_> {
    pub fn number(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.out.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.out.push(value as u8);
    }

    fn flag(&mut self, flag: bool) {
        self.out.push(u8::from(flag));
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u32);
        self.out.extend_from_slice(bytes);
    }

    fn text(&mut self, text: Option<&str>) {
        self.flag(text.is_some());
        if let Some(text) = text {
            self.bytes(text.as_bytes());
        }
    }

    pub fn sym(&mut self, sym: Sym) {
        let number = self.names.of(sym.0);
        self.number(number);
    }

    pub fn pair(&mut self, pair: PairId) {
        let number = self.pairs.of(pair.0);
        self.number(number);
    }

    pub fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u32);
        items.iter().for_each(|item| each(self, item));
    }

    pub fn counts(&mut self, counts: &Counts) {
        let Counts {
            classes,
            wanted: _,
            failed,
            duplicates,
            missing: _,
            methods,
            failed_methods,
            lines,
            unresolved: _,
            native,
            reflective,
            unnamed,
            large: _,
            long,
        } = *counts;
        for count in [
            classes,
            failed,
            duplicates,
            methods,
            failed_methods,
            lines,
            native,
            reflective,
            unnamed,
            long,
        ] {
            self.number(u32::try_from(count).unwrap_or(u32::MAX));
        }
    }

    pub fn class(&mut self, program: &Program, class: &Class) {
        self.sym(class.name);
        let parent: Vec<Sym> = class.super_class.into_iter().collect();
        self.list(&parent, |writer, parent| writer.sym(*parent));
        self.list(&class.interfaces, |writer, interface| writer.sym(*interface));
        self.number(u32::from(class.access));
        self.text(class.source.as_deref());
        self.list(&class.fields, |writer, field| {
            writer.sym(writer.symbols.members(field.pair).1);
            writer.number(u32::from(field.access));
            writer.text(field.guard.as_deref());
        });
        let notes = class.notes;
        [notes.not_thread_safe, notes.thread_safe, notes.immutable]
            .into_iter()
            .for_each(|note| self.flag(note));
        self.list(&class.instantiates, |writer, made| writer.sym(*made));
        let methods = class.methods.start as usize..class.methods.end as usize;
        self.list(&program.methods[methods], Self::method);
    }

    fn method(&mut self, method: &Method) {
        self.sym(method.selector);
        self.number(u32::from(method.access));
        self.text(method.guard.as_deref());
        self.list(&method.assigns, |writer, field| writer.pair(*field));
        self.flag(method.stores_elements);
        self.flag(method.body.is_some());
        if let Some(body) = &method.body {
            self.body(body);
        }
    }

    pub fn entry(&mut self, entry: &SummaryEntry<ExprId>) {
        self.number(entry.item.0);
        self.number(entry.depth);
        match entry.way {
            Way::Direct(site) => self.tagged(0, site),
            Way::Call(stmt, method, place) => {
                self.tagged(1, stmt);
                self.number(method.0);
                self.number(place);
            }
        }
    }

    fn body(&mut self, body: &Body) {
        self.list(&body.exprs, |writer, node| writer.node(*node));
        self.list(&body.sites, |writer, site| {
            writer.number(site.lock.0);
            writer.number(u32::from(site.pc));
            let kind = match site.kind {
                SiteKind::Method => 0,
                SiteKind::Block => 1,
                SiteKind::Explicit => 2,
            };
            writer.out.push(kind);
            writer.flag(site.kept);
            writer.flag(site.tried);
        });
        self.list(&body.stmts, |writer, stmt| writer.stmt(stmt));
        self.list(&body.pcs, |writer, pc| writer.number(u32::from(*pc)));
        self.list(&body.args, |writer, arg| writer.number(arg.0));
        self.list(&body.blocks, |writer, block| {
            writer.number(block.stmts.start);
            writer.number(block.stmts.end);
            for list in [&block.successors, &block.handlers, &block.held] {
                writer.list(list, |writer, item| writer.number(u32::from(*item)));
            }
            writer.flag(block.reached);
        });
        self.list(&body.lines, |writer, (pc, line)| {
            writer.number(u32::from(*pc));
            writer.number(u32::from(*line));
        });
        self.list(&body.names, |writer, (node, name)| {
            writer.node(*node);
            writer.bytes(name.as_bytes());
        });
        self.list(&body.escaped, |writer, (expr, pc)| {
            writer.number(expr.0);
            writer.number(u32::from(*pc));
        });
    }

    pub fn node(&mut self, node: Node) {
        match node {
            Node::Unknown => self.out.push(0),
            Node::This => self.out.push(1),
            Node::Param(index) => self.tagged(2, u32::from(index)),
            Node::Local(index) => self.tagged(3, u32::from(index)),
            Node::New(pc) => self.tagged(4, u32::from(pc)),
            Node::Int(value) => self.tagged(5, value.cast_unsigned()),
            Node::Static(pair) => {
                self.out.push(6);
                self.pair(pair);
            }
            Node::Class(sym) => {
                self.out.push(7);
                self.sym(sym);
            }
            Node::Field(base, pair) => {
                self.tagged(8, base.0);
                self.pair(pair);
            }
            Node::ReadWrite(base) => self.tagged(9, base.0),
            Node::Elem(base, index) => {
                self.tagged(10, base.0);
                self.number(index.0);
            }
        }
    }

    fn tagged(&mut self, tag: u8, value: u32) {
        self.out.push(tag);
        self.number(value);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match *stmt {
            Stmt::Enter(site) => self.tagged(0, u32::from(site)),
            Stmt::Exit(None) => self.out.push(1),
            Stmt::Exit(Some(site)) => self.tagged(2, u32::from(site)),
            Stmt::Assign(expr) => self.tagged(3, expr.0),
            Stmt::Call {
                target,
                args,
                count,
                receiver,
            } => {
                self.out.push(4);
                self.pair(target.pair);
                self.flag(target.is_virtual);
                self.number(args);
                self.out.push(count);
                self.flag(receiver);
            }
            Stmt::Wait(lock) => self.tagged(5, lock.0),
            Stmt::Notify { lock, all } => {
                self.tagged(6, lock.0);
                self.flag(all);
            }
            Stmt::Access { field, base, write } => {
                self.out.push(7);
                self.pair(field);
                self.number(base.0);
                self.flag(write);
            }
        }
    }
}
