use std::time::Duration;

use super::text::TextSummary;
use super::{of_entries, of_intervals, of_parameters};
use crate::commands::status::Verdict;
use crate::frame::{LCTL, Recorder, ServerName};

fn target(name: &str, entries: u64, cleanup: Option<u64>) -> (&str, TextSummary) {
    (name, TextSummary { entries, cleanup })
}

#[test]
fn empty_texts_of_all_targets_ask_for_jobid_var() {
    let empty = [target("a", 0, None), target("b", 0, None)];
    let finding = of_entries(&empty);
    assert_eq!(finding.verdict, Verdict::Warning);
    assert!(finding.message.contains("lctl get_param jobid_var"));
    // The commands that it suggests match the documentation.
    let page = include_str!("../../../../docs/lustre.md");
    for command in [
        "lctl set_param -P jobid_var=SLURM_JOB_ID",
        "lctl set_param -P jobid_name=%u:%j:%H",
    ] {
        assert!(finding.message.contains(command) && page.contains(command));
    }
    let one = of_entries(&[target("a", 0, None), target("b", 7, None)]);
    assert_eq!(one.verdict, Verdict::Ok);
    assert_eq!(one.message, "7 entries; 1 of 2 targets are empty");
}

#[test]
fn a_cleanup_interval_is_at_least_two_intervals_of_readings() {
    let verdict = |cleanups: &[u64], seconds| {
        let looks = cleanups
            .iter()
            .map(|cleanup| target("mdt.fs-MDT0000", 1, Some(*cleanup)));
        let looks: Vec<_> = looks.collect();
        of_intervals(&looks, Duration::from_secs(seconds))
    };
    assert_eq!(verdict(&[600, 240], 120).verdict, Verdict::Ok);
    let short = verdict(&[600, 100], 120);
    assert_eq!(short.verdict, Verdict::Warning);
    assert!(
        short.message.contains("on 1 of 2 targets"),
        "{}",
        short.message
    );
    assert!(
        short
            .message
            .contains("lctl set_param -P mdt.fs-MDT0000.job_cleanup_interval=240")
    );
    // Zero is for ever.
    assert_eq!(verdict(&[0], 120).verdict, Verdict::Ok);
    assert_eq!(verdict(&[], 120).verdict, Verdict::Ok);
}

#[test]
fn parameters_that_are_not_read_are_named() {
    let finding = |unread: &[&str]| {
        let mut recorder = Recorder::of(&ServerName::default(), LCTL, u64::MAX);
        let text = b"health_check=healthy\nmdt.fs-MDT0000.job_stats=job_stats:\n";
        recorder.push(text, Duration::ZERO).unwrap();
        let mut reading = recorder.finish().unwrap();
        reading.unread = unread.iter().map(|line| (*line).to_owned()).collect();
        of_parameters(&reading)
    };
    assert_eq!(finding(&[]).message, "21 bytes");
    let missing = "error: get_param: param_path 'ost/OSS/*/stats': No such file or directory";
    let denied = "error: read_param: '/sys/x/md_stats': Permission denied";
    assert_eq!(
        finding(&[missing, denied]).message,
        "21 bytes; missing or unreadable (--verbose shows why): ost/OSS/*/stats, /sys/x/md_stats"
    );
}
