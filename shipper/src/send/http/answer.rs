//! The meaning of an answer: PostgREST passes on PostgreSQL's errors, and proxies send different ones.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use jobstats_client::Kind;
use jobstats_client::database::failure::one_line;
use serde_json::Value;
use ureq::http::HeaderMap;

#[cfg(test)]
mod tests;

/// The answer to texts that were stored.
const CREATED: u16 = 201;

/// An answer other than that the texts were stored.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    status: u16,
    /// The SQLSTATE, or a code of PostgREST.
    code: Option<String>,
    message: Option<String>,
    hint: Option<String>,
    location: Option<String>,
    pub retry_after: Option<Duration>,
}

/// Returns an error unless PostgREST confirms that it has stored the texts. A proxy's login page often has status 200.
pub fn check(status: u16, headers: &HeaderMap, body: &[u8]) -> Result<(), Refusal> {
    if status == CREATED {
        return Ok(());
    }
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |name| json.get(name).and_then(Value::as_str).map(one_line);
    Err(Refusal {
        status,
        code: text("code"),
        message: text("message"),
        hint: text("hint"),
        // What follows may be secret.
        location: header("location")
            .map(|place| one_line(place.split(['?', '#']).next().unwrap_or(place))),
        retry_after: header("retry-after").and_then(|value| pause(value, Timestamp::now())),
    })
}

impl Refusal {
    pub fn kind(&self) -> Kind {
        // PostgREST's answer about a missing role; its SQLSTATE means something else.
        if matches!(self.status, 401 | 403 | 407 | 511) {
            return Kind::Denied;
        }
        match self.state().map(Kind::of_state) {
            Some(Kind::Refused) if !self.is_of_text() => {}
            Some(kind) => return kind,
            None => {}
        }
        match self.status {
            429 | 503 | 507 => Kind::Exhausted,
            504 => Kind::Silent,
            408 | 425 | 500.. => Kind::Lost,
            _ => Kind::Setup,
        }
    }

    /// Returns true if PostgreSQL refused the text itself. PostgREST reports that with 400, 409 or 422, or with 500 for a text beyond a
    /// limit (class 54). Only PostgreSQL has such codes.
    pub fn is_of_text(&self) -> bool {
        let state = self.state().unwrap_or_default();
        Kind::of_state(state) == Kind::Refused
            && (matches!(self.status, 400 | 409 | 422)
                || self.status == 500 && state.starts_with("54"))
    }

    /// Returns true if a proxy rejects requests of this size.
    pub fn is_too_large(&self) -> bool {
        self.status == 413
    }

    /// Returns true if an attempt at once would be one too many.
    pub fn asks_to_wait(&self) -> bool {
        self.status == 429 || self.retry_after.is_some()
    }

    fn state(&self) -> Option<&str> {
        let is_allowed = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
        let is_state =
            |code: &&str| code.len() == 5 && *code != "PGRST" && code.bytes().all(is_allowed);
        self.code.as_deref().filter(is_state)
    }

    /// Explains a status that has no message.
    fn explanation(&self) -> &'static str {
        match self.status {
            200..=299 => "not PostgREST, which would answer 201",
            300..=399 => "redirects are not followed, because the token is not for other servers",
            401 | 403 => "access denied",
            404 => "no PostgREST at this address",
            407 => "the proxy requires a password",
            413 => "a proxy rejects requests of this size",
            429 => "too many requests",
            _ => "not a PostgREST response",
        }
    }
}

impl Display for Refusal {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let message = self.message.as_deref().unwrap_or(self.explanation());
        write!(to, "HTTP {}: {message}", self.status)?;
        match (self.state(), &self.code) {
            (Some(state), _) => write!(to, " (SQLSTATE {state})")?,
            (None, Some(code)) => write!(to, " ({code})")?,
            (None, None) => {}
        }
        if let Some(hint) = &self.hint {
            write!(to, " (hint: {hint})")?;
        }
        if let Some(location) = &self.location {
            write!(to, " (to {location})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

/// Parses `Retry-After`, which is a number of seconds or a time.
fn pause(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let time = DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(time.duration_since(now)).unwrap_or_default())
}
