//! Reads objects and their values in place.

use std::borrow::Cow;

use memchr::memchr;
use serde::de::IgnoredAny;

use super::{DEPTH_MAX, OBJECT_MAX};
use crate::accounting::field;
use crate::base::escape::escape;

/// A value of JSON. Its methods return `None` for a value of another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value<'a>(&'a [u8]);

impl<'a> Value<'a> {
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

    /// Returns a whole number, which may be in a string.
    pub fn number(self) -> Option<u64> {
        field::number(inside(self.0).unwrap_or(self.0))
    }

    /// Returns a whole number that is written without quotes.
    pub fn whole(self) -> Option<u64> {
        std::str::from_utf8(self.0).ok()?.parse().ok()
    }

    /// Returns any number that is written without quotes.
    pub fn real(self) -> Option<f64> {
        serde_json::from_slice(self.0).ok()
    }
}

/// The keys and values of an object, up to its end or to damage.
pub struct Entries<'a> {
    rest: &'a [u8],
    /// The byte before the next entry: a comma behind the first one.
    separator: &'static [u8],
    is_damaged: bool,
}

impl<'a> Entries<'a> {
    fn value(&mut self) -> Option<&'a [u8]> {
        let text = self.rest.trim_ascii_start();
        let end = end(text);
        let (Ok(length) | Err(length)) = end;
        let (value, rest) = text.split_at_checked(length)?;
        self.rest = rest;
        (end.is_ok() && !value.is_empty()).then_some(value)
    }

    fn entry(&mut self) -> Option<(&'a [u8], Value<'a>)> {
        self.rest = self.rest.trim_ascii_start().strip_prefix(self.separator)?;
        self.separator = b",";
        let key = self.value()?;
        self.rest = self.rest.trim_ascii_start().strip_prefix(b":")?;
        let value = self.value()?;
        let is_right = is_json(key) && is_json(value);
        inside(key).filter(|_| is_right).zip(Some(Value(value)))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a [u8], Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_damaged || self.rest.trim_ascii_start().starts_with(b"}") {
            return None;
        }
        let entry = self.entry();
        self.is_damaged = entry.is_none();
        entry
    }
}

/// Returns whether the grammar of a key or value is right. A string without escapes was checked where its end was found.
fn is_json(value: &[u8]) -> bool {
    let is_plain = value.starts_with(b"\"") && !value.contains(&b'\\');
    is_plain || serde_json::from_slice::<IgnoredAny>(value).is_ok()
}

/// Reads the object that a text begins with. Returns its length, and the result of a function of its keys and values.
///
/// # Errors
/// The number of bytes that were read, if the object is damaged, too long or too deep.
pub fn object<'a, T>(
    text: &'a [u8],
    read: impl FnOnce(&mut Entries<'a>) -> T,
) -> Result<(usize, T), usize> {
    let text = &text[..text.len().min(OBJECT_MAX)];
    let mut entries = Entries {
        rest: text.strip_prefix(b"{").unwrap_or_default(),
        separator: b"",
        is_damaged: false,
    };
    let found = read(&mut entries);
    entries.by_ref().for_each(drop);
    let rest = entries.rest.trim_ascii_start();
    let end = text.len() - rest.len();
    match entries.is_damaged {
        true => Err(end),
        false => Ok((end + 1, found)),
    }
}

/// Returns a string without its quotes.
fn inside(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// Returns the end of the value at the beginning of a text; 0 without a value.
///
/// # Errors
/// The number of bytes that were read, if the value has no end, or is nested too deep.
fn end(text: &[u8]) -> Result<usize, usize> {
    match text.first() {
        Some(b'"') => end_of_string(text, 1),
        Some(b'{' | b'[') => end_of_nested(text),
        _ => {
            let is_end =
                |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
            Ok(text.iter().position(is_end).unwrap_or(text.len()))
        }
    }
}

/// Returns the end of a string from a place inside of it. It is near, so that a loop is as fast as any search.
fn end_of_string(text: &[u8], mut at: usize) -> Result<usize, usize> {
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => return Ok(at),
            b'\\' => at += 1,
            ..b' ' => return Err(at),
            _ => {}
        }
    }
    Err(text.len())
}

fn end_of_nested(text: &[u8]) -> Result<usize, usize> {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => at = end_of_string(text, at)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(at);
        }
        if depth > DEPTH_MAX {
            return Err(at);
        }
    }
    Err(text.len())
}
