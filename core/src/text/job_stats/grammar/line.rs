//! Classifies one line, regardless of the lines around it.

use super::time::TimeKey;
use crate::text::field::split_once;
use crate::text::job_stats::lctl::lines::{trim, trim_start};

/// A line of the value of `job_stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text::job_stats) enum Line<'a> {
    Blank,
    /// `job_stats:`
    Header,
    /// `- job_id:` with the identifier as printed.
    Record(&'a [u8]),
    /// The name and value of a time.
    Time(TimeKey, &'a [u8]),
    /// The name of an operation and the position of its `{`.
    Counter(&'a [u8], usize),
    /// The key of a line `key: value`, whose key is no time and whose value is no counter.
    Field(&'a [u8]),
    /// The whole of any other line.
    Unreadable(&'a [u8]),
}

impl<'a> Line<'a> {
    pub(in crate::text::job_stats) fn of(line: &'a [u8]) -> Self {
        let content = trim(line);
        if content.is_empty() {
            return Self::Blank;
        }
        if let Some(item) = content.strip_prefix(b"-") {
            return match trim_start(item).strip_prefix(b"job_id:") {
                Some(_) => Self::Record(identifier(line)),
                None => Self::Unreadable(line),
            };
        }
        match key_value(content) {
            Some((b"job_stats", b"")) => Self::Header,
            Some((key, value)) => Self::pair(line, key, value),
            None => Self::Unreadable(line),
        }
    }

    fn pair(line: &'a [u8], key: &'a [u8], value: &'a [u8]) -> Self {
        if let Some(time) = std::str::from_utf8(key).ok().and_then(TimeKey::find) {
            return Self::Time(time, value);
        }
        match memchr::memchr(b'{', line) {
            Some(open) if value.starts_with(b"{") => Self::Counter(key, open),
            Some(_) => Self::Unreadable(line),
            None if memchr::memchr(b'}', value).is_some() || key == b"job_id" => {
                Self::Unreadable(line)
            }
            None => Self::Field(key),
        }
    }

    /// Returns true if a `{` that is still open must be closed before this line. `hist: {` can begin a line that a
    /// terminal wrapped.
    pub(in crate::text::job_stats) fn ends_counter(&self) -> bool {
        match self {
            Self::Header | Self::Record(_) | Self::Time(..) => true,
            Self::Counter(name, _) => *name != b"hist",
            Self::Blank | Self::Field(_) | Self::Unreadable(_) => false,
        }
    }
}

/// Returns the text after `job_id:` and blanks. Blanks at its end are part of an identifier.
fn identifier(line: &[u8]) -> &[u8] {
    let colon = memchr::memchr(b':', line).map_or(line.len(), |colon| colon + 1);
    trim_start(&line[colon..])
}

/// Splits `key: value`, with any number of blanks around the colon, if the key is a word.
pub(in crate::text::job_stats) fn key_value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, value) = split_once(text, b':')?;
    let key = trim(key);
    is_word(key).then(|| (key, trim(value)))
}

pub(in crate::text::job_stats) fn is_word(text: &[u8]) -> bool {
    !text.is_empty()
        && text
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}
