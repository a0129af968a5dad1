//! Folds the numbers in names, so that the tasks of a workflow have one name: `task_17` and `task_18` become `task_#`.

use std::borrow::Cow;

/// Replaces each run of the digits 0 to 9 by one `#`; all other characters stay.
///
/// The result is never longer than the name, and folding is idempotent.
///
/// ```
/// use jobstats_core::identity::number_pattern::number_pattern;
///
/// assert_eq!(number_pattern("align_sample-17.003"), "align_sample-#.#");
/// ```
pub fn number_pattern(name: &str) -> Cow<'_, str> {
    let mut pieces = name.split(|character: char| character.is_ascii_digit());
    let first = pieces.next().unwrap_or_default();
    if first.len() == name.len() {
        return Cow::Borrowed(name);
    }
    let mut folded = String::with_capacity(name.len());
    folded.push_str(first);
    let mut in_number = false;
    for piece in pieces {
        // Between two digits of one number lies an empty piece.
        if !in_number {
            folded.push('#');
        }
        folded.push_str(piece);
        in_number = piece.is_empty();
    }
    Cow::Owned(folded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_becomes_one_sign() {
        assert_eq!(number_pattern("task_17"), "task_#");
        assert_eq!(number_pattern("task_00018"), "task_#");
        assert_eq!(number_pattern("17"), "#");
        assert_eq!(number_pattern("2x2"), "#x#");
        assert_eq!(number_pattern("nf-ALIGN_(12)"), "nf-ALIGN_(#)");
    }

    #[test]
    fn a_point_or_a_sign_ends_a_number() {
        assert_eq!(number_pattern("t=0.25"), "t=#.#");
        assert_eq!(number_pattern("T-1"), "T-#");
        assert_eq!(number_pattern("2026-01-31"), "#-#-#");
    }

    #[test]
    fn letters_of_hexadecimal_numbers_stay() {
        assert_eq!(number_pattern("cromwell_3f9a_align"), "cromwell_#f#a_align");
    }

    #[test]
    fn names_without_digits_stay() {
        assert_eq!(number_pattern(""), "");
        assert_eq!(number_pattern("relax"), "relax");
        assert_eq!(number_pattern("#"), "#");
        assert!(matches!(number_pattern("relax"), Cow::Borrowed(_)));
    }

    #[test]
    fn only_ascii_digits_are_numbers() {
        assert_eq!(number_pattern("mécanique²_٣_7"), "mécanique²_٣_#");
    }

    /// Folds one character at a time.
    fn by_character(name: &str) -> String {
        let mut folded = String::new();
        let mut before = None;
        for character in name.chars() {
            if !character.is_ascii_digit() {
                folded.push(character);
            } else if !before.is_some_and(|before: char| before.is_ascii_digit()) {
                folded.push('#');
            }
            before = Some(character);
        }
        folded
    }

    proptest! {
        #[test]
        fn folding_is_what_a_loop_over_characters_does(name in "[a-c#_é٣0-9]{0,12}|.{0,40}") {
            prop_assert_eq!(number_pattern(&name), by_character(&name));
        }

        #[test]
        fn folding_twice_is_folding_once(name in "[a-c#_é٣0-9]{0,12}|.{0,40}") {
            let folded = number_pattern(&name).into_owned();
            prop_assert_eq!(number_pattern(&folded), folded.as_str());
            prop_assert!(!folded.contains(|character: char| character.is_ascii_digit()));
        }

        #[test]
        fn a_folded_name_is_never_longer(name in ".{0,40}") {
            prop_assert!(number_pattern(&name).len() <= name.len());
        }

        #[test]
        fn names_that_differ_in_one_number_become_one(prefix in "[^0-9]{0,8}", suffix in "([^0-9].{0,8})?", a: u64, b: u64) {
            let names = [a, b].map(|number| format!("{prefix}{number}{suffix}"));
            prop_assert_eq!(number_pattern(&names[0]), number_pattern(&names[1]));
        }
    }
}
