//! Reads the text that exporters print for Prometheus: version 0.0.4 of its text format, and OpenMetrics 1.0.
//!
//! A text whose last line is `# EOF` is OpenMetrics, in which times are seconds; in the older format they are milliseconds. All else is
//! read in the same way. A line that cannot be used costs no other line.
//!
//! ```
//! use jobstats_core::text::openmetrics::read;
//! use jobstats_core::base::pause::Pause;
//!
//! let text = b"# TYPE node_rapl_package_joules_total counter\nnode_rapl_package_joules_total{path=\"/sys/a\"} 4.5e4\n";
//! let contents = read(text, |name| name.starts_with("node_rapl_"), Pause::NEVER)?;
//! let sample = &contents.samples[0];
//! assert_eq!((sample.value, sample.is_counter, &*sample.labels["path"]), (45_000.0, true, "/sys/a"));
//! # Ok::<(), std::collections::TryReserveError>(())
//! ```

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, TryReserveError};

use crate::base::instant::{Micros, SECOND};
use crate::base::pause::Pause;
use crate::base::try_vec::push;
use crate::text::field::{FIRST_LINES, lines, words};

/// The largest number of bytes of a line. Names and labels of a usable line have a few kilobytes.
const LINE_MAX: usize = 64 << 10;

/// The largest number of bytes of a name.
const NAME_MAX: usize = 200;

/// The largest value. Larger ones stand for "no limit", and as many of them as a day has readings could not be added up.
const LARGEST: f64 = 1e290;

/// The size of the beginning of a text that is searched to recognize it.
const BEGINNING: usize = 64 << 10;

/// The largest number of labels of a sample.
const LABELS_MAX: usize = 32;

/// The largest number of bytes of the names and values of the labels of a sample. A row of an index has room for them.
const LABEL_BYTES_MAX: usize = 1_024;

/// The largest number of samples that are wanted of a text.
const SAMPLES_MAX: usize = 10_000;

/// The largest number of names of a text.
const NAMES_MAX: usize = 100_000;

/// The number of problems that are listed. Further ones are only counted.
const PROBLEMS_MAX: usize = 1_000;

crate::named! {
    /// The reason why a line could not be used.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Reason {
        /// The line is neither a comment nor a sample, or it is not UTF-8.
        UnreadableLine = "unreadable line",
        /// The line has over 64 KiB.
        LongLine = "long line",
        /// The name has over 200 bytes.
        LongName = "long name",
        /// The labels cannot be read, or one of them has two values.
        BadLabels = "bad labels",
        /// There are over 32 labels, or over 1,024 bytes of them.
        LongLabels = "long labels",
        /// The value is not a number, or it is a counter below zero.
        BadNumber = "bad number",
        /// The time is not a number of the format.
        BadTime = "bad time",
        /// The line `# TYPE` has no name, or a type that does not exist.
        BadType = "bad type",
        /// A line before has the same name, labels and time.
        Repeated = "repeated series",
        /// The text has over 10,000 samples that are wanted.
        TooManySeries = "too many series",
    }
    /// Returns a short code that stays the same in all versions.
    pub fn code;
}

/// A line that could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Problem<'a> {
    /// The line in the text, counted from 1.
    pub line: u32,
    /// The reason.
    pub reason: Reason,
    /// The text of the line.
    pub text: &'a [u8],
}

/// The value of a series at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample<'a> {
    /// The name. A histogram or a summary has several: `…_bucket`, `…_sum`, `…_count`.
    pub name: &'a str,
    /// The labels that have a value.
    pub labels: BTreeMap<&'a str, Cow<'a, str>>,
    /// True if the value only grows, and begins again at zero.
    pub is_counter: bool,
    /// The value, a finite number.
    pub value: f64,
    /// The time, if the text has one.
    pub time: Option<Micros>,
    /// The line in the text, counted from 1.
    pub line: u32,
}

/// The samples of the wanted names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contents<'a> {
    /// The newest sample of each series that is wanted, in the order of the text.
    pub samples: Vec<Sample<'a>>,
    /// The number of samples whose names are not wanted.
    pub unwanted: u64,
    /// The number of wanted samples without a value: NaN or infinite.
    pub without_value: u64,
    /// The lines that could not be used, the first thousand of them.
    pub problems: Vec<Problem<'a>>,
    /// The number of lines that could not be used.
    pub problems_found: u64,
}

impl<'a> Contents<'a> {
    fn report(&mut self, line: (u32, &'a [u8]), reason: Reason) -> Result<(), TryReserveError> {
        self.problems_found += 1;
        if self.problems.len() < PROBLEMS_MAX {
            let (line, text) = line;
            push(&mut self.problems, Problem { line, reason, text })?;
        }
        Ok(())
    }
}

/// Returns whether a text looks like the output of an exporter: one of its first ten lines describes a metric.
pub fn recognizes(text: &[u8]) -> bool {
    let text = text.get(..BEGINNING).unwrap_or(text);
    let first = lines(text, Pause::NEVER).filter(|(_, line)| !line.trim_ascii().is_empty());
    let mut first = first.take(FIRST_LINES);
    first.any(|(_, line)| {
        let mut words = words(line);
        words.next() == Some(b"#") && matches!(words.next(), Some(b"TYPE" | b"HELP" | b"UNIT"))
    })
}

/// Returns the names of the samples of a text, the first hundred thousand of them.
pub fn names<'a>(text: &'a [u8], pause: Pause<'_>) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for (_, line) in lines(text, pause) {
        if names.len() < NAMES_MAX
            && line.len() <= LINE_MAX
            && let Ok((name, _)) = name(line.trim_ascii())
            && name.len() <= NAME_MAX
        {
            names.insert(name);
        }
    }
    names
}

/// Reads the samples of a text whose names are wanted.
///
/// # Errors
/// [`TryReserveError`] if there is not enough memory.
pub fn read<'a>(
    text: &'a [u8],
    wanted: impl Fn(&str) -> bool,
    pause: Pause<'_>,
) -> Result<Contents<'a>, TryReserveError> {
    let is_open = is_open(text);
    let (mut contents, mut family) = (Contents::default(), None);
    let mut places = HashMap::new();
    for line in lines(text, pause) {
        let shown = line.1.trim_ascii();
        if shown.is_empty() {
            continue;
        }
        let read = if line.1.len() > LINE_MAX {
            Err(Reason::LongLine)
        } else if shown.starts_with(b"#") {
            typed(shown).map(|typed| family = typed.or(family.take()))
        } else {
            match sample(line, family, is_open) {
                Ok(sample) if !wanted(sample.name) => {
                    contents.unwanted += 1;
                    Ok(())
                }
                Ok(sample) if sample.value.is_nan() || sample.value.abs() > LARGEST => {
                    contents.without_value += 1;
                    Ok(())
                }
                Ok(sample) => add(&mut contents.samples, &mut places, sample)?,
                Err(reason) => Err(reason),
            }
        };
        if let Err(reason) = read {
            contents.report(line, reason)?;
        }
    }
    Ok(contents)
}

type Places<'a> = HashMap<(&'a str, BTreeMap<&'a str, Cow<'a, str>>), usize>;

/// Adds a sample, in the place of an older one of the same series.
fn add<'a>(
    samples: &mut Vec<Sample<'a>>,
    places: &mut Places<'a>,
    sample: Sample<'a>,
) -> Result<Result<(), Reason>, TryReserveError> {
    let key = (sample.name, sample.labels.clone());
    // A sample without a time is of the time of the text.
    let time = |sample: &Sample<'_>| sample.time.unwrap_or(Micros::MAX);
    let is_full = samples.len() == SAMPLES_MAX;
    match places.get(&key).and_then(|place| samples.get_mut(*place)) {
        Some(known) if time(known) == time(&sample) => return Ok(Err(Reason::Repeated)),
        Some(known) if time(known) < time(&sample) => *known = sample,
        Some(_) => {}
        None if is_full => return Ok(Err(Reason::TooManySeries)),
        None => {
            places.try_reserve(1)?;
            places.insert(key, samples.len());
            push(samples, sample)?;
        }
    }
    Ok(Ok(()))
}

/// Returns whether a text ends as OpenMetrics does.
fn is_open(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    let last = memchr::memrchr(b'\n', text).map_or(0, |end| end + 1);
    words(&text[last..]).eq([&b"#"[..], b"EOF"])
}

/// The type of a metric, which determines which of its names count up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Counter,
    /// A histogram or a summary.
    Distribution,
    Gauge,
    Unknown,
}

/// Reads a comment. Returns the name and the type of the metric that it begins; `None` if the metric before goes on.
fn typed(line: &[u8]) -> Result<Option<(&str, Type)>, Reason> {
    let mut words = words(line).skip(1);
    if words.next() != Some(b"TYPE") {
        return Ok(None);
    }
    let (name, rest) = name(words.next().unwrap_or_default()).map_err(|_| Reason::BadType)?;
    let kind = match words.next() {
        Some(b"counter") => Type::Counter,
        Some(b"histogram" | b"summary") => Type::Distribution,
        Some(b"gauge" | b"gaugehistogram" | b"info" | b"stateset") => Type::Gauge,
        Some(b"untyped" | b"unknown") => Type::Unknown,
        _ => return Err(Reason::BadType),
    };
    let is_all = rest.is_empty() && words.next().is_none();
    is_all.then_some(Some((name, kind))).ok_or(Reason::BadType)
}

/// Returns whether a name counts up. For unknown types, the name decides.
fn is_counter(name: &str, family: Option<(&str, Type)>) -> bool {
    let of_family = family.and_then(|(family, kind)| Some((kind, name.strip_prefix(family)?)));
    match of_family {
        Some((Type::Counter, "" | "_total")) => true,
        Some((Type::Distribution, "_bucket" | "_sum" | "_count")) => true,
        Some((Type::Gauge | Type::Distribution, "")) => false,
        _ => name.ends_with("_total"),
    }
}

/// Reads a line `name{label="value"} 1.5 1520879607789 # {} 1`. What follows the last `#` is an example of a value.
fn sample<'a>(
    (line, printed): (u32, &'a [u8]),
    family: Option<(&str, Type)>,
    is_open: bool,
) -> Result<Sample<'a>, Reason> {
    let (name, rest) = name(printed.trim_ascii())?;
    if name.len() > NAME_MAX {
        return Err(Reason::LongName);
    }
    let rest = std::str::from_utf8(rest).map_err(|_| Reason::UnreadableLine)?;
    let (labels, rest) = match rest.trim_start().strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (BTreeMap::new(), rest),
    };
    let mut words = rest.split_ascii_whitespace();
    let value = words.next().ok_or(Reason::UnreadableLine)?;
    let value: f64 = value.parse().map_err(|_| Reason::BadNumber)?;
    let is_counter = is_counter(name, family);
    if is_counter && value < 0.0 {
        return Err(Reason::BadNumber);
    }
    let mut words = words.take_while(|word| !word.starts_with('#'));
    let time = words.next().map(|time| micros(time, is_open)).transpose()?;
    if words.next().is_some() {
        return Err(Reason::UnreadableLine);
    }
    Ok(Sample {
        name,
        labels,
        is_counter,
        value,
        time,
        line,
    })
}

/// Splits a line at the end of the name of its sample.
fn name(line: &[u8]) -> Result<(&str, &[u8]), Reason> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:".contains(byte);
    let end = line.iter().position(|byte| !is_part(byte));
    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
    let is_name = name.first().is_some_and(|first| !first.is_ascii_digit());
    let is_whole = matches!(rest.first(), None | Some(b' ' | b'\t' | b'{'));
    let name = std::str::from_utf8(name).ok();
    name.filter(|_| is_name && is_whole)
        .map(|name| (name, rest))
        .ok_or(Reason::UnreadableLine)
}

/// Reads labels up to the closing brace, and returns what follows. A label without a value is ignored.
fn labels(mut rest: &str) -> Result<(BTreeMap<&str, Cow<'_, str>>, &str), Reason> {
    let (mut labels, mut seen, mut bytes) = (BTreeMap::new(), 0, 0);
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            return Ok((labels, after));
        }
        let (name, after) = rest.split_once('=').ok_or(Reason::BadLabels)?;
        let name = name.trim_end();
        let after = after.trim_start().strip_prefix('"');
        let (value, after) = after.and_then(quoted).ok_or(Reason::BadLabels)?;
        seen += 1;
        bytes += name.len() + value.len();
        if seen > LABELS_MAX || bytes > LABEL_BYTES_MAX {
            return Err(Reason::LongLabels);
        }
        let is_value = !value.contains('\0');
        let is_new = value.is_empty() || labels.insert(name, value).is_none();
        if !(is_label(name) && is_value && is_new) {
            return Err(Reason::BadLabels);
        }
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(after) => after,
            None if after.starts_with('}') => after,
            None => return Err(Reason::BadLabels),
        };
    }
}

fn is_label(name: &str) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let name = name.as_bytes();
    name.first().is_some_and(|first| !first.is_ascii_digit()) && name.iter().all(is_part)
}

/// Reads a value up to the closing quotation mark, and returns what follows; `None` if it has no end. A backslash before any other
/// character is literal.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let (mut value, mut rest) = (Cow::Borrowed(""), text);
    loop {
        let at = rest.find(['"', '\\'])?;
        let (part, after) = rest.split_at(at);
        value += part;
        if let Some(after) = after.strip_prefix('"') {
            return Some((value, after));
        }
        let escaped = after.get(1..)?;
        (value, rest) = match escaped.as_bytes().first()? {
            b'n' => (value + "\n", &escaped[1..]),
            b'\\' => (value + "\\", &escaped[1..]),
            b'"' => (value + "\"", &escaped[1..]),
            _ => (value + "\\", escaped),
        };
    }
}

/// Reads the time of a sample.
fn micros(time: &str, is_open: bool) -> Result<Micros, Reason> {
    const MILLISECOND: Micros = SECOND / 1_000;
    let time = if is_open {
        let micros = time.parse::<f64>().ok().map(|time| (time * 1e6).round());
        let micros = micros.filter(|micros| micros.abs() < 1e18);
        micros.map(|micros| micros as Micros)
    } else {
        let time = time.parse::<Micros>().ok();
        time.and_then(|time| time.checked_mul(MILLISECOND))
    };
    time.ok_or(Reason::BadTime)
}
