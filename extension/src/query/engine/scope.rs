//! Finds the targets that a question is about, and whether they report times.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use jobstats_core::base::instant::{DAY, Micros};
use jobstats_core::usage::columns::sum::Sum;
use jobstats_core::usage::dimension::Level;
use jobstats_core::usage::times::reports_times;
use jobstats_core::usage::{Layout, Scope, Target};

use crate::pg::error::Error;
use crate::pg::receive::Type;
use crate::pg::spi::values;
use crate::pg::time::{EARLIEST, timestamptz};
use crate::query::engine::Request;
use crate::query::read::{self, Selection, time};
use crate::query::sources::{Part, Sources};
use crate::query::window::Window;
use crate::store::rollup;

impl Request<'_> {
    /// Finds the targets in scope: observed in the window or in the 24 hours before.
    pub fn scope(&self) -> Result<Scope, Error> {
        let plan = self.plan;
        let (since, until) = (plan.window.since(), plan.window.until());
        let day_before = since.saturating_sub(DAY).max(EARLIEST);
        let mut targets = self.targets();
        if self.question.asks_servers() {
            targets = self.by_server(targets, day_before)?;
        } else {
            for target in &mut targets {
                let known = plan.state.spans.get(&target.id).into_iter().flatten();
                let reaches = known.filter(|it| it.0 <= until && it.1 > day_before);
                target.spans = reaches.copied().collect();
                if plan.missing.contains(&target.id) {
                    target.spans.push((since, since));
                }
            }
            targets.retain(|it| !it.spans.is_empty());
        }
        let kept = plan.sources.kept();
        let edges = plan.window.edges.clone();
        Ok(Scope::new(edges, targets, kept.as_deref()))
    }

    /// Returns the targets that the filters let through.
    fn targets(&self) -> Vec<Target> {
        let since = self.plan.window.since();
        let targets = self.plan.state.targets_of(&self.question.filters);
        let in_use = targets.filter(|it| it.retired.is_none_or(|retired| retired > since));
        in_use
            .map(|it| it.grouped(self.question.by.list()))
            .collect()
    }

    /// Divides targets by the servers on which they were observed.
    fn by_server(&self, targets: Vec<Target>, day_before: Micros) -> Result<Vec<Target>, Error> {
        let ids: Vec<i32> = targets.iter().map(|it| it.id).collect();
        let ids = self.question.filters.has(Level::Target).then_some(ids);
        let [since, until] = self.plan.window.bounds()?;
        let by = self.question.by.list();
        let conditions = self.question.filters.on(Level::Server);
        let observations = read::rows(
            include_str!("../read/observations.sql"),
            &values![since, until, timestamptz(day_before)?, ids],
            &[Type::Integer, Type::Text, Type::Time, Type::Time],
            |row| {
                let until = time(row, 3)?;
                let since = time(row, 2).unwrap_or(until);
                Some(((row.integer(0)?, row.text(1)?), (since, until)))
            },
        )?;
        let mut spans: HashMap<(i64, String), Vec<_>> = HashMap::new();
        for (key, span) in observations {
            spans.entry(key).or_default().push(span);
        }
        let known: HashMap<i64, &Target> = targets.iter().map(|it| (it.id.into(), it)).collect();
        let of_servers = spans.into_iter().filter_map(|((id, server), spans)| {
            let is_wanted = conditions.iter().all(|it| it.lets(Some(&server), None));
            let target = (*known.get(&id).filter(|_| is_wanted)?).clone();
            let of_server = Target {
                server: Some(server),
                spans,
                ..target
            };
            Some(of_server.grouped(by))
        });
        Ok(of_servers.collect())
    }

    /// Returns the sources of the usage of all entries: sums by owner have fewer rows.
    pub(super) fn probed<'p>(&self, parts: &'p [Part]) -> Cow<'p, [Part]> {
        let plan = self.plan;
        if self.lasts.is_some() || self.question.needs_increments() {
            return Cow::Borrowed(parts);
        }
        let window = Window::whole(plan.window.since(), plan.window.until());
        let of_users = Sources::choose(&plan.state, &window, Some(rollup::Owner::User));
        Cow::Owned(of_users.parts)
    }

    /// Finds out from the rows of all entries which targets report times, if the selected rows do not show it.
    pub(super) fn find_times(&self, scope: &mut Scope, parts: &[Part]) -> Result<(), Error> {
        let targets = scope.iter().map(|it| it.0.id);
        let without = targets.filter(|id| !scope.times.has(*id));
        let shown = self.shown_by(without.collect(), parts, &Sum::service_time())?;
        for (target, has_times) in shown {
            scope.times.note(target, has_times);
        }
        Ok(())
    }

    /// Finds out whether targets without times have calls. A part of a row may have bytes alone.
    pub(super) fn find_calls(&self, scope: &mut Scope, parts: &[Part]) -> Result<(), Error> {
        let untimed = scope.untimed().map(|it| it.id).collect();
        let shown = self.shown_by(untimed, parts, &Sum::service_calls())?;
        let has_calls = |id| shown.get(&id) == Some(&true);
        scope.times.retain_with_calls(has_calls);
        Ok(())
    }

    /// Returns of these targets whether any row has a sum. Reads no more rows once all have shown that.
    fn shown_by(
        &self,
        mut open: HashSet<i32>,
        parts: &[Part],
        sum: &Sum,
    ) -> Result<HashMap<i32, bool>, Error> {
        let mut shown: HashMap<i32, bool> = HashMap::new();
        for part in parts {
            if open.is_empty() {
                break;
            }
            let layout = Layout::new(std::slice::from_ref(sum), part.relation.owner.is_some());
            let selection = Selection {
                targets: Some(open.iter().copied().collect()),
                ..Selection::default()
            };
            read::usage(part, &layout, &selection, &mut |row| {
                let has_any = reports_times(row.values.iter().copied());
                *shown.entry(row.target).or_default() |= has_any;
                if has_any {
                    open.remove(&row.target);
                }
                Ok(!open.is_empty())
            })?;
        }
        Ok(shown)
    }
}
