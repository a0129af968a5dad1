//! Explains an empty answer in a notice, if the reason can be found.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::time::{micros, window};
use crate::query::dimension::Level;
use crate::query::filters::Filters;
use crate::query::notice::hinted;
use crate::query::params::Params;
use crate::query::question::{Period, Question};
use crate::query::unknown_filter;
use crate::query::window::Window;

/// Raises a notice if the answer about this window is empty because the store is empty, a filter has no match, or no target in scope was observed.
/// After a recent observation, the window already lists the targets that are behind: a question about now must not search the whole store for retired
/// targets.
pub fn explain_window(
    client: &SpiClient<'_>,
    window: &Window,
    question: &Question,
) -> Result<(), Error> {
    if window.observed_lately {
        unknown_filter::explain(client, &question.filters)?;
        return Ok(());
    }
    explain(client, &question.period, &question.filters)
}

/// Raises such a notice for the requested window, regardless of recent observations.
pub fn explain(client: &SpiClient<'_>, period: &Period, filters: &Filters) -> Result<(), Error> {
    if unknown_filter::explain(client, filters)? {
        return Ok(());
    }
    let (since, until) = window(period.since, period.until)?;
    let params = Params::default();
    let statement = format!(
        "SELECT min(ends.first) AS first, max(ends.last) AS last FROM jobstats.targets target \
         JOIN jobstats.observation_ends ends ON ends.target_id = target.target_id WHERE true{}",
        filters.conditions(Level::Target, "target", &params)
    );
    let ends = client.query_only(&statement, &params.take(), "targets")?;
    let [first, last]: [Option<TimestampWithTimeZone>; 2] = [ends.get("first")?, ends.get("last")?];
    let Some((first, last)) = first.zip(last) else {
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
