//! The sentences on a job's page about its servers while it ran.

use super::*;

/// The minutes of the readings: two hours before jobs 31 to 34 began, and the 40 minutes in which they ran.
const MINUTES: std::ops::RangeInclusive<i64> = -130..=40;

/// A server with the wait of a request in microseconds while the jobs ran, and the opens of jobs in ten minutes.
type Server<'s> = (&'s str, u64, &'s [(&'s str, u64)]);

/// Job 31 waits since job 32 opens a hundred times the usual number of files, job 33 though nobody does more than usual, and job 34 does
/// not wait.
const SERVERS: [Server; 3] = [
    (
        "busy",
        20_000,
        &[("1005:31:n05", 60), ("1006:32:n06", 60_000)],
    ),
    ("faulty", 20_000, &[("1005:33:n05", 60)]),
    ("calm", 20, &[("1005:34:n05", 60)]),
];

pub fn a_job_is_judged_by_what_its_servers_did(store: &Store) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    for server in &SERVERS {
        for minute in MINUTES.step_by(10) {
            read(&mut client, store.zero, server, minute);
        }
    }
    let cause = |job: &str| {
        let answer = &store.json(&["job", job, "--json"])["while_it_ran"];
        answer["cause"].as_str().unwrap().to_owned()
    };
    let causes = ["31", "32", "33", "34"].map(cause);
    assert_eq!(causes, ["others", "own", "servers", "none"]);
    let victim = words(&store.text(&["job", "31"]));
    for said in [
        "Others slowed its servers, most of all job 32 of 1006.",
        "Before service, each request waited 20 ms (typically 20 µs) for a thread of busy (mdt), at worst 20 ms at ",
        "Its targets were about as fast as is typical.",
        "Load of busy: 0.101 requests in service (typically 0.001), <1 % the job's.",
        "Also there: job 32 of 1006 99 %.",
    ] {
        assert!(victim.contains(said), "{said}\n{victim}");
    }
    let page = store.text(&["job", "32", "--html", "-"]);
    assert!(
        page.contains("The job itself slowed its servers."),
        "{page}"
    );
    every_statement_runs(store, &page);
    let event = "INSERT INTO jobstats.events (kind, cluster, filesystem, began, found, until, ended, updated, severity, targets, servers, rate, load_times, details, culprits)
        SELECT 'waiting', '', 'busy', at, at, at + interval '20 minutes', at + interval '20 minutes', now(), 'warning', '{busy-MDT0000}', '{busy}', 5, 90, '{}',
            '{\"by\": \"uid\", \"named\": true, \"slow\": [], \"load\": {}, \"subjects\": [{\"uid\": 1006, \"job\": \"32\", \"share\": 0.98}]}'
        FROM to_timestamp($1::bigint) at";
    let began = i64::try_from(store.zero + 600).unwrap();
    client.execute(event, &[&began]).unwrap();
    assert_eq!(["31", "32"].map(cause), ["others", "own"]);
    let victim = words(&store.text(&["job", "31"]));
    for said in [
        "most of all 1006, 98 % of the rise.",
        "Events: waiting on busy from ",
    ] {
        assert!(victim.contains(said), "{said}\n{victim}");
    }
    others_are_one_number_for_readers_of_their_own_work(store, &mut client);
    client.batch_execute("DELETE FROM jobstats.events").unwrap();
}

fn others_are_one_number_for_readers_of_their_own_work(store: &Store, client: &mut Client) {
    let role = format!("{}_own", store.name);
    let granted = format!("CREATE ROLE {role} LOGIN; SELECT jobstats_grant_own('{role}', 1005)");
    client.batch_execute(&granted).unwrap();
    let output = store.run_as(&store.url_of(&role), &["job", "31"]);
    let dropped = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    client.batch_execute(&dropped).unwrap();
    let text = words(&String::from_utf8(output.stdout).unwrap());
    for said in [
        "Other users slowed its servers.",
        "Also there: other users >99 %.",
        "Events: waiting on busy from ",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    assert!(!text.contains("1006") && !text.contains("job 32"), "{text}");
}

/// Feeds what a server prints in a minute. A request takes a millisecond, and a job of the background opens 600 files in ten minutes.
fn read(client: &mut Client, zero: u64, (name, wait, jobs): &Server, minute: i64) {
    let before = u64::try_from((minute + 130) / 10).unwrap();
    let now = u64::try_from(minute.max(0) / 10).unwrap();
    let entry = |id: &str, opens: u64| {
        format!(
            "- job_id: {id}\n  open: {{ samples: {opens}, unit: usecs, min: 1000, max: 1000, sum: {}, sumsq: 0 }}\n",
            1000 * opens
        )
    };
    let background = 600 * before + 1;
    let mut text = format!("mdt.{name}-MDT0000.job_stats=\njob_stats:\n");
    text += &entry("1007:30:n07", background);
    let (mut requests, mut waited) = (background, 20 * background);
    for (id, opens) in *jobs {
        text += &entry(id, opens * now);
        requests += opens * now;
    }
    let later = requests - background + 600 * now;
    waited += later * wait;
    let time = i64::try_from(zero).unwrap() + 60 * minute;
    text += &format!(
        "mds.MDS.mdt.stats=\nsnapshot_time {time}.000000000 secs.nsecs\nstart_time 1.000000000 secs.nsecs\nelapsed_time \
         1.000000000 secs.nsecs\nreq_waittime {requests} samples [usecs] 1 90000 {waited} 0\n"
    );
    let insert = "INSERT INTO jobstats.feed (server, \"time\", body) VALUES ($1, to_timestamp($2::bigint), $3::text)";
    client.execute(insert, &[name, &time, &text]).unwrap();
}
