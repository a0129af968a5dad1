//! Filters: which values of dimensions are wanted, as text such as `user=jan target=scratch-OST*` or as JSON.

use serde_json::{Map, Value};

use crate::base::nearest::{SUGGESTED, nearest};
use crate::usage::dimension::{Dimension, ValueType};

mod meant;

pub use meant::meant;

/// The keys of rows that are no group. They are in labels, but no filter.
const NO_GROUPS: [&str; 2] = ["others", "untracked"];

/// A reason why a filter cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// An unknown key.
    #[error("unknown filter key {}", shown(.0))]
    Key(String),
    /// The key of a row that is no group.
    #[error("\"{0}\" cannot be a filter: its row is not a group")]
    NoGroup(String),
    /// A key that occurs twice in text.
    #[error("a filter has the key {0} twice")]
    Twice(String),
    /// A word without `=`.
    #[error("a filter has the word {} without a key", shown(.0))]
    Word(String),
    /// A quote that does not end, or goes on after its end.
    #[error("a filter has a quote that does not end where a value ends")]
    Quote,
    /// A comma without a value behind it, or with another key.
    #[error("a filter has a comma in {0} without a value after it")]
    Comma(String),
    /// A `%` outside of quotes.
    #[error("a filter has % in the value of {0}")]
    Percent(String),
    /// JSON that cannot be read.
    #[error("a filter is not valid JSON: {0}")]
    Json(String),
    /// More than a megabyte, or JSON that is nested too deeply.
    #[error("a filter is too long, or nested too deeply")]
    Long,
    /// JSON that is no object.
    #[error("a filter must be an object")]
    NoObject,
    /// A value that is neither text, nor a number, nor null, nor a list of these.
    #[error("invalid filter value of {0}")]
    Value(String),
}

impl FilterError {
    /// Returns what to do about it, with a filter that is right.
    pub fn hint(&self) -> String {
        match self {
            Self::Key(name) if name.ends_with('!') => "To leave values out, use exclude => 'user=jan'.".to_owned(),
            Self::Key(name) => {
                let near = nearest(name, keys(), SUGGESTED);
                match near.is_empty() {
                    true => format!("Valid keys are {}.", keys().collect::<Vec<_>>().join(", ")),
                    false => format!("Similar keys are {}. jobstats_help('filter') lists all.", near.join(", ")),
                }
            }
            Self::NoGroup(_) => "Filter by the labels of a group, as in 'account=project_2001004'.".to_owned(),
            Self::Twice(key) => format!("Join values by commas, as in '{key}=one,two'."),
            Self::Word(_) => "Write keys with = and no blanks around it, join values by commas without blanks, and quote values that have blanks: 'user=jan,eva job_name=\"my job\"'. A blank means and.".to_owned(),
            Self::Comma(key) => format!("Join values by commas without blanks, and keys by blanks: '{key}=one,two kind=OST'. Quote a value that has = after a key."),
            Self::Quote => "Quote a whole value, and double a quote in it: 'job_name=\"my \"\"best\"\" job\"'.".to_owned(),
            Self::Percent(key) => format!("Patterns are written with *, as in '{key}=a*'. Quote a value that has a percent sign: '{key}=\"50%\"'."),
            Self::Json(_) | Self::Long | Self::NoObject | Self::Value(_) => {
                r#"Give keys text, numbers, null, or lists of these, as in '{"user": "jan", "target": ["scratch-OST*", "scratch-MDT0000"]}' or 'user=jan target=scratch-OST*,scratch-MDT0000'."#.to_owned()
            }
        }
    }
}

fn shown(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    format!("\"{short}\"")
}

fn keys() -> impl Iterator<Item = &'static str> {
    crate::usage::dimension::DIMENSIONS.iter().map(|it| it.name)
}

/// Reads a filter, and returns it as JSON: an object whose keys are dimensions and whose values are text, numbers, null, or lists of these.
///
/// In text, blanks are *and*, commas are *or*, quotes hold blanks and commas, and `account=` is *without an account*. Text that begins with
/// a brace is JSON.
///
/// # Errors
/// [`FilterError`]
pub fn read(text: &str) -> Result<Map<String, Value>, FilterError> {
    let text = text.trim();
    if !text.starts_with('{') {
        return read_text(text);
    }
    checked(serde_json::from_str(text).map_err(|it| FilterError::Json(it.to_string()))?)
}

/// Checks a filter that is JSON.
///
/// # Errors
/// [`FilterError`]
pub fn checked(value: Value) -> Result<Map<String, Value>, FilterError> {
    let Value::Object(filter) = value else {
        return Err(FilterError::NoObject);
    };
    for (key, value) in &filter {
        require_key(key)?;
        let is_plain = |it: &Value| matches!(it, Value::String(_) | Value::Number(_) | Value::Null);
        let is_right = match value {
            Value::Array(list) => list.iter().all(is_plain),
            value => is_plain(value),
        };
        if !is_right {
            return Err(FilterError::Value(key.clone()));
        }
    }
    Ok(filter)
}

fn require_key(key: &str) -> Result<(), FilterError> {
    if Dimension::of_space(key).is_some() {
        return Ok(());
    }
    Err(match NO_GROUPS.contains(&key) {
        true => FilterError::NoGroup(key.to_owned()),
        false => FilterError::Key(key.to_owned()),
    })
}

fn read_text(text: &str) -> Result<Map<String, Value>, FilterError> {
    let mut filter = Map::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|it: char| it == '=' || it == '"' || it.is_whitespace());
        let (key, values) = match end {
            Some(end) if rest[end..].starts_with('=') => (&rest[..end], &rest[end + 1..]),
            _ => {
                let word = rest.split_whitespace().next().unwrap_or(rest);
                return Err(FilterError::Word(word.to_owned()));
            }
        };
        require_key(key)?;
        let (mut list, after) = read_values(key, values)?;
        let value = match list.len() {
            1 => list.remove(0),
            _ => Value::Array(list),
        };
        if filter.insert(key.to_owned(), value).is_some() {
            return Err(FilterError::Twice(key.to_owned()));
        }
        rest = after.trim_start();
    }
    Ok(filter)
}

/// Reads values up to the next blank. Returns them, and the rest of the text.
fn read_values<'a>(key: &str, text: &'a str) -> Result<(Vec<Value>, &'a str), FilterError> {
    let mut list = Vec::new();
    let mut rest = text;
    loop {
        let (value, after) = read_value(key, rest)?;
        list.push(value);
        match after.strip_prefix(',') {
            Some(next)
                if next.is_empty() || next.starts_with(char::is_whitespace) || is_key(next) =>
            {
                return Err(FilterError::Comma(key.to_owned()));
            }
            Some(next) => rest = next,
            None => return Ok((list, after)),
        }
    }
}

/// Returns whether a text begins with a key and `=`.
fn is_key(text: &str) -> bool {
    text.split_once('=')
        .is_some_and(|(key, _)| Dimension::find(key).is_some())
}

fn read_value<'a>(key: &str, text: &'a str) -> Result<(Value, &'a str), FilterError> {
    let ends = |it: char| it == ',' || it.is_whitespace();
    let Some(mut quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at(text.find(ends).unwrap_or(text.len()));
        if value.contains('"') {
            return Err(FilterError::Quote);
        }
        if value.contains('%') {
            return Err(FilterError::Percent(key.to_owned()));
        }
        let value = match value.is_empty() {
            true => Value::Null,
            false => Value::String(value.to_owned()),
        };
        return Ok((value, rest));
    };
    let mut value = String::new();
    loop {
        let (piece, rest) = quoted.split_once('"').ok_or(FilterError::Quote)?;
        value.push_str(piece);
        match rest.strip_prefix('"') {
            Some(rest) => {
                value.push('"');
                quoted = rest;
            }
            None if rest.is_empty() || rest.starts_with(ends) => {
                return Ok((Value::String(value), rest));
            }
            None => return Err(FilterError::Quote),
        }
    }
}

/// The wanted values of a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matcher {
    /// The whole numbers, for a dimension of numbers without other values.
    pub numbers: Option<Vec<i64>>,
    /// The patterns, as text.
    pub patterns: Vec<String>,
    /// Set if the patterns match values in any case.
    pub any_case: bool,
    /// Set if rows that have no value are wanted.
    pub none: bool,
}

impl Matcher {
    /// Reads the values of a dimension; `None` if all values match, as with `*` alone.
    pub fn of(dimension: &Dimension, value: &Value) -> Option<Self> {
        let list = match value {
            Value::Array(list) => list.as_slice(),
            value => std::slice::from_ref(value),
        };
        let mut matcher = Self {
            any_case: dimension.any_case,
            ..Self::default()
        };
        for value in list {
            match value {
                Value::String(text) if text == "*" => return None,
                Value::String(text) => matcher.patterns.push(text.clone()),
                Value::Number(number) => matcher.patterns.push(number.to_string()),
                _ => matcher.none = true,
            }
        }
        if dimension.value_type == ValueType::Number {
            let numbers = matcher.patterns.iter().map(|it| number(it));
            matcher.numbers = numbers.collect();
        }
        // A site with a single cluster gives it no name.
        if matcher.none && dimension.name == "cluster" {
            matcher.patterns.push(String::new());
        }
        Some(matcher)
    }

    /// Returns a text as it is compared: in lower case, if values match in any case.
    pub fn compared(&self, text: &str) -> String {
        match self.any_case {
            true => text.to_lowercase(),
            false => text.to_owned(),
        }
    }
}

/// Returns the number that a text is, if no other text is the same number.
fn number(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests;
