//! A store with an hour of work, whose numbers can be checked by hand, for tests of commands.
//!
//! Needs a server with the extension: `JOBSTATS_TEST_DATABASE_URL` names one where databases may be made.
#![allow(dead_code, reason = "no test needs all of it")]

use std::io::Write as _;
use std::process::{Command, Output};
use std::time::{SystemTime, UNIX_EPOCH};

use postgres::{Client, NoTls};
use serde_json::Value;

const URL: &str = "JOBSTATS_TEST_DATABASE_URL";

/// The name of a job, as somebody might give it to one who looks at it.
pub const HOSTILE: &str = "<img src=x onerror=alert(1)>\u{1b}[31m\u{202e}";

/// A database with a store, which lives as long as this value.
pub struct Store {
    pub server: Client,
    pub name: String,
    pub url: String,
    /// The minute that everything begins with, in seconds.
    pub zero: u64,
}

/// The seconds of a week.
pub const WEEK: u64 = 604_800;

impl Store {
    /// Fills a store: job 11 of user 1000 opens files and writes for 40 minutes; job 12 of user 1001 still runs. Without a server it
    /// prints so and returns `None`.
    pub fn new(test: &str) -> Option<Self> {
        let Ok(server_url) = std::env::var(URL) else {
            let _ = writeln!(std::io::stderr(), "not run: {test}: {URL} is not set");
            return None;
        };
        let name = format!("console_{test}_{}", std::process::id());
        let mut server = Client::connect(&server_url, NoTls).unwrap();
        server
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .unwrap();
        let (base, query) = server_url.split_once('?').unwrap_or((&server_url, ""));
        let (host, _) = base.rsplit_once('/').unwrap();
        let url = format!("{host}/{name}?{query}");
        let mut client = Client::connect(&url, NoTls).unwrap();
        client
            .batch_execute(
                "CREATE EXTENSION jobstats; SELECT jobstats_setup(raw_retention => '8 days')",
            )
            .unwrap();
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let zero = now / 600 * 600 - 7200;
        // A week before, user 1003 opened 600 files in ten minutes.
        for (minute, opens) in [(0, 0), (10, 600)] {
            let counter = format!(
                "  open: {{ samples: {opens}, unit: usecs, min: 1000000, max: 1000000, sum: {opens}000000, sumsq: {opens}000000000000 }}\n"
            );
            let text = format!(
                "mdt.scratch-MDT0000.job_stats=\njob_stats:\n- job_id: 1003:9:n04\n{counter}"
            );
            feed(&mut client, zero - WEEK + 60 * minute, &text);
        }
        for minute in (0..=110).step_by(10) {
            feed(
                &mut client,
                zero + 60 * minute,
                &servers(minute.min(40), minute),
            );
        }
        let accounting = accounting(zero);
        client
            .execute(
                "SELECT * FROM jobstats_ingest('', 'slurm', to_timestamp($1::bigint), source => 'slurm', body => $2::text)",
                &[&i64::try_from(zero + 6600).unwrap(), &accounting],
            )
            .unwrap();
        client.batch_execute("CALL jobstats_maintain()").unwrap();
        Some(Self {
            server,
            name,
            url,
            zero,
        })
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.run_as(&self.url, arguments)
    }

    pub fn run_as(&self, url: &str, arguments: &[&str]) -> Output {
        let mut program = Command::new(env!("CARGO_BIN_EXE_jobstats-console"));
        program.args(arguments).env("TZ", "UTC");
        program.env("JOBSTATS_DATABASE_URL", url);
        program.output().unwrap()
    }

    /// Returns the URL for another role.
    pub fn url_of(&self, role: &str) -> String {
        match self.url.contains("user=") {
            true => self.url.replace("user=postgres", &format!("user={role}")),
            false => format!("{}&user={role}", self.url),
        }
    }

    #[track_caller]
    pub fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.text(arguments)).unwrap()
    }
}

/// Returns the words of a text.
pub fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Drop for Store {
    fn drop(&mut self) {
        let dropped = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        if let Err(error) = self.server.batch_execute(&dropped) {
            eprintln!("{}: {error}", self.name);
        }
    }
}

pub fn feed(client: &mut Client, time: u64, body: &str) {
    let time = i64::try_from(time).unwrap();
    client
        .execute(
            "INSERT INTO jobstats.feed (server, \"time\", body) VALUES ('mds1', to_timestamp($1::bigint), $2::text)",
            &[&time, &body],
        )
        .unwrap();
}

/// Returns what servers print when job 11 has worked for some minutes, and job 12 for others.
fn servers(of_11: u64, of_12: u64) -> String {
    let counter = |name: &str, samples: u64, unit: &str, each: u64| {
        let sum = samples * each;
        format!(
            "  {name}: {{ samples: {samples}, unit: {unit}, min: {each}, max: {each}, sum: {sum}, sumsq: {} }}\n",
            sum * each
        )
    };
    let entry = |job: &str, counters: &[String]| format!("- job_id: {job}\n{}", counters.concat());
    let mut text = "mdt.scratch-MDT0000.job_stats=\njob_stats:\n".to_owned();
    if of_12 > 0 {
        text += &entry(
            "1000:11:n01",
            &[counter("open", 100_000 * of_11, "usecs", 100)],
        );
    }
    for ost in 0..2 {
        text += &format!("obdfilter.scratch-OST000{ost}.job_stats=\njob_stats:\n");
        if of_12 > 0 {
            let written = counter("write_bytes", 1000 * of_11, "bytes", 4096);
            let writes = counter("write", 1000 * of_11, "usecs", 500);
            // OSTs report requests that are metadata on an MDT only.
            let others = format!("  setattr: {{ samples: {}, unit: reqs }}\n", 50 * of_11);
            text += &entry("1000:11:n01", &[written, writes, others]);
        }
        if of_12 > 0 && ost == 1 {
            let read = counter("read_bytes", 10 * of_12, "bytes", 1_048_576);
            let reads = counter("read", 10 * of_12, "usecs", 2000);
            text += &entry("1001:12:n02", &[read, reads]);
        }
        if of_12 > 0 && ost == 0 {
            text += &entry(
                "1002:14:n03",
                &[counter("write_bytes", of_12, "bytes", 512)],
            );
        }
    }
    text
}

fn accounting(zero: u64) -> String {
    let header = "JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|Account|Partition|State|ExitCode|NNodes|NCPUS|JobName\n";
    let run = |(cluster, job): (&str, &str),
               label: &str,
               (from, to): (u64, Option<u64>),
               uid: u32,
               state: &str| {
        let at = |minute: u64| (zero + 60 * minute).to_string();
        let end = to.map_or_else(|| "Unknown".to_owned(), at);
        format!(
            "{job}|{label}|{cluster}|{}|{}|{end}|{uid}|user{uid}|physics|small|{state}|0:0|2|32|{HOSTILE}\n",
            at(from),
            at(from)
        )
    };
    let runs = [
        run(("alpha", "11"), "10_1", (0, Some(40)), 1000, "COMPLETED"),
        run(("alpha", "10"), "10_2", (0, Some(20)), 1000, "FAILED"),
        run(("alpha", "12"), "12", (0, None), 1001, "RUNNING"),
        run(("alpha", "13"), "13", (5, Some(10)), 1001, "FAILED"),
        run(("alpha", "21"), "21", (5, Some(10)), 1001, "COMPLETED"),
        run(("beta", "21"), "21", (5, Some(10)), 1004, "FAILED"),
    ];
    format!("{header}{}", runs.concat()).replace('|', "\x1f")
}
