//! Reads the command line, and answers the commands that ask a store once.

pub mod generate;
pub mod inquiry;
pub mod options;
