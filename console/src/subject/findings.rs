//! Advice about the way in which something used Lustre. Each sentence has the number that proves it.

use jobstats_client::answers::SummaryRow;

use super::{Ranked, Ranking, Subject, Usage, number};
use crate::values::number::{calls, per_call, percent, rate, total};
use crate::values::text::shown;
use crate::values::when;

/// The mean size in bytes under which reads and writes are small. Lustre sends up to 4 MB and more in a request.
const SMALL: f64 = 65_536.0;

/// The number of calls from which on a mean says something.
const MANY: f64 = 10_000.0;

/// The rate of opens per second that a program rarely needs.
const OPENS: f64 = 100.0;

/// The part of the bytes on one target that says that files are not striped.
const ONE_TARGET: f64 = 0.8;

/// The bytes from which on it matters where files lie.
const LARGE: f64 = 1e10;

/// Returns the advice about a subject.
pub fn findings(subject: &Subject) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(small(subject, "read_bytes", "reads"));
    out.extend(small(subject, "write_bytes", "writes"));
    out.extend(opens(subject));
    let targets = subject.rankings.iter().find(|it| it.by == "target");
    out.extend(targets.and_then(one_target));
    out
}

/// Returns the advice about a job that a summary has, and that was at work on these targets.
pub fn of_summary(row: &SummaryRow, targets: &[SummaryRow]) -> Vec<String> {
    let first = row.first.unwrap_or_default();
    let length = when::seconds((first, row.last_active.unwrap_or(first))).max(1.0);
    let target = |row: &SummaryRow| (row.group.target.clone(), None);
    findings(&Subject {
        usage: vec![
            Usage::of_summary("read_bytes", row.read_bytes, row.read, length),
            Usage::of_summary("write_bytes", row.write_bytes, row.write, length),
            Usage::of_summary("open", row.opens, None, length),
            Usage::of_summary("metadata", row.metadata, None, length),
        ],
        rankings: vec![Ranking::of("target", targets, target)],
        ..Subject::default()
    })
}

fn small(subject: &Subject, operation: &str, name: &str) -> Option<String> {
    let usage = subject.used(operation)?;
    let (count, size) = (number(usage.calls?), usage.per_call?);
    (count >= MANY && size < SMALL).then(|| {
        let (count, size) = (calls(count), per_call(size, operation));
        format!(
            "{count} {name} of {size} on average: larger ones, of 1 MB and more, cost the servers less."
        )
    })
}

fn opens(subject: &Subject) -> Option<String> {
    let (opens, metadata) = (subject.used("open")?, subject.used("metadata")?);
    let part = number(opens.total?) / number(metadata.total?);
    opens.rate.filter(|rate| *rate >= OPENS).map(|opens| {
        let (opens, part) = (rate(opens, "open"), percent(part));
        format!(
            "{opens} opens on average, {part} of all metadata requests: keep files open, or pack small files together."
        )
    })
}

fn one_target(targets: &Ranking) -> Option<String> {
    let bytes = |row: &Ranked| {
        let both = [row.read_bytes, row.write_bytes];
        both.into_iter().flatten().map(number).sum::<f64>()
    };
    let whole: f64 = targets.rows.iter().map(bytes).sum();
    let by_bytes = |one: &&Ranked, other: &&Ranked| bytes(one).total_cmp(&bytes(other));
    let most = targets.rows.iter().max_by(by_bytes)?;
    let part = bytes(most) / whole;
    (whole >= LARGE && part >= ONE_TARGET).then(|| {
        let (part, whole) = (percent(part), total(whole, "bytes"));
        let name = shown(most.name.as_deref().unwrap_or_default());
        format!(
            "{part} of {whole} went to or from {name}: its large files are most likely not striped."
        )
    })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jobstats_client::Decimal;
    use jobstats_client::answers::Filters;

    use super::super::Kind;
    use super::super::questions::Selection;
    use super::*;

    fn usage(operation: &str, total: i64, calls: i64, seconds: f64) -> Usage {
        Usage {
            operation: operation.to_owned(),
            total: Some(Decimal::from(total)),
            calls: Some(Decimal::from(calls)),
            per_call: Some(total as f64 / calls as f64),
            rate: Some(total as f64 / seconds),
        }
    }

    fn target(name: &str, bytes: i64) -> Ranked {
        Ranked {
            name: Some(name.to_owned()),
            write_bytes: Some(Decimal::from(bytes)),
            ..Ranked::default()
        }
    }

    fn subject(usage: Vec<Usage>, rows: Vec<Ranked>) -> Subject {
        let work = Selection {
            window: (Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH),
            filters: Filters::default(),
        };
        Subject {
            usage,
            rankings: vec![Ranking::by_amount("target", rows)],
            ..Subject::new(Kind::Job, "4711", work)
        }
    }

    #[test]
    fn advice_has_the_number_that_proves_it() {
        let bad = subject(
            vec![
                usage("write_bytes", 4_000_000_000, 1_000_000, 1000.0),
                usage("open", 500_000, 500_000, 1000.0),
                usage("metadata", 1_000_000, 1_000_000, 1000.0),
            ],
            vec![
                target("scratch-OST0000", 19_000_000_000),
                target("scratch-OST0001", 1_000_000_000),
            ],
        );
        assert_eq!(
            findings(&bad),
            [
                "1 M writes of 4 kB on average: larger ones, of 1 MB and more, cost the servers less.",
                "500/s opens on average, 50 % of all metadata requests: keep files open, or pack small files together.",
                "95 % of 20 GB went to or from scratch-OST0000: its large files are most likely not striped.",
            ]
        );
    }

    #[test]
    fn a_job_that_does_well_gets_none() {
        let good = subject(
            vec![usage("write_bytes", 4_000_000_000_000, 1_000_000, 1000.0)],
            vec![
                target("scratch-OST0000", 1_900_000_000_000),
                target("scratch-OST0001", 1_000_000_000_000),
            ],
        );
        assert!(findings(&good).is_empty());
        assert!(findings(&subject(Vec::new(), Vec::new())).is_empty());
    }
}
