//! Code as a list with labels, its control flow, and the typed views of attributes.

use ravel_classfile::{
    Annotation, AnnotationPair, Arg, AttributeValue, ClassFile, Code, CodeEditor, ConstantPool, ElementValue,
    ErrorKind, ExceptionEntry, Flow, LineNumber, Node, TypeAnnotation, TypeTarget, VariableRange, op,
};

/// 0 iload_0, 1 lookupswitch {5: 28, 9: 30, default: 33}, 28 nop, 29 nop, 30 goto 33, 33 return, 34 athrow (the handler).
fn switching() -> Code {
    let mut bytes = vec![op::ILOAD_0, op::LOOKUPSWITCH, 0, 0];
    for word in [32i32, 2, 5, 27, 9, 29] {
        bytes.extend(word.to_be_bytes());
    }
    bytes.extend([op::NOP, op::NOP, op::GOTO, 0, 3, op::RETURN, op::ATHROW]);
    let mut code = Code::new(1, 1, bytes);
    code.exceptions = vec![ExceptionEntry {
        start: 0,
        end: 33,
        handler: 34,
        catch_type: 0,
    }];
    code
}

#[test]
fn flow_follows_switches_jumps_and_handlers() {
    let list = switching().decode().expect("valid");
    let flow = Flow::of(&list);
    let opcodes: Vec<u8> = list.nodes.iter().map(|node| node.opcode).collect();
    assert_eq!(
        opcodes,
        [
            op::ILOAD_0,
            op::LOOKUPSWITCH,
            op::NOP,
            op::NOP,
            op::GOTO,
            op::RETURN,
            op::ATHROW
        ]
    );
    let successors: Vec<_> = (0..7).map(|index| flow.successors(index).to_vec()).collect();
    assert_eq!(
        successors,
        [vec![1], vec![5, 2, 4], vec![3], vec![4], vec![5], vec![], vec![]]
    );
    assert_eq!(flow.handlers(4).collect::<Vec<_>>(), [(6, 0)]);
    assert_eq!(flow.handlers(5).count(), 0, "the end of the range is not protected");
    assert_eq!(flow.index_of(list.end()), Some(7));
}

#[test]
fn a_list_is_encoded_as_it_was() {
    let code = switching();
    let again = code
        .decode()
        .expect("valid")
        .encode(&mut ConstantPool::new())
        .expect("encodes");
    assert_eq!(code, again);
}

#[test]
fn needlessly_long_frames_stay_long() {
    let mut pool = ConstantPool::new();
    let name = pool.add_utf8("StackMapTable").expect("room");
    let mut code = Code::new(
        1,
        1,
        vec![op::ILOAD_0, op::IFEQ, 0, 3, op::ICONST_0, op::POP, op::RETURN],
    );
    let info = vec![0, 2, 251, 0, 4, 247, 0, 0, 1];
    code.attributes.push(ravel_classfile::Attribute::new(name, info));
    let again = code.decode().expect("valid").encode(&mut pool).expect("encodes");
    assert_eq!(code, again);
}

#[test]
fn added_instructions_move_labels_and_tables() {
    let mut pool = ConstantPool::new();
    let mut code = switching();
    let lines = vec![LineNumber { start: 0, line: 1 }, LineNumber { start: 30, line: 2 }];
    code.attributes.push(
        AttributeValue::LineNumberTable(lines)
            .to_attribute(&mut pool, 0)
            .expect("room"),
    );
    let mut list = code.decode().expect("valid");
    list.nodes.insert(2, Node::new(op::SIPUSH, Arg::Int(-300)));
    list.nodes.insert(3, Node::new(op::ISTORE, Arg::Local(300)));
    let label = list.new_label();
    list.nodes.push(Node {
        label: Some(label),
        opcode: op::ATHROW,
        arg: Arg::None,
    });
    list.handlers[0].handler = label;
    let code = list.encode(&mut pool).expect("encodes");
    let instructions: Vec<_> = code.instructions().collect::<Result<_, _>>().expect("valid");
    assert_eq!(instructions[1].jump_targets().collect::<Vec<_>>(), [40, 35, 37]);
    assert_eq!((instructions[3].opcode, instructions[3].len), (op::ISTORE, 4));
    assert_eq!(
        code.exceptions[0],
        ExceptionEntry {
            start: 0,
            end: 40,
            handler: 42,
            catch_type: 0
        }
    );
    let lines = code.line_numbers(&pool).expect("valid");
    assert_eq!(
        (LineNumber::at(&lines, 36), LineNumber::at(&lines, 37)),
        (Some(1), Some(2))
    );
}

#[test]
fn a_jump_into_an_instruction_is_not_decoded() {
    let code = Code::new(0, 0, vec![op::GOTO, 0, 1]);
    assert_eq!(
        code.decode().expect_err("no instruction").kind,
        ErrorKind::BadBranch { pc: 0, target: 1 }
    );
    let mut code = Code::new(0, 0, vec![op::SIPUSH, 0, 0, op::RETURN]);
    code.exceptions = vec![ExceptionEntry {
        start: 0,
        end: 2,
        handler: 3,
        catch_type: 0,
    }];
    assert_eq!(
        code.decode().expect_err("no instruction").kind,
        ErrorKind::NotAnInstruction(2)
    );
}

#[test]
fn operands_that_do_not_fit_are_errors() {
    let encode = |node: Node| {
        let mut list = Code::new(0, 0, vec![op::RETURN]).decode().expect("valid");
        list.nodes.insert(0, node);
        list.encode(&mut ConstantPool::new())
    };
    encode(Node::new(op::BIPUSH, Arg::Int(200))).expect_err("one signed byte");
    encode(Node::new(op::LDC, Arg::Index(256))).expect_err("one byte");
    encode(Node::new(op::NOP, Arg::Index(1))).expect_err("no operand");
    encode(Node::new(0xf0, Arg::None)).expect_err("no opcode");
    encode(Node::new(op::LDC_W, Arg::Index(256))).expect("two bytes");
}

#[test]
fn annotations_are_found_by_simple_name() {
    let mut pool = ConstantPool::new();
    let this_class = pool.add_class("a/B").expect("room");
    let mut index = |text: &str| pool.add_utf8(text).expect("room");
    let string = |name: u16, value: u16| AnnotationPair {
        name,
        value: ElementValue::String(value),
    };
    let (value, lock, set) = (index("value"), index("this.lock"), index("totals"));
    let guarded = index("Ljavax/annotation/concurrent/GuardedBy;");
    let atomic = index("Lmine/Sets$AtomicSet;");
    let list = ElementValue::Array(vec![ElementValue::String(set)]);
    let visible = vec![Annotation {
        type_descriptor: guarded,
        pairs: vec![string(value, lock)],
    }];
    let invisible = vec![Annotation {
        type_descriptor: atomic,
        pairs: vec![AnnotationPair {
            name: value,
            value: list,
        }],
    }];
    let attributes = vec![
        AttributeValue::RuntimeVisibleAnnotations(visible)
            .to_attribute(&mut pool, 0)
            .expect("room"),
        AttributeValue::RuntimeInvisibleAnnotations(invisible)
            .to_attribute(&mut pool, 0)
            .expect("room"),
    ];
    let class = ClassFile {
        minor: 0,
        major: 61,
        pool,
        access: 0,
        this_class,
        super_class: 0,
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods: Vec::new(),
        attributes,
    };
    let class = ClassFile::parse(&class.write().expect("small")).expect("valid");
    let text = |name| {
        let annotation = class.annotation(&class.attributes, name).expect("valid")?;
        annotation.string(&class.pool, "value").map(|text| text.into_owned())
    };
    assert_eq!(text("GuardedBy").as_deref(), Some("this.lock"));
    assert_eq!(text("AtomicSet").as_deref(), Some("totals"));
    assert_eq!(text("Set"), None);
}

#[test]
fn type_annotations_of_code_move_along() {
    let mut pool = ConstantPool::new();
    let annotation = |target| TypeAnnotation {
        target,
        path: Vec::new(),
        annotation: Annotation {
            type_descriptor: 1,
            pairs: vec![AnnotationPair {
                name: 1,
                value: ElementValue::Array(vec![ElementValue::Constant(b'I', 2)]),
            }],
        },
    };
    let targets = |start, length, at| {
        vec![
            annotation(TypeTarget::LocalVariable(
                0x40,
                vec![VariableRange { start, length, slot: 1 }],
            )),
            annotation(TypeTarget::Catch(0x42, 0)),
            annotation(TypeTarget::Offset(0x44, at)),
            annotation(TypeTarget::TypeArgument(0x47, at, 1)),
        ]
    };
    let mut code = Code::new(1, 2, vec![op::NOP, op::NEW, 0, 1, op::POP, op::RETURN]);
    let value = AttributeValue::RuntimeVisibleTypeAnnotations(targets(4, 2, 1));
    code.attributes.push(value.to_attribute(&mut pool, 0).expect("room"));
    let mut edit = CodeEditor::new();
    edit.insert_before(1, &[op::NOP; 3]);
    edit.insert_after(4, &[op::NOP; 2]);
    edit.apply(&mut code, &mut pool, 52).expect("room");
    let moved = AttributeValue::parse(&code.attributes[0], &pool);
    assert_eq!(
        moved,
        Ok(AttributeValue::RuntimeVisibleTypeAnnotations(targets(7, 4, 4)))
    );
}

#[test]
fn deeply_nested_annotations_are_refused() {
    let mut pool = ConstantPool::new();
    let name = pool.add_utf8("AnnotationDefault").expect("room");
    let nested = |depth: usize| {
        let mut info = b"[\0\x01".repeat(depth);
        info.extend(b"I\0\x01");
        AttributeValue::parse(&ravel_classfile::Attribute::new(name, info), &pool)
    };
    nested(60).expect("deep, but not too deep");
    nested(100).expect_err("too deep");
    nested(100_000).expect_err("far too deep");
}
