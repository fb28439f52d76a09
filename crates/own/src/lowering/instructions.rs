//! What each instruction does to the state of the abstract run, and what is taken down of it.

use ravel_classfile::{Constant, Instruction, Operand, access, op, stack_effect};

use super::{NOTHING, Run, Value};
use crate::flow::{
    Access, Allocation, Call, FlowNode, LambdaFlow, LockStep, Made, NONE, OUTSIDE, RETURN, holds, is_inert,
};
use crate::objects::Element;
use crate::world::FieldIx;
use ravel_scan::expr::{ExprId, Node, UNKNOWN};
use ravel_scan::symbols::{PairId, Sym, parameters, result, slots};

impl Run<'_> {
    pub(super) fn instruction(&mut self, instruction: &Instruction<'_>) -> Option<()> {
        let opcode = instruction.opcode;
        match (opcode, instruction.operand) {
            (op::LDC | op::LDC_W, Operand::Constant(index)) => match self.file.pool.get(index).ok()? {
                Constant::Class(_) => {
                    let name = self.world.symbols.intern(self.file.pool.class_name(index).ok()?);
                    let expr = self.flow.exprs.add(Node::Class(name));
                    self.push(Value { expr, ..NOTHING });
                }
                Constant::Dynamic(..) | Constant::MethodHandle(..) | Constant::MethodType(_) => self.push(Value {
                    node: OUTSIDE,
                    ..NOTHING
                }),
                _ => self.push(NOTHING),
            },
            (op::ALOAD | op::ALOAD_0..=op::ALOAD_3, Operand::Local(slot)) => {
                let value = *self.state.locals.get(usize::from(slot))?;
                self.push(value);
            }
            (op::ISTORE..=op::ASTORE_3, Operand::Local(slot)) => {
                let slot = usize::from(slot);
                let wide = matches!(opcode, op::LSTORE | op::DSTORE | op::LSTORE_0..=op::LSTORE_3 | op::DSTORE_0..=op::DSTORE_3);
                if wide {
                    self.pop()?;
                    *self.state.locals.get_mut(slot + 1)? = NOTHING;
                }
                let value = self.pop()?;
                *self.state.locals.get_mut(slot)? = value;
            }
            (op::IINC, _) => {}
            (op::IALOAD..=op::SALOAD, _) => {
                self.pop()?;
                let array = self.pop()?;
                let value = if opcode == op::AALOAD { self.made() } else { NOTHING };
                self.access(Err(element_of(opcode - op::IALOAD)), array, false, value.node);
                self.push(value);
                if matches!(opcode, op::LALOAD | op::DALOAD) {
                    self.push(NOTHING);
                }
            }
            (op::IASTORE..=op::SASTORE, _) => {
                let value = self.pop()?;
                if matches!(opcode, op::LASTORE | op::DASTORE) {
                    self.pop()?;
                }
                self.pop()?;
                let array = self.pop()?;
                self.leak(value);
                self.access(Err(element_of(opcode - op::IASTORE)), array, true, value.node);
            }
            (op::POP..=op::SWAP, _) => self.shuffle(opcode)?,
            (op::CHECKCAST, Operand::Class(index)) => {
                let value = self.pop()?;
                let class = self.file.pool.class_name(index).ok()?;
                let name = self.world.symbols.intern(class);
                self.cast(value, name);
            }
            (op::NEW, Operand::Class(index)) => {
                let name = self.world.symbols.intern(self.file.pool.class_name(index).ok()?);
                self.allocate(Made::Object(name));
            }
            (op::NEWARRAY, Operand::NewArray(kind)) => {
                self.pop()?;
                let letter = b"ZCFDBSIJ".get(usize::from(kind.checked_sub(4)?))?;
                self.allocate(Made::Array(Element::of(&[*letter])));
            }
            (op::ANEWARRAY, _) => {
                self.pop()?;
                self.allocate(Made::Array(Element::REFERENCE));
            }
            (op::MULTIANEWARRAY, Operand::MultiArray(index, dimensions)) => {
                self.pop_slots(usize::from(dimensions))?;
                let class = self.file.pool.class_name(index).ok()?;
                let element = Element::of(class.get(usize::from(dimensions)..)?);
                self.allocate(match dimensions {
                    1 => Made::Array(element),
                    _ => Made::DeepArray(element, dimensions),
                });
            }
            (op::MONITORENTER, _) => {
                let lock = self.pop()?;
                self.acquire(lock.expr);
            }
            (op::MONITOREXIT, _) => {
                let lock = self.pop()?;
                self.release(lock.expr, false);
            }
            (op::GETSTATIC..=op::PUTFIELD, Operand::Field(index)) => self.field(opcode, index)?,
            (op::INVOKEDYNAMIC, Operand::Dynamic(index)) => self.dynamic(index)?,
            (_, Operand::Method(index) | Operand::InterfaceMethod(index, _)) => self.call(opcode, index)?,
            (op::ARETURN, _) => {
                let value = self.pop()?;
                self.edge(value.node, RETURN);
            }
            (op::ATHROW, _) => {
                let value = self.pop()?;
                self.leak(value);
                self.edge(value.node, OUTSIDE);
            }
            _ => {
                let (pops, pushes) = stack_effect(instruction, &self.file.pool).ok()?;
                self.pop_slots(pops as usize)?;
                self.push_nothing(pushes as usize);
            }
        }
        Some(())
    }

    fn allocate(&mut self, made: Made) {
        let value = self.made();
        if matches!(made, Made::Array(_)) {
            self.state.fresh.push(value.expr);
        }
        if self.telling {
            self.flow.allocations.push(Allocation {
                pc: self.pc,
                node: value.node,
                made,
            });
        }
        self.push(value);
    }

    /// A value of another type from here on; its name stays.
    fn cast(&mut self, value: Value, class: Sym) {
        // A number or text holds nothing, and is none of the objects that are followed.
        if is_inert(self.world.symbols.bytes(class)) {
            return self.push(Value { node: NONE, ..value });
        }
        if value.node == NONE || value.node == OUTSIDE && !self.world.by_name.contains_key(&class) {
            return self.push(value);
        }
        let node = self.node((2, u32::from(self.pc), 0));
        self.edge(value.node, node);
        if self.telling {
            self.flow.casts.push((node, class));
        }
        self.push(Value { node, ..value });
    }

    /// An access to a field or an element.
    fn access(&mut self, to: Result<FieldIx, Element>, base: Value, write: bool, value: FlowNode) {
        if !self.telling {
            return;
        }
        let (field, element) = match to {
            Ok(field) => (Some(field), Element::REFERENCE),
            Err(element) => (None, element),
        };
        let is_static = field.is_some_and(|field| self.world.field(field).access & access::STATIC != 0);
        let place = self.place();
        self.flow.accesses.push(Access {
            place,
            field,
            element,
            is_static,
            base: base.node,
            base_expr: base.expr,
            fresh: base.expr != UNKNOWN && self.state.fresh.contains(&base.expr),
            write,
            value,
        });
    }

    fn shuffle(&mut self, opcode: u8) -> Option<()> {
        let deepest = match opcode {
            op::POP | op::DUP => 1,
            op::POP2 | op::DUP2 | op::DUP_X1 | op::SWAP => 2,
            op::DUP_X2 | op::DUP2_X1 => 3,
            _ => 4,
        };
        let length = self.state.stack.len();
        let bottom = length.checked_sub(deepest)?;
        match opcode {
            op::POP | op::POP2 => self.state.stack.truncate(bottom),
            op::SWAP => self.state.stack.swap(length - 1, length - 2),
            // The others copy the top one or two and put the copy below.
            _ => {
                let one = matches!(opcode, op::DUP | op::DUP_X1 | op::DUP_X2);
                let copied = if one { 1 } else { 2 };
                let top: Vec<Value> = self.state.stack[length - copied..].to_vec();
                for (offset, value) in top.into_iter().enumerate() {
                    self.state.stack.insert(bottom + offset, value);
                }
            }
        }
        Some(())
    }

    fn acquire(&mut self, lock: ExprId) {
        if self.telling {
            let place = self.place();
            self.flow.locks.push(LockStep {
                place,
                lock,
                acquire: true,
            });
        }
        self.state.held.push(lock);
    }

    fn release(&mut self, lock: ExprId, explicit: bool) {
        if self.telling {
            let place = self.place();
            self.flow.locks.push(LockStep {
                place,
                lock,
                acquire: false,
            });
        }
        let found = self
            .state
            .held
            .iter()
            .rposition(|held| *held == lock && lock != UNKNOWN);
        if let Some(at) = found {
            self.state.held.remove(at);
            return;
        }
        // Whichever lock this is, it is held no more.
        if explicit {
            let field = match self.flow.exprs.node(lock) {
                Node::Field(_, pair) | Node::Static(pair) => Some(FieldIx(pair.0)),
                _ => None,
            };
            if self.telling {
                self.flow.stray_unlocks.push(field);
            }
        }
        self.state.held.clear();
        self.state.entry = false;
    }

    fn field(&mut self, opcode: u8, index: u16) -> Option<()> {
        let member = self.file.pool.member_ref(index).ok()?;
        let mut text = member.name.to_vec();
        text.push(b':');
        text.extend_from_slice(member.descriptor);
        let width = slots(member.descriptor);
        let reference = holds(member.descriptor);
        let (class, member) = (
            self.world.symbols.intern(member.class),
            self.world.symbols.intern(&text),
        );
        let field = self.world.resolve_field(class, member);
        let write = matches!(opcode, op::PUTFIELD | op::PUTSTATIC);
        let mut value = NOTHING;
        if write {
            value = *self.state.stack.last()?;
            self.pop_slots(width)?;
            self.leak(value);
        }
        let is_static = matches!(opcode, op::GETSTATIC | op::PUTSTATIC);
        let base = if is_static { NOTHING } else { self.pop()? };
        let Some(field) = field else {
            // A field of the JDK, or of a class that is not there.
            if write {
                self.edge(value.node, OUTSIDE);
            } else {
                let node = if reference { OUTSIDE } else { NONE };
                self.push(Value { node, ..NOTHING });
                self.push_nothing(width - 1);
            }
            return Some(());
        };
        if write {
            let node = if reference { value.node } else { NONE };
            self.access(Ok(field), base, true, node);
            return Some(());
        }
        let mut got = if width == 1 && text.last() == Some(&b';') || text.contains(&b'[') {
            self.made()
        } else {
            NOTHING
        };
        if !reference {
            got.node = NONE;
        }
        if self.world.field(field).access & access::FINAL != 0 && got.expr != UNKNOWN {
            let pair = PairId(field.0);
            let expr = match is_static {
                true => self.flow.exprs.add(Node::Static(pair)),
                false if base.expr != UNKNOWN => self.flow.exprs.add(Node::Field(base.expr, pair)),
                false => UNKNOWN,
            };
            if expr != UNKNOWN {
                got.expr = expr;
            }
        }
        self.access(Ok(field), base, false, got.node);
        self.push(got);
        self.push_nothing(width - 1);
        Some(())
    }

    /// Takes the arguments of a call from the stack, the receiver first.
    fn arguments(&mut self, descriptor: &[u8], receiver: bool) -> Option<Vec<Value>> {
        let widths: usize = parameters(descriptor).map(slots).sum();
        let bottom = self.state.stack.len().checked_sub(widths + usize::from(receiver))?;
        let mut at = bottom;
        let mut args = Vec::new();
        if receiver {
            args.push(*self.state.stack.get(at)?);
            at += 1;
        }
        for parameter in parameters(descriptor) {
            let value = *self.state.stack.get(at)?;
            args.push(if holds(parameter) {
                value
            } else {
                Value { node: NONE, ..value }
            });
            at += slots(parameter);
        }
        self.state.stack.truncate(bottom);
        Some(args)
    }

    fn call(&mut self, opcode: u8, index: u16) -> Option<()> {
        let member = self.file.pool.member_ref(index).ok()?;
        let receiver = opcode != op::INVOKESTATIC;
        let descriptor = member.descriptor.to_vec();
        let name = member.name.to_vec();
        let owner = member.class.to_vec();
        let args = self.arguments(&descriptor, receiver)?;
        // A copy of an array of numbers has nothing of the array.
        if let ([b'[', element], b"clone", true) = (owner.as_slice(), name.as_slice(), receiver) {
            self.allocate(Made::Array(Element::of(&[*element])));
            return Some(());
        }
        if receiver && owner == b"java/util/concurrent/locks/Lock" && name == b"unlock" && self.telling {
            self.flow.stray_unlocks.push(None);
        }
        if receiver && is_lock(&owner) {
            match name.as_slice() {
                b"lock" | b"lockInterruptibly" if descriptor == b"()V" => {
                    self.acquire(args[0].expr);
                    return Some(());
                }
                b"unlock" => {
                    self.release(args[0].expr, true);
                    return Some(());
                }
                _ => {}
            }
        }
        self.flow.splits |= splits(&owner, &name);
        let to_super = self.is_constructor && opcode == op::INVOKESPECIAL && name == b"<init>";
        for (at, value) in args.iter().enumerate() {
            if !(at == 0 && to_super) {
                self.leak(*value);
            }
        }
        let class = self.world.symbols.intern(&owner);
        let mut text = name;
        text.extend_from_slice(&descriptor);
        let selector = self.world.symbols.intern(&text);
        let returned = result(&descriptor);
        let width = slots(returned);
        let mut value = NOTHING;
        if matches!(returned.first(), Some(b'L' | b'[')) {
            value = self.made();
            if !holds(returned) {
                value.node = NONE;
            }
        }
        if self.telling {
            let place = self.place();
            self.flow.calls.push(Call {
                place,
                opcode,
                class,
                selector,
                args: args.iter().map(|value| (value.node, value.expr)).collect(),
                result: value.node,
            });
        }
        if width > 0 {
            self.push(value);
            self.push_nothing(width - 1);
        }
        Some(())
    }

    fn dynamic(&mut self, index: u16) -> Option<()> {
        let (bootstrap, _, descriptor) = self.file.pool.dynamic(index).ok()?;
        let descriptor = descriptor.to_vec();
        let args = self.arguments(&descriptor, false)?;
        for value in &args {
            self.leak(*value);
        }
        let (factory, lambda) = self.bootstrap(bootstrap, index)?;
        let returned = result(&descriptor).to_vec();
        match (factory.as_slice(), lambda) {
            (b"java/lang/invoke/LambdaMetafactory", Some((name, kind, class, selector))) => {
                let value = self.made();
                if self.telling {
                    let at = self.flow.lambdas.len() as u32;
                    self.flow.lambdas.push(LambdaFlow {
                        name: name.into(),
                        captured: args.iter().map(|value| value.node).collect(),
                        kind,
                        class,
                        selector,
                    });
                    self.flow.allocations.push(Allocation {
                        pc: self.pc,
                        node: value.node,
                        made: Made::Lambda(at),
                    });
                }
                self.push(value);
            }
            (
                b"java/lang/invoke/StringConcatFactory"
                | b"java/lang/runtime/ObjectMethods"
                | b"java/lang/runtime/SwitchBootstraps",
                _,
            ) => {
                if self.telling {
                    self.flow
                        .shown
                        .extend(args.iter().map(|value| value.node).filter(|node| *node != NONE));
                }
                self.push_nothing(slots(&returned));
            }
            _ => {
                for value in &args {
                    self.edge(value.node, OUTSIDE);
                }
                let width = slots(&returned);
                let node = if holds(&returned) { OUTSIDE } else { NONE };
                if width > 0 {
                    self.push(Value { node, ..NOTHING });
                    self.push_nothing(width - 1);
                }
            }
        }
        Some(())
    }

    /// The class of a bootstrap method and, of a lambda, the interface's method and what it calls.
    #[expect(clippy::type_complexity, reason = "taken apart where it is made")]
    fn bootstrap(&mut self, number: u16, index: u16) -> Option<(Vec<u8>, Option<(Vec<u8>, u8, Sym, Sym)>)> {
        let info = self.file.attribute("BootstrapMethods")?.info.clone();
        let word = |at: usize| Some(u16::from_be_bytes([*info.get(at)?, *info.get(at + 1)?]));
        let mut at = 2;
        for _ in 0..number {
            at += 4 + 2 * usize::from(word(at + 2)?);
        }
        let pool = &self.file.pool;
        let Constant::MethodHandle(_, factory) = pool.get(word(at)?).ok()? else {
            return None;
        };
        let factory = pool.member_ref(factory).ok()?.class.to_vec();
        if factory != b"java/lang/invoke/LambdaMetafactory" {
            return Some((factory, None));
        }
        let Constant::MethodHandle(kind, target) = pool.get(word(at + 6)?).ok()? else {
            return None;
        };
        let (_, name, _) = pool.dynamic(index).ok()?;
        let member = pool.member_ref(target).ok()?;
        let mut text = member.name.to_vec();
        text.extend_from_slice(member.descriptor);
        let class = self.world.symbols.intern(member.class);
        let selector = self.world.symbols.intern(&text);
        Some((factory, Some((name.to_vec(), kind, class, selector))))
    }
}

/// The explicit locks that exclude everybody. A `Lock` may be a read lock, and read and write locks are not followed.
fn is_lock(class: &[u8]) -> bool {
    class == b"java/util/concurrent/locks/ReentrantLock"
}

/// Calls over which no unit goes on.
fn splits(class: &[u8], name: &[u8]) -> bool {
    match name {
        b"wait" | b"sleep" | b"join" | b"park" | b"parkNanos" | b"await" | b"start" | b"yield" => true,
        _ => class.starts_with(b"java/util/concurrent/") && !class.starts_with(b"java/util/concurrent/atomic/"),
    }
}

/// The elements of the array instructions, in their order.
fn element_of(instruction: u8) -> Element {
    Element::of(
        b"IJFDLBCS"
            .get(usize::from(instruction))
            .map_or(&[], std::slice::from_ref),
    )
}
