//! Finds out what a question needs of sums by owner.
//!
//! A part of the window that the sums do not have, because they are not computed yet or entries have got another job since, is
//! read by entry. These rows are few, or are so for a short time.

use crate::query::jobs::Jobs;
use crate::query::question::Question;
use crate::store::rollup::Owner;

/// Returns the names of the columns of sums by an owner that a question needs, which are those of dimensions.
pub fn owner_columns(owner: Owner, question: &Question, jobs: &Jobs) -> Vec<&'static str> {
    let mut columns: Vec<&str> = match owner {
        Owner::User | Owner::Member => vec!["uid"],
        Owner::Account => Vec::new(),
    };
    for dimension in question.dimensions() {
        let name = dimension.column;
        let needed: &[&str] = match jobs.names {
            true if dimension.is_group() => &["gid", name],
            true if dimension.is_name() => &[name],
            _ if dimension.is_of_job() => &[name],
            _ => &[],
        };
        for name in needed {
            if !columns.contains(name) {
                columns.push(name);
            }
        }
    }
    columns
}
