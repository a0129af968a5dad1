//! Durations as options and files have them.

use std::time::Duration;

use jiff::SpanRelativeTo;
use serde::Deserialize;

#[cfg(test)]
mod tests;

/// A duration such as `10s` in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Length(pub Duration);

impl TryFrom<String> for Length {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse(&text).map(Self)
    }
}

/// Parses a duration such as `120s`, `2m`, `1h 30m` or `1d`.
///
/// # Errors
///
/// Fails if the text is no duration of a millisecond or more.
pub fn parse(text: &str) -> Result<Duration, String> {
    let duration = text
        .parse()
        .and_then(|span: jiff::Span| span.to_duration(SpanRelativeTo::days_are_24_hours()))
        .map_err(|error| error.to_string())?;
    Duration::try_from(duration)
        .ok()
        .filter(|duration| *duration >= Duration::from_millis(1))
        .ok_or_else(|| "is shorter than a millisecond".to_owned())
}
