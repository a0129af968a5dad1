//! The totals of groups in several windows, to be compared.

use jobstats_core::base::instant::DAY;
use jobstats_core::series::typical::LEAST_COVERAGE;
use jobstats_core::usage::Times;
use jobstats_core::usage::window::Clocks;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::time::SessionClocks;
use crate::query::engine::Request;
use crate::query::labels::Group;
use crate::query::plan::Plan;
use crate::query::question::Question;
use crate::query::window::Window;
use crate::query::without_times;

/// The work of a group in a window.
pub struct GroupRates {
    /// The total in whole calls, bytes or microseconds.
    pub amount: i128,
    /// The sum of the rates of its targets, each per observed second; `None` without observations.
    pub rate: Option<f64>,
    /// The part of the time of its targets that was observed.
    pub coverage: f64,
}

/// Reads windows of a question, one after the other.
pub struct Windows<'a> {
    client: &'a SpiClient<'a>,
    question: &'a Question,
    /// Set if a notice about missing times was raised.
    lacks_times: bool,
}

impl<'a> Windows<'a> {
    /// Reads windows of this question.
    pub fn new(client: &'a SpiClient<'a>, question: &'a Question) -> Self {
        Self {
            client,
            question,
            lacks_times: false,
        }
    }

    /// Returns the plan for another window, in the same state of the store.
    pub fn plan(&self, plan: &Plan, window: Window) -> Result<Plan, Error> {
        Plan::of(self.client, self.question, window, plan.state.clone())
    }

    /// Passes the groups of a window with their usage to `each`, if at least this share was observed. Returns the coverage.
    pub fn read(
        &mut self,
        plan: &Plan,
        least: f64,
        mut each: impl FnMut(Group, GroupRates) -> Result<(), Error>,
    ) -> Result<f64, Error> {
        let question = self.question;
        let request = Request::new(self.client, question, plan)?;
        let usage = request.read()?;
        let covered = usage.scope.coverage();
        if covered < least {
            return Ok(covered);
        }
        usage.each(question.has_idle_targets(), |line| {
            // An unknown total, or 0, is no work.
            let Some(amount) = line.total().filter(|it| *it != 0) else {
                return Ok(());
            };
            let done = GroupRates {
                amount,
                rate: line.amounts[0].rate,
                coverage: line.observed.coverage,
            };
            each(usage.values(&line), done)
        })?;
        self.lacks_times =
            self.lacks_times || without_times::note(question, &usage.scope) != Times::Everywhere;
        Ok(covered)
    }

    /// Does the same with the window of a plan on so many days before, in local time, the latest first. Returns the number of the days that
    /// were observed, and the plan of the earliest of them.
    pub fn read_days_before(
        &mut self,
        plan: &Plan,
        days: i64,
        mut each: impl FnMut(Group, GroupRates) -> Result<(), Error>,
    ) -> Result<(usize, Option<Plan>), Error> {
        let (mut observed, mut earliest) = (0, None);
        for window in days_before(plan, days) {
            let plan = self.plan(plan, window)?;
            if self.read(&plan, LEAST_COVERAGE, &mut each)? >= LEAST_COVERAGE {
                observed += 1;
                earliest = Some(plan);
            }
        }
        Ok((observed, earliest))
    }
}

/// Returns the window of a plan so many days earlier. It is left out if clocks skip it, and before the first observation.
fn days_before(plan: &Plan, days: i64) -> impl Iterator<Item = Window> {
    let shown = [plan.window.since(), plan.window.until()].map(|it| SessionClocks.shown(it));
    let observed = plan.state.observed_since();
    (1..=days).filter_map(move |day| {
        let [since, until] = shown.map(|it| SessionClocks.instant(it - day * DAY));
        let is_observed = observed.is_some_and(|first| until > first);
        (since < until && is_observed).then(|| Window::whole(since, until))
    })
}
