//! Decides which job an entry belongs to on a UTC day.

use crate::accounting::matching::{APART, EARLY, Job, Owner};
use crate::base::instant::Micros;

/// The fields of the identifier of an entry, except the number of its job.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry<'a> {
    /// The user; both fields are `None` if the identifier has no number of a user.
    pub user: Option<&'a Owner>,
    /// Set if the user belongs to the system, which works for jobs of others in their prolog and epilog. Not set if the
    /// [user may be forged](crate::identity::entry_id::user_may_be_forged): then the user must be the owner of the job.
    pub is_system: bool,
    /// The scheduler of the node; `None` if it is unknown.
    pub scheduler: Option<&'a str>,
    /// The node.
    pub node: Option<&'a str>,
}

/// The times between which an entry was active on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// The number of the UTC day since 1970.
    pub day: i64,
    /// The time after which it was active.
    pub first: Micros,
    /// The time at which it was last active.
    pub last: Micros,
}

/// The answer to the question to which job an entry belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The job at this position.
    Job(usize),
    /// Jobs of different users fit, so that the owner is unknown.
    Ambiguous,
    /// The job was over before.
    Stale,
    /// The job of this number belongs to another user.
    Claimed,
    /// Accounting does not know such a job.
    Unknown,
}

impl Entry<'_> {
    /// Returns whether the user certainly has no part in a job. The values that users export are only claims.
    fn claims(&self, job: &Job) -> bool {
        let is_other = |user: &Owner| !self.is_system && !user.can_be(&job.values.owner);
        self.user.is_some_and(is_other) && self.is_of_scheduler(job)
    }

    fn is_of_scheduler(&self, job: &Job) -> bool {
        self.scheduler
            .is_none_or(|scheduler| scheduler == job.scheduler)
    }

    /// Returns whether the I/O can belong to a job, whenever it was.
    fn fits(&self, job: &Job) -> bool {
        let owner = &job.values.owner;
        let is_user = |user: &Owner| self.is_system || owner.is_known() && user.can_be(owner);
        self.user.is_none_or(is_user) && self.is_of_scheduler(job)
    }
}

/// Decides which of the jobs of a number an entry with this number belongs to on a day.
///
/// `late` is how long after the end of a job its work may still be seen.
pub fn decide(entry: Entry<'_>, activity: Activity, jobs: &[Job], late: Micros) -> Verdict {
    let fitting: Vec<usize> = (0..jobs.len())
        .filter(|&position| entry.fits(&jobs[position]))
        .collect();
    let touches = |position: &usize| overlap(&jobs[*position], activity, EARLY, late).is_some();
    let mut near: Vec<usize> = fitting.iter().copied().filter(touches).collect();
    let ran_there = |position: usize| jobs[position].ran_on(entry.node?);
    if near.len() > 1 && near.iter().any(|&it| ran_there(it) == Some(true)) {
        near.retain(|&it| ran_there(it) == Some(true));
    }
    for (early, late) in [(0, 0), (EARLY, late)] {
        let overlaps = near.iter().filter_map(|&position| {
            overlap(&jobs[position], activity, early, late).map(|overlap| (overlap, position))
        });
        let overlaps: Vec<(Micros, usize)> = overlaps.collect();
        if let Some(&(_, longest)) = overlaps.iter().max() {
            let owner = &jobs[longest].values.owner;
            let is_same = |it: usize| it == longest || jobs[it].values.owner.is(owner);
            return match overlaps.iter().all(|&(_, it)| is_same(it)) {
                true => Verdict::Job(longest),
                false => Verdict::Ambiguous,
            };
        }
    }
    let claimed = || jobs.iter().filter(|job| entry.claims(job));
    if claimed().any(|job| overlap(job, activity, EARLY, late).is_some()) {
        return Verdict::Claimed;
    }
    if fitting.iter().any(|&it| is_over(&jobs[it], activity)) {
        return Verdict::Stale;
    }
    match claimed().any(|job| is_over(job, activity)) {
        true => Verdict::Claimed,
        false => Verdict::Unknown,
    }
}

/// Returns for how long an entry was active while a job ran; `None` if the two do not touch. Each run is extended at both ends.
fn overlap(job: &Job, activity: Activity, early: Micros, late: Micros) -> Option<Micros> {
    let touching = job.ran.iter().filter_map(|&(started, ended)| {
        let from = started.saturating_sub(early).max(activity.first);
        let until = ended.map_or(Micros::MAX, |ended| ended.saturating_add(late));
        let until = until.min(activity.last);
        (from <= until).then(|| until - from)
    });
    touching.reduce(Micros::saturating_add)
}

/// Returns whether a job was over before, and not so long ago that its number may have come back.
fn is_over(job: &Job, activity: Activity) -> bool {
    job.ran.iter().any(|(_, ended)| {
        ended.is_some_and(|ended| ended < activity.first && activity.first - ended < APART)
    })
}
