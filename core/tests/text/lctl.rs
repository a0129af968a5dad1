//! Lines find their target: names of parameters, error messages, wrapped lines and cut texts; other parameters.

mod cut;
mod merged;
mod names;
mod others;
mod wrapped;
