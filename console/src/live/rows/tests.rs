use clap::ValueEnum;
use jobstats_core::base::instant::SECOND;
use jobstats_core::base::target::TargetKind;
use proptest::prelude::*;

use super::*;
use crate::live::view::Filter;
use crate::testing::{counted, interval, round};

const OST: &str = "scratch-OST0000";
const MDT: &str = "scratch-MDT0000";

/// A board after one interval of ten seconds on an MDT, and one of twenty seconds on an OST.
fn history() -> TargetStates {
    let mut history = TargetStates::default();
    history.take(round(
        20,
        &[
            (
                MDT,
                Some(interval(
                    10,
                    20,
                    &[
                        ("1:1000:a", "open", 100),
                        ("1:1000:a", "open_usecs", 20_000_000),
                        ("1:1000:a", "mknod", 100),
                        ("2:1001:b", "getattr", 10),
                        ("2:1001:b", "getattr_usecs", 5_000_000),
                        ("", "close", 5),
                        ("", "close_usecs", 5_000_000),
                    ],
                )),
            ),
            (
                OST,
                Some(interval(
                    0,
                    20,
                    &[
                        ("1:1000:c", "write", 20),
                        ("1:1000:c", "write_bytes", 20_000_000),
                        ("1:1000:c", "write_usecs", 10_000_000),
                        ("1:1000:c", "getattr", 4),
                        ("1:1000:c", "getattr_usecs", 0),
                    ],
                )),
            ),
        ],
    ));
    history
}

fn top(history: &TargetStates, view: &View) -> Table {
    table(history, view, &[], 10)
}

fn by(by: By) -> View {
    View {
        by,
        ..View::default()
    }
}

#[test]
fn users_have_the_rates_of_their_targets_added_up() {
    let table = top(&history(), &View::default());
    let ada = &table.rows[0];
    assert_eq!((&ada.key, ada.rank), (&Key::User(1000), 1));
    assert_eq!(
        ada.sums.service.unwrap().rate,
        2.5,
        "2 on the MDT, 0.5 on the OST"
    );
    assert_eq!(
        ada.sums.requests.rate, 11.2,
        "an open with mknod is one request"
    );
    assert_eq!(
        ada.sums.metadata.rate, 10.0,
        "getattr of an OST is no metadata"
    );
    assert_eq!(
        (ada.sums.write.rate, ada.sums.per_write()),
        (1e6, Some(1e6))
    );
    assert_eq!(ada.sums.per_read(), None);
    assert_eq!((ada.users, ada.jobs, ada.nodes), (1, 1, 2));
    assert_eq!(
        (ada.target.as_deref(), ada.operation),
        (Some(MDT), jobstats_core::base::operation::find(b"open"))
    );
    assert_eq!(table.rows[1].key, Key::User(1001));
    assert_eq!(table.total.service.unwrap().rate, 3.5);
    assert_eq!(ada.share, Some(2.5 / 3.5));
    assert_eq!(table.without_share, Some(0.5 / 3.5));
    assert_eq!((table.more, table.more_share), (0, Some(0.0)));
}

#[test]
fn only_the_whole_work_of_a_row_is_compared_with_what_is_usual() {
    let mut history = history();
    let usual = |by, key: Key| ((by, key), 0.5);
    history.medians = HashMap::from([
        usual(By::User, Key::User(1000)),
        usual(By::Target, Key::Name(OST.into())),
    ]);
    let compared = |view: &View| {
        let rows = top(&history, view).rows;
        let mut times = rows
            .iter()
            .filter_map(|row| row.times_usual(&history, view));
        (times.next(), times.next())
    };
    let mut view = View::default();
    assert_eq!(compared(&view), (Some(5.0), None));
    view.kind = Some(TargetKind::Ost);
    assert_eq!(compared(&view), (None, None));
    view.by = By::Target;
    assert_eq!(compared(&view), (Some(1.0), None));
    view.scope = vec![(By::User, Key::User(1000))];
    assert_eq!(compared(&view), (None, None));
}

#[test]
fn rows_that_are_not_shown_are_counted() {
    let table = super::table(&history(), &View::default(), &[], 1);
    assert_eq!((table.rows.len(), table.more), (1, 1));
    assert!((table.more_share.unwrap() - 0.5 / 3.5).abs() < 1e-12);
}

#[test]
fn operations_are_rows_with_what_belongs_to_them() {
    let table = top(&history(), &by(By::Operation));
    let row = |name: &str| {
        let found = table.rows.iter().find(|row| row.key.name() == name);
        &found.unwrap().sums
    };
    assert_eq!(
        (row("write").requests.rate, row("write").write.rate),
        (1.0, 1e6)
    );
    assert_eq!(row("mknod").requests.rate, 10.0);
    assert_eq!(row("open").service.unwrap().rate, 2.0);
    assert!(!table.rows.iter().any(|row| row.key.name() == "write_bytes"));
}

#[test]
fn a_scope_a_kind_a_filter_and_a_minimum_leave_rows_out() {
    let mut view = by(By::Target);
    view.scope = vec![(By::User, Key::User(1000))];
    let names = |view: &View| {
        let rows = top(&history(), view).rows;
        rows.iter().map(|row| row.key.name()).collect::<Vec<_>>()
    };
    assert_eq!(names(&view), [MDT, OST]);
    view.kind = Some(TargetKind::Ost);
    assert_eq!(names(&view), [OST]);
    view.clear();
    view.scope = vec![(By::Target, Key::Name(OST.into()))];
    view.by = By::Job;
    assert_eq!(names(&view), ["1"]);
    view.clear();
    view.by = By::Node;
    assert_eq!(
        names(&view),
        ["a", "c", "b"],
        "c and b have the same time, and c has more requests"
    );
    view.filter = Filter::new("!b");
    assert_eq!(names(&view), ["a", "c"]);
    view.minimum = 5.0;
    assert_eq!(names(&view), ["a"]);
    view.clear();
    view.scope = vec![(By::Operation, Key::Operation(WRITE))];
    let table = top(&history(), &view);
    assert_eq!(
        (
            table.rows.len(),
            table.total.write.rate,
            table.total.metadata.rate
        ),
        (1, 1e6, 0.0)
    );
}

#[test]
fn servers_without_times_are_ranked_by_requests() {
    let mut history = history();
    let untimed = interval(20, 30, &[("3:1002:d", "read", 10_000)]);
    history.take(round(
        30,
        &[
            (OST, Some(untimed)),
            (
                MDT,
                Some(interval(20, 30, &[("1:1000:a", "open_usecs", 9)])),
            ),
        ],
    ));
    let table = top(&history, &View::default());
    assert_eq!(table.sort, Sort::Requests);
    assert_eq!(
        (table.rows[0].key.clone(), table.rows[0].sums.service),
        (Key::User(1002), None)
    );
    assert!(table.rows[1].sums.service.is_some());
    assert_eq!(table.total.service, None);
}

#[test]
fn a_target_that_is_not_known_is_a_row_and_no_zero() {
    let mut history = history();
    history.take(round(1000, &[(MDT, Some(interval(20, 1000, &[])))]));
    let table = top(&history, &by(By::Target));
    let row = |name: &str| {
        table
            .rows
            .iter()
            .find(|row| row.key.name() == name)
            .unwrap()
    };
    assert!(row(OST).is_unknown && row(OST).is_late);
    assert!(!row(MDT).is_unknown && row(MDT).sums == RunningSums::default().sums());
}

#[test]
fn a_window_averages_over_its_intervals() {
    let mut history = TargetStates::default();
    for end in 1..=3 {
        let work = interval(10 * (end - 1), 10 * end, &[("1:1000:a", "open", 100 * end)]);
        history.take(round(10 * end, &[(MDT, Some(work))]));
    }
    let rate = |seconds: i64| {
        let view = View {
            window: seconds * SECOND,
            ..View::default()
        };
        let sums = top(&history, &view).rows[0].sums.clone();
        (sums.requests.total, sums.requests.rate)
    };
    assert_eq!(rate(0), (300.0, 30.0));
    assert_eq!(rate(20), (500.0, 25.0));
    assert_eq!(rate(600), (600.0, 20.0));
}

/// A board of targets that count by themselves: the MDT does half of its work without an identifier, and the OST a fifth.
fn counting() -> TargetStates {
    let mut history = TargetStates::default();
    let work = [
        ("1:1000:a", "open", 100),
        ("1:1000:a", "open_usecs", 20_000_000),
    ];
    let on_mdt = [
        ("service_time", 40.0, 20.0),
        ("metadata", 200.0, 100.0),
        ("open", 150.0, 50.0),
        ("statfs", 50.0, 50.0),
        // A file that is created is one request, as in every other row.
        ("mknod", 70.0, 70.0),
    ];
    let written = [
        ("1:1000:a", "write", 8),
        ("1:1000:a", "write_usecs", 8_000_000),
    ];
    let on_ost = [
        ("service_time", 10.0, 2.0),
        ("write", 10.0, 2.0),
        ("write_bytes", 10e6, 2e6),
    ];
    history.take(round(
        20,
        &[
            (MDT, Some(counted(interval(10, 20, &work), &on_mdt))),
            (OST, Some(counted(interval(0, 20, &written), &on_ost))),
        ],
    ));
    history
}

#[test]
fn work_in_no_entry_is_a_row_below_that_counts_in_no_sum() {
    let (plain, counting) = (history(), counting());
    let table = top(&counting, &View::default());
    let row = table.untracked.as_ref().unwrap();
    assert_eq!((row.rank, row.is_late), (0, false));
    assert_eq!(
        row.sums.service.unwrap().rate,
        2.1,
        "2 on the MDT, 0.1 on the OST"
    );
    assert_eq!(row.share, Some(2.1 / 4.5));
    assert_eq!(
        (row.sums.requests.total, row.sums.requests.rate),
        (102.0, 10.1)
    );
    assert_eq!(row.sums.metadata.rate, 10.0);
    assert_eq!(row.sums.per_write(), Some(1e6));
    assert_eq!(table.rows[0].share, Some(1.0));
    assert_eq!(table.total.service.unwrap().rate, 2.4);
    let by_bytes = View {
        sort: Sort::Write,
        ..View::default()
    };
    let row = top(&counting, &by_bytes).untracked.unwrap();
    assert_eq!(row.share, Some(0.2));
    assert_eq!(top(&plain, &View::default()).untracked, None);
}

#[test]
fn work_in_no_entry_is_shown_where_rows_are_limited_to_targets_alone() {
    let history = counting();
    let share = |view: &View| top(&history, view).untracked.map(|row| row.share.unwrap());
    for (kind, expected) in [(TargetKind::Mdt, 0.5), (TargetKind::Ost, 0.2)] {
        let of_kind = View {
            kind: Some(kind),
            minimum: 1e9,
            ..View::default()
        };
        assert_eq!(share(&of_kind), Some(expected));
        let mut of_target = by(By::Target);
        let name = if kind == TargetKind::Mdt { MDT } else { OST };
        of_target.enter(Key::Name(name.into()));
        assert_eq!(share(&of_target), Some(expected));
    }
    let mut of_user = by(By::User);
    of_user.filter = Filter::new("1000");
    assert_eq!(share(&of_user), None);
    of_user.enter(Key::User(1000));
    assert_eq!(share(&of_user), None);
    let mut of_operation = by(By::Operation);
    assert!(share(&of_operation).is_some());
    of_operation.enter(Key::Operation(WRITE));
    assert_eq!(share(&of_operation), None);
}

#[test]
fn work_in_no_entry_is_known_where_it_is_of_all_targets() {
    let of = |history: &TargetStates, window: i64| {
        let view = View {
            window: window * SECOND,
            ..View::default()
        };
        top(history, &view).untracked
    };
    let mut history = counting();
    // A target that is late keeps the numbers of its last reading.
    let idle = counted(interval(20, 30, &[]), &[]);
    history.take(round(30, &[(OST, Some(idle.clone()))]));
    let row = of(&history, 0).unwrap();
    assert!(row.is_late);
    assert_eq!(row.share, Some(0.5));
    assert_eq!(of(&history, 60).unwrap().sums.write.total, 2e6);
    // The counters of one of its intervals were not read.
    history.take(round(40, &[(OST, Some(interval(30, 40, &[])))]));
    assert_eq!((of(&history, 0), of(&history, 60)), (None, None));
    // Zero has no share.
    let mut nothing = TargetStates::default();
    nothing.take(round(30, &[(OST, Some(idle))]));
    assert_eq!(of(&nothing, 0), None);
    // A server that reports no times.
    let mut untimed = TargetStates::default();
    let work = interval(0, 10, &[("1:1000:a", "write", 8)]);
    let work = counted(work, &[("write", 10.0, 2.0)]);
    untimed.take(round(10, &[(OST, Some(work))]));
    let row = of(&untimed, 0).unwrap();
    assert_eq!((row.share, row.sums.service), (Some(0.2), None));
}

proptest! {
    /// All rows of any dimension, and the work without a value, add up to all work.
    #[test]
    fn rows_add_up(
        work in prop::collection::vec((0_usize..5, 0_usize..4, 1..1_000_000_i64), 0..30),
        dimension in 0_usize..7,
        seconds in 1..100_i64,
    ) {
        let ids = ["1:1000:a", "2:1000:b", "make.1001", "?", ""];
        let operations = ["open", "close", "write", "write_usecs"];
        let work: Vec<_> = work.iter().map(|(id, operation, total)| (ids[*id], operations[*operation], *total)).collect();
        let (first, second) = work.split_at(work.len() / 2);
        let mut history = TargetStates::default();
        history.take(round(100, &[
            (OST, Some(interval(100 - seconds, 100, first))),
            (MDT, Some(interval(0, 100, second))),
        ]));
        let view = View { by: By::value_variants()[dimension], sort: Sort::Requests, ..View::default() };
        let table = table(&history, &view, &[], usize::MAX);
        let rows: f64 = table.rows.iter().map(|row| row.sums.requests.total).sum();
        let all: i64 = work.iter().filter(|it| !it.1.ends_with("_usecs")).map(|it| it.2).sum();
        prop_assert_eq!(table.total.requests.total, all as f64);
        prop_assert!(rows <= all as f64);
        if table.without_share == Some(0.0) {
            prop_assert_eq!(rows, all as f64);
        }
        let ranks = table.rows.iter().all(|row| row.rank >= 1 && row.rank <= table.rows.len());
        prop_assert!(ranks && table.more == 0);
    }
}
