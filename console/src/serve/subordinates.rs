//! Subordinate user IDs of containers, which do not identify a user outside.

use std::fs;
use std::ops::Range;

/// Ranges of numbers.
#[derive(Debug, Default)]
pub struct Subordinates(Vec<Range<u32>>);

impl Subordinates {
    /// Reads the ranges of this machine; empty without the file.
    pub fn of_machine() -> Self {
        Self::read(&fs::read_to_string("/etc/subuid").unwrap_or_default())
    }

    /// Reads lines of a name, a first number and a count.
    fn read(text: &str) -> Self {
        let range = |line: &str| {
            let mut parts = line.split(':').skip(1);
            let first: u32 = parts.next()?.trim().parse().ok()?;
            let count: u32 = parts.next()?.trim().parse().ok()?;
            Some(first..first.saturating_add(count))
        };
        Self(text.lines().filter_map(range).collect())
    }

    /// Returns whether a number is in a range.
    pub fn has(&self, uid: u32) -> bool {
        self.0.iter().any(|range| range.contains(&uid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_file() {
        let known =
            Subordinates::read("ada:100000:65536\n# a remark\nbob:165536:65536\nbroken:x:1\n");
        let has = [99_999, 100_000, 165_535, 231_071, 231_072].map(|uid| known.has(uid));
        assert_eq!(has, [false, true, true, true, false]);
    }
}
