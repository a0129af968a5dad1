//! Databases for tests of the console.
//!
//! Needs a server with the extension: `JOBSTATS_TEST_DATABASE_URL` names one where databases and roles may be made.
#![allow(dead_code, reason = "no test needs all of it")]

#[path = "../../../client/tests/simulator/mod.rs"]
pub mod simulator;

use std::io::Write;
use std::process::Command;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::{Connector, Options};
use postgres::Client;

const URL: &str = "JOBSTATS_TEST_DATABASE_URL";

/// A database that lives as long as this value.
pub struct Database {
    pub server: Client,
    pub name: String,
    pub url: String,
    pub client: Client,
}

impl Database {
    /// Creates an empty database. Without a server it prints so and returns `None`.
    pub fn new(test: &str) -> Option<Self> {
        let Ok(server_url) = std::env::var(URL) else {
            let _ = writeln!(std::io::stderr(), "not run: {test}: {URL} is not set");
            return None;
        };
        let name = format!("console_{test}_{}", std::process::id());
        let mut server = connect(&server_url);
        server
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .unwrap();
        let (base, query) = server_url.split_once('?').unwrap_or((&server_url, ""));
        let (base, _) = base.rsplit_once('/').unwrap();
        let url = format!("{base}/{name}?{query}");
        let client = connect(&url);
        Some(Self {
            server,
            name,
            url,
            client,
        })
    }

    /// Makes a database with a store.
    pub fn with_store(test: &str) -> Option<Self> {
        let mut database = Self::new(test)?;
        database
            .client
            .batch_execute("CREATE EXTENSION jobstats; SELECT jobstats_setup()")
            .unwrap();
        Some(database)
    }

    /// Returns the URL for another role.
    pub fn url_of(&self, role: &str) -> String {
        match self.url.contains("user=") {
            true => self.url.replace("user=postgres", &format!("user={role}")),
            false => format!("{}&user={role}", self.url),
        }
    }

    /// Loads an hour of a simulated cluster, which ended so many minutes ago. Returns its end.
    pub fn load(&self, cluster: &str, minutes_ago: i64) -> Timestamp {
        // The clock does not wait for a build.
        simulator::build();
        let until = Timestamp::now() - SignedDuration::from_mins(minutes_ago);
        self.load_from(cluster, until - SignedDuration::from_hours(1));
        until
    }

    /// Loads an hour of a simulated cluster, from this time on.
    pub fn load_from(&self, cluster: &str, since: Timestamp) {
        let loaded = Command::new(simulator::build())
            .args(["load", "--job-stats-only", "--undisturbed", "--hours", "1"])
            .args(["--cluster", cluster, "--from", &since.to_string()])
            .env("JOBSTATS_DATABASE_URL", &self.url)
            .output()
            .unwrap();
        assert!(loaded.status.success(), "{loaded:?}");
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let dropped = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        if let Err(error) = self.server.batch_execute(&dropped) {
            eprintln!("{}: {error}", self.name);
        }
    }
}

/// Returns the options that name a database.
pub fn options(url: &str) -> Options {
    Options {
        database_url: Some(url.to_owned()),
        ..Options::default()
    }
}

/// Connects to a database.
pub fn connect(url: &str) -> Client {
    let settings = options(url).settings("jobstats-console-test").unwrap();
    let connector = Connector::new(settings, Duration::from_secs(600)).unwrap();
    connector.client().unwrap()
}
