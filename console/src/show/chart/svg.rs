//! An SVG that is being written. All text goes through one function that escapes it.

use std::fmt::Write as _;

use crate::values::text::shown;

/// The place of a text relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at the point.
    Start,
    /// The middle of the text is at the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// An SVG.
#[derive(Debug, Clone, PartialEq)]
pub struct Svg {
    text: String,
}

impl Svg {
    /// Begins an SVG with a title and a description for those who cannot see it.
    pub fn new(class: &str, (width, height): (f64, f64), title: &str, description: &str) -> Self {
        let text = format!(
            r#"<svg class="{class}" viewBox="0 0 {} {}" role="img" xmlns="http://www.w3.org/2000/svg"><title>{}</title><desc>{}</desc>"#,
            Coordinate(width),
            Coordinate(height),
            escape(title),
            escape(description)
        );
        Self { text }
    }

    /// Writes a text.
    pub fn text(&mut self, (x, y): (f64, f64), class: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let (x, y, text) = (Coordinate(x), Coordinate(y), escape(text));
        let _ = write!(
            self.text,
            r#"<text x="{x}" y="{y}" class="{class}"{anchor}>{text}</text>"#
        );
    }

    /// Draws a rectangle from its upper left corner, which may have a text that appears at the pointer.
    pub fn rect(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        class: &str,
        tip: Option<&str>,
    ) {
        let [x, y, width, height] = [x, y, width, height].map(Coordinate);
        let edges = format!(r#"x="{x}" y="{y}" width="{width}" height="{height}""#);
        self.element("rect", &edges, class, tip);
    }

    /// Draws a path, which may have a text that appears at the pointer.
    pub fn path(&mut self, path: &str, class: &str, tip: Option<&str>) {
        if !path.is_empty() {
            self.element("path", &format!(r#"d="{path}""#), class, tip);
        }
    }

    fn element(&mut self, name: &str, attributes: &str, class: &str, tip: Option<&str>) {
        let end = match tip {
            Some(tip) => format!("><title>{}</title></{name}>", escape(tip)),
            None => "/>".to_owned(),
        };
        let _ = write!(self.text, r#"<{name} {attributes} class="{class}"{end}"#);
    }

    /// Draws a straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let [x, y, to_x, to_y] = [from.0, from.1, to.0, to.1].map(Coordinate);
        self.path(&format!("M{x} {y}L{to_x} {to_y}"), class, None);
    }

    /// Defines the pattern of cells without data, under a name that no other chart of the page has.
    pub fn hatch(&mut self, name: &str) {
        let _ = write!(
            self.text,
            r#"<defs><pattern id="{name}" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V4" class="hatch"/></pattern></defs>"#
        );
    }

    /// Draws a path that is filled with such a pattern.
    pub fn hatched(&mut self, path: &str, name: &str) {
        if !path.is_empty() {
            let _ = write!(self.text, r#"<path d="{path}" fill="url(#{name})"/>"#);
        }
    }

    /// Returns the whole.
    pub fn finish(self) -> String {
        self.text + "</svg>"
    }
}

/// Returns a text that can stand in an element or in an attribute. It is shown as on a terminal: no character of it changes
/// the order of others.
fn escape(text: &str) -> String {
    escaped(&shown(text))
}

/// Returns a text of any length that can stand in an element or in an attribute.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// A coordinate with at most one digit behind the point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coordinate(pub f64);

impl std::fmt::Display for Coordinate {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = (self.0 * 10.0).round() / 10.0;
        // A negative zero would print its sign.
        write!(out, "{}", if tenths == 0.0 { 0.0 } else { tenths })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_text() {
        let mut svg = Svg::new("wide", (10.0, 5.0), "<b>", "a & b");
        svg.text((1.0, 2.25), "t", Anchor::End, "\"</text><script>\u{202e}");
        svg.rect((-0.01, 1.0), (2.0, 3.0), "c", Some("o'k"));
        assert_eq!(
            svg.finish(),
            "<svg class=\"wide\" viewBox=\"0 0 10 5\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\"><title>&lt;b&gt;</title>\
             <desc>a &amp; b</desc><text x=\"1\" y=\"2.3\" class=\"t\" text-anchor=\"end\">&quot;&lt;/text&gt;&lt;script&gt;\
             \\u{202e}</text><rect x=\"0\" y=\"1\" width=\"2\" height=\"3\" class=\"c\"><title>o&#39;k</title></rect></svg>"
        );
    }
}
