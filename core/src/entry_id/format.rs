//! One `jobid_name` format, compiled to a regular expression.

use std::iter::Peekable;
use std::str::Chars;
use std::sync::OnceLock;

use regex::bytes::Regex;
use thiserror::Error;

use super::job::names_server;
use super::like::Like;
use super::{Identity, Status};

/// The length at which Lustre cuts identifiers, in bytes.
const LONGEST_ID: usize = 31;

/// The length of the longest format that Lustre accepts, in bytes.
const LONGEST_FORMAT: usize = 32;

/// The length of the longest pattern of clusters or nodes, in bytes.
const LONGEST_PATTERN: usize = 255;

/// An error in a format.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FormatError {
    /// The format has no code, so that all identifiers would mean the same.
    #[error("format \"{0}\" has none of the codes %e %g %h %H %j %p %u")]
    NoCode(String),
    /// The format is longer than Lustre accepts, so that no client can have it.
    #[error("format \"{0}\" is longer than the {LONGEST_FORMAT} bytes that Lustre takes")]
    TooLong(String),
    /// The format is meant for some nodes, and identifiers do not show which node they are of.
    #[error("format \"{0}\" has neither %h nor %H, so that a pattern of nodes cannot match")]
    NoNode(String),
    /// A pattern is longer than any name.
    #[error(
        "pattern \"{0}\" is longer than the {LONGEST_PATTERN} bytes that patterns of formats may have"
    )]
    LongPattern(String),
}

/// Returns as much of a format as a message shows.
fn shown(format: &str) -> String {
    let end = format.floor_char_boundary(2 * LONGEST_FORMAT);
    let ellipsis = if end < format.len() { "…" } else { "" };
    format!("{}{ellipsis}", &format[..end])
}

/// A `jobid_name` format.
#[derive(Debug, Clone)]
pub struct Format {
    text: String,
    node_label: Option<String>,
    /// The clusters and nodes whose format this is; `None`: all.
    clusters: Option<Like>,
    nodes: Option<Like>,
    names_node: bool,
    begins_with_number: bool,
    /// The code that identifiers end with, if they end with one.
    last: Option<Code>,
    /// Set if a job may be so long that Lustre cuts off what the kernel writes behind it: then its user has written those fields.
    has_long_job: bool,
    /// Finds the fields of whole identifiers.
    whole: Fields,
    /// Finds the fields of identifiers that end too early, or have a domain behind a short name of a node. Fields that may
    /// be cut are left out. It is compiled when it is first needed.
    part: OnceLock<Option<Fields>>,
    /// Find what the kernel wrote before and behind a job that looks like several fields, and only before it. They are compiled
    /// when they are first needed.
    around_job: OnceLock<Option<Fields>>,
    before_job: OnceLock<Option<Fields>>,
}

impl Format {
    /// Compiles a format. `node_label` is the node of identifiers if the format does not ask for a node.
    pub fn compile(format: &str, node_label: Option<&str>) -> Result<Self, FormatError> {
        let too_long = || FormatError::TooLong(shown(format));
        if format.len() > LONGEST_FORMAT {
            return Err(too_long());
        }
        let items = items(format);
        let whole = Pattern::whole(&items);
        if whole.groups.is_empty() {
            return Err(FormatError::NoCode(format.to_owned()));
        }
        let names_node = whole.groups.iter().any(|(code, _)| code.is_node());
        Ok(Self {
            text: format.to_owned(),
            begins_with_number: matches!(items.first(), Some(Item::Code(code, _)) if code.is_number()),
            last: match items.last() {
                Some(Item::Code(code, _)) => Some(*code),
                _ => None,
            },
            has_long_job: !behind_long_job(&items).is_empty(),
            node_label: node_label.filter(|_| !names_node).map(str::to_owned),
            clusters: None,
            nodes: None,
            names_node,
            // A pattern of known pieces can only be too large.
            whole: whole.compile().map_err(|_| too_long())?,
            part: OnceLock::new(),
            around_job: OnceLock::new(),
            before_job: OnceLock::new(),
        })
    }

    /// Limits the format to clusters and to nodes whose names match LIKE patterns; `None`: all. The name of a node is that in
    /// the identifier, up to its first dot.
    pub fn only_for(
        self,
        clusters: Option<&str>,
        nodes: Option<&str>,
    ) -> Result<Self, FormatError> {
        if nodes.is_some() && !self.names_node {
            return Err(FormatError::NoNode(self.text));
        }
        let patterns = [clusters, nodes].into_iter().flatten();
        if let Some(long) = patterns
            .into_iter()
            .find(|pattern| pattern.len() > LONGEST_PATTERN)
        {
            return Err(FormatError::LongPattern(shown(long)));
        }
        Ok(Self {
            clusters: clusters.map(Like::new),
            nodes: nodes.map(Like::new),
            ..self
        })
    }

    /// Returns true if the format is not that of all clusters.
    pub(super) const fn is_of_some_clusters(&self) -> bool {
        self.clusters.is_some()
    }

    /// Returns true if the format is that of a cluster; `None`: of all clusters.
    pub(super) fn is_of(&self, cluster: Option<&str>) -> bool {
        self.clusters
            .as_ref()
            .is_none_or(|pattern| cluster.is_some_and(|cluster| pattern.matches(cluster)))
    }

    /// Returns whether the format is that of the node that it found in an identifier; `None` if it found none.
    pub(super) fn is_for(&self, identity: &Identity<'_>) -> Option<bool> {
        self.nodes
            .as_ref()
            .map_or(Some(true), |pattern| Some(pattern.matches(identity.node?)))
    }

    /// Returns true if identifiers end with the number of the user.
    pub(super) fn ends_with_user(&self) -> bool {
        self.last == Some(Code::Uid)
    }

    /// Returns true if a reading takes the end of an identifier, of which nothing was cut off, for a domain that ends in a number.
    pub(super) fn reads_a_number_as_domain(&self, identity: &Identity<'_>, id: &str) -> bool {
        let label = id.rsplit_once('.').map_or("", |(_, label)| label);
        self.last.is_some_and(Code::is_node)
            && identity.node.is_some()
            && !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_digit())
            && !may_be_longest(id)
    }

    /// Returns the fields of the identifier by this format, or `None` if the format does not match.
    pub fn identify<'a>(&'a self, id: &'a str) -> Option<Identity<'a>> {
        self.read(&self.whole, id)
    }

    /// Returns the fields of an identifier that this format does not match: of the beginning of an identifier, of one with a
    /// domain behind `%H`, or of one whose job looks like several fields. `None` if it is nothing of this kind, or says nothing.
    pub(super) fn identify_part<'a>(&'a self, id: &'a str) -> Option<Identity<'a>> {
        let says_nothing = Identity {
            node: self.node_label.as_deref(),
            ..Identity::MALFORMED
        };
        let says_something = |it: &Identity<'_>| !it.says_the_same(&says_nothing);
        self.read_if(&self.part, |items| Some(Pattern::parts(items)), id)
            .filter(says_something)
            .or_else(|| self.identify_around_job(id).filter(says_something))
    }

    /// Returns what the kernel wrote around a job that looks like several fields. The job is unknown. What stands behind the job
    /// is what the kernel wrote only if nothing was cut off.
    fn identify_around_job<'a>(&'a self, id: &'a str) -> Option<Identity<'a>> {
        let around_job = || self.read_if(&self.around_job, Pattern::around_job, id);
        let before_job = || self.read_if(&self.before_job, Pattern::before_job, id);
        let shows_all = !self.has_long_job || !may_be_longest(id);
        let around_job = shows_all.then(around_job).flatten();
        around_job.or_else(before_job)
    }

    /// Reads an identifier by a pattern that is compiled when it is first needed.
    fn read_if<'a>(
        &'a self,
        compiled: &'a OnceLock<Option<Fields>>,
        pattern: impl Fn(&[Item]) -> Option<Pattern>,
        id: &'a str,
    ) -> Option<Identity<'a>> {
        let fields = compiled.get_or_init(|| pattern(&items(&self.text))?.compile().ok());
        self.read(fields.as_ref()?, id)
    }

    /// Returns true if the format begins with a number that is none of a job.
    pub(super) fn begins_with_another_number(&self) -> bool {
        self.begins_with_number
    }

    fn read<'a>(&'a self, fields: &Fields, id: &'a str) -> Option<Identity<'a>> {
        let captures = fields.regex.captures(id.as_bytes())?;
        let found = || {
            let groups = captures.iter().skip(1).zip(&fields.groups);
            groups.filter_map(|(field, &group)| Some((group, field?)))
        };
        let mut identity = Identity {
            node: self.node_label.as_deref(),
            format: Some(&self.text),
            status: Status::Ok,
            ..Identity::MALFORMED
        };
        let is_pushed = self.has_long_job && may_be_longest(id);
        for ((code, width), field) in found() {
            let text = id.get(field.range())?;
            // A number at the end is taken to be whole: identifiers that end in a number seldom come near the limit, unless
            // their job is long.
            let may_be_at_limit = if code.is_number() {
                is_pushed
            } else {
                is_longest(id)
            };
            let ends_at_limit = field.end() == id.len() && may_be_at_limit;
            let may_be_cut = ends_at_limit || code.may_be_cut(text, width);
            if may_be_cut {
                identity.status = Status::Truncated;
            }
            // Of a node that is cut in its domain, the name is known; of a job of PBS that is cut in its server, the number.
            let is_known = match code {
                Code::Host | Code::ShortHost => text.contains('.'),
                Code::Job => names_server(text),
                _ => false,
            };
            if !may_be_cut || is_known {
                identity.set(code, text)?;
            }
        }
        if is_pushed {
            identity.status = Status::Truncated;
        }
        if found().count() < fields.wanted {
            identity.status = if is_longest(id) {
                Status::Truncated
            } else {
                Status::Partial
            };
        }
        Some(identity)
    }
}

/// A compiled pattern.
#[derive(Debug, Clone)]
struct Fields {
    /// The regular expression, over bytes because Lustre counts bytes: a character that was cut stays in an identifier
    /// as `\xHH`.
    regex: Regex,
    /// The codes of the groups of `regex`, in order, with the number of bytes to which they are limited.
    groups: Vec<(Code, usize)>,
    /// The number of fields below which an identifier is a part.
    wanted: usize,
}

impl<'a> Identity<'a> {
    /// Sets the field of a code the first time that the format asks for it. Returns `None` if the field cannot have
    /// this value.
    fn set(&mut self, code: Code, text: &'a str) -> Option<()> {
        match code {
            Code::Job if text.is_empty() => self.status = Status::MissingJob,
            Code::Job => self.job = self.job.or(Some(text)),
            Code::Executable => self.executable = self.executable.or(Some(text)),
            Code::Host | Code::ShortHost => self.node = self.node.or(text.split('.').next()),
            Code::Uid => self.uid = self.uid.or(Some(text.parse().ok()?)),
            Code::Gid => self.gid = self.gid.or(Some(text.parse().ok()?)),
            Code::Pid => self.pid = self.pid.or(Some(text.parse().ok()?)),
        }
        Some(())
    }
}

/// Returns true if the identifier is as long as Lustre allows.
pub(super) fn is_longest(id: &str) -> bool {
    id.len() >= LONGEST_ID && bytes(id) == LONGEST_ID
}

/// Returns true if the identifier may be as long as Lustre allows. A user may write the notation of a byte himself, and servers
/// that know no such notation print it as it is.
fn may_be_longest(id: &str) -> bool {
    id.len() == LONGEST_ID || id.len() > LONGEST_ID && bytes(id) >= LONGEST_ID
}

/// Returns true if the number of the user in an identifier of this format may be text that a user has chosen as the job: the
/// identifier may be as long as Lustre allows, so that the number that the kernel wrote may be cut off.
#[must_use]
pub fn user_may_be_forged(format: &str, id: &str) -> bool {
    let is_user = |item: &Item| matches!(item, Item::Code(Code::Uid, _));
    let items = items(format);
    let behind = behind_long_job(&items);
    let before = &items[..items.len() - behind.len()];
    behind.iter().any(is_user) && !before.iter().any(is_user) && may_be_longest(id)
}

/// Returns the number of bytes that the text had in Lustre, where `\xHH` stands for one byte.
fn bytes(id: &str) -> usize {
    let is_escape = |&(at, _): &(usize, &str)| {
        let digits = id.as_bytes().get(at + 2..at + 4).unwrap_or_default();
        digits.len() == 2
            && digits
                .iter()
                .all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F'))
    };
    id.len() - 3 * id.match_indices(r"\x").filter(is_escape).count()
}

/// A code of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
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

    const fn is_node(self) -> bool {
        matches!(self, Code::Host | Code::ShortHost)
    }

    const fn is_number(self) -> bool {
        matches!(self, Code::Gid | Code::Pid | Code::Uid)
    }

    /// Returns true if the field is as long as its limit, `%.N`, allows, and would mean something else if it were cut. Sites
    /// choose the limit of a job as the length of its number, and the beginning of the name of a program says enough.
    fn may_be_cut(self, text: &str, width: usize) -> bool {
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
enum Item {
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
fn items(format: &str) -> Vec<Item> {
    Items(format.chars().peekable()).collect()
}

/// Returns the items behind the job if a job may be so long that Lustre cuts off a literal behind it, so that the job of a user may
/// look like all of them.
fn behind_long_job(items: &[Item]) -> &[Item] {
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

/// Returns true if the items are numbers and nodes, and each of them ends where a literal is that none of them can contain.
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
struct Pattern {
    text: String,
    groups: Vec<(Code, usize)>,
    wanted: usize,
}

impl Pattern {
    /// Returns the pattern of whole identifiers.
    fn whole(items: &[Item]) -> Self {
        let mut pattern = Self::default();
        match items {
            // A job alone may contain colons, because there is no other field to separate.
            [Item::Code(Code::Job, UNLIMITED)] => pattern.group(Code::Job, UNLIMITED, ".*"),
            items => items.iter().for_each(|item| pattern.item(item)),
        }
        pattern
    }

    /// Returns the pattern of parts: first of identifiers with a domain behind a short name, then of those that end in the
    /// field after a literal, from the last literal to the first.
    fn parts(items: &[Item]) -> Self {
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

    /// Returns the pattern of identifiers whose job is any text, with the fields behind it and before it. `None` if those behind
    /// cannot be told apart from a job that looks like them. Those before are left out if they cannot.
    fn around_job(items: &[Item]) -> Option<Self> {
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
    fn before_job(items: &[Item]) -> Option<Self> {
        let job = items.iter().position(Item::is_job)?;
        let before = &items[..job];
        let is_clear = matches!(before, [.., Item::Literal(_)]) && are_told_apart(before);
        is_clear.then(|| Self::with_any(before, UNLIMITED, &[]))
    }

    /// Returns the pattern of identifiers that have any text of at most so many bytes between these items.
    fn with_any(before: &[Item], most: usize, behind: &[Item]) -> Self {
        let mut pattern = Self::default();
        before.iter().for_each(|item| pattern.item(item));
        match most {
            most if most > LONGEST_ID => pattern.text.push_str(".+"),
            most => pattern
                .text
                .push_str(&format!(r"(?:\\x[0-9A-F]{{2}}|.){{1,{most}}}")),
        }
        behind.iter().for_each(|item| pattern.item(item));
        // The job is missing.
        pattern.wanted = pattern.groups.len() + 1;
        pattern
    }

    fn compile(self) -> Result<Fields, regex::Error> {
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

    /// Adds an item of which less is known: only what begins with a digit, or with the ƒ of Flux, is a job. A domain may
    /// follow a short name.
    fn item_of_part(&mut self, item: &Item, has_domain: bool) {
        match item {
            Item::Code(Code::Job, width) => {
                let rest = Code::Job.pattern(0, width.saturating_sub(1));
                self.group(Code::Job, *width, &format!("|(?:[0-9]|ƒ){rest}"));
            }
            Item::Code(Code::ShortHost, _) if has_domain => {
                self.item(item);
                self.text.push_str(r"(?:\.[0-9A-Za-z._-]*)?");
            }
            item => self.item(item),
        }
    }

    /// Adds the beginning of an item, of which nothing is known, but the number of a job that begins the name of a server.
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
    /// be any text: tried before `%e`, it would match every program.
    fn job_or(&mut self, width: usize, fallback: &[Item]) {
        self.text.push_str("(?:");
        let after_digit = Code::Job.pattern(0, width.saturating_sub(1));
        self.group(Code::Job, width, &format!("[0-9]{after_digit}"));
        self.text.push('|');
        fallback.iter().for_each(|item| self.item(item));
        self.text.push('|');
        self.group(Code::Job, width, &Code::Job.pattern(1, width));
        self.text.push(')');
    }
}
