use super::*;

fn statement<Q: Question>(question: &Q) -> String {
    Q::SOURCE.statement(&Q::Answer::columns(), &question.arguments())
}

#[test]
fn an_argument_that_is_not_given_is_left_out() {
    assert_eq!(
        statement(&Densities::default()),
        r#"SELECT "time", "seconds", "operation", "bucket", "lower", "upper", "count" FROM jobstats_densities()"#
    );
}

#[test]
fn arguments_are_named_and_typed() {
    let question = Top {
        window: Window::new(Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH),
        by: Some(vec![Dimension::Job]),
        filters: Filters {
            cluster: Some(vec!["puhti".to_owned()]),
            uid: Some(vec![1000]),
            ..Filters::default()
        },
        ..Top::default()
    };
    let statement = statement(&question);
    let (_, call) = statement.split_once(" FROM ").unwrap();
    assert_eq!(
        call,
        r#"jobstats_top("since" => $1, "until" => $2, "by" => $3, "cluster" => $4, "uid" => $5)"#
    );
    let arguments = question.arguments();
    let types: Vec<_> = arguments
        .values
        .iter()
        .map(|(_, kind)| kind.name())
        .collect();
    assert_eq!(
        types,
        ["timestamptz", "timestamptz", "_text", "_text", "_int8"]
    );
}

#[test]
fn a_view_has_no_arguments() {
    assert!(statement(&Health::default()).ends_with(" FROM jobstats.health"));
}

#[test]
fn a_pattern_of_a_text_matches_nothing_else() {
    assert_eq!(exactly(r"100%_a\b"), r"100\%\_a\\b");
}
