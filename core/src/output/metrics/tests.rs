//! Checks which samples the metrics have. `openmetrics` checks how they are written.

use super::{Counts, GAUGES, Gauge, Maintenance, STATES, Target, Work, exposition};
use crate::base::operation::{OPERATIONS, READ, READ_BYTES};
use crate::base::target::TargetKind;

const NO_MAINTENANCE: Maintenance = Maintenance {
    completed: None,
    problem: false,
    lags: Vec::new(),
};

fn target(name: &str, kind: TargetKind, work: Option<Work>) -> Target {
    Target {
        cluster: String::new(),
        filesystem: "fs".to_owned(),
        name: name.to_owned(),
        kind: Some(kind),
        server: None,
        states: vec!["ok".to_owned()],
        last_observation: Some(1_700_000_000.5),
        delay: Some(0.25),
        usual_interval: None,
        missed: None,
        rejects: Some(0.0),
        counts: Some(Counts {
            observations: 3.0,
            text_bytes: 4e12,
            problems: 2.0,
        }),
        work,
    }
}

/// Returns the work of ten seconds with these amounts, by the positions of their operations, and no times.
fn work(amounts: &[(usize, f64)]) -> Work {
    let mut all = vec![None; OPERATIONS.len()];
    for (operation, amount) in amounts {
        all[*operation] = Some(*amount);
    }
    Work {
        seconds: 10.0,
        active: !amounts.is_empty(),
        amounts: all,
        usecs: vec![None; 3],
    }
}

/// Returns the samples of a family, without its name.
fn samples(text: &str, family: &str) -> Vec<String> {
    let rest = text.lines().filter_map(|line| line.strip_prefix(family));
    rest.filter(|rest| rest.starts_with(['{', ' ']))
        .map(str::to_owned)
        .collect()
}

fn text(targets: &[Target]) -> String {
    exposition(targets, &[], &[], &NO_MAINTENANCE).expect("memory")
}

#[test]
fn a_target_has_a_sample_of_each_state() {
    let full = Target {
        states: ["late", "full"].map(str::to_owned).to_vec(),
        ..target("fs-OST0000", TargetKind::Ost, None)
    };
    let samples = samples(&text(&[full]), "jobstats_target_state");
    assert_eq!(samples.len(), STATES.len());
    let label = "{filesystem=\"fs\",kind=\"OST\",target=\"fs-OST0000\",state=";
    assert_eq!(samples[0], format!("{label}\"ok\"}} 0"));
    let of_target = samples.iter().filter(|it| it.ends_with(" 1"));
    let expected = ["late", "full"].map(|state| format!("{label}\"{state}\"}} 1"));
    assert!(of_target.eq(&expected));
}

#[test]
fn the_states_are_those_of_the_view() {
    let view = include_str!("../../../../extension/src/store/views/health.sql");
    let rows = view
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('('));
    let of_readings = rows.filter_map(|line| line.split(", '").nth(1)?.split_once('\''));
    let lustre = include_str!("../../../../extension/src/store/views/health_of_lustre.sql");
    let of_server = lustre
        .lines()
        .filter_map(|line| line.split_once("' AS state"));
    let of_server = of_server.filter_map(|(before, _)| before.rsplit_once('\''));
    let states = of_readings
        .map(|(state, _)| state)
        .chain(of_server.map(|(_, state)| state));
    let of_targets = states.filter(|state| *state != "unhealthy");
    assert!(["ok"].into_iter().chain(of_targets).eq(STATES));
}

#[test]
fn unknown_values_have_no_sample() {
    let text = text(&[target("fs-OST0000", TargetKind::Ost, None)]);
    let count = |family| samples(&text, family).len();
    assert_eq!(count("jobstats_target_delay_seconds"), 1);
    assert_eq!(count("jobstats_target_usual_interval_seconds"), 0);
    assert_eq!(count("jobstats_target_calls_per_second"), 0);
    assert_eq!(count("jobstats_target_requests_in_service"), 0);
}

#[test]
fn counters_end_in_total_and_begin_with_the_first_report() {
    let expected = Target {
        counts: None,
        ..target("fs-OST0001", TargetKind::Ost, None)
    };
    let text = text(&[target("fs-OST0000", TargetKind::Ost, None), expected]);
    let label = "{filesystem=\"fs\",kind=\"OST\",target=\"fs-OST0000\"}";
    for (family, count) in [
        ("observations", "3"),
        ("text_bytes", "4000000000000"),
        ("problems", "2"),
    ] {
        let family = format!("jobstats_target_{family}");
        assert!(text.contains(&format!("# TYPE {family} counter\n")));
        let found = samples(&text, &format!("{family}_total"));
        assert_eq!(found, [format!("{label} {count}")]);
    }
}

#[test]
fn rates_are_those_of_operations_that_the_kind_of_target_reports() {
    let ost = work(&[(READ, 50.0), (READ_BYTES, 4096.0)]);
    let text = text(&[target("fs-OST0000", TargetKind::Ost, Some(ost))]);
    let calls = samples(&text, "jobstats_target_calls_per_second");
    let label = "{filesystem=\"fs\",kind=\"OST\",target=\"fs-OST0000\",operation=";
    assert_eq!(calls[0], format!("{label}\"read\"}} 5"));
    assert!(calls.iter().all(|sample| !sample.contains("\"mkdir\"")));
    assert!(calls.contains(&format!("{label}\"write\"}} 0")));
    let bytes = samples(&text, "jobstats_target_bytes_per_second");
    assert_eq!(
        bytes,
        [
            format!("{label}\"read_bytes\"}} 409.6"),
            format!("{label}\"write_bytes\"}} 0")
        ]
    );
    let metadata = samples(&text, "jobstats_target_metadata_calls_per_second");
    assert!(metadata.is_empty(), "an OST has no metadata");
}

#[test]
fn metadata_counts_each_call_of_an_mdt_once() {
    let position = |name: &[u8]| crate::base::operation::find(name).expect("an operation");
    let mdt = work(&[
        (position(b"rename"), 30.0),
        (position(b"samedir_rename"), 30.0),
        (position(b"open"), 10.0),
    ]);
    let text = text(&[target("fs-MDT0000", TargetKind::Mdt, Some(mdt))]);
    let metadata = samples(&text, "jobstats_target_metadata_calls_per_second");
    assert_eq!(
        metadata,
        ["{filesystem=\"fs\",kind=\"MDT\",target=\"fs-MDT0000\"} 4"]
    );
}

#[test]
fn a_target_that_did_nothing_reports_times_if_others_do() {
    let timed = Work {
        usecs: vec![Some(5e6), None, Some(15e6)],
        ..work(&[(READ, 1.0)])
    };
    let untimed = work(&[(READ, 1.0)]);
    let of = |works: [&Work; 2]| {
        let targets = [("a", works[0]), ("b", works[1])]
            .map(|(name, work)| target(name, TargetKind::Ost, Some(work.clone())));
        let samples = samples(&text(&targets), "jobstats_target_requests_in_service");
        let values = samples.iter().filter_map(|sample| sample.split_once("} "));
        values
            .map(|(_, value)| value.to_owned())
            .collect::<Vec<_>>()
    };
    let idle = work(&[]);
    assert_eq!(of([&timed, &idle]), ["2", "0"]);
    assert_eq!(of([&timed, &untimed]), ["2"]);
    assert!(of([&untimed, &idle]).is_empty());
    assert_eq!(of([&idle, &idle]), ["0", "0"]);
}

#[test]
fn maintenance_that_never_completed_has_neither_a_time_nor_a_problem() {
    let elsewhere = [("east".to_owned(), 3.0)];
    let maintained = Maintenance {
        completed: Some(1e9),
        problem: true,
        lags: vec![("10m".to_owned(), 1200.0)],
    };
    let text = exposition(&[], &elsewhere, &[], &maintained).expect("memory");
    assert_eq!(samples(&text, "jobstats_rejects"), ["{cluster=\"east\"} 3"]);
    assert_eq!(samples(&text, "jobstats_maintenance_problem"), [" 1"]);
    let completed = "jobstats_maintenance_completed_timestamp_seconds";
    assert_eq!(samples(&text, completed), [" 1000000000"]);
    assert_eq!(
        samples(&text, "jobstats_rollup_lag_seconds"),
        ["{level=\"10m\"} 1200"]
    );
    let text = exposition(&[], &[], &[], &NO_MAINTENANCE).expect("memory");
    assert!(samples(&text, completed).is_empty());
    assert!(samples(&text, "jobstats_maintenance_problem").is_empty());
}

#[test]
fn values_beside_job_stats_are_samples_of_their_families() {
    let gauges = GAUGES.map(|(family, ..)| Gauge {
        family: family.to_owned(),
        labels: [
            "",
            "fs",
            "OST",
            "fs-OST0000",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
        ]
        .map(str::to_owned),
        value: 7.0,
    });
    let text = exposition(&[], &[], &gauges, &NO_MAINTENANCE).expect("memory");
    for (family, ..) in GAUGES {
        assert_eq!(
            samples(&text, family),
            ["{filesystem=\"fs\",kind=\"OST\",target=\"fs-OST0000\"} 7"]
        );
    }
}
