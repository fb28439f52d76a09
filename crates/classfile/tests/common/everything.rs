//! Everything a user can ask of a class. The tests of hostile classes and the fuzz target share it.

use ravel_classfile::{
    AttributeValue, ClassFile, Flow, bound_by_reference, give_references_bodies, parse_field_descriptor,
    parse_method_descriptor, stack_effect, super_call_pc,
};

/// Results do not matter, coming back does, and what can be read must be written back.
pub fn use_everything(bytes: &[u8]) {
    let Ok(class) = ClassFile::parse(bytes) else { return };
    assert_eq!(class.write().as_deref(), Ok(bytes), "what can be read is written back");
    let _ = (class.name(), class.super_name());
    for index in class.pool.indices() {
        let _ = (
            class.pool.get(index),
            class.pool.member_ref(index),
            class.pool.text(index),
            class.pool.dynamic(index),
        );
        if let Ok(text) = class.pool.utf8(index) {
            let _ = (parse_method_descriptor(text), parse_field_descriptor(text));
        }
    }
    let members = class.fields.iter().chain(&class.methods);
    for attributes in members.map(|member| &member.attributes).chain([&class.attributes]) {
        let _ = class
            .annotation(attributes, "GuardedBy")
            .map(|found| found.map(|a| a.string(&class.pool, "value").is_some()));
        for attribute in attributes {
            if let Ok(value) = class.attribute_value(attribute) {
                assert_eq!(value.write().as_ref(), Ok(&attribute.info));
            }
        }
    }
    for method in &class.methods {
        let Ok(Some(code)) = class.code(method) else { continue };
        for instruction in code.instructions().map_while(Result::ok) {
            let _ = (
                stack_effect(&instruction, &class.pool),
                instruction.jump_targets().count(),
            );
        }
        let _ = super_call_pc(&code, &class.pool);
        for attribute in &code.attributes {
            let _ = AttributeValue::parse(attribute, &class.pool);
        }
        if let Ok(list) = code.decode() {
            let flow = Flow::of(&list);
            let edges: usize = (0..list.nodes.len()).map(|index| flow.successors(index).len()).sum();
            assert!(edges <= code.code.len() + list.nodes.len());
            let _ = list.encode(&mut class.pool.clone());
        }
    }
    let mut with_bodies = class.clone();
    if give_references_bodies(&mut with_bodies, |_, _, _| true) {
        assert!(with_bodies.methods.len() > class.methods.len());
        for body in &with_bodies.methods[class.methods.len()..] {
            let name = with_bodies.member_name(body).expect("a name was added");
            let _ = bound_by_reference(&with_bodies, &String::from_utf8_lossy(name));
        }
        let _ = with_bodies.write();
    }
    let _ = super::heavy::edit(bytes, &mut super::heavy::Done::default());
}
