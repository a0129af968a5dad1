//! The terminal: the screen with its keys, tables where there is no screen, and signals.

pub mod app;
pub mod help;
pub mod print;
pub mod screen;
pub mod signals;

use std::env;
use std::io::{self, IsTerminal};

/// Returns true unless colours are switched off by the variable `NO_COLOR`.
pub fn wants_colours() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Returns true if a terminal is printed on, and colours are wanted.
pub fn is_coloured() -> bool {
    io::stdout().is_terminal() && wants_colours()
}

/// Returns the width of the terminal that is printed on, if there is one.
pub fn width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}
