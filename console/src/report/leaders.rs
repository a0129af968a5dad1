//! The users, accounts and jobs that made most of the load.

use std::collections::HashMap;

use jobstats_client::answers::{Dimension, Filters, Group, Top, TopRow};
use jobstats_core::base::pattern::exactly;

use super::vocabulary::*;

/// The number of rows of each table.
const ROWS: i32 = 8;

/// The name of work that is in no entry.
const UNTRACKED: &str = "(without identifier)";

/// The rates of groups a week before.
type EarlierRates = HashMap<Group, f64>;

/// The answers behind the three tables.
struct Leaders<'s> {
    scope: &'s Scope,
    /// True if the week before was observed, so that a group without a rate then is new.
    has_before: bool,
    /// The work of targets that is in no entry, where it is known.
    rest: Option<TopRow>,
    statements: Statements,
}

/// A table of groups that are compared with the week before.
struct Grouping {
    caption: &'static str,
    title: &'static str,
    by: Dimension,
    word: &'static str,
    /// Limits filters to values. Without these there is no limit.
    limit: fn(&mut Filters, Option<Vec<String>>),
    /// The note below a table with only untracked usage.
    untracked: Option<&'static str>,
}

const USERS: Grouping = Grouping {
    caption: "Users",
    title: "User",
    by: Dimension::User,
    word: "user",
    limit: |filters, names| filters.user = names,
    untracked: None,
};

const ACCOUNTS: Grouping = Grouping {
    caption: "Accounts",
    title: "Account",
    by: Dimension::Account,
    word: "account",
    limit: |filters, names| filters.account = names,
    untracked: Some("No accounting of a scheduler says whose work it is."),
};

/// Loads the three tables and their statements.
pub fn ask(store: &mut Store, scope: &Scope, has_before: bool) -> Result<Vec<Block>, Error> {
    let mut leaders = Leaders {
        scope,
        has_before,
        rest: None,
        statements: Vec::new(),
    };
    let mut tables = Vec::new();
    if !scope.is_own() {
        tables.push(leaders.compared(store, &USERS)?);
    }
    tables.extend([leaders.compared(store, &ACCOUNTS)?, leaders.jobs(store)?]);
    let mut blocks = vec![Block::Tables(tables)];
    blocks.extend(leaders.said_of_rest().map(Block::Text));
    blocks.push(Block::Statements(leaders.statements));
    Ok(blocks)
}

impl Leaders<'_> {
    fn top(
        &mut self,
        store: &mut Store,
        title: &str,
        by: &[Dimension],
    ) -> Result<Vec<TopRow>, Error> {
        let measure = self.scope.measure.name();
        let mut top = store.ask(&Top {
            untracked: Some(true),
            ..self.scope.work().ranking(measure, by, ROWS)
        })?;
        self.statements.push((title.to_owned(), top.statement));
        let rest = top.rows.pop_if(|row| row.rank.is_none());
        self.rest = rest.filter(|rest| rest.share_of_target.is_some());
        Ok(top.rows)
    }

    /// Returns the share of the load without an entry ID, if known.
    fn said_of_rest(&self) -> Option<String> {
        let rest = self.rest.as_ref()?;
        let (share, rate) = (percent(rest.share_of_target), self.scope.rate(rest.rate));
        Some(format!(
            "{share} of all that the targets did has no identifier: {rate} {} on average. The parts of users, accounts and jobs are \
             parts of the other work. See I/O in no entry in docs/numbers.md.",
            self.scope.measure.words()
        ))
    }

    /// Returns the cells of untracked usage, the last row of a table.
    fn cells_of_rest(
        &self,
        title: &'static str,
        rows: &[TopRow],
        last: (&'static str, Cell),
    ) -> Option<[(&'static str, Cell); 4]> {
        let [part, rate] = self.rate(self.rest.as_ref()?, rows);
        Some([(title, Cell::text(UNTRACKED)), part, rate, last])
    }

    fn compared(&mut self, store: &mut Store, grouping: &Grouping) -> Result<Table, Error> {
        let by = [grouping.by];
        let rows = self.top(store, grouping.caption, &by)?;
        // Usage without a name matches no pattern, so it removes the limit.
        let names = rows.iter().map(|row| row.labels.text(grouping.by));
        let names = names.map(|name| name.map(|name| exactly(&name))).collect();
        let before = self.scope.week_before();
        let before = before.part(|filters| (grouping.limit)(filters, names));
        let measure = [self.scope.measure.name()];
        let rates = before.rates(store, &measure, &by, None)?.rows.into_iter();
        let rates = rates.filter_map(|row| Some((row.labels, row.rate?)));
        Ok(self.table(grouping, &rows, &rates.collect()))
    }

    fn table(&self, grouping: &Grouping, rows: &[TopRow], before: &EarlierRates) -> Table {
        let cells = rows.iter().map(|row| {
            let name = named(&row.labels, grouping.by, grouping.word);
            let before = before.get(&row.labels);
            let change = match self.has_before {
                true => change(row.rate, before.copied()),
                false => UNKNOWN.to_owned(),
            };
            let [part, rate] = self.rate(row, rows);
            let name = (grouping.title, Cell::text(&name));
            [name, part, rate, ("Change", Cell::number(change))]
        });
        let unknown = ("Change", Cell::number(UNKNOWN.to_owned()));
        let cells = cells.chain(self.cells_of_rest(grouping.title, rows, unknown));
        let is_untracked = |row: &TopRow| row.labels.text(grouping.by).is_none();
        let untracked = grouping.untracked.filter(|_| rows.iter().all(is_untracked));
        let change = "Change: against the same time a week before.";
        let note = untracked.or(self.has_before.then_some(change));
        Table {
            note: note.map(str::to_owned),
            ..Table::new(grouping.caption, cells)
        }
    }

    /// Returns the part of all work, with its bar, and the rate.
    fn rate(&self, row: &TopRow, rows: &[TopRow]) -> [(&'static str, Cell); 2] {
        let rates = rows.first().into_iter().chain(&self.rest);
        let most = rates.filter_map(|row| row.rate).fold(0.0, f64::max);
        let share = row.share.or(row.share_of_target);
        let part = Cell::bar(share, row.rate.unwrap_or(0.0) / most);
        let title = match self.scope.measure {
            Measure::ServiceTime => "In service",
            Measure::Bytes => "Bytes",
            Measure::Metadata => "Metadata",
        };
        [("Part", part), (title, self.scope.cell(row.rate))]
    }

    fn jobs(&mut self, store: &mut Store) -> Result<Table, Error> {
        let by = [Dimension::Job, Dimension::User, Dimension::JobName];
        let rows = self.top(store, "Jobs", &by)?;
        let cells = rows.iter().map(|row| {
            let job = match (&row.labels.job, row.labels.text(by[2])) {
                (Some(job), Some(name)) => format!("{} {}", shown(job), shown(&name)),
                (Some(job), None) => shown(job),
                (None, _) => "(no job)".to_owned(),
            };
            let [part, rate] = self.rate(row, &rows);
            let user = Cell::text(&user(&row.labels));
            [("Job", Cell::text(&job)), part, rate, ("User", user)]
        });
        let cells = cells.chain(self.cells_of_rest("Job", &rows, ("User", Cell::text(UNKNOWN))));
        Ok(Table::new("Jobs", cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scope;

    #[test]
    fn work_without_an_account_is_compared_too() {
        let scope = scope(0);
        let leaders = Leaders {
            scope: &scope,
            has_before: true,
            rest: None,
            statements: Vec::new(),
        };
        let rows = [row(None), row(Some("physics")), row(Some("chemistry"))];
        let before =
            EarlierRates::from([(rows[0].labels.clone(), 2.0), (rows[1].labels.clone(), 3.0)]);
        let table = leaders.table(&ACCOUNTS, &rows, &before);
        let changes: Vec<_> = table.rows.iter().map(|row| row[3].text.as_str()).collect();
        assert_eq!(changes, ["+50 %", "±0 %", "new"]);
        assert_eq!(
            texts(&table.rows[0]),
            ["(no account)", "33 %", "3.00", "+50 %"]
        );
        assert_eq!(leaders.said_of_rest(), None);
    }

    #[test]
    fn work_without_an_identifier_comes_last_and_is_said() {
        let scope = scope(0);
        let leaders = Leaders {
            scope: &scope,
            has_before: true,
            rest: Some(TopRow {
                rate: Some(6.0),
                share: None,
                share_of_target: Some(0.4),
                ..row(None)
            }),
            statements: Vec::new(),
        };
        let table = leaders.table(&ACCOUNTS, &[row(Some("physics"))], &EarlierRates::new());
        let last = table.rows.last().unwrap();
        assert_eq!(texts(last), ["(without identifier)", "40 %", "6.00", "–"]);
        // The untracked row has the longest bar here, not the first row.
        let bars = table.rows.iter().map(|row| row[1].bar);
        assert_eq!(bars.collect::<Vec<_>>(), [Some(50), Some(100)]);
        // The account is known and covers only some of the usage.
        assert_eq!(
            table.note.as_deref(),
            Some("Change: against the same time a week before.")
        );
        assert_eq!(
            leaders.said_of_rest().unwrap(),
            "40 % of all that the targets did has no identifier: 6 requests in service on average. The parts of users, accounts \
             and jobs are parts of the other work. See I/O in no entry in docs/numbers.md."
        );
    }

    fn texts(cells: &[Cell]) -> Vec<&str> {
        cells.iter().map(|cell| cell.text.as_str()).collect()
    }

    fn row(account: Option<&str>) -> TopRow {
        TopRow {
            share: Some(1.0 / 3.0),
            rate: Some(3.0),
            labels: Group {
                account: account.map(str::to_owned),
                ..Group::default()
            },
            ..TopRow::default()
        }
    }
}
