//! Checks that a text follows the rules of the OpenMetrics specification and can be read by them.

use proptest::prelude::*;

use super::{Exposition, ExpositionError};

fn text(build: impl FnOnce(&mut Exposition) -> Result<(), ExpositionError>) -> String {
    let mut exposition = Exposition::default();
    build(&mut exposition)
        .and_then(|()| exposition.finish())
        .expect("memory")
}

/// Returns the labels of a sample as a reader finds them, and the rest of the line.
fn read_labels(line: &str) -> (Vec<(String, String)>, &str) {
    let mut labels = Vec::new();
    let mut rest = line.split_once('{').expect("labels").1;
    loop {
        let (name, quoted) = rest.split_once("=\"").expect("a label");
        let mut value = String::new();
        let mut characters = quoted.char_indices();
        let end = loop {
            match characters.next().expect("a quote at the end") {
                (end, '"') => break end,
                (_, '\\') => match characters.next().expect("an escaped character").1 {
                    'n' => value.push('\n'),
                    escaped @ ('\\' | '"') => value.push(escaped),
                    other => panic!("{other} needs no escape"),
                },
                (_, other) => value.push(other),
            }
        };
        labels.push((name.to_owned(), value));
        rest = &quoted[end + 1..];
        match rest.split_at(1) {
            (",", more) => rest = more,
            ("}", more) => return (labels, more),
            (other, _) => panic!("{other} after a label"),
        }
    }
}

#[test]
fn metadata_comes_before_samples_and_eof_last() {
    let text = text(|it| {
        it.gauge("delay_seconds", "How late.")?;
        it.sample([("target", "a"), ("kind", "MDT")], 1.5)?;
        it.gauge("status", "Whether \"it\"\nis.")?;
        it.sample([], 0.0)
    });
    assert_eq!(
        text,
        "# TYPE delay_seconds gauge\n# UNIT delay_seconds seconds\n# HELP delay_seconds How late.\n\
         delay_seconds{target=\"a\",kind=\"MDT\"} 1.5\n\
         # TYPE status gauge\n# HELP status Whether \\\"it\\\"\\nis.\nstatus 0\n# EOF"
    );
}

#[test]
fn samples_of_counters_end_in_total() {
    let text = text(|it| {
        it.counter("text_bytes", "Size.")?;
        it.sample([("target", "a")], 7.0)?;
        it.gauge("up", "")?;
        it.sample([], 1.0)
    });
    assert_eq!(
        text,
        "# TYPE text_bytes counter\n# UNIT text_bytes bytes\n# HELP text_bytes Size.\n\
         text_bytes_total{target=\"a\"} 7\n\
         # TYPE up gauge\n# HELP up \nup 1\n# EOF"
    );
}

#[test]
fn nothing_is_a_text_too() {
    assert_eq!(text(|_| Ok(())), "# EOF");
}

#[test]
fn empty_labels_are_left_out() {
    let text = text(|it| {
        it.gauge("up", "")?;
        it.sample([("cluster", ""), ("target", "a"), ("kind", "")], 1.0)?;
        it.sample([("cluster", "")], 2.0)
    });
    assert!(text.contains("\nup{target=\"a\"} 1\nup 2\n"), "{text}");
}

#[test]
fn numbers_without_digits_have_names() {
    let text = text(|it| {
        it.gauge("x", "")?;
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY]
            .into_iter()
            .try_for_each(|value| it.sample([], value))
    });
    assert!(text.contains("\nx NaN\nx +Inf\nx -Inf\n"), "{text}");
}

proptest! {
    /// Labels of any content stay on one line, and a reader finds them and the value again.
    #[test]
    fn labels_and_values_are_read_back(
        first in "(?s).{1,20}", second in r#"[\\"n\n{},= ]{1,12}"#, value in proptest::num::f64::NORMAL | proptest::num::f64::ZERO,
    ) {
        let text = text(|it| {
            it.gauge("x", "")?;
            it.sample([("a", first.as_str()), ("b", second.as_str())], value)
        });
        let lines: Vec<&str> = text.split('\n').collect();
        prop_assert_eq!(lines.len(), 4);
        let (labels, rest) = read_labels(lines[2]);
        prop_assert_eq!(labels, [("a".to_owned(), first), ("b".to_owned(), second)]);
        let number = rest.strip_prefix(' ').expect("a space before the value");
        prop_assert_eq!(number.parse::<f64>(), Ok(value));
    }
}
