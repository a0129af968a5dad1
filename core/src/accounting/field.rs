//! Reads fields that all accounting has: times and lists of nodes, in addition to lines, numbers and texts.

use std::borrow::Cow;

use super::Reason;
use crate::base::escape::escape;
use crate::base::instant::{Micros, SECOND};
pub use crate::text::field::{
    FIRST_LINES, count_lines, first_lines, id, is_number, lines, number, split_once, text, text_of,
};

/// The first time that no job has: the year 2200. A larger number of seconds is one of milliseconds, or damaged.
const LATEST: Micros = 7_258_118_400 * SECOND;

/// The largest number of nodes that are listed.
const NODES_MAX: usize = 1 << 17;

/// Returns an instant from seconds since 1970, with or without a fraction; `None` for zero, which schedulers print for
/// "never", and for times outside of 1970 to 2200.
pub fn seconds(field: &[u8]) -> Option<Micros> {
    let field = field.trim_ascii();
    let (whole, fraction) = split_once(field, b'.').unwrap_or((field, b""));
    let whole: Micros = number(whole)?;
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = fraction.iter().chain(&[b'0'; 6]).take(6);
    let micros = digits.fold(0, |sum, digit| sum * 10 + Micros::from(digit - b'0'));
    instant(whole.checked_mul(SECOND)?.checked_add(micros)?)
}

/// Returns an instant if it lies after 1970 and before 2200.
pub fn instant(micros: Micros) -> Option<Micros> {
    (1..LATEST).contains(&micros).then_some(micros)
}

/// Returns an instant from seconds since 1970, and `None` for zero, which schedulers print for "never".
///
/// # Errors
/// [`Reason::BadTime`] for every other text that [`seconds`] does not take.
pub fn seconds_or_never(field: &[u8]) -> Result<Option<Micros>, Reason> {
    if number::<u64>(field) == Some(0) {
        return Ok(None);
    }
    seconds(field).map(Some).ok_or(Reason::BadTime)
}

/// Returns whether a text has a form, in which each `0` stands for any digit.
pub fn has_form(text: &[u8], form: &[u8]) -> bool {
    let fits = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    };
    text.len() == form.len() && text.iter().zip(form).all(fits)
}

/// Returns the values of `extra` that a record has.
pub fn extra<'a>(
    values: impl IntoIterator<Item = (&'static str, Option<Cow<'a, str>>)>,
) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
    let values = values.into_iter();
    let known = values.filter_map(|(name, value)| Some((Cow::Borrowed(name), value?)));
    known.collect()
}

/// Requires that a job does not end before it starts.
///
/// # Errors
/// [`Reason::BadTime`].
pub fn require_order(started: Option<Micros>, ended: Option<Micros>) -> Result<(), Reason> {
    match started.zip(ended) {
        Some((started, ended)) if ended < started => Err(Reason::BadTime),
        _ => Ok(()),
    }
}

/// Returns the number of distinct nodes and their names in order, separated by commas; `None` for an empty list and for
/// too many nodes.
pub fn nodes<'a>(names: impl Iterator<Item = Cow<'a, [u8]>>) -> Option<(u32, Cow<'a, str>)> {
    let mut distinct = Vec::new();
    for name in names.filter(|name| !name.is_empty()) {
        // Schedulers that print a name for each processor print the processors of a node one after another.
        if distinct.last() == Some(&name) {
            continue;
        }
        if distinct.len() == NODES_MAX {
            return None;
        }
        distinct.try_reserve(1).ok()?;
        distinct.push(name);
    }
    distinct.sort_unstable();
    distinct.dedup();
    let count = u32::try_from(distinct.len()).ok()?;
    if count <= 1 {
        return Some((count, text_of(distinct.pop()?)?));
    }
    let mut list = String::new();
    let length = distinct.iter().map(|name| name.len() + 1).sum();
    list.try_reserve(length).ok()?;
    for name in &distinct {
        if !list.is_empty() {
            list.push(',');
        }
        list.push_str(&escape(name));
    }
    Some((count, Cow::Owned(list)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_never_and_other_texts_are_bad_times() {
        assert_eq!(seconds_or_never(b"0"), Ok(None));
        assert_eq!(
            seconds_or_never(b"1453766281"),
            Ok(Some(1_453_766_281_000_000))
        );
        for bad in ["", "-1", "noon", "99999999999"] {
            assert_eq!(
                seconds_or_never(bad.as_bytes()),
                Err(Reason::BadTime),
                "{bad}"
            );
        }
    }

    #[test]
    fn nodes_are_counted_once() {
        let count = |names: &[&'static [u8]]| nodes(names.iter().map(|name| Cow::Borrowed(*name)));
        assert_eq!(
            count(&[b"n2", b"n2", b"n1", b"", b"n2"]),
            Some((2, "n1,n2".into()))
        );
        assert!(matches!(
            count(&[b"n1", b"n1"]),
            Some((1, Cow::Borrowed("n1")))
        ));
        assert_eq!(count(&[]), None);
        let many = (0..=NODES_MAX).map(|n| Cow::Owned(n.to_string().into_bytes()));
        assert_eq!(nodes(many), None);
    }

    #[test]
    fn a_time_may_have_a_fraction() {
        assert_eq!(seconds(b"1453766281"), Some(1_453_766_281_000_000));
        assert_eq!(seconds(b"1453766281.25"), Some(1_453_766_281_250_000));
        assert_eq!(seconds(b"1453766281.1234567"), Some(1_453_766_281_123_456));
        for none in ["0", "", "-1", "1e9", "99999999999", "1453766281.x", "."] {
            assert_eq!(seconds(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn numbers_have_digits_only() {
        assert_eq!(number::<u32>(b" 12 "), Some(12));
        assert_eq!(id(b"4294967295"), None);
        for none in ["", "+1", "-1", "1.0", "4294967296"] {
            assert_eq!(number::<u32>(none.as_bytes()), None, "{none}");
        }
    }
}
