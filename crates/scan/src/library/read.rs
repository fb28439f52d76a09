//! Reads the file form of a library. `write` mirrors it, part by part. Whatever makes no sense gives none.

use crate::body::{Block, Body, CallRef, Site, SiteKind, Stmt};
use crate::expr::{ExprId, Node};
use crate::program::{Class, ClassId, ClassNotes, Counts, Field, Lent, Method, MethodId, Program};
use crate::summary::{SummaryEntry, Way};
use crate::symbols::{PairId, Sym};

pub(super) struct Reader<'a> {
    pub bytes: &'a [u8],
    /// How many names and pairs are known: higher numbers are damage.
    pub names: u32,
    pub pairs: u32,
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    pub fn number(&mut self) -> Option<u32> {
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn short(&mut self) -> Option<u16> {
        self.number()?.try_into().ok()
    }

    fn flag(&mut self) -> Option<bool> {
        self.byte().map(|byte| byte != 0)
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()? as usize;
        let (bytes, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<Box<str>> {
        std::str::from_utf8(self.bytes()?).ok().map(Into::into)
    }

    fn optional_text(&mut self) -> Option<Option<Box<str>>> {
        if self.flag()? {
            self.text().map(Some)
        } else {
            Some(None)
        }
    }

    pub fn sym(&mut self) -> Option<Sym> {
        self.number().filter(|number| *number < self.names).map(Sym)
    }

    fn pair(&mut self) -> Option<PairId> {
        self.number().filter(|number| *number < self.pairs).map(PairId)
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()? as usize;
        // Each item takes a byte at least.
        let mut items = Vec::with_capacity(count.min(self.bytes.len()));
        for _ in 0..count {
            items.push(each(self)?);
        }
        Some(items)
    }

    pub fn counts(&mut self) -> Option<Counts> {
        let mut next = || self.number().map(|count| count as usize);
        Some(Counts {
            classes: next()?,
            failed: next()?,
            duplicates: next()?,
            methods: next()?,
            failed_methods: next()?,
            lines: next()?,
            native: next()?,
            reflective: next()?,
            unnamed: next()?,
            long: next()?,
            ..Counts::default()
        })
    }

    pub fn class(&mut self, program: &mut Program) -> Option<()> {
        let id = ClassId(program.classes.len() as u32);
        let name = self.sym()?;
        let super_class = self.list(Self::sym)?.first().copied();
        let interfaces = self.list(Self::sym)?.into();
        let access = self.short()?;
        let source = self.optional_text()?;
        let symbols = &mut program.symbols;
        let fields = self.list(|reader| {
            Some(Field {
                pair: symbols.pair(name, reader.sym()?),
                access: reader.short()?,
                guard: reader.optional_text()?,
            })
        })?;
        let notes = ClassNotes {
            not_thread_safe: self.flag()?,
            thread_safe: self.flag()?,
            immutable: self.flag()?,
        };
        let instantiates = self.list(Self::sym)?.into();
        let first = program.methods.len() as u32;
        for _ in 0..self.number()? {
            let method = self.method(id)?;
            let pair = program.symbols.pair(name, method.selector);
            let number = MethodId(program.methods.len() as u32);
            program.by_pair.insert(pair, number);
            program.methods.push(method);
        }
        program.by_name.insert(name, id);
        program.classes.push(Class {
            name,
            super_class,
            interfaces,
            access,
            source,
            fields: fields.into(),
            methods: first..program.methods.len() as u32,
            wanted: false,
            notes,
            instantiates,
            bytes: None,
        });
        Some(())
    }

    pub fn lent(&mut self, methods: u32) -> Option<Lent> {
        let exprs = self.exprs()?;
        let known = exprs.len() as u32;
        let held = self.list(|reader| {
            let method = reader.number().filter(|method| *method < methods)?;
            let set = reader.list(|reader| {
                Some(SummaryEntry {
                    item: ExprId(reader.number().filter(|item| *item < known)?),
                    depth: reader.number()?,
                    way: match reader.byte()? {
                        0 => Way::Direct(reader.number()?),
                        _ => Way::Call(reader.number()?, MethodId(reader.number()?), reader.number()?),
                    },
                })
            })?;
            Some((MethodId(method), set))
        })?;
        Some(Lent { methods, exprs, held })
    }

    /// Expressions, each behind its parts.
    fn exprs(&mut self) -> Option<Vec<Node>> {
        let mut known = 0;
        self.list(|reader| {
            known += 1;
            reader.node(known - 1)
        })
    }

    fn method(&mut self, class: ClassId) -> Option<Method> {
        Some(Method {
            class,
            selector: self.sym()?,
            access: self.short()?,
            guard: self.optional_text()?,
            assigns: self.list(Self::pair)?.into(),
            stores_elements: self.flag()?,
            body: if self.flag()? {
                Some(Box::new(self.body()?))
            } else {
                None
            },
            local: Box::default(),
            touches: Box::default(),
        })
    }

    fn body(&mut self) -> Option<Body> {
        let exprs = self.exprs()?;
        let sites = self.list(|reader| {
            Some(Site {
                lock: ExprId(reader.number()?),
                pc: reader.short()?,
                kind: match reader.byte()? {
                    0 => SiteKind::Method,
                    1 => SiteKind::Block,
                    2 => SiteKind::Explicit,
                    _ => return None,
                },
                kept: reader.flag()?,
                tried: reader.flag()?,
            })
        })?;
        Some(Body {
            exprs: exprs.into(),
            sites: sites.into(),
            stmts: self.list(Self::stmt)?.into(),
            pcs: self.list(Self::short)?.into(),
            args: self.list(|reader| reader.number().map(ExprId))?.into(),
            blocks: self.list(Self::block)?.into(),
            lines: self.list(|reader| Some((reader.short()?, reader.short()?)))?.into(),
            names: self.list(|reader| Some((reader.node(0)?, reader.text()?)))?.into(),
            escaped: self
                .list(|reader| Some((ExprId(reader.number()?), reader.short()?)))?
                .into(),
        })
    }

    fn block(&mut self) -> Option<Block> {
        Some(Block {
            stmts: self.number()?..self.number()?,
            successors: self.list(Self::short)?,
            handlers: self.list(Self::short)?,
            held: self.list(Self::short)?,
            reached: self.flag()?,
        })
    }

    /// An expression whose parts come before it, so that none is a part of itself.
    fn node(&mut self, known: u32) -> Option<Node> {
        let part = |reader: &mut Self| reader.number().filter(|part| *part < known).map(ExprId);
        Some(match self.byte()? {
            0 => Node::Unknown,
            1 => Node::This,
            2 => Node::Param(self.short()?),
            3 => Node::Local(self.short()?),
            4 => Node::New(self.short()?),
            5 => Node::Int(self.number()?.cast_signed()),
            6 => Node::Static(self.pair()?),
            7 => Node::Class(self.sym()?),
            8 => Node::Field(part(self)?, self.pair()?),
            9 => Node::ReadWrite(part(self)?),
            10 => Node::Elem(part(self)?, part(self)?),
            _ => return None,
        })
    }

    fn stmt(&mut self) -> Option<Stmt> {
        Some(match self.byte()? {
            0 => Stmt::Enter(self.short()?),
            1 => Stmt::Exit(None),
            2 => Stmt::Exit(Some(self.short()?)),
            3 => Stmt::Assign(ExprId(self.number()?)),
            4 => Stmt::Call {
                target: CallRef {
                    pair: self.pair()?,
                    is_virtual: self.flag()?,
                },
                args: self.number()?,
                count: self.byte()?,
                receiver: self.flag()?,
            },
            5 => Stmt::Wait(ExprId(self.number()?)),
            6 => Stmt::Notify {
                lock: ExprId(self.number()?),
                all: self.flag()?,
            },
            7 => Stmt::Access {
                field: self.pair()?,
                base: ExprId(self.number()?),
                write: self.flag()?,
            },
            _ => return None,
        })
    }
}
