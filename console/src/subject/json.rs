//! A subject as JSON. Numbers are in base units: seconds, bytes, requests; per second where they are rates. A value that is not
//! known is null.

use jiff::Timestamp;
use jobstats_client::Decimal;
use jobstats_client::answers::FindingRow;
use serde::Serializer;
use serde_json::{Map, Number, Value as Json, json};

use super::meanwhile::Meanwhile;
use super::space::Space;
use super::{COURSE, Subject, Value};
use crate::show::json::{escaped, time};

/// The version of the format. It is raised if a field changes or goes; a field more does not change it.
pub(super) const VERSION: u32 = 1;

/// Returns a document of one line.
pub fn document(subject: &Subject) -> String {
    let facts = subject.facts.iter();
    let facts = facts.map(|fact| (fact.key.to_owned(), value(&fact.value)));
    let steps = subject
        .course
        .steps
        .chunk_by(|one, next| one.time == next.time);
    let steps = steps.map(|rows| {
        let rate = |name| rows.iter().find(|row| row.operation == name)?.rate;
        let mut fields = json!({
            "time": moment(rows[0].time),
            "seconds": rows[0].seconds,
            "coverage": rows[0].coverage,
        });
        for operation in COURSE {
            fields[operation] = json!(rate(operation));
        }
        fields
    });
    let usage = subject.usage.iter().map(|it| {
        json!({
            "operation": it.operation,
            "total": it.total.and_then(exact_number),
            "calls": it.calls.and_then(exact_number),
            "per_call": it.per_call,
            "rate": it.rate,
        })
    });
    let findings = subject.findings.iter().map(finding);
    let document = json!({
        "version": VERSION,
        "kind": subject.kind.name(),
        "name": subject.name,
        "facts": facts.collect::<Map<_, _>>(),
        "since": moment(subject.work.window.0),
        "until": moment(subject.work.window.1),
        "usage": usage.collect::<Vec<_>>(),
        "step": subject.course.step,
        "course": steps.collect::<Vec<_>>(),
        "rankings": subject.rankings,
        "while_it_ran": subject.meanwhile.as_ref().map(meanwhile),
        "space": subject.space.as_ref().map(space),
        "findings": findings.collect::<Vec<_>>(),
        "notes": subject.notes,
    });
    escaped(&document.to_string())
}

fn meanwhile(it: &Meanwhile) -> Json {
    let wait = it.wait.as_ref().map(|wait| {
        json!({
            "server": wait.worst.server,
            "service": wait.worst.service,
            "seconds": wait.mean.value,
            "usual": wait.mean.usual,
            "worst_at": moment(wait.worst.time),
            "worst": wait.worst.wait.unwrap_or(0.0),
        })
    });
    let target = it.target.as_ref().map(|target| {
        json!({
            "target": target.name,
            "seconds_per_request": target.time.value,
            "usual": target.time.usual,
            "worst_at": moment(target.worst.0),
            "worst": target.worst.1,
        })
    });
    let others = it.others.iter();
    let others = others.map(|(name, share)| json!({ "name": name, "share": share }));
    let events = it.events.iter().map(|row| {
        json!({
            "event_id": row.event_id,
            "event": row.event,
            "began": moment(row.began),
            "ended": row.ended.map(moment),
            "targets": row.targets,
            "servers": row.servers,
        })
    });
    json!({
        "cause": it.cause.name(),
        "wait": wait,
        "target": target,
        "servers": it.servers,
        "in_service": it.load.value,
        "usual_in_service": it.load.usual,
        "share": it.share,
        "others": others.collect::<Vec<_>>(),
        "events": events.collect::<Vec<_>>(),
    })
}

pub(super) fn finding(row: &FindingRow) -> Json {
    json!({
        "finding": row.finding,
        "level": row.level,
        "value": row.value,
        "threshold": row.threshold,
        "text": row.text,
        "service_time": row.service_time,
        "share": row.share,
        "advice": row.advice,
    })
}

fn space(space: &Space) -> Json {
    let rows = space.answered.rows.iter().map(|row| {
        json!({
            "cluster": row.labels.cluster,
            "filesystem": row.labels.filesystem,
            "user": row.labels.user,
            "uid": row.labels.uid,
            "bytes": exact_number(row.bytes),
            "share": space.share(row),
            "inodes": row.inodes.map(exact_number),
            "added_bytes": row.added_bytes.map(exact_number),
            "added_inodes": row.added_inodes.map(exact_number),
            "targets": row.targets,
            "of_targets": row.of_targets,
            "time": row.time.map(moment),
        })
    });
    json!({ "since": space.since.map(moment), "rows": rows.collect::<Vec<_>>() })
}

/// Returns a number, which has all digits if it is whole.
pub(super) fn exact_number(amount: Decimal) -> Option<Number> {
    let whole = i128::try_from(amount).ok().filter(|_| amount.is_integer());
    let whole = whole.and_then(Number::from_i128);
    whole.or_else(|| Number::from_f64(super::number(amount)))
}

/// Writes the amounts of a ranking by the names of their operations.
pub(super) fn amounts<S: Serializer>(
    amounts: &[Option<Decimal>; COURSE.len()],
    to: S,
) -> Result<S::Ok, S::Error> {
    let amounts = amounts.map(|it| it.and_then(exact_number));
    to.collect_map(COURSE.iter().zip(amounts))
}

pub(super) fn moment(at: Timestamp) -> Json {
    json!(time(at.as_microsecond()))
}

fn value(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!(text),
        Value::Count(count) => json!(count),
        Value::Time(at) => moment(*at),
        Value::Number(number, _) => json!(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::RankingRow;

    #[test]
    fn whole_numbers_keep_all_digits() {
        let row = RankingRow {
            amounts: [
                Some(Decimal::from(u64::MAX)),
                None,
                None,
                Some(Decimal::new(125, 2)),
            ],
            ..RankingRow::default()
        };
        let row = json!(row);
        assert_eq!(row["read_bytes"].to_string(), "18446744073709551615");
        assert_eq!(row["service_time"].to_string(), "1.25");
        assert!(row["metadata"].is_null());
    }
}
