//! `jobstats_used()` reports whose files fill a file system.

use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements};
use crate::pg::template::sql;
use crate::pg::time::{micros, now, timestamptz};
use crate::pg::tuplestore::Rows;
use crate::query::answer::{read, write_rows};
use crate::query::names::{groups_at, users_at};
use crate::query::notice::{hinted, listed};
use crate::store;
use crate::store::rights::caller::own_parameters;

#[pg_extern(sql = false)]
fn jobstats_used(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let at: Option<TimestampWithTimeZone> = arguments.take()?;
    let by: Option<Vec<Option<String>>> = arguments.take()?;
    let by = by.unwrap_or_else(|| vec![Some("user".to_owned())]);
    let by: Vec<String> = by.into_iter().flatten().collect();
    let kind = kind(&by)?;
    let since: Option<TimestampWithTimeZone> = arguments.take()?;
    let [cluster, filesystem] = [arguments.take()?, arguments.take()?];
    let target: Patterns = arguments.take()?;
    let now = now()?;
    let at = at.map(micros).transpose()?.filter(|at| *at < now);
    since.map_or(Ok(0), micros)?;
    let by_target = target.is_some() || by.iter().any(|name| name == "target");
    if by_target && (at.is_some() || since.is_some()) {
        let hint = "Leave out at and since, or target.";
        return Err(Error::argument("used space of the past is not kept by target", hint).into());
    }
    let scope = [cluster, filesystem, target];
    let mut parameters: Vec<DatumWithOid<'_>> = vec![
        timestamptz(at.unwrap_or(now))?.into(),
        kind.into(),
        since.into(),
    ];
    parameters.extend(scope.clone().map(DatumWithOid::from));
    let (owners, has_owners) = owners(&mut arguments)?;
    parameters.extend(owners);
    let is_of_owners = has_owners || by.iter().any(|name| name != "target");
    parameters.push(by.into());
    read(|client, own| {
        store::require(client)?;
        // The space of whole targets is everybody's.
        let own = own.filter(|_| is_of_owners);
        // Own space is found before filters are tested, or the counters of PostgreSQL would tell of others.
        let fence = own.map_or("", |_| "MATERIALIZED");
        let [uids, _] = own_parameters(own);
        parameters.push(uids);
        let space = match at {
            Some(_) => sql!("used/of_day.sql", day = "$1", before = ""),
            None => include_str!("used/now.sql").to_owned(),
        };
        let statement = sql!(
            "used/used.sql",
            fence = fence,
            space = space,
            before = sql!("used/of_day.sql", day = "$3", before = "before_"),
            user_names = users_at("$1"),
            group_names = groups_at("$1"),
        );
        let written = write_rows(client, &statement, &parameters, &mut rows)?;
        note(client, kind, scope, at.is_some(), written)
    })
}

/// Returns the kind of the owners that make the rows of an answer, or whose space is summed.
fn kind(by: &[String]) -> Result<&'static str, Error> {
    const KINDS: [&str; 3] = ["user", "group", "project"];
    let is_known =
        |name: &String| KINDS.contains(&&**name) || name == "account" || name == "target";
    let mut kinds = KINDS
        .into_iter()
        .filter(|kind| by.iter().any(|name| name == kind));
    let kind = kinds.next().unwrap_or("user");
    let has_account = by.iter().any(|name| name == "account");
    if kinds.next().is_some() || has_account && kind != "user" || !by.iter().all(is_known) {
        let hint = "by takes one of user, group, project and account, with or without target.";
        let problem = format!("there is no space by \"{}\"", by.join(", "));
        return Err(Error::argument(problem, hint));
    }
    Ok(kind)
}

/// Returns the filters by owners as parameters, and whether there are any.
fn owners(arguments: &mut Arguments<'_>) -> Result<(Vec<DatumWithOid<'static>>, bool), Error> {
    let (mut owners, mut has_any) = (Vec::new(), false);
    for _ in ["user", "group", "project and account"] {
        let numbers: Option<Vec<Option<i64>>> = arguments.take()?;
        let names: Patterns = arguments.take()?;
        has_any |= numbers.is_some() || names.is_some();
        owners.extend([numbers.into(), names.into()]);
    }
    Ok((owners, has_any))
}

/// Patterns of an argument.
type Patterns = Option<Vec<Option<String>>>;

/// Raises notices that say why there is no row, or which targets are missing in sums of now.
fn note(
    client: &SpiClient<'_>,
    kind: &str,
    scope: [Patterns; 3],
    is_past: bool,
    written: usize,
) -> Result<(), Error> {
    let [cluster, filesystem, target] = scope.map(DatumWithOid::from);
    let row = client.query_only(
        include_str!("used/missing.sql"),
        &[cluster, filesystem, target, kind.into()],
        "targets",
    )?;
    let (read, missing): (i64, Vec<String>) = (row.get("read")?, row.get("missing")?);
    if read == 0 && written == 0 {
        hinted(
            format!("no target has said what each {kind} uses"),
            format!(
                "jobstats-shipper asks for quota_slave.acct_{kind} once an hour. Lustre prints nothing where a target counts no {kind}s."
            ),
        );
    } else if written == 0 {
        hinted(
            "nothing is known of this time, or of what the other arguments name",
            "Sums of a day are made when it is over: SELECT min(day), max(day) FROM jobstats.used;",
        );
    } else if !is_past && !missing.is_empty() {
        let (number, names) = (missing.len(), listed(&missing, 10));
        hinted(
            format!("{number} targets have not said within a day what each {kind} uses: {names}"),
            "Sums of their file systems are too small or old: compare targets with of_targets, and see time.",
        );
    }
    Ok(())
}
