//! Rollups: sums of `jobstats.increments` over ten minutes, hours and days, by target and entry.
//!
//! A rollup is a table, which `jobstats_maintain()` fills up to a time that it announces first. A feed notes in `jobstats.dirty` the spans of the rows that it writes or
//! deletes before that time. The views `increments_10m`, … read these spans, and what comes after that time, from
//! `increments` itself, so that they are exact at any moment. After a long gap, rows of increments cross bucket edges
//! of narrow rollups: in these [coarse] spans such a rollup is exact only over whole hours, or days.

use jobstats_core::base::instant::{DAY, HOUR, MINUTE, Micros};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;
use crate::store;
use crate::store::columns::operation_columns;
use crate::store::installation::Installation;

mod compute;
mod definition;
mod dirty;
mod owners;
mod target_counters;

pub use dirty::{COARSE, changed, coarse};
pub use owners::{Owner, forget as forget_users, note_changed};
pub use target_counters::sum as sum_target_counters;

/// The origin of buckets of all widths.
const EPOCH: &str = "timestamptz '1970-01-01 00:00:00+00'";

/// A rollup.
#[derive(Debug, Clone, Copy)]
pub struct Rollup {
    /// The suffix of the names of its relations.
    pub name: &'static str,
    /// The width of its buckets, as an interval.
    pub width: &'static str,
    /// The width in microseconds.
    pub micros: Micros,
    /// The rollup that it sums; `None`: increments.
    source: Option<&'static str>,
    /// The span of a partition.
    pub unit: &'static str,
    /// The width of a chunk, as an interval. A chunk is kept in rows until all of it is old enough, so that one of a year
    /// would never be packed before it is a year old.
    chunk: &'static str,
    /// The width of a chunk of its sums by owner, which have fewer rows, as an interval: to make a chunk takes 10 ms.
    owned_chunk: &'static str,
    /// The initial retention period; `None` is for ever.
    pub retention: Option<&'static str>,
}

/// The rollups, each after the rollup that it sums.
pub const ROLLUPS: [Rollup; 3] = [
    Rollup {
        name: "10m",
        width: "10 minutes",
        micros: 10 * MINUTE,
        source: None,
        unit: "day",
        chunk: "1 day",
        owned_chunk: "7 days",
        retention: Some("90 days"),
    },
    Rollup {
        name: "1h",
        width: "1 hour",
        micros: HOUR,
        source: Some("10m"),
        unit: "month",
        chunk: "1 month",
        owned_chunk: "1 month",
        retention: Some("2 years"),
    },
    Rollup {
        name: "1d",
        width: "1 day",
        micros: DAY,
        source: Some("1h"),
        unit: "year",
        chunk: "1 month",
        owned_chunk: "1 month",
        retention: None,
    },
];

/// Represents all rollups in the names of views over all of them.
pub const ALL: Rollup = Rollup {
    name: "all",
    ..ROLLUPS[2]
};

/// Returns the views that have the rows of all rollups, each with its level: a front reads them with one statement.
pub fn views_of_all() -> impl Iterator<Item = (String, String)> {
    ALL.relations().into_iter().map(|view| {
        let rows = ROLLUPS.iter().filter_map(|it| {
            let relation = view.replace(ALL.name, it.name);
            let rows = format!(
                "SELECT text '{}' AS level, r.* FROM jobstats.{relation} r",
                it.name
            );
            it.relations().contains(&relation).then_some(rows)
        });
        let rows = rows.collect::<Vec<_>>().join(" UNION ALL ");
        let definition = format!("CREATE OR REPLACE VIEW jobstats.{view} AS {rows}");
        (view, definition)
    })
}

impl Rollup {
    fn find(name: &str) -> Result<&'static Self, Error> {
        let level = ROLLUPS.iter().find(|level| level.name == name);
        let names = || ROLLUPS.map(|level| level.name).join(", ");
        level.ok_or_else(|| Error::unknown("rollup", name, names()))
    }

    /// Returns the name of the table.
    pub fn relation(&self) -> String {
        format!("rollup_{}", self.name)
    }

    /// Returns the width of chunks of one of its relations, as an SQL expression.
    pub fn chunk_width(&self, relation: &str) -> String {
        let width = match relation == self.relation() {
            true => self.chunk,
            false => self.owned_chunk,
        };
        format!("interval '{width}'")
    }

    /// Returns the owners that it has [sums](owners) for.
    pub fn owners(&self) -> impl Iterator<Item = Owner> + use<> {
        let is_finest = self.source.is_none();
        [Owner::User, Owner::Account, Owner::Member]
            .into_iter()
            .filter(move |owner| !is_finest || *owner != Owner::Member)
    }

    /// Returns the name of the table of its [sums by owner](owners).
    pub fn owned(&self, owner: Owner) -> String {
        format!("rollup_{}_{}", self.name, owner.suffix())
    }

    /// Returns the name of the table of its [sums of target counters](target_counters).
    pub fn of_targets(&self) -> String {
        format!("rollup_{}_targets", self.name)
    }

    /// Returns the names of all tables of the rollup.
    pub fn relations(&self) -> Vec<String> {
        let mut relations = vec![self.relation()];
        relations.extend(self.owners().map(|owner| self.owned(owner)));
        relations.push(self.of_targets());
        relations
    }

    /// Returns the name of the view that is exact at any moment.
    pub fn live(&self) -> String {
        format!("increments_{}", self.name)
    }

    /// Returns the name of the view of means per second.
    pub fn rates(&self) -> String {
        format!("rates_{}", self.name)
    }
}

/// Returns an expression for each operation column, each with a leading comma.
pub(super) fn operations(expression: impl Fn(&str) -> String) -> String {
    operation_columns()
        .map(|(_, name)| format!(", {}", expression(&format!("\"{name}\""))))
        .collect()
}

/// Creates the missing relations of the rollups of a store. Rollups of partitioned tables are partitioned tables too,
/// whatever is installed by now.
pub fn create(client: &mut SpiClient<'_>, installation: &Installation) -> Result<(), Error> {
    let installation = match store::kind(client, "increments")? {
        Some('p') => &Installation::Plain,
        _ => installation,
    };
    for rollup in &ROLLUPS {
        let inserted = client.execute(
            "INSERT INTO jobstats.rollups (level, width, retention) VALUES ($1, $2::interval, $3::interval) \
             ON CONFLICT DO NOTHING",
            &values![rollup.name, rollup.width, rollup.retention],
        )?;
        owners::create(client, installation, rollup)?;
        target_counters::create(client, installation, rollup)?;
        let relation = rollup.relation();
        if store::kind(client, &relation)?.is_none() {
            rollup.create_table(client, installation, &relation, KEY, "")?;
            continue;
        }
        store::add_operations(client, &relation)?;
        if inserted > 0 {
            keep_stored(client, rollup)?;
        }
    }
    Ok(())
}

/// The key of a rollup, and its type.
const KEY: (&str, &str) = ("entry_id", "bigint NOT NULL");

/// Returns the statements that create the tables of the rollups, undivided.
pub fn definitions() -> String {
    let mut statements = Vec::new();
    for rollup in &ROLLUPS {
        statements.extend(owners::definitions(rollup));
        statements.push(target_counters::table(&rollup.of_targets(), ""));
        statements.push(Rollup::table(&rollup.relation(), KEY, "", ""));
    }
    statements.join(";\n")
}

/// Raises the retention of a rollup whose row in `jobstats.rollups` had been lost, so that the next maintenance does not drop
/// what an earlier setting kept.
fn keep_stored(client: &mut SpiClient<'_>, rollup: &Rollup) -> Result<(), Error> {
    let statement = sql!("rollup/keep_stored.sql", relation = rollup.relation());
    client.run(&statement, &values![rollup.name])
}
