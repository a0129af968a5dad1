//! Users, jobs and names of entries and owners.
//!
//! An entry whose identifier names no user has the user of its job. Which job it belongs to is known by day, and so
//! are the names of users. The group of a user is the primary one; groups have the names that they had at the end of the window.

use std::borrow::Cow;
use std::collections::HashMap;

use super::cells::{Hasher, Subject, SubjectKind};
use super::condition::OwnUsage;
use crate::base::instant::Micros;
use crate::usage::dimension::{Dimension, Level, Of};

/// An entry.
#[derive(Debug, Clone, Default)]
pub struct Entry {
    /// The user that its identifier names.
    pub uid: Option<i64>,
    /// The number of the job.
    pub job: Option<String>,
    /// The values of the columns of [`Owners::of_entry`], in this order.
    pub values: Vec<Option<String>>,
}

/// A job that an entry belongs to, or what sums by owner have as columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Job {
    /// The days on which the entry belongs to it: after the first instant, up to the second.
    pub days: (Micros, Micros),
    /// Set if the entry never belonged to another job. It then belongs to this one on any day.
    pub alone: bool,
    /// The key in the store; `None` if the entry was matched with no job.
    pub number: Option<i64>,
    /// The user.
    pub uid: Option<i64>,
    /// The group of the user.
    pub gid: Option<i64>,
    /// The account.
    pub account: Option<String>,
    /// The values of the columns of [`Owners::of_job`], in this order.
    pub values: Vec<Option<String>>,
}

/// A name that a user had.
#[derive(Debug, Clone)]
pub struct User {
    /// The end of the last day on which the user had it; `None` for the name at the end of the window.
    pub until: Option<Micros>,
    /// The name.
    pub name: String,
    /// The primary group.
    pub gid: Option<i64>,
}

/// The entries, jobs, users and groups that are known.
#[derive(Debug, Default)]
pub struct Owners {
    /// The dimensions that are columns of entries.
    pub of_entry: Vec<&'static Dimension>,
    /// The dimensions that are columns of jobs.
    pub of_job: Vec<&'static Dimension>,
    /// The last instant of the window, and the last instants of days, by their number.
    until: Micros,
    days: Vec<Micros>,
    jobs: HashMap<(SubjectKind, i64), Vec<Job>, Hasher>,
    users: HashMap<i64, Vec<User>, Hasher>,
    groups: HashMap<i64, String, Hasher>,
    /// The work that a reader may see, if not all. Accounting of the jobs of others is not shown, and an entry has a job on
    /// its days alone: before accounting began, another's job may have had its number.
    own: Option<OwnUsage>,
}

/// An entry with its job on the days of a subject.
#[derive(Clone, Copy)]
pub(super) struct Owner<'k> {
    owners: &'k Owners,
    entry: &'k Entry,
    pub job: Option<&'k Job>,
    at: Micros,
}

impl Owners {
    /// Starts with the columns that these dimensions need, for a reader of this work, in a window that ends at `until`. `days` has the last
    /// instant of the days of each number.
    pub fn new(
        dimensions: impl Iterator<Item = &'static Dimension>,
        own: Option<&OwnUsage>,
        until: Micros,
        days: Vec<Micros>,
    ) -> Self {
        let mut owners = Self {
            own: own.cloned(),
            until,
            days,
            ..Self::default()
        };
        for it in dimensions {
            let columns = match it.of {
                // Accounts decide what a reader may see, and are always there.
                Of::Account if it.name == "account" => continue,
                Of::Level if it.level == Level::Entry => &mut owners.of_entry,
                Of::User | Of::Group | Of::Job | Of::Account | Of::Array => &mut owners.of_job,
                Of::Level | Of::Uid | Of::Gid => continue,
            };
            if !columns.contains(&it) {
                columns.push(it);
            }
        }
        owners
    }

    /// Adds a job of an entry, or the columns of an owner of sums.
    pub fn add_job(&mut self, kind: SubjectKind, id: i64, job: Job) {
        let is_own = |own: &OwnUsage| own.has(job.uid, job.account.as_deref());
        let job = match self.own.as_ref().is_none_or(is_own) {
            true => job,
            false => Job {
                days: job.days,
                alone: job.alone,
                ..Job::default()
            },
        };
        self.jobs.entry((kind, id)).or_default().push(job);
    }

    /// Adds a name of a user. Names of one user are added in the order of their days.
    pub fn add_user(&mut self, uid: i64, user: User) {
        self.users.entry(uid).or_default().push(user);
    }

    /// Adds the name of a group.
    pub fn add_group(&mut self, gid: i64, name: String) {
        self.groups.insert(gid, name);
    }

    /// Returns an entry with the job that it belongs to on the days of a subject.
    pub(super) fn owner<'k>(&'k self, entry: &'k Entry, subject: Subject) -> Owner<'k> {
        let number = (subject.days as usize).checked_sub(1);
        let day = number.and_then(|it| self.days.get(it));
        let at = day.copied().unwrap_or(Micros::MAX);
        // A job that begins or ends in the window divides it.
        let of_job = at.min(self.until);
        let jobs = self.jobs.get(&(subject.kind, subject.id));
        let jobs = || jobs.into_iter().flatten();
        let on_day = |it: &&Job| it.days.0 < of_job && of_job <= it.days.1;
        let alone = jobs().find(|it| it.alone && self.own.is_none());
        Owner {
            owners: self,
            entry,
            job: alone.or_else(|| jobs().find(on_day)),
            at,
        }
    }

    /// Returns the value of a job of the first dimension that is one of these.
    fn column<'j>(&self, job: &'j Job, is: impl Fn(&Dimension) -> bool) -> Option<&'j str> {
        let place = self.of_job.iter().position(|it| is(it))?;
        job.values.get(place)?.as_deref()
    }
}

impl<'k> Owner<'k> {
    /// Returns the number of the user.
    pub fn uid(self) -> Option<i64> {
        self.entry.uid.or_else(|| self.job?.uid)
    }

    fn user(self) -> Option<&'k User> {
        let names = self.owners.users.get(&self.uid()?)?;
        let on_day = |it: &&User| it.until.is_none_or(|until| self.at <= until);
        names.iter().find(on_day)
    }

    /// Returns the job, if the user is known by it alone.
    fn job_of_user(self) -> Option<&'k Job> {
        self.job.filter(|_| self.entry.uid.is_none())
    }

    fn gid(self) -> Option<i64> {
        let of_user = self.user().and_then(|it| it.gid);
        of_user.or_else(|| self.job_of_user()?.gid)
    }

    fn group(self) -> Option<Cow<'k, str>> {
        let gid = self.gid();
        let named = gid.and_then(|it| self.owners.groups.get(&it));
        // The job's name for its group does not apply to another group of the user.
        let of_job = || {
            let job = self.job_of_user().filter(|it| it.gid == gid)?;
            self.owners.column(job, |it| it.of == Of::Group)
        };
        let name = named.map(String::as_str).or_else(of_job).map(Cow::Borrowed);
        name.or_else(|| number(gid))
    }

    /// Returns the value of a dimension of entries.
    pub fn value(self, dimension: &'static Dimension) -> Option<Cow<'k, str>> {
        let owners = self.owners;
        match dimension.of {
            Of::Level => {
                let place = owners.of_entry.iter().position(|it| *it == dimension)?;
                self.entry.values.get(place)?.as_deref().map(Cow::Borrowed)
            }
            Of::Uid => number(self.uid()),
            Of::Gid => number(self.gid()),
            Of::User => {
                let of_job = || owners.column(self.job_of_user()?, |it| it.of == Of::User);
                let name = self.user().map(|it| it.name.as_str()).or_else(of_job);
                name.map(Cow::Borrowed).or_else(|| number(self.uid()))
            }
            Of::Group => self.group(),
            Of::Account if dimension.name == "account" => {
                self.job?.account.as_deref().map(Cow::Borrowed)
            }
            Of::Job | Of::Account | Of::Array => {
                let column = |job| owners.column(job, |it| it == dimension);
                let number = self.entry.job.as_deref();
                let number = number.filter(|_| dimension.of == Of::Array);
                let value = self.job.and_then(column).or(number);
                value.map(Cow::Borrowed)
            }
        }
    }
}

fn number(number: Option<i64>) -> Option<Cow<'static, str>> {
    number.map(|it| Cow::Owned(it.to_string()))
}
