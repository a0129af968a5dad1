//! Converts bytes to text for a database: NUL and bytes that are not UTF-8 become `\xHH`, Lustre's own notation.

use std::borrow::Cow;
use std::fmt::Write;

/// Converts bytes to text.
pub fn escape(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if memchr::memchr(0, bytes).is_none() => return Cow::Borrowed(text),
        _ => {}
    }
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\0' => push_escaped(&mut text, 0),
                other => text.push(other),
            }
        }
        for byte in chunk.invalid() {
            push_escaped(&mut text, *byte);
        }
    }
    Cow::Owned(text)
}

/// Adds a byte to a text, in Lustre's own notation.
pub(crate) fn push_escaped(text: &mut String, byte: u8) {
    // Writing into memory does not fail.
    let _ = write!(text, "\\x{byte:02X}");
}

/// Splits a text into pieces of at most `size` bytes (at least 4). No character is cut, so that the pieces can be
/// escaped one by one with the same result as the whole.
pub fn pieces(mut text: &[u8], size: usize) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(end_of_piece(text, size.max(4)));
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Returns the end of the first piece. A character has at most three continuation bytes, so that one of four adjacent
/// places begins a character or follows a whole one.
fn end_of_piece(text: &[u8], size: usize) -> usize {
    if text.len() <= size {
        return text.len();
    }
    let continues = |place: &usize| text[*place] & 0xC0 == 0x80;
    let mut places = (size - 3..=size).rev();
    places.find(|place| !continues(place)).unwrap_or(size)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_text_is_escaped() {
        assert_eq!(escape("aé\n".as_bytes()), "aé\n");
        assert_eq!(escape(b"a\0b\xFF\xC3"), "a\\x00b\\xFF\\xC3");
    }

    proptest! {
        #[test]
        fn pieces_are_escaped_as_the_whole(
            bytes in prop::collection::vec(
                prop_oneof![Just(0x80_u8), Just(0xF0), Just(0x9F), Just(0xC3), Just(b'a'), any::<u8>()], 0..64),
            size in 4_usize..12,
        ) {
            let parts: Vec<&[u8]> = pieces(&bytes, size).collect();
            prop_assert!(parts.iter().all(|part| (1..=size).contains(&part.len())));
            prop_assert_eq!(parts.concat(), bytes.clone());
            let escaped: String = parts.iter().map(|part| escape(part)).collect();
            prop_assert_eq!(escaped, escape(&bytes));
        }
    }
}
