//! Identifiers, as printed and as stored.

use std::borrow::Cow;

use crate::base::escape::{escape, push_escaped};

/// The largest number of bytes of a stored identifier. Lustre has 31, each printed as up to 4.
pub const IDENTIFIER_MAX: usize = 255;

/// Reads the identifier in the value of a `job_id` line, as it is stored. Returns `None` if it is longer than any can
/// be.
///
/// `\xHH` is a byte in quotes; without quotes, all characters are literal. The result has NUL and bytes that are not
/// UTF-8 as `\xHH`. Blanks alone give an empty identifier.
pub(in crate::text::job_stats) fn parse(value: &[u8]) -> Option<Cow<'_, str>> {
    if value.len() > 4 * IDENTIFIER_MAX {
        return None;
    }
    let id = match unquote(value) {
        Some(quoted) if quoted.contains(&b'\\') => {
            Cow::Owned(escape(&unescape(quoted)).into_owned())
        }
        Some(quoted) => escape(quoted),
        None => escape(value),
    };
    if id.bytes().all(|byte| byte == b' ' || byte == b'\t') {
        return Some(Cow::Borrowed(""));
    }
    (id.len() <= IDENTIFIER_MAX).then_some(id)
}

/// Prints a stored identifier as Lustre 2.16 prints it. Reading the result gives the identifier again.
pub fn print(id: &str) -> Cow<'_, str> {
    let literal = |byte: u8| byte.is_ascii_alphanumeric() || b".@-_:/".contains(&byte);
    if id.bytes().all(|byte| literal(byte) && byte != b':') && !id.starts_with('@') {
        return Cow::Borrowed(id);
    }
    let mut quoted = String::from("\"");
    for byte in id.bytes() {
        if literal(byte) {
            quoted.push(char::from(byte));
        } else {
            push_escaped(&mut quoted, byte);
        }
    }
    quoted.push('"');
    Cow::Owned(quoted)
}

fn unquote(value: &[u8]) -> Option<&[u8]> {
    value.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

fn unescape(quoted: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted;
    while let [first, tail @ ..] = rest {
        if let [b'\\', b'x', high, low, after @ ..] = rest
            && let (Some(high), Some(low)) = (hex_digit(*high), hex_digit(*low))
        {
            bytes.push(high << 4 | low);
            rest = after;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    bytes
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}
