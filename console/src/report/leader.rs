//! The user that did most in a window, with the account, the operation, the target and the job of most of that work.

use jobstats_client::answers::{Dimension, Group};
use jobstats_core::base::operation::in_service_time;
use jobstats_core::base::pattern::exactly;

use super::vocabulary::*;

/// The part of the work on one target, or by one job, from which on it is named.
const MOSTLY: f64 = 0.25;

/// The part of a user's work in one account from which on it is named.
const HALF: f64 = 0.5;

/// A name with its part of the work.
type Share = Option<(String, f64)>;

/// The user that did most.
#[derive(Default)]
pub struct Leader {
    name: String,
    share: f64,
    account: Share,
    operation: Share,
    target: Share,
    job: Share,
}

impl Leader {
    /// Loads the main users of this usage.
    pub fn ask(store: &mut Store, scope: &Scope, work: &Selection) -> Result<Option<Self>, Error> {
        let measure = scope.measure.name();
        let users = store
            .ask(&work.ranking(measure, &[Dimension::User], 1))?
            .rows;
        let Some(first) = users.first() else {
            return Ok(None);
        };
        let mut leader = Self {
            name: user(&first.labels),
            share: first.share.unwrap_or_default(),
            ..Self::default()
        };
        let Some(name) = &first.labels.user else {
            return Ok(Some(leader));
        };
        let only = Some(vec![exactly(name)]);
        let own = work.clone().part(|filters| filters.user = only);
        let mut first = |by: &[Dimension], name: fn(&Group) -> Option<String>| {
            let top = store.ask(&own.ranking(measure, by, 1))?.rows;
            let part = top.first();
            let part = part.and_then(|row| Some((name(&row.labels)?, row.share?)));
            Ok::<_, Error>(part)
        };
        leader.account = first(&[Dimension::Account], |group| group.account.clone())?;
        if work.filters.target.is_none() {
            leader.target = first(&[Dimension::Target], |group| group.target.clone())?;
        }
        leader.job = first(&[Dimension::Job, Dimension::JobName], job)?;
        leader.operation = operation(store, scope.measure, &own)?;
        Ok(Some(leader))
    }

    /// Names the user, except in the user's own report, and, as far as there is room, the operation, the target and the job of most of the
    /// work, with their parts.
    pub fn said(&self, scope: &Scope, room: usize) -> String {
        let is_named = |part: &&(String, f64), least: f64| part.1 >= least;
        let parts = [
            (&self.operation, 0.0, ""),
            (&self.target, MOSTLY, "on "),
            (&self.job, MOSTLY, "by job "),
        ];
        let parts = parts.into_iter().filter_map(|(part, least, word)| {
            let (name, share) = part.as_ref().filter(|part| is_named(part, least))?;
            Some(format!("{} {word}{}", percent(*share), shown(name)))
        });
        let parts = joined(parts.take(room));
        if scope.is_own() {
            return parts.map_or_else(String::new, |parts| format!("{parts}."));
        }
        let account = self.account.as_ref().filter(|part| is_named(part, HALF));
        let account = account.map_or_else(String::new, |(name, _)| format!(" ({})", shown(name)));
        let parts = parts.map_or_else(String::new, |parts| format!(": {parts}"));
        format!("{}{account}, {}{parts}.", self.name, percent(self.share))
    }
}

/// Returns the job of a group, with its name.
fn job(group: &Group) -> Option<String> {
    let job = shown(group.job.as_ref()?);
    Some(match group.text(Dimension::JobName) {
        Some(name) => format!("{job} ({})", cut(&shown(&name), 24)),
        None => job,
    })
}

/// Returns the operation that took most of the servers' time or, without times, the most frequent metadata request.
fn operation(store: &mut Store, measure: Measure, work: &Selection) -> Result<Share, Error> {
    let totals = match measure {
        Measure::ServiceTime => {
            let times = in_service_time().map(|it| format!("{}_time", it.name));
            work.totals(store, times)?
        }
        Measure::Metadata => work.metadata_parts(store)?,
        // Which of them are bytes needs no words.
        Measure::Bytes => return Ok(None),
    };
    let amounts = totals.rows.iter();
    let amounts = amounts.filter_map(|row| Some((row, number(row.total?))));
    let amounts: Vec<_> = amounts.collect();
    let whole: f64 = amounts.iter().map(|(_, amount)| amount).sum();
    let amounts = amounts.iter();
    let most = amounts.max_by(|one, other| one.1.total_cmp(&other.1));
    Ok(most.filter(|_| whole > 0.0).map(|(row, amount)| {
        let name = row.operation.strip_suffix("_time");
        (name.unwrap_or(&row.operation).to_owned(), amount / whole)
    }))
}

#[cfg(test)]
mod tests {
    use jobstats_client::answers::Filters;

    use super::*;
    use crate::testing::scope;

    fn leader(account: Option<f64>) -> Leader {
        Leader {
            name: "ada".to_owned(),
            share: 0.14,
            account: account.map(|share| ("physics".to_owned(), share)),
            operation: Some(("read".to_owned(), 0.45)),
            target: Some(("scratch-OST0001".to_owned(), 0.1)),
            job: Some(("11 (md)".to_owned(), 0.2)),
        }
    }

    #[test]
    fn a_leader_has_the_parts_that_are_large() {
        let scope = scope(86_400);
        let mut one = leader(Some(0.5));
        assert_eq!(one.said(&scope, 3), "ada (physics), 14 %: 45 % read.");
        one = leader(Some(0.49));
        one.target = Some(("scratch-OST0001".to_owned(), 0.9));
        one.job = Some(("11 (md)".to_owned(), 0.8));
        let said = "ada, 14 %: 45 % read, 90 % on scratch-OST0001, 80 % by job 11 (md).";
        assert_eq!(one.said(&scope, 3), said);
        let said = "ada, 14 %: 45 % read, 90 % on scratch-OST0001.";
        assert_eq!(one.said(&scope, 2), said);
        let own = Scope {
            filters: Filters {
                uid: Some(vec![1000]),
                ..Filters::default()
            },
            ..scope.clone()
        };
        let said = "45 % read, 90 % on scratch-OST0001, 80 % by job 11 (md).";
        assert_eq!(one.said(&own, 3), said);
        (one.operation, one.target, one.job) = (None, None, None);
        assert_eq!(one.said(&scope, 3), "ada, 14 %.");
    }
}
