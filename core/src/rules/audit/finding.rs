//! Disagreements, as people read them.

use thiserror::Error;

use crate::base::escape::escape;
use crate::base::instant::Micros;
use crate::rules::increment::Counts;

/// The number of disagreements above which an audit fails. No reader reads more.
const LIMIT: usize = 100_000;

/// The number of bytes of a line that are shown.
const SHOWN: usize = 200;

/// A stored value that differs from the computed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The time of the observation.
    pub time: Micros,
    /// The name of the entry; `None` if the finding is about the observation as a whole.
    pub entry: Option<String>,
    /// The kind of the value.
    pub what: &'static str,
    /// The stored value, if any.
    pub stored: Option<String>,
    /// The computed value, if any.
    pub computed: Option<String>,
}

impl Finding {
    /// Creates a finding about an observation as a whole.
    pub fn new(
        time: Micros,
        what: &'static str,
        stored: impl Into<Option<String>>,
        computed: impl Into<Option<String>>,
    ) -> Self {
        Self {
            time,
            entry: None,
            what,
            stored: stored.into(),
            computed: computed.into(),
        }
    }

    /// Returns the findings about the counts of an observation.
    pub fn of_counts(
        time: Micros,
        stored: &Counts,
        computed: &Counts,
    ) -> impl Iterator<Item = Self> {
        let values = stored.values().into_iter().zip(computed.values());
        let named = Counts::NAMES.into_iter().zip(values);
        let different = named.filter(|(_, (stored, computed))| stored != computed);
        different.map(move |(name, (stored, computed))| {
            Self::new(time, name, stored.to_string(), computed.to_string())
        })
    }

    /// Returns the finding about carried records, which shows the first line in which the two texts differ; `None` if
    /// they are the same. A text that ended before that line, or is missing, shows an empty line.
    pub fn of_carried(
        time: Micros,
        stored: Option<&[u8]>,
        computed: Option<&[u8]>,
    ) -> Option<Self> {
        let what = "carried records";
        let (mut stored_lines, mut computed_lines) = (lines(stored), lines(computed));
        for number in 1.. {
            match (stored_lines.next(), computed_lines.next()) {
                (None, None) => break,
                (one, other) if one == other => {}
                (one, other) => {
                    let show = |line| shown(number, line);
                    return Some(Self::new(time, what, one.map(show), other.map(show)));
                }
            }
        }
        (stored != computed).then(|| Self::new(time, what, None, None))
    }
}

fn lines(text: Option<&[u8]>) -> impl Iterator<Item = &[u8]> {
    let lines = text.into_iter();
    lines.flat_map(|text| text.split_inclusive(|byte| *byte == b'\n'))
}

fn shown(number: usize, line: &[u8]) -> String {
    let cut = &line[..line.len().min(SHOWN)];
    format!("line {number}: {}", escape(cut).trim_end())
}

/// Cluster and name of a target.
type Name = (String, String);

/// The error for more findings than anybody reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("more than 100,000 differences")]
pub struct TooManyFindings;

/// The findings of an audit.
#[derive(Debug, Default)]
pub struct Findings(Vec<(Name, Finding)>);

impl Findings {
    /// Adds a finding about the target of this cluster and name.
    ///
    /// # Errors
    /// [`TooManyFindings`] if there are 100,000 findings already.
    pub fn add(&mut self, target: Name, finding: Finding) -> Result<(), TooManyFindings> {
        if self.0.len() == LIMIT {
            return Err(TooManyFindings);
        }
        self.0.push((target, finding));
        Ok(())
    }

    /// Returns the findings in order of target and time. The findings of one observation stay in the order in which
    /// they were found.
    pub fn in_order(mut self) -> Vec<(Name, Finding)> {
        self.0
            .sort_by(|a, b| (&a.0, a.1.time).cmp(&(&b.0, b.1.time)));
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(stored: Option<&str>, computed: Option<&str>) -> Option<[Option<String>; 2]> {
        let [stored, computed] = [stored, computed].map(|text| text.map(str::as_bytes));
        let finding = Finding::of_carried(7, stored, computed)?;
        assert_eq!((finding.time, finding.what), (7, "carried records"));
        Some([finding.stored, finding.computed])
    }

    fn line(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn carried_records_show_the_first_line_that_differs() {
        assert_eq!(
            carried(Some("a\nb\nc\n"), Some("a\nx\n")),
            Some([line("line 2: b"), line("line 2: x")])
        );
        assert_eq!(
            carried(Some("a\nb\n"), Some("a\n")),
            Some([line("line 2: b"), None])
        );
        assert_eq!(carried(None, Some("a\n")), Some([None, line("line 1: a")]));
        assert_eq!(carried(None, Some("")), Some([None, None]));
        assert_eq!(carried(None, None), None);
        assert_eq!(carried(Some("a\n"), Some("a\n")), None);
    }

    #[test]
    fn a_long_line_and_bytes_that_are_no_text_are_shown_short_and_escaped() {
        let finding = Finding::of_carried(0, Some(&[0xFF; 300]), None).expect("a finding");
        let shown = finding.stored.expect("a line");
        assert_eq!(shown, format!("line 1: {}", "\\xFF".repeat(SHOWN)));
    }

    #[test]
    fn each_count_that_differs_is_a_finding() {
        let stored = Counts::of_values([1, 2, 3, 4, 5, 6, 7, 8]);
        let computed = Counts {
            added: 0,
            problems: 9,
            ..stored
        };
        let findings: Vec<_> = Finding::of_counts(5, &stored, &computed).collect();
        let text = |count: i32| Some(count.to_string());
        assert_eq!(
            findings,
            [
                Finding::new(5, "added", text(3), text(0)),
                Finding::new(5, "problems", text(8), text(9))
            ]
        );
        assert_eq!(Finding::of_counts(5, &stored, &stored).count(), 0);
    }

    #[test]
    fn findings_are_in_order_of_target_and_time_and_else_as_they_were_found() {
        let mut findings = Findings::default();
        for (target, time, what) in [
            ("b", 1, "first"),
            ("a", 2, "third"),
            ("a", 1, "second"),
            ("a", 1, "bytes"),
        ] {
            let name = ("c".to_owned(), target.to_owned());
            let finding = Finding::new(time, what, None, None);
            assert_eq!(findings.add(name, finding), Ok(()));
        }
        let order: Vec<_> = findings
            .in_order()
            .into_iter()
            .map(|((_, target), finding)| (target, finding.what))
            .collect();
        let expected = [
            ("a", "second"),
            ("a", "bytes"),
            ("a", "third"),
            ("b", "first"),
        ];
        assert_eq!(
            order,
            expected.map(|(target, what)| (target.to_owned(), what))
        );
    }

    #[test]
    fn there_are_a_hundred_thousand_findings_at_most() {
        let mut findings = Findings::default();
        let mut add = || {
            let name = (String::new(), String::new());
            findings.add(name, Finding::new(0, "entry", None, None))
        };
        assert!((0..100_000).all(|_| add().is_ok()));
        assert_eq!(add(), Err(TooManyFindings));
    }
}
