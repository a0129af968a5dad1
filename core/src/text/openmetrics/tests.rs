use proptest::prelude::*;

use super::*;

fn all(text: &str) -> Contents<'_> {
    read(text.as_bytes(), |_| true, Pause::NEVER).unwrap()
}

/// Returns name, value and whether it counts up, of each sample.
fn values(text: &str) -> Vec<(&str, f64, bool)> {
    let samples = all(text).samples.into_iter();
    samples
        .map(|it| (it.name, it.value, it.is_counter))
        .collect()
}

fn problems(text: &str) -> Vec<(u32, Reason)> {
    let contents = all(text);
    let problems: Vec<_> = contents
        .problems
        .iter()
        .map(|it| (it.line, it.reason))
        .collect();
    assert_eq!(contents.problems_found, problems.len() as u64);
    problems
}

fn label(text: &str) -> String {
    let contents = all(text);
    assert_eq!(contents.problems, [], "{text}");
    contents.samples[0].labels["a"].clone().into_owned()
}

#[test]
fn the_example_of_the_older_format_is_read() {
    // As the specification of version 0.0.4 has it.
    let text = "# HELP http_requests_total The total number of HTTP requests.
# TYPE http_requests_total counter
http_requests_total{method=\"post\",code=\"200\"} 1027 1395066363000
http_requests_total{method=\"post\",code=\"400\"}    3 1395066363000

# Escaping in label values:
msdos_file_access_time_seconds{path=\"C:\\\\DIR\\\\FILE.TXT\",error=\"Cannot find file:\\n\\\"FILE.TXT\\\"\"} 1.458255915e9

# Minimalistic line:
metric_without_timestamp_and_labels 12.47

# A weird metric from before the epoch:
something_weird{problem=\"division by zero\"} +Inf -3982045

# TYPE http_request_duration_seconds histogram
http_request_duration_seconds_bucket{le=\"0.05\"} 24054
http_request_duration_seconds_bucket{le=\"+Inf\"} 144320
http_request_duration_seconds_sum 53423
http_request_duration_seconds_count 144320

# TYPE rpc_duration_seconds summary
rpc_duration_seconds{quantile=\"0.5\"} 4773
rpc_duration_seconds_sum 1.7560473e+07
rpc_duration_seconds_count 2693
";
    let contents = all(text);
    assert_eq!(
        (contents.samples.len(), contents.without_value),
        (11, 1),
        "the weird one"
    );
    assert_eq!(contents.problems, []);
    assert_eq!(contents.samples[0].time, Some(1_395_066_363 * SECOND));
    assert_eq!(
        contents.samples[2].labels["error"],
        "Cannot find file:\n\"FILE.TXT\""
    );
    assert_eq!(contents.samples[2].labels["path"], "C:\\DIR\\FILE.TXT");
    let counters = contents.samples.iter().map(|it| it.is_counter);
    let expected = [
        true, true, false, false, true, true, true, true, false, true, true,
    ];
    assert!(counters.eq(expected), "{contents:?}");
}

#[test]
fn the_example_of_openmetrics_is_read() {
    let text = "# TYPE acme_http_router_request_seconds summary
# UNIT acme_http_router_request_seconds seconds
# HELP acme_http_router_request_seconds Latency.
acme_http_router_request_seconds_sum{path=\"/api/v1\"} 9036.32
acme_http_router_request_seconds_count{path=\"/api/v1\"} 807283.0
acme_http_router_request_seconds_created{path=\"/api/v1\"} 1605281325.0
# TYPE foo histogram
foo_bucket{le=\"0.1\"} 8 # {} 0.054
foo_bucket{le=\"1\"} 11 1520879607.789 # {trace_id=\"KOO5S4vxi0o\"} 0.67 1520879607.7
# TYPE joules counter
joules_total 17
# TYPE state stateset
state{state=\"on\"} 1
# TYPE size gaugehistogram
size_gcount 3
# EOF
";
    let contents = all(text);
    assert_eq!(contents.problems, []);
    let times: Vec<_> = contents.samples.iter().filter_map(|it| it.time).collect();
    assert_eq!(times, [1_520_879_607_789_000], "seconds");
    let found = values(text);
    assert_eq!(
        found[3..],
        [
            ("foo_bucket", 8.0, true),
            ("foo_bucket", 11.0, true),
            ("joules_total", 17.0, true),
            ("state", 1.0, false),
            ("size_gcount", 3.0, false),
        ]
    );
}

#[test]
fn a_name_without_a_type_counts_up_if_it_says_so() {
    assert_eq!(
        values("a_total 1\nb 2\n# TYPE c untyped\nc_total 3\n# TYPE d_total gauge\nd_total 4\n"),
        [
            ("a_total", 1.0, true),
            ("b", 2.0, false),
            ("c_total", 3.0, true),
            ("d_total", 4.0, false)
        ]
    );
}

#[test]
fn blanks_and_ends_of_lines_do_not_matter() {
    let text =
        "\r\n  #  TYPE a\tcounter\r\n\t a { x = \"1\" , y=\"\" , } \t 2 \r\n{\r\na{x=\"2\"}3";
    let contents = all(text);
    let found = contents
        .samples
        .iter()
        .map(|it| (it.value, it.line, it.labels.len()));
    assert_eq!(found.collect::<Vec<_>>(), [(2.0, 3, 1), (3.0, 5, 1)]);
    assert!(contents.samples.iter().all(|it| it.is_counter));
    assert_eq!(problems(text), [(4, Reason::UnreadableLine)]);
}

#[test]
fn values_of_labels_are_read_with_their_escapes() {
    assert_eq!(label("x{a=\"1\"} 1"), "1");
    assert_eq!(label("x{a=\"}\\\"{,=#\"} 1"), "}\"{,=#");
    assert_eq!(label("x{a=\"\\d\\\\n\\n\"} 1"), "\\d\\n\n");
    assert_eq!(label("x{a=\"ä \"} 1 # {} 1"), "ä ");
}

#[test]
fn numbers_are_read_as_both_formats_write_them() {
    for (text, value) in [
        ("-1.5e-3", -0.0015),
        ("+7", 7.0),
        (".5", 0.5),
        ("18446744073709551615", 2_f64.powi(64)),
    ] {
        assert_eq!(values(&format!("x {text}")), [("x", value, false)]);
    }
    for text in ["NaN", "nan", "+Inf", "-Inf", "inf", "1e999", "1e300"] {
        let text = format!("x {text}");
        assert_eq!((values(&text), all(&text).without_value), (vec![], 1));
    }
}

#[test]
fn a_line_that_cannot_be_used_is_reported_and_costs_no_other() {
    let long = "a".repeat(NAME_MAX);
    for (line, reason) in [
        ("<html>".to_owned(), Reason::UnreadableLine),
        ("x".to_owned(), Reason::UnreadableLine),
        ("1x 1".to_owned(), Reason::UnreadableLine),
        ("a-b 1".to_owned(), Reason::UnreadableLine),
        ("x 1 2 3".to_owned(), Reason::UnreadableLine),
        (format!("{long}a 1"), Reason::LongName),
        ("x one".to_owned(), Reason::BadNumber),
        ("x 1,5".to_owned(), Reason::BadNumber),
        ("x_total -1".to_owned(), Reason::BadNumber),
        ("x 1 1.5".to_owned(), Reason::BadTime),
        ("x 1 9223372036854775807".to_owned(), Reason::BadTime),
        ("x{a=\"1\" 1".to_owned(), Reason::BadLabels),
        ("x{a=\"1} 1".to_owned(), Reason::BadLabels),
        ("x{a=\"1\\\"} 1".to_owned(), Reason::BadLabels),
        ("x{a=1} 1".to_owned(), Reason::BadLabels),
        ("x{a} 1".to_owned(), Reason::BadLabels),
        ("x{1a=\"\"} 1".to_owned(), Reason::BadLabels),
        ("x{a=\"1\",a=\"2\"} 1".to_owned(), Reason::BadLabels),
        ("x{a=\"1\"b=\"2\"} 1".to_owned(), Reason::BadLabels),
        ("x{a=\"\0\"} 1".to_owned(), Reason::BadLabels),
        (
            format!("x{{a=\"{}\"}} 1", "v".repeat(LABEL_BYTES_MAX)),
            Reason::LongLabels,
        ),
        (
            format!("x{{{}}} 1", "a=\"\",".repeat(LABELS_MAX + 1)),
            Reason::LongLabels,
        ),
        ("# TYPE x blob".to_owned(), Reason::BadType),
        ("# TYPE x".to_owned(), Reason::BadType),
        ("# TYPE x gauge 1".to_owned(), Reason::BadType),
    ] {
        let text = format!("{long} 1\n{line}\nlast 2\n");
        assert_eq!(problems(&text), [(2, reason)], "{line}");
        assert_eq!(values(&text).len(), 2, "{line}");
    }
    let contents = read(b"a{b=\"\xFF\"} 1\nc 2\n", |_| true, Pause::NEVER).unwrap();
    assert_eq!(
        (contents.problems[0].reason, contents.samples.len()),
        (Reason::UnreadableLine, 1)
    );
    assert_eq!(
        problems("# EOF\nx 1 1395066363.5\n# EOF"),
        [],
        "seconds in OpenMetrics"
    );
    assert_eq!(problems("x 1 nan\n# EOF"), [(1, Reason::BadTime)]);
}

#[test]
fn a_series_has_its_newest_sample() {
    let text = "a{x=\"1\",y=\"2\"} 1 2000\na{y=\"2\",x=\"1\"} 2 1000\na{x=\"1\",y=\"2\",z=\"\"} 3 3000\na 4\na 5 1\na 6\n";
    let found = values(text);
    assert_eq!(found, [("a", 3.0, false), ("a", 4.0, false)]);
    assert_eq!(problems(text), [(6, Reason::Repeated)]);
}

#[test]
fn only_wanted_names_are_kept() {
    let text = "a 1\nb{x=\"1\"} NaN\nb{x=\"2\"} 2\nc_total 3\nd\n";
    assert_eq!(
        names(text.as_bytes(), Pause::NEVER)
            .into_iter()
            .collect::<Vec<_>>(),
        ["a", "b", "c_total", "d"]
    );
    let contents = read(text.as_bytes(), |name| name == "b", Pause::NEVER).unwrap();
    assert_eq!(
        (
            contents.samples.len(),
            contents.unwanted,
            contents.without_value,
            contents.problems_found
        ),
        (1, 2, 1, 1)
    );
}

#[test]
fn a_text_has_a_limited_number_of_series_and_problems() {
    let text: String = (0..SAMPLES_MAX + 1_500)
        .map(|n| format!("a{{n=\"{n}\"}} 1\n"))
        .collect();
    let contents = all(&text);
    assert_eq!(contents.samples.len(), SAMPLES_MAX);
    assert_eq!(
        (contents.problems.len(), contents.problems_found),
        (PROBLEMS_MAX, 1_500)
    );
    assert_eq!(contents.problems[0].reason, Reason::TooManySeries);
}

#[test]
fn a_text_is_recognized_by_its_comments() {
    assert!(recognizes(b"\n# HELP a b\na 1\n"));
    assert!(recognizes(b"a 1\n#\tTYPE a gauge\n"));
    assert!(!recognizes(b"a 1\n# a comment\n"));
    let late = format!("{}# TYPE a gauge\n", "a 1\n".repeat(FIRST_LINES));
    assert!(!recognizes(late.as_bytes()));
}

fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}

proptest! {
    /// Samples that are printed by the rules of either format are read as they were.
    #[test]
    fn what_is_printed_is_read(
        samples in prop::collection::vec(
            (
                "[a-zA-Z_:][a-zA-Z0-9_:]{0,20}",
                prop::collection::btree_map("[a-zA-Z_][a-zA-Z0-9_]{0,8}", "[^\0\r]{1,12}", 0..5),
                (prop::num::f64::NORMAL | prop::num::f64::ZERO).prop_map(|value| value % LARGEST),
                prop::option::of(0_i64..4_000_000_000_000),
                prop::bool::weighted(0.1),
            ),
            0..20,
        ),
        is_open: bool,
    ) {
        let mut text = String::new();
        for (name, labels, value, time, is_long) in &samples {
            let labels = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
            let labels = labels.collect::<Vec<_>>().join(",");
            let value = if name.ends_with("_total") { value.abs() } else { *value };
            let time = match time {
                Some(time) if is_open => format!(" {}.{:03}", time / 1000, time % 1000),
                Some(time) => format!(" {time}"),
                None => String::new(),
            };
            let blanks = " ".repeat(if *is_long { LINE_MAX } else { 1 });
            text += &format!("{name}{{{labels}}}{blanks}{value:e}{time}\n");
        }
        if is_open {
            text += "# EOF\n";
        }
        let contents = all(&text);
        let long = samples.iter().filter(|it| it.4).count();
        prop_assert_eq!(contents.problems.iter().filter(|it| it.reason == Reason::LongLine).count(), long);
        for problem in &contents.problems {
            let is_long = samples[problem.line as usize - 1].4;
            prop_assert_eq!(problem.reason, if is_long { Reason::LongLine } else { Reason::Repeated });
        }
        for sample in &contents.samples {
            let (name, labels, value, time, _) = &samples[sample.line as usize - 1];
            let found: BTreeMap<_, _> = sample.labels.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into_owned())).collect();
            prop_assert_eq!((sample.name, &found), (name.as_str(), labels));
            prop_assert_eq!(sample.value.abs(), value.abs());
            prop_assert_eq!(sample.time, time.map(|time| time * 1_000));
        }
        let series: BTreeSet<_> = samples.iter().filter(|it| !it.4).map(|(name, labels, ..)| (name, labels)).collect();
        prop_assert_eq!(contents.samples.len(), series.len());
    }
}
