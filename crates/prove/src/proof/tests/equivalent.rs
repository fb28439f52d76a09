//! A run stands for another one only if the other one would have been the same: random programs, run under both schedules.

use std::collections::BTreeMap;

use fastrand::Rng;
use ravel_protocol::{Leave, Schedule};
use ravel_schedule::naming;
use ravel_trace::{Event, Op, Source};

use super::super::equivalent::{can_stand_in, stand_in};
use super::fake;
use crate::runner::fake::Fake;
use crate::runner::{Forced, Runner};

/// What the methods of a random program do.
const METHODS: [&[&str]; 5] = [
    &["r C.n", "w C.n+1"],
    &["acq L", "r C.n", "rel L", "acq L", "w C.n+1", "rel L"],
    &["acq L", "r C.n", "w C.m+2", "rel L"],
    &["r C.m", "skip 0 1", "w C.n+3", "r C.n"],
    &["w C.m=4", "acq K", "r C.k", "w C.k+1", "rel K"],
];

/// Two or three threads that call a few of the methods.
fn random_program(random: &mut Rng) -> Fake {
    let threads = random.usize(2..=3);
    let mut lines: Vec<(usize, String)> = (1..=threads).map(|thread| (0, format!("fork t{thread}"))).collect();
    for thread in 1..=threads {
        for call in 0..random.usize(1..=2) {
            lines.push((thread, format!("enter C.m{call}()I")));
            let method = METHODS[random.usize(..METHODS.len())];
            lines.extend(method.iter().map(|operation| (thread, operation.to_string())));
            lines.extend(["ret", "exit"].map(|operation| (thread, operation.to_string())));
        }
    }
    lines.extend((1..=threads).map(|thread| (0, format!("join t{thread}"))));
    lines.extend(["n", "m", "k"].map(|variable| (0, format!("r C.{variable}"))));
    let names: Vec<String> = (1..=threads).map(|thread| format!("t{thread}")).collect();
    let cells = |(thread, operation): &(usize, String)| {
        format!("{}{operation}{}", "|".repeat(*thread), "|".repeat(threads - thread))
    };
    let lines: Vec<String> = lines.iter().map(cells).collect();
    fake(&format!("main|{}\n{}\n", names.join("|"), lines.join("\n")))
}

/// Turns of the threads in any order, some of them to the end of a method; then each goes on to its end, and all of them are named.
fn random_schedule(random: &mut Rng, program: &Fake) -> Schedule {
    let recorded = program.recorded();
    let names = naming::thread_names(recorded.names(), recorded.names().threads.len());
    let main = names
        .iter()
        .position(|name| name.path == "main")
        .expect("a main thread");
    let mut schedule = Schedule::default();
    // It starts the others, and goes on when they are over.
    schedule.run_to(&names[main], names.len() as u32 - 1);
    let mut others: Vec<usize> = (0..names.len()).filter(|thread| *thread != main).collect();
    for _ in 0..random.usize(2..6) {
        let name = &names[others[random.usize(..others.len())]];
        match random.bool() {
            true => schedule.run_on(name, random.u32(1..6)),
            false => schedule.run_out_of(
                name,
                random.u32(1..8),
                Leave::Frame {
                    depth: 1,
                    entered: random.u32(1..12),
                },
            ),
        }
    }
    random.shuffle(&mut others);
    for thread in others.into_iter().chain([main]) {
        schedule.run_on(&names[thread], 1_000);
    }
    schedule
}

/// What each thread did, with the values. Runs number locations as they come, so these are named.
fn done(run: &Forced) -> BTreeMap<u32, Vec<String>> {
    let mut done: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let (events, names) = run.trace.as_ref().expect("a trace");
    for event in events {
        let text = match event.op {
            Op::Read { location, value } | Op::Write { location, value } => {
                format!("{} {value:?}", names.variable_name(location, event.site))
            }
            _ => names.site(event.site).line.to_string(),
        };
        done.entry(event.thread.0).or_default().push(text);
    }
    done
}

#[test]
fn a_run_that_stands_for_another_is_the_same() {
    let mut random = Rng::with_seed(7);
    let (mut stood, mut refused) = (0, 0);
    for _ in 0..400 {
        let program = random_program(&mut random);
        let schedules: Vec<Schedule> = (0..6).map(|_| random_schedule(&mut random, &program)).collect();
        let runs: Vec<Forced> = schedules
            .iter()
            .map(|schedule| program.force(schedule, 0).expect("a run"))
            .collect();
        for made in runs.iter().filter(|run| can_stand_in(run)) {
            for (schedule, run) in schedules.iter().zip(&runs) {
                let Some(like) = stand_in(made, schedule) else {
                    refused += 1;
                    continue;
                };
                stood += 1;
                assert_eq!(done(&like), done(run), "{schedule}");
                let returned = |run: &Forced| {
                    let mut all = run.returned.clone();
                    all.sort_by_key(|event: &Event| (event.thread, event.position));
                    all
                };
                assert_eq!(returned(&like), returned(run), "{schedule}");
            }
        }
    }
    // Neither everything nor nothing is alike.
    assert!(stood > 1_000 && refused > 1_000, "{stood} stood in, {refused} did not");
}
