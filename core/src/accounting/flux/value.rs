//! A value of an object, whose type depends on the version of Flux and on what is known.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::decimal;
use crate::accounting::{Reason, field};
use crate::instant::{Micros, SECOND};

/// A value; an array or an object is as good as none.
#[derive(Debug, Default)]
pub enum Value<'a> {
    #[default]
    None,
    Whole(u64),
    Number(f64),
    Text(Cow<'a, str>),
}

impl<'a> Value<'a> {
    /// Returns the number of a job.
    pub fn identifier(&self) -> Option<u64> {
        match self {
            Self::Whole(id) => Some(*id),
            Self::Text(text) => decimal(text),
            Self::None | Self::Number(_) => None,
        }
    }

    /// Returns a whole number, which may be in a string.
    pub fn number<T: FromStr + TryFrom<u64>>(&self) -> Option<T> {
        match self {
            Self::Whole(number) => T::try_from(*number).ok(),
            Self::Text(text) => field::number(text.as_bytes()),
            Self::None | Self::Number(_) => None,
        }
    }

    /// Returns a time; `None` if it is absent or 0.
    ///
    /// # Errors
    /// [`Reason::BadTime`] for what is neither a time nor absent.
    pub fn instant(&self) -> Result<Option<Micros>, Reason> {
        let micros = match self {
            Self::None | Self::Whole(0) => return Ok(None),
            Self::Number(seconds) if *seconds == 0.0 => return Ok(None),
            Self::Text(text) if text.trim().is_empty() => return Ok(None),
            Self::Whole(seconds) => Micros::try_from(*seconds)
                .ok()
                .and_then(|it| it.checked_mul(SECOND)),
            // A number that is too large becomes the largest one.
            Self::Number(seconds) => Some((seconds * 1e6).round() as Micros),
            Self::Text(text) => field::seconds(text.as_bytes()),
        };
        micros
            .and_then(field::instant)
            .map(Some)
            .ok_or(Reason::BadTime)
    }

    /// Returns a value as text; `None` if it is empty.
    pub fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::None => None,
            Self::Whole(number) => Some(number.to_string().into()),
            Self::Number(number) => Some(number.to_string().into()),
            Self::Text(Cow::Borrowed(text)) => field::text(text.as_bytes()),
            Self::Text(Cow::Owned(text)) => field::text_of(Cow::Owned(text.into_bytes())),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Value::None)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Value::None)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Value::Whole(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::None)
    }
}
