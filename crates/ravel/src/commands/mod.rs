//! One module per command.

pub mod attach;
pub mod baseline;
pub mod check;
pub mod config;
pub mod demo;
pub mod diff;
pub mod doctor;
pub mod explain;
pub mod generated;
pub mod guard;
pub mod history;
pub mod merge;
pub mod own;
pub mod plan;
pub mod prove;
pub mod record;
pub mod replay;
pub mod report;
pub mod run;
pub mod scan;
pub mod trace;
