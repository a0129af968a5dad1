//! Usage, rankings and jobs, and statements to copy.

use jobstats_client::answers::*;
use jobstats_client::{Decimal, Kind, ask};

use super::{Store, TARGETS, sum, texts};

pub fn totals_and_rates_agree(store: &mut Store) {
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
            (&total.labels, &total.operation),
            (&rate.labels, &rate.operation)
        );
        assert_eq!(total.total, rate.total);
        let counted: f64 = total.total.unwrap().try_into().unwrap();
        let multiplied = rate.rate.unwrap() * rate.seconds * rate.coverage;
        // The coverage is rounded down to four decimals.
        let difference = (counted - multiplied) / rate.coverage;
        assert!((-1e-9 * counted..=1.1e-4 * counted).contains(&difference));
    }
}

pub fn leaders_and_summaries_agree_with_totals(store: &mut Store) {
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

pub fn a_job_adds_up_to_its_summary(store: &mut Store) {
    let window = store.window;
    let summary = store.ask(&Summary {
        window,
        ..Summary::default()
    });
    let written =
        |row: &&SummaryRow| row.labels.job.is_some() && row.write_bytes > Some(Decimal::ZERO);
    let summary = summary.iter().find(written).unwrap();
    let job = summary.labels.job.clone().unwrap();
    let jobs = store.ask(&Job {
        job: job.clone(),
        scheduler: None,
    });
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].job, job);
    let rows = store.ask(&JobUsage {
        job: job.clone(),
        window,
        ..JobUsage::default()
    });
    let total = |operation: &str| {
        let rows = rows.iter().filter(|row| row.operation == operation);
        let rows = rows.filter(|row| row.labels.target.is_none());
        Some(sum(rows.map(|row| row.total)))
    };
    assert_eq!(total("write_bytes"), summary.write_bytes);
    assert_eq!(total("service_time"), summary.service_time);
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

/// The MDT counts a thousand opens a second, far more than its entries.
pub fn work_in_no_entry_is_what_entries_lack(store: &mut Store) {
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
    let own = store.ask(&Untracked {
        window: store.window,
        operations: words(["open"]),
        by: words(["cluster", "filesystem", "kind", "target"]),
        filter: Filters {
            cluster: any(),
            filesystem: any(),
            kind: texts(&["MDT"]),
            target: any(),
            ..Filters::default()
        },
    });
    assert_eq!(own.len(), 1);
    let row = &own[0];
    assert_eq!(row.labels.target.as_deref(), Some(TARGETS[0]));
    assert_eq!(row.labels.kind.as_deref(), Some("MDT"));
    assert_eq!(row.coverage, 1.0);
    let total = row.total.unwrap();
    let opens: f64 = total.try_into().unwrap();
    let seconds = until.duration_since(since).as_secs_f64();
    assert!((opens / 1000.0 - seconds).abs() < 0.01, "{row:?}");
    let untracked = row.untracked.unwrap();
    assert!(untracked > Decimal::ZERO, "{row:?}");
    assert_eq!(row.accounted.unwrap() + untracked, total);
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
    });
    let rest = top.pop().unwrap();
    assert_eq!((rest.rank, rest.share, rest.labels.uid), (None, None, None));
    assert_eq!(rest.total, Some(untracked));
    assert!(top.iter().all(|row| row.rank.is_some()));
    // Entries and untracked usage add up to the target counters.
    let shares = top
        .iter()
        .chain([&rest])
        .filter_map(|row| row.share_of_target);
    let rounding = 5e-5 * (top.len() + 1) as f64;
    assert!((shares.sum::<f64>() - 1.0).abs() < rounding);
    // A user has no untracked usage.
    let one = store.ask(&Top {
        window: store.window,
        filter: Filters {
            uid: Some(vec![top[0].labels.uid.unwrap()]),
            ..Filters::default()
        },
        untracked: Some(true),
        ..Top::default()
    });
    assert!(!one.is_empty() && one.iter().all(|row| row.rank.is_some()));
}

/// A copied statement returns the rows of the question.
pub fn statements_answer_the_same(store: &mut Store) {
    let question = Top {
        window: store.window,
        operation: Some("write_bytes".to_owned()),
        by: words([Dimension::Job, Dimension::Target]),
        n: Some(5),
        filter: Filters {
            target: texts(&["small-OST*"]),
            ..Filters::default()
        },
        untracked: Some(true),
    };
    let rows = store.ask(&question);
    let statement_text = statement(&question, &["rank", "total"]);
    let copied = store.client.query(&statement_text, &[]).unwrap();
    let copied: Vec<(Option<i64>, Option<Decimal>)> =
        copied.iter().map(|row| (row.get(0), row.get(1))).collect();
    let asked: Vec<_> = rows.into_iter().map(|row| (row.rank, row.total)).collect();
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

pub fn what_is_refused_has_its_kind(store: &mut Store) {
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
