//! Reads a line of JSON. The values of a line have fixed types; names that are not used here are ignored.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use super::super::{Job, Reason};
use super::{Line, Text, is_slave, text};

/// Reads a line; `None` for a slave task.
pub fn job(line: &[u8]) -> Result<Option<Job<'_>>, Reason> {
    let mut line: Line<'_> = serde_json::from_slice(line).map_err(|_| Reason::UnreadableRecord)?;
    if line.job_number.is_some() && (line.owner.is_none() || line.qname.is_none()) {
        return Err(Reason::UnreadableRecord);
    }
    if text(line.pe_taskid.take()).is_some_and(|it| is_slave(&it)) {
        return Ok(None);
    }
    if !is_task(line.task_number, line.submit_cmd_line.as_ref()) {
        line.task_number = 0;
    }
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

/// Reads a number as text.
pub fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Text<'static>>, D::Error> {
    let number = Option::<i64>::deserialize(from)?;
    Ok(number.map(|it| Text(it.to_string().into_bytes().into())))
}
