//! Shows what tmux captured of a terminal (`capture-pane -e`), as a page.

use std::fmt::Write as _;

/// The colours of a terminal that are in use: numbers of the palette, with what they look like.
const PALETTE: [(u8, &str); 8] = [
    (0, "#1d2026"),
    (1, "#ff6b66"),
    (2, "#57c975"),
    (3, "#f0c050"),
    (4, "#6da8f5"),
    (5, "#d28be0"),
    (6, "#4fc1d6"),
    (7, "#e4e6ea"),
];

/// A page without anything but the text. The height of lines lets blocks of neighbouring lines touch.
const HEAD: &str = "<!DOCTYPE html><meta charset=\"utf-8\"><title>terminal</title><style>\
    body{margin:0;background:#14161a}\
    pre{margin:0;padding:14px 18px;display:inline-block;background:#14161a;color:#e4e6ea;\
    font:15px/17px 'DejaVu Sans Mono',monospace}\
    </style><pre>";

/// The look of text from here on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    ink: Option<&'static str>,
    ground: Option<&'static str>,
    bold: bool,
    dim: bool,
    underlined: bool,
    reversed: bool,
}

impl Look {
    /// Takes over the numbers of a sequence that ends with `m`.
    fn take(&mut self, numbers: &str) {
        let mut numbers = numbers.split(';').map(|it| it.parse().unwrap_or(0_u8));
        while let Some(number) = numbers.next() {
            match number {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                4 => self.underlined = true,
                7 => self.reversed = true,
                22 => (self.bold, self.dim) = (false, false),
                24 => self.underlined = false,
                27 => self.reversed = false,
                30..=37 => self.ink = colour(number - 30),
                39 => self.ink = None,
                40..=47 => self.ground = colour(number - 40),
                49 => self.ground = None,
                // The next two numbers are the kind of the palette and the colour in it.
                38 => self.ink = numbers.nth(1).and_then(colour),
                48 => self.ground = numbers.nth(1).and_then(colour),
                _ => {}
            }
        }
    }

    fn style(self) -> String {
        let (mut ink, mut ground) = (self.ink.unwrap_or("#e4e6ea"), self.ground.unwrap_or("none"));
        if self.reversed {
            (ink, ground) = ("#14161a", self.ink.unwrap_or("#e4e6ea"));
        }
        let mut style = format!("color:{ink};background:{ground}");
        for (is_so, how) in [
            (self.bold, ";font-weight:700"),
            (self.dim, ";opacity:.65"),
            (self.underlined, ";text-decoration:underline"),
        ] {
            if is_so {
                style.push_str(how);
            }
        }
        style
    }
}

fn colour(number: u8) -> Option<&'static str> {
    let found = PALETTE.iter().find(|it| it.0 == number);
    found.map(|it| it.1)
}

/// Returns a page that shows a terminal.
pub fn page(captured: &str) -> String {
    let mut page = HEAD.to_owned();
    let mut look = Look::default();
    let mut parts = captured.trim_end().split("\u{1b}[");
    write(&mut page, look, parts.next().unwrap_or_default());
    for part in parts {
        // Sequences other than those of looks are not captured.
        let (numbers, text) = part.split_once('m').unwrap_or(("", part));
        look.take(numbers);
        write(&mut page, look, text);
    }
    page.push_str("</pre>\n");
    page
}

fn write(page: &mut String, look: Look, text: &str) {
    if text.is_empty() {
        return;
    }
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = write!(page, "<span style=\"{}\">{text}</span>", look.style());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_kept() {
        let shown = page("a\u{1b}[1;38;5;6mb<\u{1b}[0mc\u{1b}[7md\u{1b}[27;4me\n\n");
        let spans: Vec<_> = shown.split("<span style=\"").skip(1).collect();
        assert_eq!(
            spans,
            [
                "color:#e4e6ea;background:none\">a</span>",
                "color:#4fc1d6;background:none;font-weight:700\">b&lt;</span>",
                "color:#e4e6ea;background:none\">c</span>",
                "color:#14161a;background:#e4e6ea\">d</span>",
                "color:#e4e6ea;background:none;text-decoration:underline\">e</span></pre>\n",
            ]
        );
    }
}
