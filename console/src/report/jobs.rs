//! The list of the last jobs: as text, as a page, and as the page that users of a service begin with.

use askama::Template;
use jiff::Timestamp;
use jobstats_core::output::quantity::Quantity;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::vocabulary::*;
use crate::show::html::{self, STYLE};
use crate::show::text::{Fit, aligned};
use crate::subject::job::run_time;
use crate::subject::jobs::{JobList, document};

/// The largest width of the name of a job.
const NAME: usize = 14;

/// The columns that a narrow screen cuts or drops.
const FIT: Fit = Fit {
    cut: &["Name", "User"],
    dropped: &["Nodes", "Name", "User", "State", "Run time"],
};

/// Returns the list in this form.
pub fn written(
    store: &Store,
    list: &JobList,
    form: Form,
    screen: Screen,
    clock: &Clock,
) -> Result<String, Error> {
    Ok(match form {
        Form::Json => document(list) + "\n",
        Form::Html => super::written(store, page(list, clock), form, screen)?,
        Form::Text => text(list, screen, clock),
    })
}

/// Returns the user of all jobs, if there is only one.
fn user(list: &JobList) -> Option<&String> {
    let mut users = list.rows.iter().map(|row| row.job.user_name.as_ref());
    let first = users.next().flatten()?;
    users.all(|it| it == Some(first)).then_some(first)
}

/// Returns the number and the user of the jobs in words.
fn said(list: &JobList) -> String {
    let of = user(list).map_or_else(String::new, |user| format!(" of {}", shown(user)));
    match list.rows.len() {
        0 => "No job ran".to_owned(),
        1 => format!("The last job{of}"),
        count => format!("The last {count} jobs{of}"),
    }
}

/// Returns the table of the jobs without their findings.
fn table(list: &JobList, clock: &Clock) -> Table {
    let is_one = user(list).is_some();
    let mut starts = list.rows.iter().filter_map(|row| row.job.started);
    // A job that began before needs its day.
    let is_older = starts.any(|time| time < list.window.0);
    let since = if is_older {
        Timestamp::UNIX_EPOCH
    } else {
        list.window.0
    };
    let rows = list.rows.iter().map(|row| {
        let job = &row.job;
        let amount = |total: Option<_>, name| Cell::value(total.map(number), name, Quantity::Total);
        let name = job.job_name.as_ref().map(|name| cut(&shown(name), NAME));
        let started = job
            .started
            .map(|time| clock.within(time, (since, list.window.1)));
        // Slurm adds who cancelled a job.
        let state = job.state.as_deref().and_then(|it| it.split(' ').next());
        let user = job.user_name.as_ref().filter(|_| !is_one);
        [
            ("Job", Cell::text(&job.job)),
            ("User", Cell::name(user)),
            ("Name", Cell::name(name)),
            ("State", Cell::name(state)),
            ("Start", Cell::name(started)),
            (
                "Run time",
                Cell::number(run_time(job).map_or_else(String::new, when::length)),
            ),
            (
                "Nodes",
                Cell::number(job.nodes.map_or_else(String::new, |it| it.to_string())),
            ),
            ("Read", amount(job.read_bytes, "read_bytes")),
            ("Written", amount(job.write_bytes, "write_bytes")),
            ("Metadata", amount(job.metadata, "metadata")),
        ]
    });
    Table::new("Newest first", rows)
}

/// Returns the lines of the list: a line for each job, and a line below it for its worst finding.
fn text(list: &JobList, screen: Screen, clock: &Clock) -> String {
    let window = clock.window(list.window);
    let mut lines = vec![format!("{}, {window} ({})", said(list), clock.name())];
    if !list.rows.is_empty() {
        let mut rows = aligned(&table(list, clock), screen.cells, FIT).into_iter();
        lines.push(String::new());
        lines.extend(rows.next());
        for (row, job) in rows.zip(&list.rows) {
            lines.push(row);
            lines.extend(job.finding.as_ref().map(|finding| {
                let word = screen.level(&Cell::level(&finding.level));
                let text = cut(&shown(&finding.text), screen.cells.saturating_sub(8));
                format!("  {word}  {text}")
            }));
        }
    }
    lines.extend(list.notes.iter().map(|note| format!(" * {}", shown(note))));
    lines.join("\n") + "\n"
}

/// Returns the table with a column for the worst finding, and with links to the pages of the jobs, if they are served.
fn full(list: &JobList, clock: &Clock, is_served: bool) -> Table {
    let mut table = table(list, clock);
    table.columns.push(("Worst finding".to_owned(), false));
    for (cells, row) in table.rows.iter_mut().zip(&list.rows) {
        cells[0].link = is_served.then(|| {
            let job = utf8_percent_encode(&row.job.job, NON_ALPHANUMERIC);
            format!("job/{job}")
        });
        cells.push(row.finding.as_ref().map_or_else(Cell::default, |finding| {
            let sentence = format!("{}: {}", finding.level, finding.text);
            Cell {
                text: shown(&sentence),
                ..Cell::level(&finding.level)
            }
        }));
    }
    table
}

/// Returns the number of jobs with findings in a sentence.
fn lead(list: &JobList) -> String {
    let found = list.rows.iter().filter(|row| row.finding.is_some());
    match (found.count(), list.rows.len()) {
        (0, _) => "No findings.".to_owned(),
        (1, all) => format!("1 of {all} has a finding."),
        (found, all) => format!("{found} of {all} have findings."),
    }
}

fn page(list: &JobList, clock: &Clock) -> Page {
    let mut blocks = vec![full(list, clock, false).into()];
    blocks.extend(Block::notes(&list.notes));
    blocks.push(Block::Statements(list.statements.clone()));
    Page {
        title: said(list),
        heading: said(list),
        lead: lead(list),
        about: vec![clock.window(list.window), clock.note()],
        sections: vec![Section::new("jobs", "Jobs", blocks)],
        ..made(clock)
    }
}

/// The page that a user of a service begins with.
#[derive(Template)]
#[template(path = "index.html")]
struct Index {
    uid: String,
    lead: String,
    table: Table,
    notes: Vec<String>,
}

/// Returns the page that a user of a service begins with.
pub fn index(list: &JobList, uid: &str, clock: &Clock) -> Result<String, Error> {
    let window = clock.window(list.window);
    let index = Index {
        uid: uid.to_owned(),
        lead: format!(
            "{}, {window} ({}). {}",
            said(list),
            clock.name(),
            lead(list)
        ),
        table: full(list, clock, true).filled(),
        notes: list.notes.iter().map(|note| shown(note)).collect(),
    };
    Ok(html::document(&index)?)
}
