//! The texts of each scheduler, character by character, and what the plan of jobs promises, over several seeds.

use crate::accounting::calls::Call;
use crate::jobs::{Kind, LONGEST_LIFE, LONGEST_SHELL, Run, Site, flux, names};
use crate::time::parse;
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND};
use crate::world::schedule::Span;

mod judge;
mod plan;
mod texts;

const KINDS: [Kind; 5] = [
    Kind::Slurm,
    Kind::Pbs,
    Kind::Lsf,
    Kind::Gridengine,
    Kind::Flux,
];

/// The schedulers in both of their forms.
fn forms() -> impl Iterator<Item = Site> {
    KINDS.into_iter().flat_map(|kind| {
        [false, true].map(|old| Site {
            old,
            ..Site::new(kind, 1, 200)
        })
    })
}

fn start() -> Nanos {
    parse("2025-06-01T00:00:00Z").unwrap()
}

fn days(days: Nanos) -> Span {
    Span {
        from: start(),
        until: start() + days * DAY,
    }
}

fn window(from: Nanos, until: Nanos) -> Call {
    Call {
        since: start() + from,
        time: start() + until,
    }
}

/// Returns the text of a call to the first cluster.
fn text(site: &Site, call: Call) -> Vec<u8> {
    let mut text = Vec::new();
    let runs = site.runs(call.since, call.time);
    site.write(0, call, &runs, &mut text).unwrap();
    text
}
