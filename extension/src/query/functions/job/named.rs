//! The job that a question names, by its number or as users type it.

use jobstats_core::instant::Micros;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::time::micros;
use crate::query::filters::exactly;
use crate::query::jobs::note_arrays;

/// A job that a question names.
pub struct Named {
    /// The text that names it.
    pub asked: String,
    /// The number that `job_stats` shows.
    pub number: String,
    /// The start of its last run, if it is named by its label.
    pub started: Option<Micros>,
}

impl Named {
    /// Returns the job with this number or label. A number that `job_stats` shows goes before a label.
    pub fn find(client: &SpiClient<'_>, asked: String) -> Result<Self, Error> {
        let found = client.query_opt(
            include_str!("numbered.sql"),
            &[asked.as_str().into(), exactly(&asked).into()],
        )?;
        let Some(found) = found else {
            return Ok(Self {
                number: asked.clone(),
                asked,
                started: None,
            });
        };
        let number: String = found.get("job")?;
        if found.get("is_array")? {
            note_arrays(std::slice::from_ref(&number));
        }
        let started: Option<TimestampWithTimeZone> = found.get("started")?;
        Ok(Self {
            asked,
            number,
            started: started.map(micros).transpose()?,
        })
    }
}
