//! Reads lines of the texts of other programs, and numbers and text in the fields of lines.

use std::borrow::Cow;
use std::str::FromStr;

use memchr::memchr;

use crate::base::escape::escape;
use crate::base::pause::{self, Pause};

/// The number of lines at the beginning of a text by which a source recognizes it.
const FIRST_LINES: usize = 100_000;

/// Returns the first lines of a text, by which a source recognizes it however many lines the text has.
pub fn first_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = lines(text, Pause::NEVER).take(FIRST_LINES);
    lines.map(|(_, line)| line)
}

/// Returns the lines of a text with their numbers, counted from 1, and without their ends, which may be those of Windows.
pub fn lines<'a>(text: &'a [u8], pause: Pause<'_>) -> impl Iterator<Item = (u32, &'a [u8])> {
    let mut rest = Some(text).filter(|text| !text.is_empty());
    let mut number = 0_u32;
    let mut pause_at = text.len().saturating_sub(pause::BYTES);
    std::iter::from_fn(move || {
        let text = rest?;
        if text.len() < pause_at {
            pause_at = text.len().saturating_sub(pause::BYTES);
            pause.now();
        }
        number = number.saturating_add(1);
        let (line, after) = match memchr(b'\n', text) {
            Some(end) => (&text[..end], &text[end + 1..]),
            None => (text, &text[text.len()..]),
        };
        rest = Some(after).filter(|after| !after.is_empty());
        Some((number, line.strip_suffix(b"\r").unwrap_or(line)))
    })
}

/// Returns a field as text; `None` if it is empty or blank. Bytes that are no text are shown as `\xHH`.
pub fn text(field: &[u8]) -> Option<Cow<'_, str>> {
    let field = field.trim_ascii();
    (!field.is_empty()).then(|| escape(field))
}

/// Returns a number that is written with digits only; `None` if it is none or too large.
pub fn number<T: FromStr>(field: &[u8]) -> Option<T> {
    let field = field.trim_ascii();
    let digits = !field.is_empty() && field.iter().all(u8::is_ascii_digit);
    digits
        .then(|| std::str::from_utf8(field).ok()?.parse().ok())
        .flatten()
}

/// Returns the number of a user or group. The largest number stands for nobody in system calls.
pub fn id(field: &[u8]) -> Option<u32> {
    number(field).filter(|id| *id != u32::MAX)
}

/// Returns a field as text, as [`text`] does, if it may have been put together from several parts.
pub fn text_of(field: Cow<'_, [u8]>) -> Option<Cow<'_, str>> {
    match field {
        Cow::Borrowed(field) => text(field),
        Cow::Owned(field) => text(&field).map(|text| Cow::Owned(text.into_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_lose_their_ends() {
        let all = |text| lines(text, Pause::NEVER);
        let found: Vec<_> = all(b"a\r\n\nb").collect();
        assert_eq!(found, [(1, &b"a"[..]), (2, b""), (3, b"b")]);
        assert_eq!(
            first_lines(b"a\n\nb").collect::<Vec<_>>(),
            [&b"a"[..], b"", b"b"]
        );
        assert_eq!(first_lines(&[b'\n'; 2 * FIRST_LINES]).count(), FIRST_LINES);
        assert_eq!(all(b"").count(), 0);
        assert_eq!(all(b"a\n").count(), 1);
    }
}
