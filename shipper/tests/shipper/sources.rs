//! Texts of other sources than lctl: commands, files that grow, and several of them in one process.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use crate::common::machine::readings;
use crate::common::{AWAY, Database, Ended, Fake, Running, Shipper, not_run, wait_for};
use tempfile::TempDir;

/// Lines that only the source lctl would take for names of targets.
const LINES: &str = "mdt.fs-MDT0000.job_stats=\\nobdfilter.fs-OST0000.job_stats=\\n";

/// A machine with files and a spool.
struct Machine {
    directory: TempDir,
}

impl Machine {
    fn new() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn append(&self, name: &str, text: &str) {
        let path = self.path(name);
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn shipper(&self, url: &str, arguments: &[&str]) -> Shipper {
        Shipper::new(arguments)
            .args(&["--server", "login1", "--database-url", url])
            .args(&["--spool", &self.text("spool")])
            .lock(&self.path("lock"))
    }

    fn spooled(&self) -> Vec<String> {
        readings(&self.path("spool"))
    }
}

fn command(database: &Database, command: &str, more: &[&str]) -> Ended {
    Shipper::new(&[
        "once",
        "--server",
        "login1",
        "--database-url",
        &database.url(),
    ])
    .args(&["--source", "passwd", "--command", command])
    .args(more)
    .run()
}

#[test]
fn what_a_command_prints_is_one_text_of_its_source() {
    let mut database = needs!(Database::new());
    command(&database, &format!("printf '{LINES}' | cat"), &[]).succeeds_silently();
    assert_eq!(database.bodies(), [LINES.replace("\\n", "\n")]);
    let row = "SELECT concat_ws('|', server, source, covers IS NULL, shipper LIKE 'jobstats-shipper %', \
               abs(extract(epoch FROM now() - \"time\")) < 600) FROM jobstats.feed";
    assert_eq!(database.column(row), ["login1|passwd|t|t|t"]);
}

#[test]
fn a_text_covers_the_time_before_the_start_of_its_command() {
    let mut database = needs!(Database::new());
    command(&database, "sleep 0.3; echo a", &["--covers", "20m"]).succeeds_silently();
    let row = r#"SELECT concat_ws('|', upper(covers) - lower(covers), lower_inc(covers), upper_inc(covers),
        "time" - upper(covers) BETWEEN '0.3 seconds' AND '10 minutes') FROM jobstats.feed"#;
    assert_eq!(database.column(row), ["00:20:00|t|f|t"]);
}

#[test]
fn a_command_that_fails_sends_nothing() {
    let mut database = needs!(Database::new());
    command(&database, "echo half; echo why >&2; exit 3", &[]).is(
        74,
        &["passwd: the command ended with exit code 3", "\n  why"],
    );
    command(&database, "echo half; kill -9 $$", &[]).is(74, &["signal 9"]);
    command(&database, "echo quiet >&2", &[]).is(74, &["printed nothing", "\n  quiet"]);
    command(
        &database,
        "echo half; sleep 86400 | cat",
        &["--lctl-timeout", "300ms"],
    )
    .is(74, &["did not finish within 300ms and was killed"]);
    assert_eq!(database.count(), 0);
    command(&database, "echo whole; echo note >&2", &[]).is(0, &["passwd: note"]);
    assert_eq!(database.count(), 1);
}

#[test]
fn text_of_a_source_is_sent_from_elsewhere() {
    let mut database = needs!(Database::new());
    Shipper::new(&[
        "once",
        "--server",
        "login1",
        "--database-url",
        &database.url(),
    ])
    .args(&[
        "--source",
        "passwd",
        "--input",
        "-",
        "--time",
        "2026-01-31T12:00:00Z",
    ])
    .run_with_input("root:x:0:0::/root:/bin/sh\n")
    .succeeds_silently();
    let row =
        r#"SELECT concat_ws('|', source, "time" = '2026-01-31T12:00:00Z') FROM jobstats.feed"#;
    assert_eq!(database.column(row), ["passwd|t"]);
}

#[test]
fn a_file_that_grows_is_sent_from_where_the_last_reading_ended() {
    let mut database = needs!(Database::new());
    let machine = Machine::new();
    let once = |url: &str| {
        let follow = machine.text("acct");
        machine
            .shipper(url, &["once", "--source", "lsf", "--follow", &follow])
            .run()
    };
    once(&database.url()).is(74, &["lsf: ", "/acct: No such file"]);
    machine.append("acct", "a\nb\nhalf");
    once(&database.url()).succeeds_silently();
    once(&database.url()).succeeds_silently();
    assert_eq!(database.bodies(), ["a\nb\n"]);
    // Every line arrives once although the database is away and the file is rotated.
    machine.append("acct", " a line\n");
    once(AWAY).is(69, &["1 scrape queued"]);
    machine.append("acct", "c\n");
    fs::rename(machine.path("acct"), machine.path("acct.1")).unwrap();
    machine.append("acct", "d\n");
    once(&database.url()).succeeds_silently();
    assert_eq!(database.bodies(), ["a\nb\n", "half a line\n", "c\n", "d\n"]);
    assert!(machine.spooled().is_empty());
    let sources = "SELECT DISTINCT concat_ws('|', source, covers IS NULL) FROM jobstats.feed";
    assert_eq!(database.column(sources), ["lsf|t"]);
}

/// Lists the sources of a file that `run` reads at once.
fn several(machine: &Machine) -> String {
    machine.append("acct", "first\n");
    let path = machine.text("sources.toml");
    let text = format!(
        r#"
        [lctl]
        interval = "1s"
        [passwd]
        command = "echo root:x:0:0::/:/bin/sh"
        interval = "1h"
        [broken]
        command = "exit 3"
        interval = "1s"
        [stuck]
        command = "sleep 86400"
        interval = "1s"
        [lsf]
        follow = "{}"
        interval = "1s"
        "#,
        machine.text("acct")
    );
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn one_process_reads_several_sources_over_one_connection() {
    let mut database = needs!(Database::new());
    database.execute("ALTER TABLE jobstats.feed ADD session integer DEFAULT pg_backend_pid()");
    let machine = Machine::new();
    let sources = several(&machine);
    let lctl = Fake::new("echo mdt.fs-MDT0000.job_stats=job_stats:");
    let said = File::create(machine.path("said")).unwrap();
    let mut shipper = machine
        .shipper(&database.url(), &["run", "--sources", &sources])
        .args(&["--lctl", lctl.path().to_str().unwrap()]);
    let running = Running(shipper.command().stderr(said).spawn().unwrap());
    let count = |database: &mut Database, source: &str| {
        let rows = format!(
            "SELECT count(*)::text FROM jobstats.feed WHERE coalesce(source, 'lctl') = '{source}'"
        );
        database.column(&rows).remove(0).parse::<u32>().unwrap()
    };
    wait_for("first file", || count(&mut database, "lsf") == 1);
    machine.append("acct", "second\n");
    wait_for("word of each source", || {
        let said = fs::read_to_string(machine.path("said")).unwrap();
        count(&mut database, "lsf") == 2
            && count(&mut database, "passwd") == 1
            && count(&mut database, "lctl") >= 3
            && said.contains("broken: the command ended with exit code 3")
    });
    drop(running);
    assert_eq!(
        count(&mut database, "stuck") + count(&mut database, "broken"),
        0
    );
    let sessions = database.column("SELECT DISTINCT session::text FROM jobstats.feed");
    assert_eq!(sessions.len(), 1);
}

#[test]
fn once_reads_every_source_and_reports_those_that_fail() {
    let mut database = needs!(Database::new());
    let machine = Machine::new();
    let sources = machine.text("sources.toml");
    fs::write(
        &sources,
        "[a]\ncommand = 'echo a'\n[b]\ncommand = 'exit 3'\n[c]\ncommand = 'exit 4'\n[d]\nsource = 'a'\ncommand = 'echo d'\n",
    )
    .unwrap();
    machine
        .shipper(&database.url(), &["once", "--sources", &sources])
        .run()
        .is(
            74,
            &[
                "b: the command ended with exit code 3",
                "c: the command ended with exit code 4",
            ],
        );
    let rows = "SELECT source FROM jobstats.feed ORDER BY 1";
    assert_eq!(database.column(rows), ["a", "a"]);
    fs::write(&sources, "[a]\ncomand = 'echo a'\n").unwrap();
    machine
        .shipper(&database.url(), &["once", "--sources", &sources])
        .run()
        .is(78, &["line 2", "unknown field `comand`"]);
}

#[test]
fn a_source_that_the_database_refuses_holds_up_no_other() {
    let mut database = needs!(Database::new());
    database.execute(
        "CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.source = 'a' THEN RAISE SQLSTATE '0A000' USING MESSAGE = 'there is no source'; END IF;
            RETURN NEW; END $$;
         CREATE TRIGGER trouble BEFORE INSERT ON jobstats.feed FOR EACH ROW EXECUTE FUNCTION trouble()",
    );
    let machine = Machine::new();
    let sources = machine.text("sources.toml");
    fs::write(
        &sources,
        "[a]\ncommand = 'echo a'\n[b]\ncommand = 'echo b'\n",
    )
    .unwrap();
    let once = || {
        machine
            .shipper(&database.url(), &["once", "--sources", &sources])
            .run()
    };
    once().is(
        78,
        &[
            "a: there is no source",
            "1 of 1 texts were not stored",
            "1 scrape queued",
        ],
    );
    once().is(78, &["2 scrapes queued"]);
    assert_eq!(
        database.column("SELECT source FROM jobstats.feed"),
        ["b", "b"]
    );
    // A later version of the store may know the source, so the reading is not set aside.
    let waiting = machine.spooled();
    assert!(waiting.len() == 2 && waiting.iter().all(|name| name.ends_with(".a.zst")));
    database.execute("DROP TRIGGER trouble ON jobstats.feed");
    machine
        .shipper(&database.url(), &["once", "--sources", &sources])
        .run()
        .succeeds_silently();
    assert!(machine.spooled().is_empty());
    assert_eq!(database.count(), 6);
}

#[test]
fn the_lock_of_a_source_is_its_own() {
    let database = needs!(Database::new());
    let machine = Machine::new();
    let once = |source: &str, command: &str| {
        machine.shipper(
            &database.url(),
            &["once", "--source", source, "--command", command],
        )
    };
    let started = machine.text("started");
    let mut first = once(
        "a",
        &format!(
            "touch {started}; (while [ ! -e {started}.go ]; do sleep 0.05; done) & wait; echo a"
        ),
    );
    let mut first = first.command().stderr(Stdio::null()).spawn().unwrap();
    wait_for("first instance", || machine.path("started").exists());
    once("a", "echo a")
        .run()
        .is(75, &["another instance", "lock.a is locked"]);
    once("b", "echo b").run().succeeds_silently();
    // The lock of a killed instance passes only to the children of its command.
    first.kill().unwrap();
    first.wait().unwrap();
    once("a", "echo a").run().is(75, &["another instance"]);
    once("b", "echo b").run().succeeds_silently();
    fs::write(machine.path("started.go"), "").unwrap();
    wait_for("end of the lock", || {
        once("a", "echo a").run().code != Some(75)
    });
}

#[test]
fn the_store_takes_names_of_users_and_refuses_an_unknown_source() {
    let mut database = needs!(Database::empty());
    let available = "SELECT name::text FROM pg_available_extensions WHERE name = 'jobstats'";
    if database.column(available).is_empty() {
        return not_run("the extension jobstats is not installed");
    }
    database.execute("CREATE EXTENSION jobstats; SELECT jobstats_setup()");
    command(
        &database,
        "echo ada:x:1000:100::/home/ada:/bin/sh",
        &["--covers", "1h"],
    )
    .succeeds_silently();
    let users = "SELECT uid || ' ' || user_name FROM jobstats.users";
    assert_eq!(database.column(users), ["1000 ada"]);
    let machine = Machine::new();
    machine
        .shipper(
            &database.url(),
            &["once", "--source", "weather", "--command", "echo sun"],
        )
        .run()
        .is(
            78,
            &[
                "source \"weather\" does not exist (SQLSTATE 0A000)",
                "Valid values are lctl, passwd, ",
            ],
        );
    assert_eq!(machine.spooled(), ["0000000000000001.weather.zst"]);
}
