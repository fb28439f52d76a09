//! Reports in every format, and the configuration, one module per subject.

mod browser;
mod common;
mod config;
mod examples;
mod formats;
mod hostile;
mod text;
