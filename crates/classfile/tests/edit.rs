//! Where inserted code goes, on hand-made code.

use ravel_classfile::{
    AttributeValue, Code, CodeEditor, ConstantPool, ErrorKind, ExceptionEntry, Frame, FrameKind, LineNumber,
    LocalVariable, VerificationType, op,
};

const JAVA_8: u16 = 52;

/// A loop that jumps back to the first instruction, with a handler around its body:
/// 0 iload_0, 1 ifeq 10, 4 iinc 0 -1, 7 goto 0, 10 return, 11 astore_1 (handler), 12 return.
fn looping() -> Code {
    let mut code = vec![
        op::ILOAD_0,
        op::IFEQ,
        0,
        9,
        op::IINC,
        0,
        0xff,
        op::GOTO,
        0xff,
        0xf9,
        op::RETURN,
    ];
    code.extend([op::ASTORE_1, op::RETURN]);
    let mut code = Code::new(1, 2, code);
    code.exceptions = vec![ExceptionEntry {
        start: 0,
        end: 7,
        handler: 11,
        catch_type: 0,
    }];
    code
}

fn apply(edit: &CodeEditor, code: &mut Code) -> ravel_classfile::PcMap {
    edit.apply(code, &mut ConstantPool::new(), JAVA_8).expect("room")
}

#[test]
fn nothing_inserted_changes_nothing() {
    let mut code = looping();
    apply(&CodeEditor::new(), &mut code);
    assert_eq!(code, looping());
}

#[test]
fn code_before_an_instruction_runs_when_it_is_jumped_to() {
    let mut code = looping();
    let mut edit = CodeEditor::new();
    edit.insert_before(0, &[op::NOP]);
    edit.insert_before(10, &[op::NOP, op::NOP]);
    let map = apply(&edit, &mut code);
    let mut wanted = vec![
        op::NOP,
        op::ILOAD_0,
        op::IFEQ,
        0,
        9,
        op::IINC,
        0,
        0xff,
        op::GOTO,
        0xff,
        0xf8,
    ];
    wanted.extend([op::NOP, op::NOP, op::RETURN, op::ASTORE_1, op::RETURN]);
    assert_eq!(code.code, wanted);
    assert_eq!((map.label(10), map.instruction(10)), (Some(11), Some(13)));
    assert_eq!(
        (map.label(2), map.label(13)),
        (None, Some(16)),
        "inside an instruction; the end"
    );
    assert_eq!(
        code.exceptions,
        vec![ExceptionEntry {
            start: 0,
            end: 8,
            handler: 14,
            catch_type: 0
        }]
    );
}

#[test]
fn code_after_an_instruction_is_jumped_over() {
    let mut code = looping();
    let mut edit = CodeEditor::new();
    edit.insert_after(1, &[op::NOP]);
    edit.insert_after(4, &[op::NOP]);
    apply(&edit, &mut code);
    let mut wanted = vec![
        op::ILOAD_0,
        op::IFEQ,
        0,
        11,
        op::NOP,
        op::IINC,
        0,
        0xff,
        op::NOP,
        op::GOTO,
        0xff,
        0xf7,
    ];
    wanted.extend([op::RETURN, op::ASTORE_1, op::RETURN]);
    assert_eq!(code.code, wanted);
    // The code after the last protected instruction is protected too.
    assert_eq!(
        code.exceptions,
        vec![ExceptionEntry {
            start: 0,
            end: 9,
            handler: 13,
            catch_type: 0
        }]
    );
}

#[test]
fn nothing_comes_after_an_instruction_that_never_goes_on() {
    let mut code = looping();
    let mut edit = CodeEditor::new();
    edit.insert_after(7, &[op::NOP]);
    edit.insert_after(10, &[op::NOP]);
    apply(&edit, &mut code);
    assert_eq!(code, looping());
}

#[test]
fn entry_code_is_outside_loops_and_handlers() {
    let mut code = looping();
    let mut edit = CodeEditor::new();
    edit.insert_at_entry(&[op::NOP, op::NOP]);
    edit.insert_before(0, &[op::ICONST_0, op::POP]);
    apply(&edit, &mut code);
    assert_eq!(
        code.code[..6],
        [op::NOP, op::NOP, op::ICONST_0, op::POP, op::ILOAD_0, op::IFEQ]
    );
    assert_eq!(code.code[11..14], [op::GOTO, 0xff, 0xf7], "back to 2, not to 0");
    assert_eq!(code.exceptions[0].start, 2);
}

#[test]
fn insertions_at_one_place_keep_their_order() {
    let mut code = looping();
    let mut edit = CodeEditor::new();
    edit.insert_after(4, &[op::ICONST_3]);
    edit.insert_before(4, &[op::ICONST_0]);
    edit.insert_after(4, &[op::ICONST_4]);
    edit.insert_before(4, &[op::ICONST_1]);
    edit.replace(4, &[op::ICONST_2]);
    apply(&edit, &mut code);
    assert_eq!(
        code.code[4..9],
        [op::ICONST_0, op::ICONST_1, op::ICONST_2, op::ICONST_3, op::ICONST_4]
    );
}

#[test]
fn a_catch_all_comes_last_and_has_a_frame() {
    let mut pool = ConstantPool::new();
    let mut code = looping();
    let mut edit = CodeEditor::new();
    edit.add_catch_all(4, 13, &[op::NOP, op::ATHROW]);
    edit.grow_stack(2);
    edit.apply(&mut code, &mut pool, JAVA_8).expect("room");
    assert_eq!(code.exceptions.len(), 2);
    assert_eq!(
        code.exceptions[1],
        ExceptionEntry {
            start: 4,
            end: 13,
            handler: 13,
            catch_type: 0
        }
    );
    assert_eq!(code.code[13..], [op::NOP, op::ATHROW]);
    assert_eq!(code.max_stack, 3);
    let frames = AttributeValue::parse(code.attribute(&pool, "StackMapTable").expect("added"), &pool);
    let throwable = pool.add_class("java/lang/Throwable").expect("there");
    let kind = FrameKind::Full {
        locals: vec![],
        stack: vec![VerificationType::Object(throwable)],
    };
    assert_eq!(
        frames,
        Ok(AttributeValue::StackMapTable(vec![Frame {
            pc: 13,
            extended: false,
            kind
        }]))
    );

    let mut old = looping();
    edit.apply(&mut old, &mut ConstantPool::new(), 49).expect("room");
    assert!(old.attributes.is_empty(), "classes before version 50 have no frames");
    assert_eq!(old.exceptions.len(), 2);
}

#[test]
fn a_catch_all_of_nothing_adds_nothing() {
    let mut code = looping();
    let mut edit = CodeEditor::new();
    edit.add_catch_all(13, 13, &[op::ATHROW]);
    apply(&edit, &mut code);
    assert_eq!(code, looping());
}

#[test]
fn switches_are_padded_anew() {
    let mut bytes = vec![op::ICONST_0, op::LOOKUPSWITCH, 0, 0];
    for word in [19i32, 1, 5, 19] {
        bytes.extend(word.to_be_bytes());
    }
    bytes.push(op::RETURN);
    for inserted in 1..5 {
        let mut code = Code::new(1, 0, bytes.clone());
        let mut edit = CodeEditor::new();
        edit.insert_before(0, &vec![op::NOP; inserted]);
        let map = apply(&edit, &mut code);
        let instructions: Vec<_> = code.instructions().collect::<Result<_, _>>().expect("valid");
        let switch = instructions
            .iter()
            .find(|i| i.opcode == op::LOOKUPSWITCH)
            .expect("kept");
        let end = code.code.len() as u32 - 1;
        assert_eq!(switch.pc, 1 + inserted as u32);
        assert_eq!(switch.jump_targets().collect::<Vec<_>>(), vec![end, end]);
        assert_eq!(map.label(20), Some(end));
    }
}

#[test]
fn tables_move_along() {
    let mut pool = ConstantPool::new();
    // 0 new, 3 dup, 4 iload_0, 5 ifeq 8, 8 pop2, 9 return
    let bytes = vec![
        op::NEW,
        0,
        1,
        op::DUP,
        op::ILOAD_0,
        op::IFEQ,
        0,
        3,
        op::POP2,
        op::RETURN,
    ];
    let mut code = Code::new(3, 2, bytes);
    let fresh = VerificationType::Uninitialized(0);
    let full = FrameKind::Full {
        locals: vec![VerificationType::Integer],
        stack: vec![fresh, fresh],
    };
    let frames = vec![Frame {
        pc: 8,
        extended: false,
        kind: full,
    }];
    let lines = vec![LineNumber { start: 0, line: 10 }, LineNumber { start: 8, line: 11 }];
    let variable = |start, length| LocalVariable {
        start,
        length,
        name: 1,
        descriptor: 1,
        slot: 0,
    };
    for value in [
        AttributeValue::StackMapTable(frames),
        AttributeValue::LineNumberTable(lines),
        AttributeValue::LocalVariableTable(vec![variable(0, 10), variable(4, 4)]),
    ] {
        code.attributes.push(value.to_attribute(&mut pool, 0).expect("room"));
    }
    let mut edit = CodeEditor::new();
    edit.insert_at_entry(&[op::NOP; 70]);
    edit.insert_before(0, &[op::NOP; 2]);
    edit.insert_after(5, &[op::NOP]);
    edit.insert_before(8, &[op::NOP]);
    edit.apply(&mut code, &mut pool, JAVA_8).expect("room");

    let values: Vec<_> = code
        .attributes
        .iter()
        .map(|a| AttributeValue::parse(a, &pool).expect("valid"))
        .collect();
    let moved = VerificationType::Uninitialized(72);
    let full = FrameKind::Full {
        locals: vec![VerificationType::Integer],
        stack: vec![moved, moved],
    };
    assert_eq!(
        values[0],
        AttributeValue::StackMapTable(vec![Frame {
            pc: 81,
            extended: false,
            kind: full
        }])
    );
    let lines = vec![LineNumber { start: 0, line: 10 }, LineNumber { start: 81, line: 11 }];
    assert_eq!(values[1], AttributeValue::LineNumberTable(lines));
    assert_eq!(
        values[2],
        AttributeValue::LocalVariableTable(vec![variable(0, 84), variable(76, 5)])
    );
}

#[test]
fn short_frames_become_long_ones() {
    let mut pool = ConstantPool::new();
    let mut code = Code::new(1, 1, vec![op::ILOAD_0, op::IFEQ, 0, 3, op::RETURN]);
    let same = |pc, extended| {
        AttributeValue::StackMapTable(vec![Frame {
            pc,
            extended,
            kind: FrameKind::Same,
        }])
    };
    code.attributes
        .push(same(4, false).to_attribute(&mut pool, 0).expect("room"));
    let mut edit = CodeEditor::new();
    edit.insert_before(1, &[op::NOP; 100]);
    edit.apply(&mut code, &mut pool, JAVA_8).expect("room");
    assert_eq!(code.attributes[0].info, [0, 1, 251, 0, 104]);
    assert_eq!(AttributeValue::parse(&code.attributes[0], &pool), Ok(same(104, false)));
}

#[test]
fn code_without_room_is_left_alone() {
    let mut pool = ConstantPool::new();
    let mut edit = CodeEditor::new();
    edit.insert_before(4, &vec![op::NOP; 40_000]);
    let mut code = looping();
    let error = edit
        .apply(&mut code, &mut pool, JAVA_8)
        .expect_err("the branch at 1 spans the insertion");
    assert_eq!(error.kind, ErrorKind::BranchOutOfRange(1));
    assert_eq!(code, looping());

    edit.insert_at_entry(&vec![op::NOP; 30_000]);
    let error = edit.apply(&mut code, &mut pool, JAVA_8).expect_err("over 65535 bytes");
    assert_eq!(error.kind, ErrorKind::CodeTooLarge(70_013));
    assert_eq!(code, looping());

    let mut edit = CodeEditor::new();
    edit.insert_at_entry(&vec![op::NOP; 65_520]);
    edit.add_catch_all(0, 13, &[op::POP, op::ACONST_NULL, op::ATHROW]);
    let error = edit
        .apply(&mut code, &mut pool, JAVA_8)
        .expect_err("the handler does not fit");
    assert_eq!(error.kind, ErrorKind::CodeTooLarge(65_536));
    assert_eq!(code, looping());
}

#[test]
fn an_edit_inside_an_instruction_is_an_error() {
    for pc in [2, 5, 13, 1_000] {
        let mut code = looping();
        let mut edit = CodeEditor::new();
        edit.insert_before(pc, &[op::NOP]);
        let error = edit
            .apply(&mut code, &mut ConstantPool::new(), JAVA_8)
            .expect_err("no instruction");
        assert_eq!(error.kind, ErrorKind::NotAnInstruction(pc));
    }
}

#[test]
fn subroutines_of_old_classes_move() {
    // 0 jsr 4, 3 return, 4 astore_0, 5 ret 0
    let mut code = Code::new(1, 1, vec![op::JSR, 0, 4, op::RETURN, op::ASTORE_0, op::RET, 0]);
    let mut edit = CodeEditor::new();
    edit.insert_after(0, &[op::NOP]);
    edit.insert_before(4, &[op::NOP]);
    edit.add_catch_all(0, 7, &[op::ATHROW]);
    edit.apply(&mut code, &mut ConstantPool::new(), 48).expect("room");
    let wanted = [
        op::JSR,
        0,
        5,
        op::NOP,
        op::RETURN,
        op::NOP,
        op::ASTORE_0,
        op::RET,
        0,
        op::ATHROW,
    ];
    assert_eq!(code.code, wanted);
    assert!(code.attributes.is_empty());
}

#[test]
fn texts_are_replaced_under_the_indices_that_they_had() {
    let mut pool = ConstantPool::new();
    let long = pool.add_long(5).expect("room");
    let method = pool
        .add_method_ref("new/Unsafe", "swap", "(Lnew/Unsafe;)V")
        .expect("room");
    pool.replace_utf8(|text| {
        let text = std::str::from_utf8(text).expect("text");
        text.contains("new/")
            .then(|| text.replace("new/", "older/").into_bytes())
    })
    .expect("short enough");
    let found = pool.member_ref(method).expect("present");
    let names = [found.class, found.name, found.descriptor].map(|name| std::str::from_utf8(name).expect("text"));
    assert_eq!(names, ["older/Unsafe", "swap", "(Lolder/Unsafe;)V"]);
    assert_eq!(pool.get(long), Ok(ravel_classfile::Constant::Long(5)));
    assert_eq!(
        pool.add_method_ref("older/Unsafe", "swap", "(Lolder/Unsafe;)V"),
        Ok(method)
    );
    assert!(pool.replace_utf8(|_| Some(vec![b'x'; 70_000])).is_err());
}
