//! Intervals of PostgreSQL that have a fixed length.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use jiff::SignedDuration;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

#[cfg(test)]
mod tests;

/// The microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// A length of time, to the microsecond. A day of an interval that is read counts as 24 hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Interval(pub SignedDuration);

impl From<SignedDuration> for Interval {
    fn from(length: SignedDuration) -> Self {
        Self(length)
    }
}

impl<'a> FromSql<'a> for Interval {
    /// Reads microseconds, days and months, each big-endian.
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let raw: [u8; 16] = raw.try_into()?;
        let number = u128::from_be_bytes(raw);
        let (micros, days, months) = ((number >> 64) as i64, (number >> 32) as i32, number as i32);
        if months != 0 {
            return Err("an interval with months has no fixed length".into());
        }
        let micros = i64::from(days)
            .checked_mul(DAY)
            .and_then(|days| days.checked_add(micros))
            .ok_or("the interval is too long")?;
        Ok(Self(SignedDuration::from_micros(micros)))
    }

    accepts!(INTERVAL);
}

impl ToSql for Interval {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_i64(i64::try_from(self.0.as_micros())?);
        out.put_i64(0);
        Ok(IsNull::No)
    }

    accepts!(INTERVAL);
    to_sql_checked!();
}
