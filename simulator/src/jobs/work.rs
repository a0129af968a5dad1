//! The work of jobs on the file system: under which identifiers it appears in `job_stats`, and when.

use std::iter::Peekable;
use std::str::Chars;

use crate::lustre::identifier::{Id, MAX_LEN};
use crate::random::Seed;
use crate::time::{DAY, MINUTE, Nanos, SECOND};

use crate::jobs::job::Run;
use crate::jobs::story::Story;
use crate::jobs::{LONGEST_SHELL, Site, nodes};

/// The kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// The program of the job, on one of its nodes.
    Job,
    /// The prolog or epilog, by root.
    Root,
    /// A process of the job from whose environment the job's number is gone.
    WithoutJob,
    /// A process whose identifier threads have damaged, so that only the number is left.
    Damaged,
    /// A shell in which the owner goes on working after the job is over.
    Shell,
}

impl Doing {
    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Root => "root",
            Self::WithoutJob => "without job",
            Self::Damaged => "damaged",
            Self::Shell => "shell",
        }
    }
}

/// A piece of work of a run.
#[derive(Debug, Clone)]
pub struct Work {
    /// The identifier as the server stores it.
    pub id: Id,
    /// The parts of the identifier that a reader can see.
    pub seen: Seen,
    /// The kind of work.
    pub doing: Doing,
    /// The number of the user who works.
    pub uid: u32,
    /// The node.
    pub node: String,
    /// The start of the work.
    pub from: Nanos,
    /// The end of the work.
    pub until: Nanos,
    /// The seed of what is done.
    pub seed: Seed,
}

/// The parts of an identifier that it holds whole: Lustre cuts it at 31 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// The job.
    pub job: bool,
    /// The user.
    pub uid: bool,
    /// The node.
    pub node: bool,
}

/// The node on which a login shell runs has this rank.
const LOGIN: u64 = 1_000_000;

impl Site {
    /// Returns the work of a run. The identifiers depend on the format of the site; what has an empty one is not counted
    /// by Lustre and left out.
    pub fn work(&self, run: &Run) -> Vec<Work> {
        let Some(started) = run.started else {
            return Vec::new();
        };
        let uid = run.owner(self).uid;
        let job = run.variable(self);
        let mut all = Vec::new();
        let mut add = |doing, rank: u64, uid, from, until| {
            let node = if rank == LOGIN {
                nodes::login(run.cluster)
            } else {
                run.node(rank)
            };
            let job = if doing == Doing::WithoutJob { "" } else { &job };
            let (id, seen) = match doing {
                Doing::Damaged => (
                    format!("{job}:").into_bytes(),
                    Seen {
                        job: true,
                        ..Seen::default()
                    },
                ),
                _ => expand(&self.format, job, uid, run.owner(self).gid, &node),
            };
            let seed = run.seed.of(doing.name(), &[rank as i64, from]);
            // A damaged identifier that is cut looks like a whole one that is.
            let fits = !id.is_empty() && id.len() <= MAX_LEN;
            if fits && from < until {
                all.push(Work {
                    id,
                    seen,
                    doing,
                    uid,
                    node,
                    from,
                    until,
                    seed,
                });
            }
        };
        for rank in 0..run.nodes {
            let chance = |what, share| run.seed.of(what, &[rank as i64]).chance(share);
            add(Doing::Job, rank, uid, started + SECOND, run.ended);
            if chance("root", 0.1) {
                add(Doing::Root, rank, 0, started - 20 * SECOND, started);
                add(Doing::Root, rank, 0, run.ended, run.ended + 30 * SECOND);
            }
            if chance("without job", 0.1) {
                add(Doing::WithoutJob, rank, uid, started + SECOND, run.ended);
            }
            // Only a format with more than the job can be damaged so that the job is left.
            if self.format.starts_with("%j:") && chance("damaged", 0.03) {
                add(Doing::Damaged, rank, uid, started + SECOND, run.ended);
            }
        }
        if run.story == Story::Shell {
            add(Doing::Shell, LOGIN, uid, started + SECOND, run.ended);
            for (from, until) in shell(run) {
                add(Doing::Shell, LOGIN, uid, from, until);
            }
        }
        all
    }
}

/// Returns the spans in which the owner of a shell goes on working in it: on the three days after the day on which the job
/// ended, from 8 to 15 hours after midnight and therefore long after it.
fn shell(run: &Run) -> impl Iterator<Item = (Nanos, Nanos)> {
    let seed = run.seed.of("shell", &[]);
    let last = run.ended + LONGEST_SHELL;
    let first = run.ended.div_euclid(DAY) + 1;
    (first..first + 3).filter_map(move |day| {
        let seed = seed.of("day", &[day]);
        let from = day * DAY + (8 * 60 + seed.below(6 * 60) as Nanos) * MINUTE;
        let until = from + 20 * MINUTE;
        (until < last).then_some((from, until))
    })
}

/// Expands a format as `jobid_name` holds it, and cuts the result as Lustre does.
fn expand(format: &str, job: &str, uid: u32, gid: u32, node: &str) -> (Id, Seen) {
    let mut text = String::new();
    let mut seen = Seen::default();
    let mut rest: Peekable<Chars> = format.chars().peekable();
    while let Some(letter) = rest.next() {
        let code = if letter == '%' { rest.next() } else { None };
        match code {
            None => text.push(letter),
            Some('j') => text.push_str(job),
            Some('u') => text.push_str(&uid.to_string()),
            Some('g') => text.push_str(&gid.to_string()),
            Some('e') => text.push_str("a.out"),
            Some('H' | 'h') => text.push_str(node),
            Some(_) => (),
        }
        // At 31 bytes nobody can tell whether more followed.
        let whole = text.len() < MAX_LEN;
        match code {
            Some('j') => seen.job = !job.is_empty() && (whole || job.contains('.')),
            Some('u') => seen.uid = whole,
            Some('H' | 'h') => seen.node = whole,
            _ => (),
        }
    }
    let mut id = text.into_bytes();
    id.truncate(MAX_LEN);
    (id, seen)
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
