//! `jobstats.rates_realtime`: rates of ten minutes by target and user, in one view on every edition.
//!
//! In the Community edition of TimescaleDB the view shows a continuous aggregate, refreshed by TimescaleDB itself; elsewhere it sums the
//! view `increments_10m`. The functions of jobstats do not read it.

use pgrx::spi::SpiClient;
use semver::Version;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::template::sql;
use crate::store::installation::Installation;
use crate::store::relations;
use crate::store::rollup::operations;

/// The view.
pub const VIEW: &str = "rates_realtime";

/// The continuous aggregate.
pub const AGGREGATE: &str = "realtime_10m";

/// The oldest TimescaleDB that adds columns to continuous aggregates.
const OLDEST: Version = Version::new(2, 28, 0);

fn exists(client: &SpiClient<'_>) -> Result<bool, Error> {
    Ok(relations::kind(client, AGGREGATE)? == Some('v'))
}

/// Creates the continuous aggregate of a store of hypertables, or the columns of operations and the policies that it lacks.
pub fn create(client: &mut SpiClient<'_>, installation: &Installation) -> Result<(), Error> {
    let Installation::Timescale {
        schema,
        community: true,
        version,
    } = installation
    else {
        return Ok(());
    };
    let is_old = Version::parse(version).is_ok_and(|it| it < OLDEST);
    if is_old || relations::kind(client, "increments")? == Some('p') {
        return Ok(());
    }
    if exists(client)? {
        relations::add_operations(client, AGGREGATE)?;
    } else {
        let aggregate = sql!(
            "realtime/aggregate.sql",
            aggregate = AGGREGATE,
            timescale = schema,
            sums = operations(|name| format!("sum(i.{name})::bigint AS {name}")),
        );
        client.execute(&aggregate, &[])?;
    }
    client.run("SELECT jobstats_internal.put_realtime_policies()", &[])
}

/// Drops the continuous aggregate, with the views on it.
pub fn drop(client: &mut SpiClient<'_>) -> Result<(), Error> {
    if exists(client)? {
        let statement = format!("DROP MATERIALIZED VIEW jobstats.{AGGREGATE} CASCADE");
        client.execute(&statement, &[])?;
    }
    Ok(())
}

/// Returns the definition of the view.
pub fn view(client: &SpiClient<'_>) -> Result<(String, String), Error> {
    let sums = match exists(client)? {
        true => format!("jobstats.{AGGREGATE}"),
        false => sql!(
            "realtime/sums.sql",
            sums = operations(|name| format!("sum(i.{name})::bigint AS {name}")),
        ),
    };
    let definition = sql!(
        "realtime/rates.sql",
        view = VIEW,
        sums = sums,
        rates = operations(|name| format!("summed.{name} / width.seconds AS {name}")),
    );
    Ok((VIEW.to_owned(), definition))
}
