//! Reads a line of JSON. The values of a line have fixed types; names that are not used here are ignored.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use super::super::{Job, Reason, field};
use super::{Line, given, is_slave};

/// The line of a job.
#[derive(serde::Deserialize)]
struct Object<'a> {
    job_number: Option<u32>,
    #[serde(default)]
    task_number: u32,
    #[serde(default)]
    submission_time: u64,
    #[serde(default)]
    start_time: u64,
    #[serde(default)]
    end_time: u64,
    #[serde(borrow)]
    owner: Option<Text<'a>>,
    #[serde(borrow)]
    group: Option<Text<'a>>,
    #[serde(borrow)]
    account: Option<Text<'a>>,
    #[serde(borrow)]
    project: Option<Text<'a>>,
    #[serde(borrow)]
    department: Option<Text<'a>>,
    #[serde(borrow)]
    qname: Option<Text<'a>>,
    #[serde(borrow)]
    hostname: Option<Text<'a>>,
    #[serde(borrow)]
    granted_pe: Option<Text<'a>>,
    #[serde(borrow)]
    pe_taskid: Option<Text<'a>>,
    slots: Option<u32>,
    #[serde(borrow)]
    job_name: Option<Text<'a>>,
    priority: Option<i64>,
    #[serde(borrow)]
    submit_cmd_line: Option<Text<'a>>,
    #[serde(default)]
    failed: u64,
    exit_status: Option<i64>,
    #[serde(borrow)]
    deleted_by: Option<Text<'a>>,
}

/// Reads a line; `None` for a slave task.
pub fn job(line: &[u8]) -> Result<Option<Job<'_>>, Reason> {
    let line: Object<'_> = serde_json::from_slice(line).map_err(|_| Reason::UnreadableRecord)?;
    if line.job_number.is_some() && (line.owner.is_none() || line.qname.is_none()) {
        return Err(Reason::UnreadableRecord);
    }
    if text(line.pe_taskid).is_some_and(|it| is_slave(&it)) {
        return Ok(None);
    }
    let is_task = is_task(line.task_number, line.submit_cmd_line.as_ref());
    let line = Line {
        number: line.job_number,
        task: if is_task { line.task_number } else { 0 },
        times: [line.submission_time, line.start_time, line.end_time],
        failed: line.failed,
        owner: text(line.owner),
        group: text(line.group),
        account: text(line.account),
        project: text(line.project),
        department: text(line.department),
        queue: text(line.qname),
        host: text(line.hostname),
        granted_pe: text(line.granted_pe),
        slots: line.slots,
        name: text(line.job_name),
        priority: line.priority.map(|priority| priority.to_string().into()),
        exit_status: line.exit_status.map(|status| status.to_string().into()),
        more: [
            ("deleted_by", given(text(line.deleted_by))),
            ("", None),
            ("", None),
        ],
    };
    line.into_job().map(Some)
}

/// Returns whether a job is a task of an array.
///
/// OCS 9.0 prints task 1 for jobs that are no array, too. The option `-t` of their command distinguishes them.
fn is_task(task: u32, command: Option<&Text<'_>>) -> bool {
    let mut words = command
        .map_or(&b""[..], |command| &command.0)
        .split(u8::is_ascii_whitespace);
    task > 1 || (task == 1 && words.any(|word| word == b"-t"))
}

/// A string, which may have bytes that are no text: Grid Engine does not look at them.
struct Text<'a>(Cow<'a, [u8]>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(TextVisitor).map(Self)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, [u8]>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(bytes))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(bytes.to_vec()))
    }
}

/// Returns a string as text; `None` if it is empty.
fn text(string: Option<Text<'_>>) -> Option<Cow<'_, str>> {
    field::text_of(string?.0)
}
