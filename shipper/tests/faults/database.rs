//! The database: a private cluster that is stopped, killed, filled and queried.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jiff::Timestamp;
use postgres::{Client, NoTls};
use rustix::process::{Pid, Signal, kill_process};

use crate::place::wait_for;

/// The name of the database.
const NAME: &str = "faults";

/// Settings of the server. Confirmed data survives the end of all processes, because the machine stays up.
const SETTINGS: [&str; 3] = [
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
];

/// The script that starts and stops a cluster.
const CONTROL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/cluster.sh");

/// The cluster in a directory.
pub struct Database {
    directory: PathBuf,
    /// The directory of the tablespace, if it is on a small file system.
    pub small_disk: Option<PathBuf>,
}

/// A text that the database has stored or rejected.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Row {
    /// The name of the server.
    pub server: String,
    /// The name of the target.
    pub target: String,
    /// The time that was sent with the text.
    pub label: Timestamp,
}

impl Database {
    /// Starts a cluster with a store in it.
    pub fn start_new(directory: &Path, small_disk: Option<PathBuf>) -> Self {
        let database = Self {
            directory: directory.to_owned(),
            small_disk,
        };
        database.start();
        let place = database.small_disk.as_ref().map(|disk| {
            // The server does not run as root.
            let owner = fs::metadata(directory.join("data")).unwrap();
            let path = disk.join("tablespace");
            fs::create_dir(&path).unwrap();
            std::os::unix::fs::chown(&path, Some(owner_of(&owner)), None).unwrap();
            format!("CREATE TABLESPACE small LOCATION '{}'", path.display())
        });
        let mut server = database.connect("postgres").unwrap();
        let clause = place.map_or("", |create| {
            server.batch_execute(&create).unwrap();
            " TABLESPACE small"
        });
        server
            .batch_execute(&format!("CREATE DATABASE {NAME}{clause}"))
            .unwrap();
        let setup = "CREATE EXTENSION jobstats;
            SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years')";
        database.client().batch_execute(setup).unwrap();
        database
    }

    /// The path of the server's socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.join(".s.PGSQL.5432")
    }

    /// The URL by way of a proxy.
    pub fn url(port: u16) -> String {
        format!("postgresql://postgres@127.0.0.1:{port}/{NAME}?sslmode=disable")
    }

    /// The URL by the server's socket.
    pub fn direct_url(&self) -> String {
        let directory = self.directory.display();
        format!("postgresql:///{NAME}?host={directory}&user=postgres")
    }

    fn connect(&self, name: &str) -> Result<Client, postgres::Error> {
        let directory = self.directory.display();
        Client::connect(
            &format!("host={directory} user=postgres dbname={name}"),
            NoTls,
        )
    }

    /// Connects, and waits for a server that is just starting.
    pub fn client(&self) -> Client {
        let mut client = None;
        wait_for("database", || {
            client = self.connect(NAME).ok();
            client.is_some()
        });
        client.unwrap()
    }

    /// Starts the server. After a kill, processes of the old one may still be there for a moment.
    pub fn start(&self) {
        wait_for("start of the database", || {
            self.control("start", &SETTINGS) && self.connect("postgres").is_ok()
        });
    }

    /// Stops the server.
    pub fn stop(&self) {
        assert!(self.control("stop", &[]), "the database does not stop");
    }

    fn control(&self, command: &str, settings: &[&str]) -> bool {
        let mut control = Command::new(CONTROL);
        control.arg(command).arg(&self.directory).args(settings);
        control.stdout(Stdio::null()).stderr(Stdio::null());
        control.status().unwrap().success()
    }

    /// Kills the server's first process, which a start needs not to find.
    pub fn kill_postmaster(&self) {
        let file = fs::read_to_string(self.directory.join("data/postmaster.pid")).unwrap();
        kill(file.lines().next().unwrap().parse().unwrap());
    }

    /// Kills the sessions of shippers. Returns how many there were.
    pub fn kill_backends(&self) -> usize {
        let sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'jobstats-shipper'";
        let sessions = self.client().query(sql, &[]).unwrap();
        sessions.iter().for_each(|row| kill(row.get(0)));
        sessions.len()
    }

    /// Returns the texts that the database has stored.
    pub fn stored(&self, cluster: &str) -> Vec<Row> {
        self.rows(
            r#"SELECT o.server, t.name, o."time" FROM jobstats.observations o JOIN jobstats.targets t USING (target_id)
               WHERE t.cluster = $1"#,
            cluster,
        )
    }

    /// Returns the texts that the database has rejected because of their time.
    pub fn rejected(&self, cluster: &str) -> Vec<Row> {
        self.rows(
            r#"SELECT DISTINCT server, target, "time" FROM jobstats.rejects
               WHERE cluster = $1 AND reason = 'clock' AND target IS NOT NULL"#,
            cluster,
        )
    }

    fn rows(&self, sql: &str, cluster: &str) -> Vec<Row> {
        let row = |row: &postgres::Row| Row {
            server: row.get(0),
            target: row.get(1),
            label: row.get(2),
        };
        self.client()
            .query(sql, &[&cluster])
            .unwrap()
            .iter()
            .map(row)
            .collect()
    }
}

fn owner_of(file: &fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::uid(file)
}

fn kill(process: i32) {
    // It may have ended in the meantime.
    let _ = kill_process(Pid::from_raw(process).unwrap(), Signal::KILL);
}
