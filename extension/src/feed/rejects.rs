//! Collects the text that could not be used, for `jobstats.rejects`.

use std::collections::BTreeMap;

use jobstats_core::instant::Micros;
use jobstats_core::job_stats::Problem;
use pgrx::spi::SpiClient;

use crate::feed::delivery::Delivery;
use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::time::timestamptz;

/// The number of rows per text and reason; further rejects are only counted.
const PER_REASON: usize = 100;

/// The number of bytes of a line that are stored.
const LINE_LIMIT: usize = 4096;

/// The columns of a row of `jobstats.rejects` that differ between the rejects of a text.
struct Reject {
    target: Option<String>,
    line: Option<i32>,
    reason: String,
    text: Option<String>,
}

/// The rejects of one feed.
#[derive(Default)]
pub struct Rejects {
    rows: Vec<Reject>,
    seen: BTreeMap<String, usize>,
}

impl Rejects {
    /// Adds the lines that scanning could not use.
    pub fn add_problems(&mut self, problems: &[Problem<'_>], target: Option<&str>) {
        for problem in problems {
            let line = i32::try_from(problem.line).ok();
            let reason = problem.reason.code();
            self.add(target, line, reason, Some(problem.text));
        }
    }

    /// Adds the number of problems of a text that were not even kept, because the text consists of little else.
    pub fn add_dropped(&mut self, dropped: u64) {
        if dropped > 0 {
            let more = format!("and {dropped} more");
            self.add(None, None, "too many problems", Some(more.as_bytes()));
        }
    }

    /// Adds one piece of text. `text` is `None` if the piece may have secrets.
    pub fn add(
        &mut self,
        target: Option<&str>,
        line: Option<i32>,
        reason: &str,
        text: Option<&[u8]>,
    ) {
        if self.has_room(reason) {
            self.rows.push(Reject {
                target: target.map(str::to_owned),
                line,
                reason: reason.to_owned(),
                text: text.map(shown),
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

    /// Counts one more reject of a reason, and returns whether it is kept.
    fn has_room(&mut self, reason: &str) -> bool {
        let seen = self.seen.entry(reason.to_owned()).or_default();
        *seen += 1;
        *seen <= PER_REASON
    }

    /// Stores the rejects.
    pub fn insert(
        &mut self,
        client: &mut SpiClient<'_>,
        delivery: &Delivery,
        received: Micros,
    ) -> Result<(), Error> {
        for (reason, seen) in std::mem::take(&mut self.seen) {
            if seen > PER_REASON {
                let text = format!("and {} more", seen - PER_REASON);
                self.rows.push(Reject {
                    target: None,
                    line: None,
                    reason,
                    text: Some(text),
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
        client.execute(
            "INSERT INTO jobstats.rejects (\"time\", received, cluster, server, target, line, reason, text) \
             SELECT $1, $2, $3, $4, * FROM unnest($5::text[], $6::integer[], $7::text[], $8::text[])",
            &[
                timestamptz(delivery.time)?.into(),
                timestamptz(received)?.into(),
                delivery.cluster.as_str().into(),
                delivery.server.as_str().into(),
                targets.into(),
                lines.into(),
                reasons.into(),
                texts.into(),
            ],
        )?;
        Ok(())
    }
}

/// Returns the part of a text that is looked at. It is a few bytes longer than the part that is stored, so that a valid
/// character at the cut does not look damaged.
pub fn beginning(text: &[u8]) -> &[u8] {
    &text[..text.len().min(LINE_LIMIT + char::MAX_LEN_UTF8)]
}

/// Returns the beginning of a text as a text of PostgreSQL. Bytes that are not valid there are escaped in Lustre's own
/// notation.
fn shown(text: &[u8]) -> String {
    let mut shown = jobstats_core::escape::escape(beginning(text)).into_owned();
    shown.truncate(shown.floor_char_boundary(LINE_LIMIT));
    shown
}
