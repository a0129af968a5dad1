//! Collects the text that could not be used, for `jobstats.rejects`.

use std::collections::BTreeMap;

use super::reason;
use crate::base::escape::escape;
use crate::base::target::TargetName;
use crate::text::additional_parameters;
use crate::text::getent::may_have_password;
use crate::text::job_stats::Problem;

/// The number of rows per text and reason; further rejects are only counted.
const PER_REASON: usize = 100;

/// The number of bytes of a line that are stored.
const LINE_LIMIT: usize = 4096;

/// The columns of a row of `jobstats.rejects` that differ between the rejects of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// The name of the target, if it is known.
    pub target: Option<String>,
    /// The line, counted from 1; `None` for a text as a whole.
    pub line: Option<i32>,
    /// The reason.
    pub reason: String,
    /// The beginning of the text; `None` if it may have secrets.
    pub text: Option<String>,
}

/// The rejects of one feed.
#[derive(Debug, Default)]
pub struct Rejects {
    rows: Vec<Reject>,
    seen: BTreeMap<String, usize>,
}

impl Rejects {
    /// Adds the lines that scanning could not use.
    pub fn add_problems(&mut self, problems: &[Problem<'_>], target: Option<&str>) {
        for problem in problems {
            let reason = problem.reason.code();
            self.add(target, Some(problem.line), reason, Some(problem.text));
        }
    }

    /// Adds unusable lines of parameters other than `job_stats`.
    pub fn add_values(&mut self, problems: &additional_parameters::Problems<'_>) {
        for problem in &problems.kept {
            let target = problem.parameter.target().map(TargetName::shown);
            let (line, text) = (Some(problem.line), Some(problem.text));
            self.add(target.as_deref(), line, problem.reason.code(), text);
        }
        self.add_dropped(problems.dropped);
    }

    /// Adds the number of problems of a text that were not even kept, because the text consists of little else.
    pub fn add_dropped(&mut self, dropped: u64) {
        if dropped > 0 {
            let more = format!("and {dropped} more");
            self.add(None, None, reason::TOO_MANY_PROBLEMS, Some(more.as_bytes()));
        }
    }

    /// Adds one piece of text, at a line counted from 1. `text` is `None` if the piece may have secrets. Lines with passwords
    /// are not shown in any case: whoever reads rejects need not be who may read them.
    pub fn add(
        &mut self,
        target: Option<&str>,
        line: Option<u32>,
        reason: &str,
        text: Option<&[u8]>,
    ) {
        if self.has_room(reason) {
            self.rows.push(Reject {
                target: target.map(str::to_owned),
                line: line.and_then(|line| i32::try_from(line).ok()),
                reason: reason.to_owned(),
                text: text.and_then(shown),
            });
        }
    }

    /// Adds the rejects of a part of the text.
    pub fn append(&mut self, part: Self) {
        for row in part.rows {
            if self.has_room(&row.reason) {
                self.rows.push(row);
            }
        }
        for (reason, seen) in part.seen {
            *self.seen.entry(reason).or_default() += seen.saturating_sub(PER_REASON);
        }
    }

    /// Takes the rows to store. If there are too many rejects of a reason, the last one has the number of the others.
    pub fn take(&mut self) -> Vec<Reject> {
        let mut rows = std::mem::take(&mut self.rows);
        for (reason, seen) in std::mem::take(&mut self.seen) {
            if seen > PER_REASON {
                rows.push(Reject {
                    target: None,
                    line: None,
                    reason,
                    text: Some(format!("and {} more", seen - PER_REASON)),
                });
            }
        }
        rows
    }

    /// Counts one more reject of a reason, and returns whether it is kept.
    fn has_room(&mut self, reason: &str) -> bool {
        let seen = self.seen.entry(reason.to_owned()).or_default();
        *seen += 1;
        *seen <= PER_REASON
    }
}

/// Returns the part of a text that is looked at. It is a few bytes longer than the part that is stored, so that a valid
/// character at the cut does not look damaged.
pub fn beginning(text: &[u8]) -> &[u8] {
    &text[..text.len().min(LINE_LIMIT + char::MAX_LEN_UTF8)]
}

/// Returns the beginning of a text as a text of PostgreSQL; `None` if it may have a password. Bytes that are not valid there are
/// escaped in Lustre's own notation.
fn shown(text: &[u8]) -> Option<String> {
    let text = beginning(text);
    if may_have_password(text) {
        return None;
    }
    let mut shown = escape(text).into_owned();
    shown.truncate(shown.floor_char_boundary(LINE_LIMIT));
    Some(shown)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::pause::Pause;
    use crate::{rules::snapshot, text::gauges};

    fn texts(rejects: &mut Rejects) -> Vec<(String, Option<String>)> {
        let rows = rejects.take().into_iter();
        rows.map(|row| (row.reason, row.text)).collect()
    }

    #[test]
    fn rejects_beyond_a_hundred_of_a_reason_are_counted() {
        let mut rejects = Rejects::default();
        for line in 1..=103 {
            rejects.add(Some("fs-OST0000"), Some(line), "cut line", Some(b"x"));
        }
        rejects.add(None, None, reason::CLOCK, None);
        let rows = rejects.take();
        assert_eq!(rows.len(), 102);
        assert_eq!(
            (rows[99].line, rows[100].reason.as_str()),
            (Some(100), "clock")
        );
        assert_eq!(
            rows[101],
            Reject {
                target: None,
                line: None,
                reason: "cut line".to_owned(),
                text: Some("and 3 more".to_owned()),
            }
        );
        assert!(rejects.take().is_empty(), "they are taken once");
    }

    #[test]
    fn lines_with_passwords_are_not_shown() {
        let mut rejects = Rejects::default();
        for line in ["ada:$6$salt$abcdefghijkl:19000:0:99999:7:::", "ada is here"] {
            rejects.add(None, Some(1), "unreadable line", Some(line.as_bytes()));
        }
        let shown: Vec<_> = texts(&mut rejects)
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        assert_eq!(shown, [None, Some("ada is here".to_owned())]);
    }

    #[test]
    fn values_that_cannot_be_used_have_their_target() {
        let text = "osd-zfs.fs-OST0000.filesfree=x\nhealth_check=y\n";
        let others = snapshot::read(text.as_bytes(), Pause::NEVER)
            .unwrap()
            .others;
        let mut problems = additional_parameters::Problems::default();
        gauges::read(&others, &mut problems, Pause::NEVER).unwrap();
        problems.dropped = 3;
        let mut rejects = Rejects::default();
        rejects.add_values(&problems);
        let rows = rejects.take();
        assert_eq!(
            rows[0],
            Reject {
                target: Some("fs-OST0000".to_owned()),
                line: Some(1),
                reason: "bad number".to_owned(),
                text: Some("x".to_owned()),
            }
        );
        assert_eq!(
            (&rows[1].target, rows[1].line, rows.len()),
            (&None, Some(2), 3)
        );
    }

    #[test]
    fn problems_that_were_dropped_give_a_row_if_there_were_any() {
        let mut rejects = Rejects::default();
        rejects.add_dropped(0);
        assert!(rejects.take().is_empty());
        rejects.add_dropped(7);
        let row = (
            reason::TOO_MANY_PROBLEMS.to_owned(),
            Some("and 7 more".to_owned()),
        );
        assert_eq!(texts(&mut rejects), [row]);
    }

    #[test]
    fn the_beginning_of_a_text_ends_with_a_whole_character() {
        let mut rejects = Rejects::default();
        let text = format!("a{}", "é".repeat(LINE_LIMIT));
        rejects.add(None, None, "no target", Some(text.as_bytes()));
        rejects.add(None, None, "no target", Some(b"\xFF\0"));
        rejects.add(None, None, "no target", None);
        let shown: Vec<_> = texts(&mut rejects)
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        let cut = format!("a{}", "é".repeat(LINE_LIMIT / 2 - 1));
        assert_eq!(cut.len(), LINE_LIMIT - 1);
        assert_eq!(shown, [Some(cut), Some("\\xFF\\x00".to_owned()), None]);
    }

    proptest! {
        /// Parts that are collected one by one show and count as many rejects as the whole.
        #[test]
        fn parts_count_as_the_whole(parts in prop::collection::vec(prop::collection::vec(0..3_usize, 0..150), 0..5)) {
            let reasons = ["clock", "cut line", "too late"];
            let (mut whole, mut sum) = (Rejects::default(), Rejects::default());
            for part in parts {
                let mut rejects = Rejects::default();
                for reason in part {
                    rejects.add(None, Some(1), reasons[reason], None);
                    whole.add(None, Some(1), reasons[reason], None);
                }
                sum.append(rejects);
            }
            prop_assert_eq!(sum.take(), whole.take());
        }
    }
}
