//! The identifiers of Flux.

use crate::jobs::{FIRST_NUMBER, Site};
use crate::time::DAY;

/// The milliseconds from the start of an instance to its first job.
const BOOT: u64 = 60_000;

/// Returns the identifier of a job: the milliseconds since the instance began, and a number in the last 24 bits.
pub fn id(site: &Site, number: u64) -> u64 {
    let count = number - FIRST_NUMBER;
    let milliseconds = BOOT + count * (DAY as u64 / 1_000_000) / site.jobs;
    (milliseconds << 24) + count % 1_024
}

/// Returns an identifier as users see it: `ƒ` and the number in base 58.
pub fn f58(mut id: u64) -> String {
    const DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut digits = Vec::new();
    loop {
        digits.push(char::from(DIGITS[(id % 58) as usize]));
        id /= 58;
        if id == 0 {
            break;
        }
    }
    std::iter::once('ƒ')
        .chain(digits.into_iter().rev())
        .collect()
}
