//! Helpers that do nothing. When every class of the JDK is instrumented, to see that the JVM takes them all, their
//! hooks run before there is a thread to ask for its state, and the real ones would call instrumented code.

use ravel_classfile::{ClassFile, Code, Result, access, op};

/// A helper class with hooks that return at once.
pub fn quiet(helper: &[u8]) -> Result<Vec<u8>> {
    let mut class = ClassFile::parse(helper)?;
    for index in 0..class.methods.len() {
        let method = &class.methods[index];
        let Some(old) = class.code(method)? else { continue };
        // These stand for what the program itself asked for.
        let works = matches!(
            class.member_name(method)?,
            b"waitNanos" | b"visible" | b"seed" | b"moveSeed"
        );
        if works || !method.is(access::PUBLIC) || !method.is(access::STATIC) {
            continue;
        }
        let body: &[u8] = match class.member_descriptor(method)?.last() {
            Some(b'V') => &[op::RETURN],
            Some(b'J') => &[op::LCONST_0, op::LRETURN],
            _ => continue,
        };
        let code = Code::new(2, old.max_locals, body.to_vec());
        class.set_code(index, &code)?;
    }
    class.write()
}
