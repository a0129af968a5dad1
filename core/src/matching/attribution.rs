//! Decides for which job a user worked on a node, if the identifier of the work names no job.

use crate::instant::Micros;

/// A run of a job of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stay {
    /// The key of the job.
    pub job: i64,
    /// Whether the run was on the node; `None` if that is unknown.
    pub is_there: Option<bool>,
    /// The start.
    pub started: Micros,
    /// The end; `None` if the run goes on.
    pub ended: Option<Micros>,
}

impl Stay {
    /// Returns whether the run may have been on the node at some time after `since` and before `until`.
    fn may_touch(&self, since: Micros, until: Micros) -> bool {
        self.is_there != Some(false)
            && self.started < until
            && self
                .ended
                .is_none_or(|ended| ended > since.max(self.started))
    }
}

/// Returns the job that ran on the node from `since` to `until` without a break, if no other job of the user can have been there.
#[must_use]
pub fn attributed(since: Micros, until: Micros, stays: &[Stay]) -> Option<i64> {
    let near = || stays.iter().filter(|stay| stay.may_touch(since, until));
    let job = near().next()?.job;
    if near().any(|stay| stay.job != job) {
        return None;
    }
    let mut known: Vec<&Stay> = near().filter(|stay| stay.is_there == Some(true)).collect();
    known.sort_by_key(|stay| stay.started);
    let mut reached = since;
    for stay in known {
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
    fn a_job_whose_nodes_are_unknown_may_have_been_there() {
        let first = stay(1, HERE, 0, Some(30));
        assert_eq!(attributed(10, 20, &[first, stay(2, None, 0, None)]), None);
        assert_eq!(attributed(10, 20, &[stay(2, None, 0, None)]), None);
    }

    #[test]
    fn runs_of_one_job_without_a_break_are_one_stay() {
        let runs = |gap| {
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
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// The truth, one unit of time after the other: in each of them this job was there, and no other one can have been.
        #[test]
        fn it_agrees_with_every_moment(since in 0..20_i64, length in 1..8_i64, stays in stays()) {
            let until = since + length;
            let is_at = |stay: &&Stay, moment| stay.started <= moment && stay.ended.is_none_or(|ended| ended > moment);
            let is_of = |job| {
                (since..until).all(|moment| {
                    let mut now = stays.iter().filter(|stay| is_at(stay, moment) && stay.is_there != Some(false));
                    let mut is_there = false;
                    now.all(|stay| {
                        is_there |= stay.is_there == HERE;
                        stay.job == job
                    }) && is_there
                })
            };
            let expected = (1..4).find(|&job| is_of(job));
            prop_assert_eq!(attributed(since, until, &stays), expected);
        }
    }
}
