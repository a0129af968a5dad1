use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use super::*;
use crate::frame::{Recorder, ServerName};

const NO_MDT: &str = "error: get_param: param_path 'mdt/*/job_stats': No such file or directory";

fn reading(text: &str) -> Reading {
    let mut recorder = Recorder::of(&ServerName::default(), LCTL, u64::MAX);
    recorder.push(text.as_bytes(), Duration::ZERO).unwrap();
    recorder.finish().unwrap()
}

/// Judges an exit code and messages, given the text of one OST.
fn judged(code: i32, said: &[&str], text: &str) -> Result<Vec<String>, ReadError> {
    judged_for(true, code << 8, said, text)
}

/// Judges a wait status and messages for root or another user.
fn judged_for(
    is_root: bool,
    status: i32,
    said: &[&str],
    text: &str,
) -> Result<Vec<String>, ReadError> {
    let said: Vec<String> = said.iter().map(|&line| line.to_owned()).collect();
    let status = ExitStatus::from_raw(status);
    judge(status, &said, &reading(text), is_root)
}

const OST: &str = "obdfilter.fs-OST0000.job_stats=job_stats:\n";

#[test]
fn a_pattern_without_a_match_is_known_in_the_words_of_every_version() {
    for line in [
        NO_MDT,
        "error: get_param: param_path 'obdfilter/*/job_cleanup_interval': No such file or directory",
        "error: get_param: /proc/{fs,sys}/{lnet,lustre}/mdt/*/job_stats: Found no match",
    ] {
        assert!(is_no_match(line), "{line}");
    }
    for line in [
        "error: get_param: param_path 'mdt/*/job_stats': Permission denied",
        "error: get_param: opening '/proc/fs/lustre/mdt/fs-MDT0000/job_stats': No such file or directory",
        "No such file or directory",
    ] {
        assert!(!is_no_match(line), "{line}");
    }
}

#[test]
fn an_oss_without_mdt_is_read() {
    assert!(judged(2, &[NO_MDT], OST).is_ok());
    assert!(
        judged(
            3,
            &["error: get_param: /proc/fs/lustre/mdt/*/job_stats: Found no match"],
            OST
        )
        .is_ok()
    );
}

#[test]
fn lctl_tells_only_root_that_a_pattern_matched_nothing() {
    let judged = |code: i32, said: &[&str], text| judged_for(false, code << 8, said, text);
    assert!(judged(2, &[], OST).is_ok());
    assert!(judged(2, &[NO_MDT], OST).is_ok());
    assert!(matches!(judged(2, &[], ""), Err(ReadError::NoTarget)));
    assert!(matches!(judged(1, &[], OST), Err(ReadError::Failed { .. })));
    let unread = "error: get_param: reading 'obdfilter.fs-OST0000.job_stats': Input/output error";
    assert!(judged(2, &[unread], OST).is_err());
    assert!(matches!(judged(0, &[], ""), Err(ReadError::Unknown(_))));
}

#[test]
fn a_failure_is_one_whatever_else_matched() {
    assert!(matches!(judged(5, &[], OST), Err(ReadError::Failed { .. })));
    assert!(matches!(
        judged(5, &[NO_MDT], OST),
        Err(ReadError::Failed { .. })
    ));
    assert!(matches!(judged(2, &[], OST), Err(ReadError::Failed { .. })));
    assert!(matches!(
        judged(2, &[NO_MDT, "error: get_param: out of memory"], OST),
        Err(ReadError::Failed { .. })
    ));
}

#[test]
fn a_line_that_is_no_error_drops_no_reading() {
    let warning = "lctl: /lib64/libz.so.1: no version information available";
    assert!(judged(2, &[NO_MDT, warning], OST).is_ok());
    assert!(judged(2, &[warning, NO_MDT, "LNetError: x"], OST).is_ok());
    // An error about a target that was read counts, whatever the other messages.
    let unread = "error: get_param: reading 'obdfilter/fs-OST0001/job_stats': Input/output error";
    assert!(judged(2, &[NO_MDT, warning, unread], OST).is_err());
}

#[test]
fn a_target_that_could_not_be_read_is_a_failure_even_with_exit_code_0() {
    let unread =
        "error: read_param: '/proc/fs/lustre/obdfilter/fs-OST0001/job_stats': Input/output error";
    assert!(matches!(
        judged(0, &[unread], OST),
        Err(ReadError::Incomplete(_))
    ));
    assert!(judged(0, &["a warning"], OST).is_ok());
}

#[test]
fn a_cut_text_is_a_failure_that_the_exit_code_may_hide() {
    let cut = "obdfilter.fs-OST0000.job_stats=\njob_stats:\n- job_id: a\n  read: { sam";
    assert!(matches!(judged(2, &[NO_MDT], cut), Err(ReadError::Cut)));
    let run_into = format!("{cut}obdfilter.fs-OST0001.job_stats=job_stats:\n");
    assert!(matches!(
        judged(2, &[NO_MDT], &run_into),
        Err(ReadError::Cut)
    ));
}

#[test]
fn without_a_target_there_is_no_reading() {
    assert!(matches!(judged(2, &[NO_MDT], ""), Err(ReadError::NoTarget)));
    // The exit code of a server without targets counts as success, so any other failure needs a different one.
    assert!(matches!(judged(0, &[], ""), Err(ReadError::Unknown(_))));
    assert!(matches!(
        judged(0, &[], "garbage\n"),
        Err(ReadError::Unknown(_))
    ));
    assert!(matches!(
        judged(2, &[NO_MDT], "garbage\n"),
        Err(ReadError::Unknown(_))
    ));
}

#[test]
fn a_failure_says_how_it_ended_and_what_was_said() {
    let message = judged(5, &["one", "two"], OST).unwrap_err().to_string();
    assert_eq!(
        message,
        "lctl ended with exit code 5; its output is dropped\n  one\n  two"
    );
}

/// A value of another parameter in front of the targets.
const OTHER: &str = "health_check=healthy\n";

const NO_STATS: &str = "error: get_param: param_path 'mdt/*/md_stats': No such file or directory";
const DENIED: &str =
    "error: read_param: '/sys/kernel/debug/lustre/obdfilter/fs-OST0000/stats': Permission denied";

#[test]
fn another_parameter_never_costs_job_stats() {
    let text = format!("{OTHER}{OST}");
    for is_root in [true, false] {
        let judged = |code: i32, said: &[&str]| judged_for(is_root, code << 8, said, &text);
        assert_eq!(judged(2, &[NO_STATS]).unwrap(), [NO_STATS]);
        assert_eq!(judged(2, &[NO_STATS, NO_MDT]).unwrap(), [NO_STATS]);
        // lctl ends with the code of its first error.
        assert_eq!(judged(13, &[DENIED, NO_MDT]).unwrap(), [DENIED]);
        assert_eq!(judged(2, &[NO_STATS, DENIED]).unwrap(), [NO_STATS, DENIED]);
        assert_eq!(judged(0, &[DENIED]).unwrap(), [DENIED]);
        let no_health = "error: get_param: param_path 'health_check': No such file or directory";
        assert_eq!(judged(2, &[no_health]).unwrap(), [no_health]);
    }
}

#[test]
fn another_parameter_excuses_no_failure_of_job_stats() {
    let text = format!("{OTHER}{OST}");
    let judged = |status, said: &[&str]| judged_for(true, status, said, &text);
    let unread = "error: get_param: reading 'obdfilter.fs-OST0001.job_stats': Input/output error";
    for said in [
        &[DENIED, unread][..],
        &[NO_STATS, unread],
        &[NO_STATS, "error: get_param: out of memory"],
    ] {
        for code in [2, 5, 13] {
            assert!(judged(code << 8, said).is_err(), "{code} {said:?}");
        }
    }
    assert!(matches!(
        judged(0, &[DENIED, unread]),
        Err(ReadError::Incomplete(_))
    ));
    // A missing parameter explains no other exit code and no signal.
    assert!(judged(5 << 8, &[NO_STATS]).is_err());
    assert!(judged(9, &[NO_STATS, DENIED]).is_err());
}

#[test]
fn other_parameters_make_no_target() {
    let judged = |is_root, said: &[String]| {
        let said: Vec<_> = said.iter().map(String::as_str).collect();
        judged_for(is_root, 2 << 8, &said, OTHER)
    };
    let none = PATTERNS.map(|it| NO_STATS.replace("mdt/*/md_stats", &it.replace('.', "/")));
    assert!(matches!(judged(true, &none), Err(ReadError::NoTarget)));
    assert!(matches!(judged(false, &none), Err(ReadError::NoTarget)));
    assert!(matches!(judged(false, &[]), Err(ReadError::NoTarget)));
    // lctl did not report all patterns as missing.
    for is_root in [true, false] {
        assert!(matches!(
            judged(is_root, &none[..2]),
            Err(ReadError::Unknown(_))
        ));
    }
    let other = [NO_STATS.to_owned()];
    assert!(matches!(judged(true, &other), Err(ReadError::Unknown(_))));
}
