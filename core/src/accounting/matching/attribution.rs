//! Attributes I/O of a user on a node to a job, if the identifier names no job.

use crate::base::instant::Micros;

/// A run of a job of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stay {
    /// The key of the job.
    pub job: i64,
    /// True if the run was on the node; `None` if that is unknown.
    pub is_there: Option<bool>,
    /// The start.
    pub started: Micros,
    /// The end; `None` if the run goes on.
    pub ended: Option<Micros>,
}

impl Stay {
    /// Returns whether the run may have been on the node at some time between, or work of it may have been seen there, which is
    /// possible until so `late` after its end.
    fn may_touch(&self, since: Micros, until: Micros, late: Micros) -> bool {
        let is_after = |ended: Micros| ended > self.started && ended.saturating_add(late) > since;
        self.is_there != Some(false) && self.started < until && self.ended.is_none_or(is_after)
    }
}

/// Returns the job that ran on the node from `since` to `until` without a break, if no other job of the user can have caused the I/O.
///
/// `late` is how long after the end of a job its work may still be seen.
pub fn attributed(since: Micros, until: Micros, late: Micros, stays: &[Stay]) -> Option<i64> {
    let is_there = |stay: &&Stay| stay.is_there == Some(true) && stay.may_touch(since, until, 0);
    let mut there: Vec<&Stay> = stays.iter().filter(is_there).collect();
    let job = there.first()?.job;
    let is_other = |stay: &Stay| stay.job != job && stay.may_touch(since, until, late);
    if stays.iter().any(is_other) {
        return None;
    }
    there.sort_by_key(|stay| stay.started);
    let mut reached = since;
    for stay in there {
        if stay.started > reached {
            return None;
        }
        reached = reached.max(stay.ended.unwrap_or(Micros::MAX));
    }
    (reached >= until).then_some(job)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stay(job: i64, is_there: Option<bool>, started: i64, ended: Option<i64>) -> Stay {
        Stay {
            job,
            is_there,
            started,
            ended,
        }
    }

    const HERE: Option<bool> = Some(true);

    fn attributed(since: i64, until: i64, stays: &[Stay]) -> Option<i64> {
        super::attributed(since, until, 0, stays)
    }

    #[test]
    fn the_only_job_that_ran_throughout_did_the_work() {
        assert_eq!(attributed(10, 20, &[stay(1, HERE, 10, Some(20))]), Some(1));
        assert_eq!(attributed(10, 20, &[stay(1, HERE, 5, None)]), Some(1));
        assert_eq!(attributed(10, 20, &[stay(1, HERE, 11, None)]), None);
        assert_eq!(attributed(10, 20, &[stay(1, HERE, 5, Some(19))]), None);
        assert_eq!(attributed(10, 20, &[]), None);
    }

    #[test]
    fn of_two_jobs_of_the_user_nobody_can_tell() {
        let first = stay(1, HERE, 0, Some(30));
        assert_eq!(attributed(10, 20, &[first, stay(2, HERE, 19, None)]), None);
        assert_eq!(
            attributed(10, 20, &[first, stay(2, HERE, 0, Some(11))]),
            None
        );
        // These touch the span at its edges, or were elsewhere.
        let others = [
            stay(2, HERE, 0, Some(10)),
            stay(3, HERE, 20, None),
            stay(4, Some(false), 0, None),
        ];
        assert_eq!(
            attributed(10, 20, &[&[first][..], &others].concat()),
            Some(1)
        );
    }

    #[test]
    fn work_of_a_job_that_has_just_ended_may_be_seen_later() {
        let stays = [stay(1, HERE, 0, Some(30)), stay(2, HERE, 0, Some(8))];
        let late = |late| super::attributed(10, 20, late, &stays);
        assert_eq!(late(2), Some(1));
        assert_eq!(late(3), None);
        // A later run of the same job does not matter.
        let again = [stay(1, HERE, 0, Some(8)), stay(1, HERE, 9, None)];
        assert_eq!(super::attributed(10, 20, 5, &again), Some(1));
    }

    #[test]
    fn a_job_whose_nodes_are_unknown_may_have_been_there() {
        let first = stay(1, HERE, 0, Some(30));
        assert_eq!(attributed(10, 20, &[first, stay(2, None, 0, None)]), None);
        assert_eq!(attributed(10, 20, &[stay(2, None, 0, None)]), None);
    }

    #[test]
    fn runs_of_one_job_without_a_break_are_one_stay() {
        let runs = |gap: i64| {
            [
                stay(1, HERE, 15 + gap, Some(40)),
                stay(1, HERE, 0, Some(15)),
            ]
        };
        assert_eq!(attributed(10, 20, &runs(0)), Some(1));
        assert_eq!(attributed(10, 20, &runs(1)), None);
    }

    fn stays() -> impl Strategy<Value = Vec<Stay>> {
        let place = prop_oneof![8 => Just(HERE), 4 => Just(Some(false)), 1 => Just(None)];
        let some = (1..4_i64, place, 0..20_i64, prop::option::of(0..20_i64));
        let some = some.prop_map(|(job, is_there, started, took)| {
            stay(job, is_there, started, took.map(|took| started + took))
        });
        proptest::collection::vec(some, 0..6)
    }

    proptest! {
        /// The truth, one unit of time after the other: in each of them this job was there, and no work of another one can be seen.
        #[test]
        fn it_agrees_with_every_moment(since in 0..20_i64, length in 1..8_i64, late in 0..4_i64, stays in stays()) {
            let until = since + length;
            let runs_at = |stay: &Stay, moment, late| {
                let is_before = |ended| ended > stay.started && moment < ended + late;
                stay.started <= moment && stay.ended.is_none_or(is_before)
            };
            let is_of = |job| {
                (since..until).all(|moment| {
                    let is_there = |stay: &Stay| stay.job == job && stay.is_there == HERE && runs_at(stay, moment, 0);
                    let is_seen = |stay: &Stay| stay.job != job && stay.is_there != Some(false) && runs_at(stay, moment, late);
                    stays.iter().any(is_there) && !stays.iter().any(is_seen)
                })
            };
            let expected = (1..4).find(|&job| is_of(job));
            prop_assert_eq!(super::attributed(since, until, late, &stays), expected);
        }
    }
}
