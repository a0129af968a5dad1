use proptest::prelude::*;

use super::*;

const INTERVAL: Duration = Duration::from_secs(120);

#[test]
fn a_server_keeps_its_offset() {
    let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
    let first = Schedule::new(INTERVAL, "oss1").next(now);
    // Another hash would move every server after an upgrade.
    assert_eq!(first.to_string(), "2026-01-31T12:00:32.059Z");
    assert_eq!(
        Schedule::new(INTERVAL, "oss1").next(first),
        first + INTERVAL
    );
}

#[test]
fn servers_spread_over_the_interval() {
    let start: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
    let mut quarters = [0; 4];
    for server in 0..100 {
        let offset = Schedule::new(INTERVAL, &format!("oss{server}")).next(start) - start;
        quarters[(offset.get_seconds() / 30).min(3) as usize] += 1;
    }
    assert!(
        quarters.iter().all(|&servers| servers >= 10),
        "{quarters:?}"
    );
}

proptest! {
    #[test]
    fn the_next_moment_is_the_first_after_now(
        now in 0..4_000_000_000_000_000_i64,
        seconds in 1..100_000_u64,
        server in "[a-z0-9]{0,12}",
    ) {
        let now = Timestamp::from_microsecond(now).unwrap();
        let interval = Duration::from_secs(seconds);
        let schedule = Schedule::new(interval, &server);
        let next = schedule.next(now);
        prop_assert!(next > now && next <= now + interval);
        // The poll times of a server do not depend on when the shipper was started.
        prop_assert_eq!(schedule.next(now + interval), next + interval);
    }
}
