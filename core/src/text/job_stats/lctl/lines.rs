//! Reads the lines of a text: joins the parts of one line, and splits a line that contains another parameter.

use std::ops::Range;

use super::{message, parameter};
use crate::base::pause::{self, Pause};
use crate::text::job_stats::grammar::line::Line;

/// The largest number of bytes of an identifier in Lustre.
const LUSTRE_IDENTIFIER_MAX: usize = 31;

/// The number of lines that are searched for the other part of a line that a message interrupts. Each of them is read
/// again if there is no other part.
const JOINED_MAX: usize = 32;

/// The number of lines of a text that are searched for such parts in vain. Without this limit a text of messages alone
/// would take 32 times as long.
const IN_VAIN_MAX: usize = 100_000;

/// The number of bytes of a line that are read. A counter with a full histogram has less than a thousand.
pub const LINE_MAX: usize = 64 << 10;

/// A line of the text, or its part before another parameter that begins in the middle of it. Only the beginning of a
/// long line is kept.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// The text without line end and without colours.
    pub text: &'a [u8],
    /// The number of the line, counted from 1.
    pub number: u32,
    /// The position of `text` in the whole text.
    begin: usize,
    /// The position of the line in the whole text.
    pub from: usize,
    /// The position of the next piece.
    pub next: usize,
    /// True if a line feed ends the piece.
    pub ended: bool,
}

impl<'a> Piece<'a> {
    /// Returns the position of a suffix of this piece in the whole text.
    pub fn offset_of(&self, suffix: &[u8]) -> usize {
        self.begin + self.text.len() - suffix.len()
    }
}

/// Reads a text line by line.
#[derive(Clone, Copy)]
pub struct Lines<'a, 'p> {
    pub text: &'a [u8],
    pause: Pause<'p>,
    /// The position of the next call of `pause`.
    pause_at: usize,
    /// The position of the next line.
    pub position: usize,
    /// The number of the next line.
    pub number: u32,
    /// The end of the line that is partly taken: there can be many parts.
    end: Option<usize>,
    /// The number of lines that may still be searched in vain.
    in_vain: usize,
}

impl<'a, 'p> Lines<'a, 'p> {
    pub const fn new(text: &'a [u8], pause: Pause<'p>) -> Self {
        Self {
            text,
            pause,
            pause_at: pause::BYTES,
            position: 0,
            number: 1,
            end: None,
            in_vain: IN_VAIN_MAX,
        }
    }

    /// Returns the lines that have not been taken.
    pub fn rest(&self) -> &'a [u8] {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// Returns true if the lines taken end without a line feed.
    pub fn is_cut(&self) -> bool {
        !self.text[..self.position].ends_with(b"\n")
    }

    /// Takes a line that is known to end where the rest of the text begins.
    pub fn take_known(&mut self, rest: &[u8]) -> Piece<'a> {
        let (from, number) = (self.position, self.number);
        self.take_known_lines(rest, 1);
        Piece {
            text: &self.text[from..self.position - 1],
            number,
            begin: from,
            from,
            next: self.position,
            ended: true,
        }
    }

    /// Takes a number of lines that are known to end where the rest of the text begins.
    pub fn take_known_lines(&mut self, rest: &[u8], lines: usize) {
        self.advance(self.text.len() - rest.len());
        self.number = self.number.saturating_add(lines as u32);
        self.end = None;
    }

    /// Takes the empty lines that come next, which are always meaningless.
    pub fn take_empty(&mut self) {
        let rest = self.rest();
        let rest = &rest[..rest.len().min(pause::BYTES)];
        let empty = rest.iter().take_while(|byte| **byte == b'\n').count();
        self.take_known_lines(&self.text[self.position + empty..], empty);
    }

    fn advance(&mut self, position: usize) {
        self.position = position;
        if position >= self.pause_at {
            self.pause_at = position + pause::BYTES;
            self.pause.now();
        }
    }

    /// Takes the next line, or returns `None` at the end of the text.
    pub fn take(&mut self) -> Option<Piece<'a>> {
        let line = self.whole_line()?;
        let (piece, end) = match self.cut(line) {
            Some(offset) => {
                let piece = Piece {
                    text: &line.text[..offset],
                    next: line.begin + offset,
                    ended: false,
                    ..line
                };
                (piece, Some(line.next - usize::from(line.ended)))
            }
            None => (line, None),
        };
        self.advance(piece.next);
        self.number = self.number.saturating_add(u32::from(piece.ended));
        self.end = end;
        Some(piece)
    }

    fn whole_line(&self) -> Option<Piece<'a>> {
        let from = self.position;
        let rest = self.text.get(from..).filter(|rest| !rest.is_empty())?;
        let end = self.end.or_else(|| Some(from + self.line_feed(rest)?));
        let end = end.unwrap_or(self.text.len());
        let line = &self.text[from..end.min(from + LINE_MAX)];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (text, begin) = without_colours(line);
        let ended = end < self.text.len();
        Some(Piece {
            text,
            number: self.number,
            begin: from + begin,
            from,
            next: end + usize::from(ended),
            ended,
        })
    }

    /// Returns the position of the first line feed.
    fn line_feed(&self, text: &[u8]) -> Option<usize> {
        let mut pieces = (0..).step_by(pause::BYTES).zip(text.chunks(pause::BYTES));
        pieces.find_map(|(begin, piece)| {
            if begin > 0 {
                self.pause.now();
            }
            Some(begin + memchr::memchr(b'\n', piece)?)
        })
    }

    /// Returns the position at which another parameter begins in the middle of a line. A message is not cut, because it
    /// goes on to the end of the line.
    fn cut(&self, line: Piece<'a>) -> Option<usize> {
        if message::is_message(line.text) {
            return None;
        }
        let offset = parameter::glued(line.text)?;
        let before = &line.text[..offset];
        if message::merged(before).is_some() {
            return None;
        }
        let value = parameter::parse(before).map_or(before, |(_, value)| value);
        match Line::of(value) {
            // A user can choose an identifier that looks like a target's name, but neither a longer one than this nor
            // the next line.
            Line::Record(id) if id.len() + line.text.len() - offset <= LUSTRE_IDENTIFIER_MAX => {
                let after = Self {
                    position: line.next,
                    end: None,
                    ..*self
                };
                let next = after.whole_line()?;
                (Line::of(next.text) == Line::Header).then_some(offset)
            }
            _ => Some(offset),
        }
    }

    /// Takes the next line if it can belong to the same value: if it is neither a message nor the name of a parameter.
    pub fn take_of_value(&mut self) -> Option<Piece<'a>> {
        let mut ahead = *self;
        let piece = ahead.take()?;
        if message::is_message(piece.text) || parameter::parse(piece.text).is_some() {
            return None;
        }
        *self = ahead;
        Some(piece)
    }

    /// Joins a line that an error message interrupts with its other part, and takes the lines. At the end of the value
    /// there is no other part. Returns `None` if the next line can only be a separate line: then the message is part of
    /// the line.
    pub fn joined(&mut self, before: &[u8], messages: Range<usize>) -> Option<Joined> {
        let mut ahead = *self;
        let joined = ahead.other_part(before, messages);
        if joined.is_some() {
            *self = ahead;
        } else {
            let in_vain = (ahead.number - self.number) as usize;
            self.in_vain = self.in_vain.saturating_sub(in_vain);
        }
        joined
    }

    fn other_part(&mut self, before: &[u8], messages: Range<usize>) -> Option<Joined> {
        let mut joined = Joined {
            text: before.to_vec(),
            ended: false,
            messages: vec![messages],
        };
        for _ in 0..JOINED_MAX.min(self.in_vain) {
            let taken = *self;
            let piece = self.take();
            let Some(piece) = piece.filter(|piece| parameter::parse(piece.text).is_none()) else {
                *self = taken;
                return Some(joined);
            };
            if message::is_message(piece.text) {
                joined.messages.push(piece.from..piece.next);
                continue;
            }
            if !continues(before, piece.text) {
                return None;
            }
            let merged = message::merged(piece.text);
            let text = &piece.text[..merged.unwrap_or(piece.text.len())];
            joined.text.extend_from_slice(text);
            if merged.is_none() {
                joined.ended = piece.ended;
                return Some(joined);
            }
            joined.messages.push(piece.begin + text.len()..piece.next);
        }
        None
    }
}

/// Returns true if a line can be the other part of a line that begins with `before`. A user can choose an identifier
/// that looks like a message, but not the lines that follow it.
fn continues(before: &[u8], line: &[u8]) -> bool {
    match Line::of(line) {
        Line::Header | Line::Record(_) => false,
        Line::Time(..) | Line::Counter(..) => !matches!(Line::of(before), Line::Record(_)),
        Line::Blank | Line::Field(_) | Line::Unreadable(_) => true,
    }
}

/// A line joined from several.
pub struct Joined {
    /// The text of the line.
    pub text: Vec<u8>,
    /// True if a line feed ends the last part.
    pub ended: bool,
    /// The positions of the messages.
    pub messages: Vec<Range<usize>>,
}

/// The largest number of bytes of a colour's codes.
const COLOUR_MAX: usize = 16;

/// Removes colours, which are set at the beginning of a line and reset at its end: `ESC [ 95 m`. Returns the remaining
/// text and its position in the line.
fn without_colours(line: &[u8]) -> (&[u8], usize) {
    let mut text = line;
    while let Some(codes) = text.strip_prefix(b"\x1b[") {
        let end = codes.iter().position(|byte| !is_colour_code(*byte));
        match end.map(|end| codes.split_at(end)) {
            Some((_, [b'm', rest @ ..])) => text = rest,
            _ => break,
        }
    }
    let begin = line.len() - text.len();
    while let Some(codes) = text.strip_suffix(b"m") {
        let last = &codes[codes.len().saturating_sub(COLOUR_MAX)..];
        let digits = last.iter().rev().take_while(|byte| is_colour_code(**byte));
        let end = codes.len().checked_sub(digits.count() + 1);
        match end.and_then(|last| codes[..=last].strip_suffix(b"\x1b[")) {
            Some(rest) => text = rest,
            None => break,
        }
    }
    (text, begin)
}

fn is_colour_code(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b';'
}

/// Returns true for blanks and for line ends, which are blanks too in a line that a terminal wrapped.
pub const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Returns the text without blanks around it.
pub fn trim(text: &[u8]) -> &[u8] {
    let text = trim_start(text);
    let end = text.iter().rposition(|byte| !is_blank(*byte));
    &text[..end.map_or(0, |last| last + 1)]
}

/// Returns the text without blanks before it.
pub fn trim_start(text: &[u8]) -> &[u8] {
    let begin = text.iter().position(|byte| !is_blank(*byte));
    &text[begin.unwrap_or(text.len())..]
}
