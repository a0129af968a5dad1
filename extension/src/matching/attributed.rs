//! Attributes I/O of entries without a job to the job that is likely to have done it.
//!
//! It is computed by each query and never stored: in all sums it remains I/O without a job.

use std::collections::HashMap;

use jobstats_core::accounting::matching::{Run, Stay, attributed, end};
use jobstats_core::accounting::node_list::{contains, count};
use jobstats_core::base::instant::{MINUTE, Micros};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::matching::{LONGEST_CLEANUP, late};
use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::pause::pause;
use crate::pg::spi::{Rows as SpiRows, SqlResult, Statements, connect_as_of_call, values};
use crate::pg::time::{micros, timestamptz};
use crate::pg::tuplestore::{IntoCell, Rows};

/// The length of the buckets that are attributed.
const BUCKET: Micros = 10 * MINUTE;

/// The largest numbers of runs of a user during a job, of the user's entries without a job, and of active buckets of these entries on the
/// job's nodes. A user with more gets no attribution.
const RUNS_MAX: usize = 10_000;
const ENTRIES_MAX: usize = 50_000;
const BUCKETS_MAX: usize = 300_000;

/// The memory of a list of nodes in bytes; nearly all are smaller.
const LIST_BYTES: usize = 4 << 10;

/// A run of the user, with its nodes.
struct NodeRun {
    /// The run on an unknown node.
    stay: Stay,
    nodes: Option<String>,
    /// Set if the list of nodes is complete.
    is_whole: bool,
}

impl NodeRun {
    fn stay(&self, node: &str) -> Stay {
        let is_in = self.nodes.as_ref().and_then(|list| contains(list, node));
        Stay {
            is_there: is_in.filter(|&is_in| is_in || self.is_whole),
            ..self.stay
        }
    }
}

/// Adjacent attributed buckets of an entry.
#[derive(Clone, Copy)]
pub struct Span {
    /// The key of the entry.
    pub entry: i64,
    /// The start of the first bucket.
    pub since: Micros,
    /// The end of the last bucket.
    pub until: Micros,
}

#[pg_extern(sql = false)]
fn jobstats_attributed_spans(
    job_no: i64,
    since: TimestampWithTimeZone,
    until: TimestampWithTimeZone,
    mut rows: Rows,
) -> SqlResult<()> {
    Ok(connect_as_of_call(|client| {
        for span in spans(client, job_no, Some(since), Some(until))? {
            let (since, until) = (timestamptz(span.since)?, timestamptz(span.until)?);
            rows.put(|| [span.entry.cell(), since.cell(), until.cell()]);
        }
        Ok(())
    })?)
}

/// Returns the attributed spans of a job between two times.
pub fn spans(
    client: &SpiClient<'_>,
    job_no: i64,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
) -> Result<Vec<Span>, Error> {
    let job = client.query_opt(
        include_str!("attributed/job.sql"),
        &values![job_no, since, until],
    )?;
    let Some(job) = job else {
        return Ok(Vec::new());
    };
    let (uid, since, until): (i64, TimestampWithTimeZone, TimestampWithTimeZone) =
        (job.get("uid")?, job.get("since")?, job.get("until")?);
    let during = [since, until];
    let nodes = nodes(client, job_no, uid, during)?;
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let entries: Vec<i64> = nodes.keys().copied().collect();
    let buckets = client.query(
        include_str!("attributed/buckets.sql"),
        &values![entries, since, until, BUCKETS_MAX as i64 + 1],
    )?;
    if buckets.len() == 0 || buckets.len() > BUCKETS_MAX {
        return Ok(Vec::new());
    }
    let late = late(client.query_value(LONGEST_CLEANUP, &[])?);
    let since = timestamptz(micros(since)?.saturating_sub(late))?;
    let runs = runs(client, uid, since, until)?;
    attribute(job_no, buckets, &nodes, &runs, late)
}

/// Returns the spans of buckets of entries on these nodes that belong to a job.
fn attribute(
    job_no: i64,
    buckets: SpiRows<'_>,
    nodes: &HashMap<i64, String>,
    runs: &[NodeRun],
    late: Micros,
) -> Result<Vec<Span>, Error> {
    let mut stays = HashMap::<&str, Vec<Stay>>::new();
    let mut spans = Vec::<Span>::new();
    for row in buckets {
        pause();
        let (entry, since): (i64, Micros) = (row.at(1)?, row.at(2)?);
        let Some(node) = nodes.get(&entry) else {
            continue;
        };
        let stays = stays
            .entry(node)
            .or_insert_with_key(|node| runs.iter().map(|run| run.stay(node)).collect());
        let until = since.saturating_add(BUCKET);
        if attributed(since, until, late, stays) != Some(job_no) {
            continue;
        }
        match spans.last_mut() {
            Some(last) if last.entry == entry && last.until == since => last.until = until,
            _ => spans.push(Span {
                entry,
                since,
                until,
            }),
        }
    }
    Ok(spans)
}

/// Returns the nodes of a user's entries without a job, as far as they are nodes of the job; empty if there are too many. Only the rollups
/// of these entries are read.
fn nodes(
    client: &SpiClient<'_>,
    job_no: i64,
    uid: i64,
    [since, until]: [TimestampWithTimeZone; 2],
) -> Result<HashMap<i64, String>, Error> {
    let found = client.query(
        include_str!("attributed/entries.sql"),
        &values![uid, ENTRIES_MAX as i64 + 1],
    )?;
    if found.len() == 0 || found.len() > ENTRIES_MAX {
        return Ok(HashMap::new());
    }
    let lists = client.query(
        include_str!("attributed/lists.sql"),
        &values![job_no, since, until, RUNS_MAX as i64 + 1],
    )?;
    require_room(lists.len(), LIST_BYTES)?;
    let lists = lists.map(|row| row.at(1));
    let lists: Vec<String> = lists.collect::<Result<_, Error>>()?;
    let is_listed = |node: &String| {
        lists.iter().any(|list| {
            pause();
            contains(list, node) == Some(true)
        })
    };
    let (mut known, mut nodes) = (HashMap::new(), HashMap::new());
    for row in found {
        let (entry, node): (i64, String) = (row.at(1)?, row.at(2)?);
        let is_listed = known.entry(node.clone()).or_insert_with_key(is_listed);
        if *is_listed {
            nodes.insert(entry, node);
        }
    }
    Ok(nodes)
}

/// Returns the runs of a user in a span; empty if there are too many.
fn runs(
    client: &SpiClient<'_>,
    uid: i64,
    since: TimestampWithTimeZone,
    until: TimestampWithTimeZone,
) -> Result<Vec<NodeRun>, Error> {
    let newest = client.query(include_str!("newest.sql"), &[])?;
    let newest = newest.map(|row| Ok((row.at(1)?, row.at(2)?)));
    let newest: HashMap<String, Micros> = newest.collect::<Result<_, Error>>()?;
    let found = client.query(
        include_str!("attributed/runs.sql"),
        &values![uid, since, until, RUNS_MAX as i64 + 1],
    )?;
    if found.len() > RUNS_MAX {
        return Ok(Vec::new());
    }
    let runs = found.map(|row| {
        let list: Option<String> = row.at(6)?;
        require_room(list.as_ref().map_or(0, String::len), 2)?;
        let run = Run {
            scheduler: row.at(2)?,
            started: row.at(3)?,
            ended: row.at(4)?,
            updated: row.at(5)?,
            ..Run::default()
        };
        let nodes: Option<i64> = row.at(7)?;
        let is_whole = |list: &String| {
            let listed = count(list).and_then(|count| i64::try_from(count).ok());
            nodes.is_none_or(|nodes| listed.is_some_and(|listed| listed >= nodes))
        };
        let newest = newest.get(&run.scheduler).copied();
        Ok(NodeRun {
            stay: Stay {
                job: row.at(1)?,
                is_there: None,
                started: run.started,
                ended: end(&run, newest.unwrap_or(run.updated)),
            },
            is_whole: list.as_ref().is_some_and(is_whole),
            nodes: list,
        })
    });
    runs.collect()
}
