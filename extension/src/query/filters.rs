//! Filters, which select targets, servers and entries by their dimensions.

use pgrx::datum::DatumWithOid;

use crate::pg::argument::require_pattern;
use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::query::dimension::{DIMENSIONS, Dimension, Level, ValueType};
use crate::query::params::Params;

/// The values of a filter, any of which must match.
#[derive(Clone)]
enum Values {
    /// LIKE patterns.
    Patterns(Vec<Option<String>>),
    Numbers(Vec<Option<i64>>),
}

impl Values {
    fn parameter(&self) -> DatumWithOid<'static> {
        match self {
            Self::Patterns(patterns) => patterns.clone().into(),
            Self::Numbers(numbers) => numbers.clone().into(),
        }
    }
}

/// The filters that are set.
#[derive(Default)]
pub struct Filters(Vec<(&'static Dimension, Values)>);

impl Filters {
    /// Takes the filters from the arguments of a function, which has one for each dimension.
    pub fn take(arguments: &mut Arguments<'_>) -> Result<Self, Error> {
        let mut filters = Vec::new();
        for dimension in DIMENSIONS {
            let values = match dimension.value_type {
                ValueType::Text => arguments.take()?.map(Values::Patterns),
                ValueType::Number => arguments.take()?.map(Values::Numbers),
            };
            filters.extend(values.map(|values| (dimension, values)));
        }
        Ok(Self(filters))
    }

    /// Adds the filter of the dimension of this name for a single pattern.
    pub fn only(self, name: &str, pattern: String) -> Self {
        self.any_of(name, Some(vec![Some(pattern)]))
    }

    /// Adds the filter of the dimension of this name, if there are patterns for it.
    pub fn any_of(mut self, name: &str, patterns: Option<Vec<Option<String>>>) -> Self {
        let dimension = DIMENSIONS.iter().find(|it| it.name == name);
        self.0.extend(dimension.zip(patterns.map(Values::Patterns)));
        self
    }

    /// Returns the values of the filter of the dimension of this name as texts, if it is set.
    pub fn values(&self, name: &str) -> Option<Vec<String>> {
        let (_, values) = self.0.iter().find(|(it, _)| it.name == name)?;
        Some(match values {
            Values::Patterns(patterns) => patterns.iter().flatten().cloned().collect(),
            Values::Numbers(numbers) => numbers.iter().flatten().map(i64::to_string).collect(),
        })
    }

    /// Returns the conditions on the dimensions of a level, each with a leading AND. The statement calls the table of the
    /// level `table`.
    pub fn conditions(&self, level: Level, table: &str, params: &Params) -> String {
        self.0
            .iter()
            .filter(|(dimension, _)| dimension.level == level)
            .map(|(dimension, values)| {
                let operator = match dimension.value_type {
                    ValueType::Text => "LIKE",
                    ValueType::Number => "=",
                };
                let column = dimension.column(table);
                let values = params.bind(dimension.name, || values.parameter());
                format!(" AND {column} {operator} ANY ({values})")
            })
            .collect()
    }

    /// Returns whether a dimension of this level is filtered.
    pub fn has(&self, level: Level) -> bool {
        self.chosen().any(|it| it.level == level)
    }

    /// Returns the dimensions that are filtered.
    pub fn chosen(&self) -> impl Iterator<Item = &'static Dimension> {
        self.0.iter().map(|(dimension, _)| *dimension)
    }

    /// Checks the patterns. PostgreSQL would report a bad pattern only when a row matches the pattern up to its bad
    /// end.
    ///
    /// # Errors
    /// [`Error::argument`] if a pattern ends with the escape character.
    pub fn require_patterns(&self) -> Result<(), Error> {
        for (_, values) in &self.0 {
            if let Values::Patterns(patterns) = values {
                let mut patterns = patterns.iter().flatten();
                patterns.try_for_each(|pattern| require_pattern(pattern))?;
            }
        }
        Ok(())
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
