//! SQL templates: files with holes `@name@`, next to the Rust that fills them.
//!
//! A template whose holes are not exactly those that the code fills does not compile.

/// Fills a template with texts. The path is relative to the file of the caller.
///
/// ```ignore
/// let statement = sql!("statement/unit.sql", key = "o.target_id", columns = columns);
/// ```
macro_rules! sql {
    ($path:literal $(, $hole:ident = $text:expr)* $(,)?) => {{
        const TEMPLATE: $crate::pg::template::Template =
            $crate::pg::template::Template::new(include_str!($path), &[$(stringify!($hole)),*]);
        TEMPLATE.fill(&[$(::core::convert::AsRef::<str>::as_ref(&$text)),*])
    }};
}

pub(crate) use sql;

/// A text with holes.
pub struct Template {
    text: &'static str,
    holes: &'static [&'static str],
}

// These are the tests of `new`, which are run whenever this is compiled.
const _: () = {
    assert!(fits("SELECT @one@ @> @two@, @one@", &["one", "two"]));
    assert!(!fits("SELECT @one@, @two@", &["one"]), "an unfilled hole");
    assert!(!fits("SELECT @one@", &["one", "two"]), "an unknown hole");
    assert!(!fits("SELECT @one@", &["on"]), "another name");
};

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
                self.put(&rest[start..end], texts, indent, &mut filled);
                rest = &rest[end + 1..];
            }
            filled.push_str(rest);
            if filled[begin..].trim().is_empty() {
                filled.truncate(begin);
            }
        }
        filled
    }

    fn put(&self, name: &str, texts: &[&str], indent: &str, filled: &mut String) {
        let position = self.holes.iter().position(|hole| *hole == name);
        let text = position.and_then(|position| texts.get(position));
        for (number, line) in text
            .into_iter()
            .flat_map(|text| text.split('\n'))
            .enumerate()
        {
            if number > 0 {
                filled.push('\n');
                filled.push_str(indent);
            }
            filled.push_str(line);
        }
    }
}

/// Returns whether a text has these holes and no others.
const fn fits(text: &str, holes: &[&str]) -> bool {
    let text = text.as_bytes();
    let mut from = 0;
    while let Some((start, end)) = hole(text, from) {
        let (mut known, mut n) = (false, 0);
        while n < holes.len() {
            known = known || is_at(text, start, end, holes[n]);
            n += 1;
        }
        if !known {
            return false;
        }
        from = end + 1;
    }
    let mut n = 0;
    while n < holes.len() {
        if !has(text, holes[n]) {
            return false;
        }
        n += 1;
    }
    true
}

/// Returns whether a text has a hole of this name.
const fn has(text: &[u8], name: &str) -> bool {
    let mut from = 0;
    while let Some((start, end)) = hole(text, from) {
        if is_at(text, start, end, name) {
            return true;
        }
        from = end + 1;
    }
    false
}

/// Returns where the name of the first hole after `from` begins and ends. A hole has a name, so that operators such as
/// `@>` are none.
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
