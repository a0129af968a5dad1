//! Names in messages, and names of jobs with their numbers folded.

use jobstats_core::base::nearest::{SUGGESTED, nearest};
use pgrx::prelude::*;

use crate::pg::argument::Short;
use crate::pg::error::escaped;

#[pg_extern(sql = false)]
fn jobstats_nearest(name: Short<&str>, known: Short<Vec<Option<String>>>) -> Vec<String> {
    let known = known.iter().flatten().map(String::as_str);
    let found = nearest(&name, known, SUGGESTED);
    found.into_iter().map(str::to_owned).collect()
}

#[pg_extern(sql = false)]
fn jobstats_escaped(sentence: Short<&str>) -> String {
    escaped(&sentence).into_owned()
}

#[pg_extern(sql = false)]
fn jobstats_fold(name: Short<&str>) -> String {
    jobstats_core::identity::number_pattern::number_pattern(&name).into_owned()
}
