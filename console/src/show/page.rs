//! The text of a screen, without a terminal: lines of pieces, each with its role.

use jobstats_core::instant::Micros;

use crate::live::board::Board;
use crate::live::rows::Table;
use crate::live::view::{By, Sort, View};
use crate::show::columns::{Context, Laid, Layout, layout, whole_name};
use crate::source::Position;
use crate::values::number::Number;
use crate::values::text;

mod head;
#[cfg(test)]
mod tests;

use head::{FAILURES, failures, heads, heads_of, subject};

/// The meaning of a piece of text. Colours follow from it; no role differs from others by its colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Text without a meaning of its own.
    Plain,
    /// A name or a number that stands out.
    Strong,
    /// Text that explains.
    Dim,
    /// The titles of columns.
    Title,
    /// A bar.
    Bar,
    /// A state that needs attention.
    Warning,
    /// A state that is bad.
    Bad,
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// The role of the text.
    pub role: Role,
}

/// A line of the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// The pieces, from left to right.
    pub pieces: Vec<Piece>,
    /// True for the row that is selected.
    pub is_selected: bool,
}

impl Line {
    /// Returns a line of one piece.
    pub fn of(text: impl Into<String>, role: Role) -> Self {
        let mut line = Self::default();
        line.push(text, role);
        line
    }

    fn push(&mut self, text: impl Into<String>, role: Role) {
        self.pieces.push(Piece {
            text: text.into(),
            role,
        });
    }

    /// Returns the number of cells of the line.
    pub fn width(&self) -> usize {
        self.pieces
            .iter()
            .map(|piece| text::width(&piece.text))
            .sum()
    }

    /// Appends a piece if the line stays within a width.
    fn push_if_fits(&mut self, text: &str, role: Role, width: usize) {
        if self.width() + text::width(text) <= width {
            self.push(text, role);
        }
    }

    /// Cuts the line to a width.
    pub fn cut(mut self, width: usize) -> Self {
        let mut left = width;
        for piece in &mut self.pieces {
            piece.text = text::cut(&piece.text, left);
            left -= text::width(&piece.text);
        }
        self
    }

    /// Returns the text of the line.
    pub fn text(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| piece.text.as_str())
            .collect()
    }
}

/// The course of readings, for the head of the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// Readings are made now, at this interval.
    Live(Micros),
    /// A recording is played at this speed.
    Replay(f64, Option<Position>),
    /// One table is printed.
    Print,
}

/// The choices of a person for the screen, besides the view.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// The course of readings.
    pub mode: Mode,
    /// True if the screen stands still.
    pub is_paused: bool,
    /// The number of the selected row.
    pub selected: usize,
    /// True if the head is shown.
    pub head: bool,
    /// True if bars are drawn.
    pub bars: bool,
    /// True if the line below the table is shown.
    pub foot: bool,
    /// True if the columns are explained.
    pub legend: bool,
    /// True if amounts are shown instead of rates.
    pub amounts: bool,
    /// True if the length of bars is the logarithm.
    pub log: bool,
    /// The filter that is being typed.
    pub typing: Option<String>,
    /// The largest number of rows, if it is limited.
    pub rows: Option<usize>,
    /// A message for the line below the table.
    pub message: Option<String>,
}

impl Look {
    /// Returns the look to begin with.
    pub const fn new(mode: Mode) -> Self {
        Self {
            mode,
            is_paused: false,
            selected: 0,
            head: true,
            bars: true,
            foot: true,
            legend: false,
            amounts: false,
            log: false,
            typing: None,
            rows: None,
            message: None,
        }
    }
}

/// Returns the number of rows that a screen of this height has room for.
pub fn room(board: &Board, look: &Look, height: usize) -> usize {
    let head = if look.head {
        heads_of(board) + 1 + board.silent.len().min(FAILURES)
    } else {
        0
    };
    let around =
        head + 1 + usize::from(look.legend) + usize::from(look.foot || look.typing.is_some());
    let room = height.saturating_sub(around);
    look.rows.map_or(room, |rows| rows.min(room))
}

/// Returns the lines of the screen, none of which is wider than `width`.
pub fn page(
    board: &Board,
    table: &Table,
    view: &View,
    look: &Look,
    width: usize,
    height: usize,
) -> Vec<Line> {
    let mut lines = Vec::new();
    if look.head {
        lines.extend(heads(board, look, width));
        lines.push(subject(table, view, look, width));
        lines.extend(failures(board, width));
    }
    if look.legend {
        let legend = " in service: mean number of requests that servers work on at once · ~ numbers of a late target · \
                      – not known · ↓ ranked by";
        lines.push(Line::of(legend, Role::Dim).cut(width));
    }
    let context = Context {
        board,
        by: view.by,
        amounts: look.amounts,
        bars: look.bars,
        log: look.log,
        users: &view.users,
        accounts: view.has_accounts,
        filesystem: board.filesystem(),
    };
    let laid = layout(table, &context, width.saturating_sub(1));
    lines.extend(table_lines(table, &laid, look));
    if table.rows.is_empty() {
        lines.push(Line::of(nothing(board, table, view), Role::Dim).cut(width));
    }
    let foot = look.foot || look.typing.is_some();
    let bottom = height.saturating_sub(usize::from(foot));
    lines.truncate(bottom);
    lines.resize(bottom, Line::default());
    if foot {
        lines.push(foot_line(table, view, look, width));
    }
    lines.truncate(height);
    lines
}

fn table_lines(table: &Table, laid: &Layout, look: &Look) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut titles = Line::of(" ", Role::Title);
    let Laid { before, bar, after } = &laid.titles;
    for part in [before, bar, after] {
        titles.push(part.clone(), Role::Title);
    }
    lines.push(titles);
    for (at, (row, laid)) in table.rows.iter().zip(&laid.rows).enumerate() {
        // The sign is in front of all columns, so that it is never left out.
        let sign = if row.is_late { "~" } else { " " };
        let mut line = Line::of(sign, Role::Warning);
        line.push(laid.before.clone(), Role::Plain);
        line.push(laid.bar.clone(), Role::Bar);
        line.push(laid.after.clone(), Role::Plain);
        line.is_selected = at == look.selected;
        lines.push(line);
    }
    lines
}

/// Says why there is no row.
fn nothing(board: &Board, table: &Table, view: &View) -> String {
    let has_interval = board.targets().any(|target| target.last().is_some());
    let is_limited = !view.filter.is_empty()
        || view.minimum > 0.0
        || view.kind.is_some()
        || !view.scope.is_empty();
    match (board.readings, board.targets().next()) {
        (0, _) => " waiting for the first reading …".to_owned(),
        (_, None) => " nothing could be read".to_owned(),
        _ if !has_interval => " the first reading is made; rates follow with the second".to_owned(),
        _ if table.more == 0 && table.without_share > Some(0.0) => without(view),
        _ if table.more > 0 || is_limited => " nothing left: a shows everything again".to_owned(),
        _ => " nothing was done in this interval".to_owned(),
    }
}

/// Says why no work has a value of the dimension.
fn without(view: &View) -> String {
    match view.by {
        By::Account if !view.has_accounts => {
            " only a store knows accounts: docs/console.md".to_owned()
        }
        By::Account => {
            " no work has an account, which only accounting says: Jobs in docs/sources.md"
                .to_owned()
        }
        by => format!(
            " no identifier names a {}: jobid_name in docs/lustre.md",
            by.name()
        ),
    }
}

/// Returns the line below the table.
fn foot_line(table: &Table, view: &View, look: &Look, width: usize) -> Line {
    if let Some(typed) = &look.typing {
        let text = format!(
            "/{}█  words, or !words to leave out; Enter keeps, Esc drops",
            text::shown(typed)
        );
        return Line::of(text, Role::Strong).cut(width);
    }
    if let Some(message) = &look.message {
        return Line::of(format!(" {}", text::shown(message)), Role::Warning).cut(width);
    }
    let mut said = Vec::new();
    if table.more > 0 {
        let share = Number::percent(table.more_share).text();
        said.push(format!("── {} more, {share} ──", table.more));
    }
    let has_names = !matches!(view.by, By::Target | By::Operation);
    if has_names && let Some(share) = table.without_share.filter(|share| *share > 0.0) {
        said.push(format!(
            "without {} {}",
            view.by.name(),
            Number::percent(Some(share)).text()
        ));
    }
    let mut line = Line::of(format!(" {}", said.join("   ")), Role::Plain).cut(width);
    if let Some(row) = table.rows.get(look.selected) {
        let name = whole_name(row, view.by, &view.users);
        let room = width.saturating_sub(line.width() + 4);
        let name = text::cut(&name, room);
        line.push(
            " ".repeat(width.saturating_sub(line.width() + text::width(&name) + 1)),
            Role::Plain,
        );
        line.push(name, Role::Dim);
    }
    line.cut(width)
}

/// Returns the number that a view is really ranked by, for a title.
pub fn sorted(table: &Table, view: &View) -> Sort {
    table.sort.unwrap_or(view.sort)
}
