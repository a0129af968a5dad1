//! Distinguishes users from jobs by their numbers: `1000:4711:n1` may have the format `%u:%j:%H` or `%j:%u:%H`.
//!
//! A job has one user, and a user has many jobs. So a number that is seen with several others is a user. Numbers of users and of
//! jobs also lie apart at most sites. Where neither shows the user, there is no guess.

use std::collections::{HashMap, HashSet};

/// The least number of identifiers that must look swapped before it is reported.
const REPORTED_FROM: usize = 3;

/// The users and jobs in pairs of numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Roles {
    users: HashSet<u32>,
    jobs: HashSet<u32>,
    partners: HashMap<u32, HashSet<u32>>,
    /// The middle between the numbers of users and of jobs if they lie apart, and whether users have the smaller numbers.
    border: Option<(u32, bool)>,
}

impl Roles {
    /// Finds the users in pairs of a user and a job in either order.
    pub(super) fn of(
        pairs: impl IntoIterator<Item = (u32, u32)>,
        is_user: impl Fn(u32) -> bool,
    ) -> Self {
        let mut roles = Self::default();
        let mut seen = HashSet::new();
        for (one, other) in pairs {
            if !seen.insert((one, other)) {
                continue;
            }
            for (number, partner) in [(one, other), (other, one)] {
                roles.partners.entry(number).or_default().insert(partner);
                // Root may do I/O for any job, before and after it runs.
                if number == 0 || is_user(number) {
                    roles.users.insert(number);
                    roles.jobs.insert(partner);
                }
            }
        }
        let sure = seen.into_iter().filter_map(|pair| roles.user_and_job(pair));
        let (users, jobs): (Vec<_>, Vec<_>) = sure.filter(|(user, _)| *user > 0).unzip();
        roles.border = border(&users, &jobs)
            .map(|border| (border, true))
            .or_else(|| Some((border(&jobs, &users)?, false)));
        roles
    }

    /// Returns whether the first number of a pair is the user; `None` if that is not clear.
    pub(super) fn is_first_user(&self, pair: (u32, u32)) -> Option<bool> {
        Some(self.user_and_job(pair)?.0 == pair.0)
    }

    fn user_and_job(&self, (one, other): (u32, u32)) -> Option<(u32, u32)> {
        let role = |number| match self.users.contains(&number) {
            true => Some(true),
            false => self.jobs.contains(&number).then_some(false),
        };
        let partners = |number| self.partners.get(&number).map_or(0, HashSet::len);
        let is_first = match (role(one), role(other)) {
            (Some(true), Some(false) | None) | (None, Some(false)) => true,
            (Some(false) | None, Some(true)) | (Some(false), None) => false,
            _ => match (partners(one), partners(other)) {
                (first, second) if first >= 2 * second.max(1) => true,
                (first, second) if second >= 2 * first.max(1) => false,
                _ => self.is_first_beyond_border(one, other)?,
            },
        };
        Some(if is_first { (one, other) } else { (other, one) })
    }

    /// Returns whether the first number is on the side of users, if the other one is not.
    fn is_first_beyond_border(&self, one: u32, other: u32) -> Option<bool> {
        let (border, users_are_below) = self.border?;
        let [one, other] = [one, other].map(|number| (number <= border) == users_are_below);
        (one != other).then_some(one)
    }
}

/// Returns the middle between two ranges of numbers if the second begins far above the first.
fn border(lower: &[u32], upper: &[u32]) -> Option<u32> {
    let (lower, upper) = (*lower.iter().max()?, *upper.iter().min()?);
    (lower <= upper / 2).then(|| lower + (upper - lower) / 2)
}

/// Returns true if at least a third of the identifiers whose order is clear have been read with user and job swapped.
///
/// `read` has the job and the user of each identifier as they were read, and `is_user` is true for the number of a known user.
///
/// ```
/// use jobstats_core::identity::entry_id::looks_swapped;
///
/// let read = [("1000", 4711), ("1000", 4712), ("1001", 4713), ("1001", 4714)];
/// assert!(looks_swapped(read, |_| false));
/// assert!(!looks_swapped([("1000", 4711)], |_| false), "too few");
/// assert!(!looks_swapped([("4711", 1000), ("4712", 1000), ("4713_1", 1000)], |_| false));
/// ```
pub fn looks_swapped<'j>(
    read: impl IntoIterator<Item = (&'j str, u32)>,
    is_user: impl Fn(u32) -> bool,
) -> bool {
    // A job that is no number cannot be a user.
    let (pairs, texts): (Vec<_>, Vec<_>) = read
        .into_iter()
        .map(|(job, user)| job.parse().map(|job| (user, job)))
        .partition(Result::is_ok);
    let pairs: HashSet<(u32, u32)> = pairs.into_iter().flatten().collect();
    let roles = Roles::of(pairs.iter().copied(), is_user);
    let clear: Vec<_> = pairs
        .iter()
        .filter_map(|&pair| roles.is_first_user(pair))
        .collect();
    let swapped = clear.iter().filter(|is_right| !**is_right).count();
    swapped >= REPORTED_FROM && 3 * swapped >= clear.len() + texts.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns whether the first number of each pair is the user, with these known users.
    fn read<const N: usize>(pairs: [(u32, u32); N], users: &[u32]) -> [Option<bool>; N] {
        let roles = Roles::of(pairs, |number| users.contains(&number));
        pairs.map(|pair| roles.is_first_user(pair))
    }

    #[test]
    fn one_identifier_shows_nothing_unless_its_user_is_known() {
        assert_eq!(read([(1000, 4711)], &[]), [None]);
        assert_eq!(read([(1000, 4711)], &[1000]), [Some(true)]);
        assert_eq!(read([(1000, 4711)], &[4711]), [Some(false)]);
        assert_eq!(read([(1000, 4711)], &[1000, 4711]), [None]);
        assert_eq!(read([(4711, 0)], &[]), [Some(false)], "root is a user");
    }

    #[test]
    fn a_number_with_several_partners_is_the_user() {
        // All jobs of one user.
        let one = [(1000, 4711), (1000, 4712), (1000, 4713)];
        assert_eq!(read(one, &[]), [Some(true); 3]);
        // Both orders: the numbers of users are the same in both.
        let both = [(1000, 4711), (4712, 1000), (1001, 4713), (4714, 1001)];
        let expected = [Some(true), Some(false), Some(true), Some(false)];
        assert_eq!(read(both, &[]), expected);
        // Users with one job each.
        assert_eq!(read([(1000, 4711), (1001, 4712)], &[]), [None; 2]);
    }

    #[test]
    fn numbers_of_users_and_of_jobs_lie_apart() {
        let small = [(1000, 8_000_000), (8_000_100, 1000), (1017, 8_000_050)];
        assert_eq!(read(small, &[]), [Some(true), Some(false), Some(true)]);
        let large = [(2_000_001, 301), (302, 2_000_001), (303, 2_000_099)];
        assert_eq!(read(large, &[]), [Some(true), Some(false), Some(false)]);
        // Not these: a young cluster.
        let [.., lone] = read([(1000, 900), (1000, 1100), (1001, 950)], &[]);
        assert_eq!(lone, None);
        // Both are on the side of users.
        let [.., lone] = read([(1000, 8_000_000), (1000, 8_000_100), (3000, 3500)], &[]);
        assert_eq!(lone, None);
    }

    #[test]
    fn what_root_does_for_a_job_makes_the_job_no_user() {
        let pairs = [(0, 4711), (1000, 4711), (0, 4712)];
        assert_eq!(read(pairs, &[]), [Some(true); 3]);
        assert_eq!(read([(1000, 4711), (1001, 4711)], &[1000]), [Some(true); 2]);
    }

    #[test]
    fn a_third_of_swapped_identifiers_is_reported() {
        let right = ["4801", "4802", "4803", "4804"].map(|job| (job, 1003));
        let wrong = [4711, 4712, 4713].map(|job| ("1000", job));
        assert!(looks_swapped(wrong.into_iter().chain(right), |_| false));
        let more = right
            .into_iter()
            .chain([("4805", 1003), ("4806", 1003), ("4807", 1003)]);
        assert!(!looks_swapped(wrong.into_iter().chain(more), |_| false));
        assert!(!looks_swapped(wrong.into_iter().take(2), |_| false));
        let texts = ["a", "4711_2", "4711.0", "b", "c", "d", "e"].map(|job| (job, 1000));
        assert!(!looks_swapped(wrong.into_iter().chain(texts), |_| false));
    }

    proptest! {
        /// If each job has one user, and no number is both, no order is wrong, however they are mixed.
        #[test]
        fn no_order_is_wrong(jobs in prop::collection::vec((0_u32..6, any::<bool>()), 1..40)) {
            let pairs: Vec<_> = jobs.iter().zip(5000..).map(|((user, is_first), job)| match is_first {
                true => (1000 + user, job),
                false => (job, 1000 + user),
            }).collect();
            let roles = Roles::of(pairs.iter().copied(), |_| false);
            for (pair, (_, is_first)) in pairs.iter().zip(&jobs) {
                prop_assert!(roles.is_first_user(*pair).is_none_or(|it| it == *is_first));
            }
        }
    }
}
