//! The user that did most in a window, with the account, the operation, the target and the job of most of that work.

use jobstats_client::answers::{Dimension, Group};
use jobstats_core::base::operation::in_service_time;
use jobstats_core::base::pattern::exactly;

use super::vocabulary::*;

/// The part of the work on one target, or by one job, from which on it is named.
const MOSTLY: f64 = 0.25;

/// The part of a user's work in one account from which on it is named without the part.
const NEARLY_ALL: f64 = 0.75;

/// The part of a user's work in one account from which on it is named with the part.
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

    /// Returns the name, with the account that the user mostly worked for, if there is one.
    fn named(&self) -> String {
        let name = &self.name;
        match &self.account {
            Some((account, NEARLY_ALL..)) => format!("{name} ({})", shown(account)),
            Some((account, share @ HALF..)) => {
                format!("{name} ({} of it in {})", percent(*share), shown(account))
            }
            _ => name.clone(),
        }
    }

    /// Names the main operation, target and job of the user.
    fn work(&self, scope: &Scope) -> String {
        let mut parts = Vec::new();
        if let Some((name, share)) = &self.operation {
            parts.push((
                *share,
                match (scope.measure, name.as_str()) {
                    (Measure::ServiceTime, "read") => "went to reads".to_owned(),
                    (Measure::ServiceTime, "write") => "went to writes".to_owned(),
                    (Measure::ServiceTime, name) => format!("went to {name} requests"),
                    (_, name) => format!("were {name} requests"),
                },
            ));
        }
        if let Some((name, share @ MOSTLY..)) = &self.target {
            parts.push((*share, format!("fell on {}", shown(name))));
        }
        if let Some((job, share @ MOSTLY..)) = &self.job {
            parts.push((*share, format!("came from job {job}")));
        }
        let said = |(share, part): &(f64, String)| format!("{} {part}", percent(*share));
        let mut said: Vec<_> = parts.iter().map(said).collect();
        let of = match scope.measure {
            Measure::ServiceTime => "that user's server time",
            Measure::Metadata => "that user's metadata requests",
            Measure::Bytes => "that user's bytes",
        };
        if let (Some(first), Some((share, part))) = (said.first_mut(), parts.first()) {
            *first = format!("{} of {of} {part}", percent(*share));
        }
        if let Some((_, ..MOSTLY)) = &self.target {
            said.push(match said.is_empty() {
                true => format!("{of} spread over many targets"),
                false => "spread over many targets".to_owned(),
            });
        }
        joined(said.into_iter()).map_or_else(String::new, |said| format!("; {said}"))
    }

    /// Names the main user of a span, with shares; in a user's report only the shares.
    pub fn of_span(&self, scope: &Scope) -> String {
        let (share, work) = (percent(self.share), self.work(scope));
        match work.strip_prefix("; ") {
            Some(parts) if scope.is_own() => format!("{parts}."),
            _ => format!("{share} by {}{work}.", self.named()),
        }
    }

    /// Names the main user of the window in few words; in a user's report, what the user mostly did.
    pub fn of_window(&self, scope: &Scope) -> String {
        let mut mostly = Vec::new();
        mostly.extend(self.operation.as_ref().map(|(name, _)| format!(" {name}")));
        let target = self.target.as_ref().filter(|(_, share)| *share >= MOSTLY);
        mostly.extend(target.map(|(name, _)| format!(" on {}", shown(name))));
        let mostly = match mostly.is_empty() {
            true => String::new(),
            false => format!(", mostly{}", mostly.concat()),
        };
        let account = self.account.as_ref().filter(|(_, share)| *share >= HALF);
        let account = account.map_or_else(String::new, |(name, _)| format!(" ({})", shown(name)));
        match scope.is_own() {
            true => format!("The user's own work{mostly}."),
            false => format!(
                "Largest user: {}{account}, {}{mostly}.",
                self.name,
                percent(self.share)
            ),
        }
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
            work.totals(store, &times.collect::<Vec<_>>())?
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
    fn an_account_is_named_for_the_part_that_it_has() {
        assert_eq!(leader(Some(0.75)).named(), "ada (physics)");
        assert_eq!(leader(Some(0.6)).named(), "ada (60 % of it in physics)");
        assert_eq!(leader(Some(0.49)).named(), "ada");
        assert_eq!(leader(None).named(), "ada");
    }

    #[test]
    fn a_leader_is_said_with_what_is_known() {
        let scope = scope(86_400);
        assert_eq!(
            leader(Some(0.9)).of_window(&scope),
            "Largest user: ada (physics), 14 %, mostly read."
        );
        let mut one = leader(None);
        (one.target, one.job) = (
            Some(("scratch-OST0001".to_owned(), 0.9)),
            Some(("11 (md)".to_owned(), 0.8)),
        );
        assert_eq!(
            one.of_span(&scope),
            "14 % by ada; 45 % of that user's server time went to reads, 90 % fell on scratch-OST0001, 80 % came from job 11 (md)."
        );
        let said = "Largest user: ada, 14 %, mostly read on scratch-OST0001.";
        assert_eq!(one.of_window(&scope), said);
        one.operation = Some(("getattr".to_owned(), 0.45));
        let without_times = Scope {
            measure: Measure::Metadata,
            ..scope.clone()
        };
        assert!(
            one.of_span(&without_times)
                .contains("45 % of that user's metadata requests were getattr requests, 90 %")
        );
        (one.operation, one.target, one.job) = (None, None, None);
        assert_eq!(one.of_span(&scope), "14 % by ada.");
    }
}
