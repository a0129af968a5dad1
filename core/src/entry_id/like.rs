//! Patterns of names, as LIKE in SQL has them.

/// A pattern: `%` stands for any characters, `_` for any one, and a backslash before a character for the character itself.
#[derive(Debug, Clone)]
pub(super) struct Like(Vec<Item>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Character(char),
    AnyOne,
    Any,
}

impl Like {
    /// Reads a pattern. A backslash at its end stands for itself.
    pub fn new(pattern: &str) -> Self {
        let mut characters = pattern.chars();
        let items = std::iter::from_fn(|| {
            Some(match characters.next()? {
                '%' => Item::Any,
                '_' => Item::AnyOne,
                '\\' => Item::Character(characters.next().unwrap_or('\\')),
                character => Item::Character(character),
            })
        });
        Self(items.collect())
    }

    /// Returns true if the pattern matches the whole name. The time is bounded by the product of both lengths.
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut item, mut at) = (0, 0);
        // Where to go on if the last `%` has to stand for one more character.
        let mut retry = None;
        while at < name.len() {
            match self.0.get(item) {
                Some(Item::Any) => {
                    item += 1;
                    retry = Some((item, at));
                    continue;
                }
                Some(Item::AnyOne) => {}
                Some(Item::Character(character)) if *character == name[at] => {}
                _ => {
                    let Some((after, from)) = retry else {
                        return false;
                    };
                    (item, at) = (after, from + 1);
                    retry = Some((item, at));
                    continue;
                }
            }
            item += 1;
            at += 1;
        }
        self.0[item..].iter().all(|rest| *rest == Item::Any)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_are_those_of_sql() {
        for (pattern, name, expected) in [
            ("login%", "login1", true),
            ("login%", "login", true),
            ("login%", "alogin", false),
            ("n___", "n101", true),
            ("n___", "n1010", false),
            ("%-mds%", "a-mds1", true),
            ("a%b%c", "a-b-b-c", true),
            ("a%b%c", "a-c-b", false),
            (r"a\_b", "a_b", true),
            (r"a\_b", "axb", false),
            (r"a\", r"a\", true),
            ("", "", true),
            ("", "a", false),
            ("%", "", true),
            ("ä_", "äß", true),
            ("A", "a", false),
        ] {
            assert_eq!(
                Like::new(pattern).matches(name),
                expected,
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let pattern = "%a".repeat(127) + "b";
        assert!(!Like::new(&pattern).matches(&"a".repeat(10_000)));
    }

    /// Matches by trying everything.
    fn matches(pattern: &[char], name: &[char]) -> bool {
        match pattern {
            [] => name.is_empty(),
            ['%', rest @ ..] => (0..=name.len()).any(|skip| matches(rest, &name[skip..])),
            ['_', rest @ ..] => !name.is_empty() && matches(rest, &name[1..]),
            [first, rest @ ..] => name.first() == Some(first) && matches(rest, &name[1..]),
        }
    }

    proptest! {
        #[test]
        fn the_answer_is_that_of_trying_everything(pattern in "[ab%_]{0,8}", name in "[ab]{0,8}") {
            let [by_trying_pattern, by_trying_name] =
                [&pattern, &name].map(|text| text.chars().collect::<Vec<_>>());
            prop_assert_eq!(
                Like::new(&pattern).matches(&name),
                matches(&by_trying_pattern, &by_trying_name)
            );
        }
    }
}
