//! One method: runs its code on an operand stack of expressions and keeps what the analyses need.

mod call;
mod local;
mod notes;

use ravel_classfile::{Code, ConstantPool, Instruction, Operand, access, op, stack_effect};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cfg::{Cfg, RawBlock, stored_local};
use super::held::{self, RawExit};
use super::variables::Variables;
use crate::body::{Block, Body, Site, SiteKind, Stmt};
use crate::expr::{ExprId, Exprs, Node, UNKNOWN};
use crate::program::{LocalFact, Touch};
use crate::symbols::{PairId, Sym, parameters, result, slots};

/// What a method's code is lowered with.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub pool: &'a ConstantPool,
    /// For each constant: the symbol of a class, the pair of a member reference.
    pub ids: &'a [u32],
    pub class: Sym,
    pub name: &'a [u8],
    /// Name and descriptor in one.
    pub selector: &'a [u8],
    pub access: u16,
    /// The fields (name and type) that some class guards by annotation.
    pub guarded: &'a FxHashSet<Sym>,
    /// The classes that are locks.
    pub locks: &'a FxHashSet<Sym>,
    /// Fields that hold the read or the write lock of the lock in another field.
    pub halves: &'a FxHashMap<PairId, PairId>,
    /// The class and the member of a pair.
    pub members: &'a dyn Fn(PairId) -> (Sym, Sym),
    /// Whether the class locks anything, and findings in it are wanted.
    pub uses_locks: bool,
    /// Whether findings in the class are wanted.
    pub wanted: bool,
}

/// What became of a method.
#[derive(Debug, Default)]
pub(super) struct Lowered {
    pub body: Body,
    pub local: Vec<LocalFact>,
    pub instantiates: Vec<Sym>,
    pub assigns: Vec<PairId>,
    pub reflective: usize,
    /// Acquisitions of a lock without a name.
    pub unnamed: usize,
    /// Expressions with too many parts.
    pub long: usize,
    /// Whether values are not followed in it.
    pub too_large: bool,
    /// Fields to which the constructor gives the read or the write lock of the lock in another field.
    pub halves: Vec<(PairId, PairId)>,
    pub touches: Vec<Touch>,
    pub stores_elements: bool,
}

/// Where something that rules ask for happened: before which statement of which block.
#[derive(Debug, Clone, Copy)]
struct Mark {
    block: u16,
    stmt: u32,
    pc: u16,
}

/// How a constructor lets its object out.
#[derive(Debug, Clone, Copy)]
enum Leak {
    /// It calls this method, which may start a thread.
    Started(PairId),
    /// It puts the object into this static field.
    Published(PairId),
}

struct Run<'a, 'c> {
    context: &'a Context<'a>,
    cfg: &'a Cfg,
    instructions: &'a [Instruction<'c>],
    variables: Variables<'a>,
    exprs: Exprs,
    stack: Vec<ExprId>,
    stmts: Vec<Stmt>,
    pcs: Vec<u16>,
    args: Vec<ExprId>,
    sites: Vec<Site>,
    exits: Vec<RawExit>,
    blocks: Vec<Block>,
    /// What single-assignment locals stand for.
    copies: FxHashMap<u16, ExprId>,
    /// The field that a local was last read from, for double-checked locking.
    read_from: FxHashMap<u16, PairId>,
    /// Fields assigned anywhere in the method: expressions through them are no stable names.
    puts: Vec<PairId>,
    stores_elements: bool,
    /// What left the method's hands, and the first position at which it did.
    escaped: FxHashMap<ExprId, u16>,
    /// Acquisitions that only happen on the way from one block to another.
    conditional: Vec<(u16, u16, u16, ExprId)>,
    tests: Vec<(PairId, Mark)>,
    assignments: Vec<(PairId, Mark)>,
    /// Locks in no field whose read or write lock a field got, and the first such field.
    wholes: Vec<(ExprId, PairId)>,
    mutations: Vec<Mark>,
    waits: Vec<Mark>,
    notifies: Vec<(ExprId, Mark)>,
    /// Uses of the method's own fields; whether they are written.
    touches: Vec<(PairId, bool, Mark)>,
    /// Calls on date formats and calendars in static fields.
    formats: Vec<(PairId, Mark)>,
    /// Threads that a constructor starts, and static fields that it puts its object into.
    leaks: Vec<(Leak, Mark)>,
    out: Lowered,
    block: u16,
    pc: u16,
}

/// Lowers code; none if it makes no sense.
pub(super) fn lower(context: &Context<'_>, code: &Code) -> Option<Lowered> {
    let instructions: Vec<Instruction<'_>> = code.instructions().collect::<Result<_, _>>().ok()?;
    let cfg = Cfg::of(code, &instructions)?;
    let mut puts = Vec::new();
    let mut stores_elements = false;
    let mut stores = vec![0u32; usize::from(code.max_locals)];
    for instruction in &instructions {
        match instruction.operand {
            Operand::Field(index) if matches!(instruction.opcode, op::PUTFIELD | op::PUTSTATIC) => {
                puts.push(PairId(*context.ids.get(usize::from(index))?));
            }
            _ => stores_elements |= instruction.opcode == op::AASTORE,
        }
        if let Some(slot) = stored_local(instruction) {
            *stores.get_mut(usize::from(slot))? += 1;
        }
    }
    let mut run = Run {
        context,
        cfg: &cfg,
        instructions: &instructions,
        variables: Variables::new(
            context.pool,
            context.selector,
            context.access,
            code,
            stores,
            &instructions,
        ),
        exprs: Exprs::default(),
        stack: Vec::new(),
        stmts: Vec::new(),
        pcs: Vec::new(),
        args: Vec::new(),
        sites: Vec::new(),
        exits: Vec::new(),
        blocks: cfg.blocks.iter().map(block_of).collect(),
        copies: FxHashMap::default(),
        read_from: FxHashMap::default(),
        puts,
        stores_elements,
        escaped: FxHashMap::default(),
        conditional: Vec::new(),
        tests: Vec::new(),
        assignments: Vec::new(),
        wholes: Vec::new(),
        mutations: Vec::new(),
        waits: Vec::new(),
        notifies: Vec::new(),
        touches: Vec::new(),
        formats: Vec::new(),
        leaks: Vec::new(),
        out: Lowered::default(),
        block: 0,
        pc: 0,
    };
    let mut entry = Vec::new();
    if context.access & access::SYNCHRONIZED != 0 {
        let lock = if context.access & access::STATIC != 0 {
            Node::Class(context.class)
        } else {
            Node::This
        };
        let lock = run.exprs.add(lock);
        run.sites.push(Site {
            lock,
            pc: 0,
            kind: SiteKind::Method,
            kept: false,
            tried: false,
        });
        entry.push(0);
    }
    run.all_blocks()?;
    Some(run.finish(code, &entry))
}

fn block_of(raw: &RawBlock) -> Block {
    Block {
        successors: raw.successors.clone(),
        handlers: raw.handlers.clone(),
        ..Block::default()
    }
}

impl Run<'_, '_> {
    fn all_blocks(&mut self) -> Option<()> {
        let cfg = self.cfg;
        let mut entries: Vec<Option<Vec<ExprId>>> = vec![None; cfg.blocks.len()];
        *entries.first_mut()? = Some(Vec::new());
        for raw in &cfg.blocks {
            for handler in &raw.handlers {
                entries[usize::from(*handler)] = Some(vec![UNKNOWN]);
            }
        }
        for &block in &cfg.order {
            self.block = block;
            self.stack = entries[usize::from(block)].clone().unwrap_or_default();
            let raw = &cfg.blocks[usize::from(block)];
            let start = self.stmts.len() as u32;
            for number in raw.range.clone() {
                let instruction = self.instructions[number];
                self.pc = instruction.pc as u16;
                self.instruction(&instruction, number)?;
            }
            self.blocks[usize::from(block)].stmts = start..self.stmts.len() as u32;
            for successor in &raw.successors {
                let entry = &mut entries[usize::from(*successor)];
                match entry {
                    None => *entry = Some(self.stack.clone()),
                    Some(known) => {
                        for (known, new) in known.iter_mut().zip(&self.stack) {
                            if known != new {
                                // Either object may be meant from here on.
                                for either in [*known, *new] {
                                    let since = self.escaped.entry(either).or_insert(self.pc);
                                    *since = self.pc.min(*since);
                                }
                                *known = UNKNOWN;
                            }
                        }
                    }
                }
            }
        }
        Some(())
    }

    /// A value leaves the method's hands here.
    fn escape(&mut self, value: ExprId) {
        let since = self.escaped.entry(value).or_insert(self.pc);
        *since = self.pc.min(*since);
    }

    fn pop(&mut self) -> ExprId {
        self.stack.pop().unwrap_or(UNKNOWN)
    }

    fn pop_slots(&mut self, count: usize) {
        let left = self.stack.len().saturating_sub(count);
        self.stack.truncate(left);
    }

    fn push(&mut self, expr: ExprId) {
        self.stack.push(expr);
    }

    fn push_unknown(&mut self, count: usize) {
        self.stack.extend(std::iter::repeat_n(UNKNOWN, count));
    }

    fn emit(&mut self, stmt: Stmt) {
        self.stmts.push(stmt);
        self.pcs.push(self.pc);
    }

    fn mark(&self) -> Mark {
        Mark {
            block: self.block,
            stmt: self.stmts.len() as u32,
            pc: self.pc,
        }
    }

    fn id(&self, index: u16) -> Option<u32> {
        self.context.ids.get(usize::from(index)).copied()
    }

    fn instruction(&mut self, instruction: &Instruction<'_>, number: usize) -> Option<()> {
        let opcode = instruction.opcode;
        match (opcode, instruction.operand) {
            (op::ICONST_M1..=op::ICONST_5, _) => self.push_int(i32::from(opcode) - i32::from(op::ICONST_0)),
            (_, Operand::Int(value)) => self.push_int(i32::from(value)),
            (op::LDC | op::LDC_W, Operand::Constant(index)) => {
                let expr = match self.context.pool.get(index).ok()? {
                    ravel_classfile::Constant::Class(_) => self.exprs.add(Node::Class(Sym(self.id(index)?))),
                    ravel_classfile::Constant::Integer(value) => self.exprs.add(Node::Int(value)),
                    _ => UNKNOWN,
                };
                self.push(expr);
            }
            (op::ILOAD | op::ALOAD | op::ILOAD_0..=op::ILOAD_3 | op::ALOAD_0..=op::ALOAD_3, Operand::Local(slot)) => {
                let expr = self.load(slot);
                self.push(expr);
            }
            (op::ISTORE..=op::ASTORE_3, Operand::Local(slot)) => {
                let wide = matches!(opcode, op::LSTORE | op::DSTORE | op::LSTORE_0..=op::LSTORE_3 | op::DSTORE_0..=op::DSTORE_3);
                if wide {
                    self.pop();
                }
                let value = self.pop();
                self.store(slot, value, instruction.next_pc());
            }
            (op::IINC, Operand::Increment(slot, _)) => self.store(slot, UNKNOWN, instruction.next_pc()),
            (op::AALOAD, _) => {
                let (index, array) = (self.pop(), self.pop());
                let expr = self.exprs.add(Node::Elem(array, index));
                self.push(expr);
            }
            (op::IASTORE..=op::SASTORE, _) => {
                let value = self.pop();
                if matches!(opcode, op::LASTORE | op::DASTORE) {
                    self.pop();
                }
                let (index, array) = (self.pop(), self.pop());
                self.out.stores_elements = true;
                self.mutations.push(self.mark());
                if opcode == op::AASTORE {
                    self.escape(value);
                    let element = self.exprs.add(Node::Elem(array, index));
                    self.assign(element);
                }
            }
            (op::POP..=op::SWAP, _) => self.shuffle(opcode),
            (op::CHECKCAST, _) => {}
            (op::IFEQ..=op::IFLE | op::IFNULL | op::IFNONNULL, _) => {
                let tested = self.pop();
                self.test(tested);
            }
            (op::NEW, Operand::Class(index)) => {
                self.out.instantiates.push(Sym(self.id(index)?));
                let expr = self.exprs.add(Node::New(self.pc));
                self.assign(expr);
                self.push(expr);
            }
            (op::MONITORENTER, _) => {
                let lock = self.pop();
                self.enter(lock, SiteKind::Block);
            }
            (op::MONITOREXIT, _) => {
                self.pop();
                self.exit(None);
            }
            (op::GETSTATIC..=op::PUTFIELD, Operand::Field(index)) => {
                self.field(opcode, PairId(self.id(index)?), index)?
            }
            (op::INVOKEDYNAMIC, Operand::Dynamic(index)) => {
                let (_, _, descriptor) = self.context.pool.dynamic(index).ok()?;
                let count: usize = parameters(descriptor).map(slots).sum();
                let left = self.stack.len().saturating_sub(count);
                let captured = self.stack.split_off(left);
                captured.into_iter().for_each(|value| self.escape(value));
                self.push_unknown(slots(result(descriptor)));
            }
            (_, Operand::Method(index) | Operand::InterfaceMethod(index, _)) => self.call(opcode, index, number)?,
            _ => {
                let (pops, pushes) = stack_effect(instruction, self.context.pool).ok()?;
                self.pop_slots(pops as usize);
                self.push_unknown(pushes as usize);
            }
        }
        Some(())
    }

    fn push_int(&mut self, value: i32) {
        let expr = self.exprs.add(Node::Int(value));
        self.push(expr);
    }

    fn load(&mut self, slot: u16) -> ExprId {
        match self.variables.read(slot, self.pc) {
            Node::Local(variable) => match self.copies.get(&variable) {
                Some(expr) => *expr,
                None => self.exprs.add(Node::Local(variable)),
            },
            node => self.exprs.add(node),
        }
    }

    fn store(&mut self, slot: u16, value: ExprId, next_pc: u32) {
        let Node::Local(variable) = self.variables.written(slot, self.pc, next_pc) else {
            return;
        };
        match self.exprs.node(value) {
            Node::Field(_, field) | Node::Static(field) => self.read_from.insert(variable, field),
            _ => self.read_from.remove(&variable),
        };
        if self.variables.stores(variable) == 1 && self.is_stable(value) {
            self.copies.insert(variable, value);
            return;
        }
        self.escape(value);
        let local = self.exprs.add(Node::Local(variable));
        self.assign(local);
    }

    /// Whether an expression means the same object as long as its parts are not assigned, and they are not in this method.
    fn is_stable(&self, expr: ExprId) -> bool {
        expr != UNKNOWN
            && !self.exprs.any(expr, &mut |node| match node {
                Node::Unknown => true,
                Node::Local(variable) => self.variables.stores(variable) != 1,
                Node::Static(field) | Node::Field(_, field) => self.puts.contains(&field),
                Node::Elem(..) => self.stores_elements,
                _ => false,
            })
    }

    /// An assignment: what is on the stack under the old name has lost it.
    fn assign(&mut self, expr: ExprId) {
        if expr == UNKNOWN {
            return;
        }
        for value in &mut self.stack {
            if *value != UNKNOWN && self.exprs.depends(*value, expr) {
                *value = UNKNOWN;
            }
        }
        self.emit(Stmt::Assign(expr));
    }

    fn shuffle(&mut self, opcode: u8) {
        let deepest = match opcode {
            op::POP | op::DUP => 1,
            op::POP2 | op::DUP2 | op::DUP_X1 | op::SWAP => 2,
            op::DUP_X2 | op::DUP2_X1 => 3,
            _ => 4,
        };
        while self.stack.len() < deepest {
            self.stack.insert(0, UNKNOWN);
        }
        let length = self.stack.len();
        match opcode {
            op::POP | op::POP2 => self.pop_slots(deepest),
            op::SWAP => self.stack.swap(length - 1, length - 2),
            // The others copy the top one or two and put the copy below.
            _ => {
                let copied = if matches!(opcode, op::DUP | op::DUP_X1 | op::DUP_X2) {
                    1
                } else {
                    2
                };
                for offset in 0..copied {
                    let value = self.stack[length - copied + offset];
                    self.stack.insert(length - deepest + offset, value);
                }
            }
        }
    }

    fn test(&mut self, tested: ExprId) {
        let field = match self.exprs.node(tested) {
            Node::Field(_, field) | Node::Static(field) => Some(field),
            Node::Local(variable) => self.read_from.get(&variable).copied(),
            _ => None,
        };
        if let Some(field) = field {
            self.tests.push((field, self.mark()));
        }
    }

    fn enter(&mut self, lock: ExprId, kind: SiteKind) {
        let Ok(site) = u16::try_from(self.sites.len()) else {
            return;
        };
        self.sites.push(Site {
            lock,
            pc: self.pc,
            kind,
            kept: false,
            tried: false,
        });
        self.emit(Stmt::Enter(site));
    }

    fn exit(&mut self, explicit: Option<ExprId>) {
        self.exits.push(RawExit {
            stmt: self.stmts.len() as u32,
            explicit,
        });
        self.emit(Stmt::Exit(None));
    }

    fn field(&mut self, opcode: u8, pair: PairId, index: u16) -> Option<()> {
        let member = self.context.pool.member_ref(index).ok()?;
        let width = slots(member.descriptor);
        let write = matches!(opcode, op::PUTFIELD | op::PUTSTATIC);
        let mut value = UNKNOWN;
        if write {
            value = *self.stack.last().unwrap_or(&UNKNOWN);
            self.pop_slots(width);
        }
        let is_static = matches!(opcode, op::GETSTATIC | op::PUTSTATIC);
        let base = if is_static { UNKNOWN } else { self.pop() };
        if !self.context.guarded.is_empty() && self.context.guarded.contains(&(self.context.members)(pair).1) {
            self.emit(Stmt::Access {
                field: pair,
                base,
                write,
            });
        }
        let own = is_static || self.exprs.node(base) == Node::This;
        if self.context.uses_locks && own && (self.context.members)(pair).0 == self.context.class {
            self.touches.push((pair, write, self.mark()));
        }
        if opcode == op::PUTSTATIC && self.context.name == b"<init>" && self.exprs.node(value) == Node::This {
            self.leaks.push((Leak::Published(pair), self.mark()));
        }
        let node = if is_static {
            Node::Static(pair)
        } else {
            Node::Field(base, pair)
        };
        let reference = matches!(member.descriptor.first(), Some(b'L' | b'['));
        let expr = self.exprs.add(node);
        if write && self.context.name == b"<init>" && self.exprs.node(base) == Node::This {
            self.note_half(pair, value);
        }
        if let Some(whole) = self.context.halves.get(&pair).filter(|_| !write && !is_static) {
            let whole = self.exprs.add(Node::Field(base, *whole));
            let half = self.exprs.add(Node::ReadWrite(whole));
            self.push(half);
            return Some(());
        }
        if write {
            self.escape(value);
            self.mutations.push(self.mark());
            self.assignments.push((pair, self.mark()));
            if !self.out.assigns.contains(&pair) {
                self.out.assigns.push(pair);
            }
            self.assign(expr);
        } else if width == 2 {
            self.push_unknown(2);
        } else if reference || matches!(member.descriptor, b"Z" | b"I") {
            self.push(expr);
        } else {
            self.push(UNKNOWN);
        }
        Some(())
    }

    fn finish(mut self, code: &Code, entry: &[u16]) -> Lowered {
        let raw_blocks = self.blocks.len();
        self.add_conditional();
        let mut order = self.cfg.order.clone();
        order.extend((raw_blocks..self.blocks.len()).map(|block| block as u16));
        self.prune();
        held::resolve(
            &mut self.blocks,
            &order,
            &self.sites,
            &mut self.stmts,
            &self.exits,
            entry,
        );
        for (number, site) in self.sites.iter_mut().enumerate() {
            let released = |stmt: &Stmt| matches!(stmt, Stmt::Exit(Some(exit)) if usize::from(*exit) == number);
            site.kept = site.kind == SiteKind::Explicit && !self.stmts.iter().any(released);
        }
        if self.context.wanted {
            self.local_rules();
        }
        let mut used: Vec<Node> = self.exprs.nodes().to_vec();
        used.retain(|node| matches!(node, Node::Param(_) | Node::Local(_)));
        let names = used
            .into_iter()
            .filter_map(|node| Some((node, self.variables.name(node)?)));
        let names = names.collect();
        let mut escaped: Vec<(ExprId, u16)> = self.escaped.into_iter().collect();
        escaped.retain(|(expr, _)| matches!(self.exprs.node(*expr), Node::New(_)));
        escaped.sort_unstable();
        let unnamed = self.sites.iter().filter(|site| site.lock == UNKNOWN);
        self.out.unnamed = unnamed.count();
        self.out.long = self.exprs.cut();
        self.out.too_large = crate::flow::is_too_large(self.instructions.len(), self.cfg.blocks.len());
        self.out.body = Body {
            exprs: self.exprs.nodes().into(),
            sites: self.sites.into(),
            stmts: self.stmts.into(),
            pcs: self.pcs.into(),
            args: self.args.into(),
            blocks: self.blocks.into(),
            lines: super::variables::lines(self.context.pool, code),
            names,
            escaped: escaped.into(),
        };
        self.out
    }

    /// Drops assignments to what no lock and no argument is made of.
    fn prune(&mut self) {
        let mut used = vec![false; self.exprs.nodes().len()];
        let mut pending: Vec<ExprId> = self.args.clone();
        pending.extend(self.sites.iter().map(|site| site.lock));
        while let Some(expr) = pending.pop() {
            if std::mem::replace(&mut used[expr.0 as usize], true) {
                continue;
            }
            match self.exprs.node(expr) {
                Node::Field(base, _) | Node::ReadWrite(base) => pending.push(base),
                Node::Elem(base, index) => pending.extend([base, index]),
                _ => {}
            }
        }
        let keep = |stmt: &Stmt| !matches!(stmt, Stmt::Assign(expr) if !used[expr.0 as usize]);
        // New places of all statements, and of the end.
        let mut places = Vec::with_capacity(self.stmts.len() + 1);
        let mut place = 0;
        for stmt in &self.stmts {
            places.push(place);
            place += u32::from(keep(stmt));
        }
        places.push(place);
        let moved = |at: u32| places.get(at as usize).copied().unwrap_or(place);
        for block in &mut self.blocks {
            block.stmts = moved(block.stmts.start)..moved(block.stmts.end);
        }
        for exit in &mut self.exits {
            exit.stmt = moved(exit.stmt);
        }
        let marks = self.tests.iter_mut().map(|(_, mark)| mark);
        let marks = marks.chain(self.assignments.iter_mut().map(|(_, mark)| mark));
        let marks = marks.chain(self.notifies.iter_mut().map(|(_, mark)| mark));
        let marks = marks.chain(self.touches.iter_mut().map(|(_, _, mark)| mark));
        let marks = marks.chain(self.formats.iter_mut().map(|(_, mark)| mark));
        let marks = marks.chain(self.leaks.iter_mut().map(|(_, mark)| mark));
        for mark in marks.chain(&mut self.mutations).chain(&mut self.waits) {
            mark.stmt = moved(mark.stmt);
        }
        let kept: Vec<bool> = self.stmts.iter().map(keep).collect();
        let mut flags = kept.iter();
        self.pcs.retain(|_| *flags.next().unwrap_or(&true));
        let mut flags = kept.iter();
        self.stmts.retain(|_| *flags.next().unwrap_or(&true));
    }
}
