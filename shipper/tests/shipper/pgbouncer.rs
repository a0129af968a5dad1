//! The way through PgBouncer, which gives each transaction a session that others use before and after it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use crate::common::{Database, Fake, Shipper, not_run, wait_for};
use postgres::config::Host;
use postgres::{Client, Config, NoTls};
use rustix::process::geteuid;

const ONE_TARGET: &str = "echo mdt.fs-MDT0000.job_stats=job_stats:";

/// A PgBouncer with one session of the server for all of its clients. It ends with this value.
struct Pooler {
    place: Fake,
    process: Child,
    user: String,
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Pooler {
    /// Reports and returns `None` if PgBouncer is not installed.
    fn new(database: &Database) -> Option<Self> {
        let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"];
        let Some(program) = program.into_iter().find(|path| fs::exists(path).unwrap()) else {
            not_run("PgBouncer is not installed");
            return None;
        };
        let server: Config = database.url().parse().unwrap();
        let host = match &server.get_hosts()[0] {
            Host::Tcp(host) => host.clone(),
            Host::Unix(path) => path.to_str().unwrap().to_owned(),
        };
        let port = server.get_ports().first().copied().unwrap_or(5432);
        let user = server.get_user().unwrap_or("postgres").to_owned();
        let place = Fake::new("");
        let directory = place.directory.path();
        let settings = format!(
            "[databases]\nstore = host={host} port={port} dbname={} user={user}\n\
             [pgbouncer]\nunix_socket_dir = {}\nlisten_port = 6432\nauth_type = any\npool_mode = transaction\n\
             default_pool_size = 1\n",
            server.get_dbname().unwrap(),
            directory.display()
        );
        fs::write(place.file("settings"), settings).unwrap();
        let mut command = Command::new(program);
        command.arg("-q").arg(place.file("settings"));
        if geteuid().is_root() {
            // It does not run as root. Its user owns the server for tests then, too.
            let owned = Command::new("chown")
                .arg("-R")
                .arg("postgres")
                .arg(directory)
                .status();
            assert!(owned.unwrap().success());
            command.args(["-u", "postgres"]);
        }
        fs::set_permissions(directory, Permissions::from_mode(0o755)).unwrap();
        let process = command.stderr(Stdio::null()).spawn().unwrap();
        let pooler = Self {
            place,
            process,
            user,
        };
        wait_for("answer of PgBouncer", || {
            Client::connect(&pooler.url(), NoTls).is_ok()
        });
        Some(pooler)
    }

    fn url(&self) -> String {
        let directory = self.place.directory.path().display();
        format!(
            "postgresql:///store?host={directory}&port=6432&user={}",
            self.user
        )
    }
}

#[test]
fn several_shippers_share_a_session_of_the_server() {
    let mut database = needs!(Database::new());
    database.execute("ALTER TABLE jobstats.feed ADD session integer DEFAULT pg_backend_pid()");
    let pooler = needs!(Pooler::new(&database));
    let lctl = Fake::new(ONE_TARGET);
    let mut running = Vec::new();
    for server in ["oss1", "oss2", "oss3"] {
        let mut shipper =
            Shipper::new(&["run", "--interval", "300ms", "--server", server]).args(&[
                "--database-url",
                &pooler.url(),
                "--lctl",
                lctl.path().to_str().unwrap(),
            ]);
        let command = shipper.command().stderr(Stdio::piped());
        running.push((command.spawn().unwrap(), shipper));
    }
    let done = "SELECT (count(DISTINCT server) = 3 AND min(readings) >= 5)::text
        FROM (SELECT server, count(*) AS readings FROM jobstats.feed GROUP BY server) AS servers";
    wait_for("five readings of each server", || {
        database.column(done) == ["true"]
    });
    // One session for all; the shippers leave no state in it.
    let sessions = "SELECT count(DISTINCT session)::text FROM jobstats.feed";
    assert_eq!(database.column(sessions), ["1"]);
    for (mut shipper, _lock) in running {
        shipper.kill().unwrap();
        let said = String::from_utf8(shipper.wait_with_output().unwrap().stderr).unwrap();
        assert_eq!(said, "");
    }
    Shipper::new(&[
        "once",
        "--server",
        "login1",
        "--database-url",
        &pooler.url(),
    ])
    .args(&[
        "--source",
        "passwd",
        "--command",
        "echo a",
        "--covers",
        "1h",
    ])
    .run()
    .succeeds_silently();
    let mut client = Client::connect(&pooler.url(), NoTls).unwrap();
    let left = client
        .simple_query(
            "SELECT name FROM pg_prepared_statements UNION ALL
             SELECT name FROM pg_settings WHERE source = 'session' AND name ~ 'timeout|tcp_|isolation|synchronous'",
        )
        .unwrap();
    let rows = left
        .iter()
        .filter(|message| matches!(message, postgres::SimpleQueryMessage::Row(_)));
    assert_eq!(rows.count(), 0);
}
