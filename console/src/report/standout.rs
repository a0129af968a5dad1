//! The spans in which the load stands out, and who made it: sentences with the numbers that prove them.

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{Dimension, Filters, Group, Top, TopRow, Totals, Window};
use jobstats_core::operation::{Kind, OPERATIONS};
use jobstats_core::quantity::Quantity;

use super::load::Load;
use super::{Scope, by_user, of_user, user};
use crate::chart::line::{Mark, Point};
use crate::html::Block;
use crate::inquiry::Error;
use crate::number::Number;
use crate::store::Store;
use crate::subject::number;
use crate::text::{cut, shown};
use crate::when::Clock;

/// The largest number of spans.
const SPANS: usize = 3;

/// The ratio to the median from which on a load stands out.
const RATIO: f64 = 2.0;

/// The part of the work on one target, or by one job, from which on it is named.
const MOSTLY: f64 = 0.25;

/// A window.
type Span = (Timestamp, Timestamp);

/// The spans that stand out, in the order of time.
pub struct Spans {
    spans: Vec<Span>,
    sentences: Vec<String>,
    /// The number of the span that stands out most.
    most: Option<usize>,
}

/// A span with the work above the median in it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct High {
    span: Span,
    excess: f64,
    mean: f64,
}

/// Returns the spans in which the load is over twice its median, those with most work above it first.
fn high(points: &[Point]) -> (f64, Vec<High>) {
    let mut known: Vec<_> = points.iter().filter_map(|point| point.rate).collect();
    known.sort_by(f64::total_cmp);
    let median = known.get(known.len() / 2).copied().unwrap_or(0.0);
    let mut out: Vec<(Span, f64, f64, f64)> = Vec::new();
    for point in points {
        let Some(rate) = point
            .rate
            .filter(|rate| *rate > RATIO * median && *rate > 0.0)
        else {
            continue;
        };
        let width = SignedDuration::try_from_secs_f64(point.seconds).unwrap_or_default();
        let end = point.time.saturating_add(width).unwrap_or(point.time);
        let excess = (rate - median) * point.seconds;
        match out.last_mut() {
            // A step between two high ones does not make them two spans.
            Some((span, total, work, seconds))
                if point.time.duration_since(span.1).as_secs_f64() <= point.seconds =>
            {
                span.1 = end;
                *total += excess;
                *work += rate * point.seconds;
                *seconds += point.seconds;
            }
            _ => out.push((
                (point.time, end),
                excess,
                rate * point.seconds,
                point.seconds,
            )),
        }
    }
    let high = out.into_iter().map(|(span, excess, work, seconds)| High {
        span,
        excess,
        mean: work / seconds,
    });
    let mut high: Vec<_> = high.collect();
    high.sort_by(|one, other| other.excess.total_cmp(&one.excess));
    high.truncate(SPANS);
    (median, high)
}

/// The user that did most in a window, with what and where.
struct Leader {
    name: String,
    share: f64,
    account: Option<String>,
    operation: Option<(String, f64)>,
    target: Option<(String, f64)>,
    job: Option<(String, f64)>,
}

impl Leader {
    /// Asks for it.
    fn ask(store: &mut Store, scope: &Scope, span: Span) -> Result<Option<Self>, Error> {
        let filters = scope.filters();
        let users = top(store, scope, span, by_user(), &filters)?;
        let Some(first) = users.first() else {
            return Ok(None);
        };
        let mut leader = Self {
            name: user(&first.group),
            share: first.share.unwrap_or_default(),
            account: None,
            operation: None,
            target: None,
            job: None,
        };
        let Some(filters) = of_user(&filters, &first.group) else {
            return Ok(Some(leader));
        };
        let accounts = top(store, scope, span, vec![Dimension::Account], &filters)?;
        leader.account = accounts.first().and_then(|row| row.group.account.clone());
        let targets = top(store, scope, span, vec![Dimension::Target], &filters)?;
        let target = targets.first();
        leader.target = target.and_then(|row| Some((row.group.target.clone()?, row.share?)));
        let by = vec![Dimension::Job, Dimension::JobName];
        let jobs = top(store, scope, span, by, &filters)?;
        leader.job = jobs
            .first()
            .and_then(|row| Some((job(&row.group)?, row.share?)));
        leader.operation = operation(store, scope, span, filters)?;
        Ok(Some(leader))
    }

    /// Returns the name, with the account.
    fn who(&self) -> String {
        match &self.account {
            Some(account) => format!("{} ({})", self.name, shown(account)),
            None => self.name.clone(),
        }
    }

    /// Says who it was and, as far as that is known, with what and where. `whole` says of what the share is.
    fn said(&self, whole: &str) -> String {
        let part = |part: f64| Number::percent(Some(part)).text();
        let mut said = vec![format!("{}{whole} by {}", part(self.share), self.who())];
        if let Some((name, share)) = &self.operation {
            said.push(format!("{} of that with {name}", part(*share)));
        }
        match &self.target {
            Some((name, share)) if *share >= MOSTLY => {
                said.push(format!("{} on {}", part(*share), shown(name)));
            }
            Some(_) => said.push("spread over many targets".to_owned()),
            None => {}
        }
        if let Some((job, share)) = self.job.as_ref().filter(|(_, share)| *share >= MOSTLY) {
            said.push(format!("{} by job {job}", part(*share)));
        }
        said.join(", ")
    }
}

/// Returns the job of a row, with its name.
fn job(group: &Group) -> Option<String> {
    let job = shown(group.job.as_ref()?);
    Some(match &group.job_name {
        Some(name) => format!("{job} ({})", cut(&shown(name), 24)),
        None => job,
    })
}

fn top(
    store: &mut Store,
    scope: &Scope,
    span: Span,
    by: Vec<Dimension>,
    filters: &Filters,
) -> Result<Vec<TopRow>, Error> {
    let top = store.ask(&Top {
        window: Window::new(span.0, span.1),
        operation: Some(scope.measure.to_owned()),
        by: Some(by),
        n: Some(1),
        filters: filters.clone(),
        ..Top::default()
    })?;
    Ok(top.rows)
}

/// Returns the operation that took most of the servers' time or, without times, the most frequent metadata request.
fn operation(
    store: &mut Store,
    scope: &Scope,
    span: Span,
    filters: Filters,
) -> Result<Option<(String, f64)>, Error> {
    let is_timed = scope.measure == "service_time";
    let names = OPERATIONS.iter().filter(|operation| match is_timed {
        true => operation.kind == Kind::Requests && operation.doubles.is_none(),
        false => operation.metadata,
    });
    let names = names.map(|operation| match is_timed {
        true => format!("{}_time", operation.name),
        false => operation.name.to_owned(),
    });
    let totals = store.ask(&Totals {
        window: Window::new(span.0, span.1),
        operations: Some(names.collect()),
        by: Some(Vec::new()),
        filters,
    })?;
    let amounts = totals
        .rows
        .iter()
        .filter_map(|row| Some((row, number(row.total?))));
    let amounts: Vec<_> = amounts.collect();
    let whole: f64 = amounts.iter().map(|(_, amount)| amount).sum();
    let most = amounts
        .iter()
        .max_by(|one, other| one.1.total_cmp(&other.1));
    Ok(most.filter(|_| whole > 0.0).map(|(row, amount)| {
        let name = row
            .operation
            .strip_suffix("_time")
            .unwrap_or(&row.operation)
            .to_owned();
        (name, amount / whole)
    }))
}

/// Finds what stands out, and asks who made it.
pub fn ask(store: &mut Store, scope: &Scope, load: &Load, clock: &Clock) -> Result<Spans, Error> {
    let (median, mut high) = high(&load.now);
    let first = high.first().copied();
    high.sort_by_key(|high| high.span.0);
    let mut sentences = Vec::new();
    for high in &high {
        let leader = Leader::ask(store, scope, high.span)?;
        let mut sentence = format!(
            "{} to {}: {} {}",
            clock.within(high.span.0, scope.window),
            clock.within(high.span.1, scope.window),
            scope.rate(Some(high.mean)),
            scope.words(),
        );
        if median > 0.0 {
            let ratio = Number::of(Some(high.mean / median), "service_time", Quantity::Rate).text();
            sentence.push_str(&format!(", {ratio} times the median of this window"));
        }
        if let Some(leader) = leader {
            sentence.push_str(&format!(". {}", leader.said("")));
        }
        sentence.push('.');
        sentences.push(sentence);
    }
    let most = first.and_then(|first| high.iter().position(|high| *high == first));
    Ok(Spans {
        spans: high.iter().map(|high| high.span).collect(),
        sentences,
        most,
    })
}

impl Spans {
    /// Returns the marks for a chart.
    pub fn marks(&self) -> Vec<Mark> {
        let spans = self.spans.iter().enumerate();
        let mark = |(place, span): (usize, &Span)| Mark {
            number: place + 1,
            span: *span,
        };
        spans.map(mark).collect()
    }

    /// Returns the sentences.
    pub fn list(&self) -> Block {
        if self.sentences.is_empty() {
            return Block::Text(
                "Nothing stands out: the load is never over twice its median.".to_owned(),
            );
        }
        Block::Numbered(self.sentences.clone())
    }
}

/// Returns the sentence that a report begins with.
pub fn lead(
    store: &mut Store,
    scope: &Scope,
    load: &Load,
    spans: &Spans,
    clock: &Clock,
) -> Result<String, Error> {
    let mean = load.mean.unwrap_or_default();
    let mut lead = format!(
        "{}, {}: {} {} on average",
        shown(&scope.filesystem),
        clock.window(scope.window),
        scope.rate(Some(mean)),
        scope.words()
    );
    if let Some(before) = load.mean_before.filter(|before| *before > 0.0) {
        let ratio = mean / before;
        lead.push_str(&match ratio {
            _ if ratio >= 1.1 => format!(
                ", {} times as much as the week before",
                Number::of(Some(ratio), "service_time", Quantity::Rate).text()
            ),
            _ if ratio > 0.9 => ", as much as the week before".to_owned(),
            _ => format!(", {:.0} % less than the week before", 100.0 * (1.0 - ratio)),
        });
    }
    if let Some(leader) = Leader::ask(store, scope, scope.window)? {
        lead.push_str(&format!("; {}", leader.said(" of this load")));
    }
    if let Some(span) = spans.most.and_then(|most| spans.spans.get(most)) {
        let (since, until) = (
            clock.within(span.0, scope.window),
            clock.within(span.1, scope.window),
        );
        lead.push_str(&format!("; busiest {since} to {until}"));
    }
    lead.push('.');
    Ok(lead)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(rates: &[Option<f64>]) -> Vec<Point> {
        let point = |(number, rate): (usize, &Option<f64>)| Point {
            time: Timestamp::from_second(600 * number as i64).unwrap(),
            seconds: 600.0,
            rate: *rate,
        };
        rates.iter().enumerate().map(point).collect()
    }

    fn minutes(high: &High) -> (i64, i64) {
        (high.span.0.as_second() / 60, high.span.1.as_second() / 60)
    }

    #[test]
    fn what_is_over_twice_the_median_stands_out() {
        let rates = [1.0, 1.0, 5.0, 1.0, 5.0, 1.0, 1.0, 1.0, 9.0, 1.0, 1.0];
        let (median, high) = high(&points(&rates.map(Some)));
        assert_eq!(median, 1.0);
        // A lower step between two does not divide them.
        assert_eq!(
            high.iter().map(minutes).collect::<Vec<_>>(),
            [(20, 50), (80, 90)]
        );
        assert_eq!((high[0].mean, high[1].mean), (5.0, 9.0));
    }

    #[test]
    fn a_steady_load_and_a_gap_do_not() {
        assert!(high(&points(&[Some(3.0); 9])).1.is_empty());
        assert!(high(&points(&[None; 9])).1.is_empty());
        assert!(high(&points(&[Some(0.0); 9])).1.is_empty());
        assert!(high(&[]).1.is_empty());
    }
}
