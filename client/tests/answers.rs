//! Every question, asked of a store that the simulator filled: rows have all columns of their function, arguments reach
//! it, and the answers agree with each other.
//!
//! Needs a server with the extension: `JOBSTATS_TEST_DATABASE_URL` names one where databases may be made.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod simulator;

use std::io::Write;
use std::process::Command;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::*;
use jobstats_client::{Connector, Decimal, Kind, Options, ask};
use postgres::Client;

const URL: &str = "JOBSTATS_TEST_DATABASE_URL";
const TARGETS: [&str; 3] = ["small-MDT0000", "small-OST0000", "small-OST0001"];

/// A database with a store, which lives as long as this value.
struct Store {
    server: Client,
    name: String,
    client: Client,
    /// A window of which all texts were loaded.
    window: Window,
}

impl Store {
    /// Loads the last two hours of a simulated cluster. Returns `None`, and says so, where there is no server.
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

    /// Returns the names of the columns of a function or view, as the catalog has them.
    fn columns(&mut self, source: Source) -> Vec<String> {
        let (name, sql) = match source {
            Source::Function(name) => (
                name.trim_start_matches("jobstats_internal."),
                // Functions of one name have the same columns, though not at the same places.
                "SELECT a.name FROM pg_proc p, unnest(p.proargnames, p.proargmodes::text[]) WITH ORDINALITY \
                 AS a(name, mode, position) WHERE p.oid = (SELECT min(oid) FROM pg_proc WHERE proname = $1::text) \
                 AND a.mode = 't' ORDER BY a.position",
            ),
            Source::View(name) | Source::Part { view: name, .. } => (
                name,
                "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1::text) ORDER BY attnum",
            ),
        };
        let rows = self.client.query(sql, &[&name]).unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    #[track_caller]
    fn has_all_columns<Q: Question>(&mut self) {
        assert_eq!(
            Q::Answer::columns(),
            self.columns(Q::SOURCE),
            "{:?}",
            Q::SOURCE
        );
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
    rows_have_all_columns(&mut store);
    all_arguments_reach_their_functions(&mut store);
    the_present_is_shown(&mut store);
    what_programs_sum_up_is_what_functions_say(&mut store);
    totals_and_rates_agree(&mut store);
    leaders_and_summaries_agree_with_totals(&mut store);
    a_job_adds_up_to_its_summary(&mut store);
    work_in_no_entry_is_what_entries_lack(&mut store);
    space_and_queues_are_those_of_the_text(&mut store);
    targets_and_densities_are_told(&mut store);
    parts_of_views_are_read(&mut store);
    statements_answer_the_same(&mut store);
    what_is_refused_has_its_kind(&mut store);
}

fn parts_of_views_are_read(store: &mut Store) {
    let mut names: Vec<_> = store.ask(&Targets::default()).into_iter().collect();
    names.sort_by(|one, other| one.target.cmp(&other.target));
    assert_eq!(
        names
            .iter()
            .map(|it| it.target.as_str())
            .collect::<Vec<_>>(),
        TARGETS
    );
    assert!(
        names
            .iter()
            .all(|it| it.filesystem.as_deref() == Some("small"))
    );
    let (since, until) = (store.window.since.unwrap(), store.window.until.unwrap());
    let hours = store.ask(&Quality { since, until });
    assert!(!hours.is_empty());
    assert!(
        hours
            .iter()
            .all(|row| row.hour >= since && row.hour < until)
    );
    let unknown = Jobs {
        window: store.window,
        operation: Some("write_bytes".to_owned()),
        n: Some(1),
        filter: Filters {
            job: Some(vec!["o'neil $1".to_owned()]),
            uid: Some(vec![-1]),
            ..Filters::default()
        },
    };
    assert!(store.ask(&unknown).is_empty());
}

/// A statement that a person copies has the rows that the question has.
fn statements_answer_the_same(store: &mut Store) {
    let question = Top {
        window: store.window,
        operation: Some("write_bytes".to_owned()),
        by: words([Dimension::Job, Dimension::Target]),
        n: Some(5),
        min_rate: Some(1e-3),
        filter: Filters {
            target: texts(&["small-OST*"]),
            ..Filters::default()
        },
        untracked: Some(true),
    };
    let rows = store.ask(&question);
    let copied = store
        .client
        .query(&statement(&question, &["name", "total"]), &[])
        .unwrap();
    let copied: Vec<(String, Option<Decimal>)> =
        copied.iter().map(|row| (row.get(0), row.get(1))).collect();
    let asked: Vec<_> = rows.into_iter().map(|row| (row.name, row.total)).collect();
    assert!(!asked.is_empty());
    assert_eq!(copied, asked);
    let hostile = "o'neil, \"100 %\" \\ \u{202e}\u{1F600}\n";
    let totals = Totals {
        filter: Filters {
            job: Some(vec![hostile.to_owned()]),
            ..Filters::default()
        },
        ..Totals::default()
    };
    let totals = statement(&totals, &[]);
    let literal = totals.split_once("\"filter\" => ").unwrap().1;
    let literal = literal.strip_suffix(");").unwrap();
    let echoed = format!("SELECT {literal}::jobstats_filter::jsonb ->> 'job'");
    let row = store.client.query_one(&echoed, &[]).unwrap();
    assert_eq!(row.get::<_, String>(0), hostile);
}

fn rows_have_all_columns(store: &mut Store) {
    store.has_all_columns::<Now>();
    store.has_all_columns::<Top>();
    store.has_all_columns::<Rates>();
    store.has_all_columns::<Totals>();
    store.has_all_columns::<Changes>();
    store.has_all_columns::<Summary>();
    store.has_all_columns::<Findings>();
    store.has_all_columns::<Verdict>();
    store.has_all_columns::<Baseline>();
    store.has_all_columns::<IoSizes>();
    store.has_all_columns::<Job>();
    store.has_all_columns::<JobUsage>();
    store.has_all_columns::<Jobs>();
    store.has_all_columns::<Compare>();
    store.has_all_columns::<Balance>();
    store.has_all_columns::<Untracked>();
    store.has_all_columns::<Densities>();
    store.has_all_columns::<Health>();
    store.has_all_columns::<Work>();
    store.has_all_columns::<Kept>();
    store.has_all_columns::<Space>();
    store.has_all_columns::<Queues>();
    store.has_all_columns::<Events>();
    store.has_all_columns::<Explain>();
    assert_eq!(
        [TargetRow::columns(), NearestRow::columns()].concat(),
        store.columns(Targets::SOURCE)
    );
}

/// The server refuses an argument that a function does not have, or has with another type.
fn all_arguments_reach_their_functions(store: &mut Store) {
    let window = store.window;
    // A star alone would be no filter, and let work without a value through.
    let any = || texts(&["**"]);
    let users = store.ask(&Summary {
        window,
        by: words([Dimension::Uid]),
        ..Summary::default()
    });
    let uids: Vec<_> = users.iter().filter_map(|row| row.group.uid).collect();
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
    for TotalRow { group, .. } in &totals {
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
    assert!(usual.iter().all(|it| it.rate > 0.0 && it.days == 0));
    store.ask(&Findings {
        window,
        by: by(),
        levels: words(["good"]),
        filter: filters.clone(),
    });
    let verdict = store.ask(&Verdict {
        window,
        by: by(),
        filter: filters.clone(),
    });
    let summary = store.ask(&Summary {
        window,
        by: by(),
        filter: filters.clone(),
    });
    let judged: i64 = verdict.iter().map(|it| it.groups).sum();
    assert_eq!(usize::try_from(judged), Ok(summary.len()));
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
            .all(|row| row.change.is_zero() && row.group.others == Some(totals.len() as i64))
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
        min_rate: Some(1e-9),
        filter: filters.clone(),
        untracked: Some(false),
    });
    assert!(!top.is_empty() && top.len() <= 2);
    let sizes = store.ask(&IoSizes {
        window,
        ..IoSizes::default()
    });
    assert!(!sizes.is_empty());
    for operation in ["read_bytes", "write_bytes"] {
        let shares = sizes.iter().filter(|row| row.operation == operation);
        let shares: f64 = shares.map(|row| row.share).sum();
        assert!((shares - 1.0).abs() < 5e-3, "{sizes:?}");
    }

    let densities = store.ask(&Densities {
        window,
        operation: operation(),
        by: by(),
        base: Some(2),
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
    // The identifiers of compute nodes name no executable, and those of login nodes no job.
    let executables = store.ask(&Summary {
        window,
        by: words([Dimension::Executable]),
        filter: Filters {
            executable: any(),
            ..Filters::default()
        },
    });
    assert!(!executables.is_empty());
    assert!(executables.iter().all(|row| row.group.executable.is_some()));
}

fn the_present_is_shown(store: &mut Store) {
    let rows = store.ask(&Now::default());
    assert!(
        rows.iter()
            .all(|row| row.share > 0.0 && row.age.0.is_positive())
    );
    assert!(
        rows.iter()
            .all(|row| row.age.0 < SignedDuration::from_hours(1))
    );
    let one = store.ask(&Now {
        target: Some(TARGETS[0].to_owned()),
        n: Some(1),
        ..Now::default()
    });
    assert_eq!(one.len(), 1);
    assert_eq!((one[0].target.as_str(), one[0].rank), (TARGETS[0], 1));
    let targets = store.ask(&Targets::default());
    let last = targets.iter().find(|it| it.target == TARGETS[0]).unwrap();
    let then = store.ask(&Now {
        target: Some(TARGETS[0].to_owned()),
        n: Some(1),
        at: last.time,
        by: words(["user", "workload", "account"]),
        filter: Filters {
            target: texts(&["small-*"]),
            ..Filters::default()
        },
    });
    assert_eq!(
        (then[0].age, &then[0].group),
        (Interval::default(), &one[0].group)
    );

    let mut health = store.ask(&Health::default());
    // Rows about the space of targets, and their servers, have no observation.
    health.retain(|row| row.last_observation.is_some());
    health.sort_by_key(|row| row.target.clone());
    assert!(
        health
            .iter()
            .map(|row| row.target.as_deref())
            .eq(TARGETS.map(Some))
    );
    for row in health {
        assert_eq!(row.usual_interval.unwrap().0, SignedDuration::from_mins(5));
        assert_eq!(row.kind.unwrap(), row.target.unwrap()[6..9]);
    }
}

/// The work of the last observations, with the users of its entries, is what `jobstats_now()` is made of.
fn what_programs_sum_up_is_what_functions_say(store: &mut Store) {
    let kept = store.ask(&Kept::default()).remove(0);
    assert_eq!(kept.targets, 3);
    let first = store.ask(&Nearest {
        at: kept
            .first
            .map(|first| first - SignedDuration::from_micros(1)),
        filter: Filters {
            cluster: texts(&["small"]),
            filesystem: texts(&["small"]),
            ..Filters::default()
        },
    });
    assert_eq!(first.iter().filter_map(|it| it.after).min(), kept.first);
    let last = store.ask(&Nearest::default());
    let last = last.iter().filter_map(|it| it.before).max();
    let targets = store.ask(&Targets {
        at: last,
        filter: Filters {
            filesystem: texts(&["small"]),
            ..Filters::default()
        },
    });
    assert_eq!(targets.iter().filter_map(|it| it.time).max(), last);
    let work = store.ask(&Work {
        at: last,
        level: Some("increments".to_owned()),
        target_id: Some(targets.iter().map(|it| it.target_id).collect()),
    });
    let entries = store.ask(&Entries {
        at: last,
        entry_id: work.iter().map(|it| it.entry_id).collect(),
    });
    let mut users: Vec<_> = entries.into_iter().filter_map(|it| it.uid).collect();
    let now = store.ask(&Now {
        n: Some(i32::MAX),
        at: last,
        ..Now::default()
    });
    let mut expected: Vec<_> = now.into_iter().filter_map(|it| it.group.uid).collect();
    for users in [&mut users, &mut expected] {
        users.sort_unstable();
        users.dedup();
    }
    assert!(!users.is_empty());
    assert_eq!(users, expected);
}

fn totals_and_rates_agree(store: &mut Store) {
    let window = store.window;
    let operations = words(["read_bytes", "write_bytes"]);
    let totals = store.ask(&Totals {
        window,
        operations: operations.clone(),
        ..Totals::default()
    });
    let rates = store.ask(&Rates {
        window,
        operations,
        ..Rates::default()
    });
    assert_eq!(totals.len(), 2 * TARGETS.len());
    assert_eq!(rates.len(), totals.len());
    for (total, rate) in totals.iter().zip(&rates) {
        assert_eq!(
            (&total.group, &total.operation),
            (&rate.group, &rate.operation)
        );
        assert_eq!(total.coverage, rate.coverage);
        assert_eq!((total.total, total.rate), (rate.total, rate.rate));
        let counted: f64 = total.total.unwrap().try_into().unwrap();
        let multiplied = rate.rate.unwrap() * rate.seconds * rate.coverage;
        // The coverage is rounded down to four decimals.
        let difference = (counted - multiplied) / rate.coverage;
        assert!((-1e-9 * counted..=1.1e-4 * counted).contains(&difference));
    }
}

fn leaders_and_summaries_agree_with_totals(store: &mut Store) {
    let window = store.window;
    let total = store.ask(&Totals {
        window,
        operations: words(["write_bytes", "service_time"]),
        by: Some(String::new()),
        ..Totals::default()
    });
    let total = |operation: &str| -> Decimal {
        let row = total.iter().find(|row| row.operation == operation);
        row.unwrap().total.unwrap()
    };
    let summary = store.ask(&Summary {
        window,
        ..Summary::default()
    });
    assert_eq!(
        sum(summary.iter().map(|row| row.write_bytes)),
        total("write_bytes")
    );
    assert_eq!(
        sum(summary.iter().map(|row| row.service_time)),
        total("service_time")
    );
    let top = store.ask(&Top {
        window,
        n: Some(1_000_000),
        ..Top::default()
    });
    let ranks = (1..=top.len() as i64).map(Some);
    assert!(top.iter().map(|row| row.rank).eq(ranks));
    assert!(top.iter().all(|row| row.share_of_target.is_none()));
    assert!(top.is_sorted_by(|one, next| one.total >= next.total));
    assert_eq!(sum(top.iter().map(|row| row.total)), total("service_time"));
    let shares: f64 = top.iter().filter_map(|row| row.share).sum();
    assert!((shares - 1.0).abs() < 5e-5 * top.len() as f64);
}

fn a_job_adds_up_to_its_summary(store: &mut Store) {
    let window = store.window;
    let summary = store.ask(&Summary {
        window,
        ..Summary::default()
    });
    let written =
        |row: &&SummaryRow| row.group.job.is_some() && row.write_bytes > Some(Decimal::ZERO);
    let summary = summary.iter().find(written).unwrap();
    let job = summary.group.job.clone().unwrap();
    let known = store.ask(&Job {
        job: job.clone(),
        scheduler: None,
    });
    assert_eq!(known.len(), 1);
    assert_eq!(known[0].labels["job"], job);
    let rows = store.ask(&JobUsage {
        job: job.clone(),
        by: words(["target"]),
        window,
        ..JobUsage::default()
    });
    let of = |operation: &str, is_whole: bool| {
        let rows = rows.iter().filter(|row| row.operation == operation);
        sum(rows
            .filter(|row| row.group.target.is_none() == is_whole)
            .map(|row| row.total))
    };
    let total = |operation: &str| of(operation, true);
    assert_eq!(total("write_bytes"), of("write_bytes", false));
    assert_eq!(Some(total("write_bytes")), summary.write_bytes);
    assert_eq!(Some(total("service_time")), summary.service_time);
    assert_eq!(
        rows.iter().filter_map(|row| row.last_active).max(),
        summary.last_active
    );
    let compared = store.ask(&Compare {
        jobs: vec![job.clone()],
        step: None,
        operations: words(["write_bytes"]),
        ..Compare::default()
    });
    assert_eq!(compared[0].since_start, Interval::default());
    assert!(
        compared.iter().any(|row| row.rate > Some(0.0)),
        "{compared:?}"
    );
    let unknown = Job {
        job: "no such job".to_owned(),
        scheduler: None,
    };
    assert!(store.ask(&unknown).is_empty());
}

/// The MDT counts a thousand opens a second by itself, far more than its entries.
fn work_in_no_entry_is_what_entries_lack(store: &mut Store) {
    let (since, until) = (store.window.since.unwrap(), store.window.until.unwrap());
    let unfed = store.ask(&Untracked {
        window: store.window,
        ..Untracked::default()
    });
    assert!(!unfed.is_empty());
    assert!(unfed.iter().all(|row| row.total.is_none()
        && row.accounted.is_some()
        && row.untracked.is_none()
        && row.coverage == 0.0));
    let (first, last) = (since.as_second() - 300, until.as_second() + 300);
    for second in (first..=last).step_by(300) {
        let opens = 1000 * (second - first);
        let body = format!(
            "mdt.small-MDT0000.md_stats=\nsnapshot_time {second}.000000000 secs.nsecs\nstart_time {}.000000000 secs.nsecs\n\
             elapsed_time 1.000000000 secs.nsecs\nopen {opens} samples [usecs] 1 10 {} 0\n",
            first - 60,
            2 * opens
        );
        let fed = store.client.execute(
            "INSERT INTO jobstats.feed (cluster, server, \"time\", body) \
             VALUES ('small', 'mds1', to_timestamp($1::bigint), $2::text)",
            &[&second, &body],
        );
        fed.unwrap();
    }
    let any = || texts(&["**"]);
    let steps = store.ask(&Untracked {
        window: store.window,
        operations: words(["open"]),
        by: words(["cluster", "filesystem", "kind", "target"]),
        step: Some(SignedDuration::from_mins(30).into()),
        filter: Filters {
            cluster: any(),
            filesystem: any(),
            kind: texts(&["MDT"]),
            target: any(),
            ..Filters::default()
        },
    });
    assert!(steps.len() > 1);
    let ends = steps.iter().skip(1).map(|row| row.time).chain([until]);
    for (row, end) in steps.iter().zip(ends) {
        assert_eq!(row.group.target.as_deref(), Some(TARGETS[0]));
        assert_eq!(
            (row.group.kind.as_deref(), row.coverage),
            (Some("MDT"), 1.0)
        );
        let total = row.total.unwrap();
        let opens: f64 = total.try_into().unwrap();
        let seconds = end.duration_since(row.time).as_secs_f64();
        assert!((opens / 1000.0 - seconds).abs() < 0.01, "{row:?}");
        let rest = row.untracked.unwrap();
        assert!(rest > Decimal::ZERO, "{row:?}");
        assert_eq!(row.accounted.unwrap() + rest, total);
    }
    let mut top = store.ask(&Top {
        window: store.window,
        operation: Some("open".to_owned()),
        by: words([Dimension::Uid]),
        n: Some(1_000_000),
        filter: Filters {
            kind: texts(&["MDT"]),
            ..Filters::default()
        },
        untracked: Some(true),
        ..Top::default()
    });
    let rest = top.pop().unwrap();
    assert_eq!((rest.rank, rest.share, rest.group.uid), (None, None, None));
    assert_eq!(rest.total, Some(sum(steps.iter().map(|row| row.untracked))));
    assert!(top.iter().all(|row| row.rank.is_some()));
    // Entries and the rest are all that the target did.
    let shares = top
        .iter()
        .chain([&rest])
        .filter_map(|row| row.share_of_target);
    let rounding = 5e-5 * (top.len() + 1) as f64;
    assert!((shares.sum::<f64>() - 1.0).abs() < rounding);
    // The work of one user lacks nothing.
    let one = store.ask(&Top {
        window: store.window,
        filter: Filters {
            uid: Some(vec![top[0].group.uid.unwrap()]),
            ..Filters::default()
        },
        untracked: Some(true),
        ..Top::default()
    });
    assert!(!one.is_empty() && one.iter().all(|row| row.rank.is_some()));
}

/// User 1 has 3 MiB in 7 files, 1 MiB and 2 files of which came today, and 600 requests waited for 2 ms.
fn space_and_queues_are_those_of_the_text(store: &mut Store) {
    let until = store.window.until.unwrap();
    let (day, now) = (SignedDuration::from_hours(24), Timestamp::now());
    for (time, inodes, kbytes, requests) in [
        (now - day, 5, 2048, None),
        (until - SignedDuration::from_mins(10), 6, 2048, Some(0)),
        (until, 7, 3072, Some(600)),
    ] {
        let mut body = format!(
            "osd-ldiskfs.small-MDT0000.quota_slave.acct_user=\nusr_accounting:\n- id:      1\n  usage:   {{ inodes:  {inodes}, kbytes:  {kbytes} }}\n"
        );
        let second = time.as_second();
        if let Some(requests) = requests {
            body += &format!(
                "mds.MDS.mdt.stats=\nsnapshot_time {second}.000000000 secs.nsecs\nstart_time 1.000000000 secs.nsecs\n\
                 elapsed_time 1.000000000 secs.nsecs\nreq_waittime {} samples [usecs] 1 5 {} 0\n",
                1 + requests,
                1 + 2000 * requests
            );
        }
        let fed = store.client.execute(
            "INSERT INTO jobstats.feed (cluster, server, \"time\", body) \
             VALUES ('small', 'mds1', to_timestamp($1::bigint), $2::text)",
            &[&second, &body],
        );
        fed.unwrap();
    }
    let summed =
        "UPDATE jobstats.settings SET refresh_lag = '0'; SELECT jobstats_internal.sum_used()";
    store.client.batch_execute(summed).unwrap();
    let any = || texts(&["**"]);
    let used = Space {
        by: words(["cluster", "filesystem", "user"]),
        since: Some(now - day),
        n: Some(1),
        filter: Filters {
            cluster: any(),
            filesystem: any(),
            uid: Some(vec![1]),
            ..Filters::default()
        },
        ..Space::default()
    };
    let used = store.ask(&used).remove(0);
    let said = (used.bytes, used.inodes, used.added_bytes, used.added_inodes);
    let number = |number: i64| Some(Decimal::from(number));
    assert_eq!(
        said,
        (
            Decimal::from(3 << 20),
            number(7),
            number(1 << 20),
            number(2)
        )
    );
    assert_eq!((used.targets, used.of_targets), (Some(1), Some(3)));
    assert_eq!(used.time.unwrap().as_second(), until.as_second());
    // Nobody has these names, and the space of a target is known of now alone.
    let unknown = Space {
        filter: Filters {
            target: any(),
            group: any(),
            gid: Some(vec![1]),
            account: any(),
            ..Filters::default()
        },
        ..Space::default()
    };
    assert!(store.ask(&unknown).is_empty());
    let queues = store.ask(&Queues {
        window: Window::new(until - SignedDuration::from_mins(20), until),
        step: Some(SignedDuration::from_mins(10).into()),
        filter: Filters {
            cluster: any(),
            server: any(),
            ..Filters::default()
        },
    });
    let events = store.ask(&Events {
        window: Window::new(until - SignedDuration::from_mins(20), until),
        event: words(["*"]),
        severity: words(["info", "w*"]),
        filter: Filters {
            cluster: any(),
            filesystem: any(),
            ..Filters::default()
        },
        withdrawn: Some(true),
    });
    assert!(events.is_empty(), "nobody has looked for any: {events:?}");
    let requests: Decimal = queues.iter().map(|row| row.requests).sum();
    assert_eq!(requests.round(), Decimal::from(600), "{queues:?}");
    for row in &queues {
        assert_eq!((&*row.server, &*row.service), ("mds1", "mdt"));
        assert!((row.wait.unwrap() - 0.002).abs() < 1e-4, "{row:?}");
        assert!((row.waiting - 0.002).abs() < 1e-4, "{row:?}");
    }
}

fn targets_and_densities_are_told(store: &mut Store) {
    let window = store.window;
    let mut balance = store.ask(&Balance {
        window,
        operation: Some("write_bytes".to_owned()),
        filter: Filters {
            filesystem: texts(&["small"]),
            ..Filters::default()
        },
    });
    // The order is that of the differences to the median of a kind, and so that of the ratios of targets of one kind.
    for kind in ["MDT", "OST"] {
        let of_kind = balance.iter().filter(|row| row.kind == kind);
        assert!(of_kind.is_sorted_by(|one, next| one.ratio >= next.ratio));
    }
    balance.sort_by_key(|row| row.target.clone());
    assert!(balance.iter().map(|row| &row.target).eq(&TARGETS));
    for row in &balance {
        assert_eq!(
            row.group.workload.is_some(),
            row.rate > Some(0.0),
            "{row:?}"
        );
        assert!(row.leader_share <= Some(1.0), "{row:?}");
    }
    let busy = balance.iter().filter(|row| row.rate > Some(0.0)).count();
    assert!(busy > 0);

    let densities = store.ask(&Densities {
        window,
        operation: Some("write_bytes".to_owned()),
        by: words([Dimension::Target]),
        ..Densities::default()
    });
    let counted: i64 = densities.iter().map(|row| row.count).sum();
    assert_eq!(counted, busy as i64);
    for row in densities {
        assert_eq!(
            (row.lower, row.upper),
            (10f64.powi(row.bucket), 10f64.powi(row.bucket + 1))
        );
    }
}

fn what_is_refused_has_its_kind(store: &mut Store) {
    let unknown = Top {
        operation: Some("sleep".to_owned()),
        ..Top::default()
    };
    let error = ask(&mut store.client, &unknown).unwrap_err();
    assert_eq!(error.kind(), Kind::Failed);
    assert!(
        error.to_string().contains("(SQLSTATE 22023) (hint: "),
        "{error}"
    );
    // A database without a store has no such function.
    let error = ask(&mut store.server, &unknown).unwrap_err();
    assert!(error.to_string().contains("42883"), "{error}");
    assert_eq!(error.kind(), Kind::Setup);
}
