//! Reads the times that `sacct` prints.

use jiff::Timestamp;
use jiff::civil::DateTime;

use crate::accounting::Reason;
use crate::accounting::field::{self, has_form, number};
use crate::accounting::zone::{LocalTime, Zone};
use crate::base::instant::SECOND;

/// The forms of times.
const TIMES: [&[u8]; 2] = [b"0000-00-00T00:00:00", b"0000-00-00 00:00:00"];

/// The forms of offsets from UTC.
const OFFSETS: [&[u8]; 5] = [b"Z", b"+0000", b"-0000", b"+00:00", b"-00:00"];

/// The years in which times without a zone may lie. The first and last year are out of range in some zones.
const YEARS: std::ops::RangeInclusive<i16> = 1971..=2198;

/// Returns whether a number is Slurm's "none" or "forever", which have 32 or 64 bits.
pub fn is_no_value(number: u64) -> bool {
    matches!(number, 0xFFFF_FFFE | 0xFFFF_FFFF) || number >= u64::MAX - 1
}

/// Reads a field with a time; `None` for a placeholder.
pub fn read(field: &[u8], zone: &Zone) -> Result<Option<LocalTime>, Reason> {
    let field = field.trim_ascii();
    match field {
        b"" | b"Unknown" | b"None" | b"N/A" | b"NONE" | b"(null)" => return Ok(None),
        _ if field.iter().all(|byte| *byte == b'#') => return Ok(None),
        _ => {}
    }
    let time = match number::<u64>(field) {
        Some(number) => return epoch(number),
        None => civil(field, zone),
    };
    time.map(Some).ok_or(Reason::BadTime)
}

/// Returns the time of a number of seconds since 1970.
fn epoch(number: u64) -> Result<Option<LocalTime>, Reason> {
    if number == 0 || is_no_value(number) {
        return Ok(None);
    }
    let micros = i64::try_from(number)
        .ok()
        .and_then(|it| it.checked_mul(SECOND));
    let time = micros.and_then(field::instant).ok_or(Reason::BadTime)?;
    Ok(Some(LocalTime::Once(time)))
}

/// Reads `2024-07-01T12:00:00`, perhaps with a blank instead of the letter, and with an offset behind it: `Z`, `+0200` or `+02:00`.
fn civil(field: &[u8], zone: &Zone) -> Option<LocalTime> {
    let (time, offset) = field.split_at_checked(TIMES[0].len())?;
    // A leap second would be read as the second before it.
    let is_time = TIMES.iter().any(|form| has_form(time, form)) && !time.ends_with(b"60");
    let text = std::str::from_utf8(field).ok().filter(|_| is_time)?;
    if offset.is_empty() {
        let time: DateTime = text.parse().ok()?;
        return YEARS.contains(&time.year()).then(|| zone.find(time));
    }
    let is_offset = OFFSETS.iter().any(|form| has_form(offset, form));
    let time: Timestamp = text.parse().ok().filter(|_| is_offset)?;
    field::instant(time.as_microsecond()).map(LocalTime::Once)
}
