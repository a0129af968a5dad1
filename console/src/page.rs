//! The text of a screen, without a terminal: lines of pieces, each with its role.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use jobstats_core::instant::{Micros, SECOND};
use jobstats_core::quantity::Quantity;
use jobstats_core::target::TargetKind;

use crate::board::{Board, Status};
use crate::columns::{Context, Laid, Layout, layout, whole_name};
use crate::number::{Number, sparkline};
use crate::rows::Table;
use crate::source::Position;
use crate::text;
use crate::view::{By, Sort, View};

#[cfg(test)]
mod tests;

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
    fn of(text: impl Into<String>, role: Role) -> Self {
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

    fn width(&self) -> usize {
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
    fn cut(mut self, width: usize) -> Self {
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

/// The number of failed servers that the head tells of.
const FAILURES: usize = 2;

/// The longest sparkline.
const SPARKLINE: usize = 40;

/// Returns the number of rows that a screen of this height has room for.
pub fn room(board: &Board, look: &Look, height: usize) -> usize {
    let head = if look.head {
        2 + board.silent.len().min(FAILURES)
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
        lines.push(head(board, look, width));
        lines.push(subject(table, view, look, width));
        lines.extend(failures(board, width));
    }
    if look.legend {
        let legend = "in service: mean number of requests that servers work on at once · ~ numbers of a late target · \
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

/// Returns the line of the load, the states of targets, and the time.
fn head(board: &Board, look: &Look, width: usize) -> Line {
    let right = clock(board, look, width);
    let room = width.saturating_sub(text::width(&right) + 1);
    let mut line = Line::of(text::cut(&format!(" {}", name(board)), room), Role::Strong);
    let last = board.loads().last();
    let is_timed = last.is_some_and(|load| load.service.is_some());
    let value = |load: &crate::board::Load| {
        if is_timed {
            load.service
        } else {
            Some(load.requests)
        }
    };
    if let Some(last) = last {
        line.push_if_fits(
            &format!("  {}", load(value(last), is_timed)),
            Role::Strong,
            room,
        );
        let usual = board.usual(value);
        if usual.is_some() {
            let usual = format!(" (usual {})", amount(usual, is_timed).text());
            line.push_if_fits(&usual, Role::Plain, room);
        }
    }
    states(board, &mut line, room);
    let cells = room.saturating_sub(line.width() + 2).min(SPARKLINE);
    if cells >= 8 {
        let loads: Vec<_> = board.loads().map(value).collect();
        // The newest load stays in its place.
        let spark = format!("  {}", text::right(&sparkline(&loads, cells), cells));
        let at = line.pieces.len().min(1);
        line.pieces.insert(
            at,
            Piece {
                text: spark,
                role: Role::Bar,
            },
        );
    }
    line.push(
        " ".repeat((width).saturating_sub(line.width() + text::width(&right))),
        Role::Plain,
    );
    line.push(right, Role::Plain);
    line.cut(width)
}

fn name(board: &Board) -> String {
    match board.filesystem() {
        Some(name) => text::shown(name),
        None if board.targets().next().is_none() => "no target yet".to_owned(),
        None => "several file systems".to_owned(),
    }
}

fn amount(value: Option<f64>, is_timed: bool) -> Number {
    let operation = if is_timed { "service_time" } else { "open" };
    Number::of(value, operation, Quantity::Rate)
}

fn load(value: Option<f64>, is_timed: bool) -> String {
    let what = if is_timed { "in service" } else { "requests" };
    format!("{} {what}", amount(value, is_timed).text())
}

/// Appends how many targets of each kind are in which state.
fn states(board: &Board, line: &mut Line, room: usize) {
    let count = |kind: Option<TargetKind>, status: &[Status]| {
        let matching = board.targets().filter(|target| {
            kind.is_none_or(|kind| kind == target.kind) && status.contains(&target.status)
        });
        matching.count()
    };
    // What needs attention comes first, because a narrow screen has no room for all.
    let late = count(None, &[Status::Late]);
    if late > 0 {
        line.push_if_fits(&format!("  {late} late"), Role::Warning, room);
    }
    let unknown = count(None, &[Status::Unknown]);
    if unknown > 0 {
        line.push_if_fits(&format!("  {unknown} unknown"), Role::Bad, room);
    }
    for kind in [TargetKind::Mdt, TargetKind::Ost] {
        let ok = count(Some(kind), &[Status::Ok, Status::First]);
        if ok > 0 {
            line.push_if_fits(&format!("  {ok} {} ok", kind.as_str()), Role::Plain, room);
        }
    }
}

fn clock(board: &Board, look: &Look, width: usize) -> String {
    let time = match (board.readings, width) {
        (0, _) => String::new(),
        (_, ..100) => moment(board.time, "%H:%M:%S UTC"),
        _ => moment(board.time, "%F %T UTC"),
    };
    let mode = match look.mode {
        Mode::Live(interval) => format!("live {}", seconds(interval)),
        Mode::Replay(speed, Some(Position { at, of })) => format!("replay {at}/{of} ×{speed}"),
        Mode::Replay(speed, None) => format!("replay ×{speed}"),
    };
    let paused = if look.is_paused { "  PAUSED" } else { "" };
    format!(" {time}  {mode}{paused} ")
}

/// Formats a time in UTC.
pub fn moment(time: Micros, format: &str) -> String {
    let time = Timestamp::from_microsecond(time).unwrap_or_default();
    time.to_zoned(TimeZone::UTC).strftime(format).to_string()
}

/// Formats a length of time.
fn seconds(micros: Micros) -> String {
    let seconds = micros as f64 / SECOND as f64;
    Number::of(Some(seconds), "service_time", Quantity::Total).text()
}

/// Returns the line that says what is looked at.
fn subject(table: &Table, view: &View, look: &Look, width: usize) -> Line {
    let mut said = vec![format!("by {}", view.by.name())];
    let sort = table.sort.unwrap_or(view.sort);
    let why = if sort == view.sort { "" } else { " (no times)" };
    said.push(format!("ranked by {}{why}", sort.name()));
    match view.kind {
        Some(TargetKind::Mdt) => said.push("MDTs only".to_owned()),
        Some(TargetKind::Ost) => said.push("OSTs only".to_owned()),
        None => {}
    }
    if view.minimum > 0.0 {
        said.push(format!(
            "from {} on",
            Number::of(Some(view.minimum), "open", Quantity::Rate).text()
        ));
    }
    for (by, key) in &view.scope {
        said.push(format!(
            "{} {}",
            by.name(),
            text::cut(&key.shown(&view.users), 24)
        ));
    }
    if !view.filter.is_empty() {
        said.push(format!(
            "/{}",
            text::cut(&text::shown(view.filter.text()), 24)
        ));
    }
    if view.window > 0 {
        said.push(format!("over {}", seconds(view.window)));
    }
    if look.amounts {
        said.push("amounts".to_owned());
    }
    let help = "[g]roup [s]ort [?]help ";
    let text = text::cut(&format!(" {}", said.join(" · ")), width);
    let mut line = Line::of(text, Role::Plain);
    let blanks = width.saturating_sub(line.width() + help.len());
    if line.width() + help.len() < width {
        line.push(" ".repeat(blanks), Role::Plain);
        line.push(help, Role::Dim);
    }
    line
}

/// Returns the lines about servers that could not be read.
fn failures(board: &Board, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for (server, silent) in board.silent.iter().take(FAILURES) {
        let since = match silent.since {
            Some(since) => format!("late since {}", moment(since, "%H:%M:%S")),
            None => "not read yet".to_owned(),
        };
        let text = format!(
            " {} {since}: {}",
            text::shown(server),
            text::shown(&silent.reason)
        );
        lines.push(Line::of(text, Role::Bad).cut(width));
    }
    let more = board.silent.len().saturating_sub(FAILURES);
    if more > 0
        && let Some(last) = lines.last_mut()
    {
        let more = format!(" and {more} more servers");
        let kept = std::mem::take(last).cut(width.saturating_sub(text::width(&more)));
        *last = kept;
        last.push(more, Role::Bad);
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
        (0, _) => " reading the servers …".to_owned(),
        (_, None) => " no server could be read".to_owned(),
        _ if !has_interval => " the first reading is made; rates follow with the second".to_owned(),
        _ if table.more > 0 || is_limited => " nothing left: a shows everything again".to_owned(),
        _ => " nothing was done in this interval".to_owned(),
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

/// The keys, each with what it does.
pub const KEYS: &[(&str, &str)] = &[
    ("q Ctrl-C", "quit"),
    ("? F1", "show these keys, or go back"),
    ("j k ↓ ↑", "select a row"),
    ("Enter", "look into the row"),
    ("Esc Backspace", "go back out"),
    ("g G Tab", "next, previous grouping"),
    ("u J t O", "users, jobs, targets, operations"),
    ("s S", "next, previous order"),
    ("/", "filter names: make !root"),
    ("m", "all targets, MDTs only, OSTs only"),
    ("x X", "raise, lower the minimum of requests/s"),
    ("a c", "all again: no filter, no limit"),
    ("r", "rates, or amounts"),
    ("+ -", "average over a longer, shorter time"),
    ("n N", "one row more, less"),
    ("[ ]", "read more, less often"),
    ("Space p", "pause; live readings go on"),
    ("1 2 3 h", "head, bars, foot on and off; head and foot"),
    ("l L", "legend; logarithmic bars"),
    ("← →", "replay: a reading back, forward"),
    ("PgUp PgDn", "replay: ten readings back, forward"),
    ("Home End", "replay: first, last reading"),
    ("< , > .", "replay: slower, faster"),
];

/// Returns the lines of the page of keys: in two columns if one is too long.
pub fn help(width: usize, height: usize) -> Vec<Line> {
    let key = |(keys, does): &(&str, &str)| format!(" {} {does}", text::left(keys, 14));
    let mut lines = vec![Line::of(" Keys", Role::Title)];
    let room = height.saturating_sub(1).max(1);
    if KEYS.len() <= room {
        lines.extend(
            KEYS.iter()
                .map(|it| Line::of(key(it), Role::Plain).cut(width)),
        );
    } else {
        let half = KEYS.len().div_ceil(2);
        let column = width / 2;
        for (at, left) in KEYS.iter().take(half).enumerate() {
            let right = KEYS.get(half + at).map(key).unwrap_or_default();
            let text = format!("{}{right}", text::left(&key(left), column));
            lines.push(Line::of(text, Role::Plain).cut(width));
        }
    }
    lines.resize(height, Line::default());
    lines
}
