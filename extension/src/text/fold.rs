//! `jobstats_internal.fold()`: folds the numbers in the names of jobs.

use pgrx::prelude::*;

use crate::pg::argument::Short;

#[pg_extern(sql = false)]
fn jobstats_fold(name: Short<&str>) -> String {
    jobstats_core::identity::fold::fold(&name).into_owned()
}
