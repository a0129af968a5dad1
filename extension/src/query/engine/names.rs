//! Names entries and owners: by identifiers, jobs and the names of users.

use std::collections::{HashMap, HashSet};

use jobstats_core::base::instant::Micros;
use jobstats_core::usage::dimension::Dimension;
use jobstats_core::usage::{Entry, Groups, Job, Owners, SubjectKind, User};

use crate::pg::error::Error;
use crate::pg::receive::Type::{self, Boolean, Integer, Text, Time};
use crate::pg::receive::{self, Received};
use crate::pg::spi::values;
use crate::pg::template::sql;
use crate::query::engine::Request;
use crate::query::question::AnswerShape;
use crate::query::read::{self, time};

/// The types of the columns of jobs and entries before the columns of dimensions.
const JOB: [Type; 8] = [
    Integer, Time, Time, Boolean, Integer, Integer, Integer, Text,
];
const ENTRY: [Type; 4] = [Integer, Integer, Text, Text];

/// Returns further columns of a table, each with a leading comma, and the types of all of its columns.
fn columns(table: &str, first: &[Type], further: &[&'static Dimension]) -> (String, Vec<Type>) {
    let column = |it: &&Dimension| format!(", {table}.\"{}\"", it.column);
    let types = first
        .iter()
        .copied()
        .chain(further.iter().map(|_| Type::Text));
    (further.iter().map(column).collect(), types.collect())
}

/// Returns the texts of a row after these columns.
fn texts(row: &Received, first: &[Type], further: &[&'static Dimension]) -> Vec<Option<String>> {
    let columns = first.len()..first.len() + further.len();
    columns.map(|it| row.text(it)).collect()
}

impl Request<'_> {
    /// Names the subjects of groups.
    pub(super) fn name(
        &self,
        groups: &mut Groups<'_>,
        mut known: Owners,
        owners: HashMap<Job, i64>,
    ) -> Result<(), Error> {
        let ids = groups.ids(SubjectKind::Entry);
        if self.question.dimensions().any(Dimension::is_name) {
            self.names(&mut known)?;
        }
        if self.plan.jobs.joined && !ids.is_empty() {
            self.jobs(&mut known, &ids)?;
        }
        for (owner, id) in owners {
            known.add_job(SubjectKind::Owner, id, owner);
            groups.put(&known, (SubjectKind::Owner, id), &Entry::default(), None)?;
        }
        match ids.is_empty() {
            true => Ok(()),
            false => self.entries(groups, &known, ids),
        }
    }

    /// Reads the jobs of entries in the window.
    fn jobs(&self, known: &mut Owners, ids: &[i64]) -> Result<(), Error> {
        let (columns, types) = columns("job", &JOB, &known.of_job);
        let few = (ids.len() <= MANY).then(|| ids.to_vec());
        let [since, until] = self.plan.window.bounds()?;
        let arguments = values![few, since, until];
        let statement = sql!("../read/jobs.sql", columns = columns);
        let jobs = read::rows(&statement, &arguments, &types, |row| {
            let id = row.integer(0)?;
            ids.binary_search(&id).ok()?;
            let job = Job {
                days: (time(row, 1)?, time(row, 2)?),
                alone: row.boolean(3),
                number: row.integer(4),
                uid: row.integer(5),
                gid: row.integer(6),
                account: row.text(7),
                values: texts(row, &JOB, &known.of_job),
            };
            Some((id, job))
        })?;
        for (id, job) in jobs {
            known.add_job(SubjectKind::Entry, id, job);
        }
        Ok(())
    }

    /// Reads the identifiers of entries.
    fn entries(&self, groups: &mut Groups<'_>, known: &Owners, ids: Vec<i64>) -> Result<(), Error> {
        let (columns, types) = columns("entry", &ENTRY, &known.of_entry);
        let is_summary = matches!(self.question.wanted, AnswerShape::Summary);
        let mut unknown: HashSet<i64> = ids.iter().copied().collect();
        let statement = sql!("../read/entries.sql", columns = columns);
        receive::each(&statement, &values![ids], &types, &mut |row| {
            let Some(id) = row.integer(0) else {
                return Ok(true);
            };
            unknown.remove(&id);
            let entry = Entry {
                uid: row.integer(1),
                job: row.text(2),
                values: texts(row, &ENTRY, &known.of_entry),
            };
            let node = row.text(3).filter(|_| is_summary);
            groups.put(known, (SubjectKind::Entry, id), &entry, node.as_deref())?;
            Ok(true)
        })?;
        // Usage of an entry that is gone has no user.
        for id in unknown {
            groups.put(known, (SubjectKind::Entry, id), &Entry::default(), None)?;
        }
        Ok(())
    }

    /// Reads the names of users and groups.
    fn names(&self, known: &mut Owners) -> Result<(), Error> {
        let [since, until] = self.plan.window.bounds()?;
        let [users, groups] = self.plan.names.tables("$1", "$2");
        let mut users = read::rows(
            &sql!("../read/users.sql", users = users),
            &values![since, until],
            &[Integer, Text, Integer, Time],
            |row| {
                let user = User {
                    until: time(row, 3),
                    name: row.text(1)?,
                    gid: row.integer(2),
                };
                Some((row.integer(0)?, user))
            },
        )?;
        users.sort_by_key(|it| it.1.until.unwrap_or(Micros::MAX));
        for (uid, user) in users {
            known.add_user(uid, user);
        }
        if self.question.dimensions().any(Dimension::is_group) {
            let groups = read::rows(
                &sql!("../read/groups.sql", groups = groups),
                &values![since, until],
                &[Integer, Text],
                |row| Some((row.integer(0)?, row.text(1)?)),
            )?;
            for (gid, name) in groups {
                known.add_group(gid, name);
            }
        }
        Ok(())
    }
}

/// The number of entries that a statement names one by one when it looks for their jobs.
const MANY: usize = 50_000;
