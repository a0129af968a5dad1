//! Runs axe, which checks the accessibility of pages.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::chromium::{Chromium, Error};
use crate::view::{Scheme, View, WIDTHS};

/// The variable that names the file of axe.
const FILE: &str = "JOBSTATS_TEST_AXE";

/// Asks for all that WCAG requires at the levels A and AA.
const RUN: &str = r#"
for (const details of document.querySelectorAll('details')) details.open = true;
axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.target} ${node.failureSummary}`)))
"#;

/// Returns the path of axe, if it is there.
pub fn file() -> Option<PathBuf> {
    env::var_os(FILE)
        .map(PathBuf::from)
        .filter(|it| it.is_file())
}

/// Looks at a file on a phone in the dark and on a screen in the light, and returns a line for each thing that is wrong.
///
/// # Errors
///
/// Fails if the browser does, or if axe cannot be read.
pub fn faults(chromium: &Chromium, axe: &Path, file: &Path) -> Result<Vec<String>, Error> {
    let axe = fs::read_to_string(axe)?;
    let mut faults = Vec::new();
    for (width, scheme) in [(WIDTHS[0], Scheme::Dark), (WIDTHS[2], Scheme::Light)] {
        let view = View::screen(width, scheme);
        let tab = chromium.open(file, view)?;
        // The script returns no JSON; the empty list stands in for its value.
        tab.ask(&format!("{axe}\n;[]"))?;
        let found = tab.ask(RUN)?;
        tab.close()?;
        faults.extend(found.into_iter().map(|it| format!("{it} ({view:?})")));
    }
    Ok(faults)
}
