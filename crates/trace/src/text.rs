//! Traces as people write them: a column per thread, a line per event.
//!
//! ```
//! # use ravel_trace::memory::MemoryTrace;
//! let trace = MemoryTrace::parse("
//!     volatile ready
//!     t1         | t2
//!     w x=1      |
//!     w ready=1  |
//!                | r ready=1
//!                | r x=1      // what t1 wrote
//! ")?;
//! assert_eq!(trace.events().len(), 4);
//! # Ok::<(), ravel_trace::text::TextError>(())
//! ```
//!
//! The first line that declares nothing names the threads. Each further line has one event, in the column of its
//! thread; columns to its right may be left out. `//` begins a comment. Declarations stand anywhere before the first
//! use: `volatile x`, `static C.f`.
//!
//! | event | meaning |
//! |---|---|
//! | `r x`, `w x`, `u x` | read, write, read and write in one step; `r x=5` with the value |
//! | `acq m`, `rel m`, `acqs m`, `rels m` | take and give up a lock, alone or shared (outermost: nothing is resolved) |
//! | `wait m`, `resume m`, `timeout m` | give a monitor up to wait; have it back, notified or not |
//! | `notify m`, `notifyall m` | wake |
//! | `fork t`, `join t`, `joinwithin t`, `begin`, `end`, `end!` | threads; `joinwithin` by a wait with a short limit, `end!` by an uncaught exception |
//! | `send s`, `recv s` | other synchronisation |
//! | `enter C.m`, `exit` | methods; `enter private C.m(I)V` with modifiers (`private`, `static`, `synchronized`) and descriptor |
//! | `call` | the program's call, inside which the next accesses in code of the JDK lie |
//! | `ret 5` | the method that was entered last is about to return this |
//! | `init C` | a class is initialised |
//! | `ubegin`, `uend` | a declared unit |
//!
//! `@7` behind an event says that it happens on line 7 of the program; without it each line of the text is its own
//! place in the code. A variable `x` belongs to no object; `C.f` is the field `f` of an object of class `C`; `C#2.f`
//! that of another object of the class; `a[3]` an element of the array `a`; `C.f{3}` the part of a modelled object's
//! state that key 3 names. A lock or synchronisation object may have the name of an object (`C#2`).

use crate::event::{Mode, Op, Value};
use crate::ids::{LocationId, ThreadId};
use crate::memory::{Builder, MemoryTrace};
use crate::names::{Location, flags};

/// Why a text is no trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads the text form.
pub fn parse(text: &str) -> Result<MemoryTrace, TextError> {
    let mut parser = Parser {
        builder: Builder::new(),
        threads: Vec::new(),
        statics: Vec::new(),
    };
    for (index, line) in text.lines().enumerate() {
        let content = line.split("//").next().unwrap_or_default();
        parser.line(content, index as u32 + 1).map_err(|message| TextError {
            line: index + 1,
            message,
        })?;
    }
    Ok(parser.builder.finish())
}

struct Parser {
    builder: Builder,
    threads: Vec<ThreadId>,
    statics: Vec<String>,
}

impl Parser {
    fn line(&mut self, content: &str, number: u32) -> Result<(), String> {
        let content = content.trim_end();
        if content.trim().is_empty() {
            return Ok(());
        }
        match content.trim().split_once(char::is_whitespace) {
            Some(("volatile", name)) => {
                self.declare_volatile(name.trim());
                return Ok(());
            }
            Some(("static", name)) => {
                self.statics.push(name.trim().to_string());
                return Ok(());
            }
            _ => {}
        }
        let cells: Vec<&str> = content.split('|').map(str::trim).collect();
        if self.threads.is_empty() {
            if cells.iter().any(|name| name.is_empty()) {
                return Err("the first line names the threads, and one has no name".into());
            }
            self.threads = cells.into_iter().map(|name| self.builder.thread(name)).collect();
            return Ok(());
        }
        let mut filled = cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
        let Some((column, cell)) = filled.next() else {
            return Ok(());
        };
        if filled.next().is_some() {
            return Err("more than one event on a line".into());
        }
        let thread = *self
            .threads
            .get(column)
            .ok_or("an event to the right of the last thread")?;
        self.event(thread, cell, number)
    }

    fn declare_volatile(&mut self, name: &str) {
        let (owner, field) = name.rsplit_once('.').unwrap_or(("", name));
        let class = self.builder.class(owner.split('#').next().unwrap_or(owner));
        self.builder.field(class, field, flags::VOLATILE);
    }

    fn event(&mut self, thread: ThreadId, cell: &str, number: u32) -> Result<(), String> {
        let (cell, line) = match cell.rsplit_once('@') {
            Some((cell, line)) => (
                cell.trim(),
                line.trim().parse().map_err(|_| format!("`{line}` is no line number"))?,
            ),
            None => (cell, number),
        };
        let (name, argument) = cell.split_once(char::is_whitespace).unwrap_or((cell, ""));
        let op = self.operation(thread, name, argument.trim())?;
        self.builder.push(thread, line, op);
        Ok(())
    }

    fn operation(&mut self, thread: ThreadId, name: &str, argument: &str) -> Result<Op, String> {
        let alone = matches!(name, "begin" | "end" | "end!" | "exit" | "ubegin" | "uend");
        if alone != argument.is_empty() {
            return Err(format!("`{name}` {}", if alone { "takes no name" } else { "of what?" }));
        }
        Ok(match name {
            "r" | "w" | "u" => {
                let (variable, value) = match argument.split_once('=') {
                    Some((variable, value)) => {
                        let value = value.trim();
                        let number = value.parse().map_err(|_| format!("`{value}` is no value"))?;
                        (variable.trim(), Value::Exact(number))
                    }
                    None => (argument, Value::Unknown),
                };
                let location = self.location(variable)?;
                match name {
                    "r" => Op::Read { location, value },
                    "w" => Op::Write { location, value },
                    _ => Op::Update { location, value },
                }
            }
            "acq" => Op::Acquire {
                lock: self.builder.lock(argument),
                mode: Mode::Exclusive,
            },
            "rel" => Op::Release {
                lock: self.builder.lock(argument),
                mode: Mode::Exclusive,
            },
            "acqs" => Op::Acquire {
                lock: self.builder.lock(argument),
                mode: Mode::Shared,
            },
            "rels" => Op::Release {
                lock: self.builder.lock(argument),
                mode: Mode::Shared,
            },
            "wait" => Op::Wait {
                lock: self.builder.lock(argument),
            },
            "resume" => Op::Resume {
                lock: self.builder.lock(argument),
                notified: true,
            },
            "timeout" => Op::Resume {
                lock: self.builder.lock(argument),
                notified: false,
            },
            "notify" => Op::Notify {
                lock: self.builder.lock(argument),
                all: false,
            },
            "notifyall" => Op::Notify {
                lock: self.builder.lock(argument),
                all: true,
            },
            "fork" => Op::Fork {
                child: self.builder.thread(argument),
            },
            "join" | "joinwithin" => Op::Join {
                child: self.builder.thread(argument),
                limited: name == "joinwithin",
            },
            "begin" => Op::Begin,
            "end" => Op::End { exception: false },
            "end!" => Op::End { exception: true },
            "send" => Op::Send {
                sync: self.builder.sync(argument),
            },
            "recv" => Op::Receive {
                sync: self.builder.sync(argument),
            },
            "enter" => self.enter(argument)?,
            "call" => Op::Call,
            "exit" => {
                let method = self
                    .builder
                    .current_method(thread)
                    .ok_or("`exit` of a method that was not entered")?;
                Op::Exit { method }
            }
            "ret" => Op::Returned {
                method: self
                    .builder
                    .current_method(thread)
                    .ok_or("`ret` outside any method that was entered")?,
                value: Value::Exact(argument.parse().map_err(|_| format!("`{argument}` is no number"))?),
            },
            "init" => Op::Initialized {
                class: self.builder.class(argument),
            },
            "ubegin" => Op::UnitBegin,
            "uend" => Op::UnitEnd,
            _ => return Err(format!("`{name}` is no event")),
        })
    }

    fn enter(&mut self, argument: &str) -> Result<Op, String> {
        let mut words: Vec<&str> = argument.split_whitespace().collect();
        let target = words.pop().unwrap_or_default();
        let mut bits = 0;
        for word in words {
            bits |= match word {
                "private" => flags::PRIVATE,
                "static" => flags::STATIC,
                "synchronized" => flags::SYNCHRONIZED,
                "public" => 0x0001,
                _ => return Err(format!("`{word}` is no modifier")),
            };
        }
        let (path, descriptor) = target.find('(').map_or((target, ""), |at| target.split_at(at));
        let (class, name) = path
            .rsplit_once('.')
            .ok_or_else(|| format!("`{target}` names no class and method"))?;
        let class = self.builder.class(class);
        Ok(Op::Enter {
            method: self.builder.method(class, name, descriptor, bits),
        })
    }

    fn location(&mut self, name: &str) -> Result<LocationId, String> {
        let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
        if let Some((array, index)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            let location = Location::Element(self.builder.object(array), number(index)?);
            return Ok(self.builder.location(location));
        }
        let (path, key) = match name.strip_suffix('}').and_then(|name| name.split_once('{')) {
            Some((path, key)) => (path, Some(number(key)?)),
            None => (name, None),
        };
        let Some((owner, field)) = path.rsplit_once('.') else {
            return Ok(self.builder.variable(path));
        };
        let class = self.builder.class(owner.split('#').next().unwrap_or(owner));
        let is_static = self.statics.iter().any(|name| name == path);
        let field = self
            .builder
            .field(class, field, if is_static { flags::STATIC } else { 0 });
        let location = match key {
            _ if is_static => Location::Static(field),
            Some(key) => Location::Entry(self.builder.object(owner), field, key),
            None => Location::Field(self.builder.object(owner), field),
        };
        Ok(self.builder.location(location))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    fn error(text: &str) -> String {
        parse(text).expect_err("no trace").to_string()
    }

    #[test]
    fn every_event_is_understood() {
        let trace = parse(
            "static C.s
             a | b
             fork b
               | begin
             enter private synchronized C.m(I)V
             r C.f = 5 @ 9
             w C#2.f
             u C.s
             r arr[3]
             w C.f{7}
             acq m
             wait m
               | acqs q
               | rels q
               | notify m
               | notifyall m
             resume m
             timeout m
             rel m
             exit
             send s
               | recv s
               | init C
               | ubegin
               | uend
               | end!
             join b
             end",
        )
        .expect("a trace");
        let names = trace.names();
        assert_eq!(trace.events().len(), 26);
        assert_eq!(names.threads[1].parent, Some(ThreadId(0)));
        let read = trace.events()[3];
        assert_eq!(
            read.op,
            Op::Read {
                location: LocationId(0),
                value: Value::Exact(5)
            }
        );
        assert_eq!((names.site(read.site).line, read.position), (9, 2));
        let method = names.method(names.site(read.site).method);
        assert_eq!((method.name.as_str(), method.descriptor.as_str()), ("m", "(I)V"));
        assert_eq!(method.flags, flags::PRIVATE | flags::SYNCHRONIZED);
        let kinds: Vec<_> = names.locations.iter().map(std::mem::discriminant).collect();
        let distinct: Vec<bool> = (1..5).map(|i| kinds[..i].contains(&kinds[i])).collect();
        assert_eq!(distinct, [true, false, false, false]);
        assert_ne!(names.locations[0], names.locations[1]);
        assert_eq!(trace.events()[25].op, Op::End { exception: false });
    }

    #[test]
    fn volatile_variables_synchronize() {
        let trace = parse("volatile x\nvolatile C.f\na\nr x\nr y\nr C.f").expect("a trace");
        let synchronizing: Vec<bool> = trace
            .events()
            .iter()
            .filter_map(|event| event.op.location())
            .map(|location| trace.names().is_synchronizing(location))
            .collect();
        assert_eq!(synchronizing, [true, false, true]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        assert_eq!(error("a | b\nr x | r y"), "line 2: more than one event on a line");
        assert_eq!(error("a\n\n | r x"), "line 3: an event to the right of the last thread");
        assert_eq!(error("a\nfrob x"), "line 2: `frob` is no event");
        assert_eq!(error("a\nr"), "line 2: `r` of what?");
        assert_eq!(error("a\nexit"), "line 2: `exit` of a method that was not entered");
        assert_eq!(error("a\nr x=y"), "line 2: `y` is no value");
        assert_eq!(error("a\nbegin 3"), "line 2: `begin` takes no name");
    }
}
