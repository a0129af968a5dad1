//! Reads the fields of a record `JOB_FINISH`.
//!
//! All versions have the fields up to the spool file in one order; later versions append. The kind of each field, text or
//! number, is checked, so that a record with a field too many or too few is a problem and no other job.

use std::borrow::Cow;

use super::fields::{Field, Fields, content};
use super::{Job, Reason, field};

/// The host of all jobs where LSF hands them to Slurm, which knows the nodes.
const SLURM_HOST: &[u8] = b"lsfhost.localdomain";

/// The kinds of the fields after the spool file that are the same in all versions: a text (`s`) or a number (`d`).
const TAIL: &[u8] = b"sssdsdsdssssdssdsdssd";

type Tail<'a> = [Option<&'a [u8]>; TAIL.len()];

/// The places of fields in [`TAIL`].
const SLA: usize = 2;
const ADDITIONAL_INFO: usize = 4;
const EXIT_INFO: usize = 5;
const APP: usize = 10;

/// Reads the fields after the type of the record; `None` if no job comes from it.
///
/// # Errors
/// [`Reason::UnreadableRecord`] for a record that is cut, and [`Reason::WrongFields`], [`Reason::BadJob`] and
/// [`Reason::BadTime`].
pub(super) fn read<'a>(fields: &mut Fields<'a>) -> Result<Option<Job<'a>>, Reason> {
    let [version] = texts(fields)?;
    if !content(version)
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.')
    {
        return Err(Reason::UnreadableRecord);
    }
    let [event, number, uid, _options, processors] = numbers(fields)?;
    let [submit, _begin, _term, start] = numbers(fields)?;
    let [user, queue] = texts(fields)?;
    // Requirements, dependency, pre-execution command, host, directory and files.
    let [_, _, _, _, _, _, _, _, _] = texts(fields)?;
    let _asked = hosts(fields)?;
    let hosts = hosts(fields)?;
    let [status, _factor] = numbers(fields)?;
    let [name, _command] = texts(fields)?;
    let usage = numbers(fields)?;
    let [_mail_user, project] = texts(fields)?;
    let [exit_status, _max_processors] = numbers(fields)?;
    let [_shell, _time_event] = texts(fields)?;
    let [index, max_memory, max_swap] = numbers(fields)?;
    let [_in_file_spool] = texts(fields)?;
    fields.end_at_newline();
    let tail = tail(fields)?;

    let Some(identity) = identity(number, &index)? else {
        return Ok(None);
    };
    let started = field::seconds_or_never(&start)?;
    let ended = field::seconds(&event).ok_or(Reason::BadTime)?;
    field::require_order(started, Some(ended))?;
    let (nodes, node_list) = nodes(&hosts, tail[ADDITIONAL_INFO]);
    Ok(Some(Job {
        submitted: field::seconds_or_never(&submit)?,
        started,
        ended: Some(ended),
        uid: field::id(&uid),
        user_name: shown(user),
        account: shown(project),
        partition: shown(queue),
        qos: tail[SLA].and_then(shown),
        job_name: shown(name),
        state: state(status),
        nodes,
        node_list,
        cpus: slots(&hosts).or_else(|| field::number(&processors)),
        exit_code: field::text_of(exit_status),
        extra: extra(usage, [max_memory, max_swap], &tail),
        ..identity
    }))
}

fn shown(text: &[u8]) -> Option<Cow<'_, str>> {
    field::text_of(content(text))
}

/// Returns the texts of `extra`.
fn extra<'a>(
    [user_time, system_time, ..]: [Cow<'a, [u8]>; 19],
    [memory, swap]: [Cow<'a, [u8]>; 2],
    tail: &Tail<'a>,
) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
    field::extra([
        ("ru_utime", field::text_of(user_time)),
        ("ru_stime", field::text_of(system_time)),
        ("maxRMem", field::text_of(memory)),
        ("maxRSwap", field::text_of(swap)),
        ("exitInfo", tail[EXIT_INFO].and_then(shown)),
        ("app", tail[APP].and_then(shown)),
    ])
}

/// Returns a job with its number, label and array; `None` for the elements of an array that were killed together before
/// they started.
fn identity<'a>(number: Cow<'a, [u8]>, index: &[u8]) -> Result<Option<Job<'a>>, Reason> {
    if field::number::<u64>(&number).is_none_or(|number| number == 0) {
        return Err(Reason::BadJob);
    }
    if index == b"-1" {
        return Ok(None);
    }
    let job = field::text_of(number).ok_or(Reason::BadJob)?;
    let index: u64 = field::number(index).ok_or(Reason::WrongFields)?;
    let (label, parent) = match index {
        0 => (job.clone(), None),
        _ => (Cow::Owned(format!("{job}[{index}]")), Some(job.clone())),
    };
    Ok(Some(Job {
        job,
        label,
        parent,
        ..Job::default()
    }))
}

/// Returns the state by its bits. Later bits are about the processing after the job.
fn state(status: Cow<'_, [u8]>) -> Option<Cow<'_, str>> {
    match field::number::<u32>(&status) {
        Some(bits) if bits & 64 != 0 => Some(Cow::Borrowed("DONE")),
        Some(bits) if bits & 32 != 0 => Some(Cow::Borrowed("EXIT")),
        _ => field::text_of(status),
    }
}

/// The hosts of a job, which are read again where they are needed.
struct Hosts<'a> {
    count: u32,
    fields: Fields<'a>,
}

impl<'a> Hosts<'a> {
    /// Returns the number of slots and the name of each, such as `16*c1`.
    fn iter(&self) -> impl Iterator<Item = (u32, Cow<'a, [u8]>)> {
        let mut fields = self.fields.clone();
        let next = move || match fields.next() {
            Ok(Some(Field::Text(host))) => Some(slots_and_name(host)),
            _ => None,
        };
        std::iter::from_fn(next).take(usize::try_from(self.count).unwrap_or(usize::MAX))
    }
}

/// Splits `16*c1`; a name without a number is one slot.
fn slots_and_name(host: &[u8]) -> (u32, Cow<'_, [u8]>) {
    let host = content(host);
    let star = memchr::memchr(b'*', &host);
    let slots = star.and_then(|star| field::number(&host[..star]));
    match (slots, star, host) {
        (Some(slots), Some(star), Cow::Borrowed(host)) => (slots, Cow::Borrowed(&host[star + 1..])),
        (Some(slots), Some(star), Cow::Owned(host)) => (slots, Cow::Owned(host[star + 1..].into())),
        (_, _, host) => (1, host),
    }
}

/// Reads a number of hosts, and passes over that many.
fn hosts<'a>(fields: &mut Fields<'a>) -> Result<Hosts<'a>, Reason> {
    let [count] = numbers(fields)?;
    let count = field::number(&count).ok_or(Reason::WrongFields)?;
    let first = fields.clone();
    for _ in 0..count {
        let [_] = texts(fields)?;
    }
    Ok(Hosts {
        count,
        fields: first,
    })
}

fn slots(hosts: &Hosts<'_>) -> Option<u32> {
    let slots = hosts
        .iter()
        .try_fold(0_u32, |sum, (slots, _)| sum.checked_add(slots));
    slots.filter(|slots| *slots > 0)
}

/// Returns the number of the nodes and their names. Slurm's list of nodes is not counted here.
fn nodes<'a>(
    hosts: &Hosts<'a>,
    additional_info: Option<&'a [u8]>,
) -> (Option<u32>, Option<Cow<'a, str>>) {
    let mut names = hosts.iter().map(|host| host.1).peekable();
    if names.peek().is_none_or(|first| **first != *SLURM_HOST) {
        return field::nodes(names).unzip();
    }
    let mut parts = additional_info
        .unwrap_or_default()
        .rsplit(|byte| *byte == b';');
    let list = parts.find_map(|part| part.strip_prefix(b"slurm_alloc="));
    (None, list.and_then(shown))
}

/// Reads the fields after the spool file to the end of the line, and returns those known to be complete.
///
/// A text may be cut after any field, and a number in the middle. So the last field is not returned.
fn tail<'a>(fields: &mut Fields<'a>) -> Result<Tail<'a>, Reason> {
    let mut tail = [None; TAIL.len()];
    let mut places = tail.iter_mut().zip(TAIL);
    let mut last = None;
    while let Some(next) = fields.next()? {
        last = places.next();
        let Some((place, kind)) = &mut last else {
            continue;
        };
        **place = match (kind, next) {
            (b's', Field::Text(text)) => Some(text),
            (b'd', Field::Word(word)) if is_number(&content(word)) => Some(word),
            _ => return Err(Reason::WrongFields),
        };
    }
    if let Some((place, _)) = last {
        *place = None;
    }
    Ok(tail)
}

/// Reads texts in quotes.
fn texts<'a, const N: usize>(fields: &mut Fields<'a>) -> Result<[&'a [u8]; N], Reason> {
    let mut texts = [&[][..]; N];
    for text in &mut texts {
        *text = match fields.next()? {
            Some(Field::Text(text)) => text,
            Some(Field::Word(_)) => return Err(Reason::WrongFields),
            None => return Err(Reason::UnreadableRecord),
        };
    }
    Ok(texts)
}

/// Reads numbers, as printed.
fn numbers<'a, const N: usize>(fields: &mut Fields<'a>) -> Result<[Cow<'a, [u8]>; N], Reason> {
    let mut numbers = [const { Cow::Borrowed(b"".as_slice()) }; N];
    for number in &mut numbers {
        *number = match fields.next()? {
            Some(Field::Word(word)) => content(word),
            Some(Field::Text(_)) => return Err(Reason::WrongFields),
            None => return Err(Reason::UnreadableRecord),
        };
        if !is_number(number) {
            return Err(Reason::WrongFields);
        }
    }
    Ok(numbers)
}

/// Returns whether a word is `12`, `-1`, `0.5` or `1e+06`.
fn is_number(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    digits.first().is_some_and(u8::is_ascii_digit)
        && digits
            .iter()
            .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(byte))
}
