//! Events in words: time, place, measured values and culprits.

use jiff::Timestamp;
use jobstats_client::answers::EventRow;
use serde_json::Value;

use crate::values::number::{UNKNOWN, per_call, percent, rate};
use crate::values::when::length;

/// The severities that send alerts.
pub const ALERTED: [&str; 2] = ["warning", "critical"];

/// Returns the time that an event has lasted.
pub fn lasted(row: &EventRow) -> String {
    let until = row.ended.unwrap_or_else(Timestamp::now);
    let length = length(until.duration_since(row.began).as_secs_f64());
    match row.ended {
        Some(_) => length,
        None => format!("{length} so far"),
    }
}

/// Returns the servers of an event that is about servers, else its targets: the first, and how many others there are.
pub fn place(row: &EventRow) -> String {
    match row.event.as_str() {
        "waiting" => several(&row.servers),
        _ => several(&row.targets),
    }
}

fn several(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
    }
}

/// Returns the measured value and its baseline.
pub fn measured(row: &EventRow) -> String {
    let amount = |value| match row.event.as_str() {
        "waiting" | "slow_target" => per_call(value, "service_time"),
        "full" => percent(value),
        "stalled" => rate(value, "open"),
        _ => UNKNOWN.to_owned(),
    };
    let value = amount(row.value);
    match (row.usual, row.event.as_str()) {
        (None, _) => value,
        (usual, "full") => format!("{value}, {} a day before", amount(usual)),
        (usual, _) => format!("{value}, typically {}", amount(usual)),
    }
}

/// Returns who made the load rise, if somebody is named.
pub fn culprit(row: &EventRow) -> Option<String> {
    let culprits = row.culprits.as_ref()?;
    let is_named = culprits.get("named")?.as_bool()?;
    subjects(culprits).next().filter(|_| is_named)
}

/// Names the culprits, or explains why there are none.
pub fn owner(row: &EventRow) -> String {
    let Some(culprits) = &row.culprits else {
        return UNKNOWN.to_owned();
    };
    if let Some(named) = culprit(row) {
        return named;
    }
    let slow = culprits.pointer("/slow/0").and_then(Value::as_str);
    // The whole load is shown to readers of everything. Others see themselves alone, and not whether somebody else is named.
    match (culprits.get("load"), slow) {
        (None, _) => subjects(culprits).collect::<Vec<_>>().join("; "),
        (_, Some(slow)) => format!("no user: {slow} itself is slow"),
        _ => "no single user".to_owned(),
    }
}

/// Returns each user, account or job with its part of the rise.
fn subjects(culprits: &Value) -> impl Iterator<Item = String> {
    let by = culprits.get("by").and_then(Value::as_str).unwrap_or("uid");
    let all = culprits.get("subjects").and_then(Value::as_array);
    let subject = move |subject: &Value| {
        let of = |key: &str| {
            let value = subject.get(key).filter(|it| !it.is_null())?;
            let text = value.as_str().map(str::to_owned);
            Some(text.unwrap_or_else(|| value.to_string()))
        };
        let user = || of("user_name").or_else(|| of("uid"));
        let name = match by {
            "uid" => user()?,
            by => of(by)?,
        };
        let of_what = match by {
            "account" => user(),
            _ => of("account"),
        };
        let also = of_what.map(|it| format!(" ({it})")).unwrap_or_default();
        let share = percent(subject.get("share").and_then(Value::as_f64));
        Some(format!("{name}{also}, {share} of the rise"))
    };
    all.into_iter().flatten().filter_map(subject)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::event;

    #[test]
    fn somebody_is_named_who_may_be() {
        let subjects = json!([{ "uid": 1000, "user_name": "ada", "account": "physics", "share": 0.71 }, { "uid": 1001, "share": 0.2 }]);
        let said = |culprits: Value| {
            let row = EventRow {
                culprits: Some(culprits),
                ..event("waiting", "warning")
            };
            (culprit(&row), owner(&row))
        };
        let ada = "ada (physics), 71 % of the rise";
        let named = said(
            json!({ "by": "uid", "named": true, "subjects": subjects, "slow": [], "load": {} }),
        );
        assert_eq!(named, (Some(ada.to_owned()), ada.to_owned()));
        let nobody = said(
            json!({ "by": "uid", "named": false, "subjects": subjects, "slow": [], "load": {} }),
        );
        assert_eq!(nobody, (None, "no single user".to_owned()));
        let slow = said(
            json!({ "by": "uid", "named": false, "subjects": subjects, "slow": ["a-OST0001"], "load": {} }),
        );
        assert_eq!(slow.1, "no user: a-OST0001 itself is slow");
        // A reader limited to their own usage, to whom other culprits are hidden.
        let own =
            said(json!({ "by": "uid", "named": false, "subjects": [subjects[1]], "slow": [] }));
        assert_eq!(own, (None, "1001, 20 % of the rise".to_owned()));
        let job =
            said(json!({ "by": "job", "named": true, "subjects": [{ "job": "7", "share": 0.5 }] }));
        assert_eq!(job.1, "7, 50 % of the rise");
        assert_eq!(owner(&event("full", "critical")), UNKNOWN);
    }

    #[test]
    fn each_kind_has_its_place_and_its_unit() {
        let row = |kind: &str, value: f64, usual: Option<f64>| EventRow {
            value: Some(value),
            usual,
            ..event(kind, "warning")
        };
        let said = |row: &EventRow| (place(row), measured(row));
        let expected = |place: &str, measured: &str| (place.to_owned(), measured.to_owned());
        assert_eq!(
            said(&row("waiting", 0.3, Some(0.02))),
            expected("mds1", "300 ms, typically 20 ms")
        );
        assert_eq!(
            said(&row("full", 0.97, Some(0.95))),
            expected("scratch-OST0000 and 1 more", "97 %, 95 % a day before")
        );
        assert_eq!(
            said(&row("failover", 0.0, None)),
            expected("scratch-OST0000 and 1 more", UNKNOWN)
        );
    }
}
