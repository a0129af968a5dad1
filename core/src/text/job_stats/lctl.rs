//! The output of `lctl get_param`: its lines, the names of parameters, and error messages.

pub mod lines;
pub mod message;
pub mod other;
pub mod parameter;
