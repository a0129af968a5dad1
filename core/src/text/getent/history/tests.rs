use proptest::prelude::*;

use super::*;
use crate::base::instant::HOUR;

/// Days, and the names in texts of these days.
type Texts = Vec<(i64, u8)>;

fn history(texts: impl IntoIterator<Item = (i64, u8)>) -> History {
    let mut history = History::default();
    for (day, name) in texts {
        history.add(named(name), day * DAY + HOUR);
    }
    history
}

fn named(name: u8) -> Name {
    Name::of(&char::from(name).to_string(), Some(i64::from(name) % 2))
}

fn shown(history: &History) -> Vec<(&str, i64)> {
    let runs = history.runs.iter();
    runs.map(|run| (run.name.name.as_str(), run.since / DAY))
        .collect()
}

/// Returns the name of a day.
fn on(history: &History, day: i64) -> &str {
    let runs = &history.runs;
    let run = runs.iter().rfind(|run| run.since <= day * DAY);
    run.or(runs.first())
        .map_or("", |run| run.name.name.as_str())
}

#[test]
fn a_name_counts_from_the_day_of_its_text_on() {
    let texts = [(1, b'a'), (2, b'a'), (5, b'b')];
    assert_eq!(shown(&history(texts)), [("a", 1), ("b", 5)]);
}

#[test]
fn another_group_is_another_name() {
    let mut history = History::default();
    history.add(Name::of("ada", Some(100)), DAY);
    history.add(Name::of("ada", Some(200)), 3 * DAY);
    assert_eq!(shown(&history), [("ada", 1), ("ada", 3)]);
    assert_eq!(history.runs[0].name.gid, Some(100));
}

#[test]
fn an_unknown_group_becomes_known_without_history() {
    let before = Run {
        name: Name::of("ada", None),
        since: Micros::MIN,
        seen: Micros::MIN,
    };
    let mut history = History { runs: vec![before] };
    history.add(Name::of("ada", Some(100)), DAY);
    let after = Run {
        name: Name::of("ada", Some(100)),
        since: Micros::MIN,
        seen: DAY,
    };
    assert_eq!(history.runs, [after]);
}

#[test]
fn a_name_without_a_text_ends_with_the_first_text() {
    let before = Run {
        name: named(b'a'),
        since: Micros::MIN,
        seen: Micros::MIN,
    };
    let mut history = History { runs: vec![before] };
    history.add(named(b'b'), 5 * DAY + HOUR);
    assert_eq!(on(&history, 4), "a");
    assert_eq!(on(&history, 5), "b");
    assert_eq!(history.runs[0].seen, Micros::MIN);
}

#[test]
fn of_several_texts_of_a_day_the_last_one_counts() {
    let mut history = history([(1, b'a')]);
    for (name, hour) in [(b'b', 8), (b'd', 12), (b'c', 10)] {
        history.add(named(name), 3 * DAY + hour * HOUR);
    }
    assert_eq!(shown(&history), [("a", 1), ("d", 3)]);
    // The name of the day before again changes nothing that day.
    history.add(named(b'a'), 3 * DAY + 20 * HOUR);
    assert_eq!(shown(&history), [("a", 1)]);
}

#[test]
fn a_late_text_between_two_names_begins_its_own_run() {
    let texts = [(1, b'a'), (9, b'c'), (5, b'b')];
    assert_eq!(shown(&history(texts)), [("a", 1), ("b", 5), ("c", 9)]);
    // A text with the later name begins it earlier, one with the earlier name changes nothing.
    assert_eq!(
        shown(&history([(1, b'a'), (9, b'b'), (5, b'b'), (3, b'a')])),
        [("a", 1), ("b", 5)]
    );
}

#[test]
fn a_text_from_before_all_others_begins_the_history() {
    assert_eq!(
        shown(&history([(9, b'b'), (5, b'a')])),
        [("a", 5), ("b", 9)]
    );
    assert_eq!(shown(&history([(9, b'a'), (5, b'a')])), [("a", 5)]);
}

#[test]
fn a_spool_that_comes_late_fills_the_gap() {
    let texts = [(1, b'a'), (6, b'a'), (2, b'b'), (3, b'b'), (4, b'a')];
    assert_eq!(shown(&history(texts)), [("a", 1), ("b", 2), ("a", 4)]);
}

#[test]
fn only_the_last_names_are_kept() {
    let history = history((1..=250).map(|day| (day, if day % 2 == 0 { b'a' } else { b'b' })));
    assert_eq!(history.runs.len(), RUNS_MAX);
    assert_eq!(on(&history, 250), "a");
}

/// Returns texts of different days, in which no name comes back after another one.
fn names_that_do_not_return() -> impl Strategy<Value = Texts> {
    prop::collection::vec((1..4_i64, any::<bool>()), 1..30).prop_map(|steps| {
        let (mut day, mut name) = (0, b'a');
        let text = |(days, is_other)| {
            day += days;
            name += u8::from(is_other);
            (day, name)
        };
        steps.into_iter().map(text).collect()
    })
}

/// Returns texts of different days with any names.
fn any_names() -> impl Strategy<Value = Texts> {
    let days = prop::collection::btree_map(0..60_i64, b'a'..b'e', 1..30);
    days.prop_map(|texts| texts.into_iter().collect())
}

fn with_an_order(texts: impl Strategy<Value = Texts>) -> impl Strategy<Value = (Texts, Texts)> {
    texts.prop_flat_map(|texts| (Just(texts.clone()), Just(texts).prop_shuffle()))
}

proptest! {
    /// Texts in any order, also repeated, give the same result if no name comes back.
    #[test]
    fn the_order_of_texts_does_not_matter(
        (texts, any_order) in with_an_order(names_that_do_not_return()), again in any::<prop::sample::Index>(),
    ) {
        let repeated = any_order[again.index(any_order.len())];
        let expected = history(texts);
        prop_assert_eq!(&history(any_order.into_iter().chain([repeated])), &expected);
    }

    /// In order, each text gives the name of its day, and repeating the texts changes nothing.
    #[test]
    fn each_day_has_the_name_of_its_text(texts in any_names()) {
        let history = history(texts.clone());
        for (day, name) in &texts {
            prop_assert_eq!(on(&history, *day).as_bytes(), &[*name]);
        }
        let mut again = history.clone();
        for (day, name) in texts {
            again.add(named(name), day * DAY + HOUR);
        }
        prop_assert_eq!(again, history);
    }

    /// In any order, the last text has the current name and the first text the first one; runs are in order, and adjacent ones differ.
    #[test]
    fn a_late_text_never_replaces_a_newer_one((texts, any_order) in with_an_order(any_names())) {
        let history = history(any_order);
        let (first, last) = (texts[0], texts[texts.len() - 1]);
        prop_assert_eq!(on(&history, last.0).as_bytes(), &[last.1]);
        prop_assert_eq!(on(&history, 100).as_bytes(), &[last.1]);
        prop_assert_eq!(on(&history, first.0).as_bytes(), &[first.1]);
        for pair in history.runs.windows(2) {
            prop_assert!(pair[0].since < pair[1].since && pair[0].seen < pair[1].since);
            prop_assert!(!pair[0].name.agrees(&pair[1].name));
        }
        prop_assert!(history.runs.iter().all(|run| run.since <= run.seen));
    }
}
