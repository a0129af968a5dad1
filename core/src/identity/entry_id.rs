//! The meaning of entry identifiers, by `jobid_name` formats.
//!
//! Clients build identifiers from the format in their parameter `jobid_name`, and the servers cut them at 31 bytes. An
//! identifier does not show the format of its client, so the configured formats are tried in order.

use std::borrow::Cow;
use std::fmt;

pub mod flux;
mod format;
mod guess;
mod job_number;
mod keys;
mod length;
mod mixed;
mod pseudonyms;
mod swapped;
mod system_user;
#[cfg(test)]
mod tests;

use format::Code;
pub use format::{Format, FormatError, user_may_be_forged};
pub use guess::likely_format;
use job_number::looks_like_job;
pub use keys::{Keys, StoredNames};
pub use mixed::MixedFormats;
pub use pseudonyms::{FIRST_PSEUDONYM, Secret, Secrets, pseudonym, pseudonym_of_user};
pub use swapped::looks_swapped;
pub use system_user::folded_name;

/// The default formats.
pub const DEFAULT_FORMATS: &[&str] = &["%u:%j:%H", "%e.%u"];

crate::named! {
    /// The result of reading an identifier.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Status {
        /// The identifier has all fields of its format.
        Ok = "ok",
        /// The format has a job, but the job is empty.
        MissingJob = "missing_job",
        /// The identifier is as long as Lustre allows, so that its last field may be cut, and fields behind the job may be text that
        /// a user has chosen as the job; or a number or a node is as long as its format allows.
        Truncated = "truncated",
        /// The identifier ends before its format does, and the fields before its end are known; or its job looks like several
        /// fields, and the others are known.
        Partial = "partial",
        /// No format matches, or several clusters have sent the identifier and their formats read it differently.
        Malformed = "malformed",
    }
    /// Returns the status as it is stored.
    pub fn as_str;
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The fields of an identifier. A field is `None` if the format lacks it, or if it is empty or cut.
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

/// A value of an identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field<'a> {
    /// A text.
    Text(Option<Cow<'a, str>>),
    /// A number.
    Number(Option<u32>),
}

impl<'a> Identity<'a> {
    /// The columns of `jobstats.entries` that come from an identity, with their types.
    pub const COLUMNS: [(&'static str, &'static str); 8] = [
        ("job", "text"),
        ("uid", "bigint"),
        ("gid", "bigint"),
        ("node", "text"),
        ("executable", "text"),
        ("pid", "bigint"),
        ("format", "text"),
        ("status", "text"),
    ];

    /// The columns of [`COLUMNS`](Self::COLUMNS) that only an identifier has: node, executable and pid.
    pub const PROCESS: &'static [(&'static str, &'static str)] =
        Self::COLUMNS.split_at(3).1.split_at(3).0;

    /// The SQL form of [`workload`](Self::workload) for an entry `e` without a job.
    pub const WORKLOAD_WITHOUT_JOB: &'static str = "e.executable || '.' || e.uid, e.name";

    /// Returns the values of [`COLUMNS`](Self::COLUMNS).
    pub fn fields(&self) -> [Field<'a>; 8] {
        let text = |text: Option<&'a str>| Field::Text(text.map(Cow::Borrowed));
        [
            Field::Text(self.number()),
            Field::Number(self.uid),
            Field::Number(self.gid),
            text(self.node),
            text(self.executable),
            Field::Number(self.pid),
            text(self.format),
            text(Some(self.status.as_str())),
        ]
    }

    /// Returns the identity of a program and its user.
    fn of_program(program: &'a str, uid: u32) -> Self {
        Self {
            uid: Some(uid),
            executable: Some(program),
            status: Status::Ok,
            ..Identity::MALFORMED
        }
    }

    /// Returns whether the job looks like a job and the program does not: `%j` and `%e` match almost anything.
    fn is_plausible(&self) -> bool {
        self.job.is_none_or(looks_like_job) && !self.executable.is_some_and(looks_like_job)
    }

    /// Sets the field of a code if it has no value yet. Returns `None` if the field cannot have this value.
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

    /// Returns true if both have the same fields.
    fn says_the_same(&self, other: &Self) -> bool {
        let (format, status) = (other.format, other.status);
        Self {
            format,
            status,
            ..*self
        } == *other
    }

    /// Returns the fields that two readings have in common. The identifier is malformed where they differ.
    fn in_common(self, other: Self) -> Self {
        fn same<T: PartialEq>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.filter(|one| other.as_ref() == Some(one))
        }
        if self.says_the_same(&other) {
            return self;
        }
        Self {
            job: same(self.job, other.job),
            uid: same(self.uid, other.uid),
            gid: same(self.gid, other.gid),
            node: same(self.node, other.node),
            executable: same(self.executable, other.executable),
            pid: same(self.pid, other.pid),
            ..Self::MALFORMED
        }
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
///
/// ```
/// use jobstats_core::identity::entry_id::{Format, Formats};
///
/// let on_login_nodes = Format::compile("%e:%u:%H", None)?.only_for(None, Some("login*"))?;
/// let formats = Formats::from_iter([on_login_nodes, Format::compile("%j:%u:%H", None)?]);
/// assert_eq!(formats.identify("vi:1000:login1").executable, Some("vi"));
/// assert_eq!(formats.identify("17:1000:n1").job, Some("17"));
/// # Ok::<(), jobstats_core::identity::entry_id::FormatError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Formats(Vec<Format>);

impl Formats {
    /// Compiles formats of all clusters and nodes, such as [`DEFAULT_FORMATS`].
    pub fn compile<'f>(formats: impl IntoIterator<Item = &'f str>) -> Result<Self, FormatError> {
        formats
            .into_iter()
            .map(|format| Format::compile(format, None))
            .collect()
    }

    /// Adds a format behind the others if this identifier means something else with it.
    pub fn add_if_needed(&mut self, format: Format, id: &str) {
        let others = self.0.len();
        self.0.push(format);
        if identify(self.0.iter(), id) == identify(self.0[..others].iter(), id) {
            self.0.truncate(others);
        }
    }

    /// Returns true if a format is limited to some clusters, so that the meaning of an identifier depends on the clusters
    /// that sent it.
    pub fn differ_by_cluster(&self) -> bool {
        self.0.iter().any(|it| it.clusters.is_some())
    }

    /// Returns the fields of the identifier by the first format that matches it, of any cluster. An identifier without a
    /// matching format is the number of a job or, if only one of these is possible, the beginning of an identifier.
    pub fn identify<'a>(&'a self, id: &'a str) -> Identity<'a> {
        identify(self.0.iter(), id)
    }

    /// Returns the fields of an identifier that these clusters have sent. Each cluster reads it by its formats. A cluster that
    /// cannot read it is ignored, because clients of another cluster may use its file systems. Fields that the others read
    /// differently are unknown. If no cluster is known, only formats of all clusters count.
    pub fn identify_in<'a, C: AsRef<str>>(&'a self, clusters: &[C], id: &'a str) -> Identity<'a> {
        if !self.differ_by_cluster() {
            return self.identify(id);
        }
        let of_cluster = |cluster| identify(self.0.iter().filter(move |it| it.is_of(cluster)), id);
        if clusters.is_empty() {
            return of_cluster(None);
        }
        let readings = clusters.iter().map(|it| of_cluster(Some(it.as_ref())));
        let readings = readings.filter(|it| it.status != Status::Malformed);
        readings
            .reduce(Identity::in_common)
            .unwrap_or(Identity::MALFORMED)
    }
}

fn identify<'a>(formats: impl Iterator<Item = &'a Format> + Clone, id: &'a str) -> Identity<'a> {
    let may_be_job = || !formats.clone().any(|it| it.begins_with_number);
    let parts = || {
        let parts = formats
            .clone()
            .map(|format| (format, format.identify_part(id)));
        parts.filter_map(|(format, part)| part.filter(|it| format.is_for(it) != Some(false)))
    };
    Identity::of_folded(id)
        .or_else(|| whole(formats.clone(), id))
        .or_else(|| Identity::of_job(id).filter(|_| may_be_job()))
        .or_else(|| fullest(parts()))
        .or_else(|| Some(identify(formats.clone(), unquoted(id)?)))
        .unwrap_or(Identity::MALFORMED)
}

/// Returns the identifier without quotes, which clients send if `jobid_name` was set with quotes. In an identifier of full length, the user
/// may have written the last quote.
fn unquoted(id: &str) -> Option<&str> {
    let inner = id.strip_prefix('"')?.strip_suffix('"')?;
    (!length::may_be_longest(id)).then_some(inner)
}

/// Returns the reading by the first format that matches the whole identifier, if no other format that may have made it reads another
/// user: users choose the names of programs and jobs, and so the format that an identifier seems to have.
fn whole<'a>(formats: impl Iterator<Item = &'a Format>, id: &'a str) -> Option<Identity<'a>> {
    let read: Vec<_> = formats.map(|it| (it, it.identify(id))).collect();
    // A program may be called like a node, but no domain ends in a number, as identifiers of `%e.%u` do.
    let is_program = read
        .iter()
        .any(|(format, whole)| format.ends_with_user() && whole.is_some());
    let may_have_made = |format: &Format, it: &Identity<'_>| {
        format.is_for(it) != Some(false) && !(is_program && format.reads_a_number_as_domain(it, id))
    };
    let whole = read
        .iter()
        .map(|&(format, whole)| (format, whole.filter(|it| may_have_made(format, it))));
    let first = first(
        whole
            .clone()
            .filter_map(|(format, whole)| Some((format, whole?))),
    )?;
    let mut users = whole.filter_map(|(format, whole)| {
        let part = || format.identify_part(id);
        let part = || part().filter(|it| may_have_made(format, it));
        whole.or_else(part)?.uid
    });
    let is_clear = first
        .uid
        .is_none_or(|user| users.all(|other| other == user));
    Some(if is_clear { first } else { Identity::MALFORMED })
}

/// Returns the first reading. If the node was cut off, a format limited to some nodes may come before it; then both must agree.
fn first<'a>(formats: impl Iterator<Item = (&'a Format, Identity<'a>)>) -> Option<Identity<'a>> {
    let mut readings = Vec::new();
    for (format, identity) in formats {
        match format.is_for(&identity) {
            Some(_) if readings.is_empty() => return Some(identity),
            Some(_) => {
                readings.push(identity);
                break;
            }
            None => readings.push(identity),
        }
    }
    let first = *readings.first()?;
    let agree = readings.iter().all(|other| other.says_the_same(&first));
    Some(if agree { first } else { Identity::MALFORMED })
}

/// Returns the reading that includes all others. A reading whose job is text has fewer fields than others.
fn fullest<'a>(readings: impl Iterator<Item = Identity<'a>>) -> Option<Identity<'a>> {
    let readings: Vec<_> = readings.collect();
    let has = |it: Identity<'a>, other| it.in_common(other).says_the_same(&other);
    let mut all = readings.iter().copied();
    all.find(|&it| readings.iter().all(|&other| has(it, other)))
}

impl FromIterator<Format> for Formats {
    fn from_iter<I: IntoIterator<Item = Format>>(formats: I) -> Self {
        Self(formats.into_iter().collect())
    }
}
