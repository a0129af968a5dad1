//! The truth about jobs as JSON lines: every run of every job, and the owner of the requests of each identifier on each day, with the best
//! attribution that the identifier and the texts of accounting allow.

use std::io::{self, Write};

use serde::Serialize;

use crate::jobs::{CLUSTERS, JobRecord, JobsRow, Phase, Query, Run};
use crate::lustre::identifier::text;
use crate::time::{DAY, rfc3339, timestamp};
use crate::truth::Attribution;
use crate::truth::attribution::{Answer, Entry, Status};

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line<'a> {
    Run {
        #[serde(flatten)]
        row: Box<JobsRow<'a>>,
        story: &'static str,
        /// The reason why the name is hard to read.
        oddity: Option<&'static str>,
        /// The stage at which the texts last show the run; null if they do not have it.
        shown: Option<&'static str>,
        true_started: Option<String>,
        owner: &'a str,
    },
    Entry {
        identifier: String,
        day: String,
        jobs: Vec<Job>,
        status: Status,
        known: Option<Answer<'a>>,
    },
}

/// A run that worked under an identifier.
#[derive(Serialize)]
struct Job {
    scheduler: &'static str,
    job: String,
    started: Option<String>,
}

impl<'a> Attribution<'a> {
    /// Writes the truth as JSON, a line for each run that was there in the span, and one for each identifier and day.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut write = |line: &Line| {
            serde_json::to_writer(&mut *out, line)?;
            out.write_all(b"\n")
        };
        for (run, last) in self.runs.iter().zip(&self.last) {
            if last.is_some() || run.ended >= self.span.from {
                write(&self.run(run, *last))?;
            }
        }
        for ((id, day), entry) in self.entries() {
            write(&self.entry(&id, day, &entry))?;
        }
        Ok(())
    }

    fn run(&self, run: &'a Run, last: Option<(Query, Phase)>) -> Line<'a> {
        let site = self.site;
        let submitted = site.written(run, Phase::Pending);
        let covers = |time| {
            self.covered
                .iter()
                .any(|span| span.from < time && time <= span.until)
        };
        let shown = JobRecord {
            site,
            run,
            phase: last.map_or(Phase::Ended, |(_, phase)| phase),
            has_submission: submitted.is_some_and(covers),
        };
        Line::Run {
            row: Box::new((site.scheduler.row)(&shown)),
            story: run.scenario.into(),
            oddity: run.name.oddity,
            shown: last.map(|(_, phase)| phase.into()),
            true_started: run.started.map(rfc3339),
            owner: &run.owner(site).name,
        }
    }

    fn entry(&self, id: &[u8], day: i64, entry: &Entry<'a>) -> Line<'a> {
        let (status, known) = self.attribute(entry);
        let mut runs: Vec<_> = entry.activities.iter().map(|(run, _)| *run).collect();
        runs.dedup_by_key(|run| (run.cluster, run.number, run.element, run.attempt));
        let job = |run: &Run| Job {
            scheduler: CLUSTERS[run.cluster],
            job: run.job(self.site),
            started: run.started.map(rfc3339),
        };
        Line::Entry {
            identifier: text(id),
            day: timestamp(day * DAY).strftime("%Y-%m-%d").to_string(),
            jobs: runs.into_iter().map(job).collect(),
            status,
            known,
        }
    }
}
