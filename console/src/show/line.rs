//! Lines of text for a screen, which are cut and filled to a width.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

use crate::values::text;

/// A line: pieces of text from left to right, each with its style.
pub type Line = ratatui::text::Line<'static>;

/// The default style. No style differs from the others by colour alone.
pub const PLAIN: Style = Style::new();

/// The style of important names and numbers.
pub const STRONG: Style = PLAIN.add_modifier(Modifier::BOLD);

/// The style of text that explains.
pub const DIM: Style = PLAIN.add_modifier(Modifier::DIM);

/// The style of the titles of columns.
pub const TITLE: Style = PLAIN.add_modifier(Modifier::UNDERLINED);

/// The style of a bar, the same in the selected row.
pub const BAR: Style = PLAIN.remove_modifier(Modifier::REVERSED).fg(Color::Cyan);

/// The style of a state that needs attention.
pub const WARNING: Style = STRONG.fg(Color::Yellow);

/// The style of a state that is bad.
pub const BAD: Style = STRONG.fg(Color::Red);

/// Returns a line of one piece.
pub fn line(text: impl Into<String>, style: Style) -> Line {
    Span::styled(text.into(), style).into()
}

/// Appends a piece.
pub fn push(line: &mut Line, text: impl Into<String>, style: Style) {
    line.push_span(Span::styled(text.into(), style));
}

/// Appends a piece if the line stays within a width.
pub fn push_if_fits(line: &mut Line, text: String, style: Style, width: usize) {
    if line.width() + text::width(&text) <= width {
        push(line, text, style);
    }
}

/// Appends a piece at the right edge of a width.
pub fn push_right(line: &mut Line, text: String, style: Style, width: usize) {
    let taken = line.width() + text::width(&text);
    push(line, " ".repeat(width.saturating_sub(taken)), PLAIN);
    push(line, text, style);
}

/// Cuts a line to a width.
pub fn cut(line: &mut Line, width: usize) {
    let mut left = width;
    for span in &mut line.spans {
        span.content = text::cut(&span.content, left).into();
        left -= text::width(&span.content);
    }
}
