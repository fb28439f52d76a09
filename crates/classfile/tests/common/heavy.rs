//! An edit that touches everything it can: code before and after every instruction, at entry, and a handler around all.

use ravel_classfile::{ClassFile, CodeEditor, ErrorKind, Result, op, super_call_pc};

/// What an edit did.
#[derive(Debug, Default, Clone, Copy)]
pub struct Done {
    /// Methods edited.
    pub methods: usize,
    /// Methods left alone because they would outgrow a limit.
    pub no_room: usize,
    /// Constructors edited.
    pub constructors: usize,
    /// Constructors whose super call was not found.
    pub undecided: usize,
}

/// Edits every method of a class.
pub fn edit(bytes: &[u8], done: &mut Done) -> Result<Vec<u8>> {
    let mut class = ClassFile::parse(bytes)?;
    let name = class.name()?.to_vec();
    for index in 0..class.methods.len() {
        let Some(method) = class.methods.get(index) else {
            continue;
        };
        let Some(mut code) = class.code(method)? else { continue };
        let constructor = class.member_name(method)? == b"<init>";
        if constructor && name == b"java/lang/Object" {
            // It runs for every object, and JDK 17's compiler crashes when it has an exception handler.
            continue;
        }
        if class.member_name(method)? == b"finalize" && code.code == [op::RETURN] {
            // The JVM registers objects for finalization unless the method is a lone `return`; with an edited
            // `Object.finalize` it would do so for every object, long before it is able to.
            continue;
        }
        let mut editor = CodeEditor::new();
        editor.insert_at_entry(&[op::ICONST_0, op::POP]);
        for instruction in code.instructions() {
            let pc = instruction?.pc;
            editor.insert_before(pc, &[op::NOP]);
            editor.insert_after(pc, &[op::NOP]);
        }
        let start = if constructor {
            let call = super_call_pc(&code, &class.pool);
            done.constructors += 1;
            done.undecided += usize::from(call.is_none());
            call.map(|pc| pc + 3)
        } else {
            Some(0)
        };
        if let Some(start) = start {
            editor.add_catch_all(start, code.code.len() as u32, &[op::DUP, op::POP, op::ATHROW]);
        }
        editor.grow_stack(1);
        match editor.apply(&mut code, &mut class.pool, class.major) {
            Ok(_) => {
                done.methods += 1;
                class.set_code(index, &code)?;
            }
            Err(error) if matches!(error.kind, ErrorKind::CodeTooLarge(_) | ErrorKind::BranchOutOfRange(_)) => {
                done.no_room += 1;
            }
            Err(error) => return Err(error),
        }
    }
    class.write()
}
