//! The work without a job that a job is likely to have done, or that claims its number and is of another user. Its rows stand beside those of the job, and are in none of its sums.

use std::collections::BTreeMap;

use jobstats_core::instant::Micros;
use pgrx::spi::SpiClient;
use serde_json::{Map, Value};

use crate::matching::attributed::{Span, spans};
use crate::pg::error::{Error, shown};
use crate::pg::pause::pause;
use crate::pg::spi::Statements;
use crate::pg::template::sql;
use crate::pg::time::{timestamptz, timestamptzs};
use crate::pg::tuplestore::Rows;
use crate::query::functions::job::accounting::Accounting;
use crate::query::functions::job::entries::Entries;
use crate::query::functions::job::grouping::{Group, Grouping};
use crate::query::functions::job::named::Named;
use crate::query::functions::job::row::Row;
use crate::query::functions::job::scope::Scope;
use crate::query::functions::job::work::{Done, Work};
use crate::query::measure::{Measure, Measures};
use crate::query::notice::hinted;
use crate::query::params::{Params, Query};
use crate::store::rights::caller::{own_parameters, seen};

/// The beginnings of the operations of these rows: whoever asks for `write_bytes` of the job does not get them.
const ATTRIBUTED: &str = "attributed_";
const CLAIMED: &str = "claimed_";

/// A notice says that others claim the number of a job if they took at least this part of its service time: one in so many.
const NOTED: i128 = 100;

/// The work of others' or nobody's entries that is shown with a job.
pub struct Attributed {
    prefix: &'static str,
    spans: Vec<Span>,
}

impl Attributed {
    /// Finds the work between the times that are given. Returns `None` if there is none.
    pub fn of_job(
        client: &SpiClient<'_>,
        job: &Named,
        accounting: &Accounting,
        bounds: [Option<Micros>; 2],
    ) -> Result<Option<Self>, Error> {
        let Some((first, last)) = accounting.starts() else {
            return Ok(None);
        };
        let [uids, accounts] = own_parameters(job.own.as_ref());
        let jobs = client.query(
            &sql!(
                "attributed/jobs.sql",
                jobs = seen("job_ids", job.own.as_ref(), ["$5", "$6"])
            ),
            &[
                job.numbers.clone().into(),
                timestamptz(first)?.into(),
                timestamptz(last)?.into(),
                job.scheduler.as_deref().into(),
                uids,
                accounts,
            ],
        )?;
        let [since, until] = bounds.map(|bound| bound.map(timestamptz).transpose());
        let (since, until) = (since?, until?);
        let mut found = Vec::new();
        for row in jobs {
            found.extend(spans(client, row.at(1)?, since, until)?);
        }
        Ok(Self::of(ATTRIBUTED, found))
    }

    fn of(prefix: &'static str, spans: Vec<Span>) -> Option<Self> {
        (!spans.is_empty()).then_some(Self { prefix, spans })
    }

    /// Finds the work of other users that claims the number of a job while it may be at work. Returns `None` if there is none, and for a
    /// reader of their own work, who does not see that of others.
    pub fn claimed(
        client: &SpiClient<'_>,
        job: &Named,
        accounting: &Accounting,
        [since, until]: [Option<Micros>; 2],
    ) -> Result<Option<Self>, Error> {
        let Some((first, last)) = accounting.near().filter(|_| job.own.is_none()) else {
            return Ok(None);
        };
        let (since, until) = (
            since.map_or(first, |it| it.max(first)),
            until.map_or(last, |it| it.min(last)),
        );
        let entries = client.query(
            "SELECT e.entry_id FROM jobstats.entries e WHERE e.claimed = ANY ($1) ORDER BY e.entry_id",
            &[job.numbers.clone().into()],
        )?;
        let span = |entry| Span {
            entry,
            since,
            until,
        };
        let spans = entries.map(|row| Ok(span(row.at(1)?)));
        let spans = spans.collect::<Result<_, Error>>()?;
        Ok(Self::of(CLAIMED, spans))
    }

    /// Reads its usage.
    fn read(
        &self,
        client: &SpiClient<'_>,
        grouping: &Grouping,
    ) -> Result<(Entries, Scope, Measures, Work), Error> {
        let ids: Vec<i64> = self.spans.iter().map(|span| span.entry).collect();
        let entries = Entries::of(client, &ids)?;
        let targets = client.query(include_str!("attributed/targets.sql"), &[])?;
        let scope = Scope::read(targets, 1, grouping)?;
        let measures = Measures::every()?;
        let mut work = Work::new(&measures, grouping.by_node);
        let usage = self.usage(&work)?;
        work.add_rows(client, &usage, &entries, &scope)?;
        Ok((entries, scope, measures, work))
    }

    /// Returns its service time in microseconds.
    pub fn service_time(&self, client: &SpiClient<'_>) -> Result<i128, Error> {
        let (_, _, measures, work) = self.read(client, &Grouping::default())?;
        Ok(work.total(&measures, &["service_time"]))
    }

    /// Writes its rows: those of all of it, then those of each group. Returns its service time.
    pub fn write(
        &self,
        client: &SpiClient<'_>,
        grouping: &Grouping,
        rows: &mut Rows,
    ) -> Result<i128, Error> {
        let (entries, scope, measures, work) = self.read(client, grouping)?;
        for ((group, measure), done) in sums(&work, &scope, grouping) {
            pause();
            let node = group.node.and_then(|node| entries.node_name(node));
            let named = grouping.named(group, &scope.names(group), node);
            self.write_row(named, &measures.list[measure], &done, rows)?;
        }
        Ok(work.total(&measures, &["service_time"]))
    }

    /// Returns the statement for its rows in the rollup, in the form that [`Work`] reads.
    fn usage(&self, work: &Work) -> Result<Query, Error> {
        let params = Params::default();
        let spans = self.spans.iter();
        let since = timestamptzs(spans.clone().map(|span| &span.since))?;
        let until = timestamptzs(spans.clone().map(|span| &span.until))?;
        let value = |column: &str| format!(", usage.{column}");
        let columns = work.columns();
        let values: String = columns.iter().map(|sum| sum.over(value)).collect();
        let statement = sql!(
            "attributed/usage.sql",
            values = values,
            entries = params.bind("entries", || {
                spans.map(|span| span.entry).collect::<Vec<_>>()
            }),
            since = params.bind("since", || since),
            until = params.bind("until", || until),
        );
        Ok(Query::new(statement, &params))
    }

    fn write_row(
        &self,
        (name, labels): (String, Map<String, Value>),
        measure: &Measure,
        done: &Done,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let since = self.spans.iter().map(|it| it.since).min();
        let row = Row {
            name,
            prefix: self.prefix,
            time: Some(timestamptz(since.unwrap_or(done.first))?),
            labels,
            ..Row::of(measure, done)?
        };
        row.put(rows);
        Ok(())
    }
}

/// Raises a notice if others claim the number of a job with a part of its service time that matters.
pub fn note_claimed(job: &Named, claimed: i128, service_time: i128) {
    if claimed > 0 && NOTED * claimed >= service_time {
        let seconds = |micros: i128| micros as f64 / 1e6;
        hinted(
            format!(
                "other users name job {}: their work, which is left out, took {:.3} s of servers' time, and that of the job {:.3} s",
                shown(&job.asked),
                seconds(claimed),
                seconds(service_time)
            ),
            "The rows whose operations begin with claimed_ show it. jobstats_totals() by uid for the status claimed says whose it is.",
        );
    }
}

/// Adds up the work of each group by measure, in the order of the rows.
fn sums(work: &Work, scope: &Scope, grouping: &Grouping) -> BTreeMap<(Group, usize), Done> {
    let mut sums = BTreeMap::<(Group, usize), Done>::new();
    for (place, done) in work.done() {
        pause();
        let groups = scope.groups(place, grouping.by_node);
        for (measure, done) in done {
            for group in groups.into_iter().flatten() {
                let sum = sums.entry((group, measure));
                sum.and_modify(|sum| sum.add(done))
                    .or_insert_with(|| done.clone());
            }
        }
    }
    sums.retain(|_, sum| sum.total != 0);
    sums
}
