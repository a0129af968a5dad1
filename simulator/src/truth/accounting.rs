//! The truth as JSON lines: every run of every job, and whose work appears under each identifier on each day, with what can
//! be known about it from the identifier and the texts of accounting.

use std::io::{self, Write};

use serde::Serialize;

use crate::time::DAY;

use crate::accounting::calls::Call;
use crate::accounting::known::Phase;
use crate::accounting::printed::{Fields, fields, rfc3339, without_owner};
use crate::accounting::text::Shown;
use crate::jobs::job::Run;
use crate::jobs::{CLUSTERS, Kind, names};
use crate::truth::judge::{Accounting, Answer, Entry, Status};

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line<'a> {
    Run {
        #[serde(flatten)]
        fields: Box<Fields<'a>>,
        story: &'static str,
        attempt: u32,
        /// The reason why the name is hard to read.
        oddity: Option<&'static str>,
        /// The stage at which the texts last show the run; null if they do not have it.
        shown: Option<&'static str>,
        true_started: Option<String>,
        true_ended: String,
        owner: Owner<'a>,
    },
    Entry {
        identifier: String,
        day: String,
        first: String,
        last: String,
        work: &'static str,
        /// The user and the node that work; null if several do.
        uid: Option<u32>,
        node: Option<String>,
        jobs: Vec<Job>,
        status: Status,
        known: Option<Answer<'a>>,
    },
}

#[derive(Serialize)]
struct Owner<'a> {
    uid: u32,
    user_name: &'a str,
    gid: u32,
    group_name: &'a str,
}

/// A run that worked under an identifier.
#[derive(Serialize)]
struct Job {
    scheduler: &'static str,
    job: String,
    label: String,
    started: Option<String>,
}

impl<'a> Accounting<'a> {
    /// Writes the truth as JSON, a line for each run that was there in the span, and one for each identifier and day.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (run, last) in self.runs.iter().zip(&self.last) {
            let gone = last.is_none() && run.ended < self.span.from;
            if !gone {
                line(&self.run(run, *last), out)?;
            }
        }
        for ((id, day), entry) in self.entries() {
            line(&self.entry(&id, day, &entry), out)?;
        }
        Ok(())
    }

    fn run(&self, run: &'a Run, last: Option<(Call, Phase)>) -> Line<'a> {
        let phase = last.map_or(Phase::Ended, |(_, phase)| phase);
        let owner = run.owner(self.site);
        Line::Run {
            fields: Box::new(self.fields(run, phase)),
            story: run.story.name(),
            attempt: run.attempt,
            oddity: run.name.oddity,
            shown: last.map(|(_, phase)| phase.name()),
            true_started: run.started.map(rfc3339),
            true_ended: rfc3339(run.ended),
            owner: Owner {
                uid: owner.uid,
                user_name: &owner.name,
                gid: owner.gid,
                group_name: &owner.group,
            },
        }
    }

    fn fields(&self, run: &'a Run, phase: Phase) -> Fields<'a> {
        let shown = Shown { run, phase };
        let in_texts = |time| {
            self.covered
                .iter()
                .any(|(from, until)| *from < time && time <= *until)
        };
        let queued = self.site.written(run, Phase::Pending).is_some_and(in_texts);
        let nameless = shown.start().is_none() && (self.site.old || !queued);
        if self.site.kind == Kind::Pbs && nameless {
            return without_owner(self.site, &shown, queued);
        }
        fields(self.site, &shown)
    }

    fn entry(&self, id: &[u8], day: i64, entry: &Entry<'a>) -> Line<'a> {
        let (status, known) = self.judge(entry);
        let mut jobs: Vec<_> = entry.works.iter().map(|(run, _)| *run).collect();
        jobs.dedup_by_key(|run| (run.cluster, run.number, run.element, run.attempt));
        let works = || entry.works.iter().map(|(_, work)| work);
        let uid = entry.works[0].1.uid;
        let node = &entry.works[0].1.node;
        Line::Entry {
            identifier: names::shown(id),
            day: rfc3339(day * DAY)
                .split('T')
                .next()
                .unwrap_or_default()
                .to_owned(),
            first: rfc3339(entry.first),
            last: rfc3339(entry.last),
            work: entry.works[0].1.doing.name(),
            uid: works().all(|work| work.uid == uid).then_some(uid),
            node: works().all(|work| work.node == *node).then(|| node.clone()),
            jobs: jobs
                .into_iter()
                .map(|run| Job {
                    scheduler: CLUSTERS[run.cluster],
                    job: run.job(self.site),
                    label: run.label(self.site),
                    started: run.started.map(rfc3339),
                })
                .collect(),
            status,
            known,
        }
    }
}

fn line(line: &Line, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
