//! Draws plans of incidents by the seed.

use strum::VariantArray;

use super::{Incident, Kind, prepare};
use crate::lustre::TargetKind;
use crate::random::Seed;
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND, Span};
use crate::world::Cluster;
use crate::world::busy::{account_name, people};

/// The incidents of a week.
const PER_WEEK: i64 = 3;
/// The shortest and the longest incident.
const LENGTHS: [Nanos; 2] = [4 * MINUTE, 6 * HOUR];
/// The length of waits in an incident: the least and the most times the usual wait.
const TIMES: [f64; 2] = [1.5, 20.0];
/// The baseline wait in seconds. A multiple of a tiny wait would still be imperceptible.
const LEAST: f64 = 0.05 / 3.0;

/// Draws the incidents that begin in a span, three a week, each with a random kind, length and size.
pub fn draw(cluster: &Cluster, span: Span) -> Vec<Incident> {
    let week = 7 * DAY;
    let weeks = span.from.div_euclid(week)..=span.until.div_euclid(week);
    let numbers = weeks.flat_map(|week| (0..=PER_WEEK).map(move |number| (week, number)));
    let drawn = numbers.map(|(number, turn)| {
        if turn == PER_WEEK {
            return harmless(
                cluster,
                cluster.seed.of("harmless", &[number]),
                number * week,
            );
        }
        let seed = cluster.seed.of("incident", &[number, turn]);
        let part = week / PER_WEEK;
        let from = number * week
            + turn * part
            + 8 * HOUR
            + seed.of("from", &[]).below(34 * 60) as Nanos * MINUTE;
        let length = between(LENGTHS.map(|it| it as f64), seed.of("length", &[])) as Nanos;
        let span = Span::new(from, length / SECOND * SECOND);
        one(cluster, seed, span)
    });
    prepare(cluster, drawn.filter(|it| span.contains(it.from)).collect())
}

/// Returns a random number between two bounds, uniform in its logarithm.
fn between([low, high]: [f64; 2], seed: Seed) -> f64 {
    low * (high / low).powf(seed.unit())
}

fn one(cluster: &Cluster, seed: Seed, span: Span) -> Incident {
    let kind = pick(seed.of("kind", &[]), |kind| !kind.is_harmless());
    let of_kind = |kind| cluster.of_kind(kind).map(|(_, target)| target);
    let any = |kind| {
        let all: Vec<_> = of_kind(kind).collect();
        all[seed.of("target", &[]).below(all.len() as u64) as usize]
    };
    let ost = any(TargetKind::Ost);
    let targets = match kind {
        Kind::Storm | Kind::Jobs => vec![any(TargetKind::Mdt)],
        Kind::OverloadedOst
        | Kind::UnstripedFile
        | Kind::SlowOst
        | Kind::FullOst
        | Kind::Stalled => vec![ost],
        Kind::SlowServer | Kind::Failover => {
            let osts = of_kind(TargetKind::Ost);
            osts.filter(|other| other.home == ost.home).collect()
        }
        _ => Vec::new(),
    };
    let (users, account) = users(cluster, kind, seed);
    Incident {
        kind,
        from: span.from,
        until: span.until,
        targets: targets.iter().map(|target| target.name.clone()).collect(),
        users,
        account,
        wait: (LEAST * between(TIMES, seed.of("times", &[])) * 1e6).round() / 1e6,
        course: Vec::new(),
    }
}

/// Draws one of the kinds that satisfy a condition.
fn pick(seed: Seed, holds: impl Fn(Kind) -> bool) -> Kind {
    let kinds: Vec<_> = Kind::VARIANTS
        .iter()
        .copied()
        .filter(|kind| holds(*kind))
        .collect();
    kinds[seed.below(kinds.len() as u64) as usize]
}

/// Draws a harmless event for the first hours of a week: an upgrade of a quarter of an hour, a gap or maintenance of up to four hours.
fn harmless(cluster: &Cluster, seed: Seed, week: Nanos) -> Incident {
    let kind = pick(seed.of("kind", &[]), Kind::is_harmless);
    let server = seed.of("server", &[]).below(cluster.servers.len() as u64) as usize;
    let here = cluster.of_server(server);
    let length = match kind {
        Kind::Upgrade => 15 * MINUTE,
        _ => MINUTE * (20 + seed.of("length", &[]).below(220) as Nanos),
    };
    let from = week + HOUR + seed.of("from", &[]).below(120) as Nanos * MINUTE;
    Incident {
        kind,
        from,
        until: from + length,
        targets: here.map(|(_, it)| it.name.clone()).collect(),
        users: Vec::new(),
        account: None,
        wait: 0.0,
        course: Vec::new(),
    }
}

/// Draws the users who make an incident.
fn users(cluster: &Cluster, kind: Kind, seed: Seed) -> (Vec<u32>, Option<String>) {
    let all: Vec<_> = people(cluster).skip(9).collect();
    let someone = all[seed.of("user", &[]).below(all.len() as u64) as usize];
    match kind {
        Kind::Storm | Kind::UnstripedFile => (vec![someone.uid], None),
        Kind::OverloadedOst => {
            let other = all[seed.of("other", &[]).below(all.len() as u64) as usize];
            let third = all[seed.of("third", &[]).below(all.len() as u64) as usize];
            (vec![someone.uid, other.uid, third.uid], None)
        }
        Kind::Jobs => {
            let of = all.iter().filter(|it| it.account == someone.account);
            let users = of.map(|it| it.uid).collect();
            (users, Some(account_name(someone.account)))
        }
        _ => (Vec::new(), None),
    }
}
