//! The job that a question names, by its number or as users type it.

use jobstats_core::base::instant::{Micros, Span};
use jobstats_core::base::pattern::exactly;
use jobstats_core::usage::filter::meant;
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;
use serde_json::{Value, json};

use crate::pg::error::{Error, shown};
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;
use crate::query::explain_empty;
use crate::query::filters::{Filters, meaning};
use crate::query::functions::job::time::RequestedTime;
use crate::query::jobs::note_arrays;
use crate::query::notice::{NAMED, hinted};
use crate::store::rights::caller::{OWN_FIRST, OwnUsage, after_own, seen, seen_entries};

/// The largest number of elements of an array that an answer is about. The oldest ones are left out.
const ELEMENTS_MAX: i64 = 10_000;

/// The largest number of elements that the labels of an array name one by one.
const NAMED_ELEMENTS: usize = 100;

/// A job that a question names.
pub struct NamedJob {
    /// The text that names it.
    pub given: String,
    /// The number of the job in `job_stats`, or of the array.
    pub number: String,
    /// The numbers in `job_stats`: this number, or the numbers of all elements of the array.
    pub numbers: Vec<String>,
    /// The start of its last run, if it is named by its label.
    pub started: Option<Micros>,
    /// The requested scheduler.
    pub scheduler: Option<String>,
    /// If a scheduler is requested, all schedulers with jobs of these numbers.
    schedulers: Vec<String>,
    /// Set if a scheduler is requested, and another scheduler has jobs with this number, too.
    pub is_shared: bool,
    /// The work that the reader may see; `None`: all.
    pub own: Option<OwnUsage>,
}

impl NamedJob {
    /// Returns the job with this number or label, of a scheduler or of any. A number that `job_stats` shows goes before a label, and the
    /// array before its element with the same number.
    pub fn find(
        client: &SpiClient<'_>,
        given: String,
        scheduler: Option<String>,
        own: Option<&OwnUsage>,
    ) -> Result<Self, Error> {
        // A step of a job, or the label of Flux where a terminal has no ƒ.
        let meant = meant("job", &given);
        let meant = meant.map(|it| meaning(client, own, "job", &given, &it));
        let given = meant.transpose()?.flatten().unwrap_or(given);
        let found = client.query_opt(
            &sql!(
                "numbered.sql",
                jobs = seen("jobs", own, OWN_FIRST),
                entries = seen_entries(own, OWN_FIRST),
            ),
            &after_own(own, values![given.as_str(), scheduler.as_deref()]),
        )?;
        let mut job = Self {
            number: given.clone(),
            numbers: Vec::new(),
            started: None,
            schedulers: Vec::new(),
            is_shared: false,
            own: own.cloned(),
            given,
            scheduler,
        };
        if let Some(found) = found {
            job.number = found.get("job")?;
            if found.get("is_array")? {
                note_arrays(std::slice::from_ref(&job.number));
            }
            job.started = found.time_opt("started")?;
        }
        job.numbers = match job.number == job.given {
            true => job.elements(client)?,
            false => vec![job.number.clone()],
        };
        if job.scheduler.is_some() {
            job.find_schedulers(client)?;
        }
        Ok(job)
    }

    /// Finds the schedulers with jobs of its numbers. A scheduler whose jobs were all revoked before they started does not share them.
    fn find_schedulers(&mut self, client: &SpiClient<'_>) -> Result<(), Error> {
        let own = self.own.as_ref();
        let statement = format!(
            "SELECT run.scheduler, bool_or((run.started IS NOT NULL OR run.state <> 'REVOKED') IS NOT FALSE) \
             FROM {} run WHERE run.job = ANY ($3) GROUP BY run.scheduler ORDER BY run.scheduler",
            seen("jobs", own, OWN_FIRST)
        );
        for row in client.query(&statement, &after_own(own, values![self.numbers.clone()]))? {
            let scheduler: String = row.at(1)?;
            self.is_shared |= row.at(2)? && self.scheduler.as_ref() != Some(&scheduler);
            self.schedulers.push(scheduler);
        }
        Ok(())
    }

    /// Returns the numbers of all elements of an array, or of a single job. Raises a notice for an array.
    fn elements(&self, client: &SpiClient<'_>) -> Result<Vec<String>, Error> {
        let (number, own) = (&self.number, self.own.as_ref());
        let statement = sql!("elements.sql", jobs = seen("jobs", own, OWN_FIRST));
        let further = values![
            number.as_str(),
            number.trim_end_matches("[]"),
            self.scheduler.as_deref(),
            ELEMENTS_MAX
        ];
        let row = client.query_only(&statement, &after_own(own, further), "elements")?;
        let mut numbers: Vec<String> = row.get("numbers")?;
        let label: Option<String> = row.get("label")?;
        if let Some(label) = label.filter(|_| numbers.len() > 1) {
            hinted(
                format!(
                    "{} is an array: the answer covers all of its elements (jobs: {})",
                    shown(number),
                    numbers.len()
                ),
                format!(
                    "To select one, name it as users type it: {}.",
                    shown(&label)
                ),
            );
        }
        if !numbers.contains(number) {
            numbers.push(number.clone());
        }
        Ok(numbers)
    }

    /// Returns the parameters of a statement about its runs that began between two times: after the reader's parameters the numbers, these times and
    /// the scheduler.
    pub fn runs_between(&self, (first, last): Span) -> Result<Vec<DatumWithOid<'_>>, Error> {
        let further = values![
            self.numbers.clone(),
            timestamptz(first)?,
            timestamptz(last)?,
            self.scheduler.as_deref()
        ];
        Ok(after_own(self.own.as_ref(), further))
    }

    /// Adds a filter for this job alone. Patterns for all elements of an array would be too many: its entries are listed one by one, and the filter
    /// only makes the question one about entries instead of sums by owner.
    pub fn filter(&self, mut filters: Filters) -> Filters {
        filters.own = self.own.clone();
        match self.numbers.as_slice() {
            [number] => filters.only("job", number),
            // A star alone would be no filter.
            _ => filters.any_of("entry", Some(vec!["**".to_owned()])),
        }
    }

    /// Returns the labels of the job: a filter for it, or for all elements of an array.
    pub fn labels(&self) -> Value {
        match self.numbers.as_slice() {
            [number] => json!({ "job": exactly(number) }),
            numbers if numbers.len() <= NAMED_ELEMENTS => {
                let numbers: Vec<String> = numbers.iter().map(|it| exactly(it)).collect();
                json!({ "job": numbers })
            }
            _ => json!({ "job_group": exactly(&self.number) }),
        }
    }

    /// Raises a notice that the job is unknown. A restricted reader gets no details.
    pub fn note_nothing(&self, client: &SpiClient<'_>, filters: Filters) -> Result<(), Error> {
        if self.own.is_none() {
            explain_empty::explain_filters(client, &self.filter(filters))?;
        } else {
            hinted(
                format!("job {} is unknown or not yours", shown(&self.given)),
                "SELECT * FROM jobstats_summary(); lists the jobs of a day.",
            );
        }
        Ok(())
    }

    /// Raises a notice that the requested scheduler has no such job.
    pub fn note_unknown(&self, given: &RequestedTime) {
        let scheduler = shown(self.scheduler.as_deref().unwrap_or_default());
        let (job, then) = (shown(&self.given), given.in_this_window());
        let known = self.schedulers.iter().take(NAMED).map(|it| shown(it));
        let known = known.collect::<Vec<_>>().join(", ");
        let hint = match self.schedulers.is_empty() {
            true => "Accounting has no job with this number.".to_owned(),
            false => format!("Schedulers with this number: {known}."),
        };
        hinted(
            format!("the scheduler {scheduler} has no job {job}{then}"),
            hint,
        );
    }

    /// Raises a notice if several schedulers use the number, and identifiers with it were matched with no job. A restricted reader gets no notice
    /// about others.
    pub fn note_unmatched(&self, client: &SpiClient<'_>) -> Result<(), Error> {
        if !self.is_shared || self.own.is_some() {
            return Ok(());
        }
        let unmatched: i64 = client.query_value(
            "SELECT count(*) FROM jobstats.entries e WHERE e.job = ANY ($1) \
             AND NOT EXISTS (SELECT FROM jobstats.entry_jobs m WHERE m.entry_id = e.entry_id AND m.job_no IS NOT NULL)",
            &values![self.numbers.clone()],
        )?;
        if unmatched > 0 {
            hinted(
                format!(
                    "I/O with the number {} that matches no job is left out (identifiers: {unmatched})",
                    shown(&self.number)
                ),
                "Maintenance matches new identifiers; jobstats.job_quality shows why others match no job.",
            );
        }
        Ok(())
    }
}
