//! The job that a question names, by its number or as users type it.

use jobstats_core::filter::meant;
use jobstats_core::instant::Micros;
use jobstats_core::pattern::exactly;
use pgrx::spi::SpiClient;
use serde_json::{Value, json};

use crate::pg::error::{Error, shown};
use crate::pg::spi::Statements;
use crate::pg::template::sql;
use crate::query::filters::{Filters, meaning};
use crate::query::functions::job::time::Asked;
use crate::query::jobs::note_arrays;
use crate::query::notice::hinted;
use crate::query::unknown;
use crate::store::rights::caller::{Own, own_parameters, seen, seen_entries};

/// The number of schedulers that a notice names.
const LISTED: i64 = 5;

/// The largest number of elements of an array that an answer is about. The oldest ones are left out.
const ELEMENTS_MAX: i64 = 10_000;

/// The largest number of elements that the labels of an array name one by one.
const NAMED_ELEMENTS: usize = 100;

/// A job that a question names.
pub struct Named {
    /// The text that names it.
    pub asked: String,
    /// The number that `job_stats` shows, or that of the array.
    pub number: String,
    /// The numbers that `job_stats` shows: this one, or those of all elements of the array.
    pub numbers: Vec<String>,
    /// The start of its last run, if it is named by its label.
    pub started: Option<Micros>,
    /// The scheduler that is asked for.
    pub scheduler: Option<String>,
    /// Set if a scheduler is asked for, and another one has jobs with this number, too.
    pub is_shared: bool,
    /// The work that the reader may see; `None`: all.
    pub own: Option<Own>,
}

impl Named {
    /// Returns the job with this number or label, of a scheduler or of any. A number that `job_stats` shows goes before a label, and the
    /// array before its element with the same number.
    pub fn find(
        client: &SpiClient<'_>,
        asked: String,
        scheduler: Option<String>,
        own: Option<&Own>,
    ) -> Result<Self, Error> {
        // A step of a job, or the label of Flux where a terminal has no ƒ.
        let meant = meant("job", &asked);
        let meant = meant.map(|it| meaning(client, own, "job", &asked, &it));
        let asked = meant.transpose()?.flatten().unwrap_or(asked);
        let [uids, accounts] = own_parameters(own);
        let found = client.query_opt(
            &sql!(
                "numbered.sql",
                jobs = seen("jobs", own, ["$3", "$4"]),
                entries = seen_entries(own, ["$3", "$4"]),
            ),
            &[
                asked.as_str().into(),
                scheduler.as_deref().into(),
                uids,
                accounts,
            ],
        )?;
        let (mut number, mut started) = (asked.clone(), None);
        if let Some(found) = found {
            number = found.get("job")?;
            if found.get("is_array")? {
                note_arrays(std::slice::from_ref(&number));
            }
            started = found.time_opt("started")?;
        }
        let numbers = match number == asked {
            true => elements(client, &number, scheduler.as_deref(), own)?,
            false => vec![number.clone()],
        };
        let [uids, accounts] = own_parameters(own);
        let is_shared = match scheduler.as_deref() {
            Some(scheduler) => client.query_value(
                &format!(
                    "SELECT EXISTS (SELECT FROM {} run WHERE run.job = ANY ($1) AND run.scheduler <> $2 \
                        AND (run.started IS NOT NULL OR run.state <> 'REVOKED') IS NOT FALSE)",
                    seen("jobs", own, ["$3", "$4"])
                ),
                &[numbers.clone().into(), scheduler.into(), uids, accounts],
            )?,
            None => false,
        };
        Ok(Self {
            asked,
            number,
            numbers,
            started,
            scheduler,
            is_shared,
            own: own.cloned(),
        })
    }

    /// Returns the filters with one that lets through this job alone. Patterns for all elements of an array would be too many: its entries
    /// are named one by one, and the filter says no more than that entries are asked for, not sums by owner.
    pub fn filter(&self, mut filters: Filters) -> Filters {
        filters.own = self.own.clone();
        match self.numbers.as_slice() {
            [number] => filters.only("job", number),
            // A star alone would be no filter.
            _ => filters.any_of("entry", Some(vec![Some("**".to_owned())])),
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

    /// Returns whether a run of a scheduler may be one of this job.
    pub fn is_of(&self, scheduler: Option<&str>) -> bool {
        self.scheduler.is_none() || self.scheduler.as_deref() == scheduler
    }

    /// Raises a notice that nothing is known of it. A reader of their own work is told no more.
    pub fn note_nothing(&self, client: &SpiClient<'_>, filters: &Filters) -> Result<(), Error> {
        if self.own.is_none() {
            unknown::explain(client, filters)?;
        } else {
            hinted(
                format!("no job {} of yours is known", shown(&self.asked)),
                "SELECT * FROM jobstats_summary(); lists the jobs of a day.",
            );
        }
        Ok(())
    }

    /// Raises a notice that the scheduler that is asked for has no such job.
    pub fn note_unknown(&self, client: &SpiClient<'_>, asked: &Asked) -> Result<(), Error> {
        let [uids, accounts] = own_parameters(self.own.as_ref());
        let found = client.query(
            &format!(
                "SELECT DISTINCT run.scheduler FROM {} run WHERE run.job = ANY ($1) ORDER BY 1 LIMIT $2",
                seen("jobs", self.own.as_ref(), ["$3", "$4"])
            ),
            &[self.numbers.clone().into(), LISTED.into(), uids, accounts],
        )?;
        let schedulers = found.map(|row| Ok(shown(&row.at::<String>(1)?).into_owned()));
        let schedulers: Vec<String> = schedulers.collect::<Result<_, Error>>()?;
        let (scheduler, job) = (self.scheduler.as_deref().unwrap_or_default(), &self.asked);
        let (scheduler, job) = (shown(scheduler), shown(job));
        let limited = asked.is_limited().then_some(" in this window");
        let then = limited.unwrap_or_default();
        let known = schedulers.join(", ");
        let hint = match schedulers.is_empty() {
            true => "No accounting has a job with this number.".to_owned(),
            false => format!("Jobs with this number are known of: {known}."),
        };
        hinted(
            format!("the scheduler {scheduler} has no job {job}{then}"),
            hint,
        );
        Ok(())
    }
}

/// Returns the numbers of all elements of an array, or that of a job that is none. Raises a notice if it is an array.
fn elements(
    client: &SpiClient<'_>,
    number: &str,
    scheduler: Option<&str>,
    own: Option<&Own>,
) -> Result<Vec<String>, Error> {
    let [uids, accounts] = own_parameters(own);
    let parameters = [
        number.into(),
        number.trim_end_matches("[]").into(),
        scheduler.into(),
        ELEMENTS_MAX.into(),
        uids,
        accounts,
    ];
    let statement = sql!("elements.sql", jobs = seen("jobs", own, ["$5", "$6"]));
    let row = client.query_only(&statement, &parameters, "elements")?;
    let (mut numbers, label): (Vec<String>, Option<String>) =
        (row.get("numbers")?, row.get("label")?);
    if let Some(label) = label.filter(|_| numbers.len() > 1) {
        hinted(
            format!(
                "{} is an array: the answer is about all of its elements (jobs: {})",
                shown(number),
                numbers.len()
            ),
            format!("Name one of them as users type it: {}.", shown(&label)),
        );
    }
    if !numbers.iter().any(|it| it == number) {
        numbers.push(number.to_owned());
    }
    Ok(numbers)
}
