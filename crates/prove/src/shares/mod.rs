//! Proof on several machines: the findings of a trace are dealt to shards, each machine forces its own, and the results are joined.
//!
//! A forced run knows nothing of other findings, so shards need not talk to each other. Each one reads and analyses the trace again,
//! since the occurrences of findings are events of it: analysis is a small part of the time, and a file that has them would tie the
//! machines to one build of Ravel. A shard that is killed leaves nothing behind; tried again, it tries the same findings.

pub mod merged;
pub mod plan;
pub mod shard;

pub use self::merged::{Merged, merge};
pub use self::plan::{ProofPlan, Share};
pub use self::shard::Shard;
