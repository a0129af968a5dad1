//! Numbers and names in sentences.

use jobstats_core::output::quantity::{Quantity, Readable};
use serde_json::Value;

/// The number of names that are listed.
const LISTED: usize = 4;

fn readable(value: f64, operation: &str, quantity: Quantity) -> String {
    let readable = Readable::new(value, operation, quantity);
    readable.map_or_else(|| value.to_string(), |it| it.to_string())
}

/// Returns a time, such as `200 ms`.
pub fn seconds(value: f64) -> String {
    readable(value, "open", Quantity::PerCall)
}

/// Returns calls per second, such as `167/s`.
pub fn rate(value: f64) -> String {
    readable(value, "open", Quantity::Rate)
}

/// Returns bytes per second, such as `104 MB/s`.
pub fn amount(value: f64) -> String {
    readable(value, "bytes", Quantity::Rate)
}

/// Returns an amount of an operation per second.
pub fn of(value: f64, operation: &str) -> String {
    readable(value, operation, Quantity::Rate)
}

/// Returns bytes, such as `4.1 kB`.
pub fn size(value: f64) -> String {
    readable(value, "bytes", Quantity::PerCall)
}

/// Returns a number with three digits at most.
pub fn significant(value: f64) -> String {
    readable(value, "service_time", Quantity::Rate)
}

/// Returns a part as `92 %`.
pub fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

/// Returns a number of things, such as `3 servers`.
pub fn plural(number: u64, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

/// Returns names as a list, and how many more there are.
pub fn several(names: &[String]) -> String {
    let list = names[..names.len().min(LISTED)].join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}

/// Returns the name of a subject in a dimension, if it has one.
pub fn subject(subject: &Value, by: &str) -> Option<String> {
    let text = |name: &str| subject[name].as_str();
    match by {
        "uid" => {
            let uid = subject["uid"].as_i64()?;
            Some(match text("user_name") {
                Some(name) => format!("user {name} ({uid})"),
                None => format!("user {uid}"),
            })
        }
        "account" => Some(format!("account {}", text("account")?)),
        _ => Some(format!("job {}", text("job")?)),
    }
}

/// Returns a text with a capital letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
