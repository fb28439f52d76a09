//! Directed runs: the program runs free and almost unhooked, and a few threads are held at a few places until the steps of a
//! goal have happened in the wanted order.
//!
//! Separate from recording and from whole schedules: only classes that contain steps are rewritten, class data sharing stays
//! on, nothing but facts is written. See `ravel_protocol::goal` for what is wanted, `director` for the rules, `hold` for waiting.

mod allowance;
mod deadlock;
mod director;
pub(crate) mod ended;
mod exclusive;
mod hold;
mod hooks;
mod life;
mod locks;
mod objects;
mod state;
mod stuck;

pub use life::load;
