//! Reads a line of JSON. The values of a line have fixed types; names that are not used here are ignored.

use super::super::{Job, Reason};
use super::{Line, given, is_slave};
use crate::accounting::json::{Entries, object};

/// Reads a line; `None` if it is that of a slave task.
pub fn job(line: &[u8]) -> Result<Option<Job<'_>>, Reason> {
    let line = line.trim_ascii_end();
    match object(line, read) {
        Ok((length, job)) if length == line.len() => job,
        _ => Err(Reason::UnreadableRecord),
    }
}

/// Makes a job of the keys and values of a line.
fn read<'a>(entries: &mut Entries<'a>) -> Result<Option<Job<'a>>, Reason> {
    let mut line = Line::default();
    let (mut command, mut slave) = (None, None);
    let printed = |number: i64| number.to_string().into();
    for (key, value) in entries {
        match key {
            b"job_number" => line.number = value.whole()?,
            b"task_number" => line.task = value.whole()?.unwrap_or_default(),
            b"submission_time" => line.times[0] = value.whole()?.unwrap_or_default(),
            b"start_time" => line.times[1] = value.whole()?.unwrap_or_default(),
            b"end_time" => line.times[2] = value.whole()?.unwrap_or_default(),
            b"failed" => line.failed = value.whole()?.unwrap_or_default(),
            b"slots" => line.slots = value.whole()?,
            b"priority" => line.priority = value.whole::<i64>()?.map(printed),
            b"exit_status" => line.exit_status = value.whole::<i64>()?.map(printed),
            b"owner" => line.owner = value.text(),
            b"group" => line.group = value.text(),
            b"account" => line.account = value.text(),
            b"project" => line.project = value.text(),
            b"department" => line.department = value.text(),
            b"qname" => line.queue = value.text(),
            b"hostname" => line.host = value.text(),
            b"granted_pe" => line.granted_pe = value.text(),
            b"pe_taskid" => slave = value.text(),
            b"job_name" => line.name = value.text(),
            b"submit_cmd_line" => command = value.text(),
            b"deleted_by" => line.more[0] = ("deleted_by", given(value.text())),
            _ => {}
        }
    }
    if line.number.is_some() && (line.owner.is_none() || line.queue.is_none()) {
        return Err(Reason::UnreadableRecord);
    }
    if slave.is_some_and(|task| is_slave(&task)) {
        return Ok(None);
    }
    // OCS 9.0 prints task 1 for jobs that are no array, too. They are told apart by the option `-t` of their command.
    let mut words = command
        .iter()
        .flat_map(|command| command.split_ascii_whitespace());
    if line.task == 1 && !words.any(|word| word == "-t") {
        line.task = 0;
    }
    line.into_job().map(Some)
}
