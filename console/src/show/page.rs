//! The lines of a screen, without a terminal.

use jobstats_core::base::instant::Micros;

use crate::live::history::TargetStates;
use crate::live::rows::Table;
use crate::live::rows::untracked::Untracked;
use crate::live::view::{By, View};
use crate::show::columns::{self, Context, whole_name};
use crate::show::line::{DIM, Line, PLAIN, STRONG, WARNING, cut, line, push_right};
use crate::source::Position;
use crate::values::number::percent;
use crate::values::text;
use crate::values::when::Clock;

mod head;
#[cfg(test)]
mod tests;

use head::{FAILURES, failures, heads, heads_of, subject};

/// The course of readings, for the head of the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Mode {
    /// Readings are made now, at this interval.
    Live(Micros),
    /// A recording is played at this speed.
    Replay(f64, Option<Position>),
    /// One table is printed.
    #[default]
    Print,
}

/// The choices of a person for the screen, besides the view.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScreenState {
    pub mode: Mode,
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
        true => heads_of(history) + 1 + history.silent.len().min(FAILURES),
        false => 0,
    };
    let below = usize::from(Untracked::of(history, view).is_some());
    let around = head + 1 + usize::from(look.legend) + below + usize::from(look.has_foot());
    let room = height.saturating_sub(around);
    look.rows.map_or(room, |rows| rows.min(room))
}

/// Returns the lines of the screen, at most `width` wide.
pub fn page(
    history: &TargetStates,
    table: &Table,
    view: &View,
    look: &ScreenState,
    width: usize,
    height: usize,
) -> Vec<Line> {
    let mut lines = Vec::new();
    if look.head {
        lines.extend(heads(history, look, width));
        lines.push(subject(table, view, look, width));
        lines.extend(failures(history, look, width));
    }
    if look.legend {
        let legend = " in service: mean number of requests that servers work on at once · ~ numbers of a late target · \
                      – not known · ↓ ranked by";
        lines.push(line(legend, DIM));
    }
    let context = Context {
        history,
        view,
        look,
        filesystem: history.filesystem(),
    };
    lines.extend(columns::lines(table, &context, width));
    if table.rows.is_empty() {
        lines.push(line(nothing(history, table, view), DIM));
    }
    let bottom = height.saturating_sub(usize::from(look.has_foot()));
    lines.resize(bottom, Line::default());
    if look.has_foot() {
        lines.push(foot_line(table, view, look, width));
    }
    lines.truncate(height);
    lines.iter_mut().for_each(|line| cut(line, width));
    lines
}

/// Explains why there is no row.
fn nothing(history: &TargetStates, table: &Table, view: &View) -> String {
    let has_interval = history.targets().any(|target| target.last().is_some());
    let is_limited = !view.filter.is_empty()
        || view.minimum > 0.0
        || view.kind.is_some()
        || !view.scope.is_empty();
    match (history.rounds, history.targets().next()) {
        (0, _) => " waiting for the first reading …".to_owned(),
        (_, None) => " nothing could be read".to_owned(),
        _ if !has_interval => " the first reading is made; rates follow with the second".to_owned(),
        _ if table.more == 0 && table.without_share > Some(0.0) => without(view),
        _ if table.more > 0 || is_limited => " nothing left: a shows everything again".to_owned(),
        _ if table.untracked.is_some() => " no entry did anything in this interval".to_owned(),
        _ => " nothing was done in this interval".to_owned(),
    }
}

/// Explains why no usage has a value of the dimension.
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
fn foot_line(table: &Table, view: &View, look: &ScreenState, width: usize) -> Line {
    if let Some(typed) = &look.typing {
        let text = format!(
            "/{}█  words, or !words to leave out; Enter keeps, Esc drops",
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
        let name = whole_name(row, view.by, &view.users);
        let room = width.saturating_sub(line.width() + 4);
        let name = text::cut(&name, room);
        push_right(&mut line, name, DIM, width.saturating_sub(1));
    }
    line
}
