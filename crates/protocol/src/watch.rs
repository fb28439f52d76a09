//! The accesses and return values that a forced run of a long program records: all others cost time and are not compared.

use serde::{Deserialize, Serialize};

use crate::line::Message;

/// Stands for the elements of arrays in [`Watch::fields`].
pub const ELEMENTS: &str = "[]";

/// The accesses and return values to record. Synchronisation is always recorded, and every point counts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Watch {
    /// Fields, like `shop.Stock.items`, or [`ELEMENTS`].
    pub fields: Vec<String>,
    /// Methods whose results are recorded, like `shop.Stock.count(I)I`.
    pub methods: Vec<String>,
}

impl Message for Watch {
    const KIND: &'static str = "watch";
}
