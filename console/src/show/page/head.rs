//! The lines above the table.

use jobstats_core::base::instant::{Micros, SECOND};
use jobstats_core::base::target::TargetKind;
use ratatui::style::Style;
use ratatui::text::Span;

use super::{Mode, ScreenState};
use crate::live::history::{self, Load, Status, TargetStates};
use crate::live::interval::STORE;
use crate::live::rows::Table;
use crate::live::view::By;
use crate::show::columns::Context;
use crate::show::line::{
    BAD, BAR, DIM, Line, PLAIN, STRONG, WARNING, cut, line, push, push_if_fits, push_right,
};
use crate::source::Position;
use crate::values::number::{rate, sparkline, total};
use crate::values::text;
use crate::values::when::timestamp;

/// The number of failed servers in the head.
pub(super) const FAILURES: usize = 2;

/// The number of file systems that have a line in the head.
const FILESYSTEMS: usize = 4;

/// The longest sparkline.
const SPARKLINE: usize = 40;

/// Returns a line for each file system, with its load and the states of its targets. The first one has the time.
pub(super) fn heads(history: &TargetStates, look: &ScreenState, width: usize) -> Vec<Line> {
    let right = clock(history, look, width);
    let (names, shown) = (history.filesystems(), heads_of(history));
    let lines = (0..shown).map(|at| {
        let right = if at == 0 { right.as_str() } else { "" };
        head(history, names.get(at).copied(), right, width)
    });
    let mut lines: Vec<_> = lines.collect();
    let more = names.len().saturating_sub(shown);
    let more = (more > 0).then(|| format!("  and {more} more file systems"));
    end_with(&mut lines, more, DIM, width);
    lines
}

/// Returns the number of lines that file systems take.
pub(super) fn heads_of(history: &TargetStates) -> usize {
    history.filesystems().len().clamp(1, FILESYSTEMS)
}

/// Returns the line of a file system, with `right` at its end. Without service times, requests measure the load.
fn head(history: &TargetStates, filesystem: Option<&str>, right: &str, width: usize) -> Line {
    let room = width.saturating_sub(text::width(right) + 1);
    let name = match filesystem {
        None => "no target yet".to_owned(),
        Some("") => "targets".to_owned(),
        Some(name) => text::shown(name),
    };
    let mut line = line(text::cut(&format!(" {name}"), room), STRONG);
    let filesystem = filesystem.unwrap_or_default();
    let last = history.loads(filesystem).last();
    let is_timed = last.is_some_and(|load| load.service.is_some());
    let (operation, unit) = match is_timed {
        true => ("service_time", "in service"),
        false => ("open", "requests"),
    };
    let value = |load: &Load| match is_timed {
        true => load.service,
        false => Some(load.requests),
    };
    if let Some(last) = last {
        let load = format!("  {} {unit}", rate(value(last), operation));
        push_if_fits(&mut line, load, STRONG, room);
        if let Some(usual) = history.typical(filesystem, value) {
            let usual = format!(" (usual {})", rate(usual, operation));
            push_if_fits(&mut line, usual, PLAIN, room);
        }
    }
    states(history, filesystem, &mut line, room);
    let cells = room.saturating_sub(line.width() + 2).min(SPARKLINE);
    if cells >= 8 {
        let loads: Vec<_> = history.course(filesystem).iter().map(value).collect();
        // The newest load stays in its place.
        let spark = format!("  {}", text::right(&sparkline(&loads, cells), cells));
        line.spans.insert(1, Span::styled(spark, BAR));
    }
    push_right(&mut line, right.to_owned(), PLAIN, width);
    cut(&mut line, width);
    line
}

/// Appends how many targets of each kind are in which state.
fn states(history: &TargetStates, filesystem: &str, line: &mut Line, room: usize) {
    let count = |kind: Option<TargetKind>, status: &[Status]| {
        let targets = history.targets();
        let targets = targets.filter(|it| history::filesystem(&it.snapshot.target) == filesystem);
        let targets = targets.filter(|it| kind.is_none_or(|kind| kind == it.snapshot.kind));
        targets.filter(|it| status.contains(&it.status)).count()
    };
    // States that need attention come first, because a narrow screen has no room for all.
    for (status, style) in [(Status::Late, WARNING), (Status::Unknown, BAD)] {
        let count = count(None, &[status]);
        if count > 0 {
            push_if_fits(line, format!("  {count} {}", status.name()), style, room);
        }
    }
    let ok = [TargetKind::Mdt, TargetKind::Ost].map(|kind| {
        let ok = count(Some(kind), &[Status::Ok, Status::First]);
        (ok > 0).then(|| format!("{ok} {}", kind.as_str()))
    });
    if let Some(ok) = text::joined(ok.into_iter().flatten()) {
        push_if_fits(line, format!("  {ok} ok"), PLAIN, room);
    }
}

fn clock(history: &TargetStates, look: &ScreenState, width: usize) -> String {
    // On a narrow screen, only readings of the past need their date.
    let has_date = match look.mode {
        Mode::Live => width >= 100,
        Mode::Replay | Mode::Print => width >= 60,
    };
    let format = match (history.rounds, has_date) {
        (0, _) => "",
        (_, false) => "%T %Z",
        (_, true) => "%F %T %Z",
    };
    let time = look.clock.at(timestamp(history.time)).strftime(format);
    let speed = look.speed;
    let mode = match (look.mode, look.position) {
        (Mode::Live, _) => format!("live {}", seconds(look.interval)),
        (Mode::Replay, Some(Position { at, of })) => format!("replay {at}/{of} ×{speed}"),
        (Mode::Replay, None) => format!("replay ×{speed}"),
        (Mode::Print, _) => history
            .interval()
            .map_or_else(String::new, |length| format!("over {}", seconds(length))),
    };
    let paused = if look.is_paused { " PAUSED" } else { "" };
    format!(" {time} {mode}{paused} ")
}

/// Formats a length of time.
fn seconds(micros: Micros) -> String {
    let seconds = micros as f64 / SECOND as f64;
    total(seconds, "service_time")
}

/// Returns the line that names the choice of rows.
pub(super) fn subject(context: &Context<'_>, table: &Table, width: usize) -> Line {
    let Context { view, look, .. } = *context;
    let mut said = vec![format!("by {}", view.by.name())];
    let why = match table.sort == view.sort {
        true => "",
        false => " (no times)",
    };
    said.push(format!("ranked by {}{why}", table.sort.name()));
    said.extend(view.kind.map(|kind| format!("{}s only", kind.as_str())));
    if view.minimum > 0.0 {
        said.push(format!("from {} on", rate(view.minimum, "open")));
    }
    for (by, key) in &view.scope {
        let name = text::cut(&key.shown(&view.users), 24);
        let decoded = (*by == By::Entry).then(|| decoded(context, &key.name()));
        said.push(decoded.unwrap_or_else(|| format!("{} {name}", by.name())));
    }
    if !view.filter.is_empty() {
        let filter = text::cut(&text::shown(&view.filter.0), 24);
        said.push(format!("/{filter}"));
    }
    if view.window > 0 {
        said.push(format!("over {}", seconds(view.window)));
    }
    if look.amounts {
        said.push("amounts".to_owned());
    }
    let help = "[g]roup [s]ort [?]help ";
    let text = text::cut(&format!(" {}", said.join(" · ")), width);
    let mut line = line(text, PLAIN);
    // The keys of the screen are of no use in print.
    if look.mode != Mode::Print && line.width() + help.len() < width {
        push_right(&mut line, help.to_owned(), DIM, width);
    }
    line
}

/// Returns an identifier with its meaning.
pub(super) fn decoded(context: &Context<'_>, entry: &str) -> String {
    let owner = context.history.owner(Some(entry));
    owner.map_or_else(|| text::shown(entry), |it| it.decoded(&context.view.users))
}

/// Returns the lines about servers that could not be read, and about identifiers.
pub(super) fn failures(history: &TargetStates, look: &ScreenState, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for (server, silent) in history.silent.iter().take(FAILURES) {
        let since = match silent.since {
            Some(since) => {
                let since = look.clock.at(timestamp(since));
                format!(" late since {}", since.strftime("%T"))
            }
            // A store may have answered without data.
            None if &**server == STORE => String::new(),
            None => " not read yet".to_owned(),
        };
        let (server, reason) = (text::shown(server), text::shown(&silent.reason));
        let text = format!(" {server}{since}: {reason}");
        lines.push(line(text, BAD));
    }
    let more = history.silent.len().saturating_sub(FAILURES);
    let more = (more > 0).then(|| format!(" and {more} more servers"));
    end_with(&mut lines, more, BAD, width);
    let notes = history.notes.iter();
    lines.extend(notes.map(|note| line(format!(" {note}"), WARNING)));
    lines
}

/// Ends the last line with a text, truncating the line.
fn end_with(lines: &mut [Line], text: Option<String>, style: Style, width: usize) {
    if let Some((last, text)) = lines.last_mut().zip(text) {
        cut(last, width.saturating_sub(text::width(&text)));
        push(last, text, style);
    }
}
