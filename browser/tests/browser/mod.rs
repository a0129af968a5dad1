//! The browser for tests, where there is one.

use std::io::Write;
use std::path::PathBuf;

use jobstats_browser::axe;
use jobstats_browser::chromium::{self, Chromium};

/// Starts the browser. Returns `None`, and says so, where there is none.
pub fn start(test: &str) -> Option<Chromium> {
    let Some(program) = chromium::program() else {
        not_run(test, "Chromium");
        return None;
    };
    Some(Chromium::start(&program).unwrap())
}

/// Starts the browser for a test that needs axe too.
pub fn start_with_axe(test: &str) -> Option<(Chromium, PathBuf)> {
    let Some(axe) = axe::file() else {
        not_run(test, "axe");
        return None;
    };
    Some((start(test)?, axe))
}

fn not_run(test: &str, what: &str) {
    let _ = writeln!(
        std::io::stderr(),
        "not run: {test}: {what} is missing: run make setup-dev"
    );
}
