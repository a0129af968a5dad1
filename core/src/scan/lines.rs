//! The lines of a text, and what makes one line of several or several of one.

use std::ops::Range;

use super::line::Line;
use super::{message, parameter};

/// Identifiers in Lustre have at most this many bytes.
const LUSTRE_IDENTIFIER_MAX: usize = 31;

/// A line of the text, or its part before another parameter that begins in the middle of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
    /// Without its end.
    pub(super) text: &'a [u8],
    /// Where it begins in the text.
    pub(super) from: usize,
    /// Where the next one begins.
    pub(super) next: usize,
    /// A line feed ends it.
    pub(super) ended: bool,
}

impl<'a> Piece<'a> {
    /// Where a suffix of its text begins.
    pub(super) fn offset_of(&self, suffix: &[u8]) -> usize {
        self.from + self.text.len() - suffix.len()
    }
}

/// Reads a text line by line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines<'a> {
    text: &'a [u8],
    /// Where the next line begins.
    pub(super) position: usize,
    /// Its number.
    pub(super) number: u32,
}

impl<'a> Lines<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            position: 0,
            number: 1,
        }
    }

    pub(super) const fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The lines that have not been taken.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// Whether the lines taken end without a line feed.
    pub(super) fn is_cut(&self) -> bool {
        !self.text[..self.position].ends_with(b"\n")
    }

    /// Take a line that is known to end where the rest of the text begins.
    pub(super) fn take_known(&mut self, rest: &[u8]) -> Piece<'a> {
        let from = self.position;
        self.position = self.text.len() - rest.len();
        self.number = self.number.saturating_add(1);
        Piece {
            text: &self.text[from..self.position - 1],
            from,
            next: self.position,
            ended: true,
        }
    }

    /// The next line; none at the end of the text.
    pub(super) fn take(&mut self) -> Option<Piece<'a>> {
        let line = self.whole_line()?;
        let piece = match self.cut(line) {
            Some(offset) => Piece {
                text: &line.text[..offset],
                next: line.from + offset,
                ended: false,
                ..line
            },
            None => line,
        };
        self.position = piece.next;
        self.number = self.number.saturating_add(u32::from(piece.ended));
        Some(piece)
    }

    fn whole_line(&self) -> Option<Piece<'a>> {
        let from = self.position;
        let rest = self.text.get(from..).filter(|rest| !rest.is_empty())?;
        let feed = memchr::memchr(b'\n', rest);
        let text = &rest[..feed.unwrap_or(rest.len())];
        Some(Piece {
            text: text.strip_suffix(b"\r").unwrap_or(text),
            from,
            next: from + feed.map_or(rest.len(), |feed| feed + 1),
            ended: feed.is_some(),
        })
    }

    /// Where another parameter begins in the middle of a line.
    fn cut(&self, line: Piece<'a>) -> Option<usize> {
        if message::is_message(line.text) {
            return None;
        }
        let offset = parameter::glued(line.text)?;
        let value = parameter::parse(line.text).map_or(line.text, |(_, value)| value);
        match Line::of(value) {
            // A user can choose an identifier that looks like a target's name, but not one so long, nor the next line.
            Line::Record(id) if id.len() <= LUSTRE_IDENTIFIER_MAX => {
                let after = Self {
                    position: line.next,
                    ..*self
                };
                let header = after
                    .whole_line()
                    .is_some_and(|next| Line::of(next.text) == Line::Header);
                header.then_some(offset)
            }
            _ => Some(offset),
        }
    }

    /// What stands before the `}` of a counter whose `{` stands before `from` on the line that was taken last, and what
    /// stands after it. Lines that follow are taken until it is found; None where one comes that begins something else.
    pub(super) fn counter(&mut self, from: usize) -> Option<(&'a [u8], &'a [u8])> {
        let mut depth = 1_u32;
        let mut begin = from;
        loop {
            let line = &self.text[begin..self.position];
            if let Some(close) = closing(line, &mut depth) {
                return Some((&self.text[from..begin + close], &line[close + 1..]));
            }
            begin = self.position;
            let mut ahead = *self;
            let piece = ahead.take()?;
            if is_beginning(piece.text) || message::is_message(piece.text) {
                return None;
            }
            *self = ahead;
        }
    }

    /// The line that an error message interrupts, joined with its other part; the lines are taken. None where the next
    /// line is one of its own: then the message is part of the line.
    pub(super) fn joined(&mut self, before: &[u8], messages: Range<usize>) -> Option<Joined> {
        let mut ahead = *self;
        let mut joined = Joined {
            text: before.to_vec(),
            ended: false,
            messages: vec![messages],
        };
        while let Some(piece) = ahead.take() {
            if message::is_message(piece.text) {
                joined.messages.push(piece.from..piece.next);
                continue;
            }
            if is_beginning(piece.text) {
                return None;
            }
            let merged = message::merged(piece.text);
            let text = &piece.text[..merged.unwrap_or(piece.text.len())];
            joined.text.extend_from_slice(text);
            if merged.is_none() {
                joined.ended = piece.ended;
                break;
            }
            joined.messages.push(piece.from + text.len()..piece.next);
        }
        *self = ahead;
        Some(joined)
    }
}

/// One line made of several.
pub(super) struct Joined {
    pub(super) text: Vec<u8>,
    pub(super) ended: bool,
    /// Where the messages stood.
    pub(super) messages: Vec<Range<usize>>,
}

fn is_beginning(line: &[u8]) -> bool {
    parameter::parse(line).is_some() || Line::of(line).ends_counter()
}

/// Where the brace closes that `depth` counts.
pub(super) fn closing(text: &[u8], depth: &mut u32) -> Option<usize> {
    for brace in memchr::memchr2_iter(b'{', b'}', text) {
        if text[brace] == b'{' {
            *depth += 1;
        } else {
            *depth -= 1;
            if *depth == 0 {
                return Some(brace);
            }
        }
    }
    None
}
