//! Reads the times that `sacct` prints.

use jiff::civil::DateTime;
use jiff::tz::Offset;

use crate::accounting::Reason;
use crate::accounting::field::{self, number};
use crate::accounting::zone::{LocalTime, Zone, instant};
use crate::base::instant::SECOND;

/// The length of `2024-07-01T12:00:00`.
const LENGTH: usize = 19;

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

/// Reads `2024-07-01T12:00:00`, perhaps with a blank instead of the letter, and with an offset behind it.
fn civil(field: &[u8], zone: &Zone) -> Option<LocalTime> {
    let (time, offset) = field.split_at_checked(LENGTH)?;
    let time = date_and_time(time)?;
    match offset {
        b"" => YEARS.contains(&time.year()).then(|| zone.find(time)),
        _ => instant(time, offset_from_utc(offset)?).map(LocalTime::Once),
    }
}

fn date_and_time(text: &[u8]) -> Option<DateTime> {
    let mut separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')].into_iter();
    let separated = separators.all(|(place, byte)| text.get(place) == Some(&byte));
    if !separated || !matches!(text.get(10), Some(b'T' | b' ')) {
        return None;
    }
    let year = i16::try_from(digits(text, 0, 4)?).ok()?;
    let two = |place: usize| i8::try_from(digits(text, place, 2)?).ok();
    let time = DateTime::new(year, two(5)?, two(8)?, two(11)?, two(14)?, two(17)?, 0);
    time.ok()
}

/// Reads `Z`, `+0200` or `+02:00`.
fn offset_from_utc(text: &[u8]) -> Option<Offset> {
    if text == b"Z" {
        return Some(Offset::UTC);
    }
    let minutes_at = match text.len() {
        5 => 3,
        6 if text.get(3) == Some(&b':') => 4,
        _ => return None,
    };
    let (hours, minutes) = (digits(text, 1, 2)?, digits(text, minutes_at, 2)?);
    let seconds = i32::from(hours * 60 + minutes) * 60;
    match text.first()? {
        b'+' => Offset::from_seconds(seconds).ok(),
        b'-' => Offset::from_seconds(-seconds).ok(),
        _ => None,
    }
}

/// Returns a number of so many digits.
fn digits(text: &[u8], place: usize, count: usize) -> Option<u16> {
    let digits = text.get(place..place + count)?;
    let all = digits.iter().all(u8::is_ascii_digit);
    all.then(|| {
        let digits = digits.iter().map(|digit| u16::from(digit - b'0'));
        digits.fold(0, |number, digit| number * 10 + digit)
    })
}
