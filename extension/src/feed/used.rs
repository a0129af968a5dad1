//! Stores used space: the latest list of each target and kind of owner, and the first list of each day for the daily sums.
//!
//! The caller holds the locks of the targets.

use std::collections::HashMap;

use jobstats_core::rules::feed::{Outcome, reason};
use jobstats_core::rules::snapshot::Contents;
use jobstats_core::text::additional_parameters::{Owner, Parameter, Problems};
use jobstats_core::text::used::{self, Usage};
use pgrx::datum::{Date, DatumWithOid};
use pgrx::spi::SpiClient;

use crate::feed::ingest::Ingest;
use crate::feed::server_parameters::OwnedTargetName;
use crate::feed::targets::Target;
use crate::pg::error::Error;
use crate::pg::memory::{require_room, reserve};
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;

/// The number of owners in a statement, and the memory of each.
const AT_A_TIME: usize = 10_000;
const OWNER_BYTES: usize = 256;

/// The space that owners of one kind use on a target.
pub struct UsedSpace {
    pub target: OwnedTargetName,
    owner: Owner,
    /// The owners in the order of their numbers.
    rows: Vec<Usage>,
}

/// Reads the lists of a text, and rejects unusable ones.
pub fn read(contents: &Contents<'_>, ingest: &mut Ingest<'_>) -> Result<Vec<UsedSpace>, Error> {
    let mut problems = Problems::default();
    let mut lists = Vec::new();
    for other in &contents.others {
        if let Parameter::Used(target, owner) = other.parameter
            && let Some(rows) = used::read(other, &mut problems, PAUSE)?
        {
            reserve(&mut lists, 1)?;
            lists.push(UsedSpace {
                target: OwnedTargetName::of(target),
                owner,
                rows,
            });
        }
    }
    ingest.rejects.add_values(&problems);
    Ok(lists)
}

/// Stores a list if it is the newest of its target or the first of its day. Returns an outcome if it is older than raw text is
/// retained and is not the newest one.
///
/// # Errors
/// Errors of PostgreSQL, or too little memory.
pub fn store(
    client: &mut SpiClient<'_>,
    ingest: &mut Ingest<'_>,
    targets: &HashMap<String, Target>,
    list: &UsedSpace,
) -> Result<Option<Outcome>, Error> {
    let Some(target) = targets.get(&list.target.shown()) else {
        return Ok(None);
    };
    let (kind, time) = (list.owner.as_str(), timestamptz(ingest.delivery.time)?);
    let key = values![target.id, kind, time];
    if ingest.limits().is_old(ingest.delivery.time) && !is_newest(client, &key)? {
        let shown = format!("used space by {kind}");
        let name = Some(target.name.as_str());
        return Ok(Some(ingest.reject(
            name,
            reason::TOO_LATE,
            Some(shown.as_bytes()),
        )));
    }
    let noted = client.execute_opt(include_str!("used/note.sql"), &key)?;
    let noted = noted.ok_or(Error::NoRow("used_lists"))?;
    let day: Date = noted.get("day")?;
    for (table, is_to_be_written) in [("used_now", "is_newest"), ("used_first", "is_first")] {
        if noted.get(is_to_be_written)? {
            write(client, table, (target.id, kind), day, &list.rows)?;
        }
    }
    Ok(None)
}

/// Returns whether all stored lists of a target and kind are older than a time, and there are some.
fn is_newest(client: &mut SpiClient<'_>, key: &[DatumWithOid<'_>]) -> Result<bool, Error> {
    client.execute_value(
        "SELECT coalesce(max(list.last) < $3, false) FROM jobstats.used_lists list WHERE list.target_id = $1 AND list.kind = $2",
        key,
    )
}

/// Replaces a list in batches. Unchanged rows are not written.
fn write(
    client: &mut SpiClient<'_>,
    table: &str,
    (target, kind): (i32, &str),
    day: Date,
    rows: &[Usage],
) -> Result<(), Error> {
    let of_day = table == "used_first";
    let only = |text: &'static str| if of_day { text } else { "" };
    let statement = sql!(
        "used/write.sql",
        table = table,
        day = only("day, "),
        said_day = only("$3, "),
        of_day = only(" AND stored.day = $3"),
    );
    let (mut after, mut rest) = (-1, rows);
    loop {
        pause();
        let (some, more) = rest.split_at(rest.len().min(AT_A_TIME));
        require_room(some.len(), OWNER_BYTES)?;
        let last = some.last().filter(|_| !more.is_empty());
        let until = last.map_or(i64::MAX, |it| it.id.into());
        let column =
            |value: &dyn Fn(&Usage) -> i64| some.iter().map(value).collect::<Vec<_>>().into();
        client.execute(
            &statement,
            &[
                target.into(),
                kind.into(),
                day.into(),
                after.into(),
                until.into(),
                column(&|it| it.id.into()),
                column(&|it| it.kbytes),
                column(&|it| it.inodes),
            ],
        )?;
        if more.is_empty() {
            return Ok(());
        }
        (after, rest) = (until, more);
    }
}
