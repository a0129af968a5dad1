//! Reads the accounting files of OpenPBS, PBS Pro and Torque.
//!
//! A line is `MM/DD/YYYY HH:MM:SS;type;id;text`. The time in front is local time without a zone, so that it only serves to
//! recognize a line. The times in the text are seconds since 1970.
//!
//! | type | meaning | the record must have |
//! |---|---|---|
//! | `Q` | queued | |
//! | `S`, `s` | started | `start` |
//! | `E` | ended | `end` |
//! | `R` | put back into the queue: the end of a run | |
//! | `D`, `A` | deleted, aborted | |
//!
//! Each of these records is a [`Job`] with the values of that record; the reader of a text merges them. A job that ran twice has
//! two records `E` with different starts. Records of other types (licences, reservations, checkpoints, phases), records with
//! only the number of a job (most of `D` and `A`), and records of whole arrays (`123[]`), whose elements have their own, make no
//! job.
//!
//! ```
//! use jobstats_core::accounting::pbs;
//! use jobstats_core::base::pause::Pause;
//!
//! let text = b"07/05/2024 14:00:37;E;123[4].pbs1;user=ada group=maths jobname=a b queue=workq ctime=1720188000 \
//!     start=1720188010 exec_host=c1/0*8+c2/0*8 end=1720188037 Exit_status=0\n";
//! let job = pbs::records(text, Pause::NEVER).next().unwrap().job?;
//! assert_eq!((job.label.as_ref(), job.job_name.as_deref()), ("123[4]", Some("a b")));
//! assert_eq!((job.nodes, job.cpus), (Some(2), Some(16)));
//! # Ok::<(), jobstats_core::accounting::Reason>(())
//! ```

mod hosts;
#[cfg(test)]
mod tests;
mod values;

use std::borrow::Cow;

use super::field::{self, FIRST_LINES, first_lines, has_form, lines, split_once};
use super::{Job, Reason, Record, Scheduler};
use crate::base::instant::Micros;
use crate::base::pause::Pause;
use values::{Known, values};

/// The form of `MM/DD/YYYY HH:MM:SS`.
const TIME: &[u8] = b"00/00/0000 00:00:00";

/// The longest line that is read. Torque names each processor of a job, so that lines of the largest jobs have some megabytes.
const LINE_MAX: usize = 16 << 20;

/// The longest value that `extra` keeps, in bytes.
const EXTRA_LENGTH: usize = 256;

/// The largest number of values that `extra` keeps.
const EXTRA_MAX: usize = 64;

/// OpenPBS, PBS Pro and Torque, which write accounting files.
pub const SCHEDULER: Scheduler = Scheduler {
    name: "pbs",
    recognizes,
    grows: true,
    records: |text, _, pause| Box::new(records_by_job(text, pause)),
};

/// Returns whether one of the first lines of a text is a line of an accounting file.
pub fn recognizes(text: &[u8]) -> bool {
    first_lines(text)
        .take(FIRST_LINES)
        .any(|line| Line::read(line).is_some())
}

/// Reads the records of a text in the order of its lines.
///
/// A last line that does not end may be cut. So its last value is not used.
pub fn records<'a>(text: &'a [u8], pause: Pause<'a>) -> impl Iterator<Item = Record<'a>> {
    lines(text, pause).filter_map(move |line| read(text, line))
}

/// Reads the records of a text job by job, in the order of lines within a job: a job has a record when it is queued, one when
/// it starts and one when it ends, with records of other jobs in between. Lines from which no job comes are read first.
pub fn records_by_job<'a>(text: &'a [u8], pause: Pause<'a>) -> impl Iterator<Item = Record<'a>> {
    let mut lines = lines(text, pause);
    let mut places = Vec::new();
    let mut sorted: Option<std::vec::IntoIter<Place>> = None;
    std::iter::from_fn(move || {
        while sorted.is_none() {
            let Some(line) = lines.next() else {
                let mut places = std::mem::take(&mut places);
                places.sort_unstable();
                sorted = Some(places.into_iter());
                break;
            };
            match Place::of(text, line) {
                Some(place) if places.try_reserve(1).is_ok() => places.push(place),
                _ => match read(text, line) {
                    None => {}
                    found => return found,
                },
            }
        }
        sorted.as_mut()?.find_map(|place| {
            let line = line_at(text, place.begin)?;
            read(text, (place.line, line))
        })
    })
}

/// The place of a line with a record, in the order of jobs. Two jobs that share a key only come side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// The number of the job, with the index of an array.
    key: u64,
    /// The place where the line begins.
    begin: u32,
    /// The number of the line.
    line: u32,
}

impl Place {
    /// Returns the place of a line that seems to have a record; `None` for other lines, and behind the first four gigabytes.
    fn of(text: &[u8], (line, content): (u32, &[u8])) -> Option<Self> {
        let begin = content.as_ptr().addr() - text.as_ptr().addr();
        let read = Line::read(content)?;
        state(read.kind)?;
        let mut numbers = read.id.split(|byte| !byte.is_ascii_digit());
        let mut number = || numbers.next().and_then(field::number::<u64>).unwrap_or(0);
        Some(Self {
            key: number().wrapping_shl(24).wrapping_add(number()),
            begin: u32::try_from(begin).ok()?,
            line,
        })
    }
}

/// Returns the line that begins at a place.
fn line_at(text: &[u8], begin: u32) -> Option<&[u8]> {
    let rest = text.get(usize::try_from(begin).ok()?..)?;
    lines(rest, Pause::NEVER).next().map(|(_, line)| line)
}

/// Reads a line with its number; `None` if no job comes from it.
fn read<'a>(text: &'a [u8], (number, line): (u32, &'a [u8])) -> Option<Record<'a>> {
    let ends = line.as_ptr_range().end < text.as_ptr_range().end;
    let job = record(line, ends).transpose()?;
    Some(Record { line: number, job })
}

/// Reads a line; `None` if no job comes from the line.
fn record(line: &[u8], ends: bool) -> Result<Option<Job<'_>>, Reason> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    if line.len() > LINE_MAX {
        return Err(Reason::UnreadableRecord);
    }
    let line = Line::read(line).ok_or(Reason::UnreadableRecord)?;
    if has_another(line.text) {
        return Err(Reason::UnreadableRecord);
    }
    let Some(state) = state(line.kind) else {
        return Ok(None);
    };
    let Some(id) = Id::read(line.id)? else {
        return Ok(None);
    };
    let values = Values::read(line.text, ends)?;
    let missing = match line.kind {
        b'E' => values.get(Known::End).is_none(),
        b'S' | b's' => values.get(Known::Start).is_none(),
        _ => false,
    };
    if missing {
        return Err(Reason::UnreadableRecord);
    }
    let job = values.job()?;
    if job == Job::default() {
        return Ok(None);
    }
    Ok(Some(id.complete(job, state)))
}

/// Returns whether another record begins in a text, as where a write was cut: a time, `;`, a type and `;`. The rest of the
/// line belongs to another job.
fn has_another(text: &[u8]) -> bool {
    memchr::memchr_iter(b';', text).any(|place| {
        let time = place.checked_sub(8).and_then(|from| text.get(from..place));
        let is_time = time.is_some_and(|time| has_form(time, b"00:00:00"));
        is_time && text.get(place + 2) == Some(&b';')
    })
}

/// Returns the name of PBS for the records of a type; `None` for a type that no job comes from.
fn state(kind: u8) -> Option<&'static str> {
    Some(match kind {
        b'Q' => "queued",
        b'S' | b's' => "started",
        b'E' => "ended",
        b'R' => "rerun",
        b'D' => "deleted",
        b'A' => "aborted",
        _ => return None,
    })
}

/// A line, split at its semicolons.
struct Line<'a> {
    kind: u8,
    id: &'a [u8],
    text: &'a [u8],
}

impl<'a> Line<'a> {
    /// Splits a line; `None` if it is not one of an accounting file. `grep` puts the name of the file in front.
    fn read(line: &'a [u8]) -> Option<Self> {
        let (front, rest) = split_once(line, b';')?;
        let (before, time) = front.split_at_checked(front.len().checked_sub(TIME.len())?)?;
        let is_time = has_form(time, TIME);
        let (kind, rest) = split_once(rest, b';')?;
        let (id, text) = split_once(rest, b';')?;
        let &[kind] = kind else { return None };
        let is_line = is_time && (before.is_empty() || before.ends_with(b":"));
        (is_line && kind.is_ascii_alphabetic()).then_some(Self { kind, id, text })
    }
}

/// The identifier of a job, such as `123.server`, `123[4].server`, or `123-4.server` of the elements of arrays in old
/// versions of Torque.
struct Id<'a> {
    /// The identifier before the name of the server.
    job: &'a [u8],
    /// The identifier of the array, as `qstat` shows it.
    parent: Option<Cow<'a, str>>,
    /// The name of the server, which is missing in some versions.
    server: &'a [u8],
}

impl<'a> Id<'a> {
    /// Reads an identifier; `None` for a whole array or a range of its elements.
    ///
    /// # Errors
    /// [`Reason::BadJob`].
    fn read(id: &'a [u8]) -> Result<Option<Self>, Reason> {
        let (job, server) = split_once(id, b'.').unwrap_or((id, b""));
        let digits = job.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, index) = job.split_at(digits);
        field::number::<u64>(number).ok_or(Reason::BadJob)?;
        let is_index = |index: &[u8]| field::number::<u64>(index).is_some();
        let parent = match index {
            [] => None,
            [b'[', index @ .., b']'] if is_index(index) => {
                field::text(number).map(|number| Cow::Owned(format!("{number}[]")))
            }
            [b'[', range @ .., b']'] if range.iter().all(is_of_range) => return Ok(None),
            [b'-', index @ ..] if is_index(index) => field::text(number),
            _ => return Err(Reason::BadJob),
        };
        Ok(Some(Self {
            job,
            parent,
            server,
        }))
    }

    /// Completes a job.
    fn complete(self, mut job: Job<'a>, state: &'static str) -> Job<'a> {
        job.job = field::text(self.job).unwrap_or_default();
        job.label = job.job.clone();
        job.parent = self.parent;
        job.state = Some(Cow::Borrowed(state));
        if let Some(server) = field::text(self.server) {
            job.extra.push((Cow::Borrowed("server"), server));
        }
        job
    }
}

/// Returns whether a byte may be part of a range of elements, such as `1-5,7:2`.
fn is_of_range(byte: &u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b',' | b':')
}

/// The values of a record, as printed.
#[derive(Default)]
struct Values<'a> {
    /// The values that jobs are made of, each at the number of its name.
    known: [Option<&'a [u8]>; Known::ALL.len()],
    /// True if the job requested resources that only a Cray has.
    has_cray_resources: bool,
    extra: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Values<'a> {
    /// Reads the values of a text, but not the last one if the text does not end.
    ///
    /// # Errors
    /// [`Reason::UnreadableRecord`] if the text has two different values of one name.
    fn read(text: &'a [u8], ends: bool) -> Result<Self, Reason> {
        let mut read = Self::default();
        let mut values = values(text).peekable();
        while let Some((name, value)) = values.next() {
            if ends || values.peek().is_some() {
                read.keep(name, value)?;
            }
        }
        Ok(read)
    }

    fn keep(&mut self, name: &'a [u8], value: &'a [u8]) -> Result<(), Reason> {
        let Some(known) = Known::of(name) else {
            if is_extra(name) {
                self.keep_extra(name, value);
            }
            self.has_cray_resources |= name.starts_with(b"Resource_List.mpp");
            return Ok(());
        };
        match self.known[known as usize].replace(value) {
            Some(before) if before != value => Err(Reason::UnreadableRecord),
            _ => Ok(()),
        }
    }

    fn get(&self, name: Known) -> Option<&'a [u8]> {
        self.known[name as usize]
    }

    fn text(&self, name: Known) -> Option<Cow<'a, str>> {
        self.get(name).and_then(field::text)
    }

    /// Returns a time; `None` if it is missing or 0.
    fn time(&self, name: Known) -> Result<Option<Micros>, Reason> {
        self.get(name).map_or(Ok(None), field::seconds_or_never)
    }

    fn keep_extra(&mut self, name: &'a [u8], value: &'a [u8]) {
        if self.extra.len() == EXTRA_MAX || name.len().max(value.len()) > EXTRA_LENGTH {
            return;
        }
        if let (Some(name), Some(value)) = (field::text(name), field::text(value)) {
            self.extra.push((name, value));
        }
    }

    /// Makes a job of the values, still without its number.
    ///
    /// # Errors
    /// [`Reason::BadTime`] for a time that cannot be read, and for an end before the start.
    fn job(mut self) -> Result<Job<'a>, Reason> {
        let (started, ended) = (self.time(Known::Start)?, self.time(Known::End)?);
        field::require_order(started, ended)?;
        let given = |name: Known, default: &[u8]| self.get(name).filter(|it| *it != default);
        let project = given(Known::Project, b"_pbs_project_default");
        let group = given(Known::Group, b"-default-");
        let account = self.text(Known::Account);
        if let (Some(_), Some(project)) = (&account, project) {
            self.keep_extra(b"project", project);
        }
        let (nodes, node_list) = self.nodes().unzip();
        Ok(Job {
            submitted: self.time(Known::Created)?,
            started,
            ended,
            user_name: self.text(Known::User),
            group_name: group.and_then(field::text),
            account: account.or_else(|| field::text(project?)),
            qos: self.text(Known::Qos),
            partition: self.text(Known::Queue),
            job_name: self.text(Known::JobName),
            nodes: nodes.or_else(|| self.count([Known::NodeCount, Known::RequestedNodes])),
            node_list,
            cpus: self.cpus(),
            exit_code: self.text(Known::ExitStatus),
            extra: self.extra,
            ..Job::default()
        })
    }

    /// Returns the number of nodes and their names.
    fn nodes(&self) -> Option<(u32, Cow<'a, str>)> {
        if self.is_on_cray() {
            return None;
        }
        let names = |list| field::nodes(hosts::names(self.get(list)?).map(Cow::Borrowed));
        names(Known::Hosts).or_else(|| names(Known::Vnodes))
    }

    fn cpus(&self) -> Option<u32> {
        let hosts = self.get(Known::Hosts).filter(|_| !self.is_on_cray());
        let slots = hosts.and_then(hosts::slots);
        slots.or_else(|| self.count([Known::Slots, Known::Ncpus]))
    }

    /// Returns the first of some numbers that is known. On a Cray they count the login node.
    fn count(&self, names: [Known; 2]) -> Option<u32> {
        let mut names = names.into_iter().filter(|_| !self.is_on_cray());
        names.find_map(|name| field::number(self.get(name)?))
    }

    /// Returns whether the hosts are the login node of a Cray, where `alt_id` is the number of the reservation of the
    /// compute nodes. They are not named.
    fn is_on_cray(&self) -> bool {
        let reservation = self.get(Known::AltId).and_then(field::number::<u64>);
        self.has_cray_resources || reservation.is_some()
    }
}

/// Returns whether `extra` keeps a value. Names that sites add are not kept, because they may be personal.
fn is_extra(name: &[u8]) -> bool {
    values::is_resource(name)
        || matches!(
            name,
            b"qtime" | b"etime" | b"eligible_time" | b"run_count" | b"start_count"
        )
}
