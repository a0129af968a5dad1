//! Finds out what a question needs of sums by owner.
//!
//! A part of the window that the sums do not have, because they are not computed yet or entries have got another job since, is
//! read by entry. These rows are few, or are so for a short time.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::query::jobs::Jobs;
use crate::query::question::Question;
use crate::query::state::State;
use crate::query::window::Window;
use crate::store::rollup::Owner;

/// The columns of sums by owner that a question needs.
#[derive(Default)]
pub struct Owners {
    /// The names of the columns, which are those of dimensions.
    columns: Vec<&'static str>,
    /// Set if some of them are names and groups of users that jobs alone know.
    pub names: bool,
    /// The ways in which the question depends on jobs, where it reads rows by entry.
    pub jobs: Jobs,
}

impl Owners {
    /// Finds out what a question in this window needs of sums by an owner.
    pub fn find(
        client: &SpiClient<'_>,
        question: &Question,
        window: &Window,
        state: &State,
        owner: Owner,
    ) -> Result<Self, Error> {
        let jobs = Jobs::find(client, question, window, state)?;
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

    /// Returns the names of the columns.
    pub fn names_of_columns(&self) -> &[&'static str] {
        &self.columns
    }
}
