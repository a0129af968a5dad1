//! Shows names that users chose. A name must not move the cursor, colour the text after it, or change the order of the text around it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The number of characters of a name that are looked at. No screen shows more of it.
const LOOKED_AT: usize = 512;

/// Returns the name as it may be shown: control characters, marks without a width, and characters of scripts that run
/// from right to left become escapes such as `\x1B`, which is how Lustre prints them.
pub fn shown(name: &str) -> String {
    let mut out = String::with_capacity(name.len().min(LOOKED_AT));
    let end = name.char_indices().nth(LOOKED_AT);
    push_shown(&mut out, &name[..end.map_or(name.len(), |(end, _)| end)]);
    if end.is_some() {
        out.push('…');
    }
    out
}

/// Appends a text of any length as it may be shown.
pub fn push_shown(out: &mut String, text: &str) {
    for character in text.chars() {
        if is_harmless(character) {
            out.push(character);
        } else if character.is_ascii() {
            out.push_str(&format!("\\x{:02X}", u32::from(character)));
        } else {
            out.push_str(&format!("\\u{{{:x}}}", u32::from(character)));
        }
    }
}

/// Returns true if the character takes its own cell on a terminal and moves no other.
pub fn is_harmless(character: char) -> bool {
    let has_width = character.width().is_some_and(|width| width > 0);
    has_width && !runs_to_the_left(character) && !is_format(character)
}

/// Returns true for scripts that terminals write from right to left, with the numbers around them.
fn runs_to_the_left(character: char) -> bool {
    matches!(u32::from(character),
        0x0590..=0x08FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFF | 0x1_0800..=0x1_0FFF | 0x1_E800..=0x1_EFFF)
}

/// Returns true for characters that some terminals hide or join with others.
fn is_format(character: char) -> bool {
    matches!(u32::from(character),
        0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x2000..=0x200F
        | 0x2028..=0x202F | 0x205F..=0x206F | 0x3000 | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
        | 0xE000..=0xF8FF | 0x1_F1E6..=0x1_F1FF | 0x1_F3FB..=0x1_F3FF | 0x1_BCA0..=0x1_BCA3 | 0x1_D173..=0x1_D17A
        | 0xE_0000..=0x10_FFFF)
}

/// Returns lines that explain an error, to stand below it.
pub fn listed(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}

/// Joins parts by commas; `None` without parts.
pub fn joined(parts: impl Iterator<Item = String>) -> Option<String> {
    let parts: Vec<_> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns the number of cells that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Cuts a text to a number of cells. A text that was cut ends with `…`.
pub fn cut(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut left = cells.saturating_sub(1);
    for character in text.chars() {
        let wide = character.width().unwrap_or(0);
        if wide > left {
            break;
        }
        left -= wide;
        out.push(character);
    }
    if cells > 0 {
        out.push('…');
    }
    out
}

/// Cuts a text to a number of cells, or fills it up with blanks behind it.
pub fn left(text: &str, cells: usize) -> String {
    let mut out = cut(text, cells);
    out.extend(std::iter::repeat_n(' ', cells - width(&out)));
    out
}

/// Cuts a text to a number of cells, or fills it up with blanks in front of it.
pub fn right(text: &str, cells: usize) -> String {
    let text = cut(text, cells);
    let blanks = cells - width(&text);
    format!("{}{text}", " ".repeat(blanks))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_could_do_something_is_only_shown() {
        assert_eq!(shown("make.1000"), "make.1000");
        assert_eq!(shown("a\x1b[31mb\n"), "a\\x1B[31mb\\x0A");
        assert_eq!(shown("x\u{202e}gpj"), "x\\u{202e}gpj");
        assert_eq!(shown("a\u{9b}2J"), "a\\u{9b}2J");
        assert_eq!(shown("שלום"), "\\u{5e9}\\u{5dc}\\u{5d5}\\u{5dd}");
        assert_eq!(shown("e\u{301}\0"), "e\\u{301}\\x00");
        assert_eq!(shown("größe 日本"), "größe 日本");
        assert!(shown(&"x".repeat(10_000)).chars().count() == LOOKED_AT + 1);
    }

    #[test]
    fn a_cut_says_so_and_wide_characters_are_not_halved() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(left("日本語", 4), "日… ");
        assert_eq!(right("ab", 4), "  ab");
        assert_eq!(cut("ab", 0), "");
    }

    proptest! {
        #[test]
        fn every_name_takes_exactly_its_cells(name in any::<String>(), cells in 0_usize..40) {
            let shown = shown(&name);
            prop_assert!(shown.chars().all(is_harmless));
            for text in [left(&shown, cells), right(&shown, cells)] {
                prop_assert_eq!(width(&text), cells);
            }
            prop_assert!(width(&cut(&shown, cells)) <= cells);
        }
    }
}
