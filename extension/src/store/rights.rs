//! The rights of writers, of readers and of maintenance.

pub(crate) mod caller;
pub(crate) mod owner;
pub(crate) mod writer;
