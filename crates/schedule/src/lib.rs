//! From a finding to a schedule: an order of the recorded threads' steps that makes a bug happen, checked against the
//! trace before anything is run.
//!
//! Read a trace once into an [`Image`], say what is wanted as a [`Goal`], and [`generate()`] a [`Schedule`]. Nothing here
//! knows a JVM: forcing the program into the schedule is someone else's work.

mod build;
pub mod check;
mod contenders;
pub mod generate;
pub mod goal;
pub mod image;
pub mod machine;
pub mod naming;
pub mod orders;
mod plan;
mod search;
pub mod serial;
mod shrink;
mod solve;
mod start;
mod turns;

pub use check::{Audit, CheckError, audit, check};
pub use contenders::Contenders;
pub use generate::{CheckVerdict, Effort, Generated, NoSchedule, generate, generate_from};
pub use goal::{EventAt, Goal, GoalError, Shape, Span};
pub use image::{Image, ImageError, Limits};
pub use machine::{Broken, Point};
pub use orders::Orders;
pub use ravel_protocol::{Leave, ParseError, Schedule, Segment, ThreadName};
pub use serial::{Serial, SerialOrders, serial_schedules};
pub use start::Start;
