//! Laws of sums, of any rows.

use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;

/// Rows of three entries on three targets, each in a span of at most an hour.
fn rows() -> impl Strategy<Value = Vec<Done>> {
    let row = (1..=3i32, 1..=3i64, 0..HOUR, 1..HOUR, 0..1i64 << 53);
    let row = row.prop_map(|(target, entry, since, length, value)| {
        let span = (since, (since + length).min(HOUR));
        (target, entry, span, vec![value])
    });
    prop::collection::vec(row, 0..30)
}

/// Instants inside of an hour, in order.
fn instants() -> impl Strategy<Value = Vec<Micros>> {
    prop::collection::btree_set(1..HOUR, 0..6).prop_map(|it| it.into_iter().collect())
}

fn totals(edges: &[Micros], rows: &[Done]) -> Vec<(usize, String, Option<i128>)> {
    Case::new(edges, &["uid"], &["read_bytes"]).totals(rows)
}

/// The sums by name, whatever the steps.
fn sums(totals: &[(usize, String, Option<i128>)]) -> Vec<(String, i128)> {
    let mut sums = std::collections::BTreeMap::new();
    for (_, name, total) in totals {
        *sums.entry(name.clone()).or_default() += total.unwrap();
    }
    sums.into_iter().filter(|it| it.1 != 0).collect()
}

proptest! {
    #[test]
    fn any_steps_add_up_to_the_whole(rows in rows(), inner in instants()) {
        let edges = [vec![0], inner, vec![HOUR]].concat();
        prop_assert_eq!(sums(&totals(&edges, &rows)), sums(&totals(&[0, HOUR], &rows)));
    }

    #[test]
    fn the_order_of_rows_does_not_matter((rows, other) in rows().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle()))) {
        let case = Case::new(&[0, HOUR / 3, HOUR], &["target", "uid"], &["read_bytes"]);
        let amounts = |rows: &[Done]| -> Vec<_> {
            case.answer(rows).into_iter().map(|(step, values, line)| (step, values, line.amounts)).collect()
        };
        prop_assert_eq!(amounts(&rows), amounts(&other));
    }

    /// A total is the sum of the parts of rows, each rounded down at both ends; a rate is it per second observed.
    #[test]
    fn totals_and_rates_are_those_of_exact_fractions(rows in rows(), (from, length) in (0..HOUR / 2, 1..HOUR / 2)) {
        let until = from + length;
        let mut case = Case::new(&[from, until], &["uid"], &["read_bytes"]);
        let observed = [length, (length / 3).max(1), length / 2];
        for (target, observed) in case.targets.iter_mut().zip(observed) {
            target.spans = vec![(from - 1, from + observed)];
        }
        let up_to = |value: i64, (since, time): Span, at: Micros| {
            BigInt::from(value) * (at.clamp(since, time) - since) / (time - since)
        };
        for (_, values, line) in case.answer(&rows) {
            let (mut total, mut numerator, mut denominator) = (BigInt::from(0), BigInt::from(0), BigInt::from(1));
            for (target, entry, span, value) in &rows {
                if values[0].as_deref() == Some(&(1000 + entry).to_string()) {
                    let part = up_to(value[0], *span, until) - up_to(value[0], *span, from);
                    let observed = observed[*target as usize - 1];
                    total += &part;
                    if observed > 0 {
                        numerator = numerator * observed + part * 1_000_000 * &denominator;
                        denominator *= observed;
                    }
                }
            }
            prop_assert_eq!(line.total().map(BigInt::from), Some(total));
            // Within a few units in the last place.
            let rate = line.amounts[0].rate.unwrap_or(0.0);
            let scaled = BigInt::from((rate * 1e6) as i128) * &denominator;
            let exact = numerator * 1_000_000;
            let error = if scaled > exact { scaled - &exact } else { &exact - scaled };
            prop_assert!(error <= &exact / 1_000_000_000_000_i64 + &denominator * 2);
        }
    }

    #[test]
    fn filters_let_through_what_they_match(rows in rows(), uid in 1001..=1003i64, excludes: bool) {
        let mut case = Case::new(&[0, HOUR], &["uid"], &["read_bytes"]);
        let all = case.totals(&rows);
        let wanted = Matcher::of(dimension("uid"), &uid.into()).unwrap();
        case.conditions.list = vec![Condition::new(dimension("uid"), wanted, [], excludes)];
        let expected = all.into_iter().filter(|it| (it.1 == uid.to_string()) != excludes);
        prop_assert_eq!(case.totals(&rows), expected.collect::<Vec<_>>());
    }
}
