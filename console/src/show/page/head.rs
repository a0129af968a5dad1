//! The lines above the table.

use jobstats_core::instant::{Micros, SECOND};
use jobstats_core::quantity::Quantity;
use jobstats_core::target::TargetKind;

use super::{Line, Look, Mode, Piece, Role};
use crate::live::board::{self, Board, Load, Status};
use crate::live::interval::STORE;
use crate::live::rows::Table;
use crate::live::view::View;
use crate::source::Position;
use crate::values::number::{Number, sparkline};
use crate::values::text;
use crate::values::when::moment;

/// The number of failed servers that the head tells of.
pub(super) const FAILURES: usize = 2;

/// The number of file systems that have a line in the head.
const FILESYSTEMS: usize = 4;

/// The longest sparkline.
const SPARKLINE: usize = 40;

/// Returns a line for each file system, with its load and the states of its targets. The first one has the time.
pub(super) fn heads(board: &Board, look: &Look, width: usize) -> Vec<Line> {
    let right = clock(board, look, width);
    let names = board.filesystems();
    let [_, _, ..] = names[..] else {
        return vec![head(board, names.first().copied(), &right, width)];
    };
    let shown = heads_of(board);
    let lines = names.iter().take(shown).enumerate().map(|(at, name)| {
        let right = if at == 0 { right.as_str() } else { "" };
        head(board, Some(name), right, width)
    });
    let mut lines: Vec<_> = lines.collect();
    let more = names.len().saturating_sub(shown);
    if more > 0
        && let Some(last) = lines.last_mut()
    {
        let more = format!("  and {more} more file systems");
        *last = std::mem::take(last).cut(width.saturating_sub(text::width(&more)));
        last.push(more, Role::Dim);
    }
    lines
}

/// Returns the number of lines that file systems take.
pub(super) fn heads_of(board: &Board) -> usize {
    board.filesystems().len().clamp(1, FILESYSTEMS)
}

/// Returns the line of a file system, with `right` at its end.
fn head(board: &Board, filesystem: Option<&str>, right: &str, width: usize) -> Line {
    let room = width.saturating_sub(text::width(right) + 1);
    let mut line = Line::of(
        text::cut(&format!(" {}", name(filesystem)), room),
        Role::Strong,
    );
    let filesystem = filesystem.unwrap_or_default();
    let last = board.loads(filesystem).last();
    let is_timed = last.is_some_and(|load| load.service.is_some());
    let value = |load: &Load| {
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
        let usual = board.usual(filesystem, value);
        if usual.is_some() {
            let usual = format!(" (usual {})", amount(usual, is_timed).text());
            line.push_if_fits(&usual, Role::Plain, room);
        }
    }
    states(board, filesystem, &mut line, room);
    let cells = room.saturating_sub(line.width() + 2).min(SPARKLINE);
    if cells >= 8 {
        let loads: Vec<_> = board.course(filesystem).iter().map(value).collect();
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
        " ".repeat((width).saturating_sub(line.width() + text::width(right))),
        Role::Plain,
    );
    line.push(right, Role::Plain);
    line.cut(width)
}

fn name(filesystem: Option<&str>) -> String {
    match filesystem {
        None => "no target yet".to_owned(),
        Some("") => "targets".to_owned(),
        Some(name) => text::shown(name),
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
fn states(board: &Board, filesystem: &str, line: &mut Line, room: usize) {
    let targets = board.targets();
    let targets = targets.filter(|target| board::filesystem(&target.name) == filesystem);
    let targets: Vec<_> = targets.collect();
    let count = |kind: Option<TargetKind>, status: &[Status]| {
        let matching = targets.iter().filter(|target| {
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
    let ok = [TargetKind::Mdt, TargetKind::Ost].map(|kind| {
        let ok = count(Some(kind), &[Status::Ok, Status::First]);
        (ok > 0).then(|| format!("{ok} {}", kind.as_str()))
    });
    let ok: Vec<_> = ok.into_iter().flatten().collect();
    if !ok.is_empty() {
        line.push_if_fits(&format!("  {} ok", ok.join(", ")), Role::Plain, room);
    }
}

fn clock(board: &Board, look: &Look, width: usize) -> String {
    // On a narrow screen, only what is not live needs its date.
    let has_date = match look.mode {
        Mode::Live(_) => width >= 100,
        Mode::Replay(..) | Mode::Print => width >= 60,
    };
    let time = match (board.readings, has_date) {
        (0, _) => String::new(),
        (_, false) => moment(board.time, "%H:%M:%S UTC"),
        (_, true) => moment(board.time, "%F %T UTC"),
    };
    let mode = match look.mode {
        Mode::Live(interval) => format!("live {}", seconds(interval)),
        Mode::Replay(speed, Some(Position { at, of })) => format!("replay {at}/{of} ×{speed}"),
        Mode::Print => board
            .interval()
            .map_or_else(String::new, |length| format!("over {}", seconds(length))),
        Mode::Replay(speed, None) => format!("replay ×{speed}"),
    };
    let paused = if look.is_paused { " PAUSED" } else { "" };
    format!(" {time} {mode}{paused} ")
}

/// Formats a length of time.
fn seconds(micros: Micros) -> String {
    let seconds = micros as f64 / SECOND as f64;
    Number::of(Some(seconds), "service_time", Quantity::Total).text()
}

/// Returns the line that says what is looked at.
pub(super) fn subject(table: &Table, view: &View, look: &Look, width: usize) -> Line {
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
pub(super) fn failures(board: &Board, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for (server, silent) in board.silent.iter().take(FAILURES) {
        let since = match silent.since {
            Some(since) => format!(" late since {}", moment(since, "%H:%M:%S")),
            // A store may have answered that it knows nothing.
            None if &**server == STORE => String::new(),
            None => " not read yet".to_owned(),
        };
        let text = format!(
            " {}{since}: {}",
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
