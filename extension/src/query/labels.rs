//! Groups: the name of each, for people, and its labels, which are a filter for exactly this group.

use std::collections::{BTreeMap, HashMap, HashSet};

use jobstats_core::base::pattern::exactly;
use jobstats_core::output::quantity::{Quantity, Readable};
pub use jobstats_core::usage::Values as Group;
use pgrx::AnyNumeric;
use pgrx::spi::SpiClient;
use serde_json::Value;

use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;
use crate::pg::memory::require_room;
use crate::pg::spi::{Statements, values};
use crate::query::dimension::{By, Dimension, ValueType};
use crate::query::window::ROW_LIMIT;

/// The names of rows that are no group: all together, the remaining groups, and work in no entry.
pub const ALL: &str = "all";
pub const OTHERS: &str = "others";
pub const UNTRACKED: &str = "untracked";

/// Jobs as users type them, if the store has them under another number, such as elements of arrays; not if several jobs have had the number.
const TYPED: &str = "SELECT job.job, min(job.label) AS label FROM jobstats.job_ids job WHERE job.job = ANY ($1) AND job.label IS NOT NULL \
    GROUP BY job.job HAVING min(job.label) = max(job.label) AND min(job.label) <> job.job";

/// The memory that a job takes whose label is looked up.
const JOB_BYTES: usize = 256;

/// The dimensions of an answer, and how their values are shown.
pub struct Labels {
    by: By,
    /// The jobs that users type in another way than the store has them, such as elements of arrays.
    typed: HashMap<String, String>,
}

impl Labels {
    /// Takes the dimensions of an answer, and looks up how users type these jobs.
    pub fn new<'g>(
        client: &SpiClient<'_>,
        by: By,
        groups: impl Iterator<Item = &'g Group>,
    ) -> Result<Self, Error> {
        let mut jobs: HashSet<&str> = HashSet::new();
        for group in groups {
            let of_jobs = by.iter().zip(group).filter(|it| is_typed(it.0));
            jobs.extend(of_jobs.filter_map(|it| it.1.as_deref()));
        }
        let mut typed = HashMap::new();
        if !jobs.is_empty() {
            require_room(jobs.len(), JOB_BYTES)?;
            let jobs: Vec<String> = jobs.into_iter().map(str::to_owned).collect();
            for row in client.query(TYPED, &values![jobs])? {
                typed.insert(row.get("job")?, row.get("label")?);
            }
        }
        Ok(Self { by, typed })
    }

    /// Returns the name of a group: its values, or some of them, in the order of the dimensions. Empty values are left out.
    pub fn name(&self, group: &Group, which: Option<&[&str]>) -> String {
        if self.by.iter().next().is_none() {
            return ALL.to_owned();
        }
        let shown = self.values(group, which).map(|(dimension, value)| {
            let value = value.as_deref();
            value.map_or("-", |value| self.shown(dimension, value))
        });
        let shown: Vec<&str> = shown.filter(|it| !it.is_empty()).collect();
        shown.join(", ")
    }

    fn shown<'v>(&'v self, dimension: &Dimension, value: &'v str) -> &'v str {
        let typed = self.typed.get(value).filter(|_| is_typed(dimension));
        typed.map_or(value, String::as_str)
    }

    /// Returns the value of a dimension of a group.
    pub fn value<'g>(&self, group: &'g Group, dimension: &str) -> Option<&'g str> {
        let mut values = self.by.iter().zip(group);
        values.find(|it| it.0.name == dimension)?.1.as_deref()
    }

    /// Returns the labels of a group, or some of them, in the current memory context.
    pub fn labels(&self, group: &Group, which: Option<&[&str]>) -> Option<Jsonb<'static>> {
        let labels = self.values(group, which);
        let labels = labels.map(|(it, value)| (it.name.to_owned(), label(it, value.as_deref())));
        Jsonb::of(&Value::Object(labels.collect()))
    }

    fn values<'g>(
        &self,
        group: &'g Group,
        which: Option<&[&str]>,
    ) -> impl Iterator<Item = (&'static Dimension, &'g Option<String>)> {
        let is_wanted =
            move |it: &(&Dimension, _)| which.is_none_or(|which| which.contains(&it.0.name));
        self.by.iter().zip(group).filter(is_wanted)
    }
}

/// Returns whether users type values of a dimension, which may be in another way than the store has them.
fn is_typed(dimension: &Dimension) -> bool {
    matches!(dimension.name, "job" | "workload")
}

/// Returns a value as a label.
pub fn label(dimension: &Dimension, value: Option<&str>) -> Value {
    let Some(value) = value else {
        return Value::Null;
    };
    match (dimension.value_type, value.parse::<i64>()) {
        (ValueType::Number, Ok(number)) => number.into(),
        _ => exactly(value).into(),
    }
}

/// Divides a number by a unit, and returns a decimal number without trailing zeros.
pub fn decimal(parts: i128, unit: i128) -> Result<AnyNumeric, Error> {
    let sign = if parts < 0 { "-" } else { "" };
    let (whole, rest) = (parts.abs() / unit, parts.abs() % unit);
    let digits = unit.ilog10() as usize;
    let text = format!("{sign}{whole}.{rest:0digits$}");
    let text = match digits {
        0 => text.trim_end_matches(".0"),
        _ => text.trim_end_matches('0').trim_end_matches('.'),
    };
    AnyNumeric::try_from(text).map_err(Error::damaged_value)
}

/// Returns a number of an answer as people read it.
pub fn formatted(value: Option<f64>, operation: &str, quantity: Quantity) -> Option<String> {
    Some(Readable::new(value?, operation, quantity)?.to_string())
}

/// Returns a part of a whole with four decimals.
pub fn rounded(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}

/// Returns the coverage with four decimals: it is 1 only if complete.
pub fn covered(coverage: f64) -> f64 {
    ((coverage * 1e4) + 1e-6).floor() / 1e4
}

/// Returns the value of a group. [`lines`](jobstats_core::usage::Groups::lines) have reserved its memory. There are at most as many groups as an
/// answer has rows.
///
/// # Errors
/// [`Error::TooManyRows`]
pub fn held<T: Default>(groups: &mut BTreeMap<Group, T>, group: Group) -> Result<&mut T, Error> {
    if groups.len() >= ROW_LIMIT && !groups.contains_key(&group) {
        return Err(Error::TooManyRows);
    }
    Ok(groups.entry(group).or_default())
}
