//! Says in a notice why an answer is empty, if the reason can be found.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::template::sql;
use crate::pg::time::{micros, window};
use crate::query::dimension::Level;
use crate::query::filters::Filters;
use crate::query::notice::hinted;
use crate::query::params::Params;
use crate::query::question::{Period, Question};
use crate::query::unknown;
use crate::query::window::Window;

/// Raises a notice if the answer about this window is empty because nothing was ever fed, a filter matches nothing that is
/// known, or no target in scope was observed. If one was observed lately, the window itself says which are behind: a question
/// about now must not search all that is stored for targets that are gone.
pub fn explain_window(
    client: &SpiClient<'_>,
    window: &Window,
    question: &Question,
) -> Result<(), Error> {
    if window.observed_lately {
        unknown::explain(client, &question.filters)?;
        return Ok(());
    }
    explain(client, &question.period, &question.filters)
}

/// Raises such a notice for the window that is asked for, whatever has been observed lately.
pub fn explain(client: &SpiClient<'_>, period: &Period, filters: &Filters) -> Result<(), Error> {
    if unknown::explain(client, filters)? {
        return Ok(());
    }
    let (since, until) = window(period.since, period.until)?;
    let Some((first, last)) = observed(client, filters)? else {
        return Ok(());
    };
    let edges = (micros(first)?, micros(last)?);
    if edges.0 == edges.1 {
        hinted(
            "no target in scope was observed twice",
            format!("Rates begin with the second text of a target. The first one is of {first}."),
        );
    } else if until <= edges.0 || since >= edges.1 {
        hinted(
            "no target was observed in this window",
            format!("The first observation is of {first}, the last one of {last}."),
        );
    }
    Ok(())
}

/// Returns the times of the first and the last observation of the targets in scope; `None` if there is none.
fn observed(
    client: &SpiClient<'_>,
    filters: &Filters,
) -> Result<Option<(TimestampWithTimeZone, TimestampWithTimeZone)>, Error> {
    let params = Params::default();
    let statement = sql!(
        "empty/observed.sql",
        conditions = filters.conditions(Level::Target, "target", &params),
    );
    let mut rows = client.query(&statement, &params.take())?;
    let Some(row) = rows.next() else {
        return Ok(None);
    };
    let first: Option<TimestampWithTimeZone> = row.get("first")?;
    Ok(first.zip(row.get("last")?))
}
