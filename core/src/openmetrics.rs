//! Text as OpenMetrics defines it, for what Prometheus and its kin scrape.
//!
//! All families are gauges: that type alone is known to every reader, also to those of Prometheus' older text format,
//! which reject a file for one type that they do not know.

use std::fmt::Write as _;

use thiserror::Error;

#[cfg(test)]
mod tests;

/// Why there is no text.
#[derive(Debug, Error)]
pub enum ExpositionError {
    /// Not enough memory for so many bytes.
    #[error("out of memory: could not allocate {0} bytes")]
    Memory(usize),
}

/// A text in the making.
#[derive(Debug, Default)]
pub struct Exposition {
    text: String,
    family: &'static str,
    labels: String,
}

impl Exposition {
    /// Begins a family; samples that follow are of it. With a unit, the name must end in it.
    pub fn family(
        &mut self,
        name: &'static str,
        unit: Option<&str>,
        help: &str,
    ) -> Result<(), ExpositionError> {
        self.family = name;
        self.push(&["# TYPE ", name, " gauge\n"])?;
        if let Some(unit) = unit {
            self.push(&["# UNIT ", name, " ", unit, "\n"])?;
        }
        self.push(&["# HELP ", name, " "])?;
        push_escaped(&mut self.text, help)?;
        self.push(&["\n"])
    }

    /// Adds a sample. Labels without a value are left out, which means the same.
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
            push(&mut self.labels, before)?;
            push(&mut self.labels, name)?;
            push(&mut self.labels, "=\"")?;
            push_escaped(&mut self.labels, value)?;
            push(&mut self.labels, "\"")?;
        }
        if !self.labels.is_empty() {
            push(&mut self.labels, "}")?;
        }
        push(&mut self.text, self.family)?;
        push(&mut self.text, &self.labels)?;
        self.push(&[" ", number(value).as_str(), "\n"])
    }

    /// Ends the text, without the last newline: it may be missing, and psql and others add one, after which no other may
    /// come.
    pub fn finish(mut self) -> Result<String, ExpositionError> {
        self.push(&["# EOF"])?;
        Ok(self.text)
    }

    fn push(&mut self, parts: &[&str]) -> Result<(), ExpositionError> {
        parts.iter().try_for_each(|part| push(&mut self.text, part))
    }
}

fn reserve(text: &mut String, more: usize) -> Result<(), ExpositionError> {
    text.try_reserve(more)
        .map_err(|_| ExpositionError::Memory(text.len().saturating_add(more)))
}

fn push(text: &mut String, part: &str) -> Result<(), ExpositionError> {
    reserve(text, part.len())?;
    text.push_str(part);
    Ok(())
}

fn push_escaped(text: &mut String, value: &str) -> Result<(), ExpositionError> {
    // At most every byte becomes two.
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

/// A number as every reader takes it: in digits alone.
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
