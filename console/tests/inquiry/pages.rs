//! Pages: reports, comparisons, and jobs and users as HTML.

use super::sums::*;
use super::*;

pub fn pages_are_written(store: &Store) {
    let directory = tempfile::tempdir().unwrap();
    let from = jiff::Timestamp::from_second(store.zero as i64)
        .unwrap()
        .to_string();
    let pages = [
        vec!["report", "--from", &from, "-o"],
        vec!["job", "11", "--html"],
        vec!["user", "user1000", "--from", &from, "--html"],
        vec!["target", "scratch-OST0001", "--from", &from, "--html"],
        vec!["compare", "11", "12", "-o"],
    ];
    for arguments in pages {
        let path = directory.path().join("page.html").display().to_string();
        let arguments: Vec<_> = arguments.into_iter().chain([path.as_str()]).collect();
        assert_eq!(store.text(&arguments), "", "{arguments:?}");
        let page = fs::read_to_string(&path).unwrap();
        assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
        assert!(
            page.len() < 1_000_000,
            "{arguments:?}: {} bytes",
            page.len()
        );
        assert!(
            !page.contains("<img") && !page.contains('\u{1b}'),
            "{arguments:?}"
        );
        every_statement_runs(store, &page);
    }
    let page = plain(&store.text(&["report", "scratch", "--from", &from, "-o", "-"]));
    a_report_adds_up(store, &page, &from);
    let (_, found) = table(&page, "Worst first, then by server time").unwrap();
    let told =
        |it: &Vec<String>| it[..3] == ["11", "user1000", "fair"] && it[3].contains("files opened");
    assert!(found.iter().any(told), "{found:?}");
    // The lead of the report names the user, the usage, the place and the time.
    let lead = page.split_once("<p class=\"lead\">").unwrap().1;
    let lead = lead.split_once("</p>").unwrap().0;
    for said in [
        " on average, ",
        " than the week before. Largest user: user1000 (physics), ",
        " % open, ",
        " % on scratch-MDT0000. Highest at ",
    ] {
        assert!(lead.contains(said), "{said}: {lead}");
    }
    // Without data, a section is missing.
    assert!(!page.contains("Used space") && !page.contains("Queues"));
    // The title has the name and the window already.
    assert!(!lead.contains("scratch,"), "{lead}");
    for heading in [
        "Users",
        "Accounts",
        "Jobs",
        "What changed",
        "Health of the targets",
    ] {
        assert!(page.contains(&format!(">{heading}</h")), "{heading}");
    }
    // Pictures, events and advice come before tables, and what changed adds up.
    let places = ["Load", "Events", "Advice", "Top users", "What changed"];
    let places = places.map(|heading| page.find(&format!(">{heading}</h2>")).unwrap());
    assert!(places.is_sorted(), "{places:?}");
    let text = store.text(&["report", "scratch", "--from", &from]);
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    for part in [" Load   ", "── Advice ──", " Users  ", "   open  "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (headings, rows) = table(&page, "Requests in service").unwrap();
    assert_eq!(headings[..3], ["User", "Before", "After"]);
    let named = |name: &str| rows.iter().find(|row| row[0] == name).unwrap();
    let (user, all) = (named("1003"), named("all"));
    assert_eq!((user[2].as_str(), &user[1]), ("0", &all[1]), "{rows:?}");
    for column in ["Largest workload", "Its share"] {
        assert!(page.contains(&format!(">{column}</th>")), "{column}");
    }
    // Job 11 wrote as much on one OST as on the other, and job 12 read from one only.
    for said in [
        "All OSTs are within 1 % of the median.",
        "A single workload of user1001 makes up 100 % of scratch-OST0001: probably its files are not striped",
    ] {
        assert!(page.contains(said), "{said}");
    }
}

/// The MDT counts twice as many opens as its entries by itself, and the OSTs what their entries have.
pub fn work_without_identifier_is_reported(store: &Store) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    for minute in (0..=110).step_by(10) {
        let (time, busy) = (store.zero + 60 * minute, minute.min(40));
        let stats = |parameter: &str, counters: String| {
            format!(
                "{parameter}=\nsnapshot_time {time}.000000000 secs.nsecs\nstart_time {}.000000000 secs.nsecs\n\
                 elapsed_time 1.000000000 secs.nsecs\n{counters}",
                store.zero - 60
            )
        };
        let counter = |name: &str, samples: u64, each: u64| {
            format!(
                "{name} {samples} samples [usecs] {each} {each} {} 0\n",
                samples * each
            )
        };
        let mut text = stats(
            "mdt.scratch-MDT0000.md_stats",
            counter("open", 200_000 * busy, 100),
        );
        for ost in 0..2 {
            let reads = if ost == 1 { 10 * minute } else { 0 };
            let counters = counter("write", 1000 * busy, 500) + &counter("read", reads, 2000);
            text += &stats(&format!("obdfilter.scratch-OST000{ost}.stats"), counters);
        }
        feed(&mut client, time, &text);
    }
    let from = jiff::Timestamp::from_second(store.zero as i64).unwrap();
    let answer = client
        .query_one(
            &format!(
                "SELECT share, untracked::float8 FROM \
                 jobstats_untracked('{from}', now(), 'service_time', '', filter => 'filesystem=scratch')"
            ),
            &[],
        )
        .unwrap();
    let (share, seconds): (f64, f64) = (answer.get(0), answer.get(1));
    // 40 minutes of 100,000 opens of 100 µs.
    assert!(is_near(seconds, 400.0, 0.01), "{seconds}");
    let page = store.text(&["report", "scratch", "--from", &from.to_string(), "-o", "-"]);
    every_statement_runs(store, &page);
    let page = plain(&page);
    let percent = format!("{:.0} %", 100.0 * share);
    assert!(
        page.contains(&format!("<p>{percent} of the load has no identifier: ")),
        "{percent}: {page}"
    );
    for caption in ["Users", "Accounts", "Jobs"] {
        let (titles, rows) = table(&page, caption).unwrap();
        let last = rows.last().unwrap();
        assert_eq!(last[..2], ["(without identifier)", &percent], "{titles:?}");
        let others = rows.iter().filter(|row| row[0] == "(without identifier)");
        assert_eq!(others.count(), 1);
    }
    // A user of a report is compared with other users alone.
    let user = store.text(&["user", "user1000", "--from", &from.to_string()]);
    assert!(!user.contains("identifier"), "{user}");
}

/// The store of a day: user1000 has added 1 GiB on an OST, and user 1005, who is idle, has removed files. Requests to the MDT are
/// queued in ten minutes of the window.
pub fn space_and_waiting_are_shown_beside_work(store: &Store) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    let list = |target: &str, owners: [[u64; 3]; 2]| {
        let owners = owners.map(|[uid, inodes, kbytes]| {
            format!("- id:      {uid}\n  usage:   {{ inodes:  {inodes}, kbytes:  {kbytes} }}\n")
        });
        format!(
            "osd-ldiskfs.{target}.quota_slave.acct_user=\nusr_accounting:\n{}",
            owners.concat()
        )
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let (mdt, ost) = ("scratch-MDT0000", "scratch-OST0000");
    let before = list(mdt, [[1000, 200, 0], [1005, 90, 0]])
        + &list(ost, [[1000, 7, 2 << 20], [1005, 9, 2 << 20]]);
    feed(&mut client, now - 86_400, &before);
    for (minute, waits, usecs) in [
        (20, 1, 1),
        (30, 12_001, 1),
        (40, 24_001, 240_000_001),
        (50, 30_001, 240_006_001),
    ] {
        let time = store.zero + 60 * minute;
        let service = format!(
            "mds.MDS.mdt.stats=\nsnapshot_time {time}.000000000 secs.nsecs\nstart_time 1.000000000 secs.nsecs\nelapsed_time \
             1.000000000 secs.nsecs\nreq_waittime {waits} samples [usecs] 1 90000 {usecs} 0\n"
        );
        feed(&mut client, time, &service);
    }
    let newest = list(mdt, [[1000, 300, 0], [1005, 80, 0]])
        + &list(ost, [[1000, 8, 3 << 20], [1005, 9, 1 << 20]]);
    feed(&mut client, store.zero + 6600, &newest);
    client
        .batch_execute(
            "UPDATE jobstats.settings SET refresh_lag = '0'; SELECT jobstats_internal.sum_used()",
        )
        .unwrap();
    let user = store.text(&["user", "user1000"]);
    let said = words(&user);
    for part in [
        " 75 % 3.22 GB +1.07 GB 300 +100 2 of 3",
        "Last account: physics",
        ", added since ",
        "* 1 targets have not reported space by user within a day: scratch-OST0001",
    ] {
        assert!(said.contains(part), "{part}: {user}");
    }
    assert!(
        user.lines().all(|line| line.chars().count() <= 80),
        "{user}"
    );
    // An idle user has space too.
    let idle = words(&store.text(&["user", "1005"]));
    assert!(idle.contains("No I/O was observed."), "{idle}");
    assert!(
        idle.contains(" 25 % 1.07 GB −1.07 GB 80 −10 2 of 3"),
        "{idle}"
    );
    let answer = store.json(&["user", "1005", "--json"]);
    let row = &answer["space"]["rows"][0];
    assert_eq!(
        (&row["uid"], &row["bytes"], &row["added_bytes"]),
        (&1005.into(), &(1 << 30).into(), &(-1 << 30).into())
    );
    let named = store.json(&["user", "user1000", "--json"]);
    assert_eq!(named["space"]["rows"][0]["user"], "user1000");
    let own = store.text(&["user", "user1000", "--html", "-"]);
    every_statement_runs(store, &own);
    let (_, rows) = table(&plain(&own), "By file system").unwrap();
    assert_eq!(
        rows[0][..6],
        ["scratch", "75 %", "3.22 GB", "+1.07 GB", "300", "+100"]
    );

    let from = jiff::Timestamp::from_second(store.zero as i64)
        .unwrap()
        .to_string();
    let page = store.text(&["report", "scratch", "--from", &from, "-o", "-"]);
    every_statement_runs(store, &page);
    let page = plain(&page);
    let said = "All files use 4.29 GB in 380 inodes, unchanged since ";
    assert!(page.contains(said), "{page}");
    let (_, rows) = table(&page, "Largest users of space").unwrap();
    let first = [
        "user1000", "physics", "75 %", "3.22 GB", "+1.07 GB", "300", "+100",
    ];
    assert_eq!(rows[0], first);
    assert_eq!(rows[1][..4], ["1005", "–", "25 %", "1.07 GB"]);
    let (_, rows) = table(&page, "Largest increases").unwrap();
    assert_eq!(rows, [first]);
    // 12,000 of 30,000 requests waited for 20 ms.
    let (_, rows) = table(&page, "Queues").unwrap();
    let expected = ["mds1", "mdt", "30.0 k", "8.00 ms", "0.133"];
    assert_eq!(
        (&rows[0][..5], rows.len()),
        (&expected.map(str::to_owned)[..], 1)
    );
    assert!(
        page.contains(" for mdt of mds1: on average 0.4 requests queued, 20 ms each."),
        "{page}"
    );
}

/// Each statement of a page runs in psql as shown.
pub fn every_statement_runs(store: &Store, page: &str) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    let statements = statements(page);
    assert!(!statements.is_empty());
    for statement in statements {
        let ran = client.batch_execute(&statement);
        assert!(ran.is_ok(), "{statement}: {ran:?}");
    }
}

/// Returns the statements of a page, or of a part of it.
pub fn statements(page: &str) -> Vec<String> {
    let statement = |code: &str| {
        let (statement, _) = code.split_once("</code>").unwrap();
        statement
            .replace("&#60;", "<")
            .replace("&#62;", ">")
            .replace("&#34;", "\"")
            .replace("&#39;", "'")
            .replace("&#38;", "&")
    };
    page.split("<code>").skip(1).map(statement).collect()
}
