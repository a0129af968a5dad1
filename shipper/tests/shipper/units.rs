//! The systemd units of the packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::not_run;

/// The largest accepted exposure, as systemd computes it: 0 is isolated, 10 is a plain service of root.
const MOST_EXPOSED: f32 = 1.7;

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging")
}

fn services() -> Vec<PathBuf> {
    let packaging = packaging();
    let files = fs::read_dir(packaging)
        .unwrap()
        .map(|file| file.unwrap().path());
    let services: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|end| end == "service"))
        .collect();
    assert!(!services.is_empty());
    services
}

#[test]
fn services_are_exposed_little() {
    let version = Command::new("systemd-analyze").arg("--version").output();
    let version = version.map(|output| String::from_utf8(output.stdout).unwrap());
    let number = version
        .ok()
        .and_then(|text| text.split(' ').nth(1)?.parse().ok());
    // The option came with systemd 250.
    if number.is_none_or(|number: u32| number < 250) {
        not_run("systemd-analyze security --offline is missing");
        return;
    }
    for service in services() {
        let output = Command::new("systemd-analyze")
            .args(["security", "--no-pager", "--offline=yes"])
            .arg(&service)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let last = said.lines().last().unwrap();
        let (_, level) = last.split_once(".service: ").unwrap();
        let exposure: f32 = level.split(' ').next().unwrap().parse().unwrap();
        assert!(exposure <= MOST_EXPOSED, "{said}");
    }
}

#[test]
fn services_have_a_user_and_one_capability() {
    let of_shipper = |path: &PathBuf| path.ends_with("jobstats-shipper.service");
    for service in services().into_iter().filter(of_shipper) {
        let text = fs::read_to_string(&service).unwrap();
        let value = |name: &str| {
            let mut values = text
                .lines()
                .filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            let value = values.next();
            assert_eq!(values.next(), None, "{name} in {}", service.display());
            value
        };
        assert_eq!(value("User"), Some("jobstats-shipper"));
        assert_eq!(value("AmbientCapabilities"), Some("CAP_DAC_READ_SEARCH"));
        assert_eq!(value("CapabilityBoundingSet"), Some("CAP_DAC_READ_SEARCH"));
        // Every user of the machine sees the arguments of a process.
        let command = value("ExecStart").unwrap();
        assert!(
            !command.to_ascii_lowercase().contains("password") && !command.contains("://"),
            "{command}"
        );
    }
}

#[test]
fn the_probe_has_a_user_and_no_capability() {
    let text = fs::read_to_string(packaging().join("jobstats-shipper-probe.service")).unwrap();
    let has = |line: &str| text.lines().any(|it| it == line);
    assert!(has("User=jobstats-shipper") && has("CapabilityBoundingSet="));
    assert!(!text.contains("AmbientCapabilities"));
    let config = fs::read_to_string(packaging().join("probe.conf")).unwrap();
    let named = config.lines().last().unwrap();
    assert!(named.starts_with("PROBE_DIRECTORIES=\"scratch-") && named.ends_with('"'));
    assert!(has(
        "ExecStart=/usr/bin/jobstats-shipper probe --config /etc/jobstats/shipper.conf \
         --spool /var/lib/jobstats-shipper/probe $PROBE_DIRECTORIES"
    ));
}

/// With one user, one spool and one lock, whichever of them reads.
#[test]
fn cron_runs_the_command_of_the_unit_as_its_user() {
    let text = |name: &str| fs::read_to_string(packaging().join(name)).unwrap();
    let unit = text("jobstats-shipper.service");
    let command = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart=/usr/bin/"));
    let cron = text("jobstats-shipper.cron");
    let line = cron.lines().last().unwrap();
    let expected = format!("*/2 * * * * jobstats-shipper {} 2>&1 | ", command.unwrap());
    assert!(line.starts_with(&expected), "{line}");
}
