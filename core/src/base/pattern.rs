//! Patterns of names: a name matches itself, unless it has a star.

use std::iter::repeat_n;

/// A pattern of names: `*` matches any characters, `\*` a star, and `\\*` a backslash and any characters. All else, including other
/// backslashes, matches itself.
#[derive(Debug, Clone)]
pub struct Pattern(Vec<Option<char>>);

impl Pattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Self {
        let mut items = Vec::new();
        let mut pieces = text.split('*');
        let last = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            // Backslashes are escapes before a star alone.
            let name = piece.trim_end_matches('\\');
            let escapes = piece.len() - name.len();
            items.extend(name.chars().chain(repeat_n('\\', escapes / 2)).map(Some));
            items.push((escapes % 2 == 1).then_some('*'));
        }
        items.extend(last.chars().map(Some));
        Self(items)
    }

    /// Returns true if the pattern matches the whole name. The time is bounded by the product of both lengths.
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut item, mut at) = (0, 0);
        // Where to go on if the last star has to stand for one more character.
        let mut retry = None;
        while at < name.len() {
            match self.0.get(item) {
                Some(None) => {
                    item += 1;
                    retry = Some((item, at));
                }
                Some(Some(character)) if *character == name[at] => {
                    item += 1;
                    at += 1;
                }
                _ => {
                    let Some((after, from)) = retry else {
                        return false;
                    };
                    (item, at) = (after, from + 1);
                    retry = Some((item, at));
                }
            }
        }
        self.0[item..].iter().all(|rest| rest.is_none())
    }

    /// Returns the pattern of LIKE in SQL that the same names match.
    pub fn like(&self) -> String {
        let mut like = String::with_capacity(self.0.len());
        for item in &self.0 {
            if let Some('\\' | '%' | '_') = item {
                like.push('\\');
            }
            like.push(item.unwrap_or('%'));
        }
        like
    }
}

/// Returns the pattern that this name alone matches. Only a name with a star differs from it.
pub fn exactly(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut backslashes = 0;
    for character in name.chars() {
        if character == '*' {
            text.extend(repeat_n('\\', backslashes + 1));
        }
        backslashes = if character == '\\' {
            backslashes + 1
        } else {
            0
        };
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_star_alone_stands_for_more_than_itself() {
        for (pattern, name, expected) in [
            ("login*", "login1", true),
            ("login*", "login", true),
            ("login*", "alogin", false),
            ("*-mds*", "a-mds1", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a_b", "a_b", true),
            ("a_b", "axb", false),
            ("100%", "100%", true),
            ("100%", "1000", false),
            (r"a\", r"a\", true),
            (r"a\_b", r"a\_b", true),
            (r"a\\b", r"a\\b", true),
            (r"\*", "*", true),
            (r"\*", r"\x", false),
            (r"site\\*", r"site\ada", true),
            (r"site\\\*", r"site\*", true),
            (r"site\\\*", r"site\ada", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("ä*", "äß", true),
            ("A", "a", false),
        ] {
            assert_eq!(
                Pattern::new(pattern).matches(name),
                expected,
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let pattern = "*a".repeat(127) + "b";
        assert!(!Pattern::new(&pattern).matches(&"a".repeat(10_000)));
        let pattern = Pattern::new(&r"\".repeat(1_000_000));
        assert!(pattern.matches(&r"\".repeat(1_000_000)));
    }

    /// Matches by trying everything, as LIKE does.
    fn is_like(pattern: &[char], name: &[char]) -> bool {
        match pattern {
            [] => name.is_empty(),
            ['%', rest @ ..] => (0..=name.len()).any(|skip| is_like(rest, &name[skip..])),
            ['_', rest @ ..] => !name.is_empty() && is_like(rest, &name[1..]),
            ['\\', first, rest @ ..] | [first, rest @ ..] => {
                name.first() == Some(first) && is_like(rest, &name[1..])
            }
        }
    }

    proptest! {
        #[test]
        fn the_answer_is_that_of_like(pattern in r"[ab%_*\\]{0,8}", name in r"[ab%_*\\]{0,8}") {
            let pattern = Pattern::new(&pattern);
            let [like, characters] =
                [&pattern.like(), &name].map(|text| text.chars().collect::<Vec<_>>());
            prop_assert_eq!(pattern.matches(&name), is_like(&like, &characters));
        }

        #[test]
        fn a_name_alone_is_exactly_itself(name in r"[ab%_*\\]{0,6}", other in r"[ab%_*\\]{0,6}") {
            let pattern = Pattern::new(&exactly(&name));
            prop_assert!(pattern.matches(&name));
            prop_assert_eq!(pattern.matches(&other), name == other);
        }
    }
}
