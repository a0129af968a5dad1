//! Tests queues against known results.

use super::*;
use crate::lustre::operation::{READ, WRITE, plain};
use crate::lustre::{Calls, Op};

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance
}

fn queue(threads: u32) -> Queue {
    Queue {
        threads,
        ..Queue::default()
    }
}

/// Passes an interval, and returns the mean wait in it in seconds.
fn pass(queue: &mut Queue, calls: u64, work: f64) -> f64 {
    let before = queue.waits.sum;
    queue.pass(calls, work);
    ((queue.waits.sum - before) as f64 / calls as f64 - HANDED_OVER) / 1e6
}

#[test]
fn the_formula_gives_the_values_of_its_tables() {
    for (threads, load, expected) in [
        (1, 0.5, 0.5),
        (2, 1.0, 0.3333),
        (3, 2.0, 0.4444),
        (5, 4.0, 0.5541),
        (10, 5.0, 0.0361),
        (10, 8.0, 0.4092),
        (20, 16.0, 0.2561),
    ] {
        let found = erlang_c(threads, load);
        assert!(near(found, expected, 0.0001), "{threads} {load} {found}");
    }
    assert_eq!(erlang_c(16, 0.0), 0.0);
    assert!(near(erlang_c(16, 15.999), 1.0, 0.001));
}

#[test]
fn nothing_waits_under_light_load() {
    let mut queue = queue(16);
    for _ in 0..100 {
        assert!(pass(&mut queue, 10_000, 20.0) < 1e-6);
    }
    assert_eq!(queue.depths.sum, 0);
    assert_eq!(queue.waits.min, 20);
    // Two threads are busy on average, and one serves the request itself.
    assert_eq!(queue.active.sum, 100 * 30_000);
}

#[test]
fn an_idle_interval_counts_nothing() {
    let mut queue = queue(16);
    queue.pass(0, 0.0);
    assert_eq!(queue.waits, Counter::default());
    assert_eq!(queue.now, (0, 0));
}

#[test]
fn waits_below_saturation_are_those_of_the_formula() {
    // A million requests in ten seconds, each of 80 µs, keep eight threads of ten busy.
    let mut queue = queue(10);
    let expected = 0.4092 * 80e-6 / (10.0 - 8.0);
    let found = pass(&mut queue, 1_000_000, 80.0);
    assert!(near(found, expected, 1e-6), "{found} {expected}");
    // By Little's law, the requests that wait are the rate times the wait.
    let depth = queue.depths.sum as f64 / 1e6;
    assert!(near(depth, 100_000.0 * expected, 0.01), "{depth}");
}

#[test]
fn waits_grow_evenly_with_overload_and_then_drain() {
    // 168 seconds of work come to 16 threads in each interval, which can do 160.
    let mut queue = queue(16);
    let mut waits = (0..6)
        .map(|_| pass(&mut queue, 10_000, 168.0))
        .collect::<Vec<_>>();
    let growth: Vec<_> = waits.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(
        growth.iter().all(|growth| near(*growth, 8.0 / 16.0, 1e-5)),
        "{growth:?}"
    );
    // 48 seconds are left. With half of the load, 80 can be made up for in an interval.
    waits.clear();
    waits.extend((0..3).map(|_| pass(&mut queue, 5_000, 80.0)));
    assert!(
        near(waits[0], 48.0 / 16.0 / 2.0 * 48.0 / 80.0, 0.01),
        "{waits:?}"
    );
    assert!(waits[1] < 0.001 && waits[2] < 0.001, "{waits:?}");
    assert_eq!(queue.backlog, 0);
}

#[test]
fn chance_makes_waits_grow_without_a_step_up_to_saturation_and_beyond() {
    let waits = (1_400..1_800).map(|work| {
        let mut queue = queue(16);
        pass(&mut queue, 10_000, f64::from(work) / 10.0)
    });
    let waits: Vec<_> = waits.collect();
    for pair in waits.windows(2) {
        assert!(pair[0] <= pair[1] && pair[1] - pair[0] < 0.02, "{pair:?}");
    }
}

#[test]
fn counters_never_fall_and_a_mean_counts_as_often_as_it_was_met() {
    let mut counter = Counter::default();
    counter.add_mean(3, 0.5);
    counter.add_mean(0, 9.0);
    counter.add_mean(10, 7.24);
    assert_eq!((counter.samples, counter.sum), (13, 74));
    assert_eq!((counter.min, counter.max), (1, 7));
    let mut queue = queue(4);
    let mut before = queue.clone();
    for step in 0..200_u32 {
        let calls = u64::from(step * 7_919 % 500);
        queue.pass(calls, f64::from(step * 104_729 % 90));
        for (before, now) in [(before.waits, queue.waits), (before.depths, queue.depths)] {
            assert!(before.samples <= now.samples && before.sum <= now.sum);
            assert!(before.max <= now.max && before.squares <= now.squares);
        }
        before = queue.clone();
    }
}

#[test]
fn arrivals_of_one_kind_in_one_interval_are_one() {
    let mut arrivals = Vec::new();
    let mut calls = |seconds: Nanos, request, count, usecs| {
        let calls = Calls::new(request, count, 10, usecs);
        arrive(&mut arrivals, TargetKind::Ost, seconds * SECOND, &calls);
    };
    calls(11, READ, 3, 100);
    calls(12, plain(Op::Statfs), 1, 30);
    calls(13, READ, 2, 10_000_000);
    calls(20, WRITE, 1, 5);
    let found: Vec<_> = arrivals
        .iter()
        .map(|other| {
            (
                other.interval,
                other.request,
                other.calls,
                other.bytes,
                other.usecs,
            )
        })
        .collect();
    // A request that hangs holds a thread for 20 ms.
    assert_eq!(
        found,
        [
            (1, READ, 5, 50, 300 + 40_000),
            (1, plain(Op::Statfs), 1, 10, 30),
            (2, WRITE, 1, 10, 5),
        ]
    );
}
