//! Incidents match their plan.

use crate::lustre::service::Service;
use crate::lustre::{Layout, TargetKind};
use crate::time::{HOUR, MINUTE, Nanos, Span};
use crate::truth::queues::Waits;
use crate::truth::series::{Player, Series};
use crate::world::incident::{Incident, Kind, read};
use crate::world::{Cluster, Plan, Preset, Workload};

/// A Tuesday at noon.
const NOON: Nanos = 20_242 * 24 * HOUR + 12 * HOUR;

/// Plays an hour in which something happens from the twentieth minute to the fortieth.
fn play(kind: Kind, targets: &[&str], users: &[u32]) -> (Cluster, Series) {
    let mut cluster = Cluster::new(Preset::Busy, "busy", 1, Layout::V2_16, 1.0);
    cluster.disturbed = false;
    let plan = format!(
        r#"[{{"kind": "{}", "from": "2025-06-03T12:20:00Z", "until": "2025-06-03T12:40:00Z", "targets": {targets:?}, "users": {users:?}, "wait": 0.25}}]"#,
        <&str>::from(kind)
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), plan).unwrap();
    cluster.incidents = read(file.path(), &cluster).unwrap();
    let series = Player::new(&cluster).play(Span::new(NOON, HOUR));
    (cluster, series)
}

/// Returns the usual wait in seconds of a service before, in and after the incident: the median of its readings.
fn waits(series: &Series, server: usize, service: Service) -> [f64; 3] {
    [0, 20, 40].map(|minute| {
        let part = Span::new(NOON + minute * MINUTE, 20 * MINUTE);
        let readings = series.services[&(server, service)].iter();
        let within =
            readings.filter(|(span, _)| part.contains(span.from) && part.contains(span.until));
        let mean = |it: &Waits| it.usecs as f64 / it.requests as f64 / 1e6;
        let mut waits: Vec<_> = within.map(|(_, waits)| mean(waits)).collect();
        waits.sort_by(f64::total_cmp);
        waits[waits.len() / 2]
    })
}

#[test]
fn requests_wait_as_long_as_planned_whoever_makes_it() {
    for (kind, target, server, service) in [
        (Kind::Storm, "work-MDT0000", 0, Service::Mdt),
        (Kind::UnstripedFile, "work-OST0003", 2, Service::OstIo),
        (Kind::SlowServer, "", 2, Service::OstIo),
    ] {
        let of_server: Vec<_> = (0..24).map(|it| format!("work-OST{it:04x}")).collect();
        let targets: Vec<&str> = match kind {
            Kind::SlowServer => of_server.iter().map(String::as_str).collect(),
            _ => vec![target],
        };
        let users: &[u32] = if target.is_empty() { &[] } else { &[20_100] };
        let (_, series) = play(kind, &targets, users);
        let [before, during, after] = waits(&series, server, service);
        assert!(
            before < 0.1 && after < 0.1,
            "{kind:?}: {before} and {after}"
        );
        // Requests take at most twelve times as long.
        let least = if kind == Kind::SlowServer { 0.1 } else { 0.2 };
        assert!(during > least && during < 0.6, "{kind:?}: {during}");
    }
}

#[test]
fn targets_stall_and_move_and_fill_up_and_are_not_read() {
    let at = |minute: Nanos| NOON + minute * MINUTE;
    let (_, series) = play(Kind::Stalled, &["work-OST0002"], &[]);
    let target = TargetKind::Ost as usize * 2 + 2;
    let idle = series.targets[target].iter().filter(|it| it.all.calls == 0);
    assert!((8..=10).contains(&idle.count()));
    let (_, series) = play(Kind::FullOst, &["work-OST0002"], &[]);
    let full: Vec<_> = series.used[target]
        .iter()
        .map(|(_, part)| *part > 0.95)
        .collect();
    assert_eq!(full, [false, false, true, true, false, false]);
    let (cluster, _) = play(Kind::Failover, &["work-OST0000", "work-OST0002"], &[]);
    let owners = [10, 30, 50].map(|minute| Plan::new(&cluster).owner(target, at(minute)));
    assert_eq!(owners, [2, 3, 2]);
    let (cluster, series) = play(Kind::Upgrade, &["work-OST0000", "work-OST0002"], &[]);
    let unread = [10, 30, 50].map(|minute| Plan::new(&cluster).is_unread(2, at(minute)));
    assert_eq!(unread, [false, true, false]);
    assert_eq!(
        Plan::new(&cluster).starts(target, Span::new(NOON, HOUR)),
        [at(40)]
    );
    assert!(
        !series.targets[target]
            .iter()
            .any(|it| it.span.contains(at(30)))
    );
}

#[test]
fn an_ost_is_slow_in_any_world() {
    let usecs = |incidents: &str| {
        let mut cluster = Cluster::new(Preset::Medium, "medium", 1, Layout::V2_16, 1.0);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), incidents).unwrap();
        cluster.incidents = read(file.path(), &cluster).unwrap();
        let (target, _) = cluster.of_kind(TargetKind::Ost).nth(3).unwrap();
        let span = Span::new(NOON + 20 * MINUTE, 20 * MINUTE);
        let events = Workload::new(&cluster).traffic(target, span).events;
        let usecs = events.iter().map(|it| u64::from(it.calls.usecs));
        usecs.sum::<u64>() as f64
    };
    let slow = usecs(
        r#"[{"kind": "slow_ost", "from": "2025-06-03T12:20:00Z", "until": "2025-06-03T12:40:00Z", "targets": ["scratch-OST0003"]}]"#,
    );
    let times = slow / usecs("[]");
    assert!((2.0..12.1).contains(&times), "{times}");
}

#[test]
fn a_plan_names_targets_that_there_are() {
    let cluster = Cluster::new(Preset::Busy, "busy", 1, Layout::V2_16, 1.0);
    let file = tempfile::NamedTempFile::new().unwrap();
    let times = r#""from": "2025-06-03T12:20:00Z", "until": "2025-06-03T12:40:00Z""#;
    for (wrong, why) in [
        (
            format!(r#"[{{"kind": "stalled", {times}, "targets": ["work-OST9999"]}}]"#),
            "work-OST9999",
        ),
        (
            format!(r#"[{{"kind": "storm", {times}, "targets": ["work-MDT0000"]}}]"#),
            "users",
        ),
        (
            format!(r#"[{{"kind": "earthquake", {times}}}]"#),
            "earthquake",
        ),
    ] {
        std::fs::write(file.path(), wrong).unwrap();
        let problem = read(file.path(), &cluster).unwrap_err().to_string();
        assert!(problem.contains(why), "{problem}");
    }
    let drawn = crate::world::incident::draw(&cluster, Span::new(NOON, 14 * 24 * HOUR));
    assert!(drawn.iter().any(|it: &Incident| !it.kind.is_harmless()));
    let again = serde_json::to_vec(&drawn).unwrap();
    std::fs::write(file.path(), again).unwrap();
    assert_eq!(read(file.path(), &cluster).unwrap(), drawn);
}
