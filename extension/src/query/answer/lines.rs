//! Writes the groups of a question as the rows of its function.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use allocator_api2::alloc::Global;
use jobstats_core::base::instant::Micros;
use jobstats_core::output::quantity::Quantity;
use jobstats_core::series::density::Density;
use jobstats_core::usage::{Leading, Line, leading};
use pgrx::pg_sys::Datum;
use pgrx::spi::SpiClient;
use pgrx::{AnyNumeric, IntoDatum};

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::{lacks, number, require_more};
use crate::query::engine::Usage;
use crate::query::labels::{Group, Labels, covered, formatted, rounded};
use crate::query::plan::Plan;
use crate::query::question::{AnswerShape, Question, SUMMARY};
use crate::query::target_counters::TargetCounters;
use crate::query::window::ROW_LIMIT;

/// The rows of the answer to a question.
pub struct AnswerRows<'o> {
    pub client: &'o SpiClient<'o>,
    pub question: &'o Question,
    pub plan: &'o Plan,
    pub usage: &'o Usage<'o>,
    pub rows: &'o mut Rows,
    /// The number of rows of other questions that are written already.
    pub before: usize,
}

/// A group in a step. Each of its measures has a row.
struct GroupRow<'s> {
    line: &'s Line,
    group: Group,
    /// The start of the step, and its width in seconds.
    step: (Micros, f64),
    leading: Option<&'s Leading>,
}

/// The values that are the same for all groups.
struct SharedValues<'w> {
    question: &'w Question,
    labels: Labels,
    /// By measure: the sum over all groups.
    sums: Vec<i128>,
    counters: Option<TargetCounters>,
}

impl AnswerRows<'_> {
    /// Writes the groups of the question.
    pub fn write(&mut self) -> Result<(), Error> {
        match self.question.wanted {
            AnswerShape::Top {
                n,
                min_rate,
                untracked,
            } => self.write_top(n, min_rate, untracked),
            AnswerShape::Densities { base } => self.write_densities(base),
            AnswerShape::Leading => self.write_leading(),
            _ => self.write_all(),
        }
    }

    fn write_all(&mut self) -> Result<(), Error> {
        let (question, usage) = (self.question, self.usage);
        let mut lines = Vec::new();
        usage.each(question.has_idle_targets(), |line| {
            if lines.len() >= ROW_LIMIT {
                return Err(Error::TooManyRows);
            }
            lines.push(line);
            Ok(())
        })?;
        lines.sort_by(|one, other| {
            let by_step = one.step.cmp(&other.step);
            by_step.then_with(|| usage.compare(one, other))
        });
        let rows = match question.wanted.has_row_per_measure() {
            true => question.measures.list.len(),
            false => 1,
        };
        let totals = |n: usize| lines.iter().filter_map(move |it| it.amounts[n].total);
        // Unless measures were named one by one, only measures that occur are shown.
        let is_wanted = |n: usize| !question.measures.all || totals(n).any(|it| it != 0);
        let wanted: Vec<bool> = (0..rows).map(is_wanted).collect();
        let sums = (0..rows).map(|n| totals(n).sum()).collect();
        let is_shown = |n: usize, line: &Line| question.is_shown(n, line, wanted[n]);
        let lines = lines.iter().map(|it| (it, None));
        self.write_lines(lines, (sums, None), is_shown)
    }

    fn write_top(&mut self, n: usize, min_rate: Option<f64>, untracked: bool) -> Result<(), Error> {
        let (question, usage) = (self.question, self.usage);
        let n = n.min(ROW_LIMIT + 1);
        let order = |one: &Line, other: &Line| {
            let by_total = other.total().cmp(&one.total());
            by_total.then_with(|| usage.compare(one, other))
        };
        let (mut sum, mut best) = (0_i128, Vec::new());
        usage.each(question.has_idle_targets(), |line| {
            let Some(total) = line.total().filter(|it| *it != 0) else {
                return Ok(());
            };
            sum += total;
            let rate = line.amounts[0].rate;
            if min_rate.is_none_or(|least| rate.is_some_and(|rate| rate >= least)) {
                best.push(line);
                if best.len() > 2 * n + 100 {
                    best.select_nth_unstable_by(n, order);
                    best.truncate(n);
                }
            }
            Ok(())
        })?;
        best.sort_by(order);
        best.truncate(n);
        let counters = TargetCounters::find(self.client, question, self.plan, untracked)?;
        let lines = best.iter().map(|it| (it, None));
        self.write_lines(lines, (vec![sum], counters), |_, _| true)
    }

    /// Writes the number of groups per step that have a rate in each bucket.
    fn write_densities(&mut self, base: i32) -> Result<(), Error> {
        let mut steps: BTreeMap<usize, Density> = BTreeMap::new();
        let idle = self.question.has_idle_targets();
        self.usage.each(idle, |line| {
            if let Some(rate) = line.amounts[0].rate.filter(|it| *it > 0.0) {
                let density = match steps.entry(line.step) {
                    Entry::Occupied(it) => it.into_mut(),
                    Entry::Vacant(it) => it.insert(Density::new_in(base, Global)?),
                };
                density.push(rate)?;
            }
            Ok(())
        })?;
        for (step, density) in steps {
            let time = timestamptz(self.plan.window.edges[step])?;
            let edges = density.edges();
            for it in density.buckets() {
                require_more(self.rows)?;
                let count = i64::try_from(it.count).map_err(Error::damaged_value)?;
                let (lower, upper) = (edges.lower(it.bucket), edges.upper(it.bucket));
                self.rows.put(|| {
                    [
                        time.cell(),
                        it.bucket.cell(),
                        lower.cell(),
                        upper.cell(),
                        count.cell(),
                    ]
                });
            }
        }
        Ok(())
    }

    fn write_leading(&mut self) -> Result<(), Error> {
        let usage = self.usage;
        let mut lines = Vec::new();
        usage.each(true, |line| {
            lines.push(line);
            Ok(())
        })?;
        let unit = self.question.measures.list[0].unit();
        let leading = leading(&usage.groups, &usage.scope, lines, unit);
        let lines = leading.iter().map(|it| (&it.line, Some(it)));
        self.write_lines(lines, (vec![0], None), |_, _| true)
    }

    /// Writes a row for each measure of a group that is shown, and the rows of untracked work.
    fn write_lines<'l>(
        &mut self,
        lines: impl Iterator<Item = (&'l Line, Option<&'l Leading>)> + Clone,
        (sums, counters): (Vec<i128>, Option<TargetCounters>),
        is_shown: impl Fn(usize, &Line) -> bool,
    ) -> Result<(), Error> {
        let question = self.question;
        let groups = lines.clone().map(|it| self.usage.values(it.0));
        let groups: Vec<Group> = groups.collect();
        let columns = self.rows.columns();
        let whole = SharedValues {
            question,
            labels: Labels::new(self.client, question.by.clone(), groups.iter())?,
            sums,
            counters,
        };
        for ((line, leading), group) in lines.zip(groups) {
            let shown = GroupRow {
                line,
                group,
                step: self.plan.window.step(line.step),
                leading,
            };
            for n in (0..whole.sums.len()).filter(|n| is_shown(*n, line)) {
                pause();
                require_more(self.rows)?;
                let rank = (self.rows.len - self.before) as i64 + 1;
                let values = self.rows.within(|| {
                    let values = columns.iter();
                    let values = values.map(|it| whole.value(&shown, n, &it.name, rank));
                    values.collect::<Result<Vec<_>, Error>>()
                })?;
                self.rows.put_row(&values);
            }
        }
        if let Some(counters) = &whole.counters {
            let (_, seconds) = self.plan.window.step(0);
            counters.write(&question.measures.list[0], seconds, self.rows)?;
        }
        Ok(())
    }
}

/// The dimensions of the labels, and of the name of who leads, on a target of [`AnswerShape::Leading`].
const OF_LEADING: &[&str] = &["cluster", "target", "user", "uid", "workload", "account"];
const OF_LEADER: &[&str] = &["user", "workload"];
const OF_TARGET: &[&str] = &["cluster", "target"];

impl SharedValues<'_> {
    /// Returns the value of a column.
    fn value(
        &self,
        shown: &GroupRow<'_>,
        n: usize,
        column: &str,
        rank: i64,
    ) -> Result<Option<Datum>, Error> {
        let measure = &self.question.measures.list[n];
        let (line, amount) = (shown.line, &shown.line.amounts[n]);
        let as_float = |it: Option<i128>| it.map(|it| it as f64 / measure.unit() as f64);
        let time = |it: Option<Micros>| it.map(timestamptz).transpose();
        let (by, part) = (&self.question.by, as_float(amount.total));
        let of_target = |it: &TargetCounters| it.share(by, &shown.group, part);
        let leading = shown.leading;
        let rate = leading.map_or(amount.rate, |it| it.rate);
        let leads = leading.is_some_and(|it| it.share.is_some());
        let leader = || self.labels.name(&shown.group, Some(OF_LEADER));
        if let Some(place) = SUMMARY.iter().position(|it| it.0 == column) {
            let measure = &self.question.measures.list[place];
            return Ok(number(measure, line.amounts[place].total)?.into_datum());
        }
        Ok(match column {
            "name" => self.labels.name(&shown.group, None).into_datum(),
            // Null would be a leader without a user.
            "labels" => {
                let which = leading.map(|_| if leads { OF_LEADING } else { OF_TARGET });
                self.labels.labels(&shown.group, which).into_datum()
            }
            "formatted" => {
                let (number, quantity) = match self.question.wanted {
                    AnswerShape::Rates | AnswerShape::Leading => (rate, Quantity::Rate),
                    _ => (as_float(amount.total), Quantity::Total),
                };
                formatted(number, &measure.name, quantity).into_datum()
            }
            "share" => {
                let share = amount.total.map(|it| it as f64 / self.sums[n] as f64);
                share.filter(|it| it.is_finite()).map(rounded).into_datum()
            }
            "share_of_target" => self.counters.as_ref().and_then(of_target).into_datum(),
            "time" => timestamptz(shown.step.0)?.into_datum(),
            "seconds" => shown.step.1.into_datum(),
            "coverage" => covered(line.observed.coverage).into_datum(),
            "operation" => measure.name.as_str().into_datum(),
            "rank" => rank.into_datum(),
            "total" => number(measure, amount.total)?.into_datum(),
            "rate" => rate.into_datum(),
            "calls" => amount.calls.map(AnyNumeric::from).into_datum(),
            "per_call" => amount.per_call(measure).into_datum(),
            "nodes" => i64::try_from(line.nodes).ok().into_datum(),
            "busiest_target" => line.busiest.as_deref().into_datum(),
            "first" => time(line.active.map(|it| it.0))?.into_datum(),
            "last_active" => time(line.active.map(|it| it.1))?.into_datum(),
            "target" | "kind" => self.labels.value(&shown.group, column).into_datum(),
            "ratio" => leading.and_then(|it| it.ratio).into_datum(),
            "leader" => leads.then(leader).into_datum(),
            "leader_share" => leading.and_then(|it| it.share).map(rounded).into_datum(),
            name => return Err(lacks(name)),
        })
    }
}
