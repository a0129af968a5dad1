//! What could not be used, on its way into `jobstats.rejects`.

use std::collections::BTreeMap;

use jobstats_core::increment::Micros;
use jobstats_core::scan::Problem;
use pgrx::spi::SpiClient;

use super::Feed;
use crate::error::Error;
use crate::time::timestamptz;

/// Rows per text and reason; the rest is counted.
const PER_REASON: usize = 100;

/// Bytes of a line that are kept.
const LINE_LIMIT: usize = 4096;

/// One row, but for what it has in common with the others of the text.
struct Reject {
    target: Option<String>,
    line: Option<i32>,
    reason: String,
    text: String,
}

/// The rejects of one feed.
#[derive(Default)]
pub struct Rejects {
    rows: Vec<Reject>,
    seen: BTreeMap<String, usize>,
}

impl Rejects {
    /// Adds what scanning or comparing could not use.
    pub fn add_problems(&mut self, problems: &[Problem<'_>], target: Option<&str>) {
        for problem in problems {
            let line = i32::try_from(problem.line).ok();
            self.add(target, line, problem.reason.code(), problem.text);
        }
    }

    /// Says how many problems of a text were not even kept: it consists of little else.
    pub fn add_dropped(&mut self, dropped: u64) {
        if dropped > 0 {
            self.add(
                None,
                None,
                "too many problems",
                format!("and {dropped} more").as_bytes(),
            );
        }
    }

    /// Adds one piece of text.
    pub fn add(&mut self, target: Option<&str>, line: Option<i32>, reason: &str, text: &[u8]) {
        if self.has_room(reason) {
            self.rows.push(Reject {
                target: target.map(str::to_owned),
                line,
                reason: reason.to_owned(),
                text: shown(text),
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

    /// Counts one more, and says whether it is kept.
    fn has_room(&mut self, reason: &str) -> bool {
        let seen = self.seen.entry(reason.to_owned()).or_default();
        *seen += 1;
        *seen <= PER_REASON
    }

    /// Stores them.
    pub fn insert(
        &mut self,
        client: &mut SpiClient<'_>,
        feed: &Feed,
        received: Micros,
    ) -> Result<(), Error> {
        for (reason, seen) in std::mem::take(&mut self.seen) {
            if seen > PER_REASON {
                let text = format!("and {} more", seen - PER_REASON);
                self.rows.push(Reject {
                    target: None,
                    line: None,
                    reason,
                    text,
                });
            }
        }
        if self.rows.is_empty() {
            return Ok(());
        }
        let (mut targets, mut lines, mut reasons, mut texts) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for row in self.rows.drain(..) {
            targets.push(row.target);
            lines.push(row.line);
            reasons.push(row.reason);
            texts.push(row.text);
        }
        client.update(
            "INSERT INTO jobstats.rejects (\"time\", received, cluster, server, target, line, reason, text) \
             SELECT $1, $2, $3, $4, * FROM unnest($5::text[], $6::integer[], $7::text[], $8::text[])",
            None,
            &[
                timestamptz(feed.time)?.into(),
                timestamptz(received)?.into(),
                feed.cluster.as_str().into(),
                feed.server.as_str().into(),
                targets.into(),
                lines.into(),
                reasons.into(),
                texts.into(),
            ],
        )?;
        Ok(())
    }
}

/// As much of a text as is looked at; a few bytes more than are kept: what is valid must not look damaged because it was
/// cut.
pub fn beginning(text: &[u8]) -> &[u8] {
    &text[..text.len().min(LINE_LIMIT + char::MAX_LEN_UTF8)]
}

/// As text of PostgreSQL: cut, and what is not valid there in Lustre's own notation.
fn shown(text: &[u8]) -> String {
    let mut shown = jobstats_core::escape::escape(beginning(text)).into_owned();
    shown.truncate(shown.floor_char_boundary(LINE_LIMIT));
    shown
}
