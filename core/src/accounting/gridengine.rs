//! Reads the file `accounting` of Grid Engine: lines of colons (SGE, SoGE, UGE, AGE), or lines of JSON (OCS and GCS 9).
//!
//! A line is written when a job, or one task of an array, has ended, and also when an attempt to start it has failed. So
//! a job may have several lines; each one is a record. Waiting and running jobs are not in it.
//!
//! | field of a job | from |
//! |---|---|
//! | `job` | the number of the job, which is `JOB_ID` of all tasks of an array |
//! | `label`, `parent` | `number.task` and `number` if the job is a task of an array, else `number` without a parent |
//! | `submitted`, `started`, `ended` | numbers of seconds, milliseconds (UGE 8.2 and later) or microseconds (OCS) |
//! | `account` | the project, or else the text of `qsub -A`, unless that is the default `sge` |
//! | `node_list`, `nodes` | the host of a job that has no parallel environment; of others it is only the first host, in `extra` |
//!
//! Comments, empty lines and the lines of the slave tasks of a parallel job (`pe_taskid`) are skipped. A time of 0 is
//! unknown. If the job was not started and `failed` is not 0, it may be tried again: then its end is unknown too.

mod colons;
mod json;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::Deserialize;

use super::field::{self, instant};
use super::{Job, Reason, Record, Scheduler};
use crate::base::instant::{Micros, SECOND};
use crate::base::pause::Pause;

/// The longest line that is read: a job with all its options has some hundred bytes.
const LINE_MAX: usize = 1 << 20;

/// The first time that a job of Grid Engine can have: the year 1990. It is later than any number of milliseconds that
/// could be one of seconds, so that the unit of a time follows from its size.
const EARLIEST: Micros = 631_152_000 * SECOND;

/// Grid Engine, which writes the file `accounting`.
pub const SCHEDULER: Scheduler = Scheduler {
    name: "gridengine",
    recognizes,
    grows: true,
    records: |text, _, pause| Box::new(records(text, pause)),
};

/// Returns the records of a text, one for each line that speaks of a job.
pub fn records<'a>(text: &'a [u8], pause: Pause<'a>) -> impl Iterator<Item = Record<'a>> {
    field::lines(text, pause).filter_map(|(line, content)| {
        let job = job(content).transpose()?;
        Some(Record { line, job })
    })
}

/// Returns whether a text looks like a file `accounting`: one of its first ten lines that are no comments can be read.
pub fn recognizes(text: &[u8]) -> bool {
    let lines = field::first_lines(text);
    let first = lines
        .filter(|line| !is_no_record(line))
        .take(field::FIRST_LINES);
    first.map(job).any(|job| job.is_ok())
}

/// Reads a line; `None` if no job comes from it.
fn job(line: &[u8]) -> Result<Option<Job<'_>>, Reason> {
    if is_no_record(line) {
        return Ok(None);
    }
    if line.len() > LINE_MAX {
        return Err(Reason::UnreadableRecord);
    }
    if line.starts_with(b"{") {
        json::job(line)
    } else {
        colons::job(line)
    }
}

/// Returns whether a line is a comment or shorter than two characters, as Grid Engine's own programs see it.
fn is_no_record(line: &[u8]) -> bool {
    line.len() < 2 || line.starts_with(b"#")
}

/// The fields of a line, by their names in JSON. Either form of a line lacks some of them.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Line<'a> {
    job_number: Option<u32>,
    /// The task of an array, or 0.
    task_number: u32,
    submission_time: u64,
    start_time: u64,
    end_time: u64,
    failed: u64,
    owner: Option<Text<'a>>,
    group: Option<Text<'a>>,
    account: Option<Text<'a>>,
    project: Option<Text<'a>>,
    department: Option<Text<'a>>,
    qname: Option<Text<'a>>,
    hostname: Option<Text<'a>>,
    granted_pe: Option<Text<'a>>,
    pe_taskid: Option<Text<'a>>,
    slots: Option<u32>,
    job_name: Option<Text<'a>>,
    #[serde(deserialize_with = "json::number")]
    priority: Option<Text<'a>>,
    #[serde(deserialize_with = "json::number")]
    exit_status: Option<Text<'a>>,
    submit_cmd_line: Option<Text<'a>>,
    deleted_by: Option<Text<'a>>,
    /// `cpu`, `mem` and `io`.
    #[serde(skip)]
    usage: [Option<Text<'a>>; 3],
}

/// A string, which may have bytes that are no text: Grid Engine does not look at them.
struct Text<'a>(Cow<'a, [u8]>);

impl<'a> Line<'a> {
    fn into_job(self) -> Result<Job<'a>, Reason> {
        let number = self.job_number.filter(|job| *job > 0);
        let number = number.ok_or(Reason::BadJob)?;
        let [submitted, started, ended] = self.life()?;
        let (account, other_account) = match given(self.project) {
            Some(project) => (Some(project), text(self.account)),
            None => (text(self.account), None),
        };
        let [account, other_account] =
            [account, other_account].map(|it| known(it).filter(|it| it != "sge"));
        let pe = given(self.granted_pe);
        let (node_list, first_host) = match pe {
            None => (given(self.hostname), None),
            Some(_) => (None, given(self.hostname)),
        };
        let failed = (self.failed > 0).then(|| self.failed.to_string().into());
        let [cpu, mem, io] = self.usage.map(text);
        let extra = [
            ("failed", failed),
            ("granted_pe", pe),
            ("hostname", first_host),
            ("account", other_account),
            ("department", given(self.department)),
            ("priority", text(self.priority).filter(|it| it != "0")),
            ("cpu", cpu),
            ("mem", mem),
            ("io", io),
            ("deleted_by", given(self.deleted_by)),
        ];
        let job: Cow<'_, str> = number.to_string().into();
        let (label, parent) = match self.task_number {
            0 => (job.clone(), None),
            task => (format!("{number}.{task}").into(), Some(job.clone())),
        };
        Ok(Job {
            job,
            label,
            parent,
            submitted,
            started,
            ended,
            user_name: text(self.owner),
            group_name: text(self.group),
            account,
            partition: given(self.qname),
            job_name: text(self.job_name),
            nodes: node_list.is_some().then_some(1),
            node_list,
            cpus: self.slots.filter(|slots| *slots > 0),
            exit_code: text(self.exit_status),
            extra: field::extra(extra),
            ..Job::default()
        })
    }

    /// Returns the times of submission, start and end.
    ///
    /// # Errors
    /// [`Reason::BadTime`] if one of them is no time, or if the job ends before it starts.
    fn life(&self) -> Result<[Option<Micros>; 3], Reason> {
        let times = [self.submission_time, self.start_time, self.end_time];
        let [submitted, started, ended] = times.map(time);
        let (started, ended) = (started?, ended?);
        field::require_order(started, ended)?;
        let may_start_again = started.is_none() && self.failed != 0;
        Ok([submitted?, started, ended.filter(|_| !may_start_again)])
    }
}

/// Returns the instant of a number, whose size implies the unit; `None` for 0.
fn time(number: u64) -> Result<Option<Micros>, Reason> {
    if number == 0 {
        return Ok(None);
    }
    let number = Micros::try_from(number).map_err(|_| Reason::BadTime)?;
    let instants = [SECOND, 1_000, 1].map(|unit| number.checked_mul(unit).and_then(instant));
    let possible = instants
        .into_iter()
        .flatten()
        .find(|time| *time >= EARLIEST);
    possible.map(Some).ok_or(Reason::BadTime)
}

/// Returns a string as text; `None` if it is empty.
fn text(string: Option<Text<'_>>) -> Option<Cow<'_, str>> {
    field::text_of(string?.0)
}

/// Returns a string as text, if it is [`known`].
fn given(string: Option<Text<'_>>) -> Option<Cow<'_, str>> {
    known(text(string))
}

/// Returns a text; `None` for `NONE` and `UNKNOWN`, which Grid Engine prints for missing values.
fn known(text: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    text.filter(|text| text != "NONE" && text != "UNKNOWN")
}

/// Returns whether a text is the name of a slave task of a parallel job, for example `3.node12`, and not a fraction.
fn is_slave(pe_taskid: &str) -> bool {
    let is_number = |text: &str| field::is_number(text.as_bytes());
    let parts = pe_taskid.split_once('.');
    parts.is_some_and(|(number, host)| is_number(number) && !host.is_empty() && !is_number(host))
}
