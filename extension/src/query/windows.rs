//! The totals of groups in several windows, to be compared.

use jobstats_core::usage::Times;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::time::timestamptz;
use crate::query::engine::Request;
use crate::query::groups::{self, Group};
use crate::query::plan::Plan;
use crate::query::question::Question;
use crate::query::window::Window;
use crate::query::without_times;

/// The part of its time for which a day must have been observed to be compared with.
pub const LEAST_COVERAGE: f64 = 0.8;

/// The work of a group in a window.
pub struct Done {
    /// The total in whole calls, bytes or microseconds.
    pub amount: i128,
    /// The sum of the rates of its targets, each per second for which that was observed; `None` if none was.
    pub rate: Option<f64>,
    /// The part of the time of its targets that was observed.
    pub coverage: f64,
}

/// Reads windows of a question, one after the other.
pub struct Windows<'a> {
    pub client: &'a SpiClient<'a>,
    pub question: &'a Question,
    /// Set if a notice says that times are missing.
    lacks_times: bool,
}

impl<'a> Windows<'a> {
    /// Reads windows of this question.
    pub fn new(client: &'a SpiClient<'a>, question: &'a Question) -> Self {
        Self {
            client,
            question,
            lacks_times: false,
        }
    }

    /// Gives `each` the groups in the window of a plan with what they did, if at least this part of it was observed. So many groups are held
    /// already. Returns the part that was observed.
    pub fn read(
        &mut self,
        plan: &Plan,
        least: f64,
        held: usize,
        mut each: impl FnMut(Group, Done) -> Result<(), Error>,
    ) -> Result<f64, Error> {
        let (client, question) = (self.client, self.question);
        let request = Request::new(client, question, plan, None)?;
        let usage = request.read()?;
        let covered = usage.scope.coverage();
        if covered < least {
            return Ok(covered);
        }
        let mut found = 0;
        usage.each(question.has_idle_targets(), |line| {
            // What is not known, or nothing, is no work.
            let Some(amount) = line.total().filter(|it| *it != 0) else {
                return Ok(());
            };
            found += 1;
            groups::require_room(held + found, question.by.list().len())?;
            let done = Done {
                amount,
                rate: line.amounts[0].rate,
                coverage: line.observed.coverage,
            };
            each(usage.values(&line), done)
        })?;
        if question.asks_times() && !self.lacks_times {
            let times = usage.scope.times();
            self.lacks_times = times != Times::Everywhere;
            match times {
                Times::Everywhere => {}
                Times::Somewhere => without_times::note_some(&usage.scope),
                Times::Nowhere => without_times::note_all(),
            }
        }
        Ok(covered)
    }
}

/// Returns the same window on so many days before, in local time, the latest first. On a day whose clocks skip it, there is none, nor
/// before anything was observed.
pub fn days_before(
    client: &SpiClient<'_>,
    window: &Window,
    days: i32,
) -> Result<Vec<Window>, Error> {
    let [since, until] = [window.since(), window.until()].map(timestamptz);
    let days = client.query(
        "SELECT $1 - back AS since, $2 - back AS until \
         FROM generate_series(1, $3) AS day (n), LATERAL (SELECT n * interval '1 day') AS before (back) \
         WHERE $1 - back < $2 - back AND $2 - back > (SELECT min(span.since) FROM jobstats.spans span) \
         ORDER BY n",
        &[since?.into(), until?.into(), days.into()],
    )?;
    days.map(|day| Ok(Window::whole(day.time("since")?, day.time("until")?)))
        .collect()
}
