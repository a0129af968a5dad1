//! `jobstats_space()` reports whose files fill a file system.

use jobstats_core::base::instant::Micros;
use jobstats_core::usage::dimension::PROJECT;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements};
use crate::pg::template::sql;
use crate::pg::time::{micros, now, timestamptz};
use crate::pg::tuplestore::Rows;
use crate::query::answer::{read, write_rows};
use crate::query::dimension::{By, Jobs, Level, Table, ValueType, words};
use crate::query::filters::Filters;
use crate::query::labels::ALL;
use crate::query::names::{groups_at, users_at};
use crate::query::notice::{hinted, listed};
use crate::query::params::Params;
use crate::query::question::number_of_rows;
use crate::query::window::ROW_LIMIT;
use crate::store;
use crate::store::rights::caller::own_parameters;

/// The keys of filters but the project.
const KEYS: &str = "cluster, filesystem, target, user, uid, group, gid, account";

/// The kinds of owners that Lustre counts the space of, each with the dimensions that make its rows.
const KINDS: [(&str, &[&str]); 3] = [
    ("user", &["user", "uid", "account"]),
    ("group", &["group", "gid"]),
    (PROJECT.name, &[PROJECT.name]),
];

/// The owners, which have a column for each dimension.
const OWNER: Table = Table {
    name: "owner",
    jobs: Jobs::Columns,
};

/// The arguments.
struct Query {
    /// `None` is now.
    at: Option<TimestampWithTimeZone>,
    since: Option<TimestampWithTimeZone>,
    by: By,
    kind: &'static str,
    filters: Filters,
    n: usize,
}

#[pg_extern(sql = false)]
fn jobstats_space(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let at: Option<TimestampWithTimeZone> = arguments.take()?;
    let by: Option<String> = arguments.take()?;
    let since: Option<TimestampWithTimeZone> = arguments.take()?;
    let n: Option<i32> = arguments.take()?;
    let filters = Filters::take_with_projects(&mut arguments)?;
    filters.require_keys(&words(KEYS).collect::<Vec<_>>())?;
    let is_past = at.map_or(Ok(Micros::MAX), micros)? < now()?;
    since.map_or(Ok(0), micros)?;
    let by: Vec<&str> = words(by.as_deref().unwrap_or("user")).collect();
    let query = Query {
        at: at.filter(|_| is_past),
        since,
        kind: kind(&by)?,
        by: By::these(&by),
        filters,
        n: number_of_rows(n, ROW_LIMIT + 1)?.min(ROW_LIMIT + 1),
    };
    if query.is_by_target() && (query.at.is_some() || query.since.is_some()) {
        let hint = "Leave out at and since, or target.";
        return Err(Error::argument("past used space is not stored by target", hint).into());
    }
    read(|client, own| {
        store::require(client)?;
        // The space of whole targets is everybody's.
        let own = own.filter(|_| query.is_of_owners());
        let params = Params::default();
        let [uids, _] = own_parameters(own);
        let own_uids = params.bind("own", || uids);
        // The reader's rows are selected before filters are applied, or PostgreSQL's counters would disclose others.
        let fence = own.map_or("", |_| "MATERIALIZED");
        let statement = query.statement(&params, &own_uids, fence)?;
        write_rows(&statement, &params.take(), &mut rows, ROW_LIMIT)?;
        query.note(client, rows.len)
    })
}

/// Returns the kind of the owners that make the rows of an answer, or whose space is summed.
fn kind(by: &[&str]) -> Result<&'static str, Error> {
    let is_of_all = |name: &&&str| ["cluster", "filesystem", "target"].contains(*name);
    let query = || by.iter().filter(|it| !is_of_all(it));
    let fits = |names: &[&str]| query().all(|it| names.contains(it));
    let found = KINDS.iter().find(|(_, names)| fits(names));
    found.map(|(kind, _)| *kind).ok_or_else(|| {
        Error::argument(
            format!("cannot group space by \"{}\"", by.join(", ")),
            "by must be one of user, group, project and account, with or without cluster, filesystem and target.",
        )
    })
}

impl Query {
    fn is_by_target(&self) -> bool {
        self.by.iter().any(|it| it.name == "target") || self.filters.wanted("target").is_some()
    }

    fn is_of_owners(&self) -> bool {
        self.by.has(Level::Entry) || self.filters.has(Level::Entry)
    }

    fn statement(&self, params: &Params, own: &str, fence: &str) -> Result<String, Error> {
        let at = self.at.map_or_else(|| now().and_then(timestamptz), Ok)?;
        let (at, since) = (
            params.bind("at", || at),
            params.bind("since", || self.since),
        );
        let kind = params.bind("kind", || self.kind);
        let by_target = self.is_by_target().to_string();
        let of_day =
            |day: &str, before| sql!("space/of_day.sql", day = day, before = before, kind = kind);
        let shown = self.by.iter().map(|it| format!(", answer.{}", it.name));
        let shown: String = shown.collect();
        let owners = self.by.of(&[Level::Entry]);
        let owners: String = owners.map(|it| format!(", owner.{}", it.name)).collect();
        Ok(sql!(
            "space/space.sql",
            at = at,
            since = since,
            kind = kind,
            own = own,
            fence = fence,
            of_targets = self.filters.conditions(Level::Target, "target", params),
            space = match self.at {
                Some(_) => of_day(&at, ""),
                None => sql!("space/now.sql", kind = kind, by_target = by_target),
            },
            before = of_day(&since, "before_"),
            user_names = users_at(&at),
            group_names = groups_at(&at),
            owners = owners,
            schema = store::extension_schema()?,
            name = self.name(),
            labels = self.labels(),
            of_owners = self.filters.conditions(Level::Entry, OWNER, params),
            shown = shown,
            group_by = match shown.strip_prefix(", ") {
                Some(shown) => format!("GROUP BY {shown}"),
                None => String::new(),
            },
            limit = params.bind("n", || self.n as i64),
        ))
    }

    /// Returns an expression for the name of a row, which lists its values.
    fn name(&self) -> String {
        let value = |name| format!("nullif(coalesce(answer.{name}::text, '-'::text), ''::text)");
        let values: Vec<String> = self.by.iter().map(|it| value(it.name)).collect();
        match values.is_empty() {
            true => format!("'{ALL}'::text"),
            false => format!("concat_ws(', '::text, {})", values.join(", ")),
        }
    }

    /// Returns the keys and values of the labels of a row.
    fn labels(&self) -> String {
        let labels = self.by.iter().map(|it| match it.value_type {
            ValueType::Number => format!("'{0}'::text, answer.{0}", it.name),
            ValueType::Text => format!(
                "'{0}'::text, jobstats_internal.exactly(answer.{0})",
                it.name
            ),
        });
        labels.collect::<Vec<_>>().join(", ")
    }

    /// Raises notices that explain an answer without rows, and list targets missing in current sums.
    fn note(&self, client: &SpiClient<'_>, written: usize) -> Result<(), Error> {
        let kind = self.kind;
        let params = Params::default();
        let statement = format!(
            "SELECT target.name, EXISTS (SELECT FROM jobstats.used_lists used WHERE used.target_id = target.target_id \
             AND used.kind = {} AND used.last > now() - interval '1 day') AS is_read \
             FROM jobstats.targets target WHERE target.retired IS NULL{} ORDER BY target.name",
            params.bind("kind", || kind),
            self.filters.conditions(Level::Target, "target", &params)
        );
        let (mut read, mut missing) = (0, Vec::new());
        for row in client.query(&statement, &params.take())? {
            match row.get("is_read")? {
                true => read += 1,
                false => missing.push(row.get("name")?),
            }
        }
        if read == 0 && written == 0 {
            hinted(
                format!("no target has reported space by {kind}"),
                format!(
                    "jobstats-shipper reads quota_slave.acct_{kind} once an hour. It is empty if a target does not account {kind}s."
                ),
            );
        } else if written == 0 {
            hinted(
                "no data for this time and filter",
                "Days are summed after their end: SELECT min(day), max(day) FROM jobstats.used;",
            );
        } else if self.at.is_none() && !missing.is_empty() {
            let (number, names) = (missing.len(), listed(&missing, 10));
            hinted(
                format!("{number} targets have not reported space by {kind} within a day: {names}"),
                "Sums of their file systems are too small or outdated: compare targets with of_targets, and see time.",
            );
        }
        Ok(())
    }
}
