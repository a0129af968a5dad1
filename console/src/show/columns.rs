//! The columns of a table: the texts of their cells, and which of them fit.

use jobstats_core::base::operation::OPERATIONS;
use jobstats_core::output::quantity::Quantity;
use ratatui::style::{Style, Stylize};

use crate::live::history::TargetStates;
use crate::live::rows::{Row, Table};
use crate::live::sums::Amount;
use crate::live::view::{By, Sort, View};
use crate::show::line::{BAR as BAR_STYLE, DIM, Line, PLAIN, TITLE, WARNING, line, push};
use crate::show::page::ScreenState;
use crate::values::number::{Number, UNKNOWN, Widths, bar};
use crate::values::text;

/// The blanks between two columns.
const GAP: usize = 2;

/// The narrowest and the widest bar.
const BAR: (usize, usize) = (4, 24);

/// The narrowest and the widest column of names.
const NAME: (usize, usize) = (8, 48);

/// The length up to which names have their room before other columns.
const NAME_FIRST: usize = 13;

/// The decades that a logarithmic bar shows.
const DECADES: f64 = 4.0;

jobstats_core::named! {
    /// A column.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Column {
        Rank = "#",
        Name = "name",
        User = "user",
        Users = "users",
        Account = "account",
        Jobs = "jobs",
        Nodes = "nodes",
        Status = "state",
        Service = "in service",
        Share = "share",
        Usual = "× usual",
        Requests = "requests",
        Metadata = "metadata",
        Read = "read",
        Write = "write",
        PerWrite = "per write",
        PerRead = "per read",
        PerRequest = "per request",
        Target = "mostly on",
        Operation = "mostly",
        Server = "server",
        Entries = "entries",
    }
    /// Returns the title of the column.
    fn word;
}

use Column::*;

/// The columns of the work of a row.
const WORK: [Column; 12] = [
    Service, Share, Usual, Metadata, Read, Write, PerWrite, Target, Operation, Requests,
    PerRequest, PerRead,
];

/// The columns of the work of an operation.
const OPERATION: [Column; 9] = [
    Service, Share, Requests, PerRequest, Read, Write, Target, PerWrite, PerRead,
];

/// Returns the columns in order. On a narrow screen the last ones are left out.
fn columns(by: By) -> impl Iterator<Item = Column> {
    let (owner, work, more): (&[_], &[_], &[_]) = match by {
        By::User => (&[Account, Jobs], &WORK, &[Nodes]),
        By::Account => (&[Users, Jobs], &WORK, &[Nodes]),
        By::Job => (&[User, Account], &WORK, &[Nodes]),
        By::Node => (&[Jobs], &WORK, &[Users]),
        By::Process => (&[Users], &WORK, &[Nodes]),
        By::Target => (&[Status], &WORK, &[Users, Jobs, Entries, Server]),
        By::Operation => (&[Users], &OPERATION, &[Jobs, Nodes]),
        By::Entry => (&[], &WORK, &[]),
    };
    let all = [&[Rank, Name], owner, work, more].into_iter().flatten();
    // A target is on itself.
    all.copied()
        .filter(move |column| *column != Target || by != By::Target)
}

/// The columns of owner, place and baseline, which untracked usage does not have.
const OF_ENTRIES: [Column; 13] = [
    Rank, Name, User, Users, Account, Jobs, Nodes, Status, Usual, Target, Operation, Server,
    Entries,
];

/// The columns that are never left out.
const ALWAYS: usize = 3;

impl Column {
    const fn is_text(self) -> bool {
        matches!(
            self,
            Name | User | Account | Status | Target | Operation | Server
        )
    }

    fn is_sorted(self, sort: Sort) -> bool {
        self == match sort {
            Sort::Service => Service,
            Sort::Requests => Requests,
            Sort::Metadata => Metadata,
            Sort::Read => Read,
            Sort::Write => Write,
        }
    }

    /// Returns the widths of parts that usual numbers take, so that columns of numbers do not move.
    const fn least(self, amounts: bool) -> Widths {
        let (whole, fraction, unit) = match self {
            _ if self.is_text() => (0, 0, 0),
            Service if amounts => (3, 3, 3),
            Requests | Metadata if amounts => (3, 3, 1),
            Read | Write if amounts => (3, 3, 2),
            Service => (3, 3, 0),
            Share => (3, 0, 1),
            Usual => (3, 1, 0),
            Requests | Metadata => (3, 3, 3),
            Read | Write => (3, 3, 4),
            PerWrite | PerRead | PerRequest => (3, 3, 2),
            Rank => (2, 0, 0),
            _ => (4, 0, 0),
        };
        Widths {
            whole,
            fraction,
            unit,
        }
    }

    /// Returns the content of the column in a row. A text is a number without fraction and unit.
    fn cell(self, row: &Row, context: &Context<'_>) -> Number {
        let sums = &row.sums;
        let number = Number::of;
        let amount = |amount: Option<Amount>, operation: &str| {
            let amount = amount.filter(|_| !row.is_unknown);
            match context.look.amounts {
                true => number(amount.map(|it| it.total), operation, Quantity::Total),
                false => number(amount.map(|it| it.rate), operation, Quantity::Rate),
            }
        };
        let count = |count: usize| Number::plain(&count.to_string());
        let text =
            |text: Option<&str>| Number::plain(&text.map_or(UNKNOWN.to_owned(), text::shown));
        let target = || {
            let mut targets = context.history.targets();
            targets.find(|target| *target.snapshot.target == *row.key.name())
        };
        match self {
            _ if row.rank == 0 && OF_ENTRIES.contains(&self) => Number::default(),
            Rank => count(row.rank),
            Name => Number::plain(&match context.view.by {
                By::Target => context.short(&row.key.name()),
                _ => row.key.shown(&context.view.users),
            }),
            User => match (row.user, row.users) {
                (Some(user), _) => Number::plain(&context.view.users.shown(user)),
                (None, 0) => text(None),
                (None, users) => Number::plain(&format!("{users} users")),
            },
            Users => count(row.users),
            Account => match row.accounts {
                0 | 1 => text(row.account.as_deref()),
                accounts => Number::plain(&format!("{accounts} accounts")),
            },
            Jobs => count(row.jobs),
            Nodes => count(row.nodes),
            Status => text(target().map(|target| target.status.name())),
            Service => amount(sums.service, "service_time"),
            Share => Number::percent(row.share.filter(|_| !row.is_unknown)),
            Usual => number(context.times_usual(row), "service_time", Quantity::Rate),
            Requests => amount(Some(sums.requests), "open"),
            Metadata => amount(Some(sums.metadata), "metadata"),
            Read => amount(Some(sums.read), "read_bytes"),
            Write => amount(Some(sums.write), "write_bytes"),
            PerWrite => number(sums.per_write(), "write_bytes", Quantity::PerCall),
            PerRead => number(sums.per_read(), "read_bytes", Quantity::PerCall),
            PerRequest => number(sums.per_request(), "service_time", Quantity::PerCall),
            Target => row
                .target
                .as_ref()
                .map_or_else(|| text(None), |it| Number::plain(&context.short(it))),
            Operation => text(row.operation.map(|index| OPERATIONS[index].name)),
            Server => text(target().map(|target| &*target.snapshot.server)),
            Entries => {
                let entries = target().map_or(0, |target| target.snapshot.entries);
                count(usize::try_from(entries).unwrap_or(usize::MAX))
            }
        }
    }
}

/// Everything that the cells of a table depend on besides their rows.
pub struct Context<'a> {
    pub history: &'a TargetStates,
    pub view: &'a View,
    pub look: &'a ScreenState,
    /// True for a screen with room for baselines.
    pub is_wide: bool,
    /// True for the targets next to other rows.
    pub is_side: bool,
}

impl Context<'_> {
    /// Returns the name of a target without the file system that all have.
    fn short(&self, target: &str) -> String {
        let rest = self
            .history
            .filesystem()
            .and_then(|name| target.strip_prefix(name)?.strip_prefix('-'));
        text::shown(rest.unwrap_or(target))
    }

    /// Returns how many times the usual number of requests in service a row has, if it is known.
    fn times_usual(&self, row: &Row) -> Option<f64> {
        row.times_usual(self.history, self.view)
    }

    /// Returns the length of a bar as a part of the longest.
    fn length(&self, value: f64, most: f64) -> f64 {
        let part = if most > 0.0 { value / most } else { 0.0 };
        match self.look.log {
            true if part > 0.0 => (1.0 + part.log10() / DECADES).max(0.0),
            _ => part,
        }
    }
}

/// A column with its cells.
struct FilledColumn {
    column: Column,
    cells: Vec<Number>,
    /// The widths of numbers.
    widths: Widths,
    width: usize,
}

/// Returns the line of titles and the lines of rows in a width. Columns that do not fit are left out from the right, and room
/// that is left goes to names and bars.
pub fn lines(table: &Table, context: &Context<'_>, width: usize) -> Vec<Line> {
    let sort = table.sort;
    let room = width.saturating_sub(1);
    let wanted = wanted(table, context);
    let mut filled = fill(&wanted, table, context, room);
    // An account is worth less than the bytes read and written.
    let has = |filled: &[FilledColumn], column| filled.iter().any(|one| one.column == column);
    if has(&filled, Account) && !has(&filled, Write) {
        let others: Vec<_> = wanted.into_iter().filter(|it| *it != Account).collect();
        filled = fill(&others, table, context, room);
    }
    let gaps = GAP * filled.len().saturating_sub(1);
    let taken = gaps + filled.iter().map(|one| one.width).sum::<usize>();
    let bar_width = widen(&mut filled, room.saturating_sub(taken), context.look.bars);
    let title = |filled: &FilledColumn| {
        let title = titled(filled.column, sort, context);
        match filled.column.is_text() {
            true => text::left(&title, filled.width),
            // A title also covers the bar.
            false => text::right(&title, filled.width),
        }
    };
    let sign = line(" ", TITLE);
    let mut lines = vec![joined(sign, TITLE, &filled, title, String::new())];
    let services = all(table).filter_map(|row| row.sums.service);
    let most = services.map(|it| it.rate).fold(0.0, f64::max);
    for (at, row) in all(table).enumerate() {
        let value = row.sums.service.map_or(0.0, |it| it.rate);
        let bar = bar(context.length(value, most), bar_width.saturating_sub(1));
        let bar = text::left(&bar, bar_width);
        let cell = |filled: &FilledColumn| match filled.column {
            text if text.is_text() => text::left(&filled.cells[at].whole, filled.width),
            column => {
                let bar = if column == Service { bar_width } else { 0 };
                text::right(&filled.cells[at].aligned(filled.widths), filled.width - bar)
            }
        };
        // The sign is in front of all columns, so that it is never left out.
        let sign = line(if row.is_late { "~" } else { " " }, WARNING);
        let style = if row.rank == 0 { DIM } else { PLAIN };
        let mut line = joined(sign, style, &filled, cell, bar);
        if row.rank == 0 {
            put_name(&mut line, &row.key.name());
        } else if at == context.look.selected && !context.is_side {
            line = line.reversed();
        }
        lines.push(line);
    }
    lines
}

/// Returns the rows, and below them the work that is in no entry.
fn all(table: &Table) -> impl Iterator<Item = &Row> {
    table.rows.iter().chain(&table.untracked)
}

/// Writes a name over the blank cells behind the sign, so that no column has to be wider for it.
fn put_name(line: &mut Line, name: &str) {
    if let Some(cells) = line.spans.get_mut(1) {
        let rest = cells.content.trim_start();
        let room = cells.content.len() - rest.len();
        let name = text::cut(name, room.saturating_sub(1));
        cells.content = format!("{}{rest}", text::left(&name, room)).into();
    }
}

/// Joins cells to a line after a sign. The bar is separate because of its colour.
fn joined(
    mut line: Line,
    style: Style,
    filled: &[FilledColumn],
    cell: impl Fn(&FilledColumn) -> String,
    bar: String,
) -> Line {
    let cells: Vec<_> = filled.iter().map(cell).collect();
    let service = filled.iter().position(|one| one.column == Service);
    let (before, after) = cells.split_at(service.unwrap_or(cells.len()));
    let gap = " ".repeat(GAP);
    let mut before = before.join(&gap);
    if service.is_some_and(|at| at > 0) {
        before.push_str(&gap);
    }
    push(&mut line, before, style);
    push(&mut line, bar, BAR_STYLE);
    push(&mut line, after.join(&gap), style);
    line
}

/// Returns the title of a column, with a sign if rows are ranked by it.
fn titled(column: Column, sort: Sort, context: &Context<'_>) -> String {
    let mark = if column.is_sorted(sort) { "↓" } else { "" };
    let title = match column {
        Service if context.look.amounts => "time",
        Name => context.view.by.name(),
        column => column.word(),
    };
    format!("{mark}{title}")
}

/// Returns the columns that there is something to show in, in order.
fn wanted(table: &Table, context: &Context<'_>) -> Vec<Column> {
    let sort = table.sort;
    let mut rows = table.rows.iter();
    let is_compared = context.is_wide && rows.any(|row| context.times_usual(row).is_some());
    // Servers without times have empty cells.
    let is_wanted = |column: &Column| match column {
        Service | PerRequest => sort == Sort::Service || table.total.service.is_some(),
        Account => context.view.is_store && table.rows.iter().any(|row| row.accounts > 0),
        Usual => is_compared && !context.is_side,
        Rank | Status => !context.is_side,
        _ => true,
    };
    let mut wanted: Vec<Column> = columns(context.view.by).filter(is_wanted).collect();
    if Requests.is_sorted(sort) {
        wanted.retain(|column| *column != Requests);
        wanted.insert(if context.is_side { 1 } else { 3 }, Requests);
    }
    wanted
}

/// Returns the first of these columns that fit, with their cells.
fn fill(
    wanted: &[Column],
    table: &Table,
    context: &Context<'_>,
    width: usize,
) -> Vec<FilledColumn> {
    let mut filled: Vec<FilledColumn> = Vec::new();
    let mut taken = 0;
    for column in wanted.iter().copied() {
        let cells = all(table).map(|row| column.cell(row, context));
        let title = text::width(&titled(column, table.sort, context));
        let mut one = FilledColumn::new(column, cells.collect(), title, context.look.amounts);
        if column == Service && context.look.bars {
            one.width += BAR.0 + 1;
        }
        let gap = if taken == 0 { 0 } else { GAP };
        if taken + gap + one.width > width && filled.len() >= ALWAYS {
            break;
        }
        taken += gap + one.width;
        filled.push(one);
    }
    filled
}

impl FilledColumn {
    fn new(column: Column, cells: Vec<Number>, title: usize, amounts: bool) -> Self {
        let widths = Widths::of(column.least(amounts), &cells);
        let longest = widths.cells().max(title);
        let width = match column {
            // Names go before the last columns, up to a length.
            Name => longest.clamp(title.max(NAME.0), NAME_FIRST),
            User | Account => longest.min(NAME_FIRST),
            Target | Server => longest.min(NAME.1),
            Rank => widths.cells(),
            Service => widths.cells().max(title.saturating_sub(BAR.0 + 1)),
            _ => longest,
        };
        Self {
            column,
            cells,
            widths,
            width,
        }
    }
}

/// Gives spare room to the names that need it, and then to bars. Returns the width of bars.
fn widen(filled: &mut [FilledColumn], mut spare: usize, has_bars: bool) -> usize {
    for column in [Name, User, Account] {
        for one in filled.iter_mut().filter(|one| one.column == column) {
            let wanted = one.widths.cells().min(NAME.1);
            let more = spare.min(wanted.saturating_sub(one.width));
            one.width += more;
            spare -= more;
        }
    }
    let mut services = filled.iter_mut().filter(|one| one.column == Service);
    services.next().filter(|_| has_bars).map_or(0, |one| {
        let more = spare.min(BAR.1 - BAR.0);
        one.width += more;
        BAR.0 + 1 + more
    })
}
