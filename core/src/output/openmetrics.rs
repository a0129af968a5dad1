//! Text in the OpenMetrics format, which Prometheus and similar tools scrape.
//!
//! Families are gauges and counters, because every reader knows these types. Readers of Prometheus' older text format
//! reject a file because of a single type that they do not know. They take a counter of OpenMetrics, whose samples have
//! a longer name than the family, as a metric without a type.

use std::fmt::Write as _;

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
    labels: String,
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
        push_escaped(&mut self.text, help)?;
        self.push(&["\n"])
    }

    /// Adds a sample. Labels with an empty value are left out, which means the same in OpenMetrics.
    pub fn sample<'a>(
        &mut self,
        labels: impl IntoIterator<Item = (&'static str, &'a str)>,
        value: f64,
    ) -> Result<(), ExpositionError> {
        self.labels.clear();
        for (name, value) in labels {
            if value.is_empty() {
                continue;
            }
            let before = if self.labels.is_empty() { "{" } else { "," };
            push(&mut self.labels, &[before, name, "=\""])?;
            push_escaped(&mut self.labels, value)?;
            push(&mut self.labels, &["\""])?;
        }
        if !self.labels.is_empty() {
            push(&mut self.labels, &["}"])?;
        }
        let name = [self.family, self.suffix, &self.labels];
        push(&mut self.text, &name)?;
        self.push(&[" ", number(value).as_str(), "\n"])
    }

    /// Ends the text without the last newline. The newline is optional, and psql and other tools add one, after which
    /// no other may come.
    pub fn finish(mut self) -> Result<String, ExpositionError> {
        self.push(&["# EOF"])?;
        Ok(self.text)
    }

    fn push(&mut self, parts: &[&str]) -> Result<(), ExpositionError> {
        push(&mut self.text, parts)
    }
}

fn reserve(text: &mut String, more: usize) -> Result<(), ExpositionError> {
    text.try_reserve(more)
        .map_err(|_| ExpositionError::Memory(text.len().saturating_add(more)))
}

fn push(text: &mut String, parts: &[&str]) -> Result<(), ExpositionError> {
    reserve(text, parts.iter().map(|part| part.len()).sum())?;
    text.extend(parts.iter().copied());
    Ok(())
}

fn push_escaped(text: &mut String, value: &str) -> Result<(), ExpositionError> {
    // Every byte becomes two at most.
    reserve(text, value.len().saturating_mul(2))?;
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
    Ok(())
}

/// Formats a number in digits alone, without an exponent, as every reader accepts it.
fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned()
    } else {
        let mut digits = String::new();
        // Writing to a String does not fail.
        let _ = write!(digits, "{value}");
        digits
    }
}
