//! The lines of a screen, without a terminal.

use jobstats_core::base::instant::Micros;

use crate::live::history::TargetStates;
use crate::live::rows::{self, Row, Table, untracked};
use crate::live::view::{By, Filter, View};
use crate::show::columns::{self, Context};
use crate::show::line::{DIM, Line, PLAIN, STRONG, WARNING, cut, line, push, push_right};
use crate::source::Position;
use crate::values::number::percent;
use crate::values::text;
use crate::values::when::Clock;

mod head;
#[cfg(test)]
mod tests;

use head::{FAILURES, decoded, failures, heads, heads_of, subject};

/// The width from which on a screen has targets next to the rows, and baselines.
const WIDE: usize = 120;

/// The course of readings, for the head of the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Readings are made now.
    Live,
    /// A recording, or the past of a store, is played.
    Replay,
    /// One table is printed.
    #[default]
    Print,
}

/// The choices of a person for the screen, besides the view.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScreenState {
    pub mode: Mode,
    /// The time between live readings.
    pub interval: Micros,
    /// The speed of a replay.
    pub speed: f64,
    /// The place in a recording.
    pub position: Option<Position>,
    /// True if the screen is paused.
    pub is_paused: bool,
    pub selected: usize,
    pub head: bool,
    pub bars: bool,
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
    pub clock: Clock,
}

impl ScreenState {
    /// Returns the look to begin with.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            head: true,
            bars: true,
            foot: true,
            ..Self::default()
        }
    }

    /// Returns true if there is a line below the table.
    const fn has_foot(&self) -> bool {
        self.foot || self.typing.is_some()
    }
}

/// Returns the number of rows that a screen of this height has room for.
pub fn room(history: &TargetStates, view: &View, look: &ScreenState, height: usize) -> usize {
    let head = match look.head {
        true => heads_of(history) + 1 + history.silent.len().min(FAILURES) + history.notes.len(),
        false => 0,
    };
    let below = usize::from(untracked::row(history, view, view.sort).is_some());
    let around = head + 1 + usize::from(look.legend) + below + usize::from(look.has_foot());
    let room = height.saturating_sub(around);
    look.rows.map_or(room, |rows| rows.min(room))
}

/// Returns the tables of a screen: the rows, and the targets next to them, which a narrow screen does not have. `before` has them as they
/// were shown last.
pub fn tables(
    history: &TargetStates,
    view: &View,
    look: &ScreenState,
    (width, height): (usize, usize),
    before: &[Table; 2],
) -> [Table; 2] {
    let room = room(history, view, look, height);
    let [rows, targets] = before.each_ref().map(|it| {
        let keys = it.rows.iter().map(|row| row.key.clone());
        keys.collect::<Vec<_>>()
    });
    let rows = rows::table(history, view, &rows, room);
    let mut all = view.scope.iter().map(|(by, _)| *by).chain([view.by]);
    if width < WIDE || all.any(|by| by == By::Target) {
        return [rows, Table::default()];
    }
    let mut targets = rows::table(history, &of_targets(view), &targets, room);
    targets.untracked = None;
    let is_idle = |row: &Row| row.sums.requests.rate <= 0.0 && !row.is_unknown;
    targets.rows.retain(|row| !is_idle(row));
    [rows, targets]
}

/// Returns the view of the targets next to the rows.
fn of_targets(view: &View) -> View {
    View {
        by: By::Target,
        filter: Filter::default(),
        minimum: 0.0,
        ..view.clone()
    }
}

/// Returns the lines of the tables.
fn lines_of([rows, targets]: &[Table; 2], context: &Context<'_>, width: usize) -> Vec<Line> {
    let lines = |width| {
        let mut lines = columns::lines(rows, context, width);
        let is_empty = rows.rows.is_empty();
        lines.extend(is_empty.then(|| line(nothing(context, rows), DIM)));
        lines
    };
    if targets.rows.is_empty() {
        return lines(width);
    }
    let right = 30 + (width - WIDE) / 3;
    let left = width - right;
    let mut lines = lines(left - 1);
    let view = of_targets(context.view);
    let context = Context {
        view: &view,
        is_side: true,
        ..*context
    };
    let targets = columns::lines(targets, &context, right);
    lines.resize(lines.len().max(targets.len()), Line::default());
    for (line, target) in lines.iter_mut().zip(targets) {
        cut(line, left);
        // The style of the selected row ends with it.
        let style = std::mem::take(&mut line.style);
        line.spans
            .iter_mut()
            .for_each(|it| it.style = style.patch(it.style));
        push(line, " ".repeat(left - line.width()), style);
        line.spans.extend(target.spans);
    }
    lines
}

/// Returns the lines of the screen, at most `width` wide.
pub fn page(
    history: &TargetStates,
    tables: &[Table; 2],
    view: &View,
    look: &ScreenState,
    (width, height): (usize, usize),
) -> Vec<Line> {
    let table = &tables[0];
    let context = Context {
        history,
        view,
        look,
        is_wide: width >= WIDE,
        is_side: false,
    };
    let mut lines = Vec::new();
    if look.head {
        lines.extend(heads(history, look, width));
        lines.push(subject(&context, table, width));
        lines.extend(failures(history, look, width));
    }
    if look.legend {
        let legend = " in service: mean number of requests handled at once · ~ includes a late target · – unknown · ↓ ranked by";
        lines.push(line(legend, DIM));
    }
    lines.extend(lines_of(tables, &context, width));
    let bottom = height.saturating_sub(usize::from(look.has_foot()));
    lines.resize(bottom, Line::default());
    if look.has_foot() {
        lines.push(foot_line(&context, table, width));
    }
    lines.truncate(height);
    lines.iter_mut().for_each(|line| cut(line, width));
    lines
}

/// Explains why there is no row.
fn nothing(context: &Context<'_>, table: &Table) -> String {
    let Context { history, view, .. } = *context;
    let has_interval = history.targets().any(|target| target.last().is_some());
    let is_limited = !view.filter.is_empty()
        || view.minimum > 0.0
        || view.kind.is_some()
        || !view.scope.is_empty();
    match (history.rounds, history.targets().next()) {
        (0, _) => " waiting for the first scrape …".to_owned(),
        (_, None) => " no target could be read".to_owned(),
        _ if !has_interval => " first scrape done; rates follow with the second".to_owned(),
        _ if table.more == 0 && table.without_share > Some(0.0) => without(view),
        _ if table.more > 0 || is_limited => " no rows left: press a to show all".to_owned(),
        _ if table.untracked.is_some() => " no I/O in entries in this interval".to_owned(),
        _ => " no I/O in this interval".to_owned(),
    }
}

/// Explains why no usage has a value of the dimension.
fn without(view: &View) -> String {
    match view.by {
        By::Account if !view.is_store => " accounts need a store: docs/top.md".to_owned(),
        By::Account => " no I/O has an account: see Jobs in docs/sources.md".to_owned(),
        by => format!(
            " no identifier has a {}: see jobid_name in docs/lustre.md",
            by.name()
        ),
    }
}

/// Returns the line below the table.
fn foot_line(context: &Context<'_>, table: &Table, width: usize) -> Line {
    let Context { view, look, .. } = *context;
    if let Some(typed) = &look.typing {
        let text = format!(
            "/{}█  words, or !words to exclude; Enter applies, Esc cancels",
            text::shown(typed)
        );
        return line(text, STRONG);
    }
    if let Some(message) = &look.message {
        return line(format!(" {}", text::shown(message)), WARNING);
    }
    let mut said = Vec::new();
    if table.more > 0 {
        let share = percent(table.more_share);
        said.push(format!("── {} more, {share} ──", table.more));
    }
    let has_names = !matches!(view.by, By::Target | By::Operation);
    if has_names && let Some(share) = table.without_share.filter(|share| *share > 0.0) {
        said.push(format!("without {} {}", view.by.name(), percent(share)));
    }
    let mut line = line(format!(" {}", said.join("   ")), PLAIN);
    if let Some(row) = table.rows.get(look.selected) {
        let name = whole_name(context, row);
        let room = width.saturating_sub(line.width() + 4);
        let name = text::cut(&name, room);
        push_right(&mut line, name, DIM, width.saturating_sub(1));
    }
    line
}

/// Returns the whole name of a row, as it may be shown.
fn whole_name(context: &Context<'_>, row: &Row) -> String {
    let view = context.view;
    if view.by == By::Entry {
        return decoded(context, &row.key.name());
    }
    let name = format!("{} {}", view.by.name(), row.key.shown(&view.users));
    match row.target.as_ref().filter(|_| view.by != By::Target) {
        Some(on) => format!("{name}, mostly on {}", text::shown(on)),
        None => name,
    }
}
