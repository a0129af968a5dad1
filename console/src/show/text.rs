//! Pages as text: tables of aligned columns, and courses as lines of bars.

use jobstats_core::judgement::finding::Level;
use ratatui::crossterm::style::Stylize;

use super::document::{Block, Cell, Figure, Page, Table};
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

/// The width up to which a caption is the title of the first column.
const TITLE: usize = 24;

/// The blanks between columns.
const GAP: &str = "  ";

/// The cells of the level of a finding, before its sentence.
const LEVEL: usize = 6;

/// The cells of a bar, and the minimum width of a column of names.
const BAR: usize = 8;
const NAME: usize = 17;

/// The width down to which a column of a list is cut.
const LEAST: usize = 6;

/// The room for text, which lines do not leave.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    pub cells: usize,
    pub is_coloured: bool,
}

impl Screen {
    /// Returns the word for a level, which may be coloured in addition.
    pub fn level(self, cell: &Cell) -> String {
        let word = cell.text.as_str();
        match cell.level.filter(|_| self.is_coloured) {
            Some(Level::Bad) => word.red().bold().to_string(),
            Some(Level::Fair) => word.yellow().to_string(),
            _ => word.to_owned(),
        }
    }
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
        if !self.about.is_empty() {
            text.paragraph(" ", &self.about.join(" · "));
        }
        for section in &self.sections {
            let start = text.lines.len();
            let rest = cells.saturating_sub(width(section.heading) + 4);
            let heading = format!("── {} {}", section.heading, "─".repeat(rest));
            text.lines.extend([String::new(), heading]);
            for (at, block) in section.blocks.iter().enumerate() {
                text.block(block, section.blocks.get(at + 1));
            }
            if text.lines.len() == start + 2 {
                text.lines.truncate(start);
            }
        }
        let lines = text
            .lines
            .iter()
            .map(|line| format!("{}\n", line.trim_end()));
        lines.collect()
    }
}

impl Text {
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
        let indent = width(lead);
        let room = self.screen.cells - indent;
        let mut line = lead.to_owned();
        // No line begins with a percent sign.
        for word in shown(text).replace(" %", "\u{a0}%").split(' ') {
            let word = cut(word, room).replace('\u{a0}', " ");
            if width(&line) + 1 + width(&word) > self.screen.cells {
                self.lines.push(line);
                line = " ".repeat(indent);
            }
            if width(&line) > indent {
                line.push(' ');
            }
            line.push_str(&word);
        }
        self.lines.push(line);
    }

    /// Adds short facts side by side, and each long one below them.
    fn facts(&mut self, facts: &[(String, String)]) {
        let columns = if self.screen.cells < WIDE { 1 } else { 2 };
        let room = (self.screen.cells - 1) / columns - LABEL;
        let lead = |label: &str| format!("{}: ", right(label, LABEL - 2));
        let is_short = |(_, value): &&(String, String)| width(&shown(value)) <= room;
        let (short, long): (Vec<_>, Vec<_>) = facts.iter().partition(is_short);
        for facts in short.chunks(columns) {
            let facts = facts.iter();
            let facts = facts.map(|(label, value)| lead(label) + &left(&shown(value), room));
            self.lines.push(facts.collect::<Vec<_>>().join(" "));
        }
        for (label, value) in long {
            self.paragraph(&lead(label), value);
        }
    }

    /// Adds a course as a line of bars, with the axis below the last of several courses, or the description of another chart.
    fn figure(&mut self, figure: &Figure, next: Option<&Block>) {
        let Some(course) = &figure.chart.course else {
            let description = &figure.chart.description;
            self.paragraph(" ", &format!("{}. {description}", figure.heading));
            return;
        };
        let room = self.screen.cells - COURSE - 1;
        // A narrow screen joins steps to fewer bars.
        let joined = course.values.len().div_ceil(room).max(1);
        let bars = course.values.chunks(joined);
        let bars: Vec<_> = bars
            .map(|bar| mean(bar.iter().copied().flatten()))
            .collect();
        let label = left(&format!(" {}", figure.heading), COURSE);
        self.lines
            .push(format!("{label}{}", sparkline(&bars, room)));
        if matches!(next, Some(Block::Figure(next)) if next.chart.course.is_some()) {
            return;
        }
        let [start, end] = &course.ends;
        let room = bars.len().max(width(start) + width(end) + 2) - width(end);
        let axis = format!("{}{}{end}", " ".repeat(COURSE), left(start, room));
        let bar = when::width(course.step * joined as i64);
        self.lines.push(axis);
        self.paragraph(
            " ",
            &format!("Each bar is {bar}; each line is scaled to its maximum."),
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
            for cell in row.iter().filter(|cell| cell.level.is_some()) {
                let word = self.screen.level(cell);
                let line = &mut self.lines[start];
                *line = line.replacen(&cell.text, &word, 1);
            }
        }
        self.more(table.more);
    }

    /// Adds a table of names and numbers. A short caption is the title of the first column.
    fn aligned(&mut self, table: &Table) {
        let is_top = |row: &&Vec<Cell>| !row[0].is_part;
        let is_long = table.rows.iter().filter(is_top).count() > WHOLE;
        let count = if is_long { ROWS } else { table.rows.len() };
        let rows = &table.rows[..count];
        let mut titles = table.columns.clone();
        let is_title = width(&table.caption) <= TITLE;
        if is_title {
            titles[0].0.clone_from(&table.caption);
        }
        let natural = |bar| widths(&titles, rows, bar);
        let has_room = taken(&natural(BAR)) <= self.screen.cells;
        let bar = if has_room { BAR } else { 0 };
        let widths = fitted(natural(bar), &table.columns, self.screen.cells);
        let line = |texts: Vec<String>| format!(" {}", line(&texts, &table.columns, &widths));
        if !self.lines.last().is_some_and(|line| line.starts_with('─')) {
            self.lines.push(String::new());
        }
        if !is_title {
            self.paragraph(" ", &table.caption);
        }
        let titles = titles.iter().map(|(title, _)| title.clone());
        self.lines.push(line(titles.collect()));
        self.lines.push("─".repeat(self.screen.cells));
        let (mut parts, mut others) = (0, Vec::new());
        for (at, row) in rows.iter().enumerate() {
            parts = if row[0].is_part { parts + 1 } else { 0 };
            match parts > PARTS {
                true => others.push(shown(&row[0].text)),
                false => self
                    .lines
                    .push(line(row.iter().map(|it| drawn(it, bar)).collect())),
            }
            let is_last = rows.get(at + 1).is_none_or(|next| !next[0].is_part);
            if is_last && !others.is_empty() {
                let others = std::mem::take(&mut others).join(", ");
                let others = format!("   also {others}");
                self.lines.push(cut(&others, self.screen.cells));
            }
        }
        self.more(table.more + table.rows.len() - count);
    }

    fn more(&mut self, rows: usize) {
        if rows > 0 {
            self.lines.push(format!(" {rows} more"));
        }
    }
}

/// Returns a cell with its bar in so many cells.
fn drawn(cell: &Cell, cells: usize) -> String {
    let text = shown(&cell.text);
    match cell.bar {
        Some(length) if cells > 0 => {
            let bar = bar(f64::from(length) / 100.0, cells);
            format!("{} {text:>5}", left(&bar, cells))
        }
        _ if cell.is_part => format!("  {text}"),
        _ => text,
    }
}

/// Returns the widths of columns with these rows.
fn widths(columns: &[(String, bool)], rows: &[Vec<Cell>], bar: usize) -> Vec<usize> {
    let columns = columns.iter().enumerate();
    let longest = columns.map(|(at, (title, _))| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        let cells = cells.map(|cell| width(&drawn(cell, bar)));
        cells.fold(width(title), usize::max)
    });
    longest.collect()
}

/// Returns a line of texts in columns of these widths.
fn line(texts: &[String], columns: &[(String, bool)], widths: &[usize]) -> String {
    let columns = texts.iter().zip(columns).zip(widths);
    let cells = columns.map(|((text, (_, is_number)), cells)| match is_number {
        true => right(text, *cells),
        false => left(text, *cells),
    });
    cells.collect::<Vec<_>>().join(GAP)
}

/// Returns the cells of a line, which begins with a blank.
fn taken(widths: &[usize]) -> usize {
    widths.iter().map(|cells| cells + GAP.len()).sum::<usize>() + 1 - GAP.len()
}

/// Shortens columns of names, and then drops columns from the right, until they fit. The first column gets the room that is left.
fn fitted(mut widths: Vec<usize>, columns: &[(String, bool)], cells: usize) -> Vec<usize> {
    while taken(&widths) > cells {
        let over = taken(&widths) - cells;
        let names = widths.iter_mut().zip(columns);
        let names = names.filter(|(cells, (_, is_number))| !is_number && **cells > NAME);
        match names.map(|(cells, _)| cells).max() {
            Some(longest) => *longest = longest.saturating_sub(over).max(NAME),
            None => drop(widths.pop()),
        }
    }
    widths[0] += cells - taken(&widths);
    widths
}

/// The columns that may be narrower or left out, by their titles, the first ones first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fit {
    pub cut: &'static [&'static str],
    pub dropped: &'static [&'static str],
}

/// Returns the titles and all rows of a table as aligned lines without blanks around them, which are fitted into so many cells.
pub fn aligned(table: &Table, cells: usize, fit: Fit) -> Vec<String> {
    let mut table = table.filled();
    let mut widths = widths(&table.columns, &table.rows, 0);
    let over = |widths: &[usize]| taken(widths).saturating_sub(cells.saturating_add(1));
    let place = |table: &Table, title| table.columns.iter().position(|it| it.0 == title);
    for title in fit.cut {
        if let Some(at) = place(&table, *title) {
            widths[at] -= over(&widths).min(widths[at].saturating_sub(LEAST));
        }
    }
    for title in fit.dropped {
        if let Some(at) = place(&table, *title).filter(|_| over(&widths) > 0) {
            widths.remove(at);
            table.columns.remove(at);
            for row in &mut table.rows {
                row.remove(at);
            }
        }
    }
    let titles = table.columns.iter().map(|(title, _)| title.to_lowercase());
    let rows = table.rows.iter();
    let rows = rows.map(|row| row.iter().map(|cell| drawn(cell, 0)).collect());
    let lines = [titles.collect()].into_iter().chain(rows);
    let lines = lines.map(|texts: Vec<_>| line(&texts, &table.columns, &widths));
    lines.map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::document::Section;

    fn lines(block: impl Into<Block>, cells: usize) -> Vec<String> {
        let page = Page {
            title: String::new(),
            kind: "",
            heading: String::new(),
            lead: "45 % of it".to_owned(),
            about: Vec::new(),
            made: None,
            sections: vec![Section::new("one", "One", vec![block.into()])],
        };
        let text = page.text(Screen {
            cells,
            is_coloured: false,
        });
        text.lines().skip(6).map(str::to_owned).collect()
    }

    #[test]
    fn a_table_with_sentences_is_a_list() {
        let row = |job: &str, what: &str| {
            [
                ("Job", Cell::text(job)),
                ("Level", Cell::level("bad")),
                ("What", Cell::sentences(what)),
                (
                    "Advice",
                    Cell::sentences("Write 1 MiB and more at once, with a larger buffer."),
                ),
            ]
        };
        let table = Table {
            more: 3,
            ..Table::new("Advice", [row("11", "93 % of its writes were small.")])
        };
        assert_eq!(
            lines(table, 56),
            [
                " 11  bad",
                "      93 % of its writes were small.",
                "      Write 1 MiB and more at once, with a larger",
                "      buffer.",
                " 3 more"
            ]
        );
    }

    #[test]
    fn a_long_table_and_many_parts_are_shortened() {
        let part = |name: &str| Cell {
            is_part: true,
            ..Cell::text(name)
        };
        let names = ["a", "b", "c", "d", "e", "f"].map(part);
        let names = [Cell::text("all")].into_iter().chain(names);
        let rows = names.map(|name| [("Name", name), ("Number", Cell::number(1))]);
        let shown = lines(Table::new("Parts", rows), 56);
        assert!(shown[6].starts_with("   d "), "{shown:?}");
        assert_eq!(shown[7..], ["   also e, f"]);
        let rows = (0..13).map(|at| [("Name", Cell::number(at))]);
        let shown = lines(Table::new("Rows", rows), 56);
        assert_eq!((shown.len(), shown[10].as_str()), (11, " 5 more"));
    }

    #[test]
    fn columns_that_do_not_fit_are_left_out_from_the_right() {
        let titles = ["One", "Two", "Three", "Four", "Five", "Six"];
        let row = titles.map(|title| (title, Cell::number("123,456,789".to_owned())));
        let shown = lines(Table::new("Numbers", [row]), 56);
        assert!(
            shown[0].ends_with("Two        Three         Four"),
            "{shown:?}"
        );
    }

    #[test]
    fn columns_give_way_in_their_order() {
        let row = |job: &str, name: &str, nodes: u32| {
            [
                ("Job", Cell::text(job)),
                ("Name", Cell::text(name)),
                ("User", Cell::text("")),
                ("Nodes", Cell::number(nodes)),
            ]
        };
        let table = Table::new("Jobs", [row("1", "a long name", 1), row("23", "b", 100)]);
        let fit = Fit {
            cut: &["Name"],
            dropped: &["Nodes", "Name"],
        };
        let lines = |cells| aligned(&table, cells, fit);
        let whole = [
            "job  name         nodes",
            "1    a long name      1",
            "23   b              100",
        ];
        assert_eq!(lines(23), whole);
        assert_eq!(lines(18)[1], "1    a lon…      1");
        assert_eq!(lines(17), ["job  name", "1    a lon…", "23   b"]);
        assert_eq!(lines(5), ["job", "1", "23"]);
        assert_eq!(aligned(&Table::default(), 5, fit), [""]);
    }
}
