//! Retains texts of users and jobs in `jobstats.texts`.
//!
//! The key of a text is its cluster, source, server and time. The digest distinguishes a repeated text from a different one of
//! the same time. Texts of getent are retained without passwords and personal data, all others unchanged.

use std::borrow::Cow;

use jobstats_core::accounting::coverage::Span;
use jobstats_core::rules::feed::{Action, Outcome, reason};
use pgrx::datum::{Range, TimestampWithTimeZone};
use pgrx::spi::SpiClient;
use xxhash_rust::xxh3::xxh3_128;

use crate::feed::covered;
use crate::feed::delivery::Delivery;
use crate::feed::ingest::Ingest;
use crate::feed::sources::Source;
use crate::feed::text::{Text, require_size};
use crate::feed::timing::{Phase, timed};
use crate::pg::bytea::Bytea;
use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;
use crate::text::zstd::{pack, require_ratio};

/// Stores the content of a text and the text itself, unless it is known.
pub fn ingest(
    client: &mut SpiClient<'_>,
    source: &dyn Source,
    ingest: &mut Ingest<'_>,
    text: Text<'_>,
) -> Result<Vec<Outcome>, Error> {
    let delivery = ingest.delivery;
    let max_size = source.max_size(ingest.settings.max_text);
    require_size(text.bytes().len(), max_size)?;
    let (digest, body) = {
        let Some(retained) = source.retained(text.bytes())? else {
            return source.ingest(client, ingest, text);
        };
        source.lock(client, &delivery.cluster)?;
        // An unchanged text may have come packed.
        let came = match &retained {
            Cow::Borrowed(_) => text.came_packed,
            Cow::Owned(_) => None,
        };
        let digest = digest(came, &retained);
        match stored_digest(client, delivery)? {
            Some(known) if known == digest => {
                return Ok(vec![Outcome::new(None, Action::Repeated)]);
            }
            Some(_) => return Ok(vec![ingest.reject(None, reason::DIFFERENT, None)]),
            None => {}
        }
        let body = match is_stored(client, delivery, &digest)? {
            true => None,
            false => packed(came, &retained)?,
        };
        (digest, body)
    };
    let (outcomes, span) = read(client, source, ingest, text)?;
    let is_untimely = |outcome: &Outcome| outcome.action.reason() == Some(reason::CLOCK);
    if !outcomes.iter().any(is_untimely) {
        timed(Phase::Text, || {
            insert(client, ingest, (&digest, body), &outcomes, span)
        })?;
    }
    Ok(outcomes)
}

/// Stores the content of a text and its covered span. Returns the span; `None` if there is none or the text was rejected.
pub fn read(
    client: &mut SpiClient<'_>,
    source: &dyn Source,
    ingest: &mut Ingest<'_>,
    text: Text<'_>,
) -> Result<(Vec<Outcome>, Option<Span>), Error> {
    let outcomes = source.ingest(client, ingest, text)?;
    let is_used = outcomes.iter().all(|it| it.action.reason().is_none());
    let span = if is_used {
        covered::note(client, source.covers(), ingest)?
    } else {
        None
    };
    Ok((outcomes, span))
}

/// Returns XXH3-128 of the retained bytes, which is known if the text came packed.
fn digest(came: Option<(Bytea<'_>, u128)>, retained: &[u8]) -> [u8; 16] {
    let digest = came.map(|(_, digest)| digest);
    let digest = digest.unwrap_or_else(|| timed(Phase::Digest, || xxh3_128(retained)));
    digest.to_be_bytes()
}

/// Packs the retained bytes; `None` if unpacking would be refused.
fn packed<'a>(
    came: Option<(Bytea<'a>, u128)>,
    retained: &[u8],
) -> Result<Option<Bytea<'a>>, Error> {
    if let Some((packed, _)) = came {
        return Ok(Some(packed));
    }
    let packed = timed(Phase::Pack, || pack(retained))?;
    if require_ratio(retained.len(), packed.len()).is_err() {
        return Ok(None);
    }
    let packed = Bytea::copied(&packed).ok_or(Error::Memory(packed.len()))?;
    Ok(Some(packed))
}

fn stored_digest(
    client: &mut SpiClient<'_>,
    delivery: &Delivery,
) -> Result<Option<Vec<u8>>, Error> {
    let found = client.execute_opt(
        "SELECT t.digest FROM jobstats.texts t \
         WHERE t.cluster = $1 AND t.source = $2 AND t.server = $3 AND t.\"time\" = $4",
        &delivery.key()?,
    )?;
    found.map(|row| row.get("digest")).transpose()
}

/// Returns whether an equal text of the same cluster, source and server is stored, and locks its body against deletion.
fn is_stored(
    client: &mut SpiClient<'_>,
    delivery: &Delivery,
    digest: &[u8; 16],
) -> Result<bool, Error> {
    let [cluster, source, server, _] = delivery.key()?;
    let found = client.execute_opt(
        "SELECT FROM jobstats.texts t WHERE t.cluster = $1 AND t.source = $2 AND t.server = $3 \
         AND t.digest = $4 AND t.body IS NOT NULL FOR KEY SHARE",
        &values![cluster, source, server, digest.as_slice()],
    )?;
    Ok(found.is_some())
}

/// Inserts the row of a text, without a body if an earlier row has it or unpacking would be refused.
fn insert(
    client: &mut SpiClient<'_>,
    ingest: &Ingest<'_>,
    (digest, body): (&[u8; 16], Option<Bytea<'_>>),
    outcomes: &[Outcome],
    span: Option<Span>,
) -> Result<(), Error> {
    let [cluster, source, server, time] = ingest.delivery.key()?;
    let (records, problems) = counts(outcomes);
    let span = span.or_else(|| covered::stated(ingest));
    let (received, covers) = (timestamptz(ingest.now)?, span.map(range).transpose()?);
    client.run(
        "INSERT INTO jobstats.texts (cluster, source, server, \"time\", received, covers, body, digest, records, problems) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
         ON CONFLICT (cluster, source, server, \"time\") DO NOTHING",
        &values![cluster, source, server, time, received, covers, body, digest.as_slice(), records, problems],
    )
}

/// Returns the numbers of records and of problems of a text. A text that was rejected is a problem.
pub fn counts(outcomes: &[Outcome]) -> (i32, i32) {
    outcomes
        .iter()
        .fold((0, 0), |(records, problems): (i32, i32), outcome| {
            let rejected = i32::from(outcome.action.reason().is_some());
            let found = outcome.counts.problems.saturating_add(rejected);
            let records = records.saturating_add(outcome.counts.entries);
            (records, problems.saturating_add(found))
        })
}

/// Returns a span as PostgreSQL has it. Both ends belong to it, so that it is not empty if they are equal.
pub fn range(span: Span) -> Result<Range<TimestampWithTimeZone>, Error> {
    Ok(Range::new(
        timestamptz(span.since)?,
        timestamptz(span.until)?,
    ))
}
