//! The captures of others: what is read from them equals counts made without our code, and every problem is expected.
//!
//! It runs where `JOBSTATS_CAPTURES` names their directory; they are not ours to copy.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use jobstats_core::job_stats::{CounterLine, Problem, Reason, Sink, TimeLine, scan};
use jobstats_core::pause::Pause;
use jobstats_core::snapshot::read;
use jobstats_core::target::TargetName;

/// `<file> <line> <reason>`, or `<file> none`.
const PROBLEMS: &str = include_str!("captures.problems");

/// Lines, samples and sums; of records, their number.
type Counts = BTreeMap<String, [u64; 3]>;

struct Counter(Counts);

impl Counter {
    fn add(&mut self, what: &str, counts: [u64; 3]) -> Result<(), Infallible> {
        let sums = self.0.entry(what.to_owned()).or_default();
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count;
        }
        Ok(())
    }
}

impl<'a> Sink<'a> for Counter {
    type Stop = Infallible;

    fn target(&mut self, _: u32, _: Option<TargetName<'a>>) -> Result<(), Infallible> {
        Ok(())
    }

    fn record(&mut self, _: u32, _: Cow<'a, str>, _: &'a [u8]) -> Result<(), Infallible> {
        self.add("records", [1, 0, 0])
    }

    fn time(&mut self, _: u32, _: TimeLine) -> Result<(), Infallible> {
        Ok(())
    }

    fn counter(&mut self, _: u32, line: &CounterLine<'_>, _: &'a [u8]) -> Result<(), Infallible> {
        self.add(line.operation, [1, line.samples, line.sum.unwrap_or(0)])
    }

    fn problem(&mut self, _: u32, _: Reason, _: &'a [u8]) -> Result<(), Infallible> {
        Ok(())
    }
}

fn directory() -> Option<PathBuf> {
    let directory = env::var_os("JOBSTATS_CAPTURES").map(PathBuf::from);
    if directory.is_none() {
        // Past the test harness, which shows only what failed.
        let _ = writeln!(
            std::io::stderr(),
            "not run: JOBSTATS_CAPTURES names no directory of captures"
        );
    }
    directory
}

/// The files of a directory, by name.
fn texts(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(directory)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            (
                path.file_name().unwrap().to_str().unwrap().to_owned(),
                fs::read(path).unwrap(),
            )
        })
        .collect()
}

/// The counts of grep and awk for each file.
fn counted_without_us(directory: &Path) -> BTreeMap<String, Counts> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures.sh");
    let output = Command::new("sh")
        .arg(script)
        .arg(directory)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut counted = BTreeMap::<String, Counts>::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let [file, what, numbers @ ..] = &line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let mut counts = [0; 3];
        for (count, number) in counts.iter_mut().zip(numbers) {
            *count = number.parse().unwrap();
            assert!(*count < 1 << 53, "awk counts in floating point: {line}");
        }
        if counts[0] > 0 {
            counted
                .entry((*file).to_owned())
                .or_default()
                .insert((*what).to_owned(), counts);
        }
    }
    counted
}

#[test]
fn records_operations_and_sums_are_those_that_grep_and_awk_count() {
    let Some(directory) = directory() else { return };
    let mut counted = counted_without_us(&directory);
    let texts = texts(&directory);
    assert!(!texts.is_empty());
    for (file, text) in texts {
        let mut counter = Counter(Counts::new());
        let Ok(()) = scan(&text, &mut counter, Pause::NEVER);
        assert_eq!(
            counter.0,
            counted.remove(&file).unwrap_or_default(),
            "{file}"
        );
    }
    assert_eq!(counted, BTreeMap::new());
}

#[test]
fn the_problems_are_those_that_are_expected() {
    let Some(directory) = directory() else { return };
    let mut found = String::new();
    for (file, text) in texts(&directory) {
        let reading = read(&text, Pause::NEVER).unwrap();
        let of_targets = reading
            .snapshots
            .iter()
            .flat_map(|snapshot| &snapshot.problems);
        let mut problems: Vec<&Problem<'_>> = of_targets.chain(&reading.problems).collect();
        problems.sort_by_key(|problem| problem.line);
        for problem in &problems {
            found += &format!("{file} {} {}\n", problem.line, problem.reason.code());
        }
        if problems.is_empty() {
            found += &format!("{file} none\n");
        }
    }
    assert_eq!(found, PROBLEMS);
}

/// Nothing is cut, and no name is missing but where it was left out.
#[test]
fn every_target_is_complete() {
    let Some(directory) = directory() else { return };
    for (file, text) in texts(&directory) {
        for snapshot in &read(&text, Pause::NEVER).unwrap().snapshots {
            assert!(snapshot.complete && snapshot.observed, "{file}");
            assert_eq!(snapshot.target.is_none(), file.contains("noname"), "{file}");
        }
    }
}
