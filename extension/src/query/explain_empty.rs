//! Explains an empty answer in a notice, if the reason can be found: the store is empty, a filter has no match, or no target was observed.

use jobstats_core::base::nearest::{SUGGESTED, nearest};
use jobstats_core::base::pattern::Pattern;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use crate::pg::error::{Error, shown};
use crate::pg::spi::{Statements, values};
use crate::pg::time::{micros, window};
use crate::query::dimension::{DIMENSIONS, Dimension, Level, relations};
use crate::query::filters::Filters;
use crate::query::notice::{hinted, listed};
use crate::query::params::Params;
use crate::query::question::{Period, Question};
use crate::query::window::Window;

/// Raises a notice if the answer about this window is empty because the store is empty, a filter has no match, or no target in scope was observed.
/// After a recent observation, the window already lists the targets that are behind: a question about now must not search the whole store for retired
/// targets.
pub fn explain_window(
    client: &SpiClient<'_>,
    window: &Window,
    question: &Question,
) -> Result<(), Error> {
    if window.observed_lately {
        explain_filters(client, &question.filters)?;
        return Ok(());
    }
    explain(client, &question.period, &question.filters)
}

/// Raises such a notice for the requested window, regardless of recent observations.
pub fn explain(client: &SpiClient<'_>, period: &Period, filters: &Filters) -> Result<(), Error> {
    if explain_filters(client, filters)? {
        return Ok(());
    }
    let (since, until) = window(period.since, period.until)?;
    let params = Params::default();
    let statement = format!(
        "SELECT min(ends.first) AS first, max(ends.last) AS last FROM jobstats.targets target \
         JOIN jobstats.observation_ends ends ON ends.target_id = target.target_id WHERE true{}",
        filters.conditions(Level::Target, "target", &params)
    );
    let ends = client.query_only(&statement, &params.take(), "targets")?;
    let [first, last]: [Option<TimestampWithTimeZone>; 2] = [ends.get("first")?, ends.get("last")?];
    let Some((first, last)) = first.zip(last) else {
        return Ok(());
    };
    let edges = (micros(first)?, micros(last)?);
    if edges.0 == edges.1 {
        hinted(
            "no target in scope was observed twice",
            format!("Rates need two snapshots of a target. The first is of {first}."),
        );
    } else if until <= edges.0 || since >= edges.1 {
        hinted(
            "no target was observed in this window",
            format!("The first observation is of {first}, the last of {last}."),
        );
    }
    Ok(())
}

/// The number of values of a filter that a notice names.
const NAMED: usize = 3;

/// The largest number of values of a filter that are looked up.
const CHECKED: usize = 100;

/// The number of jobs that are looked at before and after an unknown one.
const NEIGHBORS: usize = 5;

/// The largest number of names of targets or users that are compared with an unknown one.
const COMPARED: i64 = 10_000;

/// Raises a notice if the store has no targets, or for each filter without a match. Returns whether it did.
pub fn explain_filters(client: &SpiClient<'_>, filters: &Filters) -> Result<bool, Error> {
    if !client.query_value::<bool>("SELECT EXISTS (SELECT FROM jobstats.targets)", &[])? {
        hinted(
            "the store has not been fed: it has no targets",
            "Run on each Lustre server: jobstats-shipper once --config /etc/jobstats/shipper.conf --verbose",
        );
        return Ok(true);
    }
    let mut explained = false;
    // Values hidden from a reader must look like missing values.
    let is_visible = |it: &&Dimension| it.level != Level::Entry || filters.own.is_none();
    for dimension in DIMENSIONS.iter().filter(is_visible) {
        if let Some(wanted) = filters.wanted(dimension.name).filter(|it| !it.none) {
            explained |= explain_values(client, dimension, &wanted.patterns)?;
        }
    }
    Ok(explained)
}

/// The dimensions whose patterns are looked up one by one. A job outside of arrays is its only member.
const JOB: &str = "job";
const ARRAY: &str = "job_group";

/// The statement that returns whether a pattern matches a job. A single pattern can use the index of perhaps millions of jobs.
const IS_JOB: &str = "SELECT EXISTS (SELECT FROM jobstats.entries entry WHERE entry.job LIKE $1) \
     OR EXISTS (SELECT FROM jobstats.jobs run WHERE run.label LIKE $1)";

/// Raises a notice if no value of a filter has a match. Returns whether it did.
fn explain_values(
    client: &SpiClient<'_>,
    dimension: &Dimension,
    values: &[String],
) -> Result<bool, Error> {
    if values.is_empty() || values.len() > CHECKED || names_any(client, dimension, values)? {
        return Ok(false);
    }
    let quoted = values.iter().map(|it| format!("\"{}\"", shown(it)));
    let quoted: Vec<String> = quoted.collect();
    let similar = similar(client, dimension, &values[0])?;
    let hint = match similar.is_empty() {
        true => hint(dimension),
        false => format!("Similar names are {}.", similar.join(", ")),
    };
    let name = dimension.name;
    hinted(
        format!("no known {name} matches {}", listed(&quoted, NAMED)),
        hint,
    );
    Ok(true)
}

/// Returns the hint where no name is similar: where all of them are.
fn hint(dimension: &Dimension) -> String {
    match dimension.name {
        name @ ("cluster" | "target" | "server") => format!("jobstats.health lists the {name}s."),
        "filesystem" => "jobstats.targets lists the file systems.".to_owned(),
        "kind" => "Valid values are MDT, OST.".to_owned(),
        "status" => {
            "Valid values are ok, missing_job, truncated, partial, malformed, claimed.".to_owned()
        }
        "user" | "group" => {
            let relation = relations(dimension)[0];
            format!("{relation} lists the known names.")
        }
        JOB => "SELECT * FROM jobstats_summary(); lists the jobs of a day.".to_owned(),
        name => format!("jobstats_summary(by => '{name}') lists the values in a window."),
    }
}

/// Returns whether any of these values names something.
fn names_any(
    client: &SpiClient<'_>,
    dimension: &Dimension,
    values: &[String],
) -> Result<bool, Error> {
    if [JOB, ARRAY].contains(&dimension.name) {
        for value in values {
            if client.query_value(IS_JOB, &values![Pattern::new(value).like()])? {
                return Ok(true);
            }
        }
        if dimension.name == JOB {
            return Ok(false);
        }
    }
    let like = if dimension.any_case { "ILIKE" } else { "LIKE" };
    // A user or a group without a name is known by the number.
    let number = match dimension.name {
        "user" => "uid",
        "group" => "gid",
        _ => "",
    };
    let dimensions = std::iter::once(dimension).chain(Dimension::find(number));
    let exists: Vec<String> = dimensions
        .flat_map(|it| relations(it).iter().map(|relation| (relation, it.column)))
        .map(|(relation, column)| {
            format!("EXISTS (SELECT FROM {relation} known WHERE known.{column}::text {like} ANY (jobstats_internal.as_like($1)))")
        })
        .collect();
    let statement = format!("SELECT {}", exists.join(" OR "));
    client.query_value(&statement, &values![values.to_vec()])
}

/// Returns the known names that are most like an unknown one.
fn similar(
    client: &SpiClient<'_>,
    dimension: &Dimension,
    name: &str,
) -> Result<Vec<String>, Error> {
    let known = match all(dimension) {
        Some(all) => {
            let known = client.query(&all, &values![COMPARED])?;
            known.map(|row| row.at(1)).collect::<Result<_, _>>()?
        }
        None if dimension.name == JOB => neighbors(client, name)?,
        None => Vec::new(),
    };
    let similar = nearest(name, known.iter().map(String::as_str), SUGGESTED);
    Ok(similar.iter().map(|it| shown(it).into_owned()).collect())
}

/// Returns a statement that lists names; `None` if they are too many, or numbers, or the hint lists all of them. There may be millions of jobs, so
/// the newest are read.
fn all(dimension: &Dimension) -> Option<String> {
    let column = dimension.column;
    let relation = match relations(dimension) {
        _ if matches!(dimension.name, "kind" | "gid") => return None,
        ["jobstats.job_ids"] => &format!(
            "(SELECT job.{column} FROM jobstats.job_ids job ORDER BY job.job_no DESC LIMIT 100000)"
        ),
        [
            first @ ("jobstats.targets" | "jobstats.users" | "jobstats.groups"),
            ..,
        ] => *first,
        _ => return None,
    };
    Some(format!(
        "SELECT DISTINCT known.{column} FROM {relation} known WHERE known.{column} IS NOT NULL LIMIT $1"
    ))
}

/// Returns the jobs whose names come before and after a name, which the index of jobs finds one by one: there may be
/// millions, and each may have thousands of entries.
fn neighbors(client: &SpiClient<'_>, name: &str) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for statement in [
        "SELECT entry.job FROM jobstats.entries entry WHERE entry.job ~>~ $1 ORDER BY entry.job USING ~<~ LIMIT 1",
        "SELECT entry.job FROM jobstats.entries entry WHERE entry.job ~<~ $1 ORDER BY entry.job USING ~>~ LIMIT 1",
    ] {
        let mut last = name.to_owned();
        for _ in 0..NEIGHBORS {
            match client.query_value::<Option<String>>(statement, &values![last.as_str()])? {
                Some(job) => found.push(std::mem::replace(&mut last, job)),
                None => break,
            }
        }
        found.push(last);
    }
    found.retain(|it| it != name);
    Ok(found)
}
