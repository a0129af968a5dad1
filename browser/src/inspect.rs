//! Finds what is wrong with a page.

use std::fs;
use std::path::Path;

use crate::chromium::{Chromium, Error};
use crate::view::View;

/// The largest size of a page that can be sent by mail without a thought, in bytes.
const LARGEST: u64 = 1_000_000;

/// The size of A4 in points.
const A4: (f64, f64) = (595.28, 841.89);

/// Looks at a file in every view, and returns a line for each thing that is wrong.
///
/// # Errors
///
/// Fails if the browser does.
pub fn faults(chromium: &Chromium, file: &Path) -> Result<Vec<String>, Error> {
    let mut faults = Vec::new();
    let size = fs::metadata(file)?.len();
    if size >= LARGEST {
        faults.push(format!("has {size} bytes"));
    }
    for view in View::all() {
        let mut tab = chromium.open(file, view)?;
        let mut found = tab.heard()?;
        if view == View::Paper {
            found.extend(misprints(&tab.print()?));
        }
        found.extend(tab.ask(include_str!("inspect.js"))?);
        tab.close()?;
        faults.extend(found.into_iter().map(|it| format!("{it} ({view:?})")));
    }
    Ok(faults)
}

/// Returns what is wrong with a page that was printed: sheets are A4.
fn misprints(pdf: &[u8]) -> Vec<String> {
    let pdf = String::from_utf8_lossy(pdf);
    let boxes: Vec<_> = pdf.split("/MediaBox [").skip(1).collect();
    if boxes.is_empty() {
        return vec!["prints no sheet".to_owned()];
    }
    let not_a4 = boxes.into_iter().filter_map(|it| {
        let place = it.split(']').next().unwrap_or_default();
        let numbers: Vec<f64> = place
            .split_whitespace()
            .filter_map(|it| it.parse().ok())
            .collect();
        let is_a4 = matches!(numbers[..], [0.0, 0.0, width, height]
            if (width - A4.0).abs() < 1.0 && (height - A4.1).abs() < 1.0);
        (!is_a4).then(|| format!("prints on a sheet of {place}"))
    });
    not_a4.collect()
}
