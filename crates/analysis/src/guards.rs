//! Which lock an annotation names: `@GuardedBy("lock")`, and whether there is such a lock.

use ravel_trace::names::Names;
use ravel_trace::{ClassId, FieldId};

use crate::sets::annotation_value;

/// The annotations of a trace that name no lock, in words. One that may name a member of a class that the trace does not have is
/// not among them.
pub fn without_lock(names: &Names) -> Vec<String> {
    let mut found = Vec::new();
    for (number, field) in names.fields.iter().enumerate() {
        let Some(guard) = annotation_value(&field.annotations, "GuardedBy") else {
            continue;
        };
        if names_lock(names, field.class, guard) == Some(false) {
            let field = names.field_text(FieldId::from(number));
            found.push(format!(
                "@GuardedBy(\"{guard}\") of {field} does not name a field or method of its class"
            ));
        }
    }
    found
}

/// Whether the member that a guard names exists; none if that cannot be known.
fn names_lock(names: &Names, class: ClassId, guard: &str) -> Option<bool> {
    let guard = guard.strip_prefix("this.").unwrap_or(guard);
    if guard.is_empty() || matches!(guard, "this" | "itself") || guard.ends_with(".this") || guard.ends_with(".class") {
        return None;
    }
    // A path through other objects, or a member of another class.
    if guard.contains('.') {
        return None;
    }
    let is_member = |class: &str| match guard.strip_suffix("()") {
        Some(method) => names
            .methods
            .iter()
            .any(|one| one.name == method && is_of(names, one.class, class)),
        None => names
            .fields
            .iter()
            .any(|one| one.name == guard && is_of(names, one.class, class)),
    };
    let own = names.classes.get(class.index())?;
    // The class itself, those that enclose it, and what they inherit from.
    let mut enclosing = Some(own.name.as_str());
    while let Some(name) = enclosing {
        let mut next = name;
        while next != "java.lang.Object" {
            if is_member(next) {
                return Some(true);
            }
            let known = names.classes.iter().find(|one| one.name == next)?;
            if known.superclass.is_empty() {
                return None;
            }
            next = &known.superclass;
        }
        enclosing = name.rsplit_once('$').map(|(outer, _)| outer);
    }
    Some(false)
}

fn is_of(names: &Names, id: ClassId, class: &str) -> bool {
    names.classes.get(id.index()).is_some_and(|one| one.name == class)
}

#[cfg(test)]
mod tests {
    use ravel_trace::Source as _;
    use ravel_trace::memory::MemoryTrace;

    use super::*;

    /// What is said of a guard of `Stock.items`; `Stock` has a field `lock` besides and extends another class.
    fn told(guard: &str, superclass: &str) -> Vec<String> {
        let mut trace =
            MemoryTrace::parse("t1\nenter Stock.take\nw Stock.items\nw Stock.lock\nexit\n").expect("a trace");
        let names = trace.names_mut();
        for class in &mut names.classes {
            class.superclass = superclass.to_owned();
        }
        for field in names.fields.iter_mut().filter(|field| field.name == "items") {
            field.annotations.push(format!("GuardedBy(\"{guard}\")"));
        }
        without_lock(trace.names())
    }

    #[test]
    fn a_guard_that_names_nothing_is_told() {
        let object = "java.lang.Object";
        let wanted = "@GuardedBy(\"lokc\") of Stock.items does not name a field or method of its class";
        assert_eq!(told("lokc", object), [wanted]);
        for right in [
            "lock",
            "this.lock",
            "this",
            "itself",
            "Stock.class",
            "Stock.this",
            "owner.lock",
            "take()",
        ] {
            assert_eq!(told(right, object), [""; 0], "{right}");
        }
        assert_eq!(told("tkae()", object).len(), 1);
    }

    #[test]
    fn nothing_is_said_of_what_an_unknown_class_may_have() {
        assert_eq!(told("lokc", "library.Base"), [""; 0]);
        assert_eq!(told("lokc", ""), [""; 0]);
    }
}
