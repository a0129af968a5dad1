use super::*;

/// The work of a target in a minute: calls by operation, of clients and of a metadata server, and a restart before.
type Step = (Vec<(usize, u32, u32)>, bool, Option<bool>);

const NAMES: [&str; 4] = ["statfs", "create", "setattr", "destroy"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(
        (
            vec((0..NAMES.len(), 1..50_u32, 0..50_u32), 0..5),
            any::<bool>(),
            prop::option::weighted(0.2, any::<bool>()),
        ),
        1..12,
    )
}

proptest! {
    /// The increments of a history add up to what clients did, whatever restarts: the target, or the connection of the
    /// metadata server.
    #[test]
    fn a_history_adds_up_to_its_end(steps in steps()) {
        let (mut own, mut server) = ([0_u32; 4], [0_u32; 4]);
        let (mut own_start, mut server_start) = (-100, -90);
        let mut truth = [0_i64; 4];
        let text = |own: &[u32; 4], server: &[u32; 4], starts: (i64, i64)| {
            let lines = |counts: &[u32; 4]| {
                let lines = counts.iter().zip(NAMES).filter(|(count, _)| **count > 0);
                lines.map(|(count, name)| format!("{name} {count} samples [reqs]\n")).collect::<String>()
            };
            ost(Some(starts.0), &lines(own)) + &export("10.0.0.1@tcp", Some(starts.1), &lines(server), SERVER)
        };
        let mut texts = vec![text(&own, &server, (own_start, server_start))];
        for (minute, (calls, restarts_first, restarts)) in steps.iter().enumerate() {
            let now = 60 * minute as i64 + 30;
            match restarts.filter(|_| *restarts_first) {
                Some(true) => (own, server, own_start, server_start) = ([0; 4], [0; 4], now, now),
                Some(false) => (server, server_start) = ([0; 4], now),
                None => {}
            }
            for (operation, clients, servers) in calls {
                own[*operation] += clients + servers;
                server[*operation] += servers;
                truth[*operation] += i64::from(*clients);
            }
            texts.push(text(&own, &server, (own_start, server_start)));
        }
        let bodies: Vec<_> = texts.iter().map(|text| body(text)).collect();
        let (mut before, mut sums) = (bodies[0].clone(), [0_i64; 4]);
        for (minute, after) in (1..).zip(&bodies[1..]) {
            let compared = compared((minute - 1, &before), (minute, after));
            prop_assert_eq!(&compared.problems, &[]);
            for part in compared.increments.into_iter().flat_map(split) {
                prop_assert!(at(minute - 1) <= part.since && part.since < part.time && part.time <= at(minute));
                for (column, growth) in part.totals {
                    let operation = NAMES.iter().position(|it| *it == name(column)).unwrap();
                    sums[operation] += growth;
                }
            }
            before = compared.body;
        }
        prop_assert_eq!(sums, truth);
    }

    /// Whatever connections are missing in whatever texts but the first and the last, the requests of clients remain.
    #[test]
    fn missing_connections_change_no_sum(
        steps in vec((0..50_u32, vec(0..50_u32, 3), vec(any::<bool>(), 3)), 2..50), dated: bool,
    ) {
        let (mut own, mut servers, mut truth) = (1, [1; 3], 0);
        let mut texts = Vec::new();
        for (number, (clients, by_servers, missing)) in steps.iter().enumerate() {
            if number > 0 {
                own += clients + by_servers.iter().sum::<u32>();
                truth += i64::from(*clients);
            }
            let mut text = ost(dated.then_some(-100), &creates(own));
            for (server, calls) in by_servers.iter().enumerate() {
                servers[server] += if number > 0 { *calls } else { 0 };
                let is_end = number == 0 || number + 1 == steps.len();
                if is_end || !missing[server] {
                    text += &export(&format!("10.0.0.{server}@tcp"), dated.then_some(-90), &creates(servers[server]), SERVER);
                }
            }
            texts.push(text);
        }
        prop_assert_eq!(added_up(&texts).0.get("create").copied().unwrap_or_default(), truth);
    }

    /// Whatever lines are lost, no more is counted than was done.
    #[test]
    fn damage_counts_nothing_twice(
        opened in vec((0..9_u32, 0..9_u32, any::<prop::sample::Index>(), 0..3_usize), 2..8),
        dated: bool,
    ) {
        let mut now = [1_u32; 2];
        let mut bodies = Vec::new();
        for (open, close, at, damage) in &opened {
            now = [now[0] + open, now[1] + close];
            let mut text = mdt(dated.then_some(-100), &format!("open {} samples [reqs]\nclose {} samples [reqs]\n", now[0], now[1]));
            let begin = text.find("open").unwrap();
            let place = begin + at.index(text.len() - begin);
            match damage {
                0 => {}
                1 => text.truncate(place),
                _ => text.replace_range(place..=place, "\u{e9}"),
            }
            bodies.push(body_and_problems(&text).0);
        }
        let (mut before, mut sums) = (bodies[0].clone(), [0_i64; 2]);
        for (minute, after) in (1..).zip(&bodies[1..]) {
            let compared = compared((minute - 1, &before), (minute, after));
            for (column, growth) in compared.increments.into_iter().flat_map(|it| it.totals) {
                sums[usize::from(name(column) == "close")] += growth;
            }
            before = compared.body;
        }
        // A number that lost a digit, or a line that a complete text lost, looks like a restart without a start_time.
        let is_told = dated || opened.iter().all(|(.., damage)| *damage != 1);
        prop_assert!(!is_told || sums[0] <= i64::from(now[0]) && sums[1] <= i64::from(now[1]));
    }

    /// Printing a body and reading it back changes nothing.
    #[test]
    fn printing_and_reading_a_body_is_the_identity(counts in vec((prop::sample::select(OPERATIONS), 1..i64::MAX, 0..i64::MAX, any::<u64>()), 0..9)) {
        let mut lines = String::new();
        for (operation, count, sum, squares) in counts {
            let unit = if operation.name.ends_with("_bytes") { "bytes" } else { "usecs" };
            lines += &format!("{} {count} samples [{unit}] 1 2 {sum} {squares}\n", operation.name);
        }
        for text in [mdt(Some(-1), &lines), ost(None, &lines)] {
            let body = body(&text);
            let snapshot = read_carried(body.as_bytes(), Pause::NEVER).unwrap();
            prop_assert_eq!(print(&snapshot), body.as_bytes());
            prop_assert_eq!(snapshot.records.len(), 1);
        }
    }
}
