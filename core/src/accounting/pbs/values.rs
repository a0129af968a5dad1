//! Splits the text of a record into its values: `name=value`, separated by blanks.
//!
//! Values are not escaped, and users choose some of them. So a value may have blanks, and `x=y` in it. PBS quotes some of
//! the values that have blanks. Of the others, a value ends before the next name that PBS prints. The name of a job ends
//! before `queue=`, which every version prints after it, or before an exit status in between that is the only one of the record.

use memchr::memmem::{self, Finder};
use memchr::{memchr, memchr_iter, memchr2};

use crate::text::field::is_number;

const EXIT_STATUS: &[u8] = b" Exit_status=";

crate::named! {
    /// A value that jobs are made of.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Known {
        User = "user",
        Group = "group",
        Account = "account",
        Project = "project",
        Qos = "qos",
        JobName = "jobname",
        Queue = "queue",
        Created = "ctime",
        Start = "start",
        End = "end",
        ExitStatus = "Exit_status",
        Hosts = "exec_host",
        Vnodes = "exec_vnode",
        Slots = "total_execution_slots",
        Ncpus = "Resource_List.ncpus",
        NodeCount = "unique_node_count",
        RequestedNodes = "Resource_List.nodect",
        AltId = "alt_id",
    }
    /// Returns the name in a record.
    pub(super) fn name;
}

impl Known {
    /// Returns the value of a name. Torque prints the quality of service among the resources.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        match name {
            b"Resource_List.qos" => Some(Self::Qos),
            name => Self::find(std::str::from_utf8(name).ok()?),
        }
    }
}

/// The other names that PBS prints, apart from resources.
const OTHERS: &str = "accounting_id gridname resvname resvID resvid qtime etime owner session eligible_time run_count start_count \
    array_indices depend comment requestor";

/// Returns the names and values of a text. Words before the first name are left out.
pub(super) fn values(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut reader = Reader {
        rest: text,
        queue: Some(Finder::new(b" queue=")),
        quotes: [Some(b'"'), Some(b'\'')],
    };
    std::iter::from_fn(move || reader.value())
}

/// Returns whether a name is a resource: requested, assigned or used.
pub(super) fn is_resource(name: &[u8]) -> bool {
    [
        &b"Resource_List."[..],
        b"resources_used.",
        b"resource_assigned.",
        b"resources_assigned.",
    ]
    .iter()
    .any(|group| name.starts_with(group) && name.len() > group.len())
}

struct Reader<'a> {
    rest: &'a [u8],
    /// Finds the end of the name of a job; `None` after a search in vain.
    queue: Option<Finder<'static>>,
    /// The quotes that may still be closed in the rest, for the same reason.
    quotes: [Option<u8>; 2],
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        loop {
            self.rest = &self.rest[blanks(self.rest)..];
            let word = first_word(self.rest);
            if word.is_empty() {
                return None;
            }
            let Some(name) = name(word) else {
                self.rest = &self.rest[word.len()..];
                continue;
            };
            self.rest = &self.rest[name.len() + 1..];
            if let Some(value) = self.quoted(name) {
                return Some((name, value));
            }
            let (value, rest) = self.rest.split_at(self.end(name));
            self.rest = rest;
            return Some((name, value));
        }
    }

    /// Takes a value in quotes. A quote in the value is not escaped, so that only one before a blank closes it.
    fn quoted(&mut self, name: &[u8]) -> Option<&'a [u8]> {
        let quote = *self.rest.first()?;
        let open = self.quotes.iter_mut().find(|it| **it == Some(quote))?;
        if name == b"jobname" {
            return None;
        }
        let inner = &self.rest[1..];
        let closes = |place: &usize| inner.get(place + 1).is_none_or(is_blank);
        let Some(place) = memchr_iter(quote, inner).find(closes) else {
            *open = None;
            return None;
        };
        self.rest = &inner[place + 1..];
        Some(&inner[..place])
    }

    /// Returns where the value of a name ends that begins here.
    fn end(&mut self, name: &[u8]) -> usize {
        if name == b"jobname"
            && let Some(queue) = &self.queue
        {
            // An empty name is followed by the blank at once.
            match queue.find(self.rest) {
                Some(queue) => return self.end_before(queue),
                None => self.queue = None,
            }
        }
        let is_open = is_open(name);
        let mut end = first_word(self.rest).len();
        while end < self.rest.len() {
            let blanks = blanks(&self.rest[end..]);
            let word = first_word(&self.rest[end + blanks..]);
            if self::name(word).is_some_and(|name| !is_open || is_known(name)) {
                break;
            }
            end += blanks + word.len();
        }
        end
    }

    /// Returns where the name of a job before `queue=` ends. PBS prints one exit status, at the end of a record as a rule: then
    /// one before `queue=` is part of the name, which a user chose.
    fn end_before(&self, queue: usize) -> usize {
        let (name, rest) = self.rest.split_at(queue);
        let is_of_record = |place: &usize| {
            is_integer(&name[place + EXIT_STATUS.len()..])
                && memmem::find(rest, EXIT_STATUS).is_none()
        };
        let status = memmem::rfind(name, EXIT_STATUS);
        status.filter(is_of_record).unwrap_or(queue)
    }
}

fn is_integer(value: &[u8]) -> bool {
    is_number(value.strip_prefix(b"-").unwrap_or(value))
}

/// Returns whether a value is chosen by users or sites, so that `x=y` may be part of it.
fn is_open(name: &[u8]) -> bool {
    match name {
        b"account" | b"project" | b"accounting_id" | b"gridname" | b"jobname" | b"resvname"
        | b"depend" | b"comment" => true,
        name => is_resource(name) || !is_known(name),
    }
}

/// Returns whether PBS prints a name, so that a value begins after it in any place.
fn is_known(name: &[u8]) -> bool {
    let mut others = OTHERS.split(' ');
    is_resource(name) || Known::of(name).is_some() || others.any(|it| it.as_bytes() == name)
}

/// Returns the name of a word that may begin a value.
fn name(word: &[u8]) -> Option<&[u8]> {
    let name = &word[..memchr(b'=', word)?];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    (name.first()?.is_ascii_alphabetic() && name.iter().all(is_part)).then_some(name)
}

fn first_word(text: &[u8]) -> &[u8] {
    let end = memchr2(b' ', b'\t', text);
    &text[..end.unwrap_or(text.len())]
}

fn blanks(text: &[u8]) -> usize {
    let word = text.iter().position(|byte| !is_blank(byte));
    word.unwrap_or(text.len())
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
