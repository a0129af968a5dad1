//! The rows of `increments` that lie in a window, or reach into it.
//!
//! A row that lies inside of one step counts as it is, at no cost; only of the others, those that cross an edge, the part
//! is computed. No row is longer than an hour, so that its own time bounds the search.

use crate::reading::measure::Sum;

/// A search for rows of a window. See [`crate::reading::statement`] for its parameters.
pub struct Rows<'a> {
    /// What is summed.
    pub sums: &'a [Sum],
    /// Number of steps.
    pub steps: usize,
    /// The schema of our functions, quoted.
    pub schema: &'a str,
    /// Whether it matters when something was done: then there are `first` and `last`.
    pub span: bool,
    /// What rows `i` must meet besides, with a leading AND.
    pub condition: &'a str,
}

/// When the part of a row that lies in the window began, and when the entry was last active in it. The server's clock says
/// the latter: outside of the row, it is wrong.
const SPAN: &str = ", greatest(i.since, $1) AS first, greatest($1, least($2, \
    CASE WHEN i.last_active > i.since AND i.last_active < i.\"time\" THEN i.last_active ELSE i.\"time\" END)) AS last";

/// The step that the first instant of a row of this table lies in: 0 before the window.
pub fn first_step(table: &str) -> String {
    format!("width_bucket({table}.since, $6)")
}

/// The step that the last instant of a row lies in. An instant on an edge belongs to the step that ends there.
pub fn last_step(table: &str) -> String {
    format!("width_bucket({table}.\"time\" - interval '1 microsecond', $6)")
}

impl Rows<'_> {
    /// Rows with `step`, `target_id`, `entry_id`, `observed` and `value_n` for each of the sums, as a SELECT.
    pub fn in_window(&self) -> String {
        if self.steps == 1 {
            self.of_one_step()
        } else {
            self.of_steps()
        }
    }

    /// Three searches: what lies inside, what crosses the start, what else crosses the end.
    fn of_one_step(&self) -> String {
        let (whole, part) = (self.whole("1"), self.part("1", "$1", "$2"));
        let condition = self.condition;
        let table = "FROM jobstats.increments i WHERE";
        format!(
            "{whole} {table} i.\"time\" > $1 AND i.\"time\" <= $2 AND i.since >= $1{condition} \
             UNION ALL {part} {table} i.\"time\" > $1 AND i.\"time\" < $3 AND i.since < $1{condition} \
             UNION ALL {part} {table} i.\"time\" > $2 AND i.\"time\" < $4 AND i.since >= $1 AND i.since < $2{condition}"
        )
    }

    fn of_steps(&self) -> String {
        let whole = self.whole("i.first_step");
        let part = self.part("k.step", "($6)[k.step]", "($6)[k.step + 1]");
        let from = format!(
            "FROM (SELECT i.*, {first} AS first_step, {last} AS last_step FROM jobstats.increments i \
             WHERE i.\"time\" > $1 AND i.\"time\" < $4 AND i.since < $2{condition}) i",
            condition = self.condition,
            first = first_step("i"),
            last = last_step("i"),
        );
        format!(
            "{whole} {from} WHERE i.first_step = i.last_step \
             UNION ALL {part} {from} CROSS JOIN LATERAL \
             generate_series(greatest(i.first_step, 1), least(i.last_step, {steps})) AS k (step) \
             WHERE i.first_step <> i.last_step",
            steps = self.steps,
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
        let span = if self.span { SPAN } else { "" };
        format!("SELECT {step} AS step, i.target_id, i.entry_id, i.observed{values}{span}")
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
