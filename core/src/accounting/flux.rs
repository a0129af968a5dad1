//! Reads the output of `flux jobs --json`: an object for each job, in an array `jobs`, or one alone, or one a line.
//!
//! An absent name is not known yet: a waiting job has no `t_run`, a running one no `t_cleanup`. `flux jobs` shows at most
//! a thousand jobs of its caller without `flux jobs -A --count=0 --json`.
//!
//! | field of a job | from |
//! |---|---|
//! | `job`, `label` | the decimal number of `id`, and its F58 form, which users type |
//! | `submitted`, `started`, `ended` | `t_submit`, `t_run`, `t_cleanup` (else `t_inactive`), seconds with a fraction |
//! | `user_name` | `username`, unless it is the number again, which Flux prints for an unknown user |
//! | `account` | `bank`, else `project` |
//! | `state` | `result` of a job that is inactive, else `state`; the numbers of the raw job list become words |

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::json::{Entries, Objects, Value};
use super::{Job, Reason, Record, Scheduler, field};
use crate::base::instant::{Micros, SECOND};
use crate::base::pause::Pause;
pub use crate::identity::entry_id::flux::{decimal, f58};

/// The number of bytes that [`recognizes`] looks at.
const FIRST_BYTES: usize = 1 << 20;

/// The number of objects that [`recognizes`] looks at.
const FIRST_OBJECTS: usize = 3;

/// The names and numbers of states, by RFC 21 of Flux.
const STATES: [(u64, &str); 7] = [
    (1, "NEW"),
    (2, "DEPEND"),
    (4, "PRIORITY"),
    (8, "SCHED"),
    (16, "RUN"),
    (32, "CLEANUP"),
    (64, "INACTIVE"),
];

/// The names and numbers of results.
const RESULTS: [(u64, &str); 4] = [
    (1, "COMPLETED"),
    (2, "FAILED"),
    (4, "CANCELED"),
    (8, "TIMEOUT"),
];

/// The names of a job that `extra` keeps; the project pays if there is no bank.
const EXTRA: [&str; 7] = [
    "project",
    "ntasks",
    "ranks",
    "priority",
    "urgency",
    "duration",
    "waitstatus",
];

/// Flux, whose `flux jobs` prints jobs.
pub const SCHEDULER: Scheduler = Scheduler {
    name: "flux",
    recognizes,
    grows: false,
    records: |text, _, pause| Box::new(records(text, pause)),
};

/// Returns the records of a text, one for each object that is a job or should be one. A damaged object costs only itself.
pub fn records<'a>(text: &'a [u8], pause: Pause<'a>) -> impl Iterator<Item = Record<'a>> {
    Objects::new(text, job, pause)
}

/// Returns whether a text looks like the output of `flux jobs --json`: one of its first objects is a job, or the list
/// is empty.
pub fn recognizes(text: &[u8]) -> bool {
    let text = &text[..text.len().min(FIRST_BYTES)];
    let bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    if bytes.take(12).eq(b"{\"jobs\":[]}") {
        return true;
    }
    let mut first = records(text, Pause::NEVER).take(FIRST_OBJECTS);
    first.any(|record| record.job.is_ok_and(|job| job.submitted.is_some()))
}

/// Makes a job of an object.
fn job<'a>(entries: &mut Entries<'a>) -> Result<Option<Job<'a>>, Reason> {
    let mut job = Job::default();
    let mut extra = [const { None }; EXTRA.len()];
    let (mut id, mut times, mut state, mut result) = (None, [None; 4], None, None);
    for (key, value) in entries {
        match key {
            b"id" => id = identifier(value),
            b"t_submit" => times[0] = Some(value),
            b"t_run" => times[1] = Some(value),
            b"t_cleanup" => times[2] = Some(value),
            b"t_inactive" => times[3] = Some(value),
            b"userid" => job.uid = number(value).filter(|uid| *uid != u32::MAX),
            b"username" => job.user_name = text(value),
            b"bank" => job.account = text(value),
            b"queue" => job.partition = text(value),
            b"name" => job.job_name = text(value),
            b"state" => state = word(value, &STATES),
            b"result" => result = word(value, &RESULTS),
            b"nnodes" => job.nodes = number(value),
            b"nodelist" => job.node_list = text(value),
            b"ncores" => job.cpus = number(value),
            b"returncode" => job.exit_code = text(value),
            key => {
                let mut names = EXTRA.iter();
                if let Some(place) = names.position(|name| name.as_bytes() == key) {
                    extra[place] = text(value);
                }
            }
        }
    }
    let id = id.filter(|id| *id > 0).ok_or(Reason::BadJob)?;
    job.job = id.to_string().into();
    job.label = f58(id).into();
    set_times(&mut job, times)?;
    let number = job.uid.map(|uid| uid.to_string());
    job.user_name = job
        .user_name
        .filter(|name| Some(&**name) != number.as_deref());
    job.account = job.account.or_else(|| extra[0].take());
    let is_inactive = state.as_deref().is_none_or(|state| state == "INACTIVE");
    job.state = result.filter(|_| is_inactive).or(state);
    job.extra = field::extra(EXTRA.into_iter().zip(extra));
    Ok(Some(job))
}

/// Sets the times of submission, start and end from `t_submit`, `t_run`, `t_cleanup` and `t_inactive`.
fn set_times(job: &mut Job<'_>, times: [Option<Value<'_>>; 4]) -> Result<(), Reason> {
    let [submitted, started, cleanup, inactive] = times.map(|time| time.map_or(Ok(None), instant));
    job.started = started?;
    job.ended = cleanup?.or(inactive?);
    field::require_order(job.started, job.ended)?;
    job.submitted = submitted?;
    Ok(())
}

/// Returns the number of a job.
fn identifier(value: Value<'_>) -> Option<u64> {
    number(value).or_else(|| decimal(&value.text()?))
}

/// Returns a whole number, which may be in a string.
fn number<T: TryFrom<u64>>(value: Value<'_>) -> Option<T> {
    T::try_from(value.number()?).ok()
}

/// Returns a time; `None` if it is absent or 0.
///
/// # Errors
/// [`Reason::BadTime`] for a value that is neither a time nor absent.
fn instant(value: Value<'_>) -> Result<Option<Micros>, Reason> {
    let micros = if let Some(text) = value.text() {
        field::seconds(text.as_bytes())
    } else if let Some(seconds @ 1..) = value.whole() {
        let seconds = Micros::try_from(seconds).ok();
        seconds.and_then(|it| it.checked_mul(SECOND))
    } else {
        match value.real() {
            None | Some(0.0) => return Ok(None),
            // A number that is too large becomes the largest one.
            Some(seconds) => Some((seconds * 1e6).round() as Micros),
        }
    };
    let instant = micros.and_then(field::instant);
    instant.map(Some).ok_or(Reason::BadTime)
}

/// Returns a string or a number as text; `None` if it is empty.
fn text(value: Value<'_>) -> Option<Cow<'_, str>> {
    let whole = || Some(value.whole()?.to_string());
    let number = || whole().or_else(|| Some(value.real()?.to_string()));
    value.text().or_else(|| number().map(Cow::Owned))
}

/// Returns the word for a number; a number without a word stays as it is.
fn word<'a>(value: Value<'a>, words: &[(u64, &'static str)]) -> Option<Cow<'a, str>> {
    let number = number::<u64>(value);
    let known = words.iter().find(|(known, _)| Some(*known) == number);
    known
        .map(|(_, word)| Cow::Borrowed(*word))
        .or_else(|| text(value))
}
