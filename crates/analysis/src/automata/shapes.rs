//! The 14 patterns of the AtomicSet paper (Figure 2), and names for the other orders of two conflicts.

/// An event that writes.
pub(super) const W: bool = true;
/// An event that reads.
pub(super) const R: bool = false;

/// The five patterns on one location: `u`, `u'`, `u`.
pub const SINGLE: [([bool; 3], &str); 5] = [
    ([R, W, W], "1: R(x) W'(x) W(x)"),
    ([R, W, R], "2: R(x) W'(x) R(x)"),
    ([W, R, W], "3: W(x) R'(x) W(x)"),
    ([W, W, R], "4: W(x) W'(x) R(x)"),
    ([W, W, W], "5: W(x) W'(x) W(x)"),
];

/// A pattern on two locations: its name, and for each event whether `u'` does it, on the second location, and writes.
pub type DoublePattern = (&'static str, [(bool, bool, bool); 4]);

/// The nine patterns on two locations.
pub const DOUBLE: [DoublePattern; 9] = [
    (
        "6: W(x) W'(x) W'(y) W(y)",
        [(false, false, W), (true, false, W), (true, true, W), (false, true, W)],
    ),
    (
        "7: W(x) W'(y) W'(x) W(y)",
        [(false, false, W), (true, true, W), (true, false, W), (false, true, W)],
    ),
    (
        "8: W(x) W'(y) W(y) W'(x)",
        [(false, false, W), (true, true, W), (false, true, W), (true, false, W)],
    ),
    (
        "9: W(x) R'(x) R'(y) W(y)",
        [(false, false, W), (true, false, R), (true, true, R), (false, true, W)],
    ),
    (
        "10: W(x) R'(y) R'(x) W(y)",
        [(false, false, W), (true, true, R), (true, false, R), (false, true, W)],
    ),
    (
        "11: R(x) W'(x) W'(y) R(y)",
        [(false, false, R), (true, false, W), (true, true, W), (false, true, R)],
    ),
    (
        "12: R(x) W'(y) W'(x) R(y)",
        [(false, false, R), (true, true, W), (true, false, W), (false, true, R)],
    ),
    (
        "13: R(x) W'(y) R(y) W'(x)",
        [(false, false, R), (true, true, W), (false, true, R), (true, false, W)],
    ),
    (
        "14: W(x) R'(y) W(y) R'(x)",
        [(false, false, W), (true, true, R), (false, true, W), (true, false, R)],
    ),
];

/// The name of an order of four events that Figure 2 does not list.
pub(super) fn mixed(shape: &[(bool, bool, bool); 4]) -> &'static str {
    // Two conflicts in opposite directions give three orders of threads and locations, and four kinds of events.
    let order = match (shape[1].0, shape[1].1, shape[2].0) {
        (true, false, _) => 0,
        (true, true, true) => 1,
        _ => 2,
    };
    let kinds = shape.iter().fold(0, |k, e| 2 * k + usize::from(e.2));
    MIXED[order][kinds]
}

macro_rules! kinds {
    ($a:literal, $b:literal, $c:literal, $d:literal) => {
        [
            concat!("R", $a, " R", $b, " R", $c, " R", $d),
            concat!("R", $a, " R", $b, " R", $c, " W", $d),
            concat!("R", $a, " R", $b, " W", $c, " R", $d),
            concat!("R", $a, " R", $b, " W", $c, " W", $d),
            concat!("R", $a, " W", $b, " R", $c, " R", $d),
            concat!("R", $a, " W", $b, " R", $c, " W", $d),
            concat!("R", $a, " W", $b, " W", $c, " R", $d),
            concat!("R", $a, " W", $b, " W", $c, " W", $d),
            concat!("W", $a, " R", $b, " R", $c, " R", $d),
            concat!("W", $a, " R", $b, " R", $c, " W", $d),
            concat!("W", $a, " R", $b, " W", $c, " R", $d),
            concat!("W", $a, " R", $b, " W", $c, " W", $d),
            concat!("W", $a, " W", $b, " R", $c, " R", $d),
            concat!("W", $a, " W", $b, " R", $c, " W", $d),
            concat!("W", $a, " W", $b, " W", $c, " R", $d),
            concat!("W", $a, " W", $b, " W", $c, " W", $d),
        ]
    };
}

const MIXED: [[&str; 16]; 3] = [
    kinds!("(x)", "'(x)", "'(y)", "(y)"),
    kinds!("(x)", "'(y)", "'(x)", "(y)"),
    kinds!("(x)", "'(y)", "(y)", "'(x)"),
];
