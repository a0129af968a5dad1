use super::*;

fn warning(message: &str) -> Notice {
    Notice {
        is_warning: true,
        message: message.to_owned(),
        plain: String::new(),
    }
}

#[test]
fn the_warnings_of_the_feed_are_understood() {
    let judged = |message| judge(&[warning(message)]);
    let late = "jobstats rejected 1 of 1 texts (1 too late) (SQLSTATE 01000)";
    assert_eq!(judged(late), Judgement::TooLate);
    let placed = "jobstats placed 1 of 1 texts before newer ones (SQLSTATE 01000)";
    assert_eq!(judged(placed), Judgement::Newer);
    let clock = "jobstats rejected 1 of 1 texts (1 clock) (SQLSTATE 01000)";
    assert_eq!(judged(clock), Judgement::Rejected(clock.to_owned()));
    assert_eq!(judge(&[]), Judgement::Taken);
    assert_eq!(judged("odd"), Judgement::Taken);
}

#[test]
fn a_refusal_has_two_lines_with_the_way_out() {
    let now = Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(1000 * 24);
    let since = now - jiff::SignedDuration::from_hours(50);
    let refused = |verdicts: &[Judgement]| {
        let names = ["a", "b", "c"].map(str::to_owned).into_iter();
        let verdicts: Vec<_> = names.zip(verdicts.iter().cloned()).collect();
        refusal(&verdicts, since, now).map(|error| error.to_string())
    };
    assert_eq!(refused(&[Judgement::Taken, Judgement::Taken]), None);
    let old = refused(&[Judgement::Newer, Judgement::TooLate, Judgement::TooLate]);
    let old = old.unwrap_or_default();
    assert!(
        old.starts_with("the recording begins at 1972-09-24 22:00:00Z"),
        "{old}"
    );
    assert!(old.contains("of 2 targets would be rejected\n"), "{old}");
    assert!(
        old.contains("jobstats_setup(raw_retention => '4 days')"),
        "{old}"
    );
    assert!(old.contains("--cluster"), "{old}");
    let newer = refused(&[Judgement::Taken, Judgement::Newer]).unwrap_or_default();
    assert!(newer.contains("1 targets, such as b"), "{newer}");
    assert!(newer.contains("--cluster NAME"), "{newer}");
    assert_eq!([old, newer].map(|text| text.lines().count()), [2, 2]);
}
