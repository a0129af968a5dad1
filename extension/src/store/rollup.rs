//! Rollups: sums of `jobstats.increments` over ten minutes, hours and days, by target and entry.
//!
//! If TimescaleDB has continuous aggregates, a rollup is one of them; otherwise it is a table. `jobstats_maintain()`
//! fills either up to a time that it announces first. A feed notes in `jobstats.dirty` the spans of what it writes or
//! deletes before that time. The views `increments_10m`, … read these spans, and what comes after that time, from
//! `increments` itself, so that they are exact at any moment. After a long gap, rows of increments cross bucket edges
//! of narrow rollups: in these [coarse] spans such a rollup is exact only over whole hours, or days.

use jobstats_core::instant::{HOUR, Micros, Span};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::rows::only_row;
use crate::pg::spi::{SqlResult, connect, connect_mut};
use crate::pg::time::{DAY, micros, timestamptz};
use crate::store;
use crate::store::columns::operation_columns;
use crate::store::installation::{Installation, divide_by_time};

mod users;

pub use users::forget as forget_users;

extension_sql_file!(
    "rollup/refresh.sql",
    name = "refresh",
    requires = ["timescale"]
);

/// The origin of buckets of all widths.
const EPOCH: &str = "timestamptz '1970-01-01 00:00:00+00'";

/// A rollup.
#[derive(Debug, Clone, Copy)]
pub struct Rollup {
    /// The suffix of the names of its relations.
    pub name: &'static str,
    /// The width of its buckets, as an interval.
    pub width: &'static str,
    /// The relation that it sums.
    source: Source,
    /// The span of a partition, and of a chunk.
    pub unit: &'static str,
    /// The initial retention period; `None` is for ever.
    pub retention: Option<&'static str>,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Increments,
    Summed(&'static str),
}

/// The rollups, each after the rollup that it sums.
pub const LEVELS: [Rollup; 3] = [
    Rollup {
        name: "10m",
        width: "10 minutes",
        source: Source::Increments,
        unit: "day",
        retention: Some("90 days"),
    },
    Rollup {
        name: "1h",
        width: "1 hour",
        source: Source::Summed("10m"),
        unit: "month",
        retention: Some("2 years"),
    },
    Rollup {
        name: "1d",
        width: "1 day",
        source: Source::Summed("1h"),
        unit: "year",
        retention: None,
    },
];

impl Rollup {
    fn find(name: &str) -> Result<&'static Self, Error> {
        let level = LEVELS.iter().find(|level| level.name == name);
        level.ok_or_else(|| Error::Unknown {
            what: "rollup",
            name: name.to_owned(),
            valid: LEVELS.map(|level| level.name).join(", "),
        })
    }

    /// Returns whether this rollup sums increments.
    pub fn is_finest(&self) -> bool {
        matches!(self.source, Source::Increments)
    }

    /// Returns the name of the table or continuous aggregate.
    pub fn relation(&self) -> String {
        format!("rollup_{}", self.name)
    }

    /// Returns the width of its chunks, as an SQL expression.
    pub fn chunk_width(&self) -> String {
        format!("interval '1 {}'", self.unit)
    }

    /// Returns the name of the table of its [sums by user](users).
    pub fn users(&self) -> String {
        format!("rollup_{}_users", self.name)
    }

    /// Returns the SQL expression for the bucket of an instant that ends a span. A bucket is stored as a microsecond
    /// after its start: like rows of `increments`, buckets include their ends and not their starts.
    fn bucket(&self, instant: &str) -> String {
        format!(
            "date_bin('{width}', {instant} - interval '1 microsecond', {EPOCH}) + interval '1 microsecond'",
            width = self.width
        )
    }

    /// Returns the SELECT that sums rows `i` of `from`, which are those of the source, by `bucket`, entry and target.
    fn sums(&self, bucket: &str, from: &str) -> String {
        let (first, last, resets) = match self.source {
            Source::Increments => (
                "i.since",
                "CASE WHEN i.last_active > i.since AND i.last_active < i.\"time\" THEN i.last_active ELSE i.\"time\" END",
                "count(*) FILTER (WHERE i.reset)",
            ),
            Source::Summed(_) => ("i.first", "i.last", "sum(i.resets)::bigint"),
        };
        format!(
            "SELECT {bucket} AS bucket, i.entry_id, i.target_id, min({first}) AS first, max({last}) AS last, \
             {resets} AS resets{sums} FROM {from} GROUP BY 1, i.entry_id, i.target_id",
            sums = operations(|name| format!("sum(i.{name})::bigint AS {name}")),
        )
    }

    fn source(&self) -> (String, &'static str) {
        match self.source {
            Source::Increments => ("jobstats.increments".to_owned(), "\"time\""),
            Source::Summed(level) => (format!("jobstats.rollup_{level}"), "bucket"),
        }
    }

    /// Returns the INSERT that fills the table of this rollup from its source. `rows` is a condition on rows `i` of the
    /// source.
    fn insert(&self, rows: &str) -> String {
        let (source, time) = self.source();
        format!(
            "INSERT INTO jobstats.{relation} (bucket, entry_id, target_id, first, last, resets{columns}) {sums}",
            relation = self.relation(),
            columns = operations(str::to_owned),
            sums = self.sums(
                &self.bucket(&format!("i.{time}")),
                &format!("{source} i WHERE {rows}")
            ),
        )
    }

    /// Creates a table with the columns of this rollup and further `columns`, each with a leading comma. `key` is the
    /// name and the type of the column that says whose a row is: an entry's or a user's.
    fn create_table(
        &self,
        client: &mut SpiClient<'_>,
        installation: &Installation,
        relation: &str,
        key: (&str, &str),
        columns: &str,
    ) -> Result<(), Error> {
        let by_range = match installation {
            Installation::Plain => "PARTITION BY RANGE (bucket)",
            Installation::Timescale { .. } => "",
        };
        client.update(&table(relation, key, columns, by_range), None, &[])?;
        divide_by_time(
            client,
            installation,
            relation,
            "bucket",
            &self.chunk_width(),
        )
    }

    /// Creates the continuous aggregate under a name, without data.
    pub fn create_aggregate(
        &self,
        client: &mut SpiClient<'_>,
        timescale: &str,
        name: &str,
    ) -> Result<(), Error> {
        let (source, time) = self.source();
        let bucket = format!(
            "{timescale}.time_bucket(interval '{}', i.{time}, \"offset\" => interval '1 microsecond')",
            self.width
        );
        let statement = format!(
            "CREATE MATERIALIZED VIEW jobstats.{name} \
             WITH (timescaledb.continuous, timescaledb.materialized_only = true, \
             timescaledb.create_group_indexes = false) AS {sums} WITH NO DATA; \
             CREATE INDEX {name}_entry ON jobstats.{name} (entry_id, bucket)",
            sums = self.sums(&bucket, &format!("{source} i")),
        );
        client.update(&statement, None, &[])?;
        Ok(())
    }

    /// Returns the live view: the rollup where it is up to date, and elsewhere the rows that it would hold.
    fn view(&self) -> String {
        let live = Self {
            source: Source::Increments,
            ..*self
        };
        let bucket = live.bucket("i.\"time\"");
        let since_refresh = format!(
            "jobstats.increments i WHERE i.\"time\" > {}",
            self.mark("refreshed")
        );
        let dirty = format!(
            "jobstats.increments i JOIN (SELECT d.target_id, unnest(range_agg({span})) AS span \
             FROM jobstats.dirty d GROUP BY d.target_id) d \
             ON d.target_id = i.target_id AND i.\"time\" > lower(d.span) AND i.\"time\" <= upper(d.span) \
             WHERE i.\"time\" <= {refreshed}",
            span = self.dirty_span(),
            refreshed = self.mark("refreshed"),
        );
        format!(
            "CREATE OR REPLACE VIEW jobstats.increments_{name} AS \
             SELECT r.bucket + (interval '{width}' - interval '1 microsecond') AS \"time\", \
             r.bucket - interval '1 microsecond' AS since, r.bucket, r.entry_id, r.target_id, r.first, r.last, \
             r.resets{columns} FROM ({current} UNION ALL {since_refresh} UNION ALL {dirty}) r",
            name = self.name,
            width = self.width,
            columns = operations(|name| format!("r.{name}")),
            current = self.current(),
            since_refresh = live.sums(&bucket, &since_refresh),
            dirty = live.sums(&bucket, &dirty),
        )
    }

    /// Returns the live view with dimensions, with every operation divided by the seconds of its bucket.
    fn rates_view(&self) -> String {
        format!(
            "CREATE OR REPLACE VIEW jobstats.rates_{name} AS \
             SELECT r.\"time\", r.since, r.bucket, r.first, r.last, r.resets, \
             t.cluster, t.filesystem, t.kind, t.name AS target, \
             e.workload, e.job, e.uid, u.user_name AS \"user\", e.gid, e.node, e.executable, e.pid, e.status, e.name AS entry\
             {rates} FROM jobstats.increments_{name} r \
             CROSS JOIN (SELECT extract(epoch FROM interval '{width}')::double precision AS seconds) s \
             LEFT JOIN jobstats.targets t ON t.target_id = r.target_id \
             LEFT JOIN jobstats.entries e ON e.entry_id = r.entry_id \
             LEFT JOIN jobstats.users u ON u.uid = e.uid",
            name = self.name,
            width = self.width,
            rates = operations(|name| format!("r.{name} / s.seconds AS {name}")),
        )
    }

    /// Returns the names and definitions of the views on the rollup, each after the views that it reads.
    pub fn views(&self) -> [(String, String); 2] {
        let name = self.name;
        [
            (format!("increments_{name}"), self.view()),
            (format!("rates_{name}"), self.rates_view()),
        ]
    }

    /// Returns the COMMENT ON statements for its relations; `kind` is the kind of relation that the rollup is.
    fn comments(&self, kind: &str) -> String {
        let (name, width, relation) = (self.name, self.width, self.relation());
        format!(
            "COMMENT ON {kind} jobstats.{relation} IS \
             'Sums of increments over {width}, up to rollups.refreshed and but for the spans in dirty; view increments_{name} is up to date.'; \
             COMMENT ON COLUMN jobstats.{relation}.bucket IS \
             'A microsecond after the start of the bucket, which does not belong to it; its end does.'; \
             COMMENT ON VIEW jobstats.increments_{name} IS \
             'Sums of increments over {width}, by target and entry, exact at any moment. For speed, ask with a condition on bucket.'; \
             COMMENT ON COLUMN jobstats.increments_{name}.first IS 'Start of the first increment.'; \
             COMMENT ON COLUMN jobstats.increments_{name}.last IS 'When it was last active: as the server says, else the end of the last increment.'; \
             COMMENT ON COLUMN jobstats.increments_{name}.resets IS 'How often counters restarted.'; \
             COMMENT ON VIEW jobstats.rates_{name} IS \
             'Means over {width} with their dimensions: every operation divided by the seconds of its bucket. For speed, ask with a condition on bucket.'"
        )
    }

    /// Returns the SELECT of the rows of the rollup that are up to date: neither dropped nor dirty, and refreshed.
    fn current(&self) -> String {
        format!(
            "SELECT r.bucket, r.entry_id, r.target_id, r.first, r.last, r.resets{columns} \
             FROM jobstats.{relation} r \
             WHERE r.bucket <= {refreshed} AND r.bucket > {dropped} \
             AND NOT EXISTS (SELECT FROM jobstats.dirty d WHERE d.target_id = r.target_id AND {span} @> r.bucket)",
            columns = operations(|name| format!("r.{name}")),
            relation = self.relation(),
            refreshed = self.mark("refreshed"),
            dropped = self.mark("dropped"),
            span = self.dirty_span(),
        )
    }

    /// Returns an SQL expression for a time in the row of this rollup in `jobstats.rollups`.
    ///
    /// The addition keeps rows from being lost. Parallel scans of TimescaleDB 2.12 to 2.29 leave out chunks if a condition
    /// depends on a subquery and no condition calls a function that is not immutable, as this addition is.
    fn mark(&self, column: &str) -> String {
        format!(
            "(SELECT l.{column} FROM jobstats.rollups l WHERE l.level = '{}') + interval '0'",
            self.name
        )
    }

    /// Returns the SQL range of the whole buckets that a row `d` of `jobstats.dirty` touches.
    fn dirty_span(&self) -> String {
        format!(
            "tstzrange(date_bin('{width}', d.span_from, {EPOCH}), \
             date_bin('{width}', d.span_to - interval '1 microsecond', {EPOCH}) + interval '{width}', '(]')",
            width = self.width
        )
    }
}

fn table(relation: &str, key: (&str, &str), columns: &str, by_range: &str) -> String {
    let (name, kind) = key;
    format!(
        "CREATE TABLE jobstats.{relation} (bucket timestamptz NOT NULL, {name} {kind}, \
         target_id integer NOT NULL, first timestamptz NOT NULL, last timestamptz NOT NULL, \
         resets bigint NOT NULL{columns}{operations}) {by_range}; \
         CREATE INDEX {relation}_{index} ON jobstats.{relation} ({name}, bucket); \
         CREATE INDEX {relation}_bucket ON jobstats.{relation} USING brin (bucket) WITH (pages_per_range = 32)",
        index = name.trim_end_matches("_id"),
        operations = operations(|name| format!("{name} bigint")),
    )
}

/// Returns an expression for each operation column, each with a leading comma.
fn operations(expression: impl Fn(&str) -> String) -> String {
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
    for level in &LEVELS {
        users::create(client, installation, level)?;
        let relation = level.relation();
        let made = client.update(
            "INSERT INTO jobstats.rollups (level, width, retention) VALUES ($1, $2::interval, $3::interval) \
             ON CONFLICT DO NOTHING",
            None,
            &[level.name.into(), level.width.into(), level.retention.into()],
        )?;
        let was_lost = !made.is_empty();
        if store::kind(client, &relation)?.is_some() {
            store::add_operations(client, &relation)?;
            if was_lost {
                keep_stored(client, level)?;
            }
            continue;
        }
        match installation {
            Installation::Timescale {
                schema,
                community: true,
                ..
            } => level.create_aggregate(client, schema, &relation)?,
            _ => level.create_table(
                client,
                installation,
                &relation,
                ("entry_id", "bigint NOT NULL"),
                "",
            )?,
        }
        if level.is_finest() {
            note_coarse(client)?;
        }
    }
    Ok(())
}

/// Raises the retention of a rollup whose row in `jobstats.rollups` had been lost, so that the next maintenance does not drop
/// what an earlier setting kept.
fn keep_stored(client: &mut SpiClient<'_>, level: &Rollup) -> Result<(), Error> {
    let statement = format!(
        "UPDATE jobstats.rollups l SET retention = greatest(l.retention, least( \
         (SELECT now() - min(bucket) + interval '1 day' FROM jobstats.{}), \
         (SELECT min(c.retention) FROM jobstats.rollups c WHERE c.width > l.width))) \
         WHERE l.level = $1 AND l.retention IS NOT NULL",
        level.relation()
    );
    client.update(&statement, None, &[level.name.into()])?;
    Ok(())
}

/// Sets the comments on the relations of all rollups.
pub fn comment(client: &mut SpiClient<'_>) -> Result<(), Error> {
    for level in &LEVELS {
        let kind = match store::kind(client, &level.relation())? {
            Some('v') => "VIEW",
            _ => "TABLE",
        };
        client.update(&level.comments(kind), None, &[])?;
        client.update(&users::comment(level), None, &[])?;
    }
    Ok(())
}

/// Notes that increments of a span are written or deleted, if rollups of the span are computed already, or may soon be.
pub fn changed(
    client: &mut SpiClient<'_>,
    target_id: i32,
    from: Micros,
    to: Micros,
) -> Result<(), Error> {
    let (announced, horizon) = announced(client)?;
    let from = from.max(horizon);
    if from < to.min(announced) {
        client.update(
            "INSERT INTO jobstats.dirty (target_id, span_from, span_to) VALUES ($1, $2, $3)",
            None,
            &[
                target_id.into(),
                timestamptz(from)?.into(),
                timestamptz(to.min(announced))?.into(),
            ],
        )?;
    }
    Ok(())
}

/// The distances of the edges of rows after a long gap, each with its interval in SQL.
pub const COARSE: [(Micros, &str); 2] = [(HOUR, "1 hour"), (DAY, "1 day")];

/// Notes that increments of a span cross bucket edges of the rollups that are narrower than `width`.
pub fn coarse(client: &mut SpiClient<'_>, (from, to): Span, width: &str) -> Result<(), Error> {
    client.update(
        &format!(
            "INSERT INTO jobstats.coarse {} ON CONFLICT DO NOTHING",
            coarse_span("$1", "$2", width)
        ),
        None,
        &[timestamptz(from)?.into(), timestamptz(to)?.into()],
    )?;
    Ok(())
}

/// Notes the coarse spans of increments that were stored before there were rollups, by a version that splits every row
/// at full hours.
fn note_coarse(client: &mut SpiClient<'_>) -> Result<(), Error> {
    let width = "1 hour";
    client.update(
        &format!(
            "INSERT INTO jobstats.coarse SELECT lower(s.span), upper(s.span), interval '{width}' FROM (\
             SELECT unnest(range_agg(DISTINCT tstzrange(h.span_from, h.span_to))) AS span FROM jobstats.increments i \
             CROSS JOIN LATERAL ({spans}) AS h (span_from, span_to, width) \
             WHERE i.\"time\" - i.since > interval '10 minutes') s ON CONFLICT DO NOTHING",
            spans = coarse_span("i.since", "i.\"time\"", width)
        ),
        None,
        &[],
    )?;
    Ok(())
}

/// Returns a SELECT of the whole buckets that a span touches, and their width.
fn coarse_span(from: &str, to: &str, width: &str) -> String {
    format!(
        "SELECT date_bin('{width}', {from}, {EPOCH}), \
         date_bin('{width}', {to} + interval '{width}' - interval '1 microsecond', {EPOCH}), interval '{width}'"
    )
}

/// Returns the time up to which rollups are, or may soon be, computed, and the time from which they still can be: older
/// data is about to be dropped. A refresh that announces a later time waits until the transactions that know only of
/// this one have ended, and none of them waits for a refresh.
fn announced(client: &mut SpiClient<'_>) -> Result<(Micros, Micros), Error> {
    let (mut known, mut gone) = (None, None);
    loop {
        // This statement takes a new snapshot: another time may have been announced before we got the lock.
        let found = client.update(
            "SELECT announced, horizon, number FROM jobstats.refresh",
            Some(1),
            &[],
        )?;
        let row = only_row(found, "refresh")?;
        let (Some(announced), Some(horizon), Some(number)) = (
            row.get::<TimestampWithTimeZone>(1)?,
            row.get::<TimestampWithTimeZone>(2)?,
            row.get::<i32>(3)?,
        ) else {
            return Err(Error::NoRow("refresh"));
        };
        if known == Some(number) {
            return Ok((micros(announced)?, micros(horizon)?));
        }
        let locked = client.update(
            "SELECT FROM jobstats.locks WHERE name = 'announcement ' || $1 FOR KEY SHARE",
            None,
            &[number.into()],
        )?;
        // A refresh that has just settled deletes the row; jobstats.refresh has another number then.
        if locked.is_empty() && gone.replace(number) == Some(number) {
            return Err(Error::NoRow("locks"));
        }
        known = (!locked.is_empty()).then_some(number);
    }
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.rollup_unit(level text) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.rollup_unit(text) IS
'Internal: the span of a partition of a rollup, and of its sums by user: day, month or year.';
"#)]
fn jobstats_rollup_unit(level: &str) -> SqlResult<&'static str> {
    Ok(Rollup::find(level)?.unit)
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.roll_up(
    level text, by_user boolean, span_from timestamptz, span_to timestamptz, target_id integer DEFAULT NULL
) RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.roll_up(text, boolean, timestamptz, timestamptz, integer) IS
'Internal: computes the buckets of a rollup that is a table, or of its sums by user, for one target or for all, and returns the number of rows.';
"#)]
fn jobstats_roll_up(
    level: Option<&str>,
    by_user: Option<bool>,
    span_from: Option<TimestampWithTimeZone>,
    span_to: Option<TimestampWithTimeZone>,
    target_id: Option<i32>,
) -> SqlResult<i64> {
    let (Some(level), Some(by_user), Some(span_from), Some(span_to)) =
        (level, by_user, span_from, span_to)
    else {
        return Err(Error::Null("an argument other than target_id").into());
    };
    let rows = connect_mut(|client| -> Result<usize, Error> {
        let level = Rollup::find(level)?;
        let arguments = [span_from.into(), span_to.into(), target_id.into()];
        let rows = |key: &str| {
            let target = match target_id {
                Some(_) => "i.target_id = $3",
                None => "$3::integer IS NULL",
            };
            format!("i.{key} > $1 AND i.{key} <= $2 AND {target}")
        };
        let (relation, insert) = if by_user {
            (level.users(), users::insert(level, &rows("bucket")))
        } else {
            (level.relation(), level.insert(&rows(level.source().1)))
        };
        let old = rows("bucket");
        client.update(
            &format!("DELETE FROM jobstats.{relation} i WHERE {old}"),
            None,
            &arguments,
        )?;
        // Rows are stored in the order of buckets, so that the block ranges of the BRIN index tell where a bucket is.
        Ok(client
            .update(&format!("{insert} ORDER BY 1"), None, &arguments)?
            .len())
    })?;
    Ok(rows as i64)
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.skip_empty_days(
    level text, by_user boolean, span_from timestamptz, span_to timestamptz
) RETURNS timestamptz
LANGUAGE c STABLE STRICT SET search_path = pg_catalog, pg_temp
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.skip_empty_days(text, boolean, timestamptz, timestamptz) IS
'Internal: where the first day, counted from the start of a span, begins in which a rollup, or its sums by user, have something to compute or to delete; the last day of the span where there is none.';
"#)]
fn jobstats_skip_empty_days(
    level: &str,
    by_user: bool,
    span_from: TimestampWithTimeZone,
    span_to: TimestampWithTimeZone,
) -> SqlResult<TimestampWithTimeZone> {
    let level = Rollup::find(level)?;
    let (mut from, to) = (micros(span_from)?, micros(span_to)?);
    if to.saturating_sub(from) > 100_000 * DAY {
        return Err(Error::argument(
            "the span is too long",
            "Give one of less than 100,000 days.",
        )
        .into());
    }
    let (relation, (source, time)) = if by_user {
        (
            level.users(),
            (format!("jobstats.{}", level.relation()), "bucket"),
        )
    } else {
        (level.relation(), level.source())
    };
    let held = format!(
        "SELECT EXISTS (SELECT FROM {source} i WHERE i.{time} > $1 AND i.{time} <= $2) \
         OR EXISTS (SELECT FROM jobstats.{relation} i WHERE i.bucket > $1 AND i.bucket <= $2)"
    );
    connect(|client| -> Result<(), Error> {
        // The rest of a day or less, which is all of the span as a rule, is not searched: to find the first row of ten
        // minutes, PostgreSQL would read what was stored in the day before them.
        while to - from > DAY {
            let day = [timestamptz(from)?.into(), timestamptz(from + DAY)?.into()];
            let found = client.select(&held, Some(1), &day)?;
            if found.first().get::<bool>(1)? == Some(true) {
                break;
            }
            from += DAY;
        }
        Ok(())
    })?;
    Ok(timestamptz(from)?)
}
