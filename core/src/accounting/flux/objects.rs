//! Finds the objects of a text one by one, so that no damage reaches further than one of them.
//!
//! An object ends at the brace that closes it. If there is none, or if the object cannot be read, the next one is
//! searched for. An object that begins a line is one. Another one must be a job, must not be the value of a name or an
//! item of an array that has a name, and another object or the end must follow it. So what is inside the damaged object
//! is no record. The price is that damage inside an array of objects, which Flux itself prints nowhere but in annotations
//! of users, hides the rest of the text.

use memchr::{memchr, memchr_iter};

use super::job;
use crate::accounting::{Reason, Record};
use crate::pause::{self, Pause};

/// The longest object that is read.
const OBJECT_MAX: usize = 1 << 20;

/// The deepest object that is read.
const DEPTH_MAX: u32 = 64;

/// The objects of a text.
pub struct Objects<'a> {
    text: &'a [u8],
    at: usize,
    /// The line of the place up to which lines were counted.
    line: (u32, usize),
    /// The array of jobs was opened and not closed.
    in_array: bool,
    /// The bytes that the search behind damage may still read. The rest of a text with more damage than that is one
    /// problem.
    budget: usize,
    pause: Pause<'a>,
}

impl<'a> Objects<'a> {
    pub fn new(text: &'a [u8], pause: Pause<'a>) -> Self {
        Self {
            text,
            at: 0,
            line: (1, 0),
            in_array: false,
            budget: text.len().saturating_mul(2).saturating_add(OBJECT_MAX),
            pause,
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips blanks and such bytes.
    fn skip(&mut self, bytes: &[u8]) {
        for part in self.rest().chunks(pause::BYTES) {
            let is_skipped = |byte: &&u8| byte.is_ascii_whitespace() || bytes.contains(byte);
            let length = part.iter().take_while(is_skipped).count();
            self.at += length;
            if length < part.len() {
                break;
            }
            self.pause.now();
        }
    }

    /// Skips the beginning of a document with an array of jobs, if it is here.
    fn open(&mut self) -> bool {
        let begin = self.at;
        for token in [&b"{"[..], b"\"jobs\"", b":", b"["] {
            self.skip(b"");
            if !self.rest().starts_with(token) {
                self.at = begin;
                return false;
            }
            self.at += token.len();
        }
        self.in_array = true;
        true
    }

    /// Skips the end of the array and of its document.
    fn close(&mut self) {
        self.at += 1;
        self.in_array = false;
        self.skip(b"");
        if self.rest().starts_with(b"}") {
            self.at += 1;
        }
    }

    /// Returns the line of a place behind all those that were asked for.
    fn line_of(&mut self, place: usize) -> u32 {
        let (line, from) = self.line;
        let more = memchr_iter(b'\n', self.text.get(from..place).unwrap_or_default()).count();
        let line = line.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        self.line = (line, place.max(from));
        line
    }

    /// Moves to the next object behind damage, or to the end.
    fn recover(&mut self) {
        let mut place = self.at + 1;
        while let Some(next) = self.text.get(place..).and_then(|rest| memchr(b'{', rest)) {
            self.pause.now();
            place += next;
            if self.budget == 0 {
                break;
            }
            if self.begins_object(place) {
                self.at = place;
                return;
            }
            place += 1;
        }
        self.at = self.text.len();
        self.in_array = false;
    }

    /// Returns whether an object begins at a brace behind damage.
    fn begins_object(&mut self, place: usize) -> bool {
        let (before, rest) = self.text.split_at(place);
        if matches!(before.last(), Some(b'\n')) {
            return true;
        }
        let last = before.iter().rev().find(|byte| !byte.is_ascii_whitespace());
        if matches!(last, Some(b':' | b'[')) {
            return false;
        }
        let length = length(rest);
        self.budget = self
            .budget
            .saturating_sub(length.unwrap_or_else(|read| read));
        if !length.is_ok_and(|length| is_job(rest, length)) {
            return false;
        }
        let damaged = before
            .get(self.at.max(place.saturating_sub(OBJECT_MAX))..)
            .unwrap_or_default();
        self.budget = self.budget.saturating_sub(damaged.len());
        !ends_in_array(damaged)
    }

    fn problem(&mut self, reason: Reason) -> Record<'a> {
        let line = self.line_of(self.at);
        self.recover();
        Record {
            line,
            job: Err(reason),
        }
    }
}

impl<'a> Iterator for Objects<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            self.skip(b",");
            match self.rest().first() {
                None if self.in_array => return Some(self.problem(Reason::UnreadableRecord)),
                None => return None,
                Some(b']') if self.in_array => self.close(),
                Some(b'{') if !self.in_array && self.open() => {}
                Some(b'{') => {
                    let object = length(self.rest())
                        .ok()
                        .and_then(|length| self.rest().get(..length));
                    return match object.map_or(Err(Reason::UnreadableRecord), job) {
                        Err(Reason::UnreadableRecord) => {
                            Some(self.problem(Reason::UnreadableRecord))
                        }
                        job => {
                            let line = self.line_of(self.at);
                            self.at += object.map_or(0, <[u8]>::len);
                            Some(Record { line, job })
                        }
                    };
                }
                Some(_) => return Some(self.problem(Reason::UnreadableRecord)),
            }
        }
    }
}

/// Returns the length of the object with which a text begins.
///
/// # Errors
/// The number of bytes that were read, if it does not end, or if it is too long or too deep.
fn length(text: &[u8]) -> Result<usize, usize> {
    let text = text.get(..OBJECT_MAX).unwrap_or(text);
    let mut depth = 0_u32;
    let mut at = 0;
    while let Some(next) = find(text, at, |byte| matches!(byte, b'"' | b'{' | b'}')) {
        at = next;
        match text.get(at) {
            Some(b'{') => depth += 1,
            Some(b'}') => depth -= 1,
            _ => at = end_of_string(text, at + 1)?,
        }
        at += 1;
        if depth == 0 {
            return Ok(at);
        }
        if depth > DEPTH_MAX {
            return Err(at);
        }
    }
    Err(text.len())
}

/// Returns the first place from one on where such a byte is. They are near, so that a loop is as fast as any search.
fn find(text: &[u8], from: usize, is_wanted: impl Fn(&u8) -> bool) -> Option<usize> {
    let place = text.get(from..)?.iter().position(is_wanted)?;
    Some(from + place)
}

/// Returns the place of the quote that ends a string.
///
/// # Errors
/// The number of bytes that were read, if the line or the text ends before.
fn end_of_string(text: &[u8], mut at: usize) -> Result<usize, usize> {
    while let Some(next) = find(text, at, |byte| matches!(byte, b'"' | b'\\' | b'\n')) {
        at = next;
        match text.get(at) {
            Some(b'"') => return Ok(at),
            Some(b'\\') => at += 2,
            _ => return Err(at),
        }
    }
    Err(text.len())
}

/// Returns whether a text begins with a job of this length, which was submitted once, behind which another object
/// follows, or the end.
fn is_job(text: &[u8], length: usize) -> bool {
    let (object, rest) = text.split_at(length);
    let rest = rest.trim_ascii_start();
    let follows = match rest.first() {
        None | Some(b']' | b'{') => true,
        Some(b',') => rest[1..]
            .trim_ascii_start()
            .first()
            .is_none_or(|byte| *byte == b'{'),
        Some(_) => false,
    };
    follows && job(object).is_ok_and(|job| job.submitted.is_some())
}

/// Returns whether a text ends inside an array that has a name. It is read backwards, as far as it is not damaged.
fn ends_in_array(text: &[u8]) -> bool {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(place) = rest
        .iter()
        .rposition(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'))
    {
        let found = rest.get(place);
        rest = &rest[..place];
        match (found, open.last()) {
            (Some(b'"'), _) => rest = before_string(rest),
            (Some(b'}'), _) => open.push(b'{'),
            (Some(b']'), _) => open.push(b'['),
            (Some(b'{'), _) if !opens_object(&text[place..]) => return false,
            (Some(opener), Some(expected)) if opener == expected => drop(open.pop()),
            (_, Some(_)) => return false,
            (Some(b'['), None) if has_name(rest) => return true,
            _ => {}
        }
    }
    false
}

/// Returns whether a name or the end follows the brace with which a text begins.
fn opens_object(text: &[u8]) -> bool {
    let next = text.iter().skip(1).find(|byte| !byte.is_ascii_whitespace());
    matches!(next, Some(b'"' | b'}'))
}

/// Returns what stands before the string at whose closing quote a text ends.
fn before_string(mut text: &[u8]) -> &[u8] {
    while let Some(place) = text.iter().rposition(|byte| *byte == b'"') {
        text = &text[..place];
        let escapes = text.iter().rev().take_while(|byte| **byte == b'\\').count();
        if escapes.is_multiple_of(2) {
            return text;
        }
    }
    &[]
}

/// Returns whether a text ends with a name and its colon.
fn has_name(text: &[u8]) -> bool {
    let before = text.trim_ascii_end().strip_suffix(b":");
    before.is_some_and(|before| before.trim_ascii_end().ends_with(b"\""))
}
