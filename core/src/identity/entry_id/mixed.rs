//! Reads identifiers of clients of which some put the user before the job, and others the job before the user.

use std::collections::{HashMap, HashSet};

use super::guess::likely_formats;
use super::swapped::Roles;
use super::{Format, FormatError, Formats, Identity, Status};

/// The number of identifiers from which the formats are learned. Later ones are read by them.
const MOST_LEARNED: usize = 200_000;

/// The evidence about the order on a node, whose clients all have one format.
#[derive(Debug, Default)]
struct Node {
    /// The number of identifiers that only one of the orders reads.
    sure: [usize; 2],
    /// The numbers that are the user by each of the orders.
    pairs: HashSet<(u32, u32)>,
    order: Option<usize>,
}

/// Formats of a site, with the order of user and job on each node.
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
    /// The order of nodes whose order is not known.
    otherwise: Option<usize>,
    learned: usize,
    users: HashSet<u32>,
    nodes: HashMap<Box<str>, Node>,
    /// The order of all nodes that show theirs, if they have the same.
    common: Option<usize>,
}

impl MixedFormats {
    /// Compiles formats. If user and job have both orders, the first one counts for nodes that do not show theirs.
    pub fn compile<'f>(formats: impl IntoIterator<Item = &'f str>) -> Result<Self, FormatError> {
        let formats = formats.into_iter();
        let formats: Vec<_> = formats
            .map(|format| Format::compile(format, None))
            .collect::<Result<_, _>>()?;
        Ok(Self::new(&formats, Some(0)))
    }

    /// Guesses the formats from identifiers.
    pub fn likely(ids: &[&str]) -> Self {
        Self::new(&likely_formats(ids), None)
    }

    fn new(formats: &[Format], otherwise: Option<usize>) -> Self {
        let first = formats.iter().find_map(|it| it.user_is_first);
        let has = |order| move |it: &&Format| it.user_is_first != Some(order);
        let [one, other] = [true, false].map(|order| {
            let formats = formats.iter().filter(has(order)).cloned();
            formats.collect::<Formats>()
        });
        let is_mixed = [&one, &other].iter().all(|it| it.0.len() < formats.len());
        let orders = match (is_mixed, first) {
            (true, Some(true)) => [other, one],
            (true, _) => [one, other],
            (false, _) => [(); 2].map(|()| formats.iter().cloned().collect()),
        };
        Self {
            orders,
            is_mixed,
            otherwise,
            learned: 0,
            users: HashSet::new(),
            nodes: HashMap::new(),
            common: None,
        }
    }

    /// Learns which nodes have which order. Returns true if identifiers that were read before now mean something else.
    pub fn learn<'i>(
        &mut self,
        ids: impl IntoIterator<Item = &'i str>,
        is_user: impl Fn(u32) -> bool,
    ) -> bool {
        if !self.is_mixed {
            return false;
        }
        for id in ids.into_iter().take(MOST_LEARNED - self.learned) {
            self.learned += 1;
            let [one, other] = self.orders.each_ref().map(|it| it.identify(id));
            let node = one.node.or(other.node).unwrap_or_default();
            match [one, other].map(|it| it.is_whole()) {
                [true, true] if one.uid == other.uid => self.users.extend(one.uid),
                [false, false] => {}
                [is_one, is_other] => {
                    let node = self.nodes.entry(node.into()).or_default();
                    match is_one && is_other {
                        true => node.pairs.extend(one.uid.zip(other.uid)),
                        false => node.sure[usize::from(is_other)] += 1,
                    }
                }
            }
        }
        self.settle(is_user)
    }

    /// Finds the order of each node by most of its identifiers. Returns true if an order that was known has changed.
    fn settle(&mut self, is_user: impl Fn(u32) -> bool) -> bool {
        let nodes = self.nodes.values();
        let before: Vec<_> = nodes.clone().map(|it| self.order(Some(it))).collect();
        let pairs = nodes.flat_map(|it| it.pairs.iter().copied());
        let roles = Roles::of(pairs, |it| self.users.contains(&it) || is_user(it));
        for node in self.nodes.values_mut() {
            let mut votes = node.sure;
            let orders = node.pairs.iter().map(|pair| roles.is_first_user(*pair));
            for is_first in orders.flatten() {
                votes[usize::from(!is_first)] += 1;
            }
            let is_most = |order: &usize| votes[*order] > 2 * votes[1 - order];
            node.order = (0..2).find(is_most);
        }
        let mut orders = self.nodes.values().filter_map(|it| it.order);
        let first = orders.next();
        self.common = first.filter(|first| orders.all(|order| order == *first));
        let after = self.nodes.values().map(|it| self.order(Some(it)));
        let mut orders = before.into_iter().zip(after);
        orders.any(|(before, after)| before.is_some() && before != after)
    }

    /// Returns the order of a node.
    fn order(&self, node: Option<&Node>) -> Option<usize> {
        let own = node.and_then(|node| node.order);
        own.or(self.common).or(self.otherwise)
    }

    /// Returns the fields of an identifier.
    ///
    /// # Errors
    ///
    /// Returns both readings if nothing shows which of two numbers is the user.
    pub fn identify<'a>(&'a self, id: &'a str) -> Result<Identity<'a>, Box<[Identity<'a>; 2]>> {
        let readings = self.orders.each_ref().map(|it| it.identify(id));
        let [one, other] = readings;
        if !other.is_whole() || one.is_whole() && one.uid == other.uid {
            return Ok(one);
        }
        if !one.is_whole() {
            return Ok(other);
        }
        let node = self.nodes.get(one.node.unwrap_or_default());
        match self.order(node) {
            Some(order) => Ok(readings[order]),
            None => Err(readings.into()),
        }
    }
}

impl Identity<'_> {
    /// Returns true if a format has matched the whole identifier, as far as Lustre did not cut it.
    fn is_whole(&self) -> bool {
        !matches!(self.status, Status::Partial | Status::Malformed)
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
    fn orders_of_nodes_are_told_apart_by_their_numbers() {
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
    fn what_is_no_number_shows_the_order_of_its_node() {
        // Elements of arrays and steps are jobs, and an empty job has its place.
        for (id, sure) in [
            ("1000:4711:n1", "1000:4712_3:n1"),
            ("1000:4711:n1", "1000:4712.0:n1"),
            ("1000:4711:n1", "0::n1"),
            ("4711:1000:n1", "4712_3:1000:n1"),
            ("4711:1000:n1", "4712.batch:1000:n1"),
            ("4711:1000:n1", ":0:n1"),
        ] {
            assert_eq!(read(&[id, sure], &[])[0], of(1000, "4711"), "{sure}");
        }
    }

    #[test]
    fn a_node_that_shows_nothing_is_as_the_others_if_these_agree() {
        let ids = ["1000:1010:n1", "1000:1011:n1", "1012:1001:n2"];
        assert_eq!(read(&ids, &[])[2], of(1012, "1001"));
        let ids = [&ids[..], &["1005_1:1000:n3"]].concat();
        assert_eq!(read(&ids, &[])[2], None);
    }

    #[test]
    fn of_given_formats_the_first_counts_if_a_node_shows_nothing() {
        let read = |formats: [&str; 2]| {
            let mut formats = MixedFormats::compile(formats).expect("formats");
            formats.learn(["4712_1:1000:n2"], |_| false);
            ["1000:4711:n1", "4712:1000:n2"].map(|id| formats.identify(id).ok()?.uid)
        };
        let [one, other] = ["%u:%j:%H", "%.9j:%u:%H"];
        assert_eq!(read([other, one]), [Some(4711), Some(1000)]);
        assert!(MixedFormats::compile(["nothing"]).is_err());
        let one = MixedFormats::compile(["%u:%j:%H"]).expect("a format");
        assert_eq!(
            one.identify("1000:4711:n1").map(|it| it.uid),
            Ok(Some(1000))
        );
    }

    #[test]
    fn a_later_identifier_can_show_what_earlier_ones_mean() {
        let mut formats = MixedFormats::likely(&["1000:4711:n1"]);
        assert!(!formats.learn(["1000:4711:n1"], |_| false));
        assert!(formats.identify("1000:4711:n1").is_err());
        formats.learn(["1000:4712:n2"], |_| false);
        let user = |formats: &MixedFormats| formats.identify("1000:4711:n1").ok()?.uid;
        assert_eq!(user(&formats), Some(1000));
        let elements = ["4713_1:1:n1", "4713_2:1:n1", "4713_3:1:n1"];
        assert!(
            formats.learn(elements, |_| false),
            "more than 1000:4711 shows"
        );
        assert_eq!(user(&formats), Some(4711));
    }
}
