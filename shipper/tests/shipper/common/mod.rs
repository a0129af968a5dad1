//! The fixtures of the integration tests: a database for each test, stand-ins for lctl, and the shipper itself.

pub mod machine;
#[path = "../../../../client/tests/simulator/mod.rs"]
pub mod simulator;

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};
use tempfile::TempDir;

/// The variable with the address of a server for tests.
const URL: &str = "JOBSTATS_TEST_DATABASE_URL";

/// The columns of the feed, so that what arrives can be looked at.
const PLAIN_FEED: &str = r#"
    CREATE SCHEMA jobstats;
    CREATE TABLE jobstats.feed (cluster text DEFAULT '', server text, "time" timestamptz, body text,
        body_zstd bytea, duration interval, shipper text, source text, covers tstzrange)"#;

/// A database that lives as long as this value.
pub struct Database {
    server_url: String,
    name: String,
    pub client: Client,
}

impl Database {
    /// With a plain table in place of the feed; prints a line and returns `None` without a server.
    pub fn new() -> Option<Self> {
        let mut database = Self::empty()?;
        database.client.batch_execute(PLAIN_FEED).unwrap();
        Some(database)
    }

    /// An empty database.
    pub fn empty() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let Ok(server_url) = std::env::var(URL) else {
            not_run(&format!("{URL} is not set"));
            return None;
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("shipper_{}_{number}", std::process::id());
        let mut server = Client::connect(&server_url, NoTls).unwrap();
        server
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .unwrap();
        let client = Client::connect(&url_of(&server_url, &name), NoTls).unwrap();
        Some(Self {
            server_url,
            name,
            client,
        })
    }

    /// A database with a store; `None` if the extension is not installed.
    pub fn with_store() -> Option<Self> {
        let mut database = Self::empty()?;
        let available = "SELECT name::text FROM pg_available_extensions WHERE name = 'jobstats'";
        if database.column(available).is_empty() {
            not_run("the extension jobstats is not installed");
            return None;
        }
        // The simulated texts are long ago.
        database.execute(
            "CREATE EXTENSION jobstats; \
             SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years')",
        );
        Some(database)
    }

    pub fn url(&self) -> String {
        url_of(&self.server_url, &self.name)
    }

    /// The URL with one more parameter.
    pub fn url_with(&self, parameter: &str) -> String {
        let url = self.url();
        let separator = if url.contains('?') { '&' } else { '?' };
        format!("{url}{separator}{parameter}")
    }

    /// Creates a role of this database's name, which it returns.
    pub fn role(&mut self, options: &str) -> String {
        let name = self.name.clone();
        self.execute(&format!("CREATE ROLE {name} {options}"));
        name
    }

    /// The URL of a role of this database's name that may write for the cluster puhti.
    pub fn writer(&mut self) -> String {
        let name = self.role("LOGIN");
        self.execute(&format!("SELECT jobstats_grant_writer('{name}', 'puhti')"));
        // The last of two users counts.
        self.url_with(&format!("user={name}"))
    }

    pub fn execute(&mut self, sql: &str) {
        self.client.batch_execute(sql).unwrap();
    }

    /// The first column of every row, as text.
    pub fn column(&mut self, sql: &str) -> Vec<String> {
        let rows = self.client.query(sql, &[]).unwrap();
        rows.iter()
            .map(|row| row.get::<_, Option<String>>(0).unwrap_or("NULL".to_owned()))
            .collect()
    }

    pub fn count(&mut self) -> i64 {
        self.client
            .query_one("SELECT count(*) FROM jobstats.feed", &[])
            .unwrap()
            .get(0)
    }

    /// The texts that arrived, in the order of their time.
    pub fn bodies(&mut self) -> Vec<String> {
        let rows = self
            .client
            .query(
                r#"SELECT body_zstd FROM jobstats.feed ORDER BY "time""#,
                &[],
            )
            .unwrap();
        rows.iter().map(|row| unpack(row.get(0))).collect()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let dropped = Client::connect(&self.server_url, NoTls).and_then(|mut server| {
            server.batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name))?;
            server.batch_execute(&format!("DROP ROLE IF EXISTS {}", self.name))
        });
        if let Err(error) = dropped {
            eprintln!("{}: {error}", self.name);
        }
    }
}

/// Returns the address of another database on this server.
fn url_of(url: &str, database: &str) -> String {
    let (base, query) = url
        .split_once('?')
        .map_or((url, String::new()), |(base, query)| {
            (base, format!("?{query}"))
        });
    let (server, _) = base.rsplit_once('/').unwrap();
    format!("{server}/{database}{query}")
}

pub fn unpack(packed: &[u8]) -> String {
    String::from_utf8(zstd::stream::decode_all(packed).unwrap()).unwrap()
}

/// Prints it to stderr, which cargo does not capture here.
pub fn not_run(why: &str) {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(io::stderr(), "not run: {name}: {why}");
}

/// A directory with a stand-in for lctl.
pub struct Fake {
    pub directory: TempDir,
}

impl Fake {
    /// Runs this shell script for any arguments.
    pub fn new(script: &str) -> Self {
        let fake = Self {
            directory: TempDir::new().unwrap(),
        };
        // A separate process writes the file: while a child of another test still has a file open for writing, as it has between fork and
        // exec, the kernel refuses to run it ("Text file busy").
        let written = Command::new("sh")
            .args([
                "-c",
                r##"printf '#!/bin/sh\n%s\n' "$1" >"$0" && chmod 755 "$0""##,
            ])
            .arg(fake.path())
            .arg(script)
            .status()
            .unwrap();
        assert!(written.success());
        fake
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().join("lctl")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

/// The time limits of the shipper's commands.
const LIMITS: [&str; 3] = ["--lctl-timeout", "--connect-timeout", "--statement-timeout"];

/// Makes a directory read-only for a command, and runs the command.
const READ_ONLY: &str = r#"mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@""#;

/// `jobstats-shipper` with a private lock, and without the environment's database settings.
pub struct Shipper {
    command: Command,
    /// Time limits that no busy machine exceeds, unless the test sets them.
    limits: &'static [&'static str],
    nice: Option<&'static str>,
    lock: PathBuf,
    _directory: TempDir,
}

impl Shipper {
    pub fn new(arguments: &[&str]) -> Self {
        let directory = TempDir::new().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_jobstats-shipper"));
        for (name, _) in std::env::vars().filter(|(name, _)| {
            let name = name.to_ascii_uppercase();
            name.starts_with("PG") || name.ends_with("DATABASE_URL") || name.ends_with("_PROXY")
        }) {
            command.env_remove(name);
        }
        command.args(arguments).stdin(Stdio::null());
        let reads = matches!(arguments, ["once" | "run", ..]);
        // A reading may take long on a busy machine.
        if reads {
            command.args(["--busy-limit", "100"]);
        }
        let limits = match arguments {
            ["once" | "run" | "doctor", ..] => &LIMITS[..],
            ["record", ..] => &LIMITS[..1],
            ["replay", ..] => &LIMITS[1..],
            _ => &[],
        };
        Self {
            command,
            limits,
            // Otherwise the load of this machine could starve it.
            nice: reads.then_some("0"),
            lock: directory.path().join("lock"),
            _directory: directory,
        }
    }

    /// `once` with a stand-in for lctl, as server `oss1`.
    pub fn once(database: &Database, lctl: &Path) -> Self {
        let lctl = lctl.to_str().unwrap();
        Self::new(&[
            "once",
            "--server",
            "oss1",
            "--lctl",
            lctl,
            "--database-url",
            &database.url(),
        ])
    }

    /// Starts it with the priority of its arguments, or the default one.
    pub fn with_usual_priority(mut self) -> Self {
        self.nice = None;
        self
    }

    pub fn args(mut self, arguments: &[&str]) -> Self {
        self.command.args(arguments);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn lock(mut self, path: &Path) -> Self {
        self.lock = path.to_owned();
        self
    }

    /// Adds the time limits that are not set.
    fn limit(&mut self) {
        for limit in std::mem::take(&mut self.limits) {
            if !self.command.get_args().any(|argument| argument == *limit) {
                self.command.args([limit, "10m"]);
            }
        }
    }

    /// Returns the command, for a single run.
    pub fn command(&mut self) -> &mut Command {
        self.limit();
        if let Some(nice) = self.nice.take() {
            self.command.args(["--nice", nice]);
        }
        self.command.arg("--lock").arg(&self.lock)
    }

    /// Runs a command that prints data, without a lock.
    pub fn output(mut self) -> Output {
        self.limit();
        self.command.output().unwrap()
    }

    pub fn run(mut self) -> Ended {
        Ended::new(self.command().output().unwrap())
    }

    /// Runs a command that takes no lock.
    pub fn run_without_lock(self) -> Ended {
        Ended::new(self.output())
    }

    /// Runs with a directory on a read-only file system. Reports and returns `None` if this user may not mount.
    pub fn run_read_only(mut self, directory: &Path) -> Option<Ended> {
        let read_only = || {
            let mut command = Command::new("unshare");
            command
                .args(["--mount", "sh", "-c", READ_ONLY])
                .arg(directory);
            command
        };
        let tried = read_only().arg("true").stderr(Stdio::null()).status();
        if !tried.is_ok_and(|status| status.success()) {
            not_run("nothing can be mounted");
            return None;
        }
        let shipper = self.command();
        let mut command = read_only();
        command.arg(shipper.get_program()).args(shipper.get_args());
        for (name, value) in shipper.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Some(Ended::new(command.stdin(Stdio::null()).output().unwrap()))
    }

    /// With this text on its stdin.
    pub fn run_with_input(mut self, text: &str) -> Ended {
        let mut child = self
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // It may have ended before it read anything.
        let _ = stdin.write_all(text.as_bytes());
        drop(stdin);
        Ended::new(child.wait_with_output().unwrap())
    }
}

/// The time after which something that a test waits for is taken to never come, however busy the machine is.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// A database that is away.
pub const AWAY: &str = "postgresql://writer@127.0.0.1:1/jobstats";

/// Returns the URL of a server that refuses each connection with this SQLSTATE and message.
pub fn refusing(state: &str, message: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let fields = format!("SFATAL\0VFATAL\0C{state}\0M{message}\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
    let answer = [b"E", &length[..], fields.as_bytes()].concat();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut length = [0; 4];
            // The connection may be broken already.
            if stream.read_exact(&mut length).is_ok() {
                let mut startup = vec![0; u32::from_be_bytes(length) as usize - 4];
                let _ = stream.read_exact(&mut startup);
                let _ = stream.write_all(&answer);
            }
        }
    });
    format!("postgresql://writer@127.0.0.1:{port}/jobstats?sslmode=disable")
}

/// A background process that is killed at the end.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for something that comes soon on an idle machine.
pub fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < PATIENCE, "no {what}");
        sleep(Duration::from_millis(20));
    }
}

/// Runs with a time limit that one step exceeds and the others keep. On a busy machine these may need longer, so the limit is
/// doubled until the run ends as it should.
#[track_caller]
pub fn with_a_limit(
    mut run: impl FnMut(&str) -> Ended,
    is_right: impl Fn(&Ended) -> bool,
) -> Ended {
    let mut limit = Duration::from_millis(250);
    loop {
        let ended = run(&format!("{}ms", limit.as_millis()));
        if is_right(&ended) {
            return ended;
        }
        assert!(limit < PATIENCE, "{ended:?}");
        limit *= 2;
    }
}

/// The exit code and output of a run.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub said: String,
}

impl Ended {
    pub fn new(output: Output) -> Self {
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "",
            "stdout is for data, and there is none"
        );
        Self {
            code: output.status.code(),
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Checks the exit code, and that the output contains these words.
    #[track_caller]
    pub fn is(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.said);
        for word in words {
            assert!(
                self.said.contains(word),
                "{word:?} is not in: {}",
                self.said
            );
        }
        self
    }

    /// Checks that everything was sent without a message.
    #[track_caller]
    pub fn succeeds_silently(self) {
        assert_eq!((self.code, self.said.as_str()), (Some(0), ""));
    }
}
