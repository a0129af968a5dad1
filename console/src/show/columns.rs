//! The columns of a table: what stands in their cells, and which of them fit.

use std::sync::Arc;

use jobstats_core::operation::OPERATIONS;
use jobstats_core::quantity::Quantity;

use crate::live::board::Board;
use crate::live::rows::{Amount, Row, Table};
use crate::live::users;
use crate::live::view::{By, Sort};
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

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Rank,
    Name,
    User,
    Users,
    Account,
    Jobs,
    Nodes,
    Status,
    Service,
    Share,
    Requests,
    Metadata,
    Read,
    Write,
    PerWrite,
    PerRead,
    PerRequest,
    Target,
    Operation,
    Server,
    Entries,
}

use Column::{
    Account, Entries, Jobs, Metadata, Name, Nodes, Operation, PerRead, PerRequest, PerWrite, Rank,
    Read, Requests, Server, Service, Share, Status, Target, User, Users, Write,
};

/// Returns the columns in order. On a narrow screen the last ones are left out.
const fn columns(by: By) -> &'static [Column] {
    match by {
        By::User => &[
            Rank, Name, Account, Jobs, Service, Share, Metadata, Read, Write, PerWrite, Target,
            Operation, Requests, PerRequest, PerRead, Nodes,
        ],
        By::Account => &[
            Rank, Name, Users, Jobs, Service, Share, Metadata, Read, Write, PerWrite, Target,
            Operation, Requests, PerRequest, PerRead, Nodes,
        ],
        By::Job => &[
            Rank, Name, User, Account, Service, Share, Metadata, Read, Write, PerWrite, Target,
            Operation, Requests, PerRequest, PerRead, Nodes,
        ],
        By::Node => &[
            Rank, Name, Jobs, Service, Share, Metadata, Read, Write, PerWrite, Target, Operation,
            Requests, PerRequest, PerRead, Users,
        ],
        By::Process => &[
            Rank, Name, Users, Service, Share, Metadata, Read, Write, PerWrite, Target, Operation,
            Requests, PerRequest, PerRead, Nodes,
        ],
        By::Target => &[
            Rank, Name, Status, Service, Share, Metadata, Read, Write, PerWrite, Operation,
            Requests, PerRequest, PerRead, Users, Jobs, Entries, Server,
        ],
        By::Operation => &[
            Rank, Name, Users, Service, Share, Requests, PerRequest, Read, Write, Target, PerWrite,
            PerRead, Jobs, Nodes,
        ],
        By::Entry => &[
            Rank, Name, Service, Share, Metadata, Read, Write, PerWrite, Target, Operation,
            Requests, PerRequest, PerRead,
        ],
    }
}

/// The columns that are never left out.
const ALWAYS: usize = 4;

/// The content of a column in one row.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cell {
    Text(String),
    Number(Number),
}

impl Column {
    const fn title(self, by: By, amounts: bool) -> &'static str {
        match self {
            Service if amounts => "time",
            Rank => "#",
            Name => by.name(),
            User => "user",
            Users => "users",
            Account => "account",
            Jobs => "jobs",
            Nodes => "nodes",
            Status => "state",
            Service => "in service",
            Share => "share",
            Requests => "requests",
            Metadata => "metadata",
            Read => "read",
            Write => "write",
            PerWrite => "per write",
            PerRead => "per read",
            PerRequest => "per request",
            Target => "mostly on",
            Operation => "mostly",
            Server => "server",
            Entries => "entries",
        }
    }

    const fn is_sorted(self, sort: Sort) -> bool {
        matches!(
            (self, sort),
            (Service, Sort::Service)
                | (Requests, Sort::Requests)
                | (Metadata, Sort::Metadata)
                | (Read, Sort::Read)
                | (Write, Sort::Write)
        )
    }

    /// Returns the widths of parts that usual numbers take, so that columns do not move.
    const fn least(self, amounts: bool) -> Widths {
        let (whole, fraction, unit) = match self {
            Service if amounts => (3, 3, 3),
            Requests | Metadata if amounts => (3, 3, 1),
            Read | Write if amounts => (3, 3, 2),
            Service => (3, 3, 0),
            Share => (3, 0, 1),
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

    fn cell(self, row: &Row, context: &Context<'_>) -> Cell {
        let sums = &row.sums;
        let amount = |amount: Option<Amount>, operation: &str| {
            let amount = amount.filter(|_| !row.is_unknown);
            Cell::Number(match context.amounts {
                true => Number::of(amount.map(|it| it.total), operation, Quantity::Total),
                false => Number::of(amount.map(|it| it.rate), operation, Quantity::Rate),
            })
        };
        let per_call =
            |value, operation| Cell::Number(Number::of(value, operation, Quantity::PerCall));
        let text = |text: Option<&str>| Cell::Text(text.map_or(UNKNOWN.to_owned(), text::shown));
        let target = || {
            context
                .board
                .targets()
                .find(|target| *target.name == *row.key.name())
        };
        match self {
            Rank => Cell::Number(Number::count(row.rank)),
            Name => Cell::Text(match context.by {
                By::Target => context.short(&row.key.name()),
                _ => row.key.shown(context.users),
            }),
            User => match (row.user, row.users) {
                (Some(user), _) => Cell::Text(context.users.shown(user)),
                (None, 0) => text(None),
                (None, users) => Cell::Text(format!("{users} users")),
            },
            Users => Cell::Number(Number::count(row.users)),
            Account => match row.accounts {
                0 | 1 => text(row.account.as_deref()),
                accounts => Cell::Text(format!("{accounts} accounts")),
            },
            Jobs => Cell::Number(Number::count(row.jobs)),
            Nodes => Cell::Number(Number::count(row.nodes)),
            Status => text(target().map(|target| target.status.name())),
            Service => amount(sums.service(), "service_time"),
            Share => Cell::Number(Number::percent(row.share.filter(|_| !row.is_unknown))),
            Requests => amount(Some(sums.requests), "open"),
            Metadata => amount(Some(sums.metadata), "metadata"),
            Read => amount(Some(sums.read), "read_bytes"),
            Write => amount(Some(sums.write), "write_bytes"),
            PerWrite => per_call(sums.per_write(), "write_bytes"),
            PerRead => per_call(sums.per_read(), "read_bytes"),
            PerRequest => per_call(sums.per_request(), "service_time"),
            Target => text(
                row.target
                    .as_deref()
                    .map(|name| context.short(name))
                    .as_deref(),
            ),
            Operation => text(row.operation.map(|index| OPERATIONS[index].name)),
            Server => text(target().map(|target| &*target.server)),
            Entries => Cell::Number(Number::count(target().map_or(0, |target| {
                usize::try_from(target.entries).unwrap_or(usize::MAX)
            }))),
        }
    }
}

/// Everything that the cells of a table depend on besides their rows.
pub struct Context<'a> {
    /// The targets.
    pub board: &'a Board,
    /// The dimension whose values are rows.
    pub by: By,
    /// True if amounts are shown instead of rates.
    pub amounts: bool,
    /// True if bars are drawn.
    pub bars: bool,
    /// True if the length of bars is the logarithm.
    pub log: bool,
    /// The names of users.
    pub users: &'a users::Users,
    /// True if accounts are known.
    pub accounts: bool,
    /// The file system whose name is left out of names of targets.
    pub filesystem: Option<&'a str>,
}

impl Context<'_> {
    /// Returns the name of a target without the file system that all have.
    fn short(&self, target: &str) -> String {
        let rest = self
            .filesystem
            .and_then(|name| target.strip_prefix(name)?.strip_prefix('-'));
        text::shown(rest.unwrap_or(target))
    }

    /// Returns the length of a bar as a part of the longest.
    fn length(&self, value: f64, most: f64) -> f64 {
        let part = if most > 0.0 { value / most } else { 0.0 };
        match self.log {
            true if part > 0.0 => (1.0 + part.log10() / DECADES).max(0.0),
            _ => part,
        }
    }
}

/// A line of a table: its cells are joined, but the bar stands apart, because it has another colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Laid {
    /// The text in front of the bar.
    pub before: String,
    /// The bar with its blanks.
    pub bar: String,
    /// The text behind the bar.
    pub after: String,
}

/// The lines of a table in a width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The line of titles.
    pub titles: Laid,
    /// The lines of rows.
    pub rows: Vec<Laid>,
}

/// A column with its cells.
struct Filled {
    column: Column,
    cells: Vec<Cell>,
    widths: Widths,
    width: usize,
}

/// Lays out the rows in a width. Columns that do not fit are left out from the right, and room that is left goes to names
/// and bars.
pub fn layout(table: &Table, context: &Context<'_>, width: usize) -> Layout {
    let sort = table.sort.unwrap_or(Sort::Service);
    let title = |column| titled(column, sort, context);
    let wanted = wanted(table, context, sort);
    let mut filled = fill(&wanted, table, context, width);
    // An account is worth less than what was read and written.
    let has = |filled: &[Filled], column| filled.iter().any(|one| one.column == column);
    if has(&filled, Account) && !has(&filled, Write) {
        let others: Vec<_> = wanted.into_iter().filter(|it| *it != Account).collect();
        filled = fill(&others, table, context, width);
    }
    let gaps = GAP * filled.len().saturating_sub(1);
    let taken = gaps + filled.iter().map(|one| one.width).sum::<usize>();
    let spare = width.saturating_sub(taken);
    let bar_width = widen(&mut filled, spare, context);
    let most = largest(table);
    let line = |cell: &dyn Fn(&Filled) -> String, bar: String| laid(&filled, cell, bar, width);
    let titles = line(
        &|filled| match filled.is_text() {
            true => text::left(&title(filled.column), filled.width),
            // A title stands above the bar too.
            false => text::right(&title(filled.column), filled.width),
        },
        String::new(),
    );
    let rows = table.rows.iter().enumerate().map(|(at, row)| {
        let value = row.sums.service().map_or(0.0, |it| it.rate);
        let part = context.length(value, most);
        let bar = if bar_width > 1 {
            bar(part, bar_width - 1)
        } else {
            String::new()
        };
        let cell = |filled: &Filled| match &filled.cells[at] {
            Cell::Text(text) => text::left(text, filled.width),
            Cell::Number(number) => text::right(
                &number.aligned(filled.widths),
                filled.without_bar(bar_width),
            ),
        };
        line(&cell, text::left(&bar, bar_width))
    });
    Layout {
        rows: rows.collect(),
        titles,
    }
}

/// Returns the title of a column, with a sign if rows are ranked by it.
fn titled(column: Column, sort: Sort, context: &Context<'_>) -> String {
    let mark = if column.is_sorted(sort) { "↓" } else { "" };
    format!("{mark}{}", column.title(context.by, context.amounts))
}

/// Returns the columns that there is something to show in, in order.
fn wanted(table: &Table, context: &Context<'_>, sort: Sort) -> Vec<Column> {
    // Servers without times have nothing to show there.
    let is_wanted = |column: &Column| match column {
        Service | PerRequest => sort == Sort::Service || table.total.service().is_some(),
        Account => context.accounts && table.rows.iter().any(|row| row.accounts > 0),
        _ => true,
    };
    let all = columns(context.by).iter().copied();
    let mut wanted: Vec<Column> = all.filter(is_wanted).collect();
    if Requests.is_sorted(sort) {
        wanted.retain(|column| *column != Requests);
        wanted.insert(3.min(wanted.len()), Requests);
    }
    wanted
}

/// Returns the first of these columns that fit, with their cells.
fn fill(wanted: &[Column], table: &Table, context: &Context<'_>, width: usize) -> Vec<Filled> {
    let sort = table.sort.unwrap_or(Sort::Service);
    let mut filled: Vec<Filled> = Vec::new();
    let mut taken = 0;
    for column in wanted.iter().copied() {
        let rows = table.rows.iter();
        let cells: Vec<Cell> = rows.map(|row| column.cell(row, context)).collect();
        let title = text::width(&titled(column, sort, context));
        let mut one = Filled::new(column, cells, title, context.amounts);
        if column == Service && context.bars {
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

fn largest(table: &Table) -> f64 {
    let values = table
        .rows
        .iter()
        .filter_map(|row| Some(row.sums.service()?.rate));
    values.fold(0.0, f64::max)
}

impl Filled {
    fn new(column: Column, cells: Vec<Cell>, title: usize, amounts: bool) -> Self {
        let numbers = cells.iter().filter_map(|cell| match cell {
            Cell::Number(number) => Some(number),
            Cell::Text(_) => None,
        });
        let widths = Widths::of(column.least(amounts), numbers);
        let longest = cells.iter().map(|cell| match cell {
            Cell::Text(text) => text::width(text),
            Cell::Number(_) => widths.cells(),
        });
        let longest = longest.max().unwrap_or(0).max(title);
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

    const fn is_text(&self) -> bool {
        matches!(
            self.column,
            Name | User | Account | Status | Target | Operation | Server
        )
    }

    fn without_bar(&self, bar: usize) -> usize {
        match self.column {
            Service => self.width - bar,
            _ => self.width,
        }
    }
}

/// Gives room that is left to names as far as they need it, and then to bars. Returns the width of bars.
fn widen(filled: &mut [Filled], mut spare: usize, context: &Context<'_>) -> usize {
    let mut names: Vec<_> = filled
        .iter_mut()
        .filter(|one| matches!(one.column, Name | User | Account))
        .collect();
    names.sort_by_key(|one| one.column != Name);
    for one in names {
        let texts = one.cells.iter().map(|cell| match cell {
            Cell::Text(text) => text::width(text),
            Cell::Number(_) => 0,
        });
        let wanted = texts.max().unwrap_or(0).min(NAME.1);
        let more = spare.min(wanted.saturating_sub(one.width));
        one.width += more;
        spare -= more;
    }
    let mut bar = 0;
    for one in filled
        .iter_mut()
        .filter(|one| one.column == Service && context.bars)
    {
        let more = spare.min(BAR.1 - BAR.0);
        one.width += more;
        bar = BAR.0 + 1 + more;
    }
    bar
}

fn laid(filled: &[Filled], cell: &dyn Fn(&Filled) -> String, bar: String, width: usize) -> Laid {
    let (mut before, mut after) = (String::new(), String::new());
    let mut is_behind = false;
    for (at, one) in filled.iter().enumerate() {
        let part = if is_behind { &mut after } else { &mut before };
        if at > 0 {
            part.push_str(&" ".repeat(GAP));
        }
        if one.column == Service {
            is_behind = true;
            after.push_str(&cell(one));
        } else {
            part.push_str(&cell(one));
        }
    }
    // Of a terminal that is too narrow for anything, the rest is cut.
    let before = text::cut(&before, width);
    let bar = text::cut(&bar, width - text::width(&before));
    let after = text::cut(&after, width - text::width(&before) - text::width(&bar));
    Laid { before, bar, after }
}

/// Returns the whole name of a row, as it may be shown.
pub fn whole_name(row: &Row, by: By, users: &users::Users) -> String {
    let name = row.key.shown(users);
    let on = row
        .target
        .as_ref()
        .map(Arc::clone)
        .filter(|_| by != By::Target);
    match on {
        Some(on) => format!("{} {name}, mostly on {}", by.name(), text::shown(&on)),
        None => format!("{} {name}", by.name()),
    }
}
