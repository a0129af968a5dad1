use jobstats_core::base::pause::Pause;
use jobstats_core::rules::increment::LateReason;

use crate::store::Store;
use crate::support::{Kept, Target, active, booted, born, job, text};

fn fell(id: &str) -> Result<(), LateReason> {
    Err(LateReason::Fell(id.to_owned()))
}

fn start_time(id: &str) -> Result<(), LateReason> {
    Err(LateReason::StartTime(id.to_owned()))
}

#[test]
fn rule_8_late_text_between_its_neighbours_is_placed() {
    let target = Target::first(&[job("a", "open 1"), born("b", -9, "open 1")]);
    let late = [
        job("a", "open 2"),
        born("b", -9, "open 2"),
        job("c", "open 5"),
    ];
    let next = [job("a", "open 3"), born("b", -9, "open 3")];
    assert_eq!(target.admits(60, &late, (120, &next)), Ok(()));
}

#[test]
fn rule_8_the_server_must_be_that_of_a_neighbour() {
    let kept = |time: i64, server: &str| Kept {
        time,
        server: server.to_owned(),
        text: Some(text(&[])),
        carried: Vec::new(),
    };
    let admits = |previous: &str, late: &str, next: &str| {
        let (previous, late, next) = (kept(0, previous), kept(60, late), kept(120, next));
        previous.with(|previous| {
            late.with(|late| {
                next.with(|next| {
                    jobstats_core::rules::increment::can_be_older(
                        late,
                        Some(previous),
                        next,
                        Pause::NEVER,
                    )
                })
            })
        })
    };
    assert_eq!(admits("mds1", "mds1", "mds2"), Ok(()));
    assert_eq!(admits("mds1", "mds2", "mds2"), Ok(()));
    assert_eq!(admits("mds1", "mds3", "mds2"), Err(LateReason::Server));
}

#[test]
fn rule_8_no_entry_may_have_begun_later_than_in_the_following_text() {
    let target = Target::first(&[born("a", -9, "open 1")]);
    let next = [born("a", -9, "open 3")];
    assert_eq!(
        target.admits(60, &[born("a", 20, "open 2")], (120, &next)),
        start_time("a")
    );
    assert_eq!(
        target.admits(60, &[born("a", -9, "open 2")], (120, &next)),
        Ok(())
    );
    // A later epoch in the following text is how it should be.
    let next = [born("a", -9, "open 3"), born("a", 90, "open 1")];
    assert_eq!(
        target.admits(60, &[born("a", -9, "open 2")], (120, &next)),
        Ok(())
    );
}

#[test]
fn rule_8_no_entry_may_have_begun_earlier_than_in_the_text_before() {
    let target = Target::first(&[born("a", -9, "open 1")]);
    let next = [born("a", 90, "open 3")];
    assert_eq!(
        target.admits(60, &[born("a", -20, "open 2")], (120, &next)),
        start_time("a")
    );
}

#[test]
fn rule_8_no_counter_may_fall_within_a_epoch() {
    let target = Target::first(&[born("a", -9, "open 2")]);
    let admits = |late: &str| {
        target.admits(
            60,
            &[born("a", -9, late)],
            (120, &[born("a", -9, "open 4")]),
        )
    };
    assert_eq!(admits("open 1"), fell("a"));
    assert_eq!(admits("open 2"), Ok(()));
    assert_eq!(admits("open 4"), Ok(()));
    assert_eq!(admits("open 5"), fell("a"));
}

#[test]
fn rule_8_without_start_time_it_may_not_make_a_reset_where_there_was_none() {
    let target = Target::first(&[job("a", "open 2")]);
    let admits =
        |late: &str, next: &str| target.admits(60, &[job("a", late)], (120, &[job("a", next)]));
    assert_eq!(admits("open 3", "open 4"), Ok(()));
    assert_eq!(admits("open 5", "open 4"), fell("a"));
    assert_eq!(admits("open 1", "open 4"), fell("a"));
    // Here was a reset anyway, and it may have been after the late text or before.
    assert_eq!(admits("open 5", "open 1"), Ok(()));
    assert_eq!(admits("open 1", "open 1"), Ok(()));
    // The entry is not in the text before: it may have come and gone.
    assert_eq!(
        target.admits(60, &[job("b", "open 9")], (120, &[job("b", "open 4")])),
        Ok(())
    );
}

#[test]
fn rule_8_boot_clocks_are_no_dates() {
    let target = Target::first(&[booted("a", 5_000, "open 2")]);
    let next = [booted("a", 60, "open 1")];
    assert_eq!(
        target.admits(60, &[booted("a", 5_000, "open 3")], (120, &next)),
        Ok(())
    );
}

#[test]
fn rule_8_a_text_before_the_first_one_is_placed_by_the_same_rules() {
    let target = Target::default();
    assert_eq!(
        target.admits(60, &[job("a", "open 9")], (120, &[job("a", "open 4")])),
        Ok(())
    );
    let next = [born("a", -9, "open 4")];
    assert_eq!(
        target.admits(60, &[born("a", -9, "open 9")], (120, &next)),
        fell("a")
    );
}

#[test]
fn rule_8_a_placed_text_divides_what_was_counted_across_it() {
    let (first, late, next) = (
        [job("a", "open 1")],
        [job("a", "open 4")],
        [job("a", "open 9")],
    );
    let mut target = Target::first(&first);
    let mut placed = target.clone();
    assert_eq!(target.observe(120, &next).rows, ["a (0, 120] open=8"]);
    assert_eq!(placed.observe(60, &late).rows, ["a (0, 60] open=3"]);
    assert_eq!(placed.observe(120, &next).rows, ["a (60, 120] open=5"]);
}

#[test]
fn rule_8_what_is_carried_with_the_text_before_counts_like_the_text() {
    let mut target = Target::first(&[born("a", -9, "open 3")]);
    target.observe(60, &[]);
    let admits = |late: &str, start| target.admits(90, &[born("a", start, late)], (120, &[]));
    assert_eq!(admits("open 5", -20), start_time("a"));
    assert_eq!(admits("open 2", -9), fell("a"));
    assert_eq!(admits("open 3", -9), Ok(()));
}

/// Lustre up to 2.14. The clock of the server is an hour back after 400 calls, so the text shows 09:01.
#[test]
fn rule_8_a_new_entry_cannot_vanish_while_it_is_busy() {
    let background = || active("bg.0", -3_600, "open 5");
    let with = |minute: i64, calls: i64| {
        let job = active("77:1000:n1", 60 * minute - 30, &format!("open {calls}"));
        (60 * minute, text(&[background(), job]))
    };
    let without = |minute: i64| (60 * minute, text(&[background()]));
    let mut store = Store::default();
    for (time, text) in [0, 60, 62, 64]
        .map(without)
        .into_iter()
        .chain([with(120, 300)])
    {
        store.feed(time, &text).unwrap();
    }
    let (time, wrong) = with(61, 400);
    let lost = Err(LateReason::Lost("77:1000:n1".to_owned()));
    assert_eq!(store.feed(time, &wrong), lost);
    let (time, right) = with(122, 500);
    store.feed(time, &right).unwrap();
    let totals = store.stored().flat_map(|(_, seen, _)| &seen.totals);
    assert_eq!(totals.map(|(.., growth)| growth).sum::<i64>(), 500);
}

#[test]
fn rule_8_what_follows_decides_about_a_new_entry_that_vanishes() {
    let target = Target::first(&[job("a", "open 1"), job("d", "open 1")]);
    let late = text(&[
        job("a", "open 1"),
        job("d", "open 1"),
        active("b", 50, "open 9"),
    ]);
    let admits = |next: &[String], after: Option<(i64, &[String])>| {
        let after = after.map(|(time, records)| (time, text(records)));
        let after = after.as_ref().map(|(time, text)| (*time, text.as_str()));
        target.admits_text(60, &late, (120, &text(next)), after)
    };
    let (a, d) = (job("a", "open 1"), job("d", "open 1"));
    let lost = || Err(LateReason::Lost("b".to_owned()));
    let both = [a.clone(), d.clone()];
    let again = |calls: &str| [a.clone(), d.clone(), active("b", 170, calls)];
    // Carrying keeps the sums right without further knowledge.
    assert_eq!(admits(&both, None), Ok(()));
    // It was skipped.
    assert_eq!(admits(&both, Some((180, &again("open 9")))), Ok(()));
    assert_eq!(admits(&both, Some((180, &both))), lost());
    assert_eq!(admits(&both, Some((180, &again("open 4")))), lost());
    // Lustre may have dropped it by now, and so it may have been skipped only if it drops others, too.
    assert_eq!(admits(&both, Some((700, &both))), lost());
    assert_eq!(admits(&both, Some((700, &both[..1]))), Ok(()));
    assert_eq!(admits(&again("open 4"), None), fell("b"));
    assert_eq!(admits(&again("open 9"), None), Ok(()));
    // The target was reset, or the opposite is not proven.
    let restarted = [job("a", "open 0"), d.clone()];
    assert_eq!(admits(&restarted, Some((180, &both))), Ok(()));
    assert_eq!(admits(&both, Some((180, &restarted))), Ok(()));
    assert_eq!(admits(&[], Some((180, &both))), Ok(()));
    // Lustre may drop it before the text that lacks it.
    let idle = text(&[a.clone(), d.clone(), active("b", -500, "open 9")]);
    let both = text(&both);
    assert_eq!(
        target.admits_text(60, &idle, (120, &both), Some((180, &both))),
        Ok(())
    );
}
