//! A subject as JSON. Numbers are in base units: seconds, bytes, requests; per second where they are rates. A value that is not
//! known is null.

use jiff::Timestamp;
use jobstats_client::Decimal;
use jobstats_client::answers::FindingRow;
use serde_json::{Map, Value as Json, json};

use super::meanwhile::Meanwhile;
use super::space::Space;
use super::{COURSE, Subject, Value, number};
use crate::show::json::{escaped, time};

/// The version of the format. It is raised if a field changes or goes; a field more does not change it.
pub(super) const VERSION: u32 = 1;

/// Returns a document of one line.
pub fn document(subject: &Subject) -> String {
    let facts = subject.facts.iter();
    let facts = facts.map(|fact| (fact.key.to_owned(), value(&fact.value)));
    let steps = subject.course.steps.iter().map(|step| {
        let rates = COURSE.iter().zip(step.rates);
        let rates = rates.map(|(operation, rate)| ((*operation).to_owned(), json!(rate)));
        let mut fields: Map<_, _> = rates.collect();
        fields.insert("time".to_owned(), moment(step.time));
        fields.insert("seconds".to_owned(), json!(step.seconds));
        fields.insert("coverage".to_owned(), json!(step.coverage));
        Json::Object(fields)
    });
    let findings = subject.findings.iter().map(finding);
    let document = json!({
        "version": VERSION,
        "kind": subject.kind.name(),
        "name": subject.name,
        "facts": facts.collect::<Map<_, _>>(),
        "since": moment(subject.work.window.0),
        "until": moment(subject.work.window.1),
        "usage": subject.usage,
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
            "server": wait.server,
            "service": wait.service,
            "seconds": wait.mean.value,
            "usual": wait.mean.usual,
            "worst_at": moment(wait.worst.0),
            "worst": wait.worst.1,
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
    // Amounts are whole.
    let whole = |amount: Decimal| match i64::try_from(amount) {
        Ok(whole) => json!(whole),
        Err(_) => json!(number(amount)),
    };
    let rows = space.answered.rows.iter().map(|row| {
        json!({
            "cluster": row.labels.cluster,
            "filesystem": row.labels.filesystem,
            "user": row.labels.user,
            "uid": row.labels.uid,
            "bytes": whole(row.bytes),
            "share": space.share(row),
            "inodes": row.inodes.map(whole),
            "added_bytes": row.added_bytes.map(whole),
            "added_inodes": row.added_inodes.map(whole),
            "targets": row.targets,
            "of_targets": row.of_targets,
            "time": row.time.map(moment),
        })
    });
    json!({ "since": space.since.map(moment), "rows": rows.collect::<Vec<_>>() })
}

pub(super) fn moment(at: Timestamp) -> Json {
    json!(time(at.as_microsecond()))
}

fn value(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!(text),
        Value::Count(count) => json!(count),
        Value::Time(at) => moment(*at),
        Value::Length(number)
        | Value::Joules(number)
        | Value::Number(number)
        | Value::Share(number) => json!(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::RankingRow;

    #[test]
    fn whole_numbers_keep_all_digits() {
        let row = RankingRow {
            read_bytes: Some(Decimal::from(u64::MAX)),
            service_time: Some(Decimal::new(125, 2)),
            ..RankingRow::default()
        };
        let row = json!(row);
        assert_eq!(row["read_bytes"].to_string(), "18446744073709551615");
        assert_eq!(row["service_time"].to_string(), "1.25");
        assert!(row["metadata"].is_null());
    }
}
