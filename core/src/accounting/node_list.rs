//! Reads lists of nodes as Slurm and Flux print them, for example `n[01-03,07],rack[0-1]_blade[0-1],login1`.
//!
//! A name may have several groups of ranges; their product is meant. A range has the width of its first number. A list is never
//! expanded, because it may stand for any number of nodes.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::text::field::is_number;

/// The longest name of a node in bytes.
const NAME_MAX: usize = 255;

/// Returns whether a node is in a list, whose names may have domains; `None` if the list cannot be read.
pub fn contains(list: &str, node: &str) -> Option<bool> {
    items(list).try_fold(false, |found, item| {
        check(item)?;
        Some(found || stands_for(item, node, MATCHED_GROUPS))
    })
}

/// Returns whether any of some nodes is in a list, whose names may have domains; `None` if the list cannot be read.
pub fn contains_any(list: &str, nodes: &BTreeSet<&str>) -> Option<bool> {
    items(list).try_fold(false, |found, item| {
        check(item)?;
        let mut each = nodes.iter();
        Some(
            found
                || match item.contains('[') {
                    true => each.any(|node| stands_for(item, node, MATCHED_GROUPS)),
                    false => nodes.contains(short(item)),
                },
        )
    })
}

/// Returns the number of nodes of a list; `None` if it cannot be read.
pub fn count(list: &str) -> Option<u64> {
    items(list).try_fold(0_u64, |sum, item| Some(sum.saturating_add(check(item)?)))
}

/// The largest number of groups of ranges of an item that is compared with a node.
const MATCHED_GROUPS: usize = 3;

/// Returns whether a checked item includes a node.
fn stands_for(item: &str, node: &str, groups: usize) -> bool {
    let Some((before, ranges, after)) = split_group(item) else {
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

/// Splits off the text before the first group of ranges and that group, if there is one; `None` if brackets are not closed.
fn split_group(text: &str) -> Option<(&str, Option<&str>, &str)> {
    let Some((before, rest)) = text.split_once('[') else {
        return (!text.contains(']')).then_some((text, None, ""));
    };
    let (ranges, rest) = rest.split_once(']')?;
    let is_nested = before.contains(']') || ranges.contains('[');
    (!is_nested).then_some((before, Some(ranges), rest))
}

/// Returns the number of nodes of an item; `None` if a name is empty, too long, or has blanks or control characters, or if a range is
/// not `number` or `number-number`.
fn check(item: &str) -> Option<u64> {
    let (mut rest, mut nodes, mut length) = (item, 1_u64, 0_usize);
    loop {
        let (before, ranges, after) = split_group(rest)?;
        let is_name = |character: char| !character.is_whitespace() && !character.is_control();
        if !before.chars().all(is_name) {
            return None;
        }
        length += before.len();
        if let Some(ranges) = ranges {
            let (mut numbers, mut digits) = (0_u64, 0);
            for range in ranges.split(',') {
                let range = Range::read(range)?;
                numbers = numbers.saturating_add(range.count());
                digits = digits.max(range.digits());
            }
            nodes = nodes.saturating_mul(numbers);
            length += digits;
        }
        if !(1..=NAME_MAX).contains(&length) && (ranges.is_none() || length > 0) {
            return None;
        }
        if ranges.is_none() {
            return Some(nodes);
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
            // Longer numbers are zeros in front, or no number of a node.
            let number = text.parse::<u64>().ok();
            let number = number.filter(|_| is_number(text.as_bytes()))?;
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
