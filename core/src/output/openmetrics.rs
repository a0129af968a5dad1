//! Text in the OpenMetrics format, which Prometheus and similar tools scrape.
//!
//! Families are gauges and counters, because every reader knows these types. Readers of Prometheus' older text format
//! reject a file because of a single type that they do not know. They take a counter of OpenMetrics, whose samples have
//! a longer name than the family, as a metric without a type.

use thiserror::Error;

#[cfg(test)]
mod tests;

/// An error that prevents writing the text.
#[derive(Debug, Error)]
pub enum ExpositionError {
    /// There is not enough memory for so many bytes.
    #[error("out of memory: could not allocate {0} bytes")]
    Memory(usize),
}

/// The units, which the names of families end in.
const UNITS: [&str; 5] = [
    "_requests_per_second",
    "_calls_per_second",
    "_bytes_per_second",
    "_bytes",
    "_seconds",
];

/// A text under construction.
#[derive(Debug, Default)]
pub struct Exposition {
    text: String,
    family: &'static str,
    /// The end of the names of samples, after the name of the family.
    suffix: &'static str,
}

impl Exposition {
    /// Begins a family of gauges, to which the following samples belong. A name that ends in a unit has it.
    pub fn gauge(&mut self, name: &'static str, help: &str) -> Result<(), ExpositionError> {
        self.suffix = "";
        self.family(name, "gauge", help)
    }

    /// Begins a family of counters, to which the following samples belong. The names of samples end in `_total`, which
    /// the name of the family lacks.
    pub fn counter(&mut self, name: &'static str, help: &str) -> Result<(), ExpositionError> {
        self.suffix = "_total";
        self.family(name, "counter", help)
    }

    fn family(
        &mut self,
        name: &'static str,
        kind: &str,
        help: &str,
    ) -> Result<(), ExpositionError> {
        self.family = name;
        self.push(&["# TYPE ", name, " ", kind, "\n"])?;
        if let Some(unit) = UNITS.iter().find(|unit| name.ends_with(*unit)) {
            self.push(&["# UNIT ", name, " ", &unit[1..], "\n"])?;
        }
        self.push(&["# HELP ", name, " "])?;
        self.push_escaped(help)?;
        self.push(&["\n"])
    }

    /// Adds a sample. Labels with an empty value are left out, which means the same in OpenMetrics.
    pub fn sample<'a>(
        &mut self,
        labels: impl IntoIterator<Item = (&'static str, &'a str)>,
        value: f64,
    ) -> Result<(), ExpositionError> {
        self.push(&[self.family, self.suffix])?;
        let mut before = "{";
        for (name, value) in labels.into_iter().filter(|it| !it.1.is_empty()) {
            self.push(&[before, name, "=\""])?;
            self.push_escaped(value)?;
            self.push(&["\""])?;
            before = ",";
        }
        let end = if before == "," { "} " } else { " " };
        self.push(&[end, &number(value), "\n"])
    }

    /// Adds samples, each with its labels.
    pub fn samples<'a, L: IntoIterator<Item = (&'static str, &'a str)>>(
        &mut self,
        samples: impl IntoIterator<Item = (L, f64)>,
    ) -> Result<(), ExpositionError> {
        let mut samples = samples.into_iter();
        samples.try_for_each(|(labels, value)| self.sample(labels, value))
    }

    /// Ends the text without the last newline. The newline is optional, and psql and other tools add one, after which
    /// no other may come.
    pub fn finish(mut self) -> Result<String, ExpositionError> {
        self.push(&["# EOF"])?;
        Ok(self.text)
    }

    fn push(&mut self, parts: &[&str]) -> Result<(), ExpositionError> {
        self.reserve(parts.iter().map(|part| part.len()).sum())?;
        self.text.extend(parts.iter().copied());
        Ok(())
    }

    fn push_escaped(&mut self, value: &str) -> Result<(), ExpositionError> {
        // Every byte becomes two at most.
        self.reserve(value.len().saturating_mul(2))?;
        for character in value.chars() {
            match character {
                '\\' => self.text.push_str("\\\\"),
                '"' => self.text.push_str("\\\""),
                '\n' => self.text.push_str("\\n"),
                other => self.text.push(other),
            }
        }
        Ok(())
    }

    fn reserve(&mut self, more: usize) -> Result<(), ExpositionError> {
        let room = self.text.try_reserve(more);
        room.map_err(|_| ExpositionError::Memory(self.text.len().saturating_add(more)))
    }
}

/// Formats a number in digits alone, without an exponent, as every reader accepts it.
fn number(value: f64) -> String {
    match value {
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        _ => value.to_string(),
    }
}
