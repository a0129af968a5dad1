//! Builds the regular expression that finds the fields of an identifier.

use std::iter::Peekable;
use std::str::Chars;

use regex::bytes::Regex;

use crate::identity::entry_id::length::{LONGEST_ID, bytes};

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Fields {
    /// The regular expression, over bytes because Lustre counts bytes: a character that was cut stays in an identifier
    /// as `\xHH`.
    pub regex: Regex,
    /// The codes of the groups of `regex`, in order, with the number of bytes to which they are limited.
    pub groups: Vec<(Code, usize)>,
    /// The number of fields below which an identifier is a part.
    pub wanted: usize,
}

/// A code of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    Executable,
    Gid,
    Host,
    ShortHost,
    Job,
    Pid,
    Uid,
}

impl Code {
    fn from_letter(letter: char) -> Option<Self> {
        Some(match letter {
            'e' => Code::Executable,
            'g' => Code::Gid,
            'h' => Code::Host,
            'H' => Code::ShortHost,
            'j' => Code::Job,
            'p' => Code::Pid,
            'u' => Code::Uid,
            _ => return None,
        })
    }

    pub const fn is_node(self) -> bool {
        matches!(self, Code::Host | Code::ShortHost)
    }

    pub const fn is_number(self) -> bool {
        matches!(self, Code::Gid | Code::Pid | Code::Uid)
    }

    /// Returns true if the field is as long as its limit, `%.N`, allows, and would mean something else if it were cut. Sites
    /// choose the limit of a job as the length of its number, and the beginning of the name of a program is enough.
    pub fn may_be_cut(self, text: &str, width: usize) -> bool {
        (self.is_number() || self.is_node()) && width < self.longest() && bytes(text) >= width
    }

    /// Returns the regular expression of one byte of the field.
    const fn byte(self) -> &'static str {
        match self {
            Code::Executable => r"(?:\\x[0-9A-F]{2}|.)",
            Code::Gid | Code::Pid | Code::Uid => "[0-9]",
            Code::Host => "[0-9A-Za-z._-]",
            Code::ShortHost => "[0-9A-Za-z_-]",
            Code::Job => r"(?:\\x[0-9A-F]{2}|[^:])",
        }
    }

    /// Returns true if the field may contain a character.
    const fn can_contain(self, character: char) -> bool {
        match self {
            Code::Executable | Code::Job => true,
            Code::Gid | Code::Pid | Code::Uid => character.is_ascii_digit(),
            Code::Host => character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-'),
            Code::ShortHost => character.is_ascii_alphanumeric() || matches!(character, '_' | '-'),
        }
    }

    /// Returns the largest number of bytes of the field.
    const fn longest(self) -> usize {
        match self {
            // The name of a process in the kernel has 15 bytes and a NUL.
            Code::Executable => 15,
            // 2^32 − 1 has 10 digits.
            Code::Gid | Code::Pid | Code::Uid => 10,
            Code::Host | Code::ShortHost | Code::Job => usize::MAX,
        }
    }

    /// Returns the regular expression of `least` to `width` bytes of the field.
    fn pattern(self, least: usize, width: usize) -> String {
        let byte = self.byte();
        match width.min(self.longest()) {
            most if most > LONGEST_ID => format!("{byte}{{{least},}}"),
            most => format!("{byte}{{{least},{most}}}"),
        }
    }
}

/// A part of a format. Codes have the number of bytes to which they are limited.
pub enum Item {
    Literal(char),
    Code(Code, usize),
    /// `%j?X`: the X is used only if the job is empty.
    JobOr(usize, Vec<Item>),
}

const UNLIMITED: usize = usize::MAX;

/// The regular expression of the job of PBS with at least the first letter of its server.
const NUMBER_WITH_SERVER: &str = r"[0-9]+(?:\[[0-9]+\])?\.[A-Za-z][0-9A-Za-z._-]*";

impl Item {
    const fn is_job(&self) -> bool {
        matches!(self, Item::Code(Code::Job, _) | Item::JobOr(..))
    }

    /// Returns the largest number of bytes that the item becomes.
    fn longest(&self) -> usize {
        match self {
            Item::Literal(literal) => literal.len_utf8(),
            Item::Code(code, width) => code.longest().min(*width),
            Item::JobOr(width, fallback) => longest(fallback).max(*width),
        }
    }
}

/// Returns the largest number of bytes that items become.
fn longest(items: &[Item]) -> usize {
    let lengths = items.iter().map(Item::longest);
    lengths.fold(0, usize::saturating_add)
}

/// Returns the items of a format.
pub fn items(format: &str) -> Vec<Item> {
    Items(format.chars().peekable()).collect()
}

/// Returns the items behind the job if a job may be so long that Lustre cuts off a literal behind it, so that the job of a user may
/// look like all of them.
pub fn behind_long_job(items: &[Item]) -> &[Item] {
    let Some(job) = items.iter().position(Item::is_job) else {
        return &[];
    };
    let is_literal = |item: &Item| matches!(item, Item::Literal(_));
    let last = items.iter().rposition(is_literal).unwrap_or(job).max(job);
    match longest(&items[..=last]) > LONGEST_ID {
        true => &items[job + 1..],
        false => &[],
    }
}

/// Returns true if the items are numbers and nodes, and each of them ends at a literal that they cannot contain.
fn are_told_apart(items: &[Item]) -> bool {
    let can_contain = |literal: char| {
        items
            .iter()
            .any(|item| matches!(item, Item::Code(code, _) if code.can_contain(literal)))
    };
    items.iter().all(|item| match item {
        Item::Literal(literal) => !can_contain(*literal),
        Item::Code(code, _) => code.is_number() || code.is_node(),
        Item::JobOr(..) => false,
    }) && !items
        .windows(2)
        .any(|pair| matches!(pair, [Item::Code(..), Item::Code(..)]))
}

/// The parts of a format as Lustre reads it: Lustre drops white space, unknown codes and a `%` at the end.
struct Items<'f>(Peekable<Chars<'f>>);

impl Iterator for Items<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            match self.0.next()? {
                '%' => {
                    if let Some(item) = self.code() {
                        return Some(item);
                    }
                }
                blank if blank.is_whitespace() => {}
                literal => return Some(Item::Literal(literal)),
            }
        }
    }
}

impl Items<'_> {
    /// Reads the code after a `%`.
    fn code(&mut self) -> Option<Item> {
        let (code, width) = self.limited_code()?;
        if code == Code::Job && self.0.next_if_eq(&'?').is_some() {
            let fallback = self.fallback();
            if !fallback.is_empty() {
                return Some(Item::JobOr(width, fallback));
            }
        }
        Some(Item::Code(code, width))
    }

    fn limited_code(&mut self) -> Option<(Code, usize)> {
        let width = self.width();
        let code = Code::from_letter(self.0.next()?)?;
        Some((code, width))
    }

    /// Reads the N of `%.Nx`. Lustre takes zero and a missing N as no limit.
    fn width(&mut self) -> usize {
        let mut digits = String::new();
        if self.0.next_if_eq(&'.').is_some() {
            digits.extend(std::iter::from_fn(|| self.0.next_if(char::is_ascii_digit)));
        }
        match digits.parse() {
            Ok(0) | Err(_) => UNLIMITED,
            Ok(width) => width,
        }
    }

    /// Reads the X of `%j?X`: a code, else two characters, because Lustre skips two.
    fn fallback(&mut self) -> Vec<Item> {
        if self.0.next_if_eq(&'%').is_some() {
            let code = self.limited_code();
            code.map(|(code, width)| Item::Code(code, width))
                .into_iter()
                .collect()
        } else {
            self.0.by_ref().take(2).map(Item::Literal).collect()
        }
    }
}

/// A regular expression under construction, with the codes of its groups and their limits.
#[derive(Default)]
pub struct Pattern {
    text: String,
    pub groups: Vec<(Code, usize)>,
    wanted: usize,
}

impl Pattern {
    /// Returns the pattern of whole identifiers.
    pub fn whole(items: &[Item]) -> Self {
        let mut pattern = Self::default();
        match items {
            // A job alone may contain colons, because there is no other field to separate.
            [Item::Code(Code::Job, UNLIMITED)] => pattern.group(Code::Job, UNLIMITED, ".*"),
            items => (0..items.len()).for_each(|at| pattern.item_of_whole(&items[at..])),
        }
        if pattern.wanted > 0 {
            pattern.wanted = pattern.groups.len();
        }
        pattern
    }

    /// Returns the pattern of parts: first of identifiers with a domain behind a short name, then of identifiers that end
    /// in the field after a literal, from the last literal to the first.
    pub fn parts(items: &[Item]) -> Self {
        let mut pattern = Self::default();
        pattern.text.push_str("(?:");
        items
            .iter()
            .for_each(|item| pattern.item_of_part(item, true));
        // JobOr has two groups for one field, and both may be missing.
        pattern.wanted = items
            .iter()
            .filter(|item| matches!(item, Item::Code(..)))
            .count();
        let cuts = (0..items.len().saturating_sub(1)).rev();
        for cut in cuts.filter(|&cut| matches!(items[cut], Item::Literal(_))) {
            pattern.text.push('|');
            items[..=cut]
                .iter()
                .for_each(|item| pattern.item_of_part(item, false));
            pattern.beginning(&items[cut + 1]);
        }
        pattern.text.push(')');
        pattern
    }

    /// Returns the pattern of identifiers whose job is any text, with the fields behind it and before it. `None` if a job can
    /// look like the fields behind it. Those before are left out if they cannot.
    pub fn around_job(items: &[Item]) -> Option<Self> {
        let job = items.iter().position(Item::is_job)?;
        let (before, behind) = (&items[..job], &items[job + 1..]);
        let ends_before_job = matches!(before, [] | [.., Item::Literal(_)]);
        let (before, most) = match ends_before_job && are_told_apart(before) {
            true => (before, items[job].longest()),
            false => (&[][..], UNLIMITED),
        };
        let is_clear = matches!(behind, [Item::Literal(_), ..]) && are_told_apart(behind);
        is_clear.then(|| Self::with_any(before, most, behind))
    }

    /// Returns the pattern of identifiers with the fields before a job that is any text.
    pub fn before_job(items: &[Item]) -> Option<Self> {
        let job = items.iter().position(Item::is_job)?;
        let before = &items[..job];
        let is_clear = matches!(before, [.., Item::Literal(_)]) && are_told_apart(before);
        is_clear.then(|| Self::with_any(before, UNLIMITED, &[]))
    }

    /// Returns the pattern of identifiers that have any text of at most so many bytes between these items. A domain may follow a
    /// short name, if it cannot contain the literals.
    fn with_any(before: &[Item], most: usize, behind: &[Item]) -> Self {
        let mut pattern = Self::default();
        let mut all = before.iter().chain(behind);
        let has_domain = !all.any(|item| matches!(item, Item::Literal('.')));
        before
            .iter()
            .for_each(|item| pattern.named(item, has_domain));
        match most {
            most if most > LONGEST_ID => pattern.text.push_str(".+"),
            most => pattern
                .text
                .push_str(&format!(r"(?:\\x[0-9A-F]{{2}}|.){{1,{most}}}")),
        }
        behind
            .iter()
            .for_each(|item| pattern.named(item, has_domain));
        // The job is missing.
        pattern.wanted = pattern.groups.len() + 1;
        pattern
    }

    pub fn compile(self) -> Result<Fields, regex::Error> {
        Ok(Fields {
            regex: Regex::new(&format!(r"(?s-u)\A{}\z", self.text))?,
            groups: self.groups,
            wanted: self.wanted,
        })
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Literal(literal) => self.literal(*literal),
            Item::Code(code, width) => {
                let least = usize::from(*code != Code::Job);
                self.group(*code, *width, &code.pattern(least, *width));
            }
            Item::JobOr(width, fallback) => self.job_or(*width, fallback),
        }
    }

    /// Adds the first of these items. A job in front of a program ends as early as it can, since programs have dots in their names more
    /// often: but only if the fields behind the program are the same wherever it begins.
    fn item_of_whole(&mut self, items: &[Item]) {
        match items {
            [
                Item::Code(Code::Job, width),
                Item::Literal(_),
                Item::Code(Code::Executable, _),
                behind @ ..,
            ] if are_told_apart(behind) => {
                let shortest = format!("{}?", Code::Job.pattern(0, *width));
                self.group(Code::Job, *width, &shortest);
            }
            [item, ..] => self.item(item),
            [] => {}
        }
    }

    /// Adds an item that is less certain: only a text that begins with a digit, or with the ƒ of Flux, is a job. A
    /// domain may follow a short name.
    fn item_of_part(&mut self, item: &Item, has_domain: bool) {
        match item {
            Item::Code(Code::Job, width) => {
                let rest = Code::Job.pattern(0, width.saturating_sub(1));
                self.group(Code::Job, *width, &format!("|(?:[0-9]|ƒ){rest}"));
            }
            item => self.named(item, has_domain),
        }
    }

    /// Adds an item. A domain may follow a short name.
    fn named(&mut self, item: &Item, has_domain: bool) {
        self.item(item);
        if has_domain && matches!(item, Item::Code(Code::ShortHost, _)) {
            self.text.push_str(r"(?:\.[0-9A-Za-z._-]*)?");
        }
    }

    /// Adds the beginning of an item, which is unknown except for the number of a job before the name of a server.
    fn beginning(&mut self, item: &Item) {
        match item {
            Item::Literal(_) => {}
            Item::Code(Code::Job, UNLIMITED) => {
                self.text.push_str("(?:");
                self.group(Code::Job, UNLIMITED, NUMBER_WITH_SERVER);
                self.text
                    .extend(["|", &Code::Job.pattern(0, UNLIMITED), ")"]);
            }
            Item::Code(code, width) => self.text.push_str(&code.pattern(0, *width)),
            Item::JobOr(width, _) => self.text.push_str(&Code::Job.pattern(0, *width)),
        }
    }

    fn literal(&mut self, literal: char) {
        self.text
            .push_str(&regex::escape(literal.encode_utf8(&mut [0; 4])));
    }

    fn group(&mut self, code: Code, width: usize, pattern: &str) {
        self.text.extend(["(", pattern, ")"]);
        self.groups.push((code, width));
    }

    /// Adds `%j?X`. Text that begins with a digit is first tried as a job, other text first as the X, because a job may
    /// be any text: tried before `%e`, it would match every program. A node is written by the kernel and a job by its user, so other text
    /// is neither if the X is a node.
    fn job_or(&mut self, width: usize, fallback: &[Item]) {
        self.text.push_str("(?:");
        let after_digit = Code::Job.pattern(0, width.saturating_sub(1));
        self.group(Code::Job, width, &format!("[0-9]{after_digit}"));
        self.text.push('|');
        let any = Code::Job.pattern(1, width);
        match fallback {
            [Item::Code(node, most)] if node.is_node() => {
                self.text.extend([&node.pattern(1, *most), "|", &any]);
                self.wanted = 1;
            }
            fallback => {
                fallback.iter().for_each(|item| self.item(item));
                self.text.push('|');
                self.group(Code::Job, width, &any);
            }
        }
        self.text.push(')');
    }
}
