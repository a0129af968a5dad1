//! The last jobs of users, each with its worst finding.

use std::collections::BTreeMap;

use jobstats_client::answers::{Dimension, Filters, FindingRow, Findings, Jobs, JobsRow, Window};
use jobstats_core::base::pattern::exactly;
use serde_json::{Value as Json, json};

use super::job::run_time;
use super::json::{VERSION, exact_number, finding, moment};
use super::questions::only;
use crate::ask::store::{Error, Store};
use crate::show::document::Statements;
use crate::show::json::escaped;
use crate::values::when::Span;

/// The default and the largest number of jobs.
pub const DEFAULT: u16 = 20;
pub const MOST: u16 = 1000;

/// The selected jobs.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// A user by name or number; by default the users of a limited reader, or all.
    pub user: Option<String>,
    pub account: Option<String>,
    /// The number of jobs.
    pub n: u16,
}

/// The last jobs of a window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobList {
    pub window: Span,
    /// The jobs, newest first.
    pub rows: Vec<ListedJob>,
    pub notes: Vec<String>,
    pub statements: Statements,
}

/// A job of the list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListedJob {
    pub job: JobsRow,
    /// The worst finding.
    pub finding: Option<FindingRow>,
}

/// Loads the last jobs of a window.
pub fn ask(store: &mut Store, wanted: &Wanted, window: Span) -> Result<JobList, Error> {
    let filters = filters(wanted, store.own());
    let jobs = store.ask(&Jobs {
        window: Window::new(window.0, window.1),
        n: Some(wanted.n.into()),
        filter: filters.clone(),
    })?;
    let mut list = JobList {
        window,
        notes: jobs.notes,
        statements: vec![("Jobs".to_owned(), jobs.statement)],
        ..JobList::default()
    };
    let mut findings = findings(store, &jobs.rows, filters, &mut list)?;
    let rows = jobs.rows.into_iter().map(|job| ListedJob {
        finding: findings.remove(&job.labels.job),
        job,
    });
    list.rows = rows.collect();
    Ok(list)
}

fn filters(wanted: &Wanted, own: Option<&[i64]>) -> Filters {
    let mut filters = Filters {
        account: wanted.account.clone().map(|it| vec![it]),
        ..Filters::default()
    };
    match (&wanted.user, own) {
        (Some(user), _) => match user.parse() {
            Ok(uid) => filters.uid = Some(vec![uid]),
            Err(_) => filters.user = only(user),
        },
        // Jobs of others in an account that the reader manages are listed by its name.
        (None, Some(own)) if wanted.account.is_none() && !own.is_empty() => {
            filters.uid = Some(own.to_vec());
        }
        _ => {}
    }
    filters
}

/// Loads the worst finding of each job by its number. A number that several of the jobs have has none, since their usage adds up.
fn findings(
    store: &mut Store,
    jobs: &[JobsRow],
    filters: Filters,
    list: &mut JobList,
) -> Result<BTreeMap<Option<String>, FindingRow>, Error> {
    let numbers = jobs.iter().filter_map(|job| job.labels.job.as_ref());
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable();
    let jobs_of_number = numbers.chunk_by(|one, next| one == next);
    let single = jobs_of_number.filter(|it| it.len() == 1);
    let names: Vec<_> = single.map(|it| exactly(it[0])).collect();
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let ends: Option<Vec<_>> = jobs.iter().map(|job| job.ended).collect();
    let found = store.ask(&Findings {
        window: Window {
            since: jobs.iter().filter_map(|job| job.started).min(),
            until: ends.and_then(|ends| ends.into_iter().max()),
        },
        by: Some(Dimension::Job.name().to_owned()),
        levels: None,
        filter: Filters {
            job: Some(names),
            ..filters
        },
    })?;
    list.statements
        .push(("Findings".to_owned(), found.statement));
    // The worst finding of a job comes first, and replaces the others.
    let rows = found.rows.into_iter().rev();
    Ok(rows.map(|row| (row.labels.job.clone(), row)).collect())
}

/// Returns a document of one line.
pub fn document(list: &JobList) -> String {
    let rows = list.rows.iter().map(|row| {
        let job = &row.job;
        json!({
            "job": job.job,
            "job_name": job.job_name,
            "user": job.user_name,
            "account": job.account,
            "state": job.state,
            "started": job.started.map(moment),
            "ended": job.ended.map(moment),
            "run_time": run_time(job),
            "nodes": job.nodes,
            "read_bytes": job.read_bytes.map(exact_number),
            "write_bytes": job.write_bytes.map(exact_number),
            "metadata": job.metadata.map(exact_number),
            "service_time": job.service_time.map(exact_number),
            "finding": row.finding.as_ref().map(finding),
        })
    });
    let document = json!({
        "version": VERSION,
        "kind": "jobs",
        "since": moment(list.window.0),
        "until": moment(list.window.1),
        "jobs": rows.collect::<Vec<Json>>(),
        "notes": list.notes,
    });
    escaped(&document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limited_reader_gets_own_jobs() {
        let user = |name: &str| Wanted {
            user: Some(name.to_owned()),
            ..Wanted::default()
        };
        let account = Wanted {
            account: Some("physics".to_owned()),
            ..Wanted::default()
        };
        let own = Some(&[1000][..]);
        let uid = |wanted, own| filters(&wanted, own).uid;
        assert_eq!(uid(Wanted::default(), own), Some(vec![1000]));
        assert_eq!(uid(Wanted::default(), Some(&[])), None);
        assert_eq!(uid(Wanted::default(), None), None);
        assert_eq!(uid(account, own), None);
        assert_eq!(uid(user("1001"), own), Some(vec![1001]));
        let named = filters(&user("ada"), None);
        assert_eq!(
            (named.user, named.uid),
            (Some(vec!["ada".to_owned()]), None)
        );
    }
}
