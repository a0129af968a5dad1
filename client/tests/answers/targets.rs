//! Targets, space and queues.

use jiff::{SignedDuration, Timestamp};
use jobstats_client::Decimal;
use jobstats_client::answers::*;

use super::{Store, TARGETS, texts};

pub fn parts_of_views_are_read(store: &mut Store) {
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
    let unknown = Jobs {
        window: store.window,
        n: Some(1),
        filter: Filters {
            job: Some(vec!["o'neil $1".to_owned()]),
            uid: Some(vec![-1]),
            ..Filters::default()
        },
    };
    assert!(store.ask(&unknown).is_empty());
}

pub fn health_is_that_of_all_targets(store: &mut Store) {
    let mut health = store.ask(&Health::default());
    // Rows about space and servers have no observation.
    health.retain(|row| row.last_observation.is_some());
    health.sort_by_key(|row| row.target.clone());
    let targets = health.iter().map(|row| row.target.as_deref());
    assert!(targets.eq(TARGETS.map(Some)));
    for row in health {
        assert_eq!(row.usual_interval.unwrap().0, SignedDuration::from_mins(5));
        assert_eq!(row.kind.unwrap(), row.target.unwrap()[6..9]);
    }
}

/// The owners of the entries in the last observations are users of the summary.
pub fn what_programs_sum_up_is_what_functions_say(store: &mut Store) {
    let retained = store.ask(&Retained::default()).remove(0);
    assert_eq!(retained.targets, 3);
    let first = store.ask(&Nearest {
        at: retained
            .first
            .map(|first| first - SignedDuration::from_micros(1)),
        filter: Filters {
            cluster: texts(&["small"]),
            filesystem: texts(&["small"]),
            ..Filters::default()
        },
    });
    assert_eq!(first.iter().filter_map(|it| it.after).min(), retained.first);
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
    let totals = store.ask(&EntryTotals {
        at: last,
        level: Some("increments".to_owned()),
        target_id: Some(targets.iter().map(|it| it.target_id).collect()),
    });
    let entries = store.ask(&Entries {
        at: last,
        entry_id: totals.iter().map(|it| it.entry_id).collect(),
    });
    let since = targets.iter().filter_map(|it| it.since).min();
    let summary = store.ask(&Summary {
        window: Window { since, until: last },
        by: words([Dimension::Uid]),
        ..Summary::default()
    });
    let users: Vec<_> = summary.into_iter().map(|it| it.labels.uid).collect();
    assert!(entries.iter().any(|it| it.uid.is_some()));
    assert!(entries.iter().all(|it| users.contains(&it.uid)));
}

/// User 1 has 3 MiB in 7 files, 1 MiB and 2 files of them added today; 600 requests waited for 2 ms.
pub fn space_and_queues_are_those_of_the_text(store: &mut Store) {
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
    // These names do not exist.
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
        severity: words(["info", "w*"]),
        filter: Filters {
            cluster: any(),
            filesystem: any(),
            ..Filters::default()
        },
    });
    assert!(events.is_empty(), "{events:?}");
    let requests: Decimal = queues.iter().map(|row| row.requests).sum();
    assert_eq!(requests.round(), Decimal::from(600), "{queues:?}");
    for row in &queues {
        assert_eq!((&*row.server, &*row.service), ("mds1", "mdt"));
        assert!((row.wait.unwrap() - 0.002).abs() < 1e-4, "{row:?}");
        assert!((row.waiting - 0.002).abs() < 1e-4, "{row:?}");
    }
}

pub fn targets_and_densities_are_told(store: &mut Store) {
    let window = store.window;
    let mut balance = store.ask(&Balance {
        window,
        operation: Some("write_bytes".to_owned()),
        filter: Filters {
            filesystem: texts(&["small"]),
            ..Filters::default()
        },
    });
    balance.sort_by_key(|row| row.target.clone());
    assert!(balance.iter().map(|row| &row.target).eq(&TARGETS));
    for row in &balance {
        assert_eq!(
            row.labels.workload.is_some(),
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
        ..Densities::default()
    });
    assert!(densities.iter().any(|row| row.count > 0));
}
