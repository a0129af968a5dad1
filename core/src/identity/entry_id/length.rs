//! Finds how long an identifier was in Lustre, which cuts long ones.

/// The length at which Lustre cuts identifiers, in bytes.
pub const LONGEST_ID: usize = 31;

/// Returns true if the identifier may be as long as Lustre allows, or is longer. A user may write the notation of a byte, and servers
/// without this notation print it unchanged: then each `\xHH` is one byte or four.
pub fn may_be_longest(id: &str) -> bool {
    let least = bytes(id);
    id.len() >= LONGEST_ID && (least > LONGEST_ID || (LONGEST_ID - least).is_multiple_of(3))
}

/// Returns the least number of bytes that the text had in Lustre, where `\xHH` is one byte.
pub fn bytes(id: &str) -> usize {
    let is_escape = |&(at, _): &(usize, &str)| {
        let digits = id.as_bytes().get(at + 2..at + 4).unwrap_or_default();
        digits.len() == 2
            && digits
                .iter()
                .all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F'))
    };
    id.len() - 3 * id.match_indices(r"\x").filter(is_escape).count()
}
