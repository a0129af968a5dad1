//! Reads the output of `bjobs -json`: an object with the list of the records of jobs, whose values are all texts.
//!
//! Messages may stand before the object. A record of a job that is unknown has only `JOBID` and `ERROR`, and is skipped.

use std::borrow::Cow;

use memchr::memchr_iter;

use super::{Job, Reason, Record, field};
use crate::accounting::json::{Entries, Objects, Search, Value, list};
use crate::pause::Pause;

/// The bytes that [`recognizes`] looks at.
const FIRST: usize = 4096;

/// Returns whether a text begins with the object of `bjobs`, perhaps after messages.
pub(super) fn recognizes(text: &[u8]) -> bool {
    let text = &text[..text.len().min(FIRST)];
    memchr_iter(b'{', text).any(|place| {
        let first = Entries::new(&text[place + 1..]).next();
        first.is_some_and(|(key, value)| key == b"COMMAND" && value.bare() == b"bjobs")
    })
}

/// Reads the records of a text in its order.
pub(super) fn records<'a>(text: &'a [u8], pause: Pause<'a>) -> impl Iterator<Item = Record<'a>> {
    // Without the list there is the object around it, which is no record.
    let at = list(text, b"\"RECORDS\"").unwrap_or(0);
    let search = Search::key(text, at, b"\"JOBID\"");
    Objects::new(text, at, search, job, pause)
}

/// Makes a job of an object; `None` if the job is unknown.
fn job<'a>(entries: &mut Entries<'a>) -> Result<Option<Job<'a>>, Reason> {
    let mut job = Job::default();
    let (mut index, mut is_unknown) = (None, false);
    let (mut id, mut hosts, mut nodes) = (None, None, None);
    for (key, value) in entries {
        match key {
            b"JOBID" => id = Some(value.bare()),
            b"JOBINDEX" => index = field::number::<u64>(value.bare()),
            b"ERROR" => is_unknown = true,
            b"JOB_NAME" => job.job_name = text(value),
            b"STAT" => job.state = text(value),
            b"USER" => job.user_name = text(value),
            b"QUEUE" => job.partition = text(value),
            b"PROJ_NAME" => job.account = text(value),
            b"SERVICE_CLASS" => job.qos = text(value),
            b"EXIT_CODE" => job.exit_code = text(value),
            b"SLOTS" => job.cpus = field::number(value.bare()),
            b"NEXEC_HOST" => nodes = field::number(value.bare()),
            b"EXEC_HOST" => hosts = Some(value.bare()).filter(|hosts| *hosts != b"-"),
            _ => {}
        }
    }
    let (number, own) = split(id.ok_or(Reason::BadJob)?);
    field::number::<u64>(number)
        .filter(|number| *number > 0)
        .ok_or(Reason::BadJob)?;
    let own = match own {
        [] => None,
        [b'[', own @ .., b']'] => Some(field::number(own).ok_or(Reason::BadJob)?),
        _ => return Err(Reason::BadJob),
    };
    if is_unknown && job.state.is_none() {
        return Ok(None);
    }
    job.job = field::text(number).ok_or(Reason::BadJob)?;
    job.label = job.job.clone();
    let index = index.filter(|index| *index > 0);
    if let Some(index) = own.or(index).filter(|index| *index > 0) {
        job.label = Cow::Owned(format!("{}[{index}]", job.job));
        job.parent = Some(job.job.clone());
    }
    let names = hosts.map(|hosts| hosts.split(|byte| *byte == b':').map(name));
    let found = names.and_then(|names| field::nodes(names.map(Cow::Borrowed)));
    let (count, list) = found.unzip();
    (job.nodes, job.node_list) = (count.or(nodes), list);
    Ok(Some(job))
}

/// Splits `7[23]` before its index.
fn split(id: &[u8]) -> (&[u8], &[u8]) {
    let digits = id.iter().take_while(|byte| byte.is_ascii_digit()).count();
    id.split_at(digits)
}

/// Returns the name of a host without its number of slots.
fn name(host: &[u8]) -> &[u8] {
    host.splitn(2, |byte| *byte == b'*')
        .last()
        .unwrap_or_default()
}

/// Returns a value as text; `None` for `-`, which `bjobs` prints for nothing.
fn text(value: Value<'_>) -> Option<Cow<'_, str>> {
    let text = value.text().or_else(|| field::text(value.bare()));
    text.filter(|text| text != "-")
}
