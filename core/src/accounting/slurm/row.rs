//! Makes jobs of the fields of rows.

use std::borrow::Cow;

use super::header::JobColumn;
use super::time::{is_no_value, read};
use crate::accounting::field::{is_number, number, require_order, text};
use crate::accounting::zone::{LocalTime, Zone, in_order};
use crate::accounting::{Job, Reason};

/// The longest text in bytes that `extra` keeps.
const EXTRA_MAX: usize = 1_000;

/// The fields of a row, each at the number of its column.
#[derive(Debug, Default)]
pub struct Fields<'a>([Option<&'a [u8]>; JobColumn::ALL.len()]);

impl<'a> Fields<'a> {
    /// Sets a field. A column that is in the header twice must have the same value twice.
    pub fn set(&mut self, column: JobColumn, field: &'a [u8]) -> Result<(), Reason> {
        if let Some(slot) = self.0.get_mut(column as usize) {
            if slot.is_some_and(|before| before != field) {
                return Err(Reason::WrongFields);
            }
            *slot = Some(field);
        }
        Ok(())
    }

    fn get(&self, column: JobColumn) -> Option<&'a [u8]> {
        self.0.get(column as usize).copied().flatten()
    }

    fn text(&self, column: JobColumn) -> Option<Cow<'a, str>> {
        self.get(column).and_then(known_text)
    }

    fn id(&self, column: JobColumn) -> Option<u32> {
        self.get(column)
            .and_then(number)
            .filter(|id| !is_no_value(u64::from(*id)))
    }

    fn time(&self, column: JobColumn, zone: &Zone) -> Result<Option<LocalTime>, Reason> {
        self.get(column).map_or(Ok(None), |field| read(field, zone))
    }

    /// Makes a job of the fields.
    pub fn job(&self, zone: &Zone) -> Result<Job<'a>, Reason> {
        let mut job = Job {
            scheduler: self.text(JobColumn::Cluster),
            uid: self.id(JobColumn::Uid),
            user_name: self.text(JobColumn::User),
            gid: self.id(JobColumn::Gid),
            group_name: self.text(JobColumn::Group),
            account: self.text(JobColumn::Account),
            partition: self.text(JobColumn::Partition),
            qos: self.text(JobColumn::Qos),
            job_name: self.text(JobColumn::JobName),
            state: self.text(JobColumn::State),
            nodes: self
                .id(JobColumn::Nodes)
                .or(self.id(JobColumn::AllocatedNodes)),
            node_list: self.text(JobColumn::NodeList),
            cpus: self
                .id(JobColumn::Cpus)
                .or(self.id(JobColumn::AllocatedCpus)),
            exit_code: self.text(JobColumn::ExitCode),
            ..Job::default()
        };
        self.name(&mut job)?;
        let times = [JobColumn::Submit, JobColumn::Start, JobColumn::End]
            .map(|column| self.time(column, zone));
        let [submitted, started, ended] = times;
        let has_no_nodes = match self.get(JobColumn::NodeList) {
            Some(_) => is_no_list(&mut job),
            None => job.nodes == Some(0),
        };
        set_times(&mut job, [submitted?, started?, ended?], has_no_nodes)?;
        Ok(job)
    }

    /// Sets the number, the label and the parent of a job.
    fn name(&self, job: &mut Job<'a>) -> Result<(), Reason> {
        let raw = self.get(JobColumn::JobIdRaw).map(<[u8]>::trim_ascii);
        let label = self.get(JobColumn::JobId).map(<[u8]>::trim_ascii);
        let (first, second) = raw.or(label).zip(label.or(raw)).ok_or(Reason::BadJob)?;
        let label = Label::read(second).ok_or(Reason::BadJob)?;
        if let Some(raw) = raw {
            let own = job_number(raw).ok_or(Reason::BadJob)?;
            if label.kind == LabelKind::Whole && job_number(label.number) != Some(own) {
                return Err(Reason::BadJob);
            }
        }
        let keep = |field: &'a [u8]| text(field).ok_or(Reason::BadJob);
        job.label = keep(second)?;
        job.job = keep(match label.kind {
            LabelKind::Whole | LabelKind::Task => first,
            LabelKind::Tasks => raw.unwrap_or(label.number),
            LabelKind::Component => label.number,
        })?;
        if label.kind != LabelKind::Whole {
            job.parent = Some(keep(label.number)?);
        }
        if let (LabelKind::Component, Some(raw)) = (label.kind, raw) {
            job.extra.push((Cow::Borrowed("JobIDRaw"), keep(raw)?));
        }
        Ok(())
    }
}

/// Returns whether the number of a job is one of a step, such as `123.batch` or `123_4.0`. In brackets are tasks of an array,
/// and dots where their list was cut.
pub fn is_step(id: &[u8]) -> bool {
    let place = memchr::memchr2(b'.', b'[', id);
    let is_dot = place.is_some_and(|place| id.get(place) == Some(&b'.'));
    is_dot && id.first().is_some_and(u8::is_ascii_digit)
}

/// The part of a job that a label names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LabelKind {
    /// `123`
    Whole,
    /// `123_4`, a task of an array.
    Task,
    /// `123_[1-3]`, the tasks of an array that did not start yet.
    Tasks,
    /// `123+1`, a component of a heterogeneous job.
    Component,
}

/// The label of a job: `123`, `123_4`, `123_[1-3]`, `123+1`.
struct Label<'a> {
    number: &'a [u8],
    kind: LabelKind,
}

impl<'a> Label<'a> {
    fn read(label: &'a [u8]) -> Option<Self> {
        let digits = label
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (number, rest) = label.split_at_checked(digits)?;
        job_number(number)?;
        let kind = match rest {
            [] => LabelKind::Whole,
            // A long list of tasks is cut, and then it ends with dots.
            [b'_', b'[', tasks @ ..] if !tasks.is_empty() => LabelKind::Tasks,
            [b'_', task @ ..] if is_number(task) => LabelKind::Task,
            [b'+', component @ ..] if is_number(component) => LabelKind::Component,
            _ => return None,
        };
        Some(Self { number, kind })
    }
}

/// Returns the number of a job, which is not zero and is written without zeros in front.
fn job_number(digits: &[u8]) -> Option<u32> {
    let number = number(digits)?;
    (number > 0 && digits.first() != Some(&b'0')).then_some(number)
}

/// Returns the field's text; `None` for Slurm's `(null)`.
pub fn known_text(field: &[u8]) -> Option<Cow<'_, str>> {
    text(field).filter(|text| text != "(null)")
}

/// Removes a placeholder for an empty list of nodes, and returns whether there is no list.
fn is_no_list(job: &mut Job<'_>) -> bool {
    let none = |list: &str| matches!(list, "None assigned" | "None" | "N/A");
    if job.node_list.as_deref().is_some_and(none) {
        job.node_list = None;
    }
    job.node_list.is_none()
}

/// Sets the times of submission, start and end of a record.
fn set_times(
    job: &mut Job<'_>,
    times: [Option<LocalTime>; 3],
    has_no_nodes: bool,
) -> Result<(), Reason> {
    let ([submitted, started, ended], doubt) = in_order(times);
    let state = job.state.as_deref().unwrap_or_default();
    let state = state.split([' ', '+', ',']).next().unwrap_or_default();
    let is_pending = state == "PENDING";
    let is_active = is_pending || matches!(state, "RUNNING" | "SUSPENDED");
    let never_ran = has_no_nodes && started.is_some() && started == ended;
    job.submitted = submitted;
    job.started = started.filter(|_| !is_pending && !never_ran);
    job.ended = ended.filter(|_| !is_active);
    job.time_doubt = doubt;
    require_order(job.started, job.ended)
}

/// Stores a text in `extra`, unless it is long.
pub fn keep<'a>(job: &mut Job<'a>, name: Cow<'a, str>, value: Cow<'a, str>) {
    if value.len() <= EXTRA_MAX {
        job.extra.push((name, value));
    }
}
