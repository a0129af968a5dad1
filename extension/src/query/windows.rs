//! The totals of groups in several windows, to be compared.

use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{Statements, connect};
use crate::pg::statement::Plan as Prepared;
use crate::pg::time::timestamptz;
use crate::pg::tuples::{BOOLEANS, FLOATS, TEXTS, Tuples};
use crate::query::entries::few;
use crate::query::groups::{self, Group};
use crate::query::plan::Plan;
use crate::query::question::Question;
use crate::query::statement::Statement;
use crate::query::window::Window;
use crate::query::without_times;

/// The part of its time for which a day must have been observed to be compared with.
pub const LEAST_COVERAGE: f64 = 0.8;

/// The positions of the part of the window that was observed of all targets in scope, of the rate, and of the part that was observed of
/// the targets of the group.
const COVERED: usize = 3;
const RATE: usize = 4;
const COVERAGE: usize = 5;

/// The position of the first dimension in a row of a group.
const FIRST_VALUE: usize = COVERAGE + 1;

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
    /// The statement of the last window, and its plan if there was another window before with the same one.
    last: Option<(String, Option<Prepared>)>,
}

impl<'a> Windows<'a> {
    /// Reads windows of this question.
    pub fn new(client: &'a SpiClient<'a>, question: &'a Question) -> Self {
        Self {
            client,
            question,
            lacks_times: false,
            last: None,
        }
    }

    /// Gives `each` the groups in the window of a plan with what they did, if at least this part of it was observed. So many groups are held
    /// already. Returns the part that was observed.
    pub fn read(
        &mut self,
        plan: &Plan,
        least: f64,
        held: usize,
        each: impl FnMut(Group, Done) -> Result<(), Error>,
    ) -> Result<f64, Error> {
        let (client, question) = (self.client, self.question);
        let statement = Statement::new(question, plan, few(client, plan, &question.filters)?);
        let query = statement.with_coverage();
        let values = groups::texts(&question.by, "answer.");
        // Times are microseconds in the store. An amount that is not known is none.
        let unit = if question.asks_times() {
            " * 1000000"
        } else {
            ""
        };
        let seconds = (plan.window.until() - plan.window.since()) as f64 / 1e6;
        let sql = format!(
            "SELECT CASE WHEN answer.total_0 <> 0 THEN trunc(answer.total_0{unit})::text END AS amount, answer.timed, answer.all_timed, answer.covered, \
             answer.rate_0 AS rate, answer.observed / (answer.targets * {seconds}::double precision - answer.idle) AS coverage{values} \
             FROM ({}) answer",
            query.sql
        );
        // What is read stays in memory as long as its connection.
        let (covered, all_timed) = connect(|client| {
            let found = self.found(client, sql, &query.params)?;
            take(found, least, held, each)
        })?;
        if covered >= least && question.asks_times() && !self.lacks_times {
            self.lacks_times = match all_timed {
                Some(all_timed) => !all_timed,
                None => without_times::has_calls(client, &statement)?,
            };
            match all_timed {
                _ if !self.lacks_times => {}
                Some(_) => without_times::note_some(client, &statement)?,
                None => without_times::note_all(),
            }
        }
        Ok(covered)
    }

    /// Runs the statement of a window. If it is that of the last one, which it nearly always is, it is planned for all that follow: to plan
    /// it takes as long as to run it.
    fn found<'c>(
        &mut self,
        client: &'c SpiClient<'_>,
        sql: String,
        params: &[DatumWithOid<'_>],
    ) -> Result<Tuples<'c>, Error> {
        match &mut self.last {
            Some((last, prepared)) if *last == sql => {
                let prepared = match prepared {
                    Some(known) => known,
                    None => prepared.insert(Prepared::new(&sql, params, 0)?),
                };
                Tuples::query(client, &*prepared, params)
            }
            last => {
                let (sql, _) = last.insert((sql, None));
                Tuples::query(client, sql.as_str(), params)
            }
        }
    }
}

/// Takes the groups of a window, if at least this part of it was observed. Returns that part, and whether all targets report times, if
/// there is any group.
fn take(
    mut found: Tuples<'_>,
    least: f64,
    held: usize,
    mut each: impl FnMut(Group, Done) -> Result<(), Error>,
) -> Result<(f64, Option<bool>), Error> {
    let columns = found.columns().len();
    groups::require_room(held + found.len(), columns - FIRST_VALUE)?;
    for column in 0..columns {
        found.require(
            column,
            match column {
                1 | 2 => &BOOLEANS,
                COVERED | RATE | COVERAGE => &FLOATS,
                _ => &TEXTS,
            },
        )?;
    }
    let (mut covered, mut all_timed) = (0.0, None);
    for row in 0..found.len() {
        pause();
        found.read(row);
        covered = found.float(COVERED).unwrap_or_default();
        if covered < least {
            break;
        }
        // What is not known, or nothing, is no work.
        let Some(amount) = found.text(0) else {
            continue;
        };
        let amount: i128 = amount
            .parse()
            .map_err(|_| Error::Damaged("a total is no number".to_owned()))?;
        all_timed = found
            .boolean(1)
            .zip(found.boolean(2))
            .map(|(any, all)| any && all);
        let done = Done {
            amount,
            rate: found.float(RATE),
            coverage: found.float(COVERAGE).unwrap_or_default(),
        };
        each(groups::read(&found, FIRST_VALUE), done)?;
    }
    Ok((covered, all_timed))
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
         WHERE $1 - back < $2 - back AND $2 - back > ( \
             SELECT least(min(ends.since), (SELECT min(stored.since) FROM jobstats.observed stored)) FROM jobstats.observation_ends ends) \
         ORDER BY n",
        &[since?.into(), until?.into(), days.into()],
    )?;
    days.map(|day| Ok(Window::whole(day.time("since")?, day.time("until")?)))
        .collect()
}
