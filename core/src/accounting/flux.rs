//! Reads what `flux jobs --json` prints: an object for each job, in an array `jobs`, or one alone, or one a line.
//!
//! A name that is absent is not known yet: a job that waits has no `t_run`, one that runs has no `t_cleanup`. `flux jobs`
//! sees the jobs of its caller only, and a thousand of them, unless it is asked for all: `flux jobs -A --count=0 --json`.
//!
//! | field of a job | from |
//! |---|---|
//! | `job`, `label` | the decimal number of `id`, and its F58 form, which users type |
//! | `submitted`, `started`, `ended` | `t_submit`, `t_run`, `t_cleanup` (else `t_inactive`), seconds with a fraction |
//! | `user_name` | `username`, unless it is the number again, which Flux prints for an unknown user |
//! | `account` | `bank`, else `project` |
//! | `state` | `result` of a job that is inactive, else `state`; the numbers of the raw job list become words |

mod objects;
#[cfg(test)]
mod tests;
mod value;

use std::borrow::Cow;

pub use crate::entry_id::flux::{decimal, f58};
use objects::Objects;
use value::Value;

use super::{Job, Reason, Record};
use crate::pause::Pause;

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

/// Returns the records of a text, one for each object that is a job or should be one. A damaged object costs only itself.
pub fn records<'a>(text: &'a [u8], pause: Pause<'a>) -> impl Iterator<Item = Record<'a>> {
    Objects::new(text, pause)
}

/// Returns whether a text looks like that of `flux jobs --json`: one of its first objects is a job, or there are none.
pub fn recognizes(text: &[u8]) -> bool {
    let text = &text[..text.len().min(FIRST_BYTES)];
    let bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    if bytes.take(12).eq(b"{\"jobs\":[]}") {
        return true;
    }
    let mut first = Objects::new(text, Pause::NEVER).take(FIRST_OBJECTS);
    first.any(|record| record.job.is_ok_and(|job| job.submitted.is_some()))
}

/// The object of a job.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Object<'a> {
    #[serde(borrow)]
    id: Value<'a>,
    #[serde(borrow)]
    t_submit: Value<'a>,
    #[serde(borrow)]
    t_run: Value<'a>,
    #[serde(borrow)]
    t_cleanup: Value<'a>,
    #[serde(borrow)]
    t_inactive: Value<'a>,
    #[serde(borrow)]
    userid: Value<'a>,
    #[serde(borrow)]
    username: Value<'a>,
    #[serde(borrow)]
    bank: Value<'a>,
    #[serde(borrow)]
    project: Value<'a>,
    #[serde(borrow)]
    queue: Value<'a>,
    #[serde(borrow)]
    name: Value<'a>,
    #[serde(borrow)]
    state: Value<'a>,
    #[serde(borrow)]
    result: Value<'a>,
    #[serde(borrow)]
    nnodes: Value<'a>,
    #[serde(borrow)]
    nodelist: Value<'a>,
    #[serde(borrow)]
    ncores: Value<'a>,
    #[serde(borrow)]
    returncode: Value<'a>,
    #[serde(borrow)]
    waitstatus: Value<'a>,
    #[serde(borrow)]
    ntasks: Value<'a>,
    #[serde(borrow)]
    ranks: Value<'a>,
    #[serde(borrow)]
    priority: Value<'a>,
    #[serde(borrow)]
    urgency: Value<'a>,
    #[serde(borrow)]
    duration: Value<'a>,
}

/// Reads an object.
fn job(object: &[u8]) -> Result<Job<'_>, Reason> {
    let object: Object<'_> =
        serde_json::from_slice(object).map_err(|_| Reason::UnreadableRecord)?;
    let id = object
        .id
        .identifier()
        .filter(|id| *id > 0)
        .ok_or(Reason::BadJob)?;
    let started = object.t_run.instant()?;
    let ended = object.t_cleanup.instant()?.or(object.t_inactive.instant()?);
    if started
        .zip(ended)
        .is_some_and(|(started, ended)| ended < started)
    {
        return Err(Reason::BadTime);
    }
    let uid: Option<u32> = object.userid.number().filter(|uid| *uid != u32::MAX);
    let user = object.username.text();
    let (account, project) = match (object.bank.text(), object.project.text()) {
        (Some(bank), project) => (Some(bank), project),
        (None, project) => (project, None),
    };
    let extra = [
        ("project", project),
        ("ntasks", object.ntasks.text()),
        ("ranks", object.ranks.text()),
        ("priority", object.priority.text()),
        ("urgency", object.urgency.text()),
        ("duration", object.duration.text()),
        ("waitstatus", object.waitstatus.text()),
    ];
    Ok(Job {
        job: id.to_string().into(),
        label: f58(id).into(),
        submitted: object.t_submit.instant()?,
        started,
        ended,
        uid,
        user_name: user
            .filter(|user| Some(user.as_ref()) != uid.map(|uid| uid.to_string()).as_deref()),
        account,
        partition: object.queue.text(),
        job_name: object.name.text(),
        state: state(object.state, object.result),
        nodes: object.nnodes.number(),
        node_list: object.nodelist.text(),
        cpus: object.ncores.number(),
        exit_code: object.returncode.text(),
        extra: extra
            .into_iter()
            .filter_map(|(name, text)| Some((name.into(), text?)))
            .collect(),
        ..Job::default()
    })
}

/// Returns the result of a job that is inactive, else its state.
fn state<'a>(state: Value<'a>, result: Value<'a>) -> Option<Cow<'a, str>> {
    let (state, result) = (word(state, &STATES), word(result, &RESULTS));
    match state.as_deref() {
        Some("INACTIVE") | None => result.or(state),
        Some(_) => state,
    }
}

/// Returns the word for a number; a number without a word stays as it is.
fn word<'a>(value: Value<'a>, words: &[(u64, &'static str)]) -> Option<Cow<'a, str>> {
    let number = value.number::<u64>();
    let known = words.iter().find(|(known, _)| Some(*known) == number);
    known
        .map(|(_, word)| Cow::Borrowed(*word))
        .or_else(|| value.text())
}
