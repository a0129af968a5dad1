//! Pages as self-contained documents of HTML, without scripts, fonts or other files.
//!
//! Templates escape all text. The only pieces that they take as they are, are the SVG of [`crate::show::chart`], which
//! escapes text in one place, and the style sheet.

use askama::Template;

use super::document::{Block, Page, Table};
use crate::show::chart::svg::escaped;
use crate::values::text::push_shown;

#[cfg(test)]
mod tests;

/// The length up to which a word with hyphens is not broken, even on a phone.
const WHOLE: usize = 32;

/// The length up to which a name is not broken.
const NAME: usize = 20;

/// The template of a page.
#[derive(Template)]
#[template(path = "page.html")]
struct Html<'p> {
    page: &'p Page,
}

impl Page {
    /// Returns the document. This fails only if a text cannot be formatted.
    pub fn document(&self) -> Result<String, askama::Error> {
        document(&Html { page: self })
    }
}

/// Returns the document of a template, in which no text, wherever it comes from, changes how others are read.
pub fn document(template: &impl Template) -> Result<String, askama::Error> {
    let document = template.render()?;
    let lines = document.split('\n').map(|line| {
        let mut out = String::new();
        push_shown(&mut out, line);
        out
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// Returns the non-empty tables.
fn present(tables: &[Table]) -> Vec<Table> {
    let says = |table: &&Table| !table.rows.is_empty() || table.note.is_some();
    tables.iter().filter(says).map(Table::filled).collect()
}

/// Returns a text as HTML in which no line ends between a number and its unit, within a date, or within the
/// name of a target.
pub fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = "";
    for (place, word) in text.split(' ').enumerate() {
        let is_unit = is_unit(word) && before.ends_with(|it: char| it.is_ascii_digit());
        if place > 0 {
            out.push(if is_unit { '\u{a0}' } else { ' ' });
        }
        match is_whole(word) {
            true => out.push_str(&format!("<span class=\"whole\">{}</span>", escaped(word))),
            false => out.push_str(&escaped(word)),
        }
        before = word;
    }
    out
}

/// Returns true for the unit of a number, which may end a sentence.
fn is_unit(word: &str) -> bool {
    let unit = word.trim_end_matches([',', '.', ';', ':', ')']);
    let unit = unit.trim_end_matches("/s");
    let prefix = unit.strip_suffix("iB").or(unit.strip_suffix('B'));
    let unit = prefix.unwrap_or(unit);
    matches!(
        unit,
        "" | "%" | "k" | "K" | "M" | "G" | "T" | "P" | "E" | "s" | "ms" | "µs" | "min" | "h"
    ) && !word.is_empty()
}

/// Returns true for a date, for the name of a target, and for a short name, such as an account.
fn is_whole(word: &str) -> bool {
    let is_target = ["-MDT", "-OST"].iter().any(|kind| word.contains(kind));
    let hyphens = word.bytes().filter(|it| *it == b'-').count();
    let is_date = word.starts_with(|it: char| it.is_ascii_digit()) && hyphens == 2;
    let is_name = word.len() <= NAME && word.contains(['_', '-']);
    word.len() <= WHOLE && (is_target || is_date || is_name)
}

/// The style sheet of all pages.
pub const STYLE: &str = include_str!("../../templates/page.css");
