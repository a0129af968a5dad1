//! Splits a record of `lsb.acct` into its fields.
//!
//! Quotes in a text are doubled. A text may hold newlines. Mail wraps long lines, in the middle of words, by `!`, a newline
//! and a blank; others wrap by a newline and a blank, between fields or in the middle of words, which is not marked.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::Reason;

/// The meaning of a newline and a blank without an exclamation mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrap {
    /// The newline and the blank were put into a field, and are no part of it.
    InWord,
    /// The newline and the blank are between two fields.
    BetweenFields,
    /// The newline ends the record, whatever comes after it.
    Ends,
}

/// The largest length in bytes of a field whose content is put together. Names in LSF have at most 4,094 bytes.
const FIELD_MAX: usize = 1 << 16;

/// A field, unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field<'a> {
    /// The inside of quotes.
    Text(&'a [u8]),
    /// A word without quotes.
    Word(&'a [u8]),
}

/// Reads the fields of a record one after another.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    text: &'a [u8],
    /// The place of the next byte to read.
    pub(super) place: usize,
    wrap: Wrap,
    /// True if a newline was found that continues the record.
    pub(super) is_wrapped: bool,
}

impl<'a> Fields<'a> {
    pub(super) const fn new(text: &'a [u8], wrap: Wrap) -> Self {
        Self {
            text,
            place: 0,
            wrap,
            is_wrapped: false,
        }
    }

    /// Returns the next field; `None` at the end of the record.
    ///
    /// # Errors
    /// [`Reason::UnreadableRecord`] if a quote is open, or if a text goes on after its quote.
    pub(super) fn next(&mut self) -> Result<Option<Field<'a>>, Reason> {
        if !self.skip_blanks() {
            return Ok(None);
        }
        let rest = &self.text[self.place..];
        match rest.first() {
            None => Ok(None),
            Some(b'"') => self.quoted().map(|text| Some(Field::Text(text))),
            Some(_) => Ok(Some(Field::Word(self.word()))),
        }
    }

    /// Lets the record end at the next newline that is not inside of a field.
    pub(super) const fn end_at_newline(&mut self) {
        self.wrap = Wrap::Ends;
    }

    /// Skips the blanks between fields. Returns false at the end of the record.
    fn skip_blanks(&mut self) -> bool {
        while let Some(byte) = self.text.get(self.place) {
            match byte {
                b' ' | b'\t' | b'\r' => self.place += 1,
                b'\n' if self.wrap == Wrap::Ends => return false,
                b'\n' | b'!' => match wrap(&self.text[self.place..]) {
                    Some(length) => {
                        self.place += length;
                        self.is_wrapped = true;
                    }
                    None => return *byte == b'!',
                },
                _ => return true,
            }
        }
        false
    }

    fn quoted(&mut self) -> Result<&'a [u8], Reason> {
        let begin = self.place + 1;
        let mut end = begin;
        loop {
            end += memchr(b'"', self.text.get(end..).unwrap_or_default())
                .ok_or(Reason::UnreadableRecord)?;
            let after = &self.text[end + 1..];
            let length = self.length_of_wrap(after);
            match (length, after.get(length)) {
                // A quote in the text is doubled, and a wrap may stand between the two.
                (length, Some(b'"')) => end += 2 + length,
                (0, Some(b' ' | b'\t' | b'\r' | b'\n' | b'!') | None) | (1.., _) => break,
                _ => return Err(Reason::UnreadableRecord),
            }
        }
        self.place = end + 1;
        let text = &self.text[begin..end];
        self.is_wrapped |= memchr(b'\n', text).is_some();
        Ok(text)
    }

    /// Takes a word. A quote ends it too, because some versions leave out the blank before a text.
    fn word(&mut self) -> &'a [u8] {
        let begin = self.place;
        let mut end = begin;
        loop {
            end += length_of_word(&self.text[end..]);
            match self.length_of_wrap(&self.text[end..]) {
                0 => break,
                length => {
                    self.is_wrapped = true;
                    end += length;
                }
            }
        }
        // An exclamation mark without a wrap is part of no word; it becomes an unreadable one.
        self.place = end.max(begin + 1);
        &self.text[begin..self.place]
    }

    /// Returns the length of a wrap in the middle of a field, or 0.
    fn length_of_wrap(&self, rest: &[u8]) -> usize {
        match rest.first() {
            Some(b'\r' | b'\n') if self.wrap != Wrap::InWord => 0,
            _ => wrap(rest).unwrap_or(0),
        }
    }
}

fn length_of_word(text: &[u8]) -> usize {
    let is_end = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'!');
    text.iter().position(is_end).unwrap_or(text.len())
}

/// Returns the length of the wrap at the beginning of a text.
fn wrap(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"!").unwrap_or(text);
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
    let rest = rest.strip_prefix(b"\n")?;
    let rest = rest
        .strip_prefix(b" ")
        .or_else(|| rest.strip_prefix(b"\t"))?;
    Some(text.len() - rest.len())
}

/// Returns the content of a field, without wraps and with single quotes for doubled ones.
///
/// A field longer than any of LSF is returned unchanged, so that hostile texts need no memory.
pub(super) fn content(field: &[u8]) -> Cow<'_, [u8]> {
    if field.len() > FIELD_MAX || memchr2(b'\n', b'"', field).is_none() {
        return Cow::Borrowed(field);
    }
    let mut content = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some(byte) = rest.first() {
        let length = wrap(rest).unwrap_or_else(|| {
            content.push(*byte);
            1
        });
        rest = &rest[length..];
    }
    let mut is_second = false;
    content.retain(|byte| {
        is_second = *byte == b'"' && !is_second;
        *byte != b'"' || is_second
    });
    Cow::Owned(content)
}
