//! Locking expressions: how the code names the object that it locks. Two locks are the same lock when their expressions are
//! the same; what makes that safe enough is that an assignment to anything an expression depends on forgets it.

use ravel_trace::naming;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::symbols::{PairId, Sym, Symbols};

/// An expression in a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExprId(pub u32);

/// The expression for everything without a name: the paper's `*`.
pub const UNKNOWN: ExprId = ExprId(0);

/// Expressions with more parts than this are `*`, and counted. People write shorter ones; damaged code and recursion over trees
/// need the bound.
pub const MAX_PARTS: u32 = 16;

/// One step of an expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// `*`
    Unknown,
    /// `this`
    This,
    /// A parameter that is never assigned, counted from 0 without `this`.
    Param(u16),
    /// A local variable of the method, or a parameter that is assigned.
    Local(u16),
    /// An object made by the `new` at this position of the method.
    New(u16),
    /// An integer, as an array index.
    Int(i32),
    /// A static field.
    Static(PairId),
    /// A class literal, the lock of static synchronized methods.
    Class(Sym),
    /// A field of an object.
    Field(ExprId, PairId),
    /// The lock of a `ReadWriteLock`; read and write lock count as one, since one re-enters the other.
    ReadWrite(ExprId),
    /// An element of an array.
    Elem(ExprId, ExprId),
}

/// A table of expressions, each there once.
#[derive(Debug, Clone)]
pub struct Exprs {
    nodes: Vec<Node>,
    index: FxHashMap<Node, ExprId>,
    /// The nodes that are not in it because they would have too many parts.
    cut: FxHashSet<Node>,
}

impl Default for Exprs {
    fn default() -> Self {
        Exprs::of(&[Node::Unknown])
    }
}

impl Exprs {
    /// A table with these nodes, `*` first.
    pub fn of(nodes: &[Node]) -> Exprs {
        let index = nodes.iter().enumerate().map(|(at, node)| (*node, ExprId(at as u32)));
        Exprs {
            nodes: nodes.to_vec(),
            index: index.collect(),
            cut: FxHashSet::default(),
        }
    }

    /// How many expressions became `*` because they had too many parts; what was made of them is not counted again.
    pub fn cut(&self) -> usize {
        self.cut.len()
    }

    /// The nodes, `*` first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node of an expression.
    pub fn node(&self, expr: ExprId) -> Node {
        self.nodes.get(expr.0 as usize).copied().unwrap_or(Node::Unknown)
    }

    /// The expression with this node on top; `*` if a part is `*` or there are too many parts.
    pub fn add(&mut self, node: Node) -> ExprId {
        if let Some(expr) = self.index.get(&node) {
            return *expr;
        }
        let parts = match node {
            Node::Field(UNKNOWN, _) | Node::ReadWrite(UNKNOWN) | Node::Elem(UNKNOWN, _) | Node::Elem(_, UNKNOWN) => {
                return UNKNOWN;
            }
            Node::Field(base, _) | Node::ReadWrite(base) => self.parts(base) + 1,
            Node::Elem(base, index) => self.parts(base) + self.parts(index),
            _ => 1,
        };
        if parts > MAX_PARTS {
            self.cut.insert(node);
            return UNKNOWN;
        }
        let expr = ExprId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.index.insert(node, expr);
        expr
    }

    fn parts(&self, expr: ExprId) -> u32 {
        match self.node(expr) {
            Node::Field(base, _) | Node::ReadWrite(base) => 1 + self.parts(base),
            Node::Elem(base, index) => self.parts(base) + self.parts(index),
            _ => 1,
        }
    }

    /// DEPENDS of the paper's Fig. 7: whether the value of `expr` may change when `assigned` is assigned.
    pub fn depends(&self, expr: ExprId, assigned: ExprId) -> bool {
        expr == assigned
            || match self.node(expr) {
                Node::Field(base, _) | Node::ReadWrite(base) => self.depends(base, assigned),
                Node::Elem(base, index) => self.depends(base, assigned) || self.depends(index, assigned),
                _ => false,
            }
    }

    /// Whether any part of `expr` satisfies `test`.
    pub fn any(&self, expr: ExprId, test: &mut dyn FnMut(Node) -> bool) -> bool {
        let node = self.node(expr);
        test(node)
            || match node {
                Node::Field(base, _) | Node::ReadWrite(base) => self.any(base, test),
                Node::Elem(base, index) => self.any(base, test) || self.any(index, test),
                _ => false,
            }
    }

    /// Whether callers can name it in their own words.
    pub fn is_translatable(&self, expr: ExprId) -> bool {
        !self.any(expr, &mut |node| {
            matches!(node, Node::Unknown | Node::Local(_) | Node::New(_))
        })
    }

    /// Whether it starts at a static field or a class, so that it means the same everywhere.
    pub fn is_static(&self, expr: ExprId) -> bool {
        match self.node(expr) {
            Node::Static(_) | Node::Class(_) => true,
            Node::Field(base, _) | Node::ReadWrite(base) | Node::Elem(base, _) => self.is_static(base),
            _ => false,
        }
    }

    /// The expression in another table.
    pub fn copy_to(&self, expr: ExprId, to: &mut Exprs) -> ExprId {
        let node = match self.node(expr) {
            Node::Field(base, field) => Node::Field(self.copy_to(base, to), field),
            Node::ReadWrite(base) => Node::ReadWrite(self.copy_to(base, to)),
            Node::Elem(base, index) => Node::Elem(self.copy_to(base, to), self.copy_to(index, to)),
            node => node,
        };
        to.add(node)
    }

    /// TRANSLATELOCK of the paper's Fig. 7: `expr`, which is in the words of a callee, in those of the caller. `actual`
    /// gives what the caller passes: none asks for the receiver, a number for an argument.
    pub fn translate(
        &self,
        expr: ExprId,
        to: &mut Exprs,
        actual: &mut dyn FnMut(&mut Exprs, Option<u16>) -> ExprId,
    ) -> ExprId {
        let node = match self.node(expr) {
            Node::This => return actual(to, None),
            Node::Param(index) => return actual(to, Some(index)),
            Node::Unknown | Node::Local(_) | Node::New(_) => return UNKNOWN,
            Node::Field(base, field) => Node::Field(self.translate(base, to, actual), field),
            Node::ReadWrite(base) => Node::ReadWrite(self.translate(base, to, actual)),
            Node::Elem(base, index) => Node::Elem(self.translate(base, to, actual), self.translate(index, to, actual)),
            node @ (Node::Int(_) | Node::Static(_) | Node::Class(_)) => node,
        };
        to.add(node)
    }

    /// As people write it. `names` gives the names of parameters and locals.
    pub fn text(&self, expr: ExprId, symbols: &Symbols, names: &dyn Fn(Node) -> String) -> String {
        let simple = |class: Sym| naming::class(&symbols.class_text(class));
        match self.node(expr) {
            Node::Unknown => "*".to_owned(),
            Node::This => "this".to_owned(),
            Node::New(_) => "a new object".to_owned(),
            Node::Int(value) => value.to_string(),
            node @ (Node::Param(_) | Node::Local(_)) => names(node),
            Node::Static(field) => {
                let (class, field) = symbols.members(field);
                format!("{}.{}", simple(class), symbols.member_name(field))
            }
            Node::Class(class) => format!("{}.class", simple(class)),
            Node::Field(base, field) => {
                let name = symbols.member_name(symbols.members(field).1);
                format!("{}.{name}", self.text(base, symbols, names))
            }
            Node::ReadWrite(base) => self.text(base, symbols, names),
            Node::Elem(base, index) => {
                format!(
                    "{}[{}]",
                    self.text(base, symbols, names),
                    self.text(index, symbols, names)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_depends_on_its_array_and_its_index() {
        let mut exprs = Exprs::default();
        let (array, index, other) = (
            exprs.add(Node::Param(0)),
            exprs.add(Node::Local(3)),
            exprs.add(Node::Local(4)),
        );
        let element = exprs.add(Node::Elem(array, index));
        let field = exprs.add(Node::Field(element, PairId(7)));
        assert!(exprs.depends(field, index) && exprs.depends(field, array) && exprs.depends(field, element));
        assert!(!exprs.depends(field, other) && !exprs.depends(array, index));
    }

    #[test]
    fn long_expressions_are_the_unknown_lock_and_counted() {
        let mut exprs = Exprs::default();
        let mut expr = exprs.add(Node::This);
        for _ in 1..MAX_PARTS {
            expr = exprs.add(Node::Field(expr, PairId(1)));
            assert_ne!(expr, UNKNOWN);
        }
        let long = exprs.add(Node::Field(expr, PairId(1)));
        assert_eq!((long, exprs.cut()), (UNKNOWN, 1));
        // The same again, and what is made of it, is one and the same.
        exprs.add(Node::Field(expr, PairId(1)));
        exprs.add(Node::Field(long, PairId(2)));
        assert_eq!(exprs.cut(), 1);
        assert_eq!(exprs.add(Node::Elem(expr, expr)), UNKNOWN);
        assert_eq!(exprs.cut(), 2);
    }

    #[test]
    fn translation_replaces_receiver_and_parameters_and_nothing_else() {
        let mut callee = Exprs::default();
        let this = callee.add(Node::This);
        let lock = callee.add(Node::Field(this, PairId(1)));
        let local = callee.add(Node::Local(1));
        let local = callee.add(Node::Field(local, PairId(1)));
        let mut caller = Exprs::default();
        let point = caller.add(Node::Param(0));
        let wanted = caller.add(Node::Field(point, PairId(1)));
        let mut actual = |_: &mut Exprs, index: Option<u16>| if index.is_none() { point } else { UNKNOWN };
        assert_eq!(callee.translate(lock, &mut caller, &mut actual), wanted);
        assert_eq!(callee.translate(local, &mut caller, &mut actual), UNKNOWN);
    }
}
