//! Reads lists of objects in JSON, one object after another, so that damage costs only the object that has it.
//!
//! An object is read in place and needs no memory. It may be as long as [`OBJECT_MAX`] and as deep as [`DEPTH_MAX`], and its
//! grammar is checked. After damage reading goes on at the next object, which [`next_object`] finds.

mod search;
mod value;

use self::search::next_object;
use self::value::object;
pub use self::value::{Entries, Value};
use crate::accounting::field::count_lines;
use crate::accounting::{Job, Reason, Record};
use crate::base::pause::{self, Pause};

/// The longest object in bytes. Jobs have some kilobytes.
const OBJECT_MAX: usize = 64 << 20;

/// The depth to which objects and lists may be nested. Schedulers have less than ten.
const DEPTH_MAX: usize = 100;

/// The bytes that may be read behind damage, in addition to twice the length of the text.
const BUDGET: usize = 1 << 20;

/// The name of the list of jobs.
const JOBS: &[u8] = b"\"jobs\"";

/// Makes a job of the keys and values of an object; `None` if no job comes from it.
pub type Read = for<'a> fn(&mut Entries<'a>) -> Result<Option<Job<'a>>, Reason>;

/// The jobs of the objects of a text.
pub struct Objects<'a> {
    text: &'a [u8],
    /// The place up to which the text was read.
    at: usize,
    /// The line of a place that was read already.
    line: u32,
    counted: usize,
    /// A list was opened and not closed.
    in_list: bool,
    /// The bytes that may still be read behind damage. The rest of a text with more damage than that is one problem.
    budget: usize,
    read: Read,
    pause: Pause<'a>,
}

impl<'a> Objects<'a> {
    /// Reads the objects of a text, which may be in a list [`JOBS`] of another object.
    pub fn new(text: &'a [u8], read: Read, pause: Pause<'a>) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
            counted: 0,
            in_list: false,
            budget: text.len().saturating_mul(2).saturating_add(BUDGET),
            read,
            pause,
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Enters the list of a document that begins here, if one does.
    fn opens_list(&mut self) -> bool {
        let name = self.rest().strip_prefix(b"{").unwrap_or_default();
        let inside = inside_list(name.trim_ascii_start());
        self.at = inside.map_or(self.at, |inside| self.text.len() - inside.len());
        self.in_list = inside.is_some();
        self.in_list
    }

    /// Leaves the list that ends here, and the document.
    fn close_list(&mut self) {
        self.in_list = false;
        let rest = self.rest()[1..].trim_ascii_start();
        self.at = self.text.len() - rest.strip_prefix(b"}").unwrap_or(rest).len();
    }

    /// Reads the object that begins here.
    fn object(&mut self) -> Result<Option<Job<'a>>, Reason> {
        let Ok((length, job)) = object(self.rest(), self.read) else {
            return self.unreadable();
        };
        self.at += length;
        job
    }

    /// Goes on at the next object, or at the end of the text. Then a missing end of the list is no further problem.
    fn unreadable(&mut self) -> Result<Option<Job<'a>>, Reason> {
        self.at = next_object(self.text, self.at, self.read, &mut self.budget, self.pause);
        self.in_list &= self.at < self.text.len();
        Err(Reason::UnreadableRecord)
    }

    /// Skips blanks and commas. Returns whether there may be more of them.
    fn skip(&mut self) -> bool {
        let text = self.rest();
        let text = &text[..text.len().min(pause::BYTES)];
        let is_skipped = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b',';
        let length = text.iter().take_while(is_skipped).count();
        self.at += length;
        length == pause::BYTES
    }

    /// Returns the line of the present place.
    fn count_lines(&mut self) -> u32 {
        let passed = self.text.get(self.counted..self.at).unwrap_or_default();
        self.line = self.line.saturating_add(count_lines(passed));
        self.counted = self.at;
        self.line
    }
}

impl<'a> Iterator for Objects<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            self.pause.now();
            if self.skip() {
                continue;
            }
            let line = self.count_lines();
            let job = match self.rest().first() {
                None if !self.in_list => return None,
                Some(b']') if self.in_list => {
                    self.close_list();
                    continue;
                }
                Some(b'{') if !self.in_list && self.opens_list() => continue,
                Some(b'{') => self.object(),
                _ => self.unreadable(),
            };
            if let Some(job) = job.transpose() {
                return Some(Record { line, job });
            }
        }
    }
}

/// Returns the inside of the list [`JOBS`] if a text begins with its name.
fn inside_list(text: &[u8]) -> Option<&[u8]> {
    let list = text
        .strip_prefix(JOBS)?
        .trim_ascii_start()
        .strip_prefix(b":")?;
    list.trim_ascii_start().strip_prefix(b"[")
}
