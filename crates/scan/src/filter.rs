//! Locks that no other thread contends for: classes known to be used unshared, classes annotated so, and objects that never
//! leave the method that made them.

use crate::body::Body;
use crate::expr::{ExprId, Node};
use crate::program::{MethodId, Program};
use crate::symbols::{Sym, class_of_descriptor, field_descriptor, parameters};

/// The classes whose objects are usually not shared although they lock themselves; a name ending in `*` covers all that
/// start like it.
pub const UNSHARED: [&str; 22] = [
    "java/lang/StringBuffer",
    "java/util/Vector",
    "java/util/Stack",
    "java/util/Hashtable",
    "java/util/Properties",
    "java/util/Collections$Synchronized*",
    "java/io/ByteArrayInputStream",
    "java/io/ByteArrayOutputStream",
    "java/io/BufferedInputStream",
    "java/io/BufferedOutputStream",
    "java/io/BufferedReader",
    "java/io/BufferedWriter",
    "java/io/CharArrayReader",
    "java/io/CharArrayWriter",
    "java/io/PrintStream",
    "java/io/PrintWriter",
    "java/io/PushbackInputStream",
    "java/io/Reader",
    "java/io/Writer",
    "java/io/String*",
    "java/lang/Throwable",
    "java/util/Random",
];

/// Which locks count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filter {
    unshared: Vec<String>,
}

impl Default for Filter {
    fn default() -> Self {
        Filter {
            unshared: UNSHARED.map(str::to_owned).to_vec(),
        }
    }
}

impl Filter {
    /// A filter that drops nothing.
    pub fn none() -> Filter {
        Filter { unshared: Vec::new() }
    }

    /// Also takes objects of this class to be unshared: `shop.Buffer`, or `shop.*` for all that start like it.
    pub fn add_unshared(&mut self, class: &str) {
        self.unshared.push(class.replace('.', "/"));
    }

    /// Takes objects of this class to be shared, although the default list says otherwise.
    pub fn remove_unshared(&mut self, class: &str) {
        let class = class.replace('.', "/");
        self.unshared.retain(|known| *known != class);
    }

    /// Whether objects of a class are taken to be unshared.
    pub fn is_unshared(&self, class: &str) -> bool {
        self.unshared.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => class.starts_with(start),
            None => class == known,
        })
    }

    /// Whether a lock of a method is not worth following.
    pub fn drops_lock(&self, program: &Program, method: MethodId, body: &Body, lock: ExprId) -> bool {
        let Some(class) = class_of(program, method, &body.exprs, lock) else {
            return false;
        };
        if self.is_unshared(&String::from_utf8_lossy(program.symbols.bytes(class))) {
            return true;
        }
        let notes = program.by_name.get(&class).map(|id| program.class(*id).notes);
        notes.is_some_and(|notes| notes.not_thread_safe || notes.immutable)
    }
}

/// The class of an expression as far as the code declares it.
pub fn class_of(program: &Program, method: MethodId, nodes: &[Node], expr: ExprId) -> Option<Sym> {
    let symbols = &program.symbols;
    let descriptor = match nodes.get(expr.0 as usize)? {
        Node::This => return Some(program.class_of(method).name),
        Node::Param(index) => {
            let selector = symbols.bytes(program.method(method).selector);
            parameters(selector).nth(usize::from(*index))?
        }
        Node::Static(pair) | Node::Field(_, pair) => field_descriptor(symbols.bytes(symbols.members(*pair).1)),
        _ => return None,
    };
    symbols.find(class_of_descriptor(descriptor)?)
}
