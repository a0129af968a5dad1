//! Asks sums by owner, and makes such sums of rows by entry.
//!
//! A part of the window that the sums do not have, because they are not computed yet or entries have got another job since, is
//! read by entry. These rows are few, or are so for a short time.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::query::dimension::{Jobs as Where, Table};
use crate::query::jobs::Jobs;
use crate::query::question::Question;
use crate::query::window::Window;
use crate::store::rollup::Owner;

/// The columns of sums by owner that a question needs.
#[derive(Default)]
pub struct Owners {
    /// The names of the columns, which are those of dimensions.
    columns: Vec<&'static str>,
    /// Set if some of them are names and groups of users that jobs alone know.
    pub names: bool,
    /// The ways in which the question depends on jobs, where it reads rows by entry. If entries have several, these rows must be
    /// summed by day before they are joined with their jobs.
    pub jobs: Jobs,
}

impl Owners {
    /// Finds out what a question in this window needs of sums by an owner.
    pub fn find(
        client: &SpiClient<'_>,
        question: &Question,
        window: &Window,
        owner: Owner,
    ) -> Result<Self, Error> {
        let jobs = Jobs::find(client, question, window)?;
        let names = jobs.names;
        let mut columns: Vec<&str> = match owner {
            Owner::User | Owner::Member => vec!["uid"],
            Owner::Account => Vec::new(),
        };
        for dimension in question.dimensions() {
            let name = dimension.column;
            let needed: &[&str] = match names {
                true if dimension.is_group() => &["gid", name],
                true if dimension.is_name() => &[name],
                _ if dimension.is_of_job() => &[name],
                _ => &[],
            };
            let new = needed.iter().filter(|it| !columns.contains(it));
            let new: Vec<&str> = new.copied().collect();
            columns.extend(new);
        }
        Ok(Self {
            columns,
            names,
            jobs,
        })
    }

    /// Returns the table of sums by owner that statements call `name`.
    pub fn table(&self, name: &'static str) -> Table {
        let jobs = Where::InRows { names: self.names };
        Table { name, jobs }
    }

    /// Returns the columns of a table, each with a leading comma.
    pub fn columns(&self, table: &str) -> String {
        let columns = self.columns.iter();
        columns
            .map(|column| format!(", {table}.{column}"))
            .collect()
    }

    /// Returns what the columns hold of an entry `entry` and its job `job`, each with a leading comma.
    pub fn of_entry(&self) -> String {
        let value = |column: &str| match column {
            "uid" if self.jobs.joined => "coalesce(entry.uid, job.uid)".to_owned(),
            "uid" => "entry.uid".to_owned(),
            "account" | "partition" => format!("job.{column}"),
            _ => format!("CASE WHEN entry.uid IS NULL THEN job.{column} END"),
        };
        let columns = self.columns.iter();
        columns
            .map(|column| format!(", {} AS {column}", value(column)))
            .collect()
    }
}
