//! Expands lists of nodes as Slurm and Flux print them, for example `n[01-03,07],rack[0-1]_blade[0-1],login1`.
//!
//! A name may have several groups of ranges; their product is meant, in which the last group changes fastest. A range has the
//! width of its first number. Nothing is expanded before it is asked for, and the number of nodes is limited.

use thiserror::Error;

/// The largest number of nodes of a list.
pub const NODES_MAX: u64 = 1_000_000;

/// The longest name of a node in bytes.
pub const NAME_MAX: usize = 255;

/// The reason why a list could not be expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
pub enum NodeListError {
    /// The list has more nodes than [`NODES_MAX`].
    #[error("the list has more than {NODES_MAX} nodes")]
    TooMany,
    /// A name is empty, too long, or has blanks or control characters.
    #[error("a name of the list is no name of a node")]
    BadName,
    /// A range is not `number` or `number-number`, or its brackets are not closed.
    #[error("a range of the list cannot be read")]
    BadRange,
}

/// Returns the names of the nodes of a list. They are not sorted, and one that is listed twice comes twice.
///
/// # Errors
/// [`NodeListError`], before the first name is made.
pub fn expand(list: &str) -> Result<impl Iterator<Item = String>, NodeListError> {
    let mut count = 0_u64;
    for item in items(list) {
        count = count.saturating_add(check(item)?);
        if count > NODES_MAX {
            return Err(NodeListError::TooMany);
        }
    }
    Ok(items(list).flat_map(Names::new))
}

/// Returns whether a node is in a list, whose names may have domains; `None` if the list cannot be read. Nothing is expanded.
pub fn contains(list: &str, node: &str) -> Option<bool> {
    items(list).try_fold(false, |found, item| {
        check(item).ok()?;
        Some(found || stands_for(item, node, MATCHED_GROUPS))
    })
}

/// Returns the number of nodes of a list; `None` if it cannot be read. Nothing is expanded.
#[must_use]
pub fn count(list: &str) -> Option<u64> {
    items(list).try_fold(0_u64, |sum, item| {
        Some(sum.saturating_add(check(item).ok()?))
    })
}

/// The largest number of groups of ranges of an item that is compared with a node.
const MATCHED_GROUPS: usize = 3;

/// Returns whether an item that was checked stands for a node.
fn stands_for(item: &str, node: &str, groups: usize) -> bool {
    let Ok((before, ranges, after)) = split_group(item) else {
        return false;
    };
    let Some(ranges) = ranges else {
        return short(before) == node;
    };
    let Some(rest) = node.strip_prefix(before).filter(|_| groups > 0) else {
        return false;
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (1..=digits).any(|length| {
        let (number, rest) = rest.split_at(length);
        ranges
            .split(',')
            .filter_map(Range::read)
            .any(|it| it.has(number))
            && stands_for(after, rest, groups - 1)
    })
}

/// Returns the part of a node's name before the first dot.
pub fn short(name: &str) -> &str {
    name.split_once('.').map_or(name, |(short, _)| short)
}

/// Returns the parts of a list between commas that are not in brackets.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    let is_end = move |character: char| {
        match character {
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
        character == ',' && !inside
    };
    list.split(is_end)
}

/// Splits off the text before the first group of ranges and that group, if there is one.
fn split_group(text: &str) -> Result<(&str, Option<&str>, &str), NodeListError> {
    let Some((before, rest)) = text.split_once('[') else {
        let is_closed = text.contains(']');
        return if is_closed {
            Err(NodeListError::BadRange)
        } else {
            Ok((text, None, ""))
        };
    };
    let (ranges, rest) = rest.split_once(']').ok_or(NodeListError::BadRange)?;
    let is_nested = before.contains(']') || ranges.contains('[');
    if is_nested {
        Err(NodeListError::BadRange)
    } else {
        Ok((before, Some(ranges), rest))
    }
}

/// Checks one item of a list, and returns the number of its nodes.
fn check(item: &str) -> Result<u64, NodeListError> {
    let (mut rest, mut nodes, mut length) = (item, 1_u64, 0_usize);
    loop {
        let (before, ranges, after) = split_group(rest)?;
        let is_name = |character: char| !character.is_whitespace() && !character.is_control();
        if !before.chars().all(is_name) {
            return Err(NodeListError::BadName);
        }
        length += before.len();
        if let Some(ranges) = ranges {
            let (mut numbers, mut digits) = (0_u64, 0);
            for range in ranges.split(',') {
                let range = Range::read(range).ok_or(NodeListError::BadRange)?;
                numbers = numbers.saturating_add(range.count());
                digits = digits.max(range.digits());
            }
            nodes = nodes.saturating_mul(numbers);
            length += digits;
        }
        if !(1..=NAME_MAX).contains(&length) && (ranges.is_none() || length > 0) {
            return Err(NodeListError::BadName);
        }
        if ranges.is_none() {
            return Ok(nodes);
        }
        rest = after;
    }
}

/// A range of numbers, which are padded with zeros to a width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    first: u64,
    last: u64,
    width: usize,
}

impl Range {
    fn read(range: &str) -> Option<Self> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            // Longer numbers are zeros in front, or no number of a node.
            let number = text.parse::<u64>().ok().filter(|_| is_number)?;
            (number < u64::MAX).then_some(number)
        };
        let (low, high) = (number(first)?, number(last)?);
        let range = Self {
            first: low,
            last: high,
            width: first.len(),
        };
        (low <= high).then_some(range)
    }

    /// Returns whether a number is in the range and is padded like it.
    fn has(self, number: &str) -> bool {
        let is_padded =
            number.len() == self.width || number.len() > self.width && !number.starts_with('0');
        let is_within = |number| (self.first..=self.last).contains(&number);
        is_padded && number.parse().is_ok_and(is_within)
    }

    fn count(self) -> u64 {
        (self.last - self.first).saturating_add(1)
    }

    /// Returns the length of the longest number.
    fn digits(self) -> usize {
        let digits = self.last.checked_ilog10().unwrap_or(0) as usize + 1;
        digits.max(self.width)
    }
}

/// A group of ranges, at one of its numbers.
struct Group<'a> {
    before: &'a str,
    ranges: &'a str,
    /// The ranges behind the present one.
    rest: Option<&'a str>,
    range: Range,
    number: u64,
}

impl<'a> Group<'a> {
    fn new(before: &'a str, ranges: &'a str) -> Option<Self> {
        let (range, rest) = next_range(ranges)?;
        Some(Self {
            before,
            ranges,
            rest,
            range,
            number: range.first,
        })
    }

    /// Goes to the next number. Returns false if that is the first one again.
    fn advance(&mut self) -> bool {
        if self.number < self.range.last {
            self.number += 1;
            return true;
        }
        let next = self.rest.and_then(next_range);
        let is_next = next.is_some();
        if let Some((range, rest)) = next.or_else(|| next_range(self.ranges)) {
            (self.range, self.rest, self.number) = (range, rest, range.first);
        }
        is_next
    }
}

/// Returns the first range of several, and those behind it.
fn next_range(ranges: &str) -> Option<(Range, Option<&str>)> {
    let (range, rest) = match ranges.split_once(',') {
        Some((range, rest)) => (range, Some(rest)),
        None => (ranges, None),
    };
    Some((Range::read(range)?, rest))
}

/// The names that one item of a list stands for.
struct Names<'a> {
    groups: Vec<Group<'a>>,
    end: &'a str,
    is_done: bool,
}

impl<'a> Names<'a> {
    /// Reads an item that was checked. It has no more groups than a name has characters.
    fn new(item: &'a str) -> Self {
        let (mut groups, mut rest) = (Vec::new(), item);
        while let Ok((before, Some(ranges), after)) = split_group(rest) {
            groups.extend(Group::new(before, ranges));
            rest = after;
        }
        Self {
            groups,
            end: rest,
            is_done: false,
        }
    }
}

impl Iterator for Names<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.is_done {
            return None;
        }
        let mut name = String::new();
        for Group {
            before,
            range,
            number,
            ..
        } in &self.groups
        {
            name += before;
            let digits = number.to_string();
            name.extend(std::iter::repeat_n(
                '0',
                range.width.saturating_sub(digits.len()),
            ));
            name += &digits;
        }
        name += self.end;
        // As in an odometer, a group that begins anew moves the one before it.
        self.is_done = !self.groups.iter_mut().rev().any(Group::advance);
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(list: &str) -> Vec<String> {
        expand(list).unwrap().collect()
    }

    fn error(list: &str) -> Option<NodeListError> {
        expand(list).err()
    }

    #[test]
    fn lists_are_expanded() {
        let cases: [(&str, &[&str]); 12] = [
            ("n1", &["n1"]),
            ("n1,n2.example.org", &["n1", "n2.example.org"]),
            ("c[01-03,07]", &["c01", "c02", "c03", "c07"]),
            (
                "d09n04s[01-02],d13n[03,05]",
                &["d09n04s01", "d09n04s02", "d13n03", "d13n05"],
            ),
            (
                "nid0[0099,0156-0157]",
                &["nid00099", "nid00156", "nid00157"],
            ),
            ("nid00[192,246]", &["nid00192", "nid00246"]),
            ("r[0-1]_b[0-1]", &["r0_b0", "r0_b1", "r1_b0", "r1_b1"]),
            ("n[1-2]-ib", &["n1-ib", "n2-ib"]),
            ("n[9-11]", &["n9", "n10", "n11"]),
            ("n[098-101]", &["n098", "n099", "n100", "n101"]),
            ("[1-2]", &["1", "2"]),
            ("n[1,1]", &["n1", "n1"]),
        ];
        for (list, expected) in cases {
            assert_eq!(names(list), expected, "{list}");
        }
    }

    #[test]
    fn a_list_has_as_many_nodes_as_it_expands_to() {
        for list in ["n1", "c[01-03,07]", "r[0-1]_b[0-1],n9", "n[1,1]"] {
            assert_eq!(count(list), Some(names(list).len() as u64), "{list}");
        }
        assert_eq!(count("n[1-99999999]"), Some(99_999_999));
        assert_eq!(count("n[1-"), None);
    }

    #[test]
    fn a_node_is_in_a_list_that_expands_to_it() {
        for list in [
            "n1,n2.example.org",
            "c[01-03,07]",
            "d09n04s[01-02],d13n[03,05]",
            "nid0[0099,0156-0157]",
            "r[0-1]_b[0-1]",
            "r[0-1]b[0-1][0-1]",
            "n[1-2]-ib",
            "n[9-11]",
            "n[098-101].cluster",
        ] {
            let all = names(list);
            for node in &all {
                assert_eq!(contains(list, short(node)), Some(true), "{list} {node}");
            }
            for node in [
                "n", "n3", "n09", "c1", "c04", "c007", "r2_b0", "n97", "n102", "n1-i", "", "é",
            ] {
                let is_in = all.iter().any(|it| short(it) == node);
                assert_eq!(contains(list, node), Some(is_in), "{list} {node}");
            }
        }
        assert_eq!(contains("n[1-2", "n1"), None);
        assert_eq!(contains("q[1-18446744073709551614]", "q77"), Some(true));
    }

    #[test]
    fn a_list_that_is_damaged_is_an_error() {
        use NodeListError::{BadName, BadRange};
        for (list, reason) in [
            ("", BadName),
            ("n1,", BadName),
            ("None assigned", BadName),
            ("n\u{1}", BadName),
            ("n[1-2", BadRange),
            ("n1-2]", BadRange),
            ("n[]", BadRange),
            ("n[1,]", BadRange),
            ("n[2-1]", BadRange),
            ("n[a-b]", BadRange),
            ("n[+1]", BadRange),
            ("n[1-2-3]", BadRange),
            ("n[[1-2]]", BadRange),
            ("n[18446744073709551615]", BadRange),
            ("n[99999999999999999999999]", BadRange),
        ] {
            assert_eq!(error(list), Some(reason), "{list}");
        }
        assert_eq!(error(&"n".repeat(NAME_MAX + 1)), Some(BadName));
        assert_eq!(error(&"[1]".repeat(NAME_MAX + 1)), Some(BadName));
        assert_eq!(names(&"[1]".repeat(NAME_MAX)).len(), 1);
    }

    #[test]
    fn a_list_without_measure_costs_nothing() {
        for list in [
            "n[1-99999999]",
            "n[0-18446744073709551614]",
            "[0-9][0-9][0-9][0-9][0-9][0-9][0-9]",
            "n[1-999999],m[1-2]",
        ] {
            assert_eq!(error(list), Some(NodeListError::TooMany), "{list}");
        }
        assert_eq!(
            expand("n[1-1000000]").unwrap().next().as_deref(),
            Some("n1")
        );
        assert_eq!(expand("n[1-1000000]").unwrap().count(), 1_000_000);
        let many = format!("n[{}1]", "1,".repeat(999_999));
        assert_eq!(expand(&many).unwrap().count(), 1_000_000);
        let many = format!("{}n", "n,".repeat(999_999));
        assert_eq!(expand(&many).unwrap().count(), 1_000_000);
    }

    #[test]
    fn a_short_name_has_no_domain() {
        assert_eq!(short("n1.example.org"), "n1");
        assert_eq!(short("n1"), "n1");
        assert_eq!(short(""), "");
    }

    /// A text and the ranges behind it: first, last, and the width of the first.
    type Part = (String, Vec<(u64, u64, usize)>);

    /// Returns the list of a name of parts, and the names that it stands for.
    fn naive(parts: &[Part]) -> (String, Vec<String>) {
        let (mut list, mut names) = (String::new(), vec![String::new()]);
        for (text, ranges) in parts {
            list += text;
            let ends: Vec<String> = ranges
                .iter()
                .flat_map(|(first, last, width)| {
                    (*first..=*last).map(move |number| format!("{number:0width$}"))
                })
                .collect();
            names = names
                .iter()
                .flat_map(|name| ends.iter().map(move |end| format!("{name}{text}{end}")))
                .collect();
            let ranges = ranges
                .iter()
                .map(|(first, last, width)| match first == last {
                    true => format!("{first:0width$}"),
                    false => format!("{first:0width$}-{last}"),
                });
            list += &format!("[{}]", ranges.collect::<Vec<_>>().join(","));
        }
        (list, names)
    }

    proptest! {
        #[test]
        fn a_list_is_expanded_as_by_loops(
            items in prop::collection::vec(
                prop::collection::vec(("[a-z_.-]{0,3}", prop::collection::vec((0_u64..120, 0_u64..12, 1_usize..4), 1..3)), 1..3), 1..4),
        ) {
            let (mut lists, mut expected) = (Vec::new(), Vec::new());
            for item in items {
                let ranges = |ranges: Vec<(u64, u64, usize)>| ranges.into_iter().map(|(first, more, width)| {
                    // The width is that of the first number.
                    (first, first + more, width.max(first.to_string().len()))
                }).collect();
                let parts: Vec<_> = item.into_iter().map(|(text, it)| (text, ranges(it))).collect();
                let (list, names) = naive(&parts);
                lists.push(list);
                expected.extend(names);
            }
            prop_assert_eq!(names(&lists.join(",")), expected);
        }

        #[test]
        fn any_text_is_expanded_or_refused(pieces in prop::collection::vec(prop::sample::select(&["[", "]", "-", ",", "1", "09", "n", " ", "é"][..]), 0..20)) {
            let text = pieces.concat();
            if let Ok(names) = expand(&text) {
                for name in names.take(1_000) {
                    prop_assert!((1..=NAME_MAX).contains(&name.len()) && !name.contains(['[', ']', ',']));
                }
            }
        }
    }
}
