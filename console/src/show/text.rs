//! Pages as text: tables of aligned columns, and courses as lines of bars.

use ratatui::crossterm::style::Stylize;

use super::chart::{Chart, Course};
use super::document::{Block, Cell, Figure, Level, Page, Table};
use crate::values::number::{bar, mean, sparkline};
use crate::values::text::{cut, left, right, shown, width};
use crate::values::when;

/// The narrowest and the widest text. Longer lines would be hard to read.
const WIDTHS: (usize, usize) = (56, 100);

/// The minimum width of facts side by side.
const WIDE: usize = 79;

/// The cells of the label of a fact, and of a course.
const LABEL: usize = 17;
const COURSE: usize = 19;

/// The largest number of rows of a table that is shown whole, and the number of rows of a longer table.
const WHOLE: usize = 12;
const ROWS: usize = 8;

/// The number of rows below another row of the table.
const PARTS: usize = 4;

/// The cells between columns.
const GAP: usize = 2;

/// The cells of the level of a finding, before its sentence.
const LEVEL: usize = 6;

/// The cells of a bar, with the blank behind it, and the minimum width of a column of names.
const BAR: usize = 9;
const NAME: usize = 12;

/// The room for text, which lines do not leave.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    pub cells: usize,
    pub is_coloured: bool,
}

/// The lines of a page.
struct Text {
    screen: Screen,
    lines: Vec<String>,
}

impl Page {
    /// Returns the page as text without statements, which are only in HTML. Levels may be coloured in addition to their word.
    pub fn text(&self, screen: Screen) -> String {
        let cells = screen.cells.clamp(WIDTHS.0, WIDTHS.1);
        let mut text = Text {
            screen: Screen { cells, ..screen },
            lines: vec!["=".repeat(cells)],
        };
        let heading = cut(&shown(&self.heading), cells);
        let blanks = (cells - width(&heading)) / 2;
        text.lines.push(format!("{}{heading}", " ".repeat(blanks)));
        text.lines.push("=".repeat(cells));
        text.paragraph(" ", &self.lead);
        text.paragraph(" ", &self.about.join(" · "));
        for section in &self.sections {
            text.titled(section.heading, |text| {
                for (at, block) in section.blocks.iter().enumerate() {
                    text.block(block, section.blocks.get(at + 1));
                }
            });
        }
        let lines = text
            .lines
            .iter()
            .map(|line| format!("{}\n", line.trim_end()));
        lines.collect()
    }
}

impl Text {
    /// Adds the lines of a section below its heading, if there are any.
    fn titled(&mut self, heading: &str, add: impl FnOnce(&mut Self)) {
        let rest = self.screen.cells.saturating_sub(width(heading) + 4);
        let start = self.lines.len();
        self.lines.push(String::new());
        self.lines
            .push(format!("── {heading} {}", "─".repeat(rest)));
        add(self);
        if self.lines.len() == start + 2 {
            self.lines.truncate(start);
        }
    }

    /// Adds a block that is followed by another one.
    fn block(&mut self, block: &Block, next: Option<&Block>) {
        match block {
            Block::Text(text) => self.paragraph(" ", text),
            Block::List(lines) => lines.iter().for_each(|line| self.paragraph(" * ", line)),
            Block::Numbered(lines) => {
                for (at, line) in lines.iter().enumerate() {
                    self.paragraph(&format!(" {}. ", at + 1), line);
                }
            }
            Block::Facts(facts) => self.facts(facts),
            Block::Tables(tables) => tables.iter().for_each(|table| self.table(&table.filled())),
            Block::Figure(figure) => self.figure(figure, next),
            Block::Statements(_) => {}
        }
    }

    /// Breaks a text into lines, the first starting with these cells.
    fn paragraph(&mut self, lead: &str, text: &str) {
        let indent = " ".repeat(width(lead));
        let room = self.screen.cells - indent.len();
        let mut line = lead.to_owned();
        for word in shown(text).split(' ') {
            let mut word = word.to_owned();
            if width(&line) > indent.len() {
                if width(&line) + 1 + width(&word) <= self.screen.cells {
                    line.push(' ');
                } else {
                    self.lines
                        .push(std::mem::replace(&mut line, indent.clone()));
                }
            }
            // A word that is longer than a line, such as a name, is cut into pieces.
            while width(&word) > room {
                let piece: String = word.chars().take(room / 2).collect();
                word = word[piece.len()..].to_owned();
                line.push_str(&piece);
                self.lines
                    .push(std::mem::replace(&mut line, indent.clone()));
            }
            line.push_str(&word);
        }
        self.lines.push(line);
    }

    fn facts(&mut self, facts: &[(String, String)]) {
        let columns = if self.screen.cells < WIDE { 1 } else { 2 };
        let room = (self.screen.cells - 1) / columns - LABEL;
        for facts in facts.chunks(columns) {
            let facts = facts.iter().map(|(label, value)| {
                let value = left(&shown(value), room);
                format!("{}: {value}", right(label, LABEL - 2))
            });
            self.lines.push(facts.collect::<Vec<_>>().join(" "));
        }
    }

    /// Adds a course as a line of bars, with the axis below the last of several courses, or the description of another chart.
    fn figure(&mut self, figure: &Figure, next: Option<&Block>) {
        let Chart {
            description,
            course,
            ..
        } = &figure.chart;
        let Some(course) = course else {
            self.paragraph(" ", &format!("{}: {description}", figure.heading));
            return;
        };
        let room = self.screen.cells - COURSE - 1;
        // A narrow screen joins steps to fewer bars.
        let joined = course.values.len().div_ceil(room).max(1);
        let bars = course.values.chunks(joined);
        let bars: Vec<_> = bars
            .map(|bar| mean(bar.iter().copied().flatten()))
            .collect();
        let mut label = figure.heading.as_str();
        if width(label) >= COURSE {
            self.paragraph(" ", label);
            label = "";
        }
        let label = left(&format!(" {label}"), COURSE);
        self.lines
            .push(format!("{label}{}", sparkline(&bars, room)));
        let is_followed = matches!(next, Some(Block::Figure(next)) if next.chart.course.is_some());
        if !is_followed {
            self.axis(course, bars.len(), joined);
        }
    }

    fn axis(&mut self, course: &Course, bars: usize, joined: usize) {
        let [start, end] = &course.ends;
        let room = bars.max(width(start) + width(end) + 2) - width(end);
        let axis = format!("{}{}{end}", " ".repeat(COURSE), left(start, room));
        let bar = when::width(course.step * joined as i64);
        self.lines.push(axis);
        self.paragraph(
            " ",
            &format!("Each bar is {bar}, to the maximum of its line."),
        );
    }

    fn table(&mut self, table: &Table) {
        if table.rows.iter().flatten().any(|cell| cell.is_long) {
            self.listed(table);
        } else if !table.rows.is_empty() {
            self.aligned(table);
        }
        if let Some(note) = &table.note {
            self.paragraph(" ", note);
        }
    }

    /// Adds a table with sentences: each row as its short cells, and its sentences below.
    fn listed(&mut self, table: &Table) {
        let blank = " ".repeat(LEVEL);
        for row in &table.rows {
            let start = self.lines.len();
            let (long, short): (Vec<_>, Vec<_>) = row.iter().partition(|cell| cell.is_long);
            let short: Vec<_> = short.iter().map(|cell| shown(&cell.text)).collect();
            let mut lead = cut(&format!(" {}", short.join("  ")), self.screen.cells);
            if width(&lead) < LEVEL {
                lead = left(&lead, LEVEL);
            } else {
                self.lines.push(std::mem::replace(&mut lead, blank.clone()));
            }
            for cell in long.iter().filter(|cell| !cell.text.is_empty()) {
                self.paragraph(&lead, &cell.text);
                lead.clone_from(&blank);
            }
            for cell in row.iter().filter(|_| self.screen.is_coloured) {
                let word = cell.text.as_str();
                let word = match cell.level {
                    Some(Level::Bad) => word.red().bold(),
                    Some(Level::Fair) => word.yellow(),
                    None => continue,
                };
                let line = &mut self.lines[start];
                *line = line.replacen(&cell.text, &word.to_string(), 1);
            }
        }
        self.more(table.more);
    }

    /// Adds a table of names and numbers. Its caption is the title of the first column, if it fits.
    fn aligned(&mut self, table: &Table) {
        let top = table.rows.iter().filter(|row| !row[0].is_part).count();
        let most = if top > WHOLE { ROWS } else { top };
        let lines = lines(&table.rows, most);
        let rows: Vec<_> = lines.iter().filter_map(|line| line.as_ref().ok()).collect();
        let mut columns = columns(table, &rows);
        fit(&mut columns, self.screen.cells);
        if !self.lines.last().is_some_and(|line| line.starts_with('─')) {
            self.lines.push(String::new());
        }
        let mut titles: Vec<_> = table.columns.iter().map(|it| it.0.clone()).collect();
        match width(&table.caption) <= columns[0].width {
            true => titles[0].clone_from(&table.caption),
            false => self.paragraph(" ", &table.caption),
        }
        let titles = titles.into_iter().zip(&columns);
        self.lines
            .push(line(titles.map(|(title, column)| column.aligned(&title))));
        self.lines.push("─".repeat(self.screen.cells));
        self.lines.extend(lines.iter().map(|shown| {
            match shown {
                Ok(row) => line(
                    row.iter()
                        .zip(&columns)
                        .map(|(cell, column)| column.cell(cell)),
                ),
                Err(others) => cut(&format!("   also {others}"), self.screen.cells),
            }
        }));
        self.more(table.more + top - most);
    }

    fn more(&mut self, rows: usize) {
        if rows > 0 {
            self.lines.push(format!(" {rows} more"));
        }
    }
}

/// Returns the first rows, and the names of parts that are left out of a row.
fn lines(rows: &[Vec<Cell>], most: usize) -> Vec<Result<&[Cell], String>> {
    let mut lines: Vec<Result<&[Cell], String>> = Vec::new();
    let (mut top, mut parts) = (0, 0);
    for row in rows {
        (top, parts) = match row[0].is_part {
            true => (top, parts + 1),
            false => (top + 1, 0),
        };
        match (lines.last_mut(), &row[0].text) {
            _ if top > most => break,
            (Some(Err(others)), name) if parts > PARTS => others.push_str(&format!(", {name}")),
            (_, name) if parts > PARTS => lines.push(Err(name.clone())),
            _ => lines.push(Ok(row)),
        }
    }
    lines
}

/// A column of a table.
struct Column {
    is_number: bool,
    /// The cells of bars, if there is room for them.
    bar: Option<usize>,
    width: usize,
}

impl Column {
    fn aligned(&self, text: &str) -> String {
        match self.is_number {
            true => right(text, self.width),
            false => left(text, self.width),
        }
    }

    fn cell(&self, cell: &Cell) -> String {
        let text = self.aligned(&named(cell));
        match (cell.bar, self.bar) {
            (Some(length), Some(cells @ 1..)) => {
                let bar = bar(f64::from(length) / 100.0, cells - 1);
                left(&bar, cells) + &right(&named(cell), self.width - cells)
            }
            _ => text,
        }
    }
}

/// Returns the text of a cell; a part is indented.
fn named(cell: &Cell) -> String {
    let indent = if cell.is_part { "  " } else { "" };
    format!("{indent}{}", shown(&cell.text))
}

fn columns(table: &Table, rows: &[&&[Cell]]) -> Vec<Column> {
    let columns = table.columns.iter().enumerate();
    let columns = columns.map(|(at, (title, is_number))| {
        let cells = || rows.iter().filter_map(|row| row.get(at));
        let longest = cells().map(|cell| width(&named(cell))).max();
        Column {
            is_number: *is_number,
            bar: cells().any(|cell| cell.bar.is_some()).then_some(0),
            width: longest.unwrap_or(0).max(width(title)),
        }
    });
    columns.collect()
}

/// Shortens columns of names, and then drops columns from the right, until they fit. Bars and then the first column get the room that is
/// left.
fn fit(columns: &mut Vec<Column>, cells: usize) {
    let taken = |columns: &[Column]| {
        let widths = columns.iter().map(|column| column.width + GAP);
        widths.sum::<usize>() + 1 - GAP
    };
    while taken(columns) > cells {
        let over = taken(columns) - cells;
        let names = columns.iter_mut();
        let names = names.filter(|column| !column.is_number && column.width > NAME);
        match names.max_by_key(|column| column.width) {
            Some(longest) => longest.width = longest.width.saturating_sub(over).max(NAME),
            None => drop(columns.pop()),
        }
    }
    let mut spare = cells - taken(columns);
    let mut with_bars = columns.iter_mut().filter(|column| column.bar.is_some());
    if let Some(column) = with_bars.next().filter(|_| spare >= BAR) {
        column.bar = Some(BAR);
        column.width += BAR;
        spare -= BAR;
    }
    columns[0].width += spare;
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!(" {}", cells.collect::<Vec<_>>().join(&" ".repeat(GAP)))
}
