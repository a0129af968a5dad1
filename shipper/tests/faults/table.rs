//! The table of faults and counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::fault::Kind;
use crate::ledger::Counts;

const HEAD: &str = "\
| fault | times | readings | in the spool | sent without it | stored | clock rejected | dropped | said dropped | lost | doubled |
|---|---|---|---|---|---|---|---|---|---|---|
";

/// The counts of all faults so far, by name.
#[derive(Default)]
pub struct Table(BTreeMap<&'static str, (u64, Counts)>);

impl Table {
    /// Adds a fault.
    pub fn add(&mut self, name: &'static str, counts: Counts) {
        let (times, sum) = self.0.entry(name).or_default();
        *times += 1;
        *sum += counts;
    }

    /// Writes the table in Markdown.
    pub fn write(&self, path: &Path, seed: u64, has_small_disks: bool, verified: &str) {
        let mut text = String::from(HEAD);
        let (mut faults, mut sum) = (0, Counts::default());
        for (_, name) in Kind::ALL {
            if let Some((times, counts)) = self.0.get(name) {
                row(&mut text, name, *times, counts);
                faults += times;
                sum += *counts;
            }
        }
        row(&mut text, "**all**", faults, &sum);
        if !has_small_disks {
            text.push_str("\nnot run: full disks: this user may not mount a file system\n");
        }
        writeln!(text, "\nseed {seed}; the simulator's truth: {verified}").unwrap();
        print!("\n{text}");
        fs::write(path, text).unwrap();
    }
}

fn row(text: &mut String, name: &str, times: u64, counts: &Counts) {
    let Counts {
        calls,
        spooled,
        stored,
        direct,
        rejected,
        dropped,
        said_dropped,
        lost,
        doubled,
    } = counts;
    writeln!(
        text,
        "| {name} | {times} | {calls} | {spooled} | {direct} | {stored} | {rejected} | {dropped} | {said_dropped} | {lost} | {doubled} |"
    )
    .unwrap();
}
