//! The value of another parameter, while its end has not been found.

use std::borrow::Cow;
use std::ops::Range;

use crate::text::additional_parameters::{Other, Parameter};

/// A value that has begun.
pub struct OpenValue<'a> {
    pub parameter: Parameter<'a>,
    line: u32,
    /// The parts of the value before `from`, if there is foreign text between them.
    parts: Vec<u8>,
    /// The position in the text of the part that is not in `parts`.
    from: usize,
    /// The number of ends of lines that `parts` owes, so that the lines of the value can still be counted.
    owed: usize,
    /// True if there is not enough memory for `parts`.
    is_lost: bool,
}

impl<'a> OpenValue<'a> {
    /// Begins the value of a parameter at a position in the text, on this line.
    pub const fn new(parameter: Parameter<'a>, line: u32, from: usize) -> Self {
        Self {
            parameter,
            line,
            parts: Vec::new(),
            from,
            owed: 0,
            is_lost: false,
        }
    }

    /// Leaves a range of the text out, which ends with a line. A line of the value that an error message interrupts goes on
    /// behind that message.
    pub fn leave_out(&mut self, text: &[u8], range: Range<usize>) {
        self.append(text, range.start);
        self.owed += 1;
        if matches!(self.parts.last(), None | Some(b'\n')) {
            self.pay();
        }
        self.from = self.from.max(range.end);
    }

    /// Goes on at a position in the text, after the value's name has been printed again.
    pub fn go_on(&mut self, text: &[u8], name: usize, from: usize) {
        self.append(text, name);
        self.from = from;
    }

    /// Appends the part of the text before a position.
    fn append(&mut self, text: &[u8], at: usize) {
        let part = text.get(self.from..at).unwrap_or_default();
        self.is_lost |= self.parts.try_reserve(part.len() + self.owed + 1).is_err();
        if self.is_lost {
            return;
        }
        let line = memchr::memchr(b'\n', part).map_or(0, |end| end + 1);
        self.parts.extend_from_slice(&part[..line]);
        if line > 0 {
            self.pay();
        }
        self.parts.extend_from_slice(&part[line..]);
    }

    fn pay(&mut self) {
        let lines = self.parts.len() + std::mem::take(&mut self.owed);
        self.parts.resize(lines, b'\n');
    }

    /// Ends the value at a position in the text. Returns `None` if it is empty, or if there is no memory for its parts.
    pub fn finish(mut self, text: &'a [u8], at: usize) -> Option<Other<'a>> {
        let value = if self.parts.is_empty() {
            Cow::Borrowed(text.get(self.from..at).unwrap_or_default())
        } else {
            self.append(text, at);
            Cow::Owned(self.parts)
        };
        let is_empty = value.trim_ascii().is_empty();
        (!is_empty && !self.is_lost).then_some(Other {
            parameter: self.parameter,
            line: self.line,
            value,
        })
    }
}
