//! The sources of jobs: the accounting of schedulers fills `jobstats.jobs`.
//!
//! A text may have several records of a job, texts overlap, and some are late. [`jobstats_core::accounting::merge`] merges
//! records into the rows of a submission in any order. Rejects have a line number and a reason, never the text, which names
//! people.
//!
//! Users and groups without a name get the name in their jobs.

mod people;
mod stored;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jobstats_core::accounting::run_counts::RunCounts;
use jobstats_core::accounting::zone::Zone;
use jobstats_core::accounting::{Job, Reason, Record, Scheduler, pbs, slurm};
use jobstats_core::base::instant::Micros;
use jobstats_core::rules::feed::{Action, Outcome, reason};
use jobstats_core::rules::increment::Counts;
use pgrx::spi::SpiClient;

use crate::feed::covered::{Covers, is_before_covers};
use crate::feed::ingest::Ingest;
use crate::feed::sources::{Source, lock_row, show};
use crate::feed::text::Text;
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::pause::PAUSE;
use crate::pg::spi::{Statements, connect_mut, values};
use people::People;
use stored::Submission;

/// The number of records in a batch, which is merged with all stored rows of their submissions.
const AT_A_TIME: usize = 250;

/// The largest record in bytes of its values.
const RECORD_MAX: usize = 64 << 10;

/// The memory of a record in bytes: per byte of its values, plus a constant.
const COPIES: usize = 8;
const RECORD_BYTES: usize = 4 << 10;

/// The longest number or label of a job in bytes: rows of an index are limited.
const NAME_MAX: usize = 255;

/// The longest name of a job in bytes. A longer one is truncated.
const JOB_NAME_MAX: usize = 1 << 10;

/// The largest number of runs of a submission. Each of its records is merged with all of them.
const RUNS_MAX: usize = 300;

impl Source for Scheduler {
    fn name(&self) -> &'static str {
        self.name
    }

    fn recognizes(&self, text: &[u8]) -> bool {
        (self.recognizes)(text)
    }

    fn retained<'t>(&self, text: &'t [u8]) -> Result<Option<Cow<'t, [u8]>>, Error> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn lock(&self, client: &mut SpiClient<'_>, cluster: &str) -> Result<(), Error> {
        lock_jobs(client, cluster)
    }

    fn covers(&self) -> Covers {
        match self.grows {
            true => Covers::Records,
            false => Covers::Stated,
        }
    }

    fn ingest(
        &self,
        client: &mut SpiClient<'_>,
        ingest: &mut Ingest<'_>,
        text: Text<'_>,
    ) -> Result<Vec<Outcome>, Error> {
        if !ingest.is_timely() {
            return Ok(vec![ingest.reject(None, reason::CLOCK, None)]);
        }
        let is_slurm = self.name == slurm::SCHEDULER.name;
        let zone = if is_slurm { zone(client)? } else { Zone::UTC };
        let (mut counts, timeless) = store(self, ingest, text.bytes(), &zone)?;
        if counts.entries == 0
            && let Some(reason) = why_unusable(self, text.bytes(), &counts, timeless)
        {
            return Ok(vec![match reason {
                // Each line of the text is a reject already.
                reason::NO_HEADER => Outcome::new(None, Action::Rejected(reason)),
                _ => ingest.reject(None, reason, None),
            }]);
        }
        if is_before_covers(ingest) {
            counts.problems = counts.problems.saturating_add(1);
            ingest.rejects.add(None, None, reason::BEFORE_COVERS, None);
        }
        let is_forgeable = is_slurm && slurm::is_forgeable(text.bytes());
        if is_forgeable {
            let reason = reason::GUESSABLE_DELIMITER;
            ingest.rejects.add(None, None, reason, None);
        }
        Ok(vec![Outcome {
            counts,
            is_forgeable,
            ..Outcome::new(None, Action::Jobs)
        }])
    }
}

/// Stores the jobs, users and groups of a text. Returns the counts, and the number of records without times.
fn store(
    scheduler: &Scheduler,
    ingest: &mut Ingest<'_>,
    text: &[u8],
    zone: &Zone,
) -> Result<(Counts, u64), Error> {
    let (mut counts, mut people, mut timeless) = (Counts::default(), People::default(), 0);
    let mut runs = RunCounts::default();
    let mut records = (scheduler.records)(text, zone, PAUSE).peekable();
    let mut schedulers = BTreeSet::new();
    while records.peek().is_some() {
        let batch = timed(Phase::Scan, || {
            batch(&mut records, ingest, &mut runs, &mut counts, &mut timeless)
        })?;
        // The end of the connection frees the rows that were read.
        let written = timed(Phase::Jobs, || {
            connect_mut(|client| {
                let time = ingest.delivery.time;
                let new = new_schedulers(&mut schedulers, &batch);
                if !new.is_empty() {
                    stored::note_schedulers(client, &new, time)?;
                }
                stored::merge(client, scheduler.name, time, &batch)
            })
        })?;
        for (job, _) in batch.values().flatten() {
            people.add(job);
        }
        if people.are_many() {
            timed(Phase::Names, || connect_mut(|client| people.store(client)))?;
        }
        for _ in 0..written.refused {
            ingest.rejects.add(None, None, reason::TOO_MANY_RUNS, None);
        }
        counts.active = counts.active.saturating_add(written.changed);
        counts.added = counts.added.saturating_add(written.added);
    }
    timed(Phase::Names, || connect_mut(|client| people.store(client)))?;
    Ok((counts, timeless))
}

/// Returns the reason to reject a text without usable records; `None` if it may have no records.
fn why_unusable(
    scheduler: &Scheduler,
    text: &[u8],
    counts: &Counts,
    timeless: u64,
) -> Option<&'static str> {
    let has_problems = counts.problems > 0;
    if has_problems && scheduler.name == slurm::SCHEDULER.name && slurm::lacks_header(text) {
        return Some(reason::NO_HEADER);
    }
    if has_problems || text.trim_ascii().is_empty() {
        return Some(reason::NO_JOBS);
    }
    // Of a queued job, PBS prints little more than the number.
    (timeless > 0 && scheduler.name != pbs::SCHEDULER.name).then_some(reason::NO_TIMES)
}

/// Returns the schedulers of a batch that earlier batches lack.
fn new_schedulers<'b>(known: &mut BTreeSet<String>, batch: &'b Batch<'_>) -> Vec<&'b str> {
    let mut new: Vec<&str> = batch.keys().map(|it| &*it.scheduler).collect();
    new.dedup();
    new.retain(|scheduler| known.insert((*scheduler).to_owned()));
    new
}

/// The records of some submissions.
type Batch<'a> = BTreeMap<Submission, Vec<(Job<'a>, Micros)>>;

/// Takes the next records, rejects unusable ones, and counts records without times.
fn batch<'a>(
    records: &mut impl Iterator<Item = Record<'a>>,
    ingest: &mut Ingest<'_>,
    runs: &mut RunCounts,
    counts: &mut Counts,
    timeless: &mut u64,
) -> Result<Batch<'a>, Error> {
    let (mut batch, mut bytes) = (Batch::new(), 0);
    let latest = ingest.latest();
    for record in records.take(AT_A_TIME) {
        bytes += record.job.as_ref().map_or(0, Job::text_len);
        let usable = usable(record.job, &ingest.delivery.cluster, latest);
        let counted = usable.and_then(|job| match runs.add(&job.job) {
            true => Ok(job),
            false => Err(reason::TOO_MANY_OF_NUMBER),
        });
        match counted {
            // Such a record does not identify a job: a scheduler may use a number again.
            Ok(job) if job.submitted.is_none() && job.started.is_none() => {
                *timeless += 1;
            }
            Ok(job) => {
                counts.entries = counts.entries.saturating_add(1);
                if let Some(doubt) = job.time_doubt {
                    ingest
                        .rejects
                        .add(None, Some(record.line), doubt.code(), None);
                }
                ingest.times.add(&job);
                let submission = Submission::of(&job, &ingest.delivery.cluster);
                let records = batch.entry(submission).or_default();
                records.push((job, ingest.delivery.time));
            }
            Err(reason) => {
                counts.problems = counts.problems.saturating_add(1);
                ingest.rejects.add(None, Some(record.line), reason, None);
            }
        }
    }
    require_room(bytes, COPIES)?;
    require_room(batch.len(), RECORD_BYTES)?;
    Ok(batch)
}

/// Returns a job that can be stored, or the reason why it cannot. Whoever feeds a cluster feeds its scheduler, and no other.
/// Nothing happened after `latest`: a later time is one of another zone, and would count for ever.
fn usable<'a>(
    job: Result<Job<'a>, Reason>,
    cluster: &str,
    latest: Micros,
) -> Result<Job<'a>, &'static str> {
    let mut job = job.map_err(Reason::code)?;
    // A user could keep a job out of the store by its name.
    job.shorten_name(JOB_NAME_MAX);
    let is_long = |name: &str| name.len() > NAME_MAX;
    if is_long(&job.job) || is_long(&job.label) || job.scheduler.as_deref().is_some_and(is_long) {
        return Err(Reason::BadJob.code());
    }
    if job.text_len() > RECORD_MAX {
        return Err(reason::RECORD_TOO_LONG);
    }
    let times = [job.submitted, job.started, job.ended];
    if times.into_iter().flatten().any(|time| time > latest) {
        return Err(reason::FUTURE);
    }
    let is_of_another = |scheduler: &str| !cluster.is_empty() && scheduler != cluster;
    if job.scheduler.as_deref().is_some_and(is_of_another) {
        return Err(reason::NOT_YOURS);
    }
    Ok(job)
}

/// Returns the zone of times that were printed without one.
///
/// # Errors
/// [`Error::Argument`] if the system does not know it.
fn zone(client: &SpiClient<'_>) -> Result<Zone, Error> {
    let name: String = client.query_value("SELECT s.zone FROM jobstats.settings s", &[])?;
    Zone::named(&name).ok_or_else(|| {
        let hint = "Use a name from the time zone database: UPDATE jobstats.settings SET zone = 'Europe/Berlin';";
        let error = format!("time zone {name:?} does not exist on this system");
        Error::argument(error, hint)
    })
}

/// Serializes feeds of jobs of a cluster, which may merge into the same rows. Feeds of other clusters do not wait, but a feed
/// without a cluster may write jobs of all.
fn lock_jobs(client: &mut SpiClient<'_>, cluster: &str) -> Result<(), Error> {
    show(client)?;
    if cluster.is_empty() {
        return lock_row(client, "jobs", "FOR UPDATE");
    }
    lock_row(client, "jobs", "FOR KEY SHARE")?;
    let name = format!("jobs of {cluster}");
    client.execute(
        "INSERT INTO jobstats.locks (name) VALUES ($1) ON CONFLICT DO NOTHING",
        &values![name.as_str()],
    )?;
    lock_row(client, &name, "FOR UPDATE")
}
