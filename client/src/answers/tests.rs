use super::*;

fn sent<Q: Question>(question: &Q) -> String {
    let arguments = question.arguments();
    Q::SOURCE.statement(Q::Answer::COLUMNS, &arguments.parameters())
}

#[test]
fn an_argument_that_is_not_given_is_left_out() {
    assert_eq!(
        sent(&Densities::default()),
        r#"SELECT "time", "bucket", "count" FROM jobstats_densities()"#
    );
}

#[test]
fn arguments_are_named_and_typed() {
    let question = Top {
        window: Window::new(Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH),
        by: words([Dimension::Job]),
        filter: Filters {
            cluster: Some(vec!["puhti".to_owned()]),
            uid: Some(vec![1000]),
            ..Filters::default()
        },
        ..Top::default()
    };
    let statement = sent(&question);
    let (_, call) = statement.split_once(" FROM ").unwrap();
    assert_eq!(
        call,
        r#"jobstats_top("since" => $1, "until" => $2, "by" => $3, "filter" => $4)"#
    );
    let arguments = question.arguments();
    let types: Vec<_> = arguments
        .values
        .iter()
        .map(|(_, kind)| kind.name())
        .collect();
    assert_eq!(types, ["timestamptz", "timestamptz", "text", "jsonb"]);
}

#[test]
fn a_view_has_no_arguments() {
    assert!(sent(&Health::default()).ends_with(" FROM jobstats.health"));
}

#[test]
fn a_part_of_a_view_has_its_values_in_the_condition() {
    let question = Quality {
        since: Timestamp::UNIX_EPOCH,
        until: Timestamp::UNIX_EPOCH,
    };
    assert!(sent(&question).contains(" WHERE hour >= $1 AND hour < $2"));
}

#[test]
fn a_question_can_be_copied() {
    let question = Top {
        window: Window::new(Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH),
        by: words([Dimension::Job]),
        n: Some(3),
        filter: Filters {
            user: Some(vec!["o'neil $since".to_owned()]),
            ..Filters::default()
        },
        untracked: Some(true),
        ..Top::default()
    };
    assert_eq!(
        statement(&question, &["rank", "name"]),
        "SELECT \"rank\", \"name\" FROM jobstats_top(\"since\" => '1970-01-01 00:00:00+00', \"until\" => '1970-01-01 \
         00:00:00+00', \"by\" => 'job', \"n\" => 3, \"filter\" => 'user=\"o''neil $since\"', \
         \"untracked\" => true);"
    );
    let entries = Entries {
        at: Some(Timestamp::UNIX_EPOCH),
        entry_id: vec![1, -2],
    };
    assert!(statement(&entries, &["uid"]).ends_with(
        "FROM jobstats_internal.entries('1970-01-01 00:00:00+00') WHERE entry_id = ANY ('{1,-2}');"
    ));
    assert_eq!(
        statement(&Health::default(), &[]),
        "SELECT * FROM jobstats.health;"
    );
}
