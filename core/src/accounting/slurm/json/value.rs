//! Reads the values of JSON in place, after their grammar was checked.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use crate::accounting::field;
use crate::escape::escape;

/// The depth to which objects and lists may be nested. Slurm has less than ten.
const DEPTH_MAX: usize = 100;

/// A value that is not what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Other;

/// A value of JSON. It is never wrong: what does not have the kind that is asked for is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value<'a>(&'a [u8]);

impl<'a> Value<'a> {
    /// Makes a value of its text.
    pub fn new(text: &'a [u8]) -> Self {
        Self(text.trim_ascii())
    }

    /// Returns the keys and values of an object.
    pub fn entries(self) -> impl Iterator<Item = (&'a [u8], Self)> {
        let mut rest = self.0.strip_prefix(b"{").unwrap_or_default();
        std::iter::from_fn(move || {
            let key = next(&mut rest)?;
            let colon = rest.trim_ascii_start().strip_prefix(b":")?;
            rest = colon;
            let value = next(&mut rest)?;
            Some((inside(key)?, Self(value)))
        })
    }

    /// Returns the elements of a list.
    pub fn items(self) -> impl Iterator<Item = Self> {
        let mut rest = self.0.strip_prefix(b"[").unwrap_or_default();
        std::iter::from_fn(move || next(&mut rest).map(Self))
    }

    /// Returns the value of a key of an object.
    pub fn get(self, key: &str) -> Option<Self> {
        let mut entries = self.entries();
        entries
            .find(|(name, _)| *name == key.as_bytes())
            .map(|(_, value)| value)
    }

    /// Returns the text of a string that is not blank.
    pub fn text(self) -> Option<Cow<'a, str>> {
        let inside = inside(self.0)?;
        if memchr(b'\\', inside).is_none() {
            return field::text(inside);
        }
        let text: Cow<'a, str> = match serde_json::from_slice::<String>(self.0) {
            Ok(text) => Cow::Owned(escape(text.as_bytes()).into_owned()),
            // Some bytes of it are no text.
            Err(_) => escape(inside),
        };
        (!text.trim().is_empty()).then_some(text)
    }

    /// Returns a number: `7`, `"7"`, or `{"set": true, "infinite": false, "number": 7}` as newer versions print it. It is `None`
    /// if it is null, empty, not set or infinite.
    pub fn number(self) -> Result<Option<u64>, Other> {
        if self.0.starts_with(b"{") {
            let is = |key: &str, word: &[u8]| self.get(key).is_some_and(|value| value.0 == word);
            if is("set", b"false") || is("infinite", b"true") {
                return Ok(None);
            }
            return self.get("number").ok_or(Other)?.plain_number();
        }
        self.plain_number()
    }

    fn plain_number(self) -> Result<Option<u64>, Other> {
        match inside(self.0).unwrap_or(self.0) {
            b"" | b"null" => Ok(None),
            digits => field::number(digits).map(Some).ok_or(Other),
        }
    }
}

/// Returns a string without its quotes.
fn inside(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// Takes the next value or key off a text, with the comma before it.
fn next<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let text = rest.trim_ascii_start();
    let text = text.strip_prefix(b",").unwrap_or(text).trim_ascii_start();
    let (value, after) = text.split_at_checked(end(text))?;
    *rest = after;
    (!value.is_empty()).then_some(value)
}

/// Returns the end of the value that a text begins with; 0 if there is none, or if it is nested too deep.
pub fn end(text: &[u8]) -> usize {
    match text.first() {
        Some(b'"') => end_of_string(text),
        Some(b'{' | b'[') => end_of_nested(text),
        _ => {
            let is_end =
                |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
            text.iter().position(is_end).unwrap_or(text.len())
        }
    }
}

fn end_of_string(text: &[u8]) -> usize {
    let mut end = 1;
    while let Some(place) = text.get(end..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        end += place + 1;
        match text.get(end - 1) {
            Some(b'"') => return end,
            _ => end += 1,
        }
    }
    text.len()
}

fn end_of_nested(text: &[u8]) -> usize {
    let (mut place, mut depth) = (0, 0_usize);
    while let Some(byte) = text.get(place) {
        match byte {
            b'"' => place += end_of_string(text.get(place..).unwrap_or_default()) - 1,
            b'{' | b'[' if depth == DEPTH_MAX => return 0,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        place += 1;
        if depth == 0 {
            break;
        }
    }
    place.min(text.len())
}
