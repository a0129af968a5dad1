//! Accounting captured at other sites: the jobs of each file equal the jobs that an independent script finds.
//!
//! It runs where `JOBSTATS_CAPTURES` names the directory of captures, whose accounting is in `sources`; they are not ours to copy.

#![allow(clippy::unwrap_used, clippy::panic)]

mod gridengine;
mod lsf;
mod pbs;
mod slurm;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use jobstats_core::accounting::{Job, Record, SCHEDULERS};

/// The schedulers without any published accounting.
const UNPUBLISHED: [&str; 1] = ["flux"];

#[test]
fn every_scheduler_has_a_script() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accounting");
    for scheduler in SCHEDULERS {
        let name = scheduler.name;
        let has_script = scripts.join(format!("{name}.sh")).exists();
        assert!(
            has_script != UNPUBLISHED.contains(&name),
            "core/tests/accounting/{name}.sh and the test beside it"
        );
    }
}

/// Returns the files of a source whose names begin so, if there are captures here.
fn files(prefix: &str) -> Vec<PathBuf> {
    let Some(directory) = env::var_os("JOBSTATS_CAPTURES") else {
        // Past the test harness, which shows only what failed.
        let _ = writeln!(
            std::io::stderr(),
            "not run: JOBSTATS_CAPTURES names no directory of captures"
        );
        return Vec::new();
    };
    let directory = fs::read_dir(Path::new(&directory).join("sources")).unwrap();
    let mut files: Vec<_> = directory.map(|file| file.unwrap().path()).collect();
    files.retain(|path| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with(prefix)
    });
    assert!(!files.is_empty(), "there is no {prefix}");
    files.sort();
    files
}

/// Checks the jobs of a text against an independent script in this directory, which prints a line `job label submitted
/// started ended` for each, with `-` for unknown values. Returns the lines of the problems with their reasons.
fn check<'a>(
    script: &str,
    file: &Path,
    records: impl Iterator<Item = Record<'a>>,
) -> Vec<(u32, &'static str)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/accounting")
        .join(script);
    let output = Command::new("sh").arg(script).arg(file).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let output = String::from_utf8(output.stdout).unwrap();
    let mut expected: Vec<String> = output.lines().map(str::to_owned).collect();
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for record in records {
        match record.job {
            Ok(job) => found.push(line(&job)),
            Err(reason) => problems.push((record.line, reason.code())),
        }
    }
    expected.sort();
    found.sort();
    assert_eq!(found, expected, "{}", file.display());
    problems
}

fn line(job: &Job<'_>) -> String {
    let times = [job.submitted, job.started, job.ended];
    let [submitted, started, ended] =
        times.map(|time| time.map_or_else(|| "-".to_owned(), |time| time.to_string()));
    format!("{} {} {submitted} {started} {ended}", job.job, job.label)
}
