use super::*;

#[test]
fn the_work_of_elements_is_found_by_their_numbers() {
    let element = |number: usize| JobsRow {
        labels: Group {
            job: Some(number.to_string()),
            ..Group::default()
        },
        ..JobsRow::default()
    };
    let of = |count| {
        let elements: Vec<_> = (11..11 + count).map(element).collect();
        let filters = filters("10[]", Filters::default(), &elements);
        (filters.job, filters.job_group)
    };
    let texts = |texts: &[&str]| Some(texts.iter().map(ToString::to_string).collect());
    assert_eq!(of(0), (texts(&["10[]"]), None));
    assert_eq!(of(2), (texts(&["11", "12"]), None));
    assert_eq!(of(NAMED + 1), (None, texts(&["10", "10[]"])));
}
