//! Measures with times of activity, and with separate nodes.

use super::*;

/// The work of a node on a target in a span: reads, bytes and microseconds.
type Done = (i32, i64, Span, [i64; 3]);

const MEASURES: [&str; 3] = ["read", "read_bytes", "read_time"];

/// Adds up usage on two targets. The first is not observed from 10 to 20. Returns the lines by key and step, each with the rates of reads of
/// its group by step.
fn answer(rows: &[Done], steps: bool, groups: bool) -> (Vec<Line>, Vec<Vec<f64>>) {
    let measures = MEASURES.map(|it| Measure::find(it).unwrap());
    let plan = MeasurePlan::new(&measures, true, true);
    let layout = Layout::new(&plan.sums, false);
    let targets = vec![target(1, &[(0, 10)]), target(2, &[(0, 20)])];
    let scope = Scope::new(vec![0, 10, 20], targets, None);
    let mut cells = Cells::new(plan.sums.len(), Activity::OfSums, 1 << 30);
    for (target, node, span, values) in rows {
        let of = |column: &String| match column.as_str() {
            "read" => values[0],
            "read_bytes" => values[1],
            "read_usecs" => values[2],
            _ => 0,
        };
        let values: Vec<i64> = layout.columns.iter().map(of).collect();
        let row = Row {
            target: scope.position(*target, None).unwrap(),
            subject: Subject::ALL,
            span: *span,
            part: (0, 20),
            active: *span,
            node: u32::try_from(*node).ok(),
            values: &values,
        };
        cells.add(&scope, &layout, &row).unwrap();
    }
    let of_steps = scope.together(false, groups);
    let scope = scope.together(steps, groups);
    let by = [dimension("target")];
    let (by, conditions) = (
        if groups { &[][..] } else { &by[..] },
        Conditions::default(),
    );
    let all = Groups::new(by, &conditions, None, &cells, 1 << 30).unwrap();
    let mut lines = Vec::new();
    let take = |line: Line| {
        lines.push(line);
        Ok::<_, UsageError>(())
    };
    all.lines(&plan, &scope, &cells, false, take).unwrap();
    lines.sort_by_key(|it| (it.group, it.step));
    let rates = all.rates_by_step(&plan, &of_steps, &cells).unwrap();
    let rates = lines.iter().map(|it| rates[&it.group][0].clone()).collect();
    (lines, rates)
}

fn lines(rows: &[Done], steps: bool, groups: bool) -> Vec<Line> {
    answer(rows, steps, groups).0
}

#[test]
fn each_measure_has_its_times_of_activity_and_its_nodes() {
    let rows = [
        (1, 1, (0, 5), [10, 0, 7]),
        (1, 2, (5, 8), [10, 100, 0]),
        (1, 2, (8, 9), [0, 0, 0]),
    ];
    let line = lines(&rows, true, true).remove(0);
    let shown = line
        .amounts
        .iter()
        .map(|it| (it.total, it.active, it.nodes));
    // Calls of zero duration are calls of these bytes and times, too.
    let expected = [20, 100, 7].map(|total| (Some(total), Some((0, 8)), 2));
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    assert_eq!(
        (
            line.nodes,
            line.amounts[1].per_call(&Measure::find("read_bytes").unwrap())
        ),
        (2, Some(5.0))
    );
}

#[test]
fn calls_do_not_count_on_a_target_where_none_took_anything() {
    let rows = [(1, 1, (0, 5), [10, 100, 0]), (2, 2, (5, 8), [30, 0, 9])];
    let line = lines(&rows, true, true).remove(0);
    let shown = line
        .amounts
        .iter()
        .map(|it| (it.total, it.calls, it.spent, it.nodes));
    let expected = [
        (Some(40), Some(40), Some(9), 2),
        (Some(100), Some(10), Some(100), 1),
        (Some(9), Some(30), Some(9), 1),
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    // 0 is no usage.
    let line = lines(&rows, true, false).remove(0);
    assert_eq!(
        (
            line.amounts[2].total,
            line.amounts[2].active,
            line.amounts[2].calls
        ),
        (None, None, None)
    );
}

#[test]
fn steps_and_groups_are_added_up_together() {
    let rows = [(1, 1, (0, 10), [4, 0, 0]), (2, 1, (0, 20), [40, 0, 0])];
    let reads = |steps, groups| -> Vec<_> {
        let lines = lines(&rows, steps, groups).into_iter();
        lines
            .map(|it| (it.amounts[0].total.unwrap(), it.observed.coverage))
            .collect()
    };
    assert_eq!(reads(false, false), [(4, 1.0), (20, 1.0), (20, 1.0)]);
    assert_eq!(reads(true, false), [(4, 0.5), (40, 1.0)]);
    assert_eq!(reads(false, true), [(24, 1.0), (20, 0.5)]);
    assert_eq!(reads(true, true), [(44, 0.75)]);
    let rate = lines(&rows, true, true)[0].amounts[0].rate;
    assert_eq!(rate, Some(2.4e6));
}

#[test]
fn rates_by_step_are_those_of_steps_in_which_a_target_was_observed() {
    let rows = [(1, 1, (0, 10), [4, 0, 0]), (2, 1, (10, 20), [40, 0, 0])];
    // A group is idle in some steps, and unobserved in others.
    assert_eq!(answer(&rows, true, false).1, [vec![4e5], vec![0.0, 4e6]]);
    assert_eq!(answer(&rows, true, true).1, [[4e5, 4e6]]);
    // Unobserved usage has no rate.
    assert_eq!(
        answer(&[(1, 1, (10, 20), [4, 0, 0])], true, false).1,
        [[0.0]]
    );
}
