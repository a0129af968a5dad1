//! The texts of each scheduler, character by character, and the laws of the plan of jobs, over several seeds.

use crate::accounting::SCHEDULERS;
use crate::accounting::flux::FLUX;
use crate::accounting::gridengine::GRID_ENGINE;
use crate::accounting::lsf::LSF;
use crate::accounting::pbs::PBS;
use crate::accounting::slurm::SLURM;
use crate::jobs::{LONGEST_LIFE, LONGEST_SHELL, Query, Run, Scheduler, Site};
use crate::lustre::identifier;
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND, Span, parse};

mod attribution;
mod plan;
mod texts;

/// A site of each scheduler.
fn sites() -> impl Iterator<Item = Site> {
    let schedulers = SCHEDULERS.into_iter();
    schedulers.map(|scheduler| Site::new(scheduler, 1, 200))
}

fn start() -> Nanos {
    parse("2025-06-01T00:00:00Z").unwrap()
}

fn days(days: Nanos) -> Span {
    Span::new(start(), days * DAY)
}

fn window(from: Nanos, until: Nanos) -> Query {
    Query {
        since: start() + from,
        time: start() + until,
    }
}

/// Returns the text of a query to the first cluster.
fn text(site: &Site, query: Query) -> Vec<u8> {
    let span = Span {
        from: query.since,
        until: query.time,
    };
    text_about(site, query, span)
}

/// Returns the text of a query, given the runs of a span.
fn text_about(site: &Site, query: Query, span: Span) -> Vec<u8> {
    let mut text = Vec::new();
    site.write(0, query, &site.runs(span), &mut text).unwrap();
    text
}
