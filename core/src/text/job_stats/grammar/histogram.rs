//! Reads the buckets of a histogram: `{ 4K: 35, 8K: 49 }`.

use super::counter::number;
use super::line::key_value;
use crate::text::job_stats::Reason;
use crate::text::job_stats::lctl::lines::trim;

/// The number of elements of a histogram. Element k counts the sizes in (2^(k−1), 2^k], and the last element all larger
/// sizes.
pub const HISTOGRAM_LEN: usize = 32;

const LABELS: [&str; HISTOGRAM_LEN] = [
    "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1K", "2K", "4K", "8K", "16K",
    "32K", "64K", "128K", "256K", "512K", "1M", "2M", "4M", "8M", "16M", "32M", "64M", "128M",
    "256M", "512M", "1G", "2G",
];

/// Returns the name that Lustre gives an element of a histogram: its upper bound.
pub fn label(element: usize) -> Option<&'static str> {
    LABELS.get(element).copied()
}

/// Returns the elements that counted something, under Lustre's own names for them, as a JSON object.
pub fn json(histogram: &[u64; HISTOGRAM_LEN]) -> String {
    let named = LABELS.iter().zip(histogram);
    let counted = named.filter(|(_, count)| **count > 0);
    let elements = counted.map(|(label, count)| format!("\"{label}\":{count}"));
    format!("{{{}}}", elements.collect::<Vec<_>>().join(","))
}

/// Returns the element of a label.
pub(in crate::text::job_stats) fn element(label: &[u8]) -> Option<usize> {
    let (digits, thousands) = match label.split_last()? {
        (b'K', digits) => (digits, 1),
        (b'M', digits) => (digits, 2),
        (b'G', digits) => (digits, 3),
        _ => (label, 0),
    };
    let size = number(digits).ok().filter(|size| size.is_power_of_two())?;
    let element = size.trailing_zeros() as usize + 10 * thousands;
    // A size in another notation, such as 1024 or 02, is not a label.
    (LABELS.get(element)?.as_bytes() == label).then_some(element)
}

/// Reads the elements from the text between the braces.
pub(in crate::text::job_stats) fn parse(buckets: &[u8]) -> Result<[u64; HISTOGRAM_LEN], Reason> {
    let mut sizes = [0; HISTOGRAM_LEN];
    if trim(buckets).is_empty() {
        return Ok(sizes);
    }
    for bucket in buckets.split(|byte| *byte == b',') {
        let (key, value) = key_value(bucket).ok_or(Reason::UnreadableCounter)?;
        let element = element(key).ok_or(Reason::UnknownBucket)?;
        if std::mem::replace(&mut sizes[element], number(value)?) != 0 {
            return Err(Reason::UnreadableCounter);
        }
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_shows_what_counted_something() {
        let mut histogram = [0; HISTOGRAM_LEN];
        assert_eq!(json(&histogram), "{}");
        (histogram[12], histogram[31]) = (35, 1);
        assert_eq!(json(&histogram), r#"{"4K":35,"2G":1}"#);
        assert_eq!(parse(b" 4K: 35, 2G: 1 "), Ok(histogram));
    }
}
