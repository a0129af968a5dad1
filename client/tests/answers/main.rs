//! Runs every question on a store filled by the simulator: arguments reach their functions, rows have the expected types, and the
//! answers agree with each other.
//!
//! `JOBSTATS_TEST_DATABASE_URL` names a server with the extension, on which databases may be created.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

#[path = "../simulator/mod.rs"]
mod simulator;
mod targets;
mod usage;

use std::io::Write;
use std::process::Command;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::*;
use jobstats_client::{Connector, Decimal, Options, ask};
use postgres::Client;

const URL: &str = "JOBSTATS_TEST_DATABASE_URL";
const TARGETS: [&str; 3] = ["small-MDT0000", "small-OST0000", "small-OST0001"];

/// A temporary database with a store.
struct Store {
    server: Client,
    name: String,
    client: Client,
    /// A window that the loaded scrapes cover.
    window: Window,
}

impl Store {
    /// Loads the last two hours of a simulated cluster. Without a server it prints so and returns `None`.
    fn new() -> Option<Self> {
        let Ok(server_url) = std::env::var(URL) else {
            let _ = writeln!(std::io::stderr(), "not run: answers: {URL} is not set");
            return None;
        };
        let name = format!("client_{}", std::process::id());
        let mut server = connect(&server_url);
        server
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .unwrap();
        let url = url_of(&server_url, &name);
        let mut client = connect(&url);
        client
            .batch_execute("CREATE EXTENSION jobstats; SELECT jobstats_setup()")
            .unwrap();
        let simulator = simulator::build();
        let until = Timestamp::now();
        let since = until - SignedDuration::from_hours(2);
        let loaded = Command::new(simulator)
            .args([
                "load",
                "--job-stats-only",
                "--undisturbed",
                "--hours",
                "2",
                "--from",
                &since.to_string(),
            ])
            .env("JOBSTATS_DATABASE_URL", &url)
            .output()
            .unwrap();
        assert!(loaded.status.success(), "{loaded:?}");
        let window = Window::new(
            since + SignedDuration::from_mins(15),
            until - SignedDuration::from_mins(15),
        );
        Some(Self {
            server,
            name,
            client,
            window,
        })
    }

    fn ask<Q: Question>(&mut self, question: &Q) -> Vec<Q::Answer> {
        ask(&mut self.client, question).unwrap()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let dropped = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        if let Err(error) = self.server.batch_execute(&dropped) {
            eprintln!("{}: {error}", self.name);
        }
    }
}

fn connect(url: &str) -> Client {
    let options = Options {
        database_url: Some(url.to_owned()),
        ..Options::default()
    };
    let settings = options.settings("jobstats-client-test").unwrap();
    let connector = Connector::new(settings, Duration::from_secs(600)).unwrap();
    connector.client().unwrap()
}

/// Returns the URL of another database of the same server.
fn url_of(url: &str, database: &str) -> String {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let (server, _) = base.rsplit_once('/').unwrap();
    format!("{server}/{database}?{query}")
}

fn texts(texts: &[&str]) -> Option<Vec<String>> {
    Some(texts.iter().map(ToString::to_string).collect())
}

fn sum(totals: impl Iterator<Item = Option<Decimal>>) -> Decimal {
    totals.flatten().sum()
}

#[test]
fn questions_are_answered() {
    let Some(mut store) = Store::new() else {
        return;
    };
    all_arguments_reach_their_functions(&mut store);
    targets::health_is_that_of_all_targets(&mut store);
    targets::what_programs_sum_up_is_what_functions_say(&mut store);
    usage::totals_and_rates_agree(&mut store);
    usage::leaders_and_summaries_agree_with_totals(&mut store);
    usage::a_job_adds_up_to_its_summary(&mut store);
    usage::work_in_no_entry_is_what_entries_lack(&mut store);
    targets::space_and_queues_are_those_of_the_text(&mut store);
    targets::targets_and_densities_are_told(&mut store);
    targets::parts_of_views_are_read(&mut store);
    usage::statements_answer_the_same(&mut store);
    usage::what_is_refused_has_its_kind(&mut store);
}

/// The server rejects unknown arguments and types.
fn all_arguments_reach_their_functions(store: &mut Store) {
    let window = store.window;
    // A single star is no filter: it also matches rows without a value.
    let any = || texts(&["**"]);
    let users = store.ask(&Summary {
        window,
        by: words([Dimension::Uid]),
        ..Summary::default()
    });
    let uids: Vec<_> = users.iter().filter_map(|row| row.labels.uid).collect();
    assert!(!uids.is_empty());
    let filters = Filters {
        cluster: any(),
        filesystem: any(),
        kind: any(),
        target: any(),
        server: any(),
        user: any(),
        uid: Some(uids),
        group: None,
        gid: None,
        account: None,
        workload: any(),
        job: any(),
        job_name: None,
        job_group: any(),
        partition: None,
        state: None,
        node: any(),
        executable: None,
        status: any(),
        entry: any(),
    };
    let dimensions = store
        .client
        .query("SELECT name FROM jobstats_internal.dimensions()", &[]);
    let dimensions: Vec<String> = dimensions.unwrap().iter().map(|row| row.get(0)).collect();
    let known = Dimension::ALL.iter().map(|it| it.name());
    assert!(
        known.eq(dimensions.iter().map(String::as_str)),
        "{dimensions:?}"
    );
    let by = || words(Dimension::ALL);
    let operations = words(["write_bytes"]);
    let operation = || Some("write_bytes".to_owned());
    let step = Some(SignedDuration::from_mins(30).into());
    let totals = store.ask(&Totals {
        window,
        operations: operations.clone(),
        by: by(),
        filter: filters.clone(),
    });
    assert!(!totals.is_empty());
    for TotalRow { labels: group, .. } in &totals {
        assert!(
            group.job.is_some() && group.node.is_some() && group.uid.is_some(),
            "{group:?}"
        );
    }
    let usual = store.ask(&Baseline {
        window,
        operation: operation(),
        by: by(),
        n: Some(1),
        filter: filters.clone(),
    });
    assert!(usual.iter().all(|it| it.days == 0));
    store.ask(&Findings {
        window,
        by: by(),
        levels: words(["good"]),
        filter: filters.clone(),
    });
    let changes = store.ask(&Changes {
        window,
        operation: operation(),
        by: by(),
        baseline_since: window.since,
        baseline_until: window.until,
        n: Some(0),
        filter: filters.clone(),
    });
    assert!(
        changes
            .iter()
            .all(|row| row.change.is_zero() && row.labels.others == Some(totals.len() as i64))
    );
    let rates = store.ask(&Rates {
        window,
        operations,
        by: by(),
        step,
        filter: filters.clone(),
    });
    assert!(!rates.is_empty());
    let top = store.ask(&Top {
        window,
        operation: operation(),
        by: by(),
        n: Some(2),
        filter: filters.clone(),
        untracked: Some(false),
    });
    assert!(!top.is_empty() && top.len() <= 2);
    let sizes = store.ask(&IoSizes {
        window,
        ..IoSizes::default()
    });
    assert!(!sizes.is_empty());
    let densities = store.ask(&Densities {
        window,
        operation: operation(),
        step,
        filter: filters.clone(),
    });
    assert!(!densities.is_empty());
    let summary = store.ask(&Summary {
        window,
        by: by(),
        filter: filters,
    });
    assert!(!summary.is_empty());
    // The entry IDs of compute nodes have no executable; login nodes have no jobs.
    let executables = store.ask(&Summary {
        window,
        by: words([Dimension::Executable]),
        filter: Filters {
            executable: any(),
            ..Filters::default()
        },
    });
    assert!(!executables.is_empty());
    assert!(
        executables
            .iter()
            .all(|row| row.labels.executable.is_some())
    );
}
