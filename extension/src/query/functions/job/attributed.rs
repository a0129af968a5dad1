//! Usage without a job that a job has probably caused, or that claims its number under another user. Its rows follow the rows of the job, and do not
//! count in its sums.

use jobstats_core::base::instant::{DAY, Micros};
use jobstats_core::usage::{Measures, Scope, Target};
use pgrx::spi::SpiClient;

use crate::matching::attributed::{Span, spans};
use crate::pg::error::{Error, shown};
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::Rows;
use crate::query::dimension::By;
use crate::query::functions::job::Subject;
use crate::query::functions::job::entries::Entries;
use crate::query::functions::job::named::NamedJob;
use crate::query::functions::job::report::{Grouping, Row};
use crate::query::functions::job::time::Limits;
use crate::query::functions::job::work::Work;
use crate::query::notice::hinted;
use crate::query::sources::Part;
use crate::store::rights::caller::{OWN_FIRST, seen};

/// The prefix of the operations of these rows, which keeps them apart from `write_bytes` of the job.
const ATTRIBUTED: &str = "attributed_";
const CLAIMED: &str = "claimed_";

/// A notice reports that others claim the number of a job if they took at least this share of its service time: one in so many.
const NOTED: i128 = 100;

/// The work of others' or nobody's entries that is shown with a job.
pub struct UsageOfOthers {
    prefix: &'static str,
    spans: Vec<Span>,
    /// The start of the first and the end of the last span.
    since: Micros,
    until: Micros,
}

impl UsageOfOthers {
    /// Finds the usage between two times that a job has probably caused, if any.
    pub fn of_job(
        client: &SpiClient<'_>,
        subject: &Subject,
        given: Limits,
    ) -> Result<Option<Self>, Error> {
        let Some(starts) = subject.accounting.starts() else {
            return Ok(None);
        };
        let job = &subject.job;
        // The jobs with runs that began in this time.
        let jobs = client.query(
            &format!(
                "SELECT i.job_no FROM {} i WHERE i.job = ANY ($3) AND ($6 IS NULL OR i.scheduler = $6) \
                 AND i.started <= $5 AND i.last_started >= $4 AND ($1::bigint[] IS NULL OR i.uid = ANY ($1))",
                seen("job_ids", job.own.as_ref(), OWN_FIRST)
            ),
            &job.runs_between(starts)?,
        )?;
        let since = given.0.map(timestamptz).transpose()?;
        let until = given.1.map(timestamptz).transpose()?;
        let mut found = Vec::new();
        for row in jobs {
            found.extend(spans(client, row.at(1)?, since, until)?);
        }
        Ok(Self::of(ATTRIBUTED, found))
    }

    /// Finds the usage of other users that claims the number of a job while it may run. Returns `None` without such usage, and for restricted
    /// readers.
    pub fn claimed(
        client: &SpiClient<'_>,
        subject: &Subject,
        (since, until): Limits,
    ) -> Result<Option<Self>, Error> {
        let job = &subject.job;
        let near = subject.accounting.near();
        let Some((first, last)) = near.filter(|_| job.own.is_none()) else {
            return Ok(None);
        };
        let since = since.map_or(first, |it| it.max(first));
        let until = until.map_or(last, |it| it.min(last));
        let entries = client.query(
            "SELECT e.entry_id FROM jobstats.entries e WHERE e.claimed = ANY ($1) ORDER BY e.entry_id",
            &values![job.numbers.clone()],
        )?;
        let spans = entries.map(|row| {
            Ok(Span {
                entry: row.at(1)?,
                since,
                until,
            })
        });
        let spans = spans.collect::<Result<_, Error>>()?;
        Ok(Self::of(CLAIMED, spans))
    }

    fn of(prefix: &'static str, spans: Vec<Span>) -> Option<Self> {
        Some(Self {
            prefix,
            since: spans.iter().map(|it| it.since).min()?,
            until: spans.iter().map(|it| it.until).max()?,
            spans,
        })
    }

    fn entries(&self, client: &SpiClient<'_>) -> Result<Entries, Error> {
        Entries::of(client, self.spans.iter().map(|it| it.entry).collect())
    }

    /// Reads its usage, which is of these entries.
    fn read<'w>(&self, entries: &'w Entries, by: &By) -> Result<Work<'w>, Error> {
        // Attributed usage has no rates, so the time of observation does not matter.
        let targets = entries.state.targets.iter().map(|it| Target {
            retired: None,
            ..it.grouped(by.list())
        });
        // Buckets count as a whole.
        let edges = vec![
            self.since.saturating_sub(DAY),
            self.until.saturating_add(DAY),
        ];
        let scope = Scope::new(edges, targets.collect(), None);
        let parts = [Part::of_finest((self.since, self.until))];
        Work::read(
            entries,
            Measures::every(),
            by,
            scope,
            &parts,
            |entry, bucket| {
                let spans = self.spans.iter().filter(|it| it.entry == entry);
                let mut spans = spans.map(|it| (it.since, it.until));
                spans.find(|it| it.0 < bucket && bucket <= it.1)
            },
        )
    }

    /// Returns its service time in microseconds.
    pub fn service_time(&self, client: &SpiClient<'_>) -> Result<i128, Error> {
        let entries = self.entries(client)?;
        let work = self.read(&entries, &By::these(&[]))?;
        Ok(work.total(&["service_time"]))
    }

    /// Writes the rows of all of it, then the rows of each group. Returns its service time.
    pub fn write(
        &self,
        client: &SpiClient<'_>,
        grouping: &Grouping,
        rows: &mut Rows,
    ) -> Result<i128, Error> {
        let entries = self.entries(client)?;
        let work = self.read(&entries, &grouping.by)?;
        for by in grouping.rows() {
            for done in work.done(by, false)? {
                for (measure, amount) in done.used() {
                    let measure = &work.measures.list[*measure];
                    let row = Row {
                        prefix: self.prefix,
                        time: Some(timestamptz(self.since)?),
                        ..Row::of(measure, amount, grouping.named(&done.group))?
                    };
                    row.put(rows);
                }
            }
        }
        Ok(work.total(&["service_time"]))
    }
}

/// Raises a notice if others claim the number of a job with a part of its service time that matters.
pub fn note_claimed(job: &NamedJob, claimed: i128, service_time: i128) {
    if claimed > 0 && NOTED * claimed >= service_time {
        let seconds = |micros: i128| micros as f64 / 1e6;
        hinted(
            format!(
                "other users name job {}: their I/O is left out; it took {:.3} s of server time, the job {:.3} s",
                shown(&job.given),
                seconds(claimed),
                seconds(service_time)
            ),
            "Operations that begin with claimed_ show it. jobstats_totals() by uid for the status claimed shows the users.",
        );
    }
}
