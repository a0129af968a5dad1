use super::*;
use crate::frame::{Recorder, ServerName};

/// Returns the progress of a reading of two targets and other parameters, after these texts were stored.
fn progress(stored: &[usize]) -> Progress {
    let mut recorder = Recorder::of(&ServerName::default(), LCTL, u64::MAX);
    let text = b"health_check=healthy\nmdt.a-MDT0000.job_stats=\nmdt.b-MDT0000.job_stats=\n";
    recorder.push(text, Duration::ZERO).unwrap();
    let reading = recorder.finish().unwrap();
    assert_eq!(reading.index.texts.len(), 3);
    let mut progress = Progress::new(&reading);
    progress.begin();
    progress.succeed(stored, Answer::Stored);
    progress
}

fn refuse(progress: &mut Progress, text: usize) -> String {
    progress.fail(&[text], &SendError::TooLarge(1), "too large".to_owned());
    progress.result().unwrap_err().to_string()
}

#[test]
fn targets_are_counted_and_other_parameters_are_not() {
    assert_eq!(progress(&[0, 1, 2]).event(), Event::Delivered(2));
    assert_eq!(
        refuse(&mut progress(&[0, 2]), 1),
        "1 of 2 targets were not stored"
    );
    assert_eq!(
        refuse(&mut progress(&[0]), 1),
        "1 of 2 targets were not stored"
    );
}

#[test]
fn other_parameters_that_were_not_stored_are_a_failure_of_one_text() {
    let mut progress = progress(&[0, 1]);
    assert!(!progress.is_over());
    assert_eq!(refuse(&mut progress, 2), "1 of 3 texts were not stored");
    assert!(progress.is_over());
    let message = "too large".to_owned();
    let (stored, rejected) = (2, 0);
    assert_eq!(
        progress.event(),
        Event::Undelivered {
            stored,
            rejected,
            message
        }
    );
}
