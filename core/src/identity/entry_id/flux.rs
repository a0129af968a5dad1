//! The numbers of jobs in the forms that Flux prints.

use crate::text::field;

/// The digits of F58: base 58, without `0`, `O`, `I` and `l`.
const DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The ways in which the first letter of F58 arrives: as it is, as Lustre shows its two bytes (the first raw, the second
/// as `\x92`), and as Flux prints it where a terminal has no such letter.
pub(super) const PREFIXES: [&str; 3] = ["ƒ", "\\xC6\\x92", "f"];

/// The most digits of F58 that Flux reads.
const F58_MAX: usize = 12;

/// Returns the number of a job from any form: F58 (`ƒD2e73NP`), decimal, hexadecimal (`0x1a2b`) or dothex
/// (`0000.0012.3456.789a`); `None` if the identifier has another form or is larger than 64 bits.
///
/// The identifier may come from `job_stats`, with the bytes of `ƒ` as Lustre prints them. Each word of base 58 that
/// begins with `f` is a number too, so this is only for the job of an identifier, never for the name of a program.
pub fn decimal(identifier: &str) -> Option<u64> {
    let identifier = identifier.trim();
    if identifier.contains('.') {
        return from_dothex(identifier);
    }
    if let Some(digits) = identifier.strip_prefix("0x") {
        return from_hex(digits, 16);
    }
    if let Some(digits) = PREFIXES
        .iter()
        .find_map(|prefix| identifier.strip_prefix(prefix))
    {
        return from_f58(digits);
    }
    field::number(identifier.as_bytes())
}

/// Returns the F58 form of the number of a job, which begins with `ƒ`.
pub fn f58(mut id: u64) -> String {
    let mut digits: Vec<u8> = Vec::with_capacity(F58_MAX);
    while id > 0 || digits.is_empty() {
        digits.push(DIGITS[(id % 58) as usize]);
        id /= 58;
    }
    PREFIXES[0]
        .chars()
        .chain(digits.iter().rev().map(|digit| char::from(*digit)))
        .collect()
}

fn from_f58(digits: &str) -> Option<u64> {
    if !(1..=F58_MAX).contains(&digits.len()) {
        return None;
    }
    digits.bytes().try_fold(0_u64, |id, letter| {
        let digit = DIGITS.iter().position(|digit| *digit == letter)?;
        id.checked_mul(58)?.checked_add(u64::try_from(digit).ok()?)
    })
}

fn from_dothex(text: &str) -> Option<u64> {
    let groups = || text.split('.');
    if groups().count() != 4 {
        return None;
    }
    groups().try_fold(0, |id, group| Some(id << 16 | from_hex(group, 4)?))
}

/// Reads at most so many hexadecimal digits.
fn from_hex(digits: &str, most: usize) -> Option<u64> {
    let is_hex =
        (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}
