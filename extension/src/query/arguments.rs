//! The arguments that reading functions have in common.

use pgrx::datum::{DatumWithOid, Interval, TimestampWithTimeZone};

use crate::pg::argument::Short;
use crate::pg::argument::require_pattern;
use crate::pg::error::Error;
use crate::query::dimension::{ALL, Dimension, Level, TEXTS};

/// An argument of type `text[]`.
pub type Texts = Option<Short<Vec<Option<String>>>>;

/// An argument of type `bigint[]`.
pub type Ids = Option<Short<Vec<Option<i64>>>>;

/// The window that is asked for. A field that is `None` has its default.
#[derive(Default)]
pub struct Period {
    /// The start, which is not part of the window.
    pub since: Option<TimestampWithTimeZone>,
    /// The end, which is part of the window.
    pub until: Option<TimestampWithTimeZone>,
    /// The width of the steps; `None` for one row for the window.
    pub step: Option<Interval>,
    /// Set if the window is not cut to the time up to which it has been observed so far.
    pub fixed: bool,
}

/// The filters, in the order of [`ALL`].
#[derive(Default)]
pub struct Filters {
    /// LIKE patterns, any of which must match.
    pub texts: [Texts; TEXTS],
    /// User ids, one of which must match.
    pub uid: Ids,
}

impl Filters {
    /// Returns the conditions on the dimensions of a level, each with a leading AND. `parameter` is the number of the
    /// first filter among the statement's parameters.
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

    /// Returns whether a dimension of this level is filtered.
    pub fn has(&self, level: Level) -> bool {
        self.chosen().any(|it| it.level() == level)
    }

    /// Returns the dimensions that are filtered.
    pub fn chosen(&self) -> impl Iterator<Item = Dimension> {
        let dimensions = ALL.iter().enumerate();
        dimensions.filter_map(|(position, it)| self.is_set(position).then_some(*it))
    }

    /// Checks the patterns. PostgreSQL would report a bad pattern only when a row matches the pattern up to its bad
    /// end.
    ///
    /// # Errors
    /// [`Error::argument`] if a pattern ends with the escape character.
    pub fn require_patterns(&self) -> Result<(), Error> {
        let lists = self.texts.iter().flatten();
        let mut patterns = lists.flat_map(|list| list.iter().flatten());
        patterns.try_for_each(|pattern| require_pattern(pattern))
    }

    /// Returns all filters, set or not, as parameters of a statement.
    pub fn parameters(&self) -> impl Iterator<Item = DatumWithOid<'static>> {
        let texts = self
            .texts
            .iter()
            .map(|list| list.as_deref().cloned().into());
        texts.chain([self.uid.as_deref().cloned().into()])
    }

    /// Sets the filter of a dimension to a single pattern.
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

/// Returns the LIKE pattern that only this text matches.
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
