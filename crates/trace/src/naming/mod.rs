//! Everything that a programmer reads gets its name here: classes, methods, fields, variables, locks, threads and places in
//! code. One place, so that a message, a drawing and a trace dump call one thing by one name.
//!
//! There are two steps. [`tables`] looks ids up in the tables of a trace and gives the JVM's names (`shop.Stock$Item.count()I`);
//! fingerprints, configuration and JSON keep those. The other modules turn the JVM's names into the words of the source
//! (`Stock.Item.count()`), for people alone.

pub mod frame;
pub mod lock;
pub mod source;
pub mod tables;
pub mod threads;
pub mod types;
mod value;
pub mod variable;

pub use frame::Frame;
pub use source::{
    class, field, has_own_parameters, member, method, method_in_sentence, package, qualified_method, signature,
    simple_class, without_descriptor,
};
pub use threads::thread_names;
pub use value::number_text;
