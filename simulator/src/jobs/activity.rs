//! The activity of jobs on the file system: under which identifiers it appears in `job_stats`, and when.

use strum::IntoStaticStr;

use crate::jobs::{LONGEST_SHELL, Run, Scenario, Site};
use crate::lustre::identifier::{Id, MAX_LEN, cut};
use crate::random::Seed;
use crate::time::{DAY, MINUTE, Nanos, SECOND, Span};

/// The origin of an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Origin {
    /// The program of the job, on one of its nodes.
    Job,
    /// The prolog or epilog, by root.
    Root,
    /// A process of the job from whose environment the job's number is gone.
    #[strum(serialize = "without job")]
    WithoutJob,
    /// A process whose identifier threads have damaged, so that only the number is left.
    Damaged,
    /// A shell in which the owner goes on working after the job is over.
    Shell,
}

/// An activity of a run under one identifier.
#[derive(Debug, Clone)]
pub struct Activity {
    pub id: Id,
    /// The parts of the identifier that a reader can see.
    pub seen: Seen,
    pub origin: Origin,
    pub uid: u32,
    pub node: String,
    pub span: Span,
    /// The seed of the calls.
    pub seed: Seed,
}

/// The parts of an identifier that it holds whole: Lustre cuts it at 31 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    pub job: bool,
    pub uid: bool,
    pub node: bool,
}

/// The node on which a login shell runs has this rank.
const LOGIN: u64 = 1_000_000;

impl Site {
    /// Returns the activities of a run. The identifiers depend on the format of the site; Lustre does not count activities with
    /// an empty one, and they are left out.
    pub fn activities(&self, run: &Run) -> Vec<Activity> {
        let Some(started) = run.started else {
            return Vec::new();
        };
        let whole = Span {
            from: started + SECOND,
            until: run.ended,
        };
        let mut all = Vec::new();
        let mut add = |origin, rank, span| all.extend(self.activity(run, origin, rank, span));
        for rank in 0..run.nodes {
            let chance = |label, share| run.seed.of(label, &[rank as i64]).chance(share);
            add(Origin::Job, rank, whole);
            if chance("root", 0.1) {
                let prolog = Span::new(started - 20 * SECOND, 20 * SECOND);
                add(Origin::Root, rank, prolog);
                add(Origin::Root, rank, Span::new(run.ended, 30 * SECOND));
            }
            if chance("without job", 0.1) {
                add(Origin::WithoutJob, rank, whole);
            }
            // Only a format with more than the job can be damaged so that the job is left.
            if self.damaged("", 0).is_some() && chance("damaged", 0.03) {
                add(Origin::Damaged, rank, whole);
            }
        }
        if run.scenario == Scenario::Shell {
            add(Origin::Shell, LOGIN, whole);
            left_over(run).for_each(|span| add(Origin::Shell, LOGIN, span));
        }
        all
    }

    fn activity(&self, run: &Run, origin: Origin, rank: u64, span: Span) -> Option<Activity> {
        let uid = match origin {
            Origin::Root => 0,
            _ => run.owner(self).uid,
        };
        let node = match rank {
            LOGIN => run.login_node(),
            _ => run.node(rank),
        };
        let job = match origin {
            Origin::WithoutJob => String::new(),
            _ => (self.scheduler.variable)(self, run),
        };
        let damaged = (origin == Origin::Damaged).then(|| self.damaged(&job, uid));
        let (id, seen) = match damaged.flatten() {
            Some(damaged) => damaged,
            None => expand(&self.format, &job, uid, run.owner(self).gid, &node),
        };
        // A damaged identifier that is cut looks like a complete one that is cut.
        let fits = !id.is_empty() && id.len() <= MAX_LEN;
        (fits && span.from < span.until).then(|| Activity {
            seed: run.seed.of(origin.into(), &[rank as i64, span.from]),
            id,
            seen,
            origin,
            uid,
            node,
            span,
        })
    }

    /// Returns the identifier cut off after its job; `None` if the format does not allow this.
    fn damaged(&self, job: &str, uid: u32) -> Option<(Id, Seen)> {
        let (id, is_uid_seen) = match self.format.as_str() {
            format if format.starts_with("%j:") => (format!("{job}:"), false),
            format if format.starts_with("%u:%j:") => (format!("{uid}:{job}:"), true),
            _ => return None,
        };
        let seen = Seen {
            job: true,
            uid: is_uid_seen,
            node: false,
        };
        Some((id.into_bytes(), seen))
    }
}

/// Returns the spans in which the owner of a shell goes on working in it: on the three days after the day on which the job
/// ended, from 8 to 15 hours after midnight and therefore long after it.
fn left_over(run: &Run) -> impl Iterator<Item = Span> {
    let seed = run.seed.of("shell", &[]);
    let last = run.ended + LONGEST_SHELL;
    let first = run.ended.div_euclid(DAY) + 1;
    (first..first + 3).filter_map(move |day| {
        let seed = seed.of("day", &[day]);
        let from = day * DAY + (8 * 60 + seed.below(6 * 60) as Nanos) * MINUTE;
        let span = Span::new(from, 20 * MINUTE);
        (span.until < last).then_some(span)
    })
}

/// Expands a format as `jobid_name` holds it, and cuts the result as Lustre does.
fn expand(format: &str, job: &str, uid: u32, gid: u32, node: &str) -> (Id, Seen) {
    let mut text = String::new();
    let mut seen = Seen::default();
    let mut rest = format.chars();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            text.push(letter);
            continue;
        }
        // At 31 bytes it is unknown whether more followed.
        let mut push = |part: &str| {
            text.push_str(part);
            text.len() < MAX_LEN
        };
        match rest.next() {
            None => _ = push("%"),
            Some('j') => seen.job = (push(job) || job.contains('.')) && !job.is_empty(),
            Some('u') => seen.uid = push(&uid.to_string()),
            Some('g') => _ = push(&gid.to_string()),
            Some('e') => _ = push("a.out"),
            Some('H' | 'h') => seen.node = push(node),
            Some(_) => (),
        }
    }
    (cut(text), seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_cut_and_their_whole_parts_are_seen() {
        let (id, seen) = expand("%j:%u:%H", "123", 1000, 100, "a0001");
        assert_eq!(id, b"123:1000:a0001");
        assert_eq!(
            seen,
            Seen {
                job: true,
                uid: true,
                node: true
            }
        );
        let (id, seen) = expand(
            "%j:%u:%H",
            "4686875.kman.restech.unsw.edu.au",
            1000,
            100,
            "a0001",
        );
        assert_eq!(id, b"4686875.kman.restech.unsw.edu.a");
        assert_eq!(
            seen,
            Seen {
                job: true,
                uid: false,
                node: false
            }
        );
        let (id, seen) = expand("%j", "123", 1000, 100, "a0001");
        assert_eq!(id, b"123");
        assert_eq!(
            seen,
            Seen {
                job: true,
                uid: false,
                node: false
            }
        );
        let (id, _) = expand("u%u.g%g", "", 1000, 100, "a0001");
        assert_eq!(id, b"u1000.g100");
    }
}
