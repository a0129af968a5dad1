//! Plays lctl, now or at another time.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use crate::commands::cluster_options::Stage;
use crate::failure::Failure;
use crate::lustre::name_of;
use crate::printing::lctl::{self, Output};
use crate::time::{self, SECOND};
use crate::world::{Cluster, ServerIndex};

/// Plays `lctl get_param PATTERN…` on a server at a time, or now.
pub fn get_param(
    cluster: &Cluster,
    server: ServerIndex,
    time: &str,
    patterns: &[String],
) -> Result<Output, Failure> {
    if time == "now" {
        return now(cluster, server, patterns);
    }
    let time = time::parse(time).map_err(bad_time)?;
    lctl::get_param(cluster, server, time, patterns)
}

fn bad_time(problem: String) -> Failure {
    format!("time: {problem}").into()
}

/// Plays lctl now. The text is for the second half of a coming second, in which nothing happens, and is printed in that half. So it is
/// still true when its first byte arrives.
fn now(cluster: &Cluster, server: ServerIndex, patterns: &[String]) -> Result<Output, Failure> {
    const HALF: time::Nanos = SECOND / 2;
    let mut work = SECOND / 20;
    loop {
        let start = time::now().map_err(bad_time)?;
        let quiet = (start + work + HALF).div_euclid(SECOND) * SECOND + HALF;
        let printed = lctl::get_param(cluster, server, quiet, patterns)?;
        let ready = time::now().map_err(bad_time)?;
        if ready < quiet + SECOND / 5 {
            let rest = (quiet - ready).max(0).unsigned_abs();
            std::thread::sleep(Duration::from_nanos(rest));
            return Ok(printed);
        }
        work = 2 * (ready - start);
    }
}

/// Writes an executable `lctl` that plays a server.
pub fn write_script(stage: &Stage, cluster: &Cluster, directory: &Path) -> Result<(), Failure> {
    let path = directory.join("lctl");
    script(stage, cluster)
        .and_then(|script| {
            std::fs::create_dir_all(directory)?;
            std::fs::write(&path, script)?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
        })
        .map_err(|error| Failure::file(&path, error))
}

fn script(stage: &Stage, cluster: &Cluster) -> io::Result<String> {
    let program = std::env::current_exe()?;
    let world = &stage.world;
    let mut settings = vec![
        ("PRESET", name_of(&world.preset)),
        ("CLUSTER", cluster.name.clone()),
        ("SEED", world.seed.to_string()),
        ("LAYOUT", name_of(&world.layout)),
        ("SCALE", world.scale.to_string()),
        ("SERVER", stage.server.clone()),
        ("TIME", stage.time.clone()),
        ("INTERVAL", format!("{}s", cluster.interval / SECOND)),
        ("OVERLOAD", world.overload.to_string()),
        ("UNDISTURBED", world.undisturbed.to_string()),
        ("LATER", (time::shown(0) / time::DAY).to_string()),
    ];
    if let Some(scheduler) = world.scheduler {
        let schedulers = &world.schedulers;
        settings.extend([
            ("SCHEDULER", scheduler.name.to_owned()),
            ("JOBS", schedulers.jobs.to_string()),
            ("CLUSTERS", schedulers.clusters.to_string()),
            ("JOBID_NAME", schedulers.jobid_name.clone()),
            ("ODD", schedulers.odd.to_string()),
        ]);
    }
    let files = [
        ("WORK", &world.work),
        ("INCIDENT_PLAN", &world.incident_plan),
    ];
    for (name, file) in files {
        if let Some(file) = file {
            // The script may be called from any directory.
            let path = file.canonicalize()?;
            settings.push((name, path.to_string_lossy().into_owned()));
        }
    }
    let mut script = String::from("#!/bin/sh\n");
    for (name, value) in settings {
        let value = quoted(&value);
        script.push_str(&format!("export JOBSTATS_SIMULATOR_{name}={value}\n"));
    }
    let program = quoted(&program.to_string_lossy());
    Ok(script + &format!("exec {program} \"$@\"\n"))
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
