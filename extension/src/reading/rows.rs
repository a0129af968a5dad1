//! The rows of `increments` that lie in a window, or reach into it.
//!
//! A row that lies inside of one step counts as it is, at no cost; only of the others, those that cross an edge, the part
//! is computed. No row is longer than an hour, so that its own time bounds the search.

use crate::reading::measure::Sum;

/// Rows with `step`, `target_id`, `entry_id`, `observed` and `value_n` for each of the sums, as a SELECT. See
/// [`crate::reading::statement`] for the parameters.
pub fn in_window(sums: &[Sum], steps: usize, schema: &str) -> String {
    let rows = Rows { sums, schema };
    if steps == 1 {
        rows.of_one_step()
    } else {
        rows.of_steps(steps)
    }
}

/// The step that the first instant of a row of this table lies in: 0 before the window.
pub fn first_step(table: &str) -> String {
    format!("width_bucket({table}.since, $6)")
}

/// The step that the last instant of a row lies in. An instant on an edge belongs to the step that ends there.
pub fn last_step(table: &str) -> String {
    format!("width_bucket({table}.\"time\" - interval '1 microsecond', $6)")
}

struct Rows<'a> {
    sums: &'a [Sum],
    schema: &'a str,
}

impl Rows<'_> {
    /// Three searches: what lies inside, what crosses the start, what else crosses the end.
    fn of_one_step(&self) -> String {
        let (whole, part) = (self.whole("1"), self.part("1", "$1", "$2"));
        let table = "FROM jobstats.increments i WHERE";
        format!(
            "{whole} {table} i.\"time\" > $1 AND i.\"time\" <= $2 AND i.since >= $1 \
             UNION ALL {part} {table} i.\"time\" > $1 AND i.\"time\" < $3 AND i.since < $1 \
             UNION ALL {part} {table} i.\"time\" > $2 AND i.\"time\" < $4 AND i.since >= $1 AND i.since < $2"
        )
    }

    fn of_steps(&self, steps: usize) -> String {
        let whole = self.whole("i.first_step");
        let part = self.part("k.step", "($6)[k.step]", "($6)[k.step + 1]");
        let from = format!(
            "FROM (SELECT i.*, {first} AS first_step, {last} AS last_step FROM jobstats.increments i \
             WHERE i.\"time\" > $1 AND i.\"time\" < $4 AND i.since < $2) i",
            first = first_step("i"),
            last = last_step("i"),
        );
        format!(
            "{whole} {from} WHERE i.first_step = i.last_step \
             UNION ALL {part} {from} CROSS JOIN LATERAL \
             generate_series(greatest(i.first_step, 1), least(i.last_step, {steps})) AS k (step) \
             WHERE i.first_step <> i.last_step"
        )
    }

    fn whole(&self, step: &str) -> String {
        self.select(step, |column| format!("i.\"{column}\""))
    }

    fn part(&self, step: &str, from: &str, until: &str) -> String {
        let schema = self.schema;
        self.select(step, |column| {
            format!("{schema}.jobstats_share(i.\"{column}\", i.since, i.\"time\", {from}, {until})")
        })
    }

    fn select(&self, step: &str, share: impl Fn(&str) -> String) -> String {
        let values = (0..).zip(self.sums);
        let values: String = values
            .map(|(n, sum)| format!(", {} AS value_{n}", value(sum, &share)))
            .collect();
        format!("SELECT {step} AS step, i.target_id, i.entry_id, i.observed{values}")
    }
}

/// What a row adds to a sum; NULL where none of the columns says anything.
fn value(sum: &Sum, share: impl Fn(&str) -> String) -> String {
    match sum.columns.as_slice() {
        [column] => share(column),
        columns => {
            let terms: Vec<String> = columns
                .iter()
                .map(|column| format!("coalesce({}, 0)", share(column)))
                .collect();
            format!("nullif({}, 0)", terms.join(" + "))
        }
    }
}
