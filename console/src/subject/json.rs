//! A subject as JSON. Numbers are in base units: seconds, bytes, requests; per second where they are rates. What is not
//! known is null.

use jobstats_client::Decimal;
use serde_json::{Map, Value as Json, json};

use super::{COURSE, Ranked, Subject, Usage, Value, number};
use crate::show::json::{escaped, time};

/// The version of the format. It is raised if a field changes or goes; a field more does not change it.
const VERSION: u32 = 1;

/// Returns a document of one line.
pub fn document(subject: &Subject) -> String {
    let facts: Map<_, _> = subject
        .facts
        .iter()
        .map(|fact| (fact.key.to_owned(), value(&fact.value)))
        .collect();
    let steps = subject.course.steps.iter().map(|step| {
        let mut fields = Map::new();
        fields.insert("time".to_owned(), json!(time(step.time.as_microsecond())));
        fields.insert("seconds".to_owned(), json!(step.seconds));
        fields.insert("coverage".to_owned(), json!(step.coverage));
        for (operation, rate) in COURSE.iter().zip(step.rates) {
            fields.insert((*operation).to_owned(), json!(rate));
        }
        Json::Object(fields)
    });
    let rankings = subject.rankings.iter().map(|ranking| {
        json!({
            "by": ranking.by,
            "operation": ranking.operation,
            "rows": ranking.rows.iter().map(ranked).collect::<Vec<_>>(),
            "more": ranking.more,
        })
    });
    let document = json!({
        "version": VERSION,
        "kind": subject.kind.name(),
        "name": subject.name,
        "facts": facts,
        "since": time(subject.window.0.as_microsecond()),
        "until": time(subject.window.1.as_microsecond()),
        "usage": subject.usage.iter().map(usage).collect::<Vec<_>>(),
        "step": subject.course.step,
        "course": steps.collect::<Vec<_>>(),
        "rankings": rankings.collect::<Vec<_>>(),
        "findings": subject.findings,
        "notes": subject.notes,
    });
    escaped(&document.to_string())
}

fn value(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!(text),
        Value::Count(count) => json!(count),
        Value::Time(at) => json!(time(at.as_microsecond())),
        Value::Length(number) | Value::Number(number) | Value::Share(number) => json!(number),
    }
}

fn usage(usage: &Usage) -> Json {
    json!({
        "operation": usage.operation,
        "total": usage.total.map(exact),
        "calls": usage.calls.map(exact),
        "per_call": usage.per_call,
        "rate": usage.rate,
    })
}

fn ranked(row: &Ranked) -> Json {
    json!({
        "name": row.name,
        "detail": row.detail,
        "share": row.share,
        "service_time": row.service_time.map(exact),
        "read_bytes": row.read_bytes.map(exact),
        "write_bytes": row.write_bytes.map(exact),
        "metadata": row.metadata.map(exact),
    })
}

/// Returns whole numbers as such, to the last digit.
fn exact(decimal: Decimal) -> Json {
    let whole = u64::try_from(decimal).ok();
    match whole.filter(|whole| Decimal::from(*whole) == decimal) {
        Some(whole) => json!(whole),
        None => json!(number(decimal)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_keep_all_digits() {
        assert_eq!(
            exact(Decimal::from(u64::MAX)).to_string(),
            "18446744073709551615"
        );
        assert_eq!(exact(Decimal::new(125, 2)).to_string(), "1.25");
    }
}
