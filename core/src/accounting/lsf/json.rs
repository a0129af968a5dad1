//! Reads what `bjobs -json` prints: an object with the records of jobs, whose values are all texts.
//!
//! Messages may stand before the object. A record of a job that is unknown has only `JOBID` and `ERROR`, and is skipped.

use std::borrow::Cow;

use memchr::{memchr_iter, memchr2, memmem};

use super::{Job, Reason, Record, field};
use crate::pause::Pause;

/// The bytes that [`recognizes`] looks at.
const FIRST: usize = 4096;

/// Returns whether a text begins with the object of `bjobs`, perhaps after messages.
pub(super) fn recognizes(text: &[u8]) -> bool {
    let text = &text[..text.len().min(FIRST)];
    memchr_iter(b'{', text).any(|place| {
        let mut object = Object::new(&text[place..]);
        matches!(object.next(), Some(Ok((b"COMMAND", b"bjobs"))))
    })
}

/// Reads the records of a text in its order.
///
/// An object begins with a brace and the quote of its first name. In a text a quote is escaped, so that no text holds an
/// object.
pub(super) fn records<'a>(text: &'a [u8], pause: Pause<'a>) -> impl Iterator<Item = Record<'a>> {
    let mut place = 0;
    let mut line = 1_u32;
    std::iter::from_fn(move || {
        loop {
            pause.now();
            let begin = place + memmem::find(&text[place..], b"{")?;
            let lines = memchr_iter(b'\n', &text[place..begin]).count();
            line = line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
            place = begin + 1;
            let mut object = Object::new(&text[begin..]);
            if !object.begins() {
                continue;
            }
            if let Some(job) = read(&mut object, pause).transpose() {
                return Some(Record { line, job });
            }
        }
    })
}

/// Reads the job of an object; `None` for the object around the records, and for a job that is unknown.
fn read<'a>(object: &mut Object<'a>, pause: Pause<'_>) -> Result<Option<Job<'a>>, Reason> {
    let mut job = Job::default();
    let (mut index, mut is_unknown) = (None, false);
    let (mut id, mut hosts, mut nodes) = (None, None, None);
    for pair in object.by_ref() {
        pause.now();
        let (name, value) = match pair {
            Ok(pair) => pair,
            Err(List) => return Ok(None),
        };
        let text = || text(value);
        match name {
            b"JOBID" => id = Some(value),
            b"JOBINDEX" => index = field::number::<u64>(value).filter(|index| *index > 0),
            b"ERROR" => is_unknown = true,
            b"JOB_NAME" => job.job_name = text(),
            b"STAT" => job.state = text(),
            b"USER" => job.user_name = text(),
            b"QUEUE" => job.partition = text(),
            b"PROJ_NAME" => job.account = text(),
            b"SERVICE_CLASS" => job.qos = text(),
            b"EXIT_CODE" => job.exit_code = text(),
            b"SLOTS" => job.cpus = field::number(value),
            b"NEXEC_HOST" => nodes = field::number(value),
            b"EXEC_HOST" => hosts = Some(value).filter(|value| *value != b"-"),
            _ => {}
        }
    }
    if !object.is_whole {
        return Err(Reason::UnreadableRecord);
    }
    let (number, own) = split(id.ok_or(Reason::BadJob)?);
    field::number::<u64>(number)
        .filter(|number| *number > 0)
        .ok_or(Reason::BadJob)?;
    let own = match own {
        [] => None,
        [b'[', own @ .., b']'] => Some(field::number(own).ok_or(Reason::BadJob)?),
        _ => return Err(Reason::BadJob),
    };
    if is_unknown && job.state.is_none() {
        return Ok(None);
    }
    job.job = field::text(number).ok_or(Reason::BadJob)?;
    job.label = job.job.clone();
    if let Some(index) = own.or(index).filter(|index| *index > 0) {
        job.label = Cow::Owned(format!("{}[{index}]", job.job));
        job.parent = Some(job.job.clone());
    }
    let names = hosts.map(|hosts| hosts.split(|byte| *byte == b':').map(name));
    let found = names.and_then(|names| field::nodes(names.map(Cow::Borrowed)));
    let (count, list) = found.unzip();
    (job.nodes, job.node_list) = (count.or(nodes), list);
    Ok(Some(job))
}

/// Splits `7[23]` before its index.
fn split(id: &[u8]) -> (&[u8], &[u8]) {
    let digits = id.iter().take_while(|byte| byte.is_ascii_digit()).count();
    id.split_at(digits)
}

/// Returns the name of a host without its number of slots.
fn name(host: &[u8]) -> &[u8] {
    let star = memchr::memchr(b'*', host);
    host.get(star.map_or(0, |star| star + 1)..)
        .unwrap_or_default()
}

/// Returns a value as text; `None` for `-`, which `bjobs` prints for nothing.
fn text(value: &[u8]) -> Option<Cow<'_, str>> {
    if value == b"-" {
        return None;
    }
    if !value.contains(&b'\\') {
        return field::text(value);
    }
    let quoted = [b"\"", value, b"\""].concat();
    match serde_json::from_slice::<String>(&quoted) {
        Ok(text) => field::text_of(Cow::Owned(text.into_bytes())),
        Err(_) => field::text(value),
    }
}

/// The value of a name is a list: the object is the one around the records.
struct List;

/// An object whose values are texts or words, read pair by pair up to its end or to what is none of this.
struct Object<'a> {
    rest: &'a [u8],
    /// True if the end of the object was found.
    is_whole: bool,
}

impl<'a> Object<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self {
            rest: text,
            is_whole: false,
        }
    }

    fn begins(&self) -> bool {
        let inside = self.rest.get(1..).unwrap_or_default();
        inside.trim_ascii_start().first() == Some(&b'"')
    }

    /// Takes a byte after blanks if it is the next one.
    fn take(&mut self, byte: u8) -> bool {
        self.rest = self.rest.trim_ascii_start();
        let rest = self.rest.strip_prefix(&[byte]);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes the inside of quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        if !self.take(b'"') {
            return None;
        }
        let text = self.rest;
        let mut end = 0;
        loop {
            end += memchr2(b'"', b'\\', text.get(end..)?)?;
            if text[end] == b'"' {
                break;
            }
            end += 2;
        }
        self.rest = &text[end + 1..];
        Some(&text[..end])
    }

    /// Takes a number, `true`, `false` or `null`.
    fn word(&mut self) -> Option<&'a [u8]> {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let end = self.rest.iter().take_while(|byte| is_part(byte)).count();
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (end > 0).then_some(word)
    }
}

impl<'a> Iterator for Object<'a> {
    type Item = Result<(&'a [u8], &'a [u8]), List>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_whole || !(self.take(b'{') || self.take(b',')) {
            return None;
        }
        let name = self.string().filter(|_| self.take(b':'))?;
        if self.take(b'[') {
            return Some(Err(List));
        }
        let value = self.string().or_else(|| self.word())?;
        self.rest = self.rest.trim_ascii_start();
        self.is_whole = self.rest.first() == Some(&b'}');
        Some(Ok((name, value)))
    }
}
