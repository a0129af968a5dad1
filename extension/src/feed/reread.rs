//! Reads a text of `jobstats.texts` again, by the code that read it when it came.

use jobstats_core::rules::feed::Outcome;
use pgrx::datum::{Range, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::feed::covered::Covers;
use crate::feed::delivery::{Arguments, Delivery, bounds};
use crate::feed::ingest::Ingest;
use crate::feed::sources;
use crate::feed::text::Text;
use crate::feed::texts;
use crate::pg::arguments::Arguments as Call;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect_mut, values};
use crate::pg::time::clock_now;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::store;
use crate::text::zstd::unpack;

/// The result of reading a text again.
#[derive(Default)]
struct RereadResult {
    records: i32,
    problems: i32,
    changed: i32,
    problem: Option<String>,
}

#[pg_extern(sql = false)]
fn jobstats_reread_text(mut call: Call<'_>, mut rows: Rows) -> SqlResult<()> {
    let mut arguments = Arguments {
        cluster: call.take()?,
        source: call.take()?,
        server: call.take()?,
        read_at: call.take()?,
        ..Arguments::default()
    };
    let reread = connect_mut(|client| reread(client, &mut arguments))?;
    rows.put(|| {
        [
            reread.records.cell(),
            reread.problems.cell(),
            reread.changed.cell(),
            reread.problem.cell(),
        ]
    });
    Ok(())
}

fn reread(
    client: &mut SpiClient<'_>,
    arguments: &mut Arguments<'_>,
) -> Result<RereadResult, Error> {
    let settings = store::settings(client)?;
    let source = sources::named(arguments.source.as_deref())?;
    let now = clock_now();
    let mut delivery = Delivery::new(arguments, now)?;
    // A call reads texts of several clusters in any order, so it takes the lock for all clusters.
    source.lock(client, "")?;
    let Some((covers, body)) = stored(client, &delivery)? else {
        return Ok(RereadResult {
            problem: Some("the text is gone".to_owned()),
            ..RereadResult::default()
        });
    };
    if source.covers() == Covers::Stated {
        delivery.covers = covers.map(bounds).transpose()?.flatten();
    }
    let mut ingest = Ingest::new(&delivery, settings, now);
    let text = Text::plain(unpack(&body)?.into());
    let (outcomes, span) = texts::read(client, source, &mut ingest, text)?;
    let reread = result(&outcomes, &mut ingest);
    let span = span.map(texts::range).transpose()?;
    note(client, &delivery, &reread, span)?;
    Ok(reread)
}

/// Sums up the outcomes. `jobstats.rejects` has the unusable lines since the text arrived.
fn result(outcomes: &[Outcome], ingest: &mut Ingest<'_>) -> RereadResult {
    let (records, problems) = texts::counts(outcomes);
    let changed = outcomes.iter().map(|outcome| outcome.counts.active).sum();
    let rejected = outcomes.iter().find_map(|outcome| outcome.action.reason());
    let rejects = ingest.rejects.take();
    let first = rejects.into_iter().next().map(|reject| reject.reason);
    RereadResult {
        records,
        problems,
        changed,
        problem: rejected.map(str::to_owned).or(first),
    }
}

type Covered = Range<TimestampWithTimeZone>;

/// The covered span and the packed body of a text.
type StoredText = (Option<Covered>, Vec<u8>);

/// Returns a retained text, whose body may be in the row of an equal one.
fn stored(client: &mut SpiClient<'_>, delivery: &Delivery) -> Result<Option<StoredText>, Error> {
    let found = client.execute_opt(
        "SELECT t.covers, b.body FROM jobstats.texts t \
         JOIN jobstats.texts b ON b.cluster = t.cluster AND b.source = t.source AND b.server = t.server \
         AND b.digest = t.digest AND b.body IS NOT NULL \
         WHERE t.cluster = $1 AND t.source = $2 AND t.server = $3 AND t.\"time\" = $4",
        &delivery.key()?,
    )?;
    let stored = found.map(|row| Ok((row.get("covers")?, row.get("body")?)));
    stored.transpose()
}

/// Notes the result of reading the text again.
fn note(
    client: &mut SpiClient<'_>,
    delivery: &Delivery,
    reread: &RereadResult,
    covers: Option<Covered>,
) -> Result<(), Error> {
    let [cluster, source, server, time] = delivery.key()?;
    client.run(
        "UPDATE jobstats.texts t SET records = $5, problems = $6, covers = coalesce($7, t.covers) \
         WHERE t.cluster = $1 AND t.source = $2 AND t.server = $3 AND t.\"time\" = $4",
        &values![
            cluster,
            source,
            server,
            time,
            reread.records,
            reread.problems,
            covers
        ],
    )
}
