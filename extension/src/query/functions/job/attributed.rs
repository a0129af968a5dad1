//! The work without a job that a job is likely to have done, or that claims its number and is of another user. Its rows stand beside those of the job, and are in none of its sums.

use jobstats_core::instant::{DAY, Micros};
use jobstats_core::usage::{Scope, Target};
use pgrx::spi::SpiClient;

use crate::matching::attributed::{Span, spans};
use crate::pg::error::{Error, shown};
use crate::pg::spi::Statements;
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::Rows;
use crate::query::dimension::By;
use crate::query::functions::job::accounting::Accounting;
use crate::query::functions::job::entries::Entries;
use crate::query::functions::job::grouping::Grouping;
use crate::query::functions::job::named::Named;
use crate::query::functions::job::row::Row;
use crate::query::functions::job::work::{In, Work};
use crate::query::measure::Measures;
use crate::query::notice::hinted;
use crate::query::sources::Part;
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
        // The jobs of which runs began in this time.
        let jobs = client.query(
            &format!(
                "SELECT i.job_no FROM {} i WHERE i.job = ANY ($1) AND ($4 IS NULL OR i.scheduler = $4) \
                 AND i.started <= $3 AND i.last_started >= $2 AND ($5::bigint[] IS NULL OR i.uid = ANY ($5))",
                seen("job_ids", job.own.as_ref(), ["$5", "$6"])
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

    fn ids(&self) -> Vec<i64> {
        self.spans.iter().map(|span| span.entry).collect()
    }

    /// Returns the start of the first and the end of the last span.
    fn bounds(&self) -> (Micros, Micros) {
        let bounds = self.spans.iter().map(|it| (it.since, it.until));
        let bounds = bounds.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        bounds.unwrap_or_default()
    }

    /// Reads its usage, which is of these entries.
    fn read<'w>(&self, entries: &'w Entries, by: &By) -> Result<Work<'w>, Error> {
        let (since, until) = self.bounds();
        let state = &entries.state;
        // For how long targets were observed says nothing here: what is attributed has no rates.
        let targets = state.targets.iter().map(|it| Target {
            retired: None,
            ..it.grouped(by)
        });
        // Buckets count as a whole.
        let edges = vec![since.saturating_sub(DAY), until.saturating_add(DAY)];
        let scope = Scope::new(edges, targets.collect(), None);
        let work = Work::new(Measures::every(), by, entries, scope, state.limit);
        let part = Part::of_finest((since, until));
        work.read(&[part], &self.ids(), |entry, bucket| {
            let spans = self.spans.iter().filter(|it| it.entry == entry);
            let mut spans = spans.map(|it| (it.since, it.until));
            spans.find(|it| it.0 < bucket && bucket <= it.1)
        })
    }

    /// Returns its service time in microseconds.
    pub fn service_time(&self, client: &SpiClient<'_>) -> Result<i128, Error> {
        let entries = Entries::of(client, &self.ids())?;
        let work = self.read(&entries, &By::these(&[]))?;
        Ok(work.total(&["service_time"]))
    }

    /// Writes its rows: those of all of it, then those of each group. Returns its service time.
    pub fn write(
        &self,
        client: &SpiClient<'_>,
        grouping: &Grouping,
        rows: &mut Rows,
    ) -> Result<i128, Error> {
        let entries = Entries::of(client, &self.ids())?;
        let work = self.read(&entries, &grouping.by)?;
        let (since, _) = self.bounds();
        for of in grouping.told() {
            work.each(of, In::Steps, |done| {
                for (measure, amount) in &done.amounts {
                    if amount.total == Some(0) {
                        continue;
                    }
                    let (name, labels) = grouping.named(&done.group);
                    let row = Row {
                        name,
                        prefix: self.prefix,
                        time: Some(timestamptz(since)?),
                        labels,
                        ..Row::of(&work.measures.list[*measure], amount)?
                    };
                    row.put(rows);
                }
                Ok(())
            })?;
        }
        Ok(work.total(&["service_time"]))
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
