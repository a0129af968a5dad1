//! Reads the output of `sacct --json`. All layouts since Slurm 21.08 are read: numbers may be objects, and states lists.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::accounting::field::text;
use crate::accounting::json::{self, Entries, Objects, Search, Value};
use crate::accounting::slurm::row::{is_no_list, keep, set_times};
use crate::accounting::slurm::time::{epoch, is_no_value};
use crate::accounting::zone::LocalTime;
use crate::accounting::{Job, Reason, Record};
use crate::pause::Pause;

/// The first key of a job in all versions of Slurm so far.
const USUAL_KEY: &[u8] = b"\"account\"";

/// The largest number of texts that `extra` keeps, and the longest key of one in bytes.
const EXTRA_COUNT: usize = 100;
const KEY_MAX: usize = 60;

/// Returns the jobs of a text of JSON.
pub fn jobs<'a>(text: &'a [u8], pause: Pause<'a>) -> impl Iterator<Item = Record<'a>> {
    let list = json::list(text, json::JOBS);
    let missing = list.is_none().then_some(Record {
        line: 1,
        job: Err(Reason::NoHeader),
    });
    let objects = list.map(|at| {
        let search = Search::key(text, at, USUAL_KEY);
        Objects::new(text, at, search, job, pause)
    });
    objects.into_iter().flatten().chain(missing)
}

/// Reads a job.
fn job<'a>(entries: &mut Entries<'a>) -> Result<Option<Job<'a>>, Reason> {
    let mut job = Job::default();
    let mut raw = Ok(None);
    let (mut array, mut leader, mut time) = (None, None, None);
    for (key, value) in entries {
        match key {
            b"job_id" => raw = value.number(),
            b"array" => array = Some(value),
            b"het" => leader = Some(value),
            b"time" => time = Some(value),
            _ => set(&mut job, key, value),
        }
    }
    let raw = id(raw.unwrap_or_default())
        .filter(|id| *id > 0)
        .ok_or(Reason::BadJob)?;
    name(&mut job, raw, array, leader);
    let time = time.ok_or(Reason::UnreadableRecord)?;
    let times = [
        instant(time, "submission")?,
        instant(time, "start")?,
        instant(time, "end")?,
    ];
    let has_no_nodes = is_no_list(&mut job);
    set_times(&mut job, times, has_no_nodes)?;
    Ok(Some(job))
}

/// Sets the field of a job that a key names.
fn set<'a>(job: &mut Job<'a>, key: &'a [u8], value: Value<'a>) {
    match key {
        b"cluster" => job.scheduler = value.text(),
        b"user" => job.user_name = value.text(),
        b"user_id" | b"uid" => job.uid = small(value),
        b"group" => job.group_name = value.text(),
        b"group_id" | b"gid" => job.gid = small(value),
        b"account" => job.account = value.text(),
        b"partition" => job.partition = value.text(),
        b"qos" => job.qos = value.text(),
        b"name" => job.job_name = value.text(),
        b"nodes" => job.node_list = value.text(),
        b"allocation_nodes" => job.nodes = small(value),
        b"exit_code" => job.exit_code = exit_code(value),
        b"state" => set_state(job, value),
        b"tres" => job.cpus = allocated(value, b"cpu"),
        _ if is_private(key) => {}
        _ => keep_scalar(job, key, value),
    }
}

/// Returns whether a key has texts that people wrote, or commands of a job.
fn is_private(key: &[u8]) -> bool {
    matches!(
        key,
        b"comment"
            | b"submit_line"
            | b"script"
            | b"working_directory"
            | b"container"
            | b"extra"
            | b"environment"
            | b"command"
    ) || key.starts_with(b"std")
}

/// Sets the state, which is a word, or a list of a state and its flags.
fn set_state<'a>(job: &mut Job<'a>, value: Value<'a>) {
    let current = value.get("current").unwrap_or(value);
    job.state = current.text().or_else(|| {
        let words: Vec<_> = current.items().take(10).filter_map(Value::text).collect();
        (!words.is_empty()).then(|| Cow::Owned(words.join(",")))
    });
    if let Some(reason) = value.get("reason").and_then(Value::text) {
        keep(job, Cow::Borrowed("reason"), reason);
    }
}

/// Keeps a text or a number that is not a field of a job.
fn keep_scalar<'a>(job: &mut Job<'a>, key: &'a [u8], value: Value<'a>) {
    let number = || Some(Cow::Owned(value.number().ok()??.to_string()));
    let is_name = key.len() <= KEY_MAX && job.extra.len() < EXTRA_COUNT;
    let name = text(key).filter(|_| is_name);
    if let Some((name, value)) = name.zip(value.text().or_else(number)) {
        keep(job, name, value);
    }
}

/// Sets number, label and parent as a table has them.
fn name(job: &mut Job<'_>, raw: u32, array: Option<Value<'_>>, leader: Option<Value<'_>>) {
    let part = |object: Option<Value<'_>>, key: &str| small(object?.get(key)?);
    let array_id = part(array, "job_id").filter(|id| *id > 0);
    let tasks = array.and_then(|array| array.get("task")?.text());
    let leader_id = part(leader, "job_id").filter(|id| *id > 0);
    let (number, parent, label) =
        if let Some((id, offset)) = leader_id.zip(part(leader, "job_offset")) {
            job.extra
                .push((Cow::Borrowed("job_id"), Cow::Owned(raw.to_string())));
            (id, leader_id, format!("{id}+{offset}"))
        } else if let Some((id, task)) = array_id.zip(part(array, "task_id")) {
            (raw, array_id, format!("{id}_{task}"))
        } else if let Some((id, tasks)) = array_id.zip(tasks) {
            (raw, array_id, format!("{id}_[{tasks}]"))
        } else {
            (raw, None, raw.to_string())
        };
    job.job = Cow::Owned(number.to_string());
    job.parent = parent.map(|parent| Cow::Owned(parent.to_string()));
    job.label = Cow::Owned(label);
}

/// Returns the exit code and the signal as `sacct -P` prints them.
fn exit_code(value: Value<'_>) -> Option<Cow<'_, str>> {
    let code = small(value.get("return_code")?)?;
    let signal = value.get("signal");
    let signal = signal.and_then(|it| it.get("id").or_else(|| it.get("signal_id")));
    let signal = signal.and_then(small).unwrap_or_default();
    Some(Cow::Owned(format!("{code}:{signal}")))
}

/// Returns the number of a resource that was given to the job.
fn allocated(resources: Value<'_>, kind: &[u8]) -> Option<u32> {
    let mut allocated = resources.get("allocated")?.items();
    let is_kind = |it: &Value<'_>| it.get("type").is_some_and(|it| it.bare() == kind);
    let of_kind = allocated.find(is_kind)?;
    small(of_kind.get("count")?)
}

fn instant(times: Value<'_>, key: &str) -> Result<Option<LocalTime>, Reason> {
    let number = times.get(key).map_or(Ok(None), Value::number);
    let number = number.map_err(|_| Reason::BadTime)?;
    number.map_or(Ok(None), epoch)
}

/// Returns a number of 32 bits, unless it stands for none.
fn small(value: Value<'_>) -> Option<u32> {
    id(value.number().ok()?)
}

fn id(number: Option<u64>) -> Option<u32> {
    let number = number.filter(|number| !is_no_value(*number))?;
    u32::try_from(number).ok()
}
