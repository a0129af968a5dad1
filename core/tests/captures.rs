//! Texts captured at other sites: the results equal counts made without our code, and every problem is expected.
//!
//! It runs where `JOBSTATS_CAPTURES` names their directory; they are not ours to copy.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use jobstats_core::base::pause::Pause;
use jobstats_core::base::target::TargetName;
use jobstats_core::rules::snapshot::read;
use jobstats_core::text::additional_parameters::{Other, Parameter, Problems};
use jobstats_core::text::job_stats::{CounterLine, Problem, Reason, Sink, TimeLine, scan};
use jobstats_core::{rules::target_counters, text::gauges, text::stats, text::used};

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

/// No text is cut, and names are missing only where they were left out.
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

/// Captures of a value alone, by the name that the parameter has on a server.
const NAMELESS: [(&str, &str); 4] = [
    (
        "lustre_export_stats__telegraf__ost.txt",
        "obdfilter.fs-OST0000.exports.0@lo.stats",
    ),
    (
        "lustre_md_stats__telegraf__v2.12_secs_usecs.txt",
        "mdt.fs-MDT0000.md_stats",
    ),
    (
        "lustre_obdfilter_stats__datadog__2.16.1_noname.txt",
        "obdfilter.fs-OST0000.stats",
    ),
    (
        "lustre_obdfilter_stats__telegraf__v2.12.txt",
        "obdfilter.fs-OST0000.stats",
    ),
];

/// The texts with values of other parameters.
fn texts_of_targets(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut texts = texts(directory);
    texts.extend(self::texts(&directory.join("sources")));
    texts.retain(|file, _| {
        !file.contains("lsf_") && !file.contains("sacct") && !file.contains("acct_")
    });
    for (file, name) in NAMELESS {
        let text = texts.get_mut(file).unwrap();
        text.splice(..0, format!("{name}=\n").into_bytes());
    }
    texts
}

/// The number of parameters in a text that are read, by their names, and of the lines of their counters and owners. Some
/// parameters are printed twice.
fn counted_by_lines(text: &[u8]) -> (usize, usize) {
    let ends = [
        ".stats",
        ".md_stats",
        ".uuid",
        ".kbytestotal",
        ".kbytesavail",
        ".kbytesfree",
        ".filestotal",
        ".filesfree",
        ".changelog_users",
        ".acct_user",
        ".acct_group",
        ".acct_project",
        ".nrs_policies",
        ".recovery_status",
        "health_check",
    ];
    let others = [
        "llite.",
        "osd-ldiskfs.MGS.",
        "mgs.MGS.exports",
        "ldlm.namespaces.",
    ];
    let (mut names, mut lines, mut is_read) = (BTreeSet::new(), 0, false);
    for line in String::from_utf8_lossy(text).lines() {
        if let Some((name, _)) = line.split_once('=') {
            let is_one = ends.iter().any(|end| name.ends_with(end));
            let is_other = others.iter().any(|begin| name.starts_with(begin));
            is_read = is_one && !is_other && names.insert(name.to_owned());
        }
        lines += usize::from(is_read && (line.contains(" samples [") || line.starts_with("- id:")));
    }
    (names.len(), lines)
}

/// Reads all that is read of a value, and returns the number of its counters and owners.
fn read_value<'o>(other: &'o Other<'_>, problems: &mut Problems<'o>) -> usize {
    match other.parameter {
        Parameter::TargetStats(_) | Parameter::ExportStats(..) | Parameter::Service(_) => {
            let stats = stats::read(other, problems, Pause::NEVER).unwrap();
            assert!(
                stats.is_complete && stats.snapshot_time.is_some(),
                "{other:?}"
            );
            stats.counters.len()
        }
        Parameter::Used(..) => used::read(other, problems, Pause::NEVER)
            .unwrap()
            .unwrap()
            .len(),
        Parameter::ExportUuid(..) => 0,
        _ => {
            let samples = gauges::read(std::slice::from_ref(other), problems, Pause::NEVER);
            let is_empty_changelog = matches!(other.parameter, Parameter::Changelog(_));
            assert!(
                !samples.unwrap().is_empty() || is_empty_changelog,
                "{other:?}"
            );
            0
        }
    }
}

#[test]
fn values_beside_job_stats_are_read_without_a_problem() {
    let Some(directory) = directory() else { return };
    let (mut values, mut bodies) = (0, 0);
    for (file, text) in texts_of_targets(&directory) {
        let others = read(&text, Pause::NEVER).unwrap().others;
        let mut problems = Problems::default();
        let lines: usize = others
            .iter()
            .map(|other| read_value(other, &mut problems))
            .sum();
        assert_eq!((others.len(), lines), counted_by_lines(&text), "{file}");
        for one in target_counters::read(&others, &mut problems, Pause::NEVER).unwrap() {
            assert!(one.body.starts_with("job_stats:\n- job_id:"), "{file}");
            bodies += 1;
        }
        assert_eq!(problems, Problems::default(), "{file}");
        values += others.len();
    }
    assert!(
        values > 100 && bodies > 9,
        "{values} values, {bodies} targets"
    );
}
