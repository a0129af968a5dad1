//! `export` of a store that the simulator filled: other programs read from the files what functions answer.
//!
//! Needs a server with the extension: `JOBSTATS_TEST_DATABASE_URL` names one where databases and roles may be made. The test that reads
//! with DuckDB needs a Python with its package `duckdb`: `JOBSTATS_TEST_PYTHON` names one, or else it is `python3`.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod database;
mod outcome;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use jobstats_client::Decimal;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use database::Database;
use outcome::{fails, said};

/// The name of a job, as somebody might give it to one who looks at it.
const HOSTILE: &str = "=cmd('<b>')\u{1b}[31m\u{202e},\"";

/// The names of a user, and the hours after midnight at which `getent passwd` printed them.
const NAMES: [(&str, i64); 2] = [("before", -25), ("after", 1)];

/// Fills a store with the hour around a midnight that is over a day ago, in which a user gets another name.
fn store(test: &str) -> Option<(Database, Date)> {
    let mut store = Database::with_store(test)?;
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let last = today.yesterday().unwrap();
    let midnight = last.to_zoned(TimeZone::UTC).unwrap().timestamp();
    store
        .client
        .batch_execute("SELECT jobstats_setup(raw_retention => '7 days')")
        .unwrap();
    store.load_from("small", midnight - SignedDuration::from_mins(30));
    let writer = "SELECT e.job, e.uid FROM jobstats.entries e JOIN jobstats.increments i USING (entry_id) \
                  WHERE e.job ~ '^[0-9]+$' AND e.uid > 0 GROUP BY 1, 2 \
                  HAVING min(i.\"time\") < $1 AND max(i.\"time\") > $1 ORDER BY sum(i.write_bytes) DESC NULLS LAST LIMIT 1";
    let writer = store.client.query_one(writer, &[&midnight]).unwrap();
    let (job, uid): (String, i64) = (writer.get(0), writer.get(1));
    for (name, hours) in NAMES {
        let time = midnight + SignedDuration::from_hours(hours);
        let text = format!("{name}:x:{uid}:100::/:\n");
        let fed = "SELECT * FROM jobstats_ingest('', 'login1', $1, $2::text, source => 'passwd')";
        store.client.execute(fed, &[&time, &text]).unwrap();
    }
    let at = |hours| (midnight + SignedDuration::from_hours(hours)).as_second();
    let header = "JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|Account|Partition|State|ExitCode|NNodes|NCPUS|JobName";
    let accounted = format!(
        "{header}\n{job}|{job}|small|{}|{}|{}|{uid}|after|physics|small|CANCELLED by {uid}|0:0|2|32|{HOSTILE}\n",
        at(-2),
        at(-2),
        at(2)
    )
    .replace('|', "\x1f");
    let fed = "SELECT * FROM jobstats_ingest('', 'slurm', $1, $2::text, source => 'slurm')";
    let time = midnight + SignedDuration::from_hours(3);
    store.client.execute(fed, &[&time, &accounted]).unwrap();
    store
        .client
        .batch_execute("CALL jobstats_maintain()")
        .unwrap();
    Some((store, last))
}

impl Database {
    fn export(&self, directory: &Path, arguments: &[&str]) -> Output {
        export(&self.url, directory, arguments)
    }

    /// Exports, and returns the names of the files.
    #[track_caller]
    fn exported(&self, directory: &Path, arguments: &[&str]) -> Vec<String> {
        let output = self.export(directory, arguments);
        assert_eq!(said(&output), (0, String::new()));
        assert!(output.stdout.is_empty());
        files(directory)
    }

    /// Returns the total of each column of operations on a day, as `jobstats_totals()` has it.
    fn totals(&mut self, day: Date) -> BTreeMap<String, i128> {
        let statement = "SELECT CASE WHEN t.operation LIKE '%\\_time' THEN regexp_replace(t.operation, '_time$', '_usecs') ELSE t.operation END, \
             CASE WHEN t.operation LIKE '%\\_time' THEN 1000000 * t.total ELSE t.total END \
             FROM jobstats_totals($1::date, $1::date + 1, by => '', operations => (SELECT string_agg(o.operation || s.suffix, ',') \
                FROM jobstats_operations() o CROSS JOIN (VALUES (''), ('_time')) s (suffix) \
                WHERE s.suffix = '' OR o.unit <> 'bytes')) t WHERE t.total > 0";
        let rows = self.client.query(&cast(statement, day), &[]).unwrap();
        let total = |row: &postgres::Row| {
            let total: Decimal = row.get(1);
            (row.get(0), total.normalize().mantissa())
        };
        rows.iter().map(total).collect()
    }
}

fn cast(statement: &str, day: Date) -> String {
    statement.replace("$1", &format!("'{day}'"))
}

fn export(url: &str, directory: &Path, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_jobstats-console"));
    program.arg("export").arg(directory).args(arguments);
    program.args(["--database-url", url]).output().unwrap()
}

fn files(directory: &Path) -> Vec<String> {
    let files = fs::read_dir(directory).unwrap();
    let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name != ".lock").collect();
    names.sort();
    names
}

/// Returns the sum of each column of numbers of a file, and the different texts of the others.
fn contents(path: &Path) -> (BTreeMap<String, i128>, BTreeMap<String, BTreeSet<String>>) {
    let file = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    let (mut sums, mut texts) = (BTreeMap::new(), BTreeMap::<_, BTreeSet<_>>::new());
    for row in file.get_row_iter(None).unwrap() {
        for (name, field) in row.unwrap().get_column_iter() {
            match field {
                Field::Long(number) => {
                    *sums.entry(name.clone()).or_default() += i128::from(*number)
                }
                Field::Str(text) => {
                    texts.entry(name.clone()).or_default().insert(text.clone());
                }
                _ => {}
            }
        }
    }
    for name in ["resets", "uid", "gid", "pid"] {
        sums.remove(name);
    }
    (sums, texts)
}

#[test]
fn days_are_exported_once() {
    let Some((mut store, last)) = store("days") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let names = store.exported(&out, &[]);
    let days = [last.yesterday().unwrap(), last];
    assert_eq!(names, days.map(|day| format!("{day}.parquet")));
    for day in days {
        let (sums, texts) = contents(&out.join(format!("{day}.parquet")));
        assert_eq!(sums, store.totals(day), "{day}");
        let name = if day == last { "after" } else { "before" };
        assert_eq!(texts["user_name"], [name.to_owned()].into(), "{day}");
        assert!(texts["job_name"].contains(HOSTILE), "{day}");
    }
    // A second call writes no file, and a third one rewrites one day.
    let written = |name: &str| fs::metadata(out.join(name)).unwrap().modified().unwrap();
    let before = (written(&names[0]), written(&names[1]));
    store.exported(&out, &[]);
    assert_eq!((written(&names[0]), written(&names[1])), before);
    store.exported(&out, &["--again", "--from", &last.to_string()]);
    assert_eq!(written(&names[0]), before.0);
    assert!(written(&names[1]) > before.1);
    every_level_has_the_same_sums(&mut store, directory.path(), last);
    pseudonyms_hide_names(&mut store, directory.path(), last);
    the_order_of_rows_tells_nothing(&store, directory.path(), last);
    what_is_wrong_is_told(&mut store, directory.path(), last);
}

fn every_level_has_the_same_sums(store: &mut Database, directory: &Path, last: Date) {
    for level in ["10m", "1h", "1d"] {
        let out = directory.join(level);
        assert_eq!(store.exported(&out, &["--level", level]).len(), 2);
        let (sums, _) = contents(&out.join(format!("{last}.parquet")));
        assert_eq!(sums, store.totals(last), "{level}");
    }
}

fn pseudonyms_hide_names(store: &mut Database, directory: &Path, last: Date) {
    let key = directory.join("key").display().to_string();
    let (one, two) = (directory.join("one"), directory.join("two"));
    for out in [&one, &two] {
        store.exported(out, &["--pseudonyms", &key]);
    }
    let mode = fs::metadata(&key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let name = format!("{last}.parquet");
    let (open_sums, open) = contents(&directory.join("out").join(&name));
    let (sums, hidden) = contents(&one.join(&name));
    assert_eq!(sums, open_sums);
    assert_eq!(contents(&two.join(&name)).1, hidden);
    for (column, texts) in &hidden {
        assert_eq!(texts.len(), open[column].len(), "{column}");
        let is_open = [
            "cluster",
            "filesystem",
            "kind",
            "target",
            "status",
            "partition",
            "state",
        ]
        .contains(&column.as_str());
        assert_eq!(texts == &open[column], is_open, "{column}");
        let is_digits =
            |text: &String| text.len() == 20 && text.bytes().all(|it| it.is_ascii_hexdigit());
        assert!(is_open || texts.iter().all(is_digits), "{column}");
    }
    // Slurm writes into the state of a job who cancelled it.
    assert_eq!(hidden["state"], ["CANCELLED".to_owned()].into());
    let cancelled = "SELECT uid, state FROM jobstats.job_ids WHERE job_name = $1";
    let cancelled = store.client.query_one(cancelled, &[&HOSTILE]).unwrap();
    let (uid, state): (i64, String) = (cancelled.get(0), cancelled.get(1));
    assert_eq!(state, format!("CANCELLED by {uid}"));
    let uid = uid.to_string();
    for (column, texts) in &hidden {
        let is_hash = texts != &open[column];
        assert!(
            is_hash || !texts.iter().any(|text| text.contains(&uid)),
            "{column}"
        );
    }
    // Not even the end of a file has a name.
    let bytes = fs::read(one.join(&name)).unwrap();
    for text in open["node"].iter().chain(&open["user_name"]) {
        assert!(
            !bytes.windows(text.len()).any(|it| it == text.as_bytes()),
            "{text}"
        );
    }
    let other = directory.join("other-key").display().to_string();
    let mixed = store.export(&one, &["--pseudonyms", &other]);
    fails(&mixed, 64, "was exported with other options");
    let beside = one.join("key").display().to_string();
    let beside_files = store.export(&one, &["--pseudonyms", &beside]);
    fails(&beside_files, 64, "published with the files");
    assert!(!one.join("key").exists());
}

/// Joins sort by uid. With pseudonyms, the rows of a day are sorted by target, and then by a hash.
fn the_order_of_rows_tells_nothing(store: &Database, directory: &Path, last: Date) {
    // The target of each row, and its amounts.
    let rows = |name: &str| -> Vec<(String, String)> {
        let key = directory.join(name).display().to_string();
        let out = directory.join(format!("sorted by {name}"));
        store.exported(&out, &["--pseudonyms", &key, "--level", "1d"]);
        let file = fs::File::open(out.join(format!("{last}.parquet"))).unwrap();
        let file = SerializedFileReader::new(file).unwrap();
        let rows = file.get_row_iter(None).unwrap().map(|row| {
            let row = row.unwrap();
            let cell = |name: &str| {
                let mut cells = row.get_column_iter();
                cells.find(|cell| *cell.0 == name).unwrap().1.to_string()
            };
            let amounts = ["read_bytes", "write_bytes", "open", "close"].map(cell);
            (cell("target"), amounts.join(" "))
        });
        rows.collect()
    };
    let (mut one, mut other) = (rows("key"), rows("another key"));
    let mut targets: Vec<_> = one.iter().map(|row| &row.0).collect();
    targets.dedup();
    let different: BTreeSet<_> = targets.iter().collect();
    assert_eq!(different.len(), targets.len(), "{targets:?}");
    assert!((2..one.len()).contains(&different.len()), "{targets:?}");
    assert_ne!(one, other);
    one.sort();
    other.sort();
    assert_eq!(one, other);
}

fn what_is_wrong_is_told(store: &mut Database, directory: &Path, last: Date) {
    let (out, new) = (directory.join("out"), directory.join("new"));
    let day = last.to_string();
    fails(&store.export(&out, &["--level", "1h"]), 64, "--again");
    fails(
        &store.export(&new, &["--from", &day, "--to", &day]),
        64,
        "is not before --to",
    );
    fails(
        &store.export(&new, &["--from", "someday"]),
        64,
        "is not a time",
    );
    let tomorrow = Timestamp::now() + SignedDuration::from_hours(24);
    let future = store.export(&new, &["--to", &tomorrow.to_string()]);
    fails(&future, 64, "is in the future");
    fails(
        &store.export(&new, &["--cluster", "nix"]),
        66,
        "no target matches this cluster",
    );
    assert!(!new.exists());
    fails(
        &store.export(Path::new("/dev/null/out"), &[]),
        71,
        "/dev/null/out",
    );
    let nowhere = "postgresql://reader@127.0.0.1:1/jobstats?sslmode=disable";
    fails(&export(nowhere, &new, &[]), 69, "cannot connect");
    // A file that is no export is not touched.
    fs::create_dir(&new).unwrap();
    let path = new.join(format!("{last}.parquet"));
    fs::write(&path, "notes").unwrap();
    fails(
        &store.export(&new, &[]),
        64,
        "was exported with other options",
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "notes");
    // What a killed export has left is in nobody's way.
    fs::remove_file(&path).unwrap();
    fs::write(new.join(format!(".{last}.parquet.part")), "half").unwrap();
    assert_eq!(
        store.exported(&new, &["--from", &day]),
        [format!("{last}.parquet")]
    );
    let lock = fs::File::create(new.join(".lock")).unwrap();
    lock.lock().unwrap();
    fails(&store.export(&new, &[]), 75, "another export is writing to");
    drop(lock);
    let linked = directory.join("linked");
    fs::create_dir(&linked).unwrap();
    std::os::unix::fs::symlink(&path, linked.join(".lock")).unwrap();
    let before = fs::read(&path).unwrap();
    fails(&store.export(&linked, &[]), 71, ".lock");
    assert_eq!(fs::read(&path).unwrap(), before);
    a_reader_is_enough(store, &new);
}

fn a_reader_is_enough(store: &mut Database, directory: &Path) {
    let role = format!("{}_reader", store.name);
    let made = format!("CREATE ROLE {role} LOGIN");
    store.client.batch_execute(&made).unwrap();
    let url = store.url.replace("user=postgres", &format!("user={role}"));
    let url = match url == store.url {
        true => format!("{url}&user={role}"),
        false => url,
    };
    let denied = export(&url, directory, &["--again"]);
    let granted = format!("SELECT jobstats_grant_reader('{role}')");
    store.client.batch_execute(&granted).unwrap();
    let exported = export(&url, directory, &["--again"]);
    let dropped = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    store.client.batch_execute(&dropped).unwrap();
    fails(&denied, 77, "jobstats_grant_reader");
    assert_eq!(said(&exported), (0, String::new()));
}

#[test]
fn duckdb_reads_what_functions_answer() {
    let python = std::env::var("JOBSTATS_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import duckdb"]).output();
    if !found.is_ok_and(|it| it.status.success()) {
        let _ = writeln!(
            std::io::stderr(),
            "not run: duckdb: {python} has no package duckdb: run make setup-dev"
        );
        return;
    }
    let Some((mut store, last)) = store("duckdb") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    store.exported(directory.path(), &[]);
    let read = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_back.py"))
        .arg(directory.path().join("*.parquet"))
        .arg("jobstats.export")
        .output()
        .unwrap();
    assert!(read.status.success(), "{read:?}");
    let read: Value = serde_json::from_slice(&read.stdout).unwrap();
    for (column, kind) in [
        ("since", "TIMESTAMP WITH TIME ZONE"),
        ("user_name", "VARCHAR"),
        ("uid", "BIGINT"),
        ("write_bytes", "BIGINT"),
        ("open_usecs", "BIGINT"),
    ] {
        assert_eq!(read["columns"][column], kind, "{column}");
    }
    let about: Value = serde_json::from_str(read["about"][0].as_str().unwrap()).unwrap();
    assert_eq!(
        (&about["version"], &about["level"]),
        (&2.into(), &"increments".into())
    );
    for day in [last.yesterday().unwrap(), last] {
        let sums = read["sums"][day.to_string()].as_object().unwrap().iter();
        let sums = sums.map(|(name, sum)| (name.clone(), sum.as_str().unwrap().parse().unwrap()));
        assert_eq!(sums.collect::<BTreeMap<String, i128>>(), store.totals(day));
    }
    let groups = read["groups"].as_array().unwrap().iter();
    let groups: BTreeSet<Vec<Option<String>>> = groups
        .map(|it| serde_json::from_value(it.clone()).unwrap())
        .collect();
    let mut expected = BTreeSet::new();
    for day in [last.yesterday().unwrap(), last] {
        // A user without a name is called by the number.
        let statement = "SELECT $1::text, labels ->> 'target', labels ->> 'job', labels ->> 'uid', \
                nullif(labels ->> 'user', labels ->> 'uid'), labels ->> 'account', labels ->> 'job_name', labels ->> 'node', total::text \
             FROM jobstats_totals($1::date, $1::date + 1, 'write_bytes', 'target,job,uid,user,account,job_name,node') WHERE total > 0";
        let rows = store.client.query(&cast(statement, day), &[]).unwrap();
        expected.extend(
            rows.iter()
                .map(|row| (0..9).map(|at| row.get(at)).collect()),
        );
    }
    assert_eq!(groups, expected);
    assert!(
        groups
            .iter()
            .any(|it| it[5].as_deref() == Some("physics") && it[6].as_deref() == Some(HOSTILE))
    );
}
