//! Prints tables instead of a screen: one as plain text, or each reading as a line of JSON.

use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use jobstats_client::program::exit;

use crate::ask::error::Error;
use crate::live::history::TargetStates;
use crate::live::rows::table;
use crate::live::view::View;
use crate::show::json;
use crate::show::page::{Mode, ScreenState, page, tables};
use crate::source::{Source, Step};
use crate::values::text;

/// The default number of rows.
const ROWS: usize = 20;

/// The number of lines around the rows of a table.
const AROUND: usize = 12;

/// The form of tables: text or JSON, one or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    pub once: bool,
    pub json: bool,
    /// The width of a table as text.
    pub width: usize,
}

/// Prints one table or all of them. Live readings follow each other after `interval`.
pub fn run(
    mut source: Box<dyn Source>,
    mut view: View,
    look: &ScreenState,
    form: Form,
    interval: Duration,
    out: &mut impl Write,
) -> Result<(), Error> {
    let mut put = |history: &TargetStates, view: &View| -> io::Result<()> {
        if form.json {
            let table = table(history, view, &[], look.rows.unwrap_or(usize::MAX));
            writeln!(out, "{}", json::line(history, &table, view)?)?;
        } else {
            for line in lines(history, view, look, form.width) {
                writeln!(out, "{line}")?;
            }
        }
        out.flush()
    };
    let mut history = TargetStates::default();
    let is_live = source.is_live();
    let is_recording = !is_live && !view.is_store;
    if form.once && is_recording {
        let update = source.step(Step::End)?;
        update.apply(&mut history, &mut view.users);
        return Ok(put(&history, &view)?);
    }
    let mut due = Instant::now();
    loop {
        let update = source.step(Step::Next)?;
        if update.rounds.is_empty() && !is_live {
            return Ok(());
        }
        let is_new = !update.rounds.is_empty();
        update.apply(&mut history, &mut view.users);
        if form.once && history.targets().next().is_none() {
            let silent = history.silent.iter();
            let reasons = silent.map(|(server, silent)| format!("{server}: {}", silent.reason));
            let reasons = text::listed(&reasons.collect::<Vec<_>>());
            let message = format!("no server could be read{reasons}");
            return Err(Error::other(exit::UNREAD, message));
        }
        if history.rounds > 1 && is_new {
            put(&history, &view)?;
            if form.once {
                return Ok(());
            }
        }
        if is_live {
            due = (due + interval).max(Instant::now());
            thread::sleep(due.saturating_duration_since(Instant::now()));
        }
    }
}

/// Returns a table as lines of plain text.
pub fn lines(history: &TargetStates, view: &View, look: &ScreenState, width: usize) -> Vec<String> {
    let rows = look.rows.unwrap_or(ROWS);
    let height = rows.saturating_add(AROUND);
    let look = ScreenState {
        rows: Some(rows),
        mode: Mode::Print,
        selected: usize::MAX,
        ..look.clone()
    };
    let size = (width, height);
    let tables = tables(history, view, &look, size, &Default::default());
    let lines = page(history, &tables, view, &look, size);
    let lines = lines
        .iter()
        .map(|line| line.to_string().trim_end().to_owned());
    let mut lines: Vec<_> = lines.collect();
    let foot = lines.pop().unwrap_or_default();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    if !foot.is_empty() {
        lines.push(foot);
    }
    lines
}
