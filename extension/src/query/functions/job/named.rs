//! The job that a question names, by its number or as users type it.

use jobstats_core::instant::Micros;
use pgrx::spi::SpiClient;

use crate::pg::error::{Error, shown};
use crate::pg::spi::Statements;
use crate::query::filters::exactly;
use crate::query::functions::job::time::Asked;
use crate::query::jobs::note_arrays;
use crate::query::notice::hinted;

/// The number of schedulers that a notice names.
const LISTED: i64 = 5;

/// A job that a question names.
pub struct Named {
    /// The text that names it.
    pub asked: String,
    /// The number that `job_stats` shows.
    pub number: String,
    /// The start of its last run, if it is named by its label.
    pub started: Option<Micros>,
    /// The scheduler that is asked for.
    pub scheduler: Option<String>,
    /// Set if a scheduler is asked for, and another one has jobs with this number, too.
    pub is_shared: bool,
}

impl Named {
    /// Returns the job with this number or label, of a scheduler or of any. A number that `job_stats` shows goes before a label.
    pub fn find(
        client: &SpiClient<'_>,
        asked: String,
        scheduler: Option<String>,
    ) -> Result<Self, Error> {
        let found = client.query_opt(
            include_str!("numbered.sql"),
            &[
                asked.as_str().into(),
                exactly(&asked).into(),
                scheduler.as_deref().into(),
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
        let is_shared = match scheduler.as_deref() {
            Some(scheduler) => client.query_value(
                "SELECT EXISTS (SELECT FROM jobstats.jobs run WHERE run.job = $1 AND run.scheduler <> $2)",
                &[number.as_str().into(), scheduler.into()],
            )?,
            None => false,
        };
        Ok(Self {
            asked,
            number,
            started,
            scheduler,
            is_shared,
        })
    }

    /// Returns whether a run of a scheduler may be one of this job.
    pub fn is_of(&self, scheduler: Option<&str>) -> bool {
        self.scheduler.is_none() || self.scheduler.as_deref() == scheduler
    }

    /// Raises a notice that the scheduler that is asked for has no such job.
    pub fn note_unknown(&self, client: &SpiClient<'_>, asked: &Asked) -> Result<(), Error> {
        let found = client.query(
            "SELECT DISTINCT run.scheduler FROM jobstats.jobs run WHERE run.job = $1 ORDER BY 1 LIMIT $2",
            &[self.number.as_str().into(), LISTED.into()],
        )?;
        let schedulers: Vec<String> = found.map(|row| row.at(1)).collect::<Result<_, Error>>()?;
        let schedulers: Vec<String> = schedulers.iter().map(|it| shown(it).into_owned()).collect();
        hinted(
            format!(
                "the scheduler {} has no job {}{}",
                shown(self.scheduler.as_deref().unwrap_or_default()),
                shown(&self.asked),
                if asked.is_limited() {
                    " in this window"
                } else {
                    ""
                }
            ),
            match schedulers.is_empty() {
                true => "No accounting has a job with this number.".to_owned(),
                false => format!(
                    "Jobs with this number are known of: {}.",
                    schedulers.join(", ")
                ),
            },
        );
        Ok(())
    }
}
