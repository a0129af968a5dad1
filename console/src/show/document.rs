//! Answers as pages of sections, tables and figures, which [`crate::show::html`] and [`crate::show::text`] print.

use jobstats_core::judgement::finding::Level;
use jobstats_core::output::quantity::Quantity;

use crate::show::chart::Chart;
use crate::values::number::{Number, UNKNOWN, percent};
use crate::values::text::{cut, shown};

/// The largest number of rows of a table.
pub const ROWS: usize = 200;

/// The largest width of a name in a table.
const NAME: usize = 40;

/// A page.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The title of the document.
    pub title: String,
    /// The word above the heading, such as `File system`.
    pub kind: &'static str,
    pub heading: String,
    /// The main sentence.
    pub lead: String,
    /// Lines about the page: its window and zone.
    pub about: Vec<String>,
    /// The time and the program that made the page, if it has sections.
    pub made: Option<String>,
    pub sections: Vec<Section>,
}

/// A section of a page.
#[derive(Debug, Clone)]
pub struct Section {
    /// The name of the section in links.
    pub id: &'static str,
    pub heading: &'static str,
    /// The parts, from top to bottom.
    pub blocks: Vec<Block>,
}

impl Section {
    /// Returns a section with its name in links and its heading.
    pub const fn new(id: &'static str, heading: &'static str, blocks: Vec<Block>) -> Self {
        Self {
            id,
            heading,
            blocks,
        }
    }
}

/// Statements that answer the same, each with a title.
pub type Statements = Vec<(String, String)>;

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
    Figure(Box<Figure>),
    /// Statements that answer the same.
    Statements(Statements),
}

impl Block {
    /// Returns a paragraph.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns notices as a list, if there are any.
    pub fn notes(notes: &[String]) -> Option<Self> {
        let shown = || notes.iter().map(|note| shown(note)).collect();
        (!notes.is_empty()).then(|| Self::List(shown()))
    }

    /// Returns a statement with its title.
    pub fn statement(title: &str, statement: String) -> Self {
        Self::Statements(vec![(title.to_owned(), statement)])
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Tables(vec![table])
    }
}

impl From<Figure> for Block {
    fn from(figure: Figure) -> Self {
        Self::Figure(Box::new(figure))
    }
}

/// A picture with its caption, its numbers, and the statements that answer the same.
#[derive(Debug, Clone)]
pub struct Figure {
    pub heading: String,
    /// Sentences about the picture.
    pub caption: String,
    pub chart: Chart,
    pub table: Table,
    pub statements: Statements,
}

/// A table.
#[derive(Debug, Clone, Default)]
pub struct Table {
    pub caption: String,
    /// The titles of the columns; true for numbers.
    pub columns: Vec<(String, bool)>,
    pub rows: Vec<Vec<Cell>>,
    /// The number of rows that are left out.
    pub more: usize,
    /// A sentence below the table.
    pub note: Option<String>,
}

/// A cell of a table.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    pub text: String,
    /// The length of a bar in percent, if there is one.
    pub bar: Option<u32>,
    pub is_number: bool,
    /// The level of a finding that is not good, which has a colour.
    pub level: Option<Level>,
    /// True for sentences.
    pub is_long: bool,
    /// True for the name of a part of the row above.
    pub is_part: bool,
    /// The address that the text leads to.
    pub link: Option<String>,
}

impl Page {
    /// Returns the page without statements of SQL.
    pub fn without_statements(mut self) -> Self {
        for section in &mut self.sections {
            section
                .blocks
                .retain(|it| !matches!(it, Block::Statements(_)));
            for block in &mut section.blocks {
                if let Block::Figure(figure) = block {
                    figure.statements.clear();
                }
            }
        }
        self.sections.retain(|it| !it.blocks.is_empty());
        self
    }
}

impl Cell {
    /// Returns a cell of a name, truncated if very long.
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
            is_long: true,
            ..Self::default()
        }
    }

    /// Returns the level of a finding, or the severity of an alert, with its colour.
    pub fn level(level: &str) -> Self {
        Self {
            level: match level {
                "fair" | "warning" => Some(Level::Fair),
                "bad" | "critical" => Some(Level::Bad),
                _ => None,
            },
            ..Self::text(level)
        }
    }

    /// Returns a cell of a number.
    pub fn number(number: impl ToString) -> Self {
        Self {
            text: number.to_string(),
            is_number: true,
            ..Self::default()
        }
    }

    /// Returns a cell of a name, or of an unknown name.
    pub fn name(name: Option<impl AsRef<str>>) -> Self {
        Self::text(name.as_ref().map_or(UNKNOWN, AsRef::as_ref))
    }

    /// Returns a cell of a value of an operation.
    pub fn value(value: impl Into<Option<f64>>, operation: &str, quantity: Quantity) -> Self {
        Self::number(Number::fixed(value.into(), operation, quantity).text())
    }

    /// Returns a cell of a rate of an operation.
    pub fn rate(rate: impl Into<Option<f64>>, operation: &str) -> Self {
        Self::value(rate, operation, Quantity::Rate)
    }

    /// Returns a cell of a part of a whole.
    pub fn percent(part: Option<f64>) -> Self {
        Self::number(percent(part))
    }

    /// Returns a cell of a part of a whole, with a bar that is a part of the longest.
    pub fn bar(part: Option<f64>, length: f64) -> Self {
        Self {
            bar: Some((length * 100.0).clamp(0.0, 100.0).round() as u32),
            ..Self::percent(part)
        }
    }
}

impl Table {
    /// Returns a table of rows with titled cells.
    pub fn new<T: Into<String>, R: IntoIterator<Item = (T, Cell)>>(
        caption: &str,
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        let mut table = Self {
            caption: caption.to_owned(),
            ..Self::default()
        };
        for row in rows {
            let is_first = table.rows.is_empty();
            let mut cells = Vec::new();
            for (at, (title, cell)) in row.into_iter().enumerate() {
                if is_first {
                    table.columns.push((title.into(), false));
                }
                table.columns[at].1 |= cell.is_number;
                cells.push(cell);
            }
            table.rows.push(cells);
        }
        table
    }

    /// Returns a table of the rows with the largest numbers, and the number of other rows.
    pub fn largest<R, T: Into<String>, C: IntoIterator<Item = (T, Cell)>>(
        caption: &str,
        rows: &[R],
        number: impl Fn(&R) -> Option<f64>,
        cells: impl Fn(&R) -> C,
    ) -> Self {
        let number = |row: &R| number(row).unwrap_or(f64::NEG_INFINITY);
        let mut largest: Vec<_> = rows.iter().collect();
        largest.sort_by(|one, other| number(other).total_cmp(&number(one)));
        Self {
            more: rows.len().saturating_sub(ROWS),
            ..Self::new(caption, largest.into_iter().take(ROWS).map(cells))
        }
    }

    /// Drops empty columns after the first.
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
}
