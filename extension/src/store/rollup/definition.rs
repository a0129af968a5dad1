//! The relations of a rollup in SQL: its table, and its views.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::template::sql;
use crate::store::installation::{Installation, divide_by_time};
use crate::store::rollup::{EPOCH, Rollup, operations};
use crate::store::views::OwnerColumns;

impl Rollup {
    /// Returns the SQL expression for the bucket of an instant that ends a span. A bucket is stored as a microsecond
    /// after its start: like rows of `increments`, buckets include their ends and not their starts.
    pub fn bucket(&self, instant: &str) -> String {
        format!(
            "date_bin('{width}', {instant} - interval '1 microsecond', {EPOCH}) + interval '1 microsecond'",
            width = self.width
        )
    }

    /// Returns the SELECT that sums `rows`, a relation of rows of the source with the alias `summed` and its conditions, by
    /// `bucket`, entry and target.
    fn sums(&self, bucket: &str, rows: &str) -> String {
        let columns = operations(|name| format!("sum(summed.{name})::bigint AS {name}"));
        let (first, last, resets) = match self.source {
            None => (
                "since",
                "least(summed.last_active, summed.\"time\")",
                "count(*) FILTER (WHERE summed.reset)",
            ),
            Some(_) => ("first", "summed.last", "sum(summed.resets)::bigint"),
        };
        sql!(
            "sums.sql",
            bucket = bucket,
            first = first,
            last = last,
            resets = resets,
            columns = columns,
            rows = rows
        )
    }

    /// Returns the relation that the rollup sums, and its column of time.
    pub(super) fn source(&self) -> (String, &'static str) {
        match self.source {
            None => ("jobstats.increments".to_owned(), "\"time\""),
            Some(finer) => (format!("jobstats.rollup_{finer}"), "bucket"),
        }
    }

    /// Returns the INSERT that fills the table from its source. `condition` refers to rows `summed` of the source.
    pub(super) fn insert(&self, condition: &str) -> String {
        let (source, time) = self.source();
        format!(
            "INSERT INTO jobstats.{relation} (bucket, entry_id, target_id, first, last, resets{columns}) {sums}",
            relation = self.relation(),
            columns = operations(str::to_owned),
            sums = self.sums(
                &self.bucket(&format!("summed.{time}")),
                &format!("{source} summed WHERE {condition}")
            ),
        )
    }

    /// Creates a table with the columns of this rollup and further `columns`, each with a leading comma. `key` is the name and
    /// type of the column of the entry or owner.
    pub(super) fn create_table(
        &self,
        client: &mut SpiClient<'_>,
        installation: &Installation,
        relation: &str,
        key: (&str, &str),
        columns: &str,
    ) -> Result<(), Error> {
        let partitioned = installation.partitioned("bucket");
        let statement = Self::table(relation, key, columns, &partitioned);
        client.execute(&statement, &[])?;
        divide_by_time(
            client,
            installation,
            relation,
            "bucket",
            &self.chunk_width(relation),
        )
    }

    /// Returns the statements that create a table with the columns of a rollup.
    pub(super) fn table(
        relation: &str,
        (key, key_type): (&str, &str),
        columns: &str,
        partitioned: &str,
    ) -> String {
        // This index does not help for accounts, which are filtered by patterns.
        let index = match key {
            "account" => String::new(),
            _ => {
                let name = key.trim_end_matches("_id");
                format!("CREATE INDEX {relation}_{name} ON jobstats.{relation} ({key}, bucket);\n")
            }
        };
        sql!(
            "table.sql",
            relation = relation,
            key = key,
            key_type = key_type,
            index = index,
            columns = columns,
            operations = operations(|name| format!("{name} bigint")),
            partitioned = partitioned,
        )
    }

    /// Returns the names and definitions of the views on the rollup, each after the views that it reads.
    pub fn views(&self) -> [(String, String); 2] {
        [
            (self.live(), self.live_view()),
            (self.rates(), self.rates_view()),
        ]
    }

    fn live_view(&self) -> String {
        let live = Self {
            source: None,
            ..*self
        };
        let bucket = live.bucket("summed.\"time\"");
        let refreshed = self.mark("refreshed");
        let since_refresh =
            format!("jobstats.increments summed WHERE summed.\"time\" > {refreshed}");
        let dirty = sql!(
            "dirty_increments.sql",
            span = self.dirty_span(),
            columns = operations(|name| format!("increment.{name}")),
            changed = self.changed(),
            refreshed = refreshed
        );
        sql!(
            "live_view.sql",
            name = self.name,
            width = self.width,
            columns = operations(|name| format!("summed.{name}")),
            current = self.current(),
            since_refresh = live.sums(&bucket, &since_refresh),
            dirty = live.sums(&bucket, &dirty),
        )
    }

    fn rates_view(&self) -> String {
        let owner = OwnerColumns::of_rows_at("summed.bucket");
        sql!(
            "rates_view.sql",
            name = self.name,
            identifier = owner.identifier,
            user = owner.user,
            account = owner.account,
            names = owner.names,
            width = self.width,
            rates = operations(|name| format!("summed.{name} / width.seconds AS {name}")),
        )
    }

    /// Returns the SELECT of the rows of the rollup that are up to date: neither dropped nor dirty, and refreshed.
    fn current(&self) -> String {
        sql!(
            "current.sql",
            columns = operations(|name| format!("rollup.{name}")),
            relation = self.relation(),
            refreshed = self.mark("refreshed"),
            dropped = self.mark("dropped"),
            changed = self.changed(),
        )
    }

    /// Returns a SELECT of the targets with rows in `jobstats.dirty`, each with the whole buckets that these rows touch.
    fn changed(&self) -> String {
        sql!("changed.sql", span = self.dirty_span())
    }

    /// Returns an SQL expression for a time in the row of this rollup in `jobstats.rollups`.
    ///
    /// The addition keeps rows from being lost. Parallel scans of TimescaleDB 2.12 to 2.29 leave out chunks if a condition
    /// depends on a subquery and no condition calls a function that is not immutable, as this addition is.
    fn mark(&self, column: &str) -> String {
        format!(
            "(SELECT level.{column} FROM jobstats.rollups level WHERE level.level = '{}') + interval '0'",
            self.name
        )
    }

    /// Returns the SQL range of the whole buckets that a row `dirty` of `jobstats.dirty` touches.
    fn dirty_span(&self) -> String {
        format!(
            "tstzrange(date_bin('{width}', dirty.span_from, {EPOCH}), \
             date_bin('{width}', dirty.span_to - interval '1 microsecond', {EPOCH}) + interval '{width}', '(]')",
            width = self.width
        )
    }
}
