//! Finds the jobs in the output of `sacct --json`, one after another, and makes records of them.
//!
//! Each object of the list `jobs` is read for itself, and its grammar is checked, so that a damaged one costs only itself. All
//! jobs begin with one key. The next object that begins with it, as an element of a list, is where reading goes on after damage,
//! and no job reaches beyond it. In a string such a key cannot be, because quotes are escaped there.

mod object;
#[cfg(test)]
mod tests;
mod value;

use memchr::{memchr_iter, memmem};
use serde::de::IgnoredAny;

use self::value::Value;
use crate::accounting::{Reason, Record};

/// The longest object in bytes. A job of ten thousand steps has less.
const OBJECT_MAX: usize = 64 << 20;

/// The longest key in bytes.
const KEY_MAX: usize = 60;

/// The first key of a job in all versions of Slurm so far.
const USUAL_KEY: &[u8] = b"\"account\"";

/// Returns the jobs of a text of JSON.
pub fn jobs(text: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let list = list(text);
    let mut objects = list.map(|at| Objects::new(text, at));
    let mut missing = list.is_none().then_some(Record {
        line: 1,
        job: Err(Reason::NoHeader),
    });
    std::iter::from_fn(move || missing.take().or_else(|| objects.as_mut()?.next()))
}

/// Returns the place behind the bracket that begins the list of jobs.
fn list(text: &[u8]) -> Option<usize> {
    let name = b"\"jobs\"";
    memmem::find_iter(text, name).find_map(|place| {
        let colon = after_blanks(text, place + name.len());
        let bracket = after_blanks(text, colon + 1);
        let is_list = text.get(colon) == Some(&b':') && text.get(bracket) == Some(&b'[');
        is_list.then_some(bracket + 1)
    })
}

/// The objects of the list.
struct Objects<'a> {
    text: &'a [u8],
    /// The place up to which the text was read.
    at: usize,
    /// The line of a place that was read already.
    line: u32,
    counted: usize,
    /// The key with its quotes that begins each job.
    key: Option<&'a [u8]>,
    /// The next object that begins so; the end of the text if there is none. It is searched for again when it was passed.
    next_at: usize,
    /// The end of the list was found, or the problem was reported that it is missing.
    is_closed: bool,
}

impl<'a> Objects<'a> {
    fn new(text: &'a [u8], at: usize) -> Self {
        let mut objects = Self {
            text,
            at,
            line: 1,
            counted: 0,
            key: None,
            next_at: 0,
            is_closed: false,
        };
        objects.key = objects.find_key();
        objects
    }

    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            self.at = after_blanks(self.text, self.at);
            let line = self.count_lines();
            match self.text.get(self.at) {
                None if self.is_closed => return None,
                None => {
                    self.is_closed = true;
                    return Some(unreadable(line));
                }
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.is_closed = true;
                    self.at = self.next_object();
                }
                Some(b'{') => return Some(self.object(line)),
                Some(_) => {
                    self.skip_to_next();
                    return Some(unreadable(line));
                }
            }
        }
    }

    /// Reads the object that begins here.
    fn object(&mut self, line: u32) -> Record<'a> {
        self.is_closed = false;
        let end = self.next_object();
        let Some(object) = object(self.text.get(self.at..end).unwrap_or_default()) else {
            self.skip_to_next();
            return unreadable(line);
        };
        self.at += object.len();
        let job = object::job(Value::new(object));
        Record { line, job }
    }

    /// Goes on after damage. If no job follows, nothing more is said about the end of the list.
    fn skip_to_next(&mut self) {
        self.at = self.next_object();
        self.is_closed |= self.at == self.text.len();
    }

    /// Returns the place of the next object that begins as jobs do, behind the present place; the end of the text if there is
    /// none.
    fn next_object(&mut self) -> usize {
        if self.next_at <= self.at {
            let next = self
                .key
                .and_then(|key| beginning(self.text, self.at + 1, key));
            self.next_at = next.unwrap_or(self.text.len());
        }
        self.next_at
    }

    /// Chooses the key by which jobs are found after damage: the usual one, or else the first key of the first job.
    fn find_key(&self) -> Option<&'a [u8]> {
        if beginning(self.text, self.at, USUAL_KEY).is_some() {
            return Some(USUAL_KEY);
        }
        let first = self.text.get(after_blanks(self.text, self.at)..)?;
        let key = first_key(first)?;
        // A key that also begins objects inside of a job does not tell where a job begins.
        let is_inside = object(first).is_some_and(|object| beginning(object, 1, key).is_some());
        (!is_inside).then_some(key)
    }

    /// Returns the line of the present place.
    fn count_lines(&mut self) -> u32 {
        let passed = self.text.get(self.counted..self.at).unwrap_or_default();
        let lines = u32::try_from(memchr_iter(b'\n', passed).count()).unwrap_or(u32::MAX);
        self.line = self.line.saturating_add(lines);
        self.counted = self.at;
        self.line
    }
}

fn unreadable(line: u32) -> Record<'static> {
    Record {
        line,
        job: Err(Reason::UnreadableRecord),
    }
}

/// Returns the object that a text begins with, if its grammar is right.
fn object(text: &[u8]) -> Option<&[u8]> {
    let text = &text[..text.len().min(OBJECT_MAX)];
    let object = text.get(..value::end(text))?;
    let IgnoredAny = serde_json::from_slice(object).ok()?;
    Some(object)
}

/// Returns the first key of an object with its quotes.
fn first_key(object: &[u8]) -> Option<&[u8]> {
    let object = object.strip_prefix(b"{")?.trim_ascii_start();
    let key = object.strip_prefix(b"\"")?;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = key
        .iter()
        .take(KEY_MAX)
        .take_while(|byte| is_part(byte))
        .count();
    let is_key = length > 0 && key.get(length) == Some(&b'"');
    object.get(..length + 2).filter(|_| is_key)
}

/// Returns the place of the first object from a place on that is an element of a list and begins with a key.
fn beginning(text: &[u8], from: usize, key: &[u8]) -> Option<usize> {
    let mut keys = memmem::find_iter(text.get(from..)?, key);
    keys.find_map(|place| {
        let before = text.get(from..from + place)?.trim_ascii_end();
        let outside = before.strip_suffix(b"{")?;
        let place = from + outside.len();
        let list = text.get(..place)?.trim_ascii_end();
        matches!(list.last(), Some(b',' | b'[')).then_some(place)
    })
}

/// Returns the first place from a place on that is not blank.
fn after_blanks(text: &[u8], place: usize) -> usize {
    let rest = text.get(place..).unwrap_or_default();
    place + rest.len() - rest.trim_ascii_start().len()
}
