//! The arguments that reading functions have in common.

use pgrx::datum::{DatumWithOid, Interval, TimestampWithTimeZone};

use crate::error::{Error, shown};
use crate::reading::dimension::{ALL, Dimension, Level, TEXTS};
use crate::short::Short;

/// An argument of type `text[]`.
pub type Texts = Option<Short<Vec<Option<String>>>>;

/// An argument of type `bigint[]`.
pub type Ids = Option<Short<Vec<Option<i64>>>>;

/// The window as asked for; what is NULL has its default.
#[derive(Default)]
pub struct Period {
    /// Its start, which does not belong to it.
    pub since: Option<TimestampWithTimeZone>,
    /// Its end.
    pub until: Option<TimestampWithTimeZone>,
    /// The width of steps; NULL: one row for the window.
    pub step: Option<Interval>,
    /// Whether it is as it is, also where not all of it has been observed yet.
    pub fixed: bool,
}

/// The filters, in the order of [`ALL`].
#[derive(Default)]
pub struct Filters {
    /// Patterns for LIKE, any of which must match.
    pub texts: [Texts; TEXTS],
    /// User ids, any of which must be met.
    pub uid: Ids,
}

impl Filters {
    /// Conditions on the dimensions of a level, with a leading AND each. `parameter` is the number of the first filter
    /// among the statement's parameters.
    pub fn conditions(&self, level: Level, parameter: usize) -> String {
        let of_level = ALL.iter().enumerate().filter(|(_, it)| it.level() == level);
        of_level
            .filter(|(position, _)| self.is_set(*position))
            .map(|(position, dimension)| {
                let (column, number) = (dimension.column(), parameter + position);
                match dimension {
                    Dimension::Uid => format!(" AND {column} = ANY (${number})"),
                    _ => format!(" AND {column} LIKE ANY (${number})"),
                }
            })
            .collect()
    }

    /// Whether a dimension of this level is filtered.
    pub fn has(&self, level: Level) -> bool {
        self.chosen().any(|it| it.level() == level)
    }

    /// The dimensions that are filtered.
    pub fn chosen(&self) -> impl Iterator<Item = Dimension> {
        let dimensions = ALL.iter().enumerate();
        dimensions.filter_map(|(position, it)| self.is_set(position).then_some(*it))
    }

    /// Fails where a pattern is none. PostgreSQL would say so only where it meets a row that matches up to there.
    pub fn require_patterns(&self) -> Result<(), Error> {
        let lists = self.texts.iter().flatten();
        let mut patterns = lists.flat_map(|list| list.iter().flatten());
        patterns.try_for_each(|pattern| require_pattern(pattern))
    }

    /// All filters, set or not, as parameters of a statement.
    pub fn parameters(&self) -> impl Iterator<Item = DatumWithOid<'static>> {
        let texts = self
            .texts
            .iter()
            .map(|list| list.as_deref().cloned().into());
        texts.chain([self.uid.as_deref().cloned().into()])
    }

    /// Also lets only what is LIKE this pattern through.
    pub fn only(mut self, dimension: Dimension, pattern: String) -> Self {
        let place = ALL.iter().position(|it| *it == dimension);
        if let Some(patterns) = place.and_then(|position| self.texts.get_mut(position)) {
            *patterns = Some(Short(vec![Some(pattern)]));
        }
        self
    }

    fn is_set(&self, position: usize) -> bool {
        match self.texts.get(position) {
            Some(patterns) => patterns.is_some(),
            None => self.uid.is_some(),
        }
    }
}

/// Fails for what is no pattern for LIKE.
pub fn require_pattern(pattern: &str) -> Result<(), Error> {
    let escapes = pattern.bytes().rev().take_while(|&byte| byte == b'\\');
    if escapes.count() % 2 == 0 {
        return Ok(());
    }
    Err(Error::argument(
        format!(
            "pattern \"{}\" ends with the escape character",
            shown(pattern)
        ),
        r"It is a LIKE pattern: write \\ for a backslash.",
    ))
}

/// The pattern that this text alone is LIKE.
pub fn exactly(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '%' | '_') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}
