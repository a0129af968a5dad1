//! Lines find their target: names of parameters, error messages, wrapped lines and cut texts.

mod cut;
mod merged;
mod names;
mod wrapped;
