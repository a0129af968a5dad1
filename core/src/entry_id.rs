//! The meaning of entry identifiers, by `jobid_name` formats.
//!
//! Clients build identifiers from the format in their parameter `jobid_name`, and the servers cut them at 31 bytes. An
//! identifier does not show the format of its client, so the configured formats are tried in order.

use std::fmt;

mod format;
mod guess;
mod job;
mod keys;
#[cfg(test)]
mod tests;

pub use format::{Format, FormatError};
pub use guess::likely_format;
pub use keys::{Keys, Stored as StoredNames};

/// The formats that are tried if none are configured, each with its node label.
pub const DEFAULT_FORMATS: &[(&str, Option<&str>)] =
    &[("%j:%u:%H", None), ("%e.%u", Some("login"))];

/// The result of reading an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// The identifier has everything that its format asks for.
    Ok,
    /// The format asks for a job, and the job is empty.
    MissingJob,
    /// The identifier is as long as Lustre allows, so that its last field may be cut.
    Truncated,
    /// The identifier ends before its format does. The fields before its end are known.
    Partial,
    /// No format matches.
    Malformed,
}

impl Status {
    /// Returns the status as it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::MissingJob => "missing_job",
            Status::Truncated => "truncated",
            Status::Partial => "partial",
            Status::Malformed => "malformed",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The fields of an identifier. A field is `None` if the format does not ask for it, or if it is empty or cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity<'a> {
    /// `%j`
    pub job: Option<&'a str>,
    /// `%u`
    pub uid: Option<u32>,
    /// `%g`
    pub gid: Option<u32>,
    /// `%h` or `%H` up to its first dot, so that a node is one node whether its clients send the domain or not; if the
    /// format has neither, the format's node label.
    pub node: Option<&'a str>,
    /// `%e`
    pub executable: Option<&'a str>,
    /// `%p`
    pub pid: Option<u32>,
    /// The format that matched, as configured.
    pub format: Option<&'a str>,
    /// The status: how much of the identifier could be used.
    pub status: Status,
}

impl Identity<'_> {
    /// The identity of an identifier that no format matches.
    const MALFORMED: Identity<'static> = Identity {
        job: None,
        uid: None,
        gid: None,
        node: None,
        executable: None,
        pid: None,
        format: None,
        status: Status::Malformed,
    };

    /// Returns true if both say the same of an identifier.
    fn says_the_same(&self, other: &Self) -> bool {
        let (format, status) = (other.format, other.status);
        Self {
            format,
            status,
            ..*self
        } == *other
    }

    /// Returns the name of the work: the job, else the program and its user, else the identifier itself.
    pub fn workload(&self, id: &str) -> String {
        match (self.number(), self.executable, self.uid) {
            (Some(job), _, _) => job.into_owned(),
            (None, Some(executable), Some(uid)) => format!("{executable}.{uid}"),
            _ => id.to_owned(),
        }
    }
}

/// The formats of a site, in the order in which they are tried.
#[derive(Debug, Clone, Default)]
pub struct Formats(Vec<Format>);

impl Formats {
    /// Compiles formats with their node labels, such as [`DEFAULT_FORMATS`].
    pub fn compile<'f>(
        formats: impl IntoIterator<Item = (&'f str, Option<&'f str>)>,
    ) -> Result<Self, FormatError> {
        formats
            .into_iter()
            .map(|(format, node_label)| Format::compile(format, node_label))
            .collect()
    }

    /// Adds a format behind the others if this identifier means something else with it.
    pub fn add_if_needed(&mut self, format: Format, id: &str) {
        let others = self.0.len();
        self.0.push(format);
        if identify(&self.0, id) == identify(&self.0[..others], id) {
            self.0.truncate(others);
        }
    }

    /// Returns the fields of the identifier by the first format that matches it. An identifier that none matches is the
    /// number of a job, or the beginning of an identifier, if it can be only one of them.
    pub fn identify<'a>(&'a self, id: &'a str) -> Identity<'a> {
        identify(&self.0, id)
    }
}

fn identify<'a>(formats: &'a [Format], id: &'a str) -> Identity<'a> {
    let may_be_job = || !formats.iter().any(Format::begins_with_another_number);
    let parts = || formats.iter().filter_map(|format| format.identify_part(id));
    formats
        .iter()
        .find_map(|format| format.identify(id))
        .or_else(|| Identity::of_job(id).filter(|_| may_be_job()))
        .or_else(|| only_one(parts()))
        .unwrap_or(Identity::MALFORMED)
}

/// Returns the first reading of an identifier if all others say the same.
fn only_one<'a>(mut readings: impl Iterator<Item = Identity<'a>>) -> Option<Identity<'a>> {
    let first = readings.next()?;
    readings
        .all(|other| other.says_the_same(&first))
        .then_some(first)
}

impl FromIterator<Format> for Formats {
    fn from_iter<I: IntoIterator<Item = Format>>(formats: I) -> Self {
        Self(formats.into_iter().collect())
    }
}
