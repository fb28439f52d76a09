//! Reads of a field that only describe the object: what is put into a text or an exception goes into a log, an error or a
//! description, where an old value does no harm.

use crate::flow::{At, Kind, MethodFlow};

/// Whether the value of a read goes into texts and nowhere else.
pub(super) fn is_only_told(known: &MethodFlow, read: At) -> bool {
    let flow = &known.flow;
    let mut told = false;
    for at in flow.all() {
        if flow.operands(at).any(|operand| operand == read) {
            let passed_on = boxes(known, at) && is_only_told(known, at);
            if !passed_on && !makes_text(known, at) {
                return false;
            }
            told = true;
        } else if flow.used(at).contains(read) && matches!(flow.kind(at), Kind::Branch | Kind::Write(_)) {
            return false;
        }
    }
    told
}

fn makes_text(known: &MethodFlow, at: At) -> bool {
    let pool = &known.class.pool;
    match known.flow.kind(at) {
        Kind::Call(index) => pool.member_ref(index).is_ok_and(|called| match called.class {
            b"java/lang/StringBuilder" | b"java/lang/StringBuffer" => called.name == b"append",
            b"java/lang/String" => matches!(called.name, b"valueOf" | b"format" | b"concat"),
            class => is_log(class) || called.name == b"<init>" && is_exception(class),
        }),
        // The arguments of `String.format` and of a log are in an array.
        Kind::Store => known.flow.operand(at, 0).is_some_and(|array| {
            let mut users = known
                .flow
                .all()
                .filter(|user| known.flow.operands(*user).any(|operand| operand == array));
            known.flow.kind(array) == Kind::Other
                && users.all(|user| known.flow.kind(user) == Kind::Store || is_told_call(known, user))
        }),
        Kind::Dynamic(index) => {
            let name = pool.dynamic(index).map(|(_, name, _)| name);
            matches!(name, Ok(b"makeConcatWithConstants" | b"makeConcat"))
        }
        _ => false,
    }
}

fn is_told_call(known: &MethodFlow, at: At) -> bool {
    matches!(known.flow.kind(at), Kind::Call(_)) && makes_text(known, at)
}

/// Whether a class writes logs, by its name.
pub(super) fn is_log(class: &[u8]) -> bool {
    let simple = class
        .rsplit(|byte| matches!(byte, b'/' | b'$'))
        .next()
        .unwrap_or_default();
    simple == b"Log" || simple.ends_with(b"Logger")
}

/// Whether a class is an exception, by its name: what its constructor gets words a message.
fn is_exception(class: &[u8]) -> bool {
    class.ends_with(b"Exception") || class.ends_with(b"Error")
}

/// Whether a call makes an object of a number.
fn boxes(known: &MethodFlow, at: At) -> bool {
    let Kind::Call(index) = known.flow.kind(at) else {
        return false;
    };
    let called = known.class.pool.member_ref(index);
    called.is_ok_and(|called| called.name == b"valueOf" && called.class.starts_with(b"java/lang/"))
}
