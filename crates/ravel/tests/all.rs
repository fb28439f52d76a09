//! Whole-program tests: `ravel` as a user starts it. One module per subject, and one binary, so that it is linked once and all tests
//! share the slots of [`common::command_slot`].

mod architecture;
mod attach;
mod bugs;
mod cli;
mod common;
mod demo;
mod directed;
mod docs;
mod doctor;
mod evidence;
mod failures;
mod frameworks;
mod fuzz;
mod handovers;
mod history;
mod own;
mod places;
mod preview;
mod processes;
mod robust;
mod run;
mod scan;
mod scripts;
mod searches;
mod shares;
mod subjects;
mod terminal;
mod tests_alone;
mod trace;
mod verify;
