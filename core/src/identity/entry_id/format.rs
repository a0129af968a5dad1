//! A `jobid_name` format, which reads identifiers.

mod pattern;

use std::sync::OnceLock;

use thiserror::Error;

pub(super) use self::pattern::Code;
use self::pattern::{Fields, Item, Pattern, behind_long_job, items};
use super::job_number::names_server;
use super::length::may_be_longest;
use super::{Identity, Status};
use crate::base::pattern as names;

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
    #[error("format \"{0}\" is longer than the {LONGEST_FORMAT} bytes that Lustre allows")]
    TooLong(String),
    /// The format is meant for some nodes, and identifiers do not show which node they are of.
    #[error("format \"{0}\" has neither %h nor %H, so a node pattern cannot match")]
    NoNode(String),
    /// A pattern is longer than any name.
    #[error("pattern \"{0}\" is longer than {LONGEST_PATTERN} bytes")]
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
    pub(super) text: String,
    node_label: Option<String>,
    /// The clusters and nodes whose format this is; `None`: all.
    pub(super) clusters: Option<names::Pattern>,
    nodes: Option<names::Pattern>,
    names_node: bool,
    pub(super) begins_with_number: bool,
    /// True if the user comes before the job; `None` if one is missing.
    pub(super) user_is_first: Option<bool>,
    /// The code that identifiers end with, if they end with one.
    last: Option<Code>,
    /// Set if a job may be so long that Lustre cuts off the fields that the kernel writes behind it: then its user has written them.
    has_long_job: bool,
    /// Finds the fields of whole identifiers.
    whole: Fields,
    /// Finds the fields of identifiers that end too early, or have a domain behind a short name of a node. Fields that may
    /// be cut are left out. It is compiled when it is first needed.
    part: OnceLock<Option<Fields>>,
    /// Find the fields that the kernel wrote before and behind a job that looks like several fields, and only before it. They are compiled
    /// when they are first needed.
    around_job: OnceLock<Option<Fields>>,
    before_job: OnceLock<Option<Fields>>,
}

impl Format {
    /// Compiles a format. `node_label` is the node of identifiers if the format has no node.
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
        let place = |code| whole.groups.iter().position(|(it, _)| *it == code);
        let places = place(Code::Uid).zip(place(Code::Job));
        Ok(Self {
            text: format.to_owned(),
            begins_with_number: matches!(items.first(), Some(Item::Code(code, _)) if code.is_number()),
            user_is_first: places.map(|(user, job)| user < job),
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

    /// Limits the format to clusters and to nodes whose names match patterns; `None`: all. The name of a node is that in
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
            clusters: clusters.map(names::Pattern::new),
            nodes: nodes.map(names::Pattern::new),
            ..self
        })
    }

    /// Returns true if the format applies to a cluster; `None`: to all clusters.
    pub(super) fn is_of(&self, cluster: Option<&str>) -> bool {
        self.clusters
            .as_ref()
            .is_none_or(|pattern| cluster.is_some_and(|cluster| pattern.matches(cluster)))
    }

    /// Returns whether the format applies to the node that it found in an identifier; `None` without a node.
    pub(super) fn is_for(&self, identity: &Identity<'_>) -> Option<bool> {
        self.nodes
            .as_ref()
            .map_or(Some(true), |pattern| Some(pattern.matches(identity.node?)))
    }

    /// Returns true if identifiers end with the number of the user.
    pub(super) fn ends_with_user(&self) -> bool {
        self.last == Some(Code::Uid)
    }

    /// Returns true if a reading takes the end of a complete identifier for a domain that ends in a number.
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
    /// domain behind `%H`, or of one with a job that looks like several fields. `None` if it is not of this kind, or has no
    /// known field.
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

    /// Returns the fields that the kernel wrote around a job that looks like several fields. The job is unknown. The kernel wrote the
    /// fields behind the job only if the identifier is complete.
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
        let is_long = may_be_longest(id);
        let is_pushed = self.has_long_job && is_long;
        for ((code, width), field) in found() {
            let text = id.get(field.range())?;
            // A number at the end is taken to be whole: identifiers that end in a number seldom come near the limit, unless
            // their job is long.
            let may_be_at_limit = is_pushed || !code.is_number() && is_long;
            let ends_at_limit = field.end() == id.len() && may_be_at_limit;
            let may_be_cut = ends_at_limit || code.may_be_cut(text, width);
            if may_be_cut {
                identity.status = Status::Truncated;
            }
            // If a node is cut in its domain, its name is known; if a job of PBS is cut in its server, its number.
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
            identity.status = if is_long {
                Status::Truncated
            } else {
                Status::Partial
            };
        }
        Some(identity)
    }
}

/// Returns true if the number of the user in an identifier of this format may be text that a user has chosen as the job: the
/// identifier may be as long as Lustre allows, so that the number that the kernel wrote may be cut off.
pub fn user_may_be_forged(format: &str, id: &str) -> bool {
    let is_user = |item: &Item| matches!(item, Item::Code(Code::Uid, _));
    let items = items(format);
    let behind = behind_long_job(&items);
    let before = &items[..items.len() - behind.len()];
    behind.iter().any(is_user) && !before.iter().any(is_user) && may_be_longest(id)
}
