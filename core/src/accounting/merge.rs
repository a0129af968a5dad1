//! Merges the records of one submission of a job into its stored rows, so that the order of the texts does not matter.
//!
//! Schedulers report a job again and again, texts overlap, arrive late or are read a second time. Any order of any
//! subset of texts, merged at once or record by record with the rows stored in between, ends in the same rows.
//!
//! # The law
//!
//! A submission is all that has one scheduler, job, label and time of submission. Its rows are its [`Form`]s: the runs,
//! or a single form without a start, which waits for the first one and goes when a run is known.
//!
//! 1. **A value has a rank and a time.** Its rank is the rank of its record: the end is known, or else a start, or
//!    neither. Its time is the time of its text. The value of the highest rank counts, then the value of the latest text,
//!    then the greatest value. An unknown value never replaces another one. Each name in `extra` is a separate value.
//! 2. **Starts within one second are one start.** The values of all records of a start are collected by rule 1, whatever
//!    becomes of rule 3.
//! 3. **Starts are one run** if they follow the first of them by less than a minute and the run had not ended before. An
//!    unknown end is later than any start. The row of a run collects its starts by rule 1, including the time of the
//!    start itself.
//! 4. **A form without a start is dropped** with all its values as soon as a run is known.
//!
//! Rules 1, 2 and 4 choose a greatest value or drop something for good, which no order changes. Rule 3 is not like that:
//! an end that becomes known can part two starts that looked like one run. So it is never applied to stored runs, but
//! anew each time to the values of each start.
//!
//! # Stored rows
//!
//! A row has the values, the time of the latest text of its rank (`updated`), and a [`Provenance`], which is empty for
//! nearly all rows. It names the values that come from an earlier text or a lower rank than the row, because the latest
//! text left them out. And if a run has several starts, it holds the values of each, at most 60 of them.
//!
//! # Texts without news
//!
//! A later text that repeats a row moves `updated` ([`Change::Confirmed`]). The time matters: if the texts of noon and of
//! two o'clock have 1, a late text of one o'clock with 2 must not win, and a row with only the time of noon could not
//! show that. There are two ways to obey the law, and a caller may mix them:
//!
//! - Store rows that are confirmed, too. Then no other state is needed. Nearly all records of overlapping texts repeat
//!   the only row of their submission: [`repeated`] detects this without merging, and only the time is stored.
//! - Do not store them. Then a text that is not later than all before must be merged together with all texts that are
//!   not earlier than it, in one call. The values of the rows are the same.

mod atom;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use atom::{Atom, Start, start_of};
use serde::{Deserialize, Serialize};

pub use atom::{Column, Form, Value};

use super::Job;
use crate::base::instant::Micros;

/// The number of seconds within which starts are one run.
const JITTER: i64 = 60;

/// The rank of a record: how much it knows of the life of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Rank {
    /// The record knows neither a start nor an end.
    #[serde(rename = "w")]
    Waiting,
    /// The record knows the start.
    #[serde(rename = "s")]
    Started,
    /// The record knows the end.
    #[serde(rename = "e")]
    Ended,
}

impl Rank {
    /// Returns the rank of a record with such a start and end.
    const fn of(started: Option<Micros>, ended: Option<Micros>) -> Self {
        match (started, ended) {
            (_, Some(_)) => Self::Ended,
            (Some(_), None) => Self::Started,
            (None, None) => Self::Waiting,
        }
    }
}

/// The origin of the values of a row, where it is not the rank and time of the row itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// Ranks and times of values by their names; names in `extra` begin with `extra.`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<String, (Rank, Micros)>,
    /// The rows that each start would have alone, if the run has several starts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    starts: Vec<Form>,
}

impl Provenance {
    /// Returns whether the provenance is empty.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.starts.is_empty()
    }

    /// Returns the JSON to store; `None` if it is empty, as in nearly all rows.
    pub fn to_json(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        serde_json::to_string(self).ok()
    }

    /// Reads a stored provenance; `None` if [`Provenance::to_json`] does not write such a text.
    pub fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
}

/// The task that a merge leaves for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// There is no row with this start yet.
    New,
    /// A value or a start of the row is new, or another one, or of a higher rank. Or another start is less than a minute
    /// away.
    Changed,
    /// The values of the row are unchanged in a later text: only times of texts are new.
    Confirmed,
    /// The row is as it was.
    Same,
}

/// The rows of a submission.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// All rows by their start, with the change that each needs.
    pub forms: Vec<(Form, Change)>,
    /// The starts of stored rows that are to be deleted; `None` is the row without a start.
    pub gone: Vec<Option<Micros>>,
}

/// Merges records of one submission, each with the time of its text, into all stored rows of that submission.
pub fn merge(stored: &[Form], records: &[(Job<'_>, Micros)]) -> Merged {
    let mut known = BTreeMap::new();
    for form in stored {
        for atom in Atom::of_form(form) {
            add(&mut known, atom);
        }
    }
    for (job, text) in records {
        add(&mut known, Atom::of_job(job, *text));
    }
    if known.len() > 1 {
        known.remove(&None);
    }
    let starts: Vec<Start> = known.keys().copied().collect();
    let mut rest: BTreeMap<_, _> = stored.iter().map(|form| (form.started, form)).collect();
    let forms = runs(known).into_iter().map(|run| {
        let form = form(run);
        let change = match change(rest.remove(&form.started), &form) {
            Change::Confirmed if !is_alone(&form, &starts) => Change::Changed,
            change => change,
        };
        (form, change)
    });
    Merged {
        forms: forms.collect(),
        gone: rest.into_keys().collect(),
    }
}

/// Returns the change that [`merge`] would make to the only stored row of a submission, if the only record has exactly the values of
/// the row; `None` if it is not so simple. If the row is confirmed, the time of the text is its only change.
pub fn repeated(stored: &Form, job: &Job<'_>, text: Micros) -> Option<Change> {
    let is_equal =
        stored.provenance.is_empty() && stored.has_values_of(job) && has_all(job, &stored.extra);
    is_equal.then_some(if text > stored.updated {
        Change::Confirmed
    } else {
        Change::Same
    })
}

/// Returns whether a record has just these names in `extra`, with these values. Rows have each name once.
fn has_all(job: &Job<'_>, extra: &BTreeMap<String, String>) -> bool {
    let is_same = |(name, text): (&String, &String)| {
        let mut values = job.extra.iter();
        values.any(|(it, value)| it == name && value == text)
    };
    extra.len() == job.extra.len() && extra.iter().all(is_same)
}

/// Returns whether no other start is so near that both could be one run. Among such starts the times of texts decide.
fn is_alone(form: &Form, starts: &[Start]) -> bool {
    let Some(second) = start_of(form.started) else {
        return true;
    };
    let first = starts.partition_point(|start| *start <= Some(second - JITTER));
    let behind = starts.partition_point(|start| *start < Some(second + JITTER));
    behind - first == 1
}

/// Adds the values of a start.
fn add(known: &mut BTreeMap<Start, Atom>, atom: Atom) {
    match known.remove(&atom.start()) {
        Some(other) => known.insert(atom.start(), other.join(atom)),
        None => known.insert(atom.start(), atom),
    };
}

/// Divides starts into runs.
fn runs(known: BTreeMap<Start, Atom>) -> Vec<Vec<Atom>> {
    let mut runs: Vec<Vec<Atom>> = Vec::new();
    for atom in known.into_values() {
        match runs.last_mut() {
            Some(run) if belongs(run, &atom) => run.push(atom),
            _ => runs.push(vec![atom]),
        }
    }
    runs
}

/// Returns whether a start belongs to a run whose starts are all earlier.
fn belongs(run: &[Atom], next: &Atom) -> bool {
    let (Some(first), Some(second)) = (run.first().and_then(Atom::start), next.start()) else {
        return false;
    };
    let had_ended = |started| {
        run.iter()
            .all(|atom| atom.ended().is_some_and(|ended| ended <= started))
    };
    second - first < JITTER && next.started().is_some_and(|started| !had_ended(started))
}

/// Returns the row of a run.
fn form(mut run: Vec<Atom>) -> Form {
    if run.len() == 1 {
        return run.pop().map(Atom::into_form).unwrap_or_default();
    }
    let starts: Vec<Form> = run.iter().cloned().map(Atom::into_form).collect();
    let mut form = run
        .into_iter()
        .reduce(Atom::join)
        .map(Atom::into_form)
        .unwrap_or_default();
    form.provenance = Provenance {
        values: BTreeMap::new(),
        starts,
    };
    form
}

/// Returns the change that a row needs.
fn change(stored: Option<&Form>, form: &Form) -> Change {
    let Some(stored) = stored else {
        return Change::New;
    };
    if stored == form {
        return Change::Same;
    }
    if values(stored) == values(form) {
        Change::Confirmed
    } else {
        Change::Changed
    }
}

/// Returns a row without the times of texts. The ranks of its values stay.
fn values(form: &Form) -> Form {
    let own = Rank::of(form.started, form.ended);
    let origins = form.provenance.values.iter();
    let ranks = origins
        .filter(|(_, (rank, _))| *rank != own)
        .map(|(name, (rank, _))| (name.clone(), (*rank, 0)));
    Form {
        updated: 0,
        provenance: Provenance {
            values: ranks.collect(),
            starts: form.provenance.starts.iter().map(values).collect(),
        },
        ..form.clone()
    }
}
