//! Ends the program and its child processes at a signal.

use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::source::process;

/// Ends the commands that are running when a signal ends the program. Where signals cannot be caught, they end the program alone.
pub fn end_commands() {
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else {
        return;
    };
    thread::spawn(move || {
        for signal in signals.forever() {
            process::end_all();
            if ratatui::crossterm::terminal::is_raw_mode_enabled().unwrap_or(false) {
                ratatui::restore();
            }
            // This ends the program, so that its caller sees the signal.
            let _ = emulate_default_handler(signal);
        }
    });
}
