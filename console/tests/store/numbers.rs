//! The numbers of `top`, compared with SQL.

use super::*;

#[test]
fn numbers_are_those_of_sql() {
    let Some(mut store) = Database::with_store("numbers") else {
        return;
    };
    let until = store.load("small", 0);
    for minutes in [3, 21, 40] {
        let at = (until - SignedDuration::from_mins(minutes)).to_string();
        let by_user = &store.json(&["--once", "--at", &at])[0];
        // The last observations, as jobstats_now() has them.
        let expected = store.numbers(&format!(
            "SELECT labels ->> 'uid', sum(service_time) FROM jobstats_now(n => 1000000, at => '{at}') \
             WHERE labels ->> 'uid' IS NOT NULL GROUP BY 1"
        ));
        equal(&column(by_user, "service_time", "rate"), &expected);
        let by_target = &store.json(&["--once", "--at", &at, "--by", "target"])[0];
        let expected = store.numbers(&format!(
            "SELECT target, sum(service_time) FROM jobstats_now(n => 1000000, at => '{at}') GROUP BY target"
        ));
        equal(&column(by_target, "service_time", "rate"), &expected);
        // The totals in the interval of each target.
        let targets = by_user["targets"].as_array().unwrap();
        assert_eq!(targets.len(), 3);
        for (measure, operation) in [
            ("read_bytes", "read_bytes"),
            ("write_bytes", "write_bytes"),
            ("metadata", "metadata"),
            ("service_time", "service_time"),
            ("writes", "write"),
        ] {
            let mut sums: BTreeMap<String, f64> = BTreeMap::new();
            for target in targets {
                let (name, until) = (&target["target"], &target["time"]);
                let (name, until) = (name.as_str().unwrap(), until.as_str().unwrap());
                let seconds = target["interval"].as_f64().unwrap();
                let totals = store.numbers(&format!(
                    "SELECT labels ->> 'uid', total::double precision FROM jobstats_totals(timestamptz '{until}' - \
                     {seconds} * interval '1 second', '{until}', '{operation}', 'uid', 'target={name}') \
                     WHERE labels ->> 'uid' IS NOT NULL"
                ));
                for (user, total) in totals {
                    *sums.entry(user).or_default() += total;
                }
            }
            let mut shown = column(by_user, measure, "total");
            shown.retain(|_, total| *total > 0.0);
            sums.retain(|_, total| *total > 0.0);
            equal(&shown, &sums);
        }
        rows_add_up(&store, &at);
    }
    names_are_those_of_the_day(&mut store, until);
    rows_are_compared_with_the_day_before(&mut store, until);
}

fn rows_are_compared_with_the_day_before(store: &mut Database, until: Timestamp) {
    for hours in [26, 25] {
        store.load_from("small", until - SignedDuration::from_hours(hours));
    }
    let at = (until - SignedDuration::from_mins(3)).to_string();
    for (by, dimension) in [("user", "uid"), ("target", "target")] {
        let table = &store.json(&["--once", "--at", &at, "--by", by])[0];
        let rows = table["rows"].as_array().unwrap();
        let name = |row: &Value| row["name"].as_str().unwrap().to_owned();
        let median = |row: &Value| {
            let times = row["times_usual"].as_f64()?;
            Some((name(row), row["service_time"]["rate"].as_f64()? / times))
        };
        let medians: BTreeMap<_, _> = rows.iter().filter_map(median).collect();
        let mut expected = store.numbers(&format!(
            "SELECT labels ->> '{dimension}', median FROM date_bin('10 minutes', timestamptz '{at}', 'epoch') AS e (until),
                jobstats_baseline(e.until - interval '1 hour', e.until, by => '{dimension}', n => 1000)
             WHERE labels ->> '{dimension}' IS NOT NULL AND median > 0"
        ));
        expected.retain(|of, _| rows.iter().any(|row| name(row) == *of));
        equal(&medians, &expected);
    }
    let text = |width: &str| {
        let output = store.top(&["--once", "--at", &at, "--width", width]);
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(text("120").contains("× usual"), "{}", text("120"));
    assert!(!text("119").contains("× usual"));
}

/// Compares the rows of a table with its sum, in JSON and in text.
fn rows_add_up(store: &Database, at: &str) {
    for by in ["user", "job", "node", "target"] {
        let options = ["--once", "--at", at, "--by", by, "-n", "1000"];
        let table = &store.json(&options)[0];
        let rows = table["rows"].as_array().unwrap();
        let without = table["without_share"].as_f64().unwrap();
        let sum = |number: &dyn Fn(&Value) -> f64| rows.iter().map(number).sum::<f64>();
        let shares = sum(&|row| row["share"].as_f64().unwrap()) + without;
        assert!((shares - 1.0).abs() < 1e-9, "{by}: {shares}");
        let rates = sum(&|row| row["service_time"]["rate"].as_f64().unwrap());
        let total = table["total"]["service_time"]["rate"].as_f64().unwrap();
        assert!(
            (rates - total * (1.0 - without)).abs() < 1e-9 * total,
            "{by}: {rates} of {total}"
        );
        let text = store.top(&[&options[..], &["--width", "100"]].concat());
        let text = String::from_utf8(text.stdout).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let titles = lines
            .iter()
            .position(|line| line.contains("in service  share"))
            .unwrap();
        let end = lines[titles].chars().position(|it| it == '↓').unwrap()
            + "↓in service  share".chars().count();
        let cells = |from: usize, to: usize| -> f64 {
            let rows = lines[titles + 1..].iter().take(rows.len());
            rows.map(|line| number(&line.chars().skip(from).take(to - from).collect::<String>()))
                .sum()
        };
        // The table is rounded: shares to whole percents, rates to three digits.
        let rounding = 0.005 * rows.len() as f64 + 0.005;
        let least = 0.001 * rows.len() as f64;
        let shares = cells(end - 6, end) / 100.0 + without;
        assert!((shares - 1.0).abs() <= rounding, "{by}: {shares}\n{text}");
        let rates = cells(end - 14, end - 7);
        assert!(
            (rates - total * (1.0 - without)).abs() <= 0.01 * total + least,
            "{by}: {rates}\n{text}"
        );
        let head = lines[0].split(" in service").next().unwrap();
        let head = number(head.rsplit(' ').next().unwrap());
        assert!(
            (head - total).abs() <= 0.006 * total + 0.001,
            "{by}: {head}\n{text}"
        );
    }
}

/// Returns the number in a cell. Less than one percent counts as a half.
fn number(cell: &str) -> f64 {
    let digits: String = cell
        .chars()
        .filter(|it| it.is_ascii_digit() || *it == '.')
        .collect();
    match cell.contains('<') {
        true => digits.parse::<f64>().unwrap() / 2.0,
        false => digits.parse().unwrap_or(0.0),
    }
}

/// A user renamed half an hour ago has the old name in earlier rows, in any view.
fn names_are_those_of_the_day(store: &mut Database, until: jiff::Timestamp) {
    let at = |minutes| (until - SignedDuration::from_mins(minutes)).to_string();
    let users = |store: &Database, minutes| -> BTreeMap<u64, Value> {
        let table = &store.json(&["--once", "--at", &at(minutes)])[0];
        let rows = table["rows"].as_array().unwrap().iter();
        rows.map(|row| (row["uid"].as_u64().unwrap(), row["user"].clone()))
            .collect()
    };
    let (before, after) = (users(store, 40), users(store, 3));
    let user = before.keys().find(|user| after.contains_key(user)).unwrap();
    store
        .client
        .batch_execute(&format!(
            "INSERT INTO jobstats.users (uid, user_name) VALUES ({user}, 'bob');
             INSERT INTO jobstats.earlier_users (uid, user_name, since, until) VALUES ({user}, 'ada', '-infinity', '{}')",
            at(30)
        ))
        .unwrap();
    for (minutes, name) in [(40, "ada"), (3, "bob")] {
        assert_eq!(users(store, minutes)[user], name);
        let at = at(minutes);
        for statement in [
            format!(
                "SELECT DISTINCT name, 1.0::float8 FROM jobstats_now(n => 1000, at => '{at}', by => 'user', filter => 'uid={user}')"
            ),
            format!(
                "SELECT name, 1.0::float8 FROM jobstats_totals(timestamptz '{at}' - interval '8 minutes', '{at}', \
                 'service_time', 'user', 'uid={user}')"
            ),
        ] {
            let names: Vec<_> = store.numbers(&statement).into_keys().collect();
            assert_eq!(names, [name], "{statement}");
        }
    }
}

/// Feeds what a target has counted by itself in the 70 minutes up to a time, every five minutes.
fn feed_own(
    client: &mut Client,
    until: jiff::Timestamp,
    parameter: &str,
    counters: &dyn Fn(i64) -> String,
) {
    let seconds = |minute: i64| until.as_second() - 4200 + 60 * minute;
    for minute in (0..=70).step_by(5) {
        let (time, start) = (seconds(minute), seconds(-1));
        let body = format!(
            "{parameter}=\nsnapshot_time {time}.000000000 secs.nsecs\nstart_time {start}.000000000 secs.nsecs\n\
             elapsed_time 1.000000000 secs.nsecs\n{}",
            counters(minute)
        );
        let fed = client.execute(
            "INSERT INTO jobstats.feed (cluster, server, \"time\", body) \
             VALUES ('small', 'all', to_timestamp($1::bigint), $2::text)",
            &[&time, &body],
        );
        fed.unwrap();
    }
}

/// Target counters far exceed their entries; the difference is a row if all of them are known.
#[test]
fn work_without_identifier_is_that_of_sql() {
    let Some(mut store) = Database::with_store("whole") else {
        return;
    };
    let until = store.load("small", 0);
    let at = (until - SignedDuration::from_mins(21)).to_string();
    let options = ["--once", "--at", &at];
    assert!(store.json(&options)[0]["untracked"].is_null());
    let mut own = connect(&store.url);
    let mut count = |parameter: &str, counters: &dyn Fn(i64) -> String| {
        feed_own(&mut own, until, parameter, counters);
    };
    count("mdt.small-MDT0000.md_stats", &|minute| {
        let opens = 600_000 * minute;
        format!("open {opens} samples [usecs] 1 10 {} 0\n", 2 * opens)
    });
    let on_ost = |minute: i64| {
        let writes = 30_000 * minute;
        format!(
            "write_bytes {writes} samples [bytes] 1 4194304 {} 0\nwrite {writes} samples [usecs] 1 10 {} 0\n",
            4_194_304 * writes,
            10_000 * writes
        )
    };
    count("obdfilter.small-OST0000.stats", &on_ost);
    assert!(store.json(&options)[0]["untracked"].is_null());
    count("obdfilter.small-OST0001.stats", &on_ost);
    let table = &store.json(&options)[0];
    let row = &table["untracked"];
    for operation in ["service_time", "metadata", "write_bytes"] {
        let (mut rest, mut all) = ((0.0, 0.0), 0.0);
        for target in table["targets"].as_array().unwrap() {
            let (name, until) = (&target["target"], &target["time"]);
            let (name, until) = (name.as_str().unwrap(), until.as_str().unwrap());
            let seconds = target["interval"].as_f64().unwrap();
            let own = store.numbers(&format!(
                "SELECT part.name, part.number::double precision FROM jobstats_untracked(timestamptz '{until}' - \
                 {seconds} * interval '1 second', '{until}', '{operation}', filter => 'target={name}') AS own, \
                 LATERAL (VALUES ('all', own.total), ('rest', own.untracked)) AS part (name, number) \
                 WHERE part.number IS NOT NULL"
            ));
            let own = |name: &str| own.get(name).copied().unwrap_or(0.0);
            rest.0 += own("rest");
            rest.1 += own("rest") / seconds;
            all += own("all") / seconds;
        }
        let is_near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * other;
        let amount = |of: &str| row[operation][of].as_f64().unwrap();
        assert!(rest.0 > 0.0, "{operation}");
        assert!(is_near(amount("total"), rest.0), "{operation}: {row}");
        assert!(is_near(amount("rate"), rest.1), "{operation}: {row}");
        if operation == "service_time" {
            assert!(
                is_near(row["share"].as_f64().unwrap(), rest.1 / all),
                "{row}"
            );
        }
    }
    rows_add_up(&store, &at);
    let text = store.top(&[&options[..], &["--width", "100"]].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("\n without identifier  "), "{text}");
}
