//! SQL literals for statements to copy, in printable ASCII only, so that the text that runs is the text that is shown.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::Interval;

/// Quotes a text, and escapes backslashes and all but printable ASCII.
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| matches!(c, ' '..='~') && c != '\\';
    let prefix = if text.chars().all(is_plain) { "" } else { "E" };
    let mut out = format!("{prefix}'");
    for character in text.chars() {
        let _ = match character {
            '\'' => write!(out, "''"),
            '\\' => write!(out, r"\\"),
            ' '..='~' => write!(out, "{character}"),
            _ if u32::from(character) > 0xFFFF => write!(out, r"\U{:08X}", u32::from(character)),
            _ => write!(out, r"\u{:04X}", u32::from(character)),
        };
    }
    out.push('\'');
    out
}

/// Formats an array of texts or numbers, as `'{a,b}'` if its elements need no quotes. Numbers need none.
pub fn array(elements: &[impl ToString]) -> String {
    let is_simple = |element: &String| {
        let is_word = element
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '%' | '-' | '+'));
        !element.is_empty() && is_word && !element.eq_ignore_ascii_case("null")
    };
    let elements: Vec<_> = elements.iter().map(ToString::to_string).collect();
    if elements.iter().all(is_simple) {
        return format!("'{{{}}}'", elements.join(","));
    }
    let quoted: Vec<_> = elements.iter().map(|it| quoted(it)).collect();
    format!("ARRAY[{}]::text[]", quoted.join(", "))
}

/// Formats a time, truncated to microseconds as in a parameter.
pub fn time(time: Timestamp) -> String {
    let time = Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time);
    format!("'{}+00'", time.strftime("%F %T%.f"))
}

/// Formats an interval in its largest unit that divides it.
pub fn interval(interval: Interval) -> String {
    let micros = interval.0.as_micros();
    let units = [
        (86_400_000_000, "days"),
        (3_600_000_000, "hours"),
        (60_000_000, "minutes"),
        (1_000_000, "seconds"),
        (1, "microseconds"),
    ];
    let unit = units.iter().find(|(width, _)| micros % width == 0);
    unit.map_or(String::new(), |(width, name)| {
        format!("'{} {name}'", micros / width)
    })
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;
    use crate::answers::Value;

    #[test]
    fn a_literal_is_what_a_person_would_write() {
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!("4711".to_owned().literal(), "'4711'");
        assert_eq!(texts(&["a", "b"]).literal(), "'{a,b}'");
        assert_eq!(texts(&[]).literal(), "'{}'");
        assert_eq!(
            texts(&["o'k", "null"]).literal(),
            "ARRAY['o''k', 'null']::text[]"
        );
        assert_eq!(vec![1_i64, -2].literal(), "'{1,-2}'");
        let time: Timestamp = "2026-11-20T13:40:00.25Z".parse().unwrap();
        assert_eq!(time.literal(), "'2026-11-20 13:40:00.25+00'");
        let nanoseconds: Timestamp = "2026-11-20T13:40:00.1234567Z".parse().unwrap();
        assert_eq!(nanoseconds.literal(), "'2026-11-20 13:40:00.123456+00'");
        let minutes = Interval(SignedDuration::from_mins(90));
        assert_eq!(minutes.literal(), "'90 minutes'");
    }

    #[test]
    fn characters_that_deceive_are_escaped() {
        assert_eq!(
            "a\u{202e}b\\\n".to_owned().literal(),
            r"E'a\u202Eb\\\u000A'"
        );
        assert_eq!("\u{1F600}".to_owned().literal(), r"E'\U0001F600'");
    }

    proptest! {
        #[test]
        fn a_text_ends_where_its_literal_ends(text in any::<String>()) {
            let literal = text.literal();
            let is_printable = literal.chars().all(|c| matches!(c, ' '..='~'));
            prop_assert!(is_printable);
            let inside = literal.trim_start_matches('E');
            let inside = &inside[1..inside.len() - 1];
            prop_assert!(!inside.replace("''", "").contains('\''));
        }
    }
}
