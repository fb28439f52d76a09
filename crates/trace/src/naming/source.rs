//! Classes and members as their authors wrote them: nested classes with dots, lambdas and coroutines by the method they stand
//! in, and the names that Kotlin and Scala compilers encode turned back.

use super::types;

/// What Scala writes for characters that a JVM name may not have.
const OPERATORS: [(&str, &str); 18] = [
    ("$plus", "+"),
    ("$minus", "-"),
    ("$times", "*"),
    ("$div", "/"),
    ("$percent", "%"),
    ("$less", "<"),
    ("$greater", ">"),
    ("$eq", "="),
    ("$bang", "!"),
    ("$at", "@"),
    ("$hash", "#"),
    ("$colon", ":"),
    ("$qmark", "?"),
    ("$amp", "&"),
    ("$bar", "|"),
    ("$up", "^"),
    ("$bslash", "\\"),
    ("$tilde", "~"),
];

/// Methods by which a function object is called: they say nothing beside where the function stands.
const CALLS: [&str; 9] = [
    "invoke",
    "invokeSuspend",
    "apply",
    "run",
    "call",
    "accept",
    "get",
    "applyAsInt",
    "test",
];

/// `shop.Stock$Item` as `Stock.Item`; `shop.Main$run$1` as `lambda in Main.run`; `shop.Till$` (a Scala object) as `Till`.
pub fn class(name: &str) -> String {
    let simple = simple_class(name);
    if let Some((outer, _)) = simple.split_once("$$Lambda") {
        return format!("lambda in {}", class(outer));
    }
    match function_class(simple) {
        Some(home) => format!("lambda in {home}"),
        None => nested(simple),
    }
}

/// A method or field name as in the source: `lambda$main$0` as `lambda in main`, `take$default` as `take`,
/// `$plus$eq` as `+=`.
pub fn member(name: &str) -> String {
    match lambda_home(name) {
        Some(home) => format!("lambda in {}", home_name(&home)),
        None => plain_member(name),
    }
}

/// A method with its class: `Stock.take`, `new Stock`, `lambda in Stock.take`.
pub fn method(class_name: &str, name: &str) -> String {
    let simple = simple_class(class_name);
    if CALLS.contains(&name)
        && let Some(home) = function_class(simple)
    {
        let what = if name == "invokeSuspend" { "coroutine" } else { "lambda" };
        return format!("{what} in {home}");
    }
    let owner = class(class_name);
    if let Some(home) = lambda_home(name) {
        return match home.as_str() {
            "new" => format!("lambda in new {owner}"),
            "static" => format!("lambda in {owner}"),
            _ => format!("lambda in {owner}.{}", home_name(&home)),
        };
    }
    match (owner.is_empty(), name) {
        (true, _) => plain_member(name),
        (false, "<init>") => format!("new {owner}"),
        (false, "<clinit>") => format!("{owner} (static initialiser)"),
        (false, _) => format!("{owner}.{}", plain_member(name)),
    }
}

/// Whether the parameters of a method are what its author wrote; a lambda's begin with what it captured.
pub fn has_own_parameters(class_name: &str, name: &str) -> bool {
    lambda_home(name).is_none()
        && !name.ends_with("$default")
        && name != "<clinit>"
        && !(CALLS.contains(&name) && function_class(simple_class(class_name)).is_some())
}

/// `shop.Stock$Item` as `Stock$Item`: the JVM's name without its package.
pub fn simple_class(name: &str) -> &str {
    // A hidden class has a slash and an address behind its name.
    let end = name.find('/').unwrap_or(name.len());
    let start = name[..end].rfind('.').map_or(0, |at| at + 1);
    &name[start..]
}

/// `shop.Stock$1` without its class: `shop`, empty for the default package.
pub fn package(class: &str) -> &str {
    let end = class.find('/').unwrap_or(class.len());
    class[..end].rsplit_once('.').map_or("", |(package, _)| package)
}

/// A field with its class: `Stock.items`.
pub fn field(class_name: &str, name: &str) -> String {
    format!("{}.{}", class(class_name), member(name))
}

/// `take(I)Z` as `take`, `shop.Stock.take(I)Z` as `shop.Stock.take`.
pub fn without_descriptor(method: &str) -> &str {
    method.split('(').next().unwrap_or(method)
}

/// `shop.Stock.take(I)Z` or `shop.Stock.take` as `Stock.take`.
pub fn qualified_method(qualified: &str) -> String {
    let name = without_descriptor(qualified);
    match name.rsplit_once('.') {
        Some((class, member)) => method(class, member),
        None => member(name),
    }
}

/// A method as a word of a sentence: `Stock.take`, `the lambda in Stock.take`.
pub fn method_in_sentence(qualified: &str) -> String {
    let name = qualified_method(qualified);
    match name.starts_with("lambda in ") || name.starts_with("coroutine in ") {
        true => format!("the {name}"),
        false => name,
    }
}

/// `shop.Stock.take(ILjava/lang/String;)Z` as `Stock.take(int, String)`; text that is no descriptor is left alone.
pub fn signature(qualified: &str) -> String {
    let (name, descriptor) = qualified.split_at(without_descriptor(qualified).len());
    let short = qualified_method(name);
    let (class, member) = name.rsplit_once('.').unwrap_or(("", name));
    if !has_own_parameters(class, member) {
        return short;
    }
    match types::parameters(descriptor) {
        Some(parameters) => format!("{short}({})", parameters.join(", ")),
        None => format!("{short}{descriptor}"),
    }
}

/// Where the function stands that a class is made for (Kotlin's `Main$run$1`, `MainKt$main$worker$1$2`); none for classes
/// that somebody named, and for Java's anonymous ones.
fn function_class(simple: &str) -> Option<String> {
    let mut parts: Vec<&str> = simple.split('$').collect();
    if parts.iter().any(|p| p.is_empty()) || !is_number(parts.last()?) {
        return None;
    }
    while parts.last().is_some_and(|p| is_number(p)) {
        parts.pop();
    }
    // Methods begin with a small letter: the part before the number is one, or this is an anonymous class.
    let method = parts.iter().position(|p| p.starts_with(|c: char| c.is_lowercase()))?;
    if method == 0 {
        return None;
    }
    Some(format!("{}.{}", parts[..method].join("."), plain_member(parts[method])))
}

fn nested(simple: &str) -> String {
    if simple.is_empty() {
        return String::new();
    }
    let simple = simple
        .strip_suffix("$package$")
        .or(simple.strip_suffix("$package"))
        .unwrap_or(simple);
    let simple = simple.strip_suffix('$').filter(|s| !s.is_empty()).unwrap_or(simple);
    if let Some((outer, _)) = simple.split_once("$$anon$") {
        return format!("{} (anonymous)", nested(outer));
    }
    let decoded = operators(simple);
    let mut out = String::new();
    for (at, part) in decoded.split('$').enumerate() {
        let local = part.trim_start_matches(|c: char| c.is_ascii_digit());
        match (at == 0 || out == "$", part.is_empty()) {
            (true, true) => out.push('$'),
            (true, false) => out.push_str(part),
            // Scala's objects end with the sign, also in the middle.
            (false, true) => {}
            // Java's anonymous classes have no name but a number; local ones have both.
            (false, false) if local.is_empty() => out.push_str(&format!("${part}")),
            (false, false) => out.push_str(&format!(".{local}")),
        }
    }
    out
}

/// The method in which a lambda stands, from the name that the compiler gave the lambda's code.
fn lambda_home(name: &str) -> Option<String> {
    // Java: lambda$main$0.
    if let Some(rest) = name.strip_prefix("lambda$") {
        let (home, number) = rest.rsplit_once('$')?;
        return is_number(number).then(|| home.to_owned());
    }
    // Scala 2: $anonfun$main$1, $anonfun$main$1$adapted. Scala 3 has $anonfun$1 for one that stands nowhere in particular.
    if let Some(rest) = name.strip_prefix("$anonfun$") {
        let rest = rest.strip_suffix("$adapted").unwrap_or(rest);
        let home = rest.trim_end_matches(|c: char| c.is_ascii_digit() || c == '$');
        let known = !home.is_empty() && !home.starts_with(|c: char| c.is_ascii_digit());
        return Some(if known { home } else { "static" }.to_owned());
    }
    // Scala 3: main$$anonfun$1; Kotlin: main$lambda$0, main$lambda-0.
    let home = ["$$anonfun$", "$lambda$", "$lambda-"]
        .iter()
        .find_map(|mark| name.split_once(mark))?
        .0;
    (!home.is_empty()).then(|| home.to_owned())
}

fn home_name(home: &str) -> String {
    match home {
        "new" => "a constructor".to_owned(),
        "static" => "its class".to_owned(),
        _ => plain_member(home),
    }
}

fn plain_member(name: &str) -> String {
    // Kotlin: default arguments, a property through an accessor, and names with a hash for value classes.
    let name = name.strip_suffix("$default").filter(|n| !n.is_empty()).unwrap_or(name);
    let name = match name.strip_prefix("access$") {
        Some(inner) if !inner.is_empty() && !is_number(inner) => inner.strip_suffix("$p").unwrap_or(inner),
        _ => name,
    };
    let name = match name.split_once('-') {
        Some((start, hash)) if !start.is_empty() && (hash == "impl" || hash.len() == 7) => start,
        _ => name,
    };
    // Scala: a private member that another class may reach bears its class's name; lazy values have helpers.
    let name = name
        .rsplit_once("$$")
        .map_or(name, |(_, last)| if last.is_empty() { name } else { last });
    let name = ["$lzycompute", "$lzyINIT", "$lzy"]
        .iter()
        .find_map(|mark| name.split_once(mark))
        .filter(|(start, rest)| !start.is_empty() && (rest.is_empty() || is_number(rest)))
        .map_or(name, |(start, _)| start);
    // Java: what an inner class knows of its surroundings.
    match (name.strip_prefix("this$"), name.strip_prefix("val$")) {
        (Some(number), _) if is_number(number) => "outer this".to_owned(),
        (_, Some(captured)) if !captured.is_empty() => captured.to_owned(),
        _ => operators(name),
    }
}

fn operators(name: &str) -> String {
    if !name.contains('$') {
        return name.to_owned();
    }
    let mut out = String::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        match OPERATORS
            .iter()
            .find(|(code, _)| rest.starts_with(code) && ends_word(&rest[code.len()..]))
        {
            Some((code, sign)) => {
                out.push_str(sign);
                rest = &rest[code.len()..];
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// `$at` is no operator in `$attempt`.
fn ends_word(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_lowercase())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_names() {
        for (name, told) in [
            ("shop.Stock", "Stock"),
            ("shop.Stock$Item", "Stock.Item"),
            ("shop.Stock$Item$Builder", "Stock.Item.Builder"),
            ("shop.Stock$1", "Stock$1"),
            ("shop.Stock$1Local", "Stock.Local"),
            ("shop.Stock$$Lambda$14/0x000000080010a400", "lambda in Stock"),
            ("shop.Stock$$Lambda/0x0000000801003000", "lambda in Stock"),
            ("$Weird", "$Weird"),
            ("", ""),
        ] {
            assert_eq!(class(name), told, "{name}");
        }
        for (owner, name, told) in [
            ("shop.Stock", "take", "Stock.take"),
            ("shop.Stock", "<init>", "new Stock"),
            ("shop.Stock", "<clinit>", "Stock (static initialiser)"),
            ("shop.Shop", "lambda$main$0", "lambda in Shop.main"),
            ("shop.Shop", "lambda$new$3", "lambda in new Shop"),
            ("shop.Shop", "lambda$static$1", "lambda in Shop"),
            ("shop.Shop$1", "run", "Shop$1.run"),
            ("", "main", "main"),
            ("shop.Shop", "access$000", "Shop.access$000"),
            ("shop.Shop", "cash$", "Shop.cash$"),
        ] {
            assert_eq!(method(owner, name), told, "{owner} {name}");
        }
        assert_eq!(
            (member("this$0"), member("val$count")),
            ("outer this".to_owned(), "count".to_owned())
        );
    }

    #[test]
    fn kotlin_names() {
        for (owner, name, told) in [
            ("shop.Till$Companion", "open", "Till.Companion.open"),
            ("shop.Till", "pay$default", "Till.pay"),
            ("shop.MainKt", "main$lambda$0", "lambda in MainKt.main"),
            ("shop.MainKt", "main$lambda-2", "lambda in MainKt.main"),
            ("shop.MainKt", "main$lambda$3$lambda$1", "lambda in MainKt.main"),
            ("shop.MainKt$main$1", "invoke", "lambda in MainKt.main"),
            ("shop.MainKt$main$worker$1$2", "invoke", "lambda in MainKt.main"),
            ("shop.MainKt$main$1$job$1", "invokeSuspend", "coroutine in MainKt.main"),
            ("shop.Till", "access$getCash$p", "Till.getCash"),
            ("shop.Till", "pay-impl", "Till.pay"),
            ("shop.Till", "pay-a1B2_c3", "Till.pay"),
            ("shop.Till", "buys the last one", "Till.buys the last one"),
        ] {
            assert_eq!(method(owner, name), told, "{owner} {name}");
        }
    }

    #[test]
    fn scala_names() {
        for (owner, name, told) in [
            ("shop.Till$", "open", "Till.open"),
            ("shop.Till$Drawer$", "open", "Till.Drawer.open"),
            ("shop.Till$", "$anonfun$main$1", "lambda in Till.main"),
            ("shop.Till$", "$anonfun$main$2$adapted", "lambda in Till.main"),
            ("shop.Till$", "$anonfun$1", "lambda in Till"),
            ("shop.Till$", "$anonfun$2$$anonfun$1", "lambda in Till"),
            ("shop.Till$", "main$$anonfun$1", "lambda in Till.main"),
            ("shop.Till$", "main$$anonfun$1$$anonfun$2", "lambda in Till.main"),
            ("shop.Till", "$plus$plus$eq", "Till.++="),
            ("shop.Till", "cash_$eq", "Till.cash_="),
            ("shop.Till", "rates$lzycompute", "Till.rates"),
            ("shop.Till", "rates$lzyINIT1", "Till.rates"),
            ("shop.Till", "shop$Till$$cash", "Till.cash"),
            ("shop.Till$$anon$1", "run", "Till (anonymous).run"),
            ("shop.Main$package$", "main", "Main.main"),
        ] {
            assert_eq!(method(owner, name), told, "{owner} {name}");
        }
        assert_eq!(class("scala.collection.immutable.$colon$colon"), "::");
        assert_eq!(member("$attempt"), "$attempt");
    }

    #[test]
    fn signatures_read_like_java() {
        assert_eq!(signature("shop.Stock.take(I)Z"), "Stock.take(int)");
        assert_eq!(
            signature("shop.Stock$1.put([[JLjava/util/Map$Entry;D)V"),
            "Stock$1.put(long[][], Map.Entry, double)"
        );
        assert_eq!(signature("Main.run()V"), "Main.run()");
        assert_eq!(qualified_method("shop.Stock.take(I)Z"), "Stock.take");
        assert_eq!(qualified_method("main"), "main");
    }

    #[test]
    fn a_damaged_descriptor_is_left_alone() {
        for damaged in ["a.B.c(", "a.B.c(Q)V", "a.B.c(Lx)V", "a.B.c([)V", "", "(", "a.B.c(é)V"] {
            signature(damaged);
        }
        assert_eq!(signature("a.B.c(Q)V"), "B.c(Q)V");
    }

    #[test]
    fn packages_end_before_the_class() {
        assert_eq!((package("shop.Stock$1"), package("Stock")), ("shop", ""));
        assert_eq!(package("shop.Stock$$Lambda/0x0.1"), "shop");
        assert_eq!(simple_class("shop.Stock$1"), "Stock$1");
    }

    #[test]
    fn parameters_that_nobody_wrote_are_known() {
        assert!(has_own_parameters("shop.Till", "pay"));
        for (owner, name) in [
            ("shop.Till", "lambda$main$0"),
            ("shop.Till", "pay$default"),
            ("shop.AKt$f$1", "invoke"),
        ] {
            assert!(!has_own_parameters(owner, name), "{name}");
        }
    }

    #[test]
    fn no_name_is_too_strange() {
        for name in [
            "$",
            "$$",
            "$$$",
            "a$",
            "$1",
            "-",
            "$lambda$",
            "lambda$",
            "lambda$$",
            "$anonfun$",
            "$$anonfun$",
            "日$本",
        ] {
            let _ = (class(name), member(name), method(name, name));
            assert!(!member(name).is_empty(), "{name}");
        }
    }
}
