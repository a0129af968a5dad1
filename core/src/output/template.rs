//! Text with named holes `@name@` that are filled with other text, such as a statement that is filled with columns.

/// A text with holes.
#[derive(Debug, Clone, Copy)]
pub struct Template {
    text: &'static str,
    holes: &'static [&'static str],
}

impl Template {
    /// Takes a text with these holes.
    ///
    /// # Panics
    /// Does not compile, as a constant, if the text has other holes.
    pub const fn new(text: &'static str, holes: &'static [&'static str]) -> Self {
        assert!(fits(text, holes), "the template has other holes");
        Self { text, holes }
    }

    /// Fills the holes with texts, in their order. Lines of a text are indented as the line of its hole. Comments, and
    /// lines that have become empty, are left out: they would be parsed again for each question.
    pub fn fill(&self, texts: &[&str]) -> String {
        let mut filled = String::with_capacity(2 * self.text.len());
        for line in self.text.lines() {
            let mut rest = line.trim_start();
            if rest.starts_with("--") {
                continue;
            }
            let indent = &line[..line.len() - rest.len()];
            let begin = filled.len();
            if begin > 0 {
                filled.push('\n');
            }
            filled.push_str(indent);
            while let Some((start, end)) = hole(rest.as_bytes(), 0) {
                filled.push_str(&rest[..start - 1]);
                let mut texts = self.holes.iter().zip(texts);
                if let Some((_, text)) = texts.find(|(hole, _)| **hole == &rest[start..end]) {
                    filled.push_str(&text.replace('\n', &format!("\n{indent}")));
                }
                rest = &rest[end + 1..];
            }
            filled.push_str(rest);
            if filled[begin..].trim().is_empty() {
                filled.truncate(begin);
            }
        }
        filled
    }
}

/// Returns whether a text has these holes and no others.
const fn fits(text: &str, holes: &[&str]) -> bool {
    let text = text.as_bytes();
    // A bit for each hole.
    let mut found = 0_u64;
    let mut from = 0;
    while let Some((start, end)) = hole(text, from) {
        let mut n = 0;
        while n < holes.len() && !is_at(text, start, end, holes[n]) {
            n += 1;
        }
        if n == holes.len() {
            return false;
        }
        found |= 1 << n;
        from = end + 1;
    }
    found.count_ones() as usize == holes.len()
}

/// Returns where the name of the first hole after `from` begins and ends. A hole has a name, so that operators such as
/// `@>` are not holes.
const fn hole(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut start = from;
    while start < text.len() {
        if text[start] == b'@' {
            let mut end = start + 1;
            while end < text.len() && matches!(text[end], b'a'..=b'z' | b'0'..=b'9' | b'_') {
                end += 1;
            }
            if end > start + 1 && end < text.len() && text[end] == b'@' {
                return Some((start + 1, end));
            }
        }
        start += 1;
    }
    None
}

/// Returns whether this part of a text is a name.
const fn is_at(text: &[u8], start: usize, end: usize, name: &str) -> bool {
    let name = name.as_bytes();
    if name.len() != end - start {
        return false;
    }
    let mut n = 0;
    while n < name.len() {
        if text[start + n] != name[n] {
            return false;
        }
        n += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_template_has_the_holes_that_are_filled_and_no_others() {
        assert!(fits("SELECT @one@ @> @two@, @one@", &["one", "two"]));
        assert!(!fits("SELECT @one@, @two@", &["one"]), "an unfilled hole");
        assert!(!fits("SELECT @one@", &["one", "two"]), "an unknown hole");
        assert!(!fits("SELECT @one@", &["on"]), "another name");
        assert!(fits("SELECT 1 @@ 2, '@One@', 'a@b.c'", &[]), "no names");
    }

    const LINES: Template = Template::new(
        "-- A comment about @columns@.\nSELECT\n    @columns@,\n    @rest@\nFROM @table@ -- kept\n",
        &["columns", "rest", "table"],
    );

    #[test]
    fn lines_of_a_text_are_indented_as_the_line_of_its_hole() {
        let filled = LINES.fill(&["a,\nb", "c", "t"]);
        assert_eq!(filled, "SELECT\n    a,\n    b,\n    c\nFROM t -- kept");
    }

    #[test]
    fn comments_and_lines_that_have_become_empty_are_left_out() {
        let filled = LINES.fill(&["a", "", "t"]);
        assert_eq!(filled, "SELECT\n    a,\nFROM t -- kept");
    }

    const PAIR: Template = Template::new("(@one@) @one@@two@", &["one", "two"]);

    proptest! {
        /// Text that fills a hole is not searched for holes.
        #[test]
        fn holes_are_filled_with_the_very_text(one in "[a-z@,]{0,9}", two in "[a-z@,]{0,9}") {
            let filled = PAIR.fill(&[&one, &two]);
            prop_assert_eq!(filled, format!("({one}) {one}{two}"));
        }
    }
}
