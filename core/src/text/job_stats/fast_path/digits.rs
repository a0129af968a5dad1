//! Reads numbers, eight digits at a time: most of a busy text consists of numbers.

/// Eight characters, the first one in the lowest byte.
type Word = u64;

const LEN: usize = 8;

/// Returns a word of eight equal bytes.
const fn all(byte: u8) -> Word {
    Word::from_le_bytes([byte; LEN])
}

const BLANKS: Word = all(b' ');

/// The number of digits that always fit into 64 bits.
const DIGITS_MAX: usize = 19;

/// Returns the number at the beginning of the text, and the rest. Digits are read in words of eight bytes. Returns
/// `None` too if the text ends before the word that shows the end of the number, or if the number has more digits than
/// surely fit.
pub(super) fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let (mut number, mut digits, mut rest) = (0_u64, 0, text);
    while digits <= DIGITS_MAX {
        let values = values(word(rest)?);
        let len = no_digits(values).trailing_zeros() as usize / LEN;
        // The digits move to the end of the word, behind zeros.
        let part = values.checked_shl(8 * (LEN - len) as u32).unwrap_or(0);
        number = number.wrapping_mul(POWERS[len]).wrapping_add(join(part));
        digits += len;
        rest = &rest[len..];
        if len < LEN {
            break;
        }
    }
    (1..=DIGITS_MAX).contains(&digits).then_some((number, rest))
}

/// Returns the number in a field that is padded with blanks on the left. WIDTH is between 8 and 19.
pub(super) fn padded<const WIDTH: usize>(field: &[u8; WIDTH]) -> Option<u64> {
    const { assert!(LEN <= WIDTH && WIDTH <= DIGITS_MAX) };
    let (first, words) = field.as_rchunks::<LEN>();
    let (mut number, mut is_blank) = (0, true);
    // In most fields, the bytes before the whole words are blank.
    if first.iter().any(|byte| *byte != b' ') {
        for byte in first {
            let digit = byte.wrapping_sub(b'0');
            match *byte {
                b' ' if is_blank => continue,
                _ if digit > 9 => return None,
                _ => number = number * 10 + u64::from(digit),
            }
            is_blank = false;
        }
    }
    let mut wrong = 0;
    for word in words {
        // The loop has no branch, because whether a word is blank cannot be predicted.
        let word = Word::from_le_bytes(*word);
        let blanks = (word ^ BLANKS).trailing_zeros() / 8 * 8;
        let blanks = if is_blank { blanks } else { 0 };
        let is_all = blanks == Word::BITS;
        let ones = Word::MAX.checked_shl(blanks).unwrap_or(0);
        let values = values(word) & ones;
        wrong |= no_digits(values);
        number = number * POWERS[LEN] + join(values);
        is_blank &= is_all;
    }
    (wrong == 0 && !is_blank).then_some(number)
}

fn word(text: &[u8]) -> Option<Word> {
    text.first_chunk().copied().map(Word::from_le_bytes)
}

/// Returns the value of each digit, above 9 for any other character.
const fn values(word: Word) -> Word {
    word ^ all(b'0')
}

/// Returns a word in which the highest bit of the first byte above 9 is set, and no bit before it.
const fn no_digits(values: Word) -> Word {
    (values.wrapping_add(all(0x76)) | values) & all(0x80)
}

/// Returns the number of eight digits, joined by twos, by fours, and all.
const fn join(values: Word) -> u64 {
    const FOURS: Word = 0x0000_00FF_0000_00FF;
    let twos = values.wrapping_mul(10).wrapping_add(values >> 8);
    let high = (twos & FOURS).wrapping_mul(100 + (1_000_000 << 32));
    let low = (twos >> 16 & FOURS).wrapping_mul(1 + (10_000 << 32));
    high.wrapping_add(low) >> 32
}

const POWERS: [u64; LEN + 1] = {
    let mut powers = [1; LEN + 1];
    let mut power = 1;
    while power <= LEN {
        powers[power] = 10 * powers[power - 1];
        power += 1;
    }
    powers
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{number, padded};

    /// Returns a number in a field that is padded with blanks on the left.
    fn field<const WIDTH: usize>(number: u64) -> Option<[u8; WIDTH]> {
        format!("{number:>WIDTH$}").into_bytes().try_into().ok()
    }

    #[test]
    fn a_number_ends_where_its_digits_end() {
        for (text, expected) in [
            ("7, unit: ", Some((7, ", unit: "))),
            ("0123456, uni", Some((123_456, ", uni"))),
            ("12345678, unit: ", Some((12_345_678, ", unit: "))),
            ("123456789, unit: ", Some((123_456_789, ", unit: "))),
            (
                "9999999999999999999, unit: ",
                Some((9_999_999_999_999_999_999, ", unit: ")),
            ),
            ("10000000000000000000, unit: ", None),
            ("000000000000000000000000000000000, unit: ", None),
            ("7\u{e9}, unit: ", Some((7, "\u{e9}, unit: "))),
            ("-1, unit: ", None),
            (" 1, unit: ", None),
            (", unit: ", None),
            ("7, unit:", Some((7, ", unit:"))),
            ("7, unit", None),
            ("", None),
        ] {
            let expected = expected.map(|(number, rest): (_, &str)| (number, rest.as_bytes()));
            assert_eq!(number(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_field_is_blanks_and_digits() {
        for (field, number) in [
            (b"          7", Some(7)),
            (b" 0123456789", Some(123_456_789)),
            (b"99999999999", Some(99_999_999_999)),
            (b"           ", None),
            (b"7          ", None),
            (b"   1 2     ", None),
            (b"        1 2", None),
            (b"1         2", None),
            (b"         -2", None),
            (b"         2,", None),
            (b",         2", None),
            (b"  !       2", None),
            (b"          *", None),
            (b"1         \xff", None),
        ] {
            assert_eq!(padded(field), number, "{field:?}");
        }
    }

    proptest! {
        #[test]
        fn every_number_is_read(exponent in 0..20_u32, chance in any::<u64>()) {
            let value = chance % 10_u64.checked_pow(exponent).unwrap_or(u64::MAX);
            let text = format!("{value} more text");
            let read = number(text.as_bytes());
            prop_assert_eq!(read, (value < 10_u64.pow(19)).then_some((value, &b" more text"[..])));
            prop_assert!(field::<8>(value).is_none_or(|field| padded(&field) == Some(value)));
            prop_assert!(field::<11>(value).is_none_or(|field| padded(&field) == Some(value)));
            prop_assert!(field::<16>(value).is_none_or(|field| padded(&field) == Some(value)));
            prop_assert!(field::<18>(value).is_none_or(|field| padded(&field) == Some(value)));
        }

        #[test]
        fn nothing_else_is(field in any::<[u8; 18]>(), digits in prop::collection::vec(prop::sample::select(&b"0123456789 ,"[..]), 18)) {
            let digits: [u8; 18] = digits.try_into().unwrap_or_default();
            for field in [field, digits] {
                let text = std::str::from_utf8(&field).unwrap_or_default().trim_start_matches(' ');
                let all_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                prop_assert_eq!(padded(&field), text.parse().ok().filter(|_| all_digits));
            }
        }
    }
}
