//! The buckets of a histogram: `{ 4K: 35, 8K: 49 }`.

use super::Reason;
use super::counter::number;
use super::line::{key_value, trim};

/// Elements of a histogram: element k counts the sizes in (2^(k−1), 2^k], the last one all above.
pub const HISTOGRAM_LEN: usize = 32;

const LABELS: [&str; HISTOGRAM_LEN] = [
    "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1K", "2K", "4K", "8K", "16K",
    "32K", "64K", "128K", "256K", "512K", "1M", "2M", "4M", "8M", "16M", "32M", "64M", "128M",
    "256M", "512M", "1G", "2G",
];

/// The name that Lustre gives an element of a histogram: its upper bound.
pub fn label(element: usize) -> Option<&'static str> {
    LABELS.get(element).copied()
}

/// What stands between the braces → elements.
pub(super) fn parse(buckets: &[u8]) -> Result<[u64; HISTOGRAM_LEN], Reason> {
    let mut histogram = [0; HISTOGRAM_LEN];
    if trim(buckets).is_empty() {
        return Ok(histogram);
    }
    for bucket in buckets.split(|byte| *byte == b',') {
        let (key, value) = key_value(bucket).ok_or(Reason::UnreadableCounter)?;
        let element = LABELS
            .iter()
            .position(|label| label.as_bytes() == key)
            .ok_or(Reason::UnknownBucket)?;
        if histogram[element] != 0 {
            return Err(Reason::UnreadableCounter);
        }
        histogram[element] = number(value)?;
    }
    Ok(histogram)
}
