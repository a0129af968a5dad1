//! A page of HTML that needs nothing else: no script, no font, no file beside it.
//!
//! Templates escape all text. The only pieces that they take as they are, are the SVG of [`crate::show::chart`], which
//! escapes text in one place, and the style sheet.

use askama::Template;

use crate::show::chart::Chart;
use crate::show::chart::svg::escaped;
use crate::values::number::UNKNOWN;
use crate::values::text::{cut, push_shown, shown};

#[cfg(test)]
mod tests;

/// The largest number of rows of a table.
pub const ROWS: usize = 200;

/// The largest width of a name in a table.
const NAME: usize = 40;

/// The length up to which a word with hyphens is kept on one line, even that of a phone.
const WHOLE: usize = 32;

/// A page.
#[derive(Debug, Clone, Template)]
#[template(path = "page.html")]
pub struct Page {
    /// The title of the document.
    pub title: String,
    /// The word above the heading, such as `File system`.
    pub kind: String,
    /// The heading.
    pub heading: String,
    /// The sentence that says the most important.
    pub lead: String,
    /// Lines about the page: its window, zone and origin.
    pub about: Vec<String>,
    /// The sections.
    pub sections: Vec<Section>,
}

/// A section of a page.
#[derive(Debug, Clone)]
pub struct Section {
    /// The name of the section in links.
    pub id: &'static str,
    /// The heading.
    pub heading: String,
    /// The parts, from top to bottom.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug, Clone)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// Sentences.
    List(Vec<String>),
    /// Numbered sentences.
    Numbered(Vec<String>),
    /// Properties with their values.
    Facts(Vec<(String, String)>),
    /// Tables side by side.
    Tables(Vec<Table>),
    /// A picture.
    Figure(Box<Figure>),
    /// Statements that answer the same.
    Statements(Vec<(String, String)>),
}

/// A picture, with what to see in it, its numbers, and the statements that answer the same.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The heading.
    pub heading: String,
    /// A sentence that says what to see.
    pub caption: String,
    /// The chart.
    pub chart: Chart,
    /// The numbers.
    pub table: Table,
    /// The statements.
    pub statements: Vec<(String, String)>,
}

/// A table.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The heading.
    pub caption: String,
    /// The titles of the columns; true for numbers.
    pub columns: Vec<(String, bool)>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// The number of rows that are left out.
    pub more: usize,
    /// A sentence below the table.
    pub note: Option<String>,
}

/// A cell of a table.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// The length of a bar in percent, if there is one.
    pub bar: Option<u32>,
    /// True for numbers.
    pub is_number: bool,
}

impl Cell {
    /// Returns a cell of a name, of which the end is cut if it is very long.
    pub fn text(text: &str) -> Self {
        Self {
            text: cut(&shown(text), NAME),
            ..Self::default()
        }
    }

    /// Returns a cell of whole sentences.
    pub fn sentences(text: &str) -> Self {
        Self {
            text: shown(text),
            ..Self::default()
        }
    }

    /// Returns a cell of a number.
    pub fn number(text: String) -> Self {
        Self {
            text,
            is_number: true,
            ..Self::default()
        }
    }

    /// Returns a cell of a number with a bar, which is a part of the largest.
    pub fn bar(text: String, part: f64) -> Self {
        Self {
            text,
            is_number: true,
            bar: Some((part * 100.0).clamp(0.0, 100.0).round() as u32),
        }
    }
}

impl Table {
    /// Returns an empty table of these columns; those that begin with `#` have numbers.
    pub fn new(caption: &str, columns: &[&str]) -> Self {
        let column = |title: &&str| {
            let number = title.strip_prefix('#');
            (number.unwrap_or(title).to_owned(), number.is_some())
        };
        Self {
            caption: caption.to_owned(),
            columns: columns.iter().map(column).collect(),
            ..Self::default()
        }
    }

    /// Returns the table without the columns, after the first, in which nothing is known.
    pub fn filled(&self) -> Self {
        let is_known = |cell: &Cell| !["", UNKNOWN].contains(&&*cell.text);
        let has_any = |at: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(at));
            at == 0 || cells.any(is_known)
        };
        let kept: Vec<_> = (0..self.columns.len()).filter(|at| has_any(*at)).collect();
        let row = |row: &Vec<Cell>| kept.iter().filter_map(|at| row.get(*at).cloned()).collect();
        Self {
            columns: kept.iter().map(|at| self.columns[*at].clone()).collect(),
            rows: self.rows.iter().map(row).collect(),
            ..self.clone()
        }
    }

    /// Takes the largest rows by a number.
    pub fn largest(mut self, mut rows: Vec<(f64, Vec<Cell>)>) -> Self {
        rows.sort_by(|one, other| other.0.total_cmp(&one.0));
        self.more = rows.len().saturating_sub(ROWS);
        rows.truncate(ROWS);
        self.rows = rows.into_iter().map(|(_, row)| row).collect();
        self
    }
}

impl Page {
    /// Returns the document.
    ///
    /// # Errors
    ///
    /// Fails only if a text cannot be formatted.
    pub fn document(&self) -> Result<String, askama::Error> {
        let mut out = String::new();
        // No text, wherever it comes from, may change how others are read.
        for (number, line) in self.render()?.split('\n').enumerate() {
            if number > 0 {
                out.push('\n');
            }
            push_shown(&mut out, line);
        }
        Ok(out)
    }
}

/// Returns the tables that say something.
fn present(tables: &[Table]) -> Vec<Table> {
    let says = |table: &&Table| !table.rows.is_empty() || table.note.is_some();
    tables.iter().filter(says).map(Table::filled).collect()
}

/// Returns a text as HTML in which no line ends between a number and its unit, within a date, or within the
/// name of a target.
fn prose(text: &str) -> String {
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
    let unit = unit
        .strip_suffix("iB")
        .or(unit.strip_suffix('B'))
        .unwrap_or(unit);
    matches!(
        unit,
        "" | "%" | "k" | "K" | "M" | "G" | "T" | "P" | "E" | "s" | "ms" | "µs" | "min" | "h"
    ) && !word.is_empty()
}

/// Returns true for a date, and for the name of a target.
fn is_whole(word: &str) -> bool {
    let is_target = ["-MDT", "-OST"].iter().any(|kind| word.contains(kind));
    let hyphens = word.bytes().filter(|it| *it == b'-').count();
    let is_date = word.starts_with(|it: char| it.is_ascii_digit()) && hyphens == 2;
    word.len() <= WHOLE && (is_target || is_date)
}

/// The style sheet.
const STYLE: &str = include_str!("../../templates/page.css");
