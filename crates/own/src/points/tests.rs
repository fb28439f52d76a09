//! Less precision may cost proofs, never truth.

use super::*;
use crate::compiling::compile;
use crate::read;
use crate::sharing::{Reach, Sharing};

#[test]
fn a_coarse_look_proves_no_more_than_a_close_one() {
    let mut local = 0;
    for (name, source) in [
        ("Owners.java", include_str!("../../tests/java/Owners.java")),
        ("Given.java", include_str!("../../tests/java/Given.java")),
        ("Early.java", include_str!("../../tests/java/Early.java")),
    ] {
        let folder = compile(&[(name, source)]);
        let inputs = read(&[folder.path().to_path_buf()]).expect("the classes are there");
        let world = World::new(&inputs);
        let (close, coarse) = (Points::new(&world), Points::within(&world, 0));
        assert!(!close.is_coarse() && coarse.is_coarse());
        let (closely, coarsely) = (Sharing::new(&world, &close), Sharing::new(&world, &coarse));
        for method in world.method_ids() {
            for access in world.method(method).flow.iter().flat_map(|flow| &flow.accesses) {
                let reach = coarsely.reach(&world, &coarse, method, access);
                assert!(
                    closely.reach(&world, &close, method, access) <= reach,
                    "{} at {}",
                    world.method_text(method),
                    access.place.pc
                );
                local += usize::from(reach == Reach::Local);
            }
        }
    }
    assert!(local > 5, "only {local}");
}
