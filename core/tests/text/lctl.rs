//! Whose value a line is in: names of parameters, error messages, wrapped lines and cut texts.

mod cut;
mod merged;
mod names;
mod wrapped;
