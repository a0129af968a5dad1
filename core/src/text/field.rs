//! Reads lines of the texts of other programs, and numbers and text in the fields of lines.

use std::borrow::Cow;
use std::str::FromStr;

use memchr::{memchr, memchr_iter};

use crate::base::escape::escape;
use crate::base::pause::{self, Pause};

/// The number of lines that sources look at to recognize a text.
pub const FIRST_LINES: usize = 10;

/// The number of lines at the beginning of a text in which sources look for these.
const SEARCHED_LINES: usize = 100_000;

/// Returns the first lines of a text, which are enough to recognize it, however long it is.
pub fn first_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = lines(text, Pause::NEVER).take(SEARCHED_LINES);
    lines.map(|(_, line)| line)
}

/// Returns the lines of a text with their numbers, counted from 1, and without line ends, including those on Windows.
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

/// Returns the number of ends of lines in a text.
pub fn count_lines(text: &[u8]) -> u32 {
    u32::try_from(memchr_iter(b'\n', text).count()).unwrap_or(u32::MAX)
}

/// Splits a text at the first of this byte.
pub fn split_once(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let place = memchr(byte, text)?;
    Some((&text[..place], &text[place + 1..]))
}

/// Returns the words of a line.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = line.split(u8::is_ascii_whitespace);
    words.filter(|word| !word.is_empty())
}

/// Returns whether a text has only digits, and at least one.
pub fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Returns a field as text; `None` if it is empty or blank. Bytes that are no text are shown as `\xHH`.
pub fn text(field: &[u8]) -> Option<Cow<'_, str>> {
    let field = field.trim_ascii();
    (!field.is_empty()).then(|| escape(field))
}

/// Returns a number that has only digits; `None` for other texts and for numbers that are too large.
pub fn number<T: FromStr>(field: &[u8]) -> Option<T> {
    let field = field.trim_ascii();
    let digits = is_number(field).then(|| std::str::from_utf8(field).ok());
    digits.flatten()?.parse().ok()
}

/// Returns the number of a user or group. The largest number is invalid in system calls.
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
        assert_eq!(
            first_lines(&[b'\n'; 2 * SEARCHED_LINES]).count(),
            SEARCHED_LINES
        );
        assert_eq!(all(b"").count(), 0);
        assert_eq!(all(b"a\n").count(), 1);
    }
}
