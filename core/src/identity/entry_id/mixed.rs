//! Reads identifiers where some clients put the user before the job, and others the job before the user.

use std::collections::{HashMap, HashSet};

use super::swapped::Roles;
use super::{Format, FormatError, Formats, Identity, Status};

/// The largest number of pairs of numbers that are remembered. Later ones have the order of nearly all others.
const MOST_PAIRS: usize = 200_000;

/// The part of identifiers that may have another order than all others.
const FEW: usize = 20;

/// Formats of a site, with the order of user and job in each identifier.
///
/// ```
/// use jobstats_core::identity::entry_id::MixedFormats;
///
/// let ids = ["1000:4711:n1", "1000:4712:n1", "4713:1000:n2", "make.1001"];
/// let mut formats = MixedFormats::likely(&ids);
/// assert!(formats.identify("4713:1000:n2").is_err(), "user 4713, or user 1000");
/// formats.learn(ids, |_| false);
/// for (id, user) in ids.iter().zip([1000, 1000, 1000, 1001]) {
///     assert_eq!(formats.identify(id).map(|it| it.uid), Ok(Some(user)));
/// }
/// ```
#[derive(Debug)]
pub struct MixedFormats {
    /// The formats with one order of user and job, and with the other. They are the same if the formats have one order.
    orders: [Formats; 2],
    is_mixed: bool,
    users: HashSet<u32>,
    /// The users by each of the orders, with the right order if it is clear.
    pairs: HashMap<(u32, u32), Option<usize>>,
    /// The number of identifiers that only one of the orders reads.
    sure: [usize; 2],
    /// The number of identifiers and pairs that clearly have each order.
    clear: [usize; 2],
    /// The order if it is not clear.
    otherwise: Option<usize>,
}

impl MixedFormats {
    /// Compiles formats. If user and job have both orders, the first one counts where the order is not clear.
    pub fn compile<'f>(formats: impl IntoIterator<Item = &'f str>) -> Result<Self, FormatError> {
        let formats = formats.into_iter();
        let formats: Vec<_> = formats
            .map(|format| Format::compile(format, None))
            .collect::<Result<_, _>>()?;
        Ok(Self::new(&formats, Some(0)))
    }

    /// Takes formats, and the order if it is not clear.
    pub(super) fn new(formats: &[Format], otherwise: Option<usize>) -> Self {
        let first = formats.iter().find_map(|it| it.user_is_first);
        let second = first.map(|first| !first);
        let mut orders = formats.iter().filter_map(|it| it.user_is_first);
        let is_mixed = orders.any(|order| Some(order) == second);
        let orders = [second, first].map(|other| {
            let is_left_out = |it: &&Format| is_mixed && it.user_is_first == other;
            let formats = formats.iter().filter(|it| !is_left_out(it));
            formats.cloned().collect()
        });
        Self {
            orders,
            is_mixed,
            users: HashSet::new(),
            pairs: HashMap::new(),
            sure: [0; 2],
            clear: [0; 2],
            otherwise,
        }
    }

    /// Learns orders. Returns true if identifiers whose order was clear now mean something else.
    pub fn learn<'i>(
        &mut self,
        ids: impl IntoIterator<Item = &'i str>,
        is_user: impl Fn(u32) -> bool,
    ) -> bool {
        if !self.is_mixed {
            return false;
        }
        for id in ids {
            let readings = self.orders.each_ref().map(|it| it.identify(id));
            match readings.map(|it| it.user_if_whole()) {
                [Some(one), Some(other)] if one != other => {
                    if self.pairs.len() < MOST_PAIRS {
                        self.pairs.entry((one, other)).or_default();
                    }
                }
                [one, other] => {
                    self.users.extend(one.or(other));
                    self.sure[0] += usize::from(other.is_none() && one.is_some());
                    self.sure[1] += usize::from(one.is_none() && other.is_some());
                }
            }
        }
        self.settle(is_user)
    }

    fn settle(&mut self, is_user: impl Fn(u32) -> bool) -> bool {
        let is_user = |user| self.users.contains(&user) || is_user(user);
        let roles = Roles::of(self.pairs.keys().copied(), is_user);
        let before = self.common_order();
        self.clear = self.sure;
        let mut is_changed = false;
        for (pair, order) in &mut self.pairs {
            let new = roles.is_first_user(*pair).map(|it| usize::from(!it));
            if let Some(new) = new {
                self.clear[new] += 1;
            }
            let old = order.or(before);
            is_changed |= old.is_some() && old != new.or(before);
            *order = new;
        }
        is_changed || before.is_some() && before != self.common_order()
    }

    /// Returns the order of nearly all identifiers whose order is clear: users can make some look different.
    fn common_order(&self) -> Option<usize> {
        (0..2).find(|order| self.clear[*order] > FEW * self.clear[1 - order])
    }

    /// Returns true if more identifiers have the second order than the first.
    pub(super) const fn is_mostly_second(&self) -> bool {
        self.clear[1] > self.clear[0]
    }

    /// Returns the fields of an identifier.
    ///
    /// # Errors
    ///
    /// Returns both readings if it is not clear which of two numbers is the user.
    pub fn identify<'a>(&'a self, id: &'a str) -> Result<Identity<'a>, Box<[Identity<'a>; 2]>> {
        let readings = self.orders.each_ref().map(|it| it.identify(id));
        let order = match readings.map(|it| it.user_if_whole()) {
            [Some(one), Some(other)] if one != other => {
                let own = self.pairs.get(&(one, other)).copied().flatten();
                own.or(self.common_order()).or(self.otherwise)
            }
            [None, Some(_)] => Some(1),
            _ => Some(0),
        };
        order.map_or_else(|| Err(readings.into()), |order| Ok(readings[order]))
    }
}

impl Identity<'_> {
    /// Returns the user if a format has matched the whole identifier, as far as Lustre did not cut it.
    fn user_if_whole(&self) -> Option<u32> {
        let is_part = matches!(self.status, Status::Partial | Status::Malformed);
        self.uid.filter(|_| !is_part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The user and the job of each identifier, with formats that are guessed from all of them; `None` if that is not clear.
    fn read(ids: &[&str], users: &[u32]) -> Vec<Option<(Option<u32>, Option<String>)>> {
        let mut formats = MixedFormats::likely(ids);
        formats.learn(ids.iter().copied(), |user| users.contains(&user));
        let read = |id: &&str| {
            let identity = formats.identify(id).ok()?;
            Some((identity.uid, identity.number().map(Into::into)))
        };
        ids.iter().map(read).collect()
    }

    fn of(user: u32, job: &str) -> Option<(Option<u32>, Option<String>)> {
        Some((Some(user), (!job.is_empty()).then(|| job.to_owned())))
    }

    #[test]
    fn identifiers_have_different_orders() {
        let ids = [
            "1000:8004711:n1",
            "1000:8004712:n1",
            "1001:8004713:n2",
            "8004714:1000:m1",
            "8004715:1001:m2",
            "make.1002",
            "bash.1000",
            "cron.0",
        ];
        let expected = [
            of(1000, "8004711"),
            of(1000, "8004712"),
            of(1001, "8004713"),
            of(1000, "8004714"),
            of(1001, "8004715"),
            of(1002, ""),
            of(1000, ""),
            of(0, ""),
        ];
        assert_eq!(read(&ids, &[]), expected);
        // Programs may be most of the identifiers, and only one order may be there.
        assert_eq!(read(&ids[3..], &[]), expected[3..]);
        assert_eq!(read(&ids[..3], &[]), expected[..3]);
    }

    #[test]
    fn a_single_identifier_is_clear_only_if_a_user_is_known() {
        assert_eq!(read(&["1000:4711:n1"], &[]), [None]);
        assert_eq!(read(&["1000:4711:n1"], &[1000]), [of(1000, "4711")]);
        assert_eq!(read(&["1000:4711:n1"], &[4711]), [of(4711, "1000")]);
        let with_program = ["1000:4711:n1", "make.1000"];
        assert_eq!(read(&with_program, &[])[0], of(1000, "4711"));
    }

    #[test]
    fn what_is_no_number_shows_the_order() {
        // Elements of arrays and steps are jobs, and an empty job has its place.
        for (id, sure) in [
            ("1000:4711:n1", "1000:4712_3:n1"),
            ("1000:4711:n1", "1000:4712.0:n1"),
            ("1000:4711:n1", "1000::n1"),
            ("4711:1000:n1", "4712_3:1000:n1"),
            ("4711:1000:n1", "4712.batch:1000:n1"),
            ("4711:1000:n1", ":1000:n1"),
        ] {
            assert_eq!(read(&[id, sure], &[])[0], of(1000, "4711"), "{sure}");
        }
    }

    #[test]
    fn where_the_order_is_not_clear_it_is_the_one_of_all_others() {
        let ids = ["1000:1010:n1", "1000:1011:n1", "1012:1001:n2"];
        assert_eq!(read(&ids, &[])[2], of(1012, "1001"));
        let ids = [&ids[..], &["1005_1:1000:n3"]].concat();
        assert_eq!(read(&ids, &[])[2], None);
    }

    #[test]
    fn of_given_formats_the_first_counts_if_the_order_is_not_clear() {
        for (formats, user) in [
            (["%u:%j:%H", "%.9j:%u:%H"], 1000),
            (["%.9j:%u:%H", "%u:%j:%H"], 4711),
        ] {
            let formats = formats.into_iter().chain(["%j"]);
            let mut formats = MixedFormats::compile(formats).expect("formats");
            formats.learn(["4712_1:1001:n2", "1002:4713_1:n3"], |_| false);
            for (id, user) in [
                ("1000:4711:n1", user),
                ("4712_1:1001:n2", 1001),
                ("a:1001:n2", 1001),
            ] {
                assert_eq!(formats.identify(id).map(|it| it.uid), Ok(Some(user)));
            }
        }
        assert!(MixedFormats::compile(["nothing"]).is_err());
        let one = MixedFormats::compile(["%u:%j:%H"]).expect("a format");
        let user = one.identify("1000:4711:n1").map(|it| it.uid);
        assert_eq!(user, Ok(Some(1000)));
    }

    #[test]
    fn a_later_identifier_can_show_what_earlier_ones_mean() {
        let mut formats = MixedFormats::likely(&["1000:4711:n1"]);
        assert!(!formats.learn(["1000:4711:n1"], |_| false));
        assert!(formats.identify("1000:4711:n1").is_err());
        formats.learn(["1000:4712:n2"], |_| false);
        let user = |formats: &MixedFormats| formats.identify("1000:4711:n1").ok()?.uid;
        assert_eq!(user(&formats), Some(1000));
        let learned = formats.learn(["1001:4711:n1", "1002:4711:n1"], |user| user == 4711);
        assert!(learned, "what was clear has changed");
        assert_eq!(user(&formats), Some(4711));
    }
}
