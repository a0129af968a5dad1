//! The spans in which the load stands out, and who made it: sentences with the numbers that prove them.

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{Dimension, Filters, Group, Top, TopRow, Totals, Window};
use jobstats_core::operation::{Kind, OPERATIONS};
use jobstats_core::quantity::Quantity;

use super::load::Load;
use super::{Scope, by_user, of_user, user};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::show::chart::line::{Mark, Point};
use crate::show::html::Block;
use crate::subject::number;
use crate::values::number::Number;
use crate::values::text::{cut, shown};
use crate::values::when::{self, Clock};

/// The largest number of spans.
const SPANS: usize = 3;

/// The ratio to the median from which on a load stands out.
const RATIO: f64 = 2.0;

/// The part of the work on one target, or by one job, from which on it is named.
const MOSTLY: f64 = 0.25;

/// The part of a user's work in one account from which on it is named without the part.
const NEARLY_ALL: f64 = 0.75;

/// The part of a user's work in one account from which on it is named with the part.
const HALF: f64 = 0.5;

/// A window.
pub type Span = (Timestamp, Timestamp);

/// The spans that stand out, in the order of time.
pub struct Spans {
    spans: Vec<Span>,
    sentences: Vec<String>,
    /// The sentence for a load without such spans.
    nothing: String,
    /// The number of the span that stands out most.
    most: Option<usize>,
    /// The bursts on single targets at other times, each with its sentence.
    bursts: Vec<(Span, String)>,
}

/// A span with the work above the median in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct High {
    /// The span.
    pub span: Span,
    /// The work above the median.
    pub excess: f64,
    /// The mean rate.
    pub mean: f64,
}

/// Returns the median, and the spans in which the load is over so many times the median, and over a floor, those with most
/// work above the median first.
pub fn high(points: &[Point], ratio: f64, floor: f64) -> (f64, Vec<High>) {
    let mut known: Vec<_> = points.iter().filter_map(|point| point.rate).collect();
    known.sort_by(f64::total_cmp);
    let median = known.get(known.len() / 2).copied().unwrap_or(0.0);
    let mut out: Vec<(Span, f64, f64, f64)> = Vec::new();
    for point in points {
        let Some(rate) = point
            .rate
            .filter(|rate| *rate > ratio * median && *rate > floor)
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
    (median, high)
}

/// The user that did most in a window, with what and where.
pub struct Leader {
    name: String,
    share: f64,
    account: Option<(String, f64)>,
    operation: Option<(String, f64)>,
    target: Option<(String, f64)>,
    job: Option<(String, f64)>,
}

impl Leader {
    /// Asks for it, among the work that the filters let through.
    pub fn ask(
        store: &mut Store,
        scope: &Scope,
        span: Span,
        filters: &Filters,
    ) -> Result<Option<Self>, Error> {
        let users = top(store, scope, span, 1, by_user(), filters)?;
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
        let is_of_target = filters.target.is_some();
        let Some(filters) = of_user(filters, &first.group) else {
            return Ok(Some(leader));
        };
        let accounts = top(store, scope, span, 1, vec![Dimension::Account], &filters)?;
        let account = accounts.first();
        leader.account = account.and_then(|row| Some((row.group.account.clone()?, row.share?)));
        if !is_of_target {
            let targets = top(store, scope, span, 1, vec![Dimension::Target], &filters)?;
            let target = targets.first();
            leader.target = target.and_then(|row| Some((row.group.target.clone()?, row.share?)));
        }
        let by = vec![Dimension::Job, Dimension::JobName];
        let jobs = top(store, scope, span, 1, by, &filters)?;
        leader.job = jobs
            .first()
            .and_then(|row| Some((job(&row.group)?, row.share?)));
        leader.operation = operation(store, scope, span, filters)?;
        Ok(Some(leader))
    }

    /// Returns the name, with the account that the user mostly worked for, if there is one.
    fn who(&self) -> String {
        let name = &self.name;
        match &self.account {
            Some((account, share)) if *share >= NEARLY_ALL => {
                format!("{name} ({})", shown(account))
            }
            Some((account, share)) if *share >= HALF => {
                format!("{name} ({} of it in {})", percent(*share), shown(account))
            }
            _ => name.clone(),
        }
    }

    /// Says what the user did, on which target and with which job, as far as that is known.
    fn work(&self, scope: &Scope) -> String {
        let is_timed = scope.measure == "service_time";
        let mut parts = Vec::new();
        if let Some((name, share)) = &self.operation {
            let what = match (is_timed, name.as_str()) {
                (true, "read") => "went to reads".to_owned(),
                (true, "write") => "went to writes".to_owned(),
                (true, name) => format!("went to {name} requests"),
                (false, name) => format!("were {name} requests"),
            };
            parts.push((*share, what));
        }
        if let Some((name, share)) = self.target.as_ref().filter(|(_, share)| *share >= MOSTLY) {
            parts.push((*share, format!("fell on {}", shown(name))));
        }
        if let Some((job, share)) = self.job.as_ref().filter(|(_, share)| *share >= MOSTLY) {
            parts.push((*share, format!("came from job {job}")));
        }
        let of = match scope.measure {
            "service_time" => "server time",
            "bytes" => "bytes",
            _ => "metadata requests",
        };
        let said = parts
            .iter()
            .enumerate()
            .map(|(place, (share, what))| match place {
                0 => format!("{} of that user's {of} {what}", percent(*share)),
                _ => format!("{} {what}", percent(*share)),
            });
        let mut said: Vec<_> = said.collect();
        if self
            .target
            .as_ref()
            .is_some_and(|(_, share)| *share < MOSTLY)
        {
            said.push(match said.is_empty() {
                true => format!("that user's {of} spread over many targets"),
                false => "spread over many targets".to_owned(),
            });
        }
        match said.is_empty() {
            true => String::new(),
            false => format!("; {}", said.join(", ")),
        }
    }

    /// Says who did most in a span, and what.
    pub fn of_span(&self, scope: &Scope) -> String {
        format!(
            "{} by {}{}.",
            percent(self.share),
            self.who(),
            self.work(scope)
        )
    }

    /// Says who did most in the whole window, and what.
    fn of_window(&self, scope: &Scope) -> String {
        format!(
            "The largest user was {} with {}{}.",
            self.who(),
            percent(self.share),
            self.work(scope)
        )
    }
}

fn percent(part: f64) -> String {
    Number::percent(Some(part)).text()
}

/// Returns the job of a row, with its name.
fn job(group: &Group) -> Option<String> {
    let job = shown(group.job.as_ref()?);
    Some(match &group.job_name {
        Some(name) => format!("{job} ({})", cut(&shown(name), 24)),
        None => job,
    })
}

/// Asks who did most in a span: the first `n` groups, among the work that the filters let through.
pub fn top(
    store: &mut Store,
    scope: &Scope,
    span: Span,
    n: i32,
    by: Vec<Dimension>,
    filters: &Filters,
) -> Result<Vec<TopRow>, Error> {
    let top = store.ask(&Top {
        window: Window::new(span.0, span.1),
        operation: Some(scope.measure.to_owned()),
        by: Some(by),
        n: Some(n),
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
    let is_timed = match scope.measure {
        "service_time" => true,
        // Which of them are bytes needs no words.
        "bytes" => return Ok(None),
        _ => false,
    };
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
    let (median, mut high) = high(&load.now, RATIO, 0.0);
    high.truncate(SPANS);
    let first = high.first().copied();
    high.sort_by_key(|high| high.span.0);
    let mut sentences = Vec::new();
    for high in &high {
        let mut sentence = format!(
            "{}: {} {}",
            within(scope, high.span, clock),
            scope.rate(Some(high.mean)),
            scope.words()
        );
        if median > 0.0 {
            sentence.push_str(&format!(
                ", {} times the median of this window",
                times(high.mean / median)
            ));
        }
        sentence.push('.');
        if let Some(leader) = Leader::ask(store, scope, high.span, &scope.filters())? {
            sentence.push_str(&format!(" {}", leader.of_span(scope)));
        }
        sentences.push(sentence);
    }
    let most = first.and_then(|first| high.iter().position(|high| *high == first));
    Ok(Spans {
        spans: high.iter().map(|high| high.span).collect(),
        sentences,
        nothing: nothing(scope, load, median, clock),
        most,
        bursts: Vec::new(),
    })
}

/// Says that no step stands out, and which was the highest.
fn nothing(scope: &Scope, load: &Load, median: f64, clock: &Clock) -> String {
    let Some(highest) = load.highest() else {
        return "No work was observed in this window.".to_owned();
    };
    format!(
        "No step of {} was over twice the median ({}); the highest was {} at {}. Single targets: see Where and when.",
        when::width(load.step),
        scope.rate(Some(median)),
        scope.rate(highest.rate),
        clock.within(highest.time, scope.window)
    )
}

/// Prints a span, as `12:50 to 13:00`.
pub fn within(scope: &Scope, span: Span, clock: &Clock) -> String {
    format!(
        "{} to {}",
        clock.within(span.0, scope.window),
        clock.within(span.1, scope.window)
    )
}

/// Prints a ratio.
pub fn times(ratio: f64) -> String {
    Number::of(Some(ratio), "service_time", Quantity::Rate).text()
}

impl Spans {
    /// Adds bursts, which are numbered after the spans.
    pub fn add(&mut self, bursts: Vec<(Span, String)>) {
        self.bursts = bursts;
    }

    /// Returns the marks for a chart.
    pub fn marks(&self) -> Vec<Mark> {
        let bursts = self.bursts.iter().map(|(span, _)| span);
        let mark = |(place, span): (usize, &Span)| Mark {
            number: place + 1,
            span: *span,
        };
        self.spans
            .iter()
            .chain(bursts)
            .enumerate()
            .map(mark)
            .collect()
    }

    /// Returns the sentences, numbered as the marks.
    pub fn blocks(&self) -> Vec<Block> {
        let bursts = self.bursts.iter().map(|(_, sentence)| sentence);
        let said: Vec<_> = self.sentences.iter().chain(bursts).cloned().collect();
        let mut blocks = Vec::new();
        if self.sentences.is_empty() {
            blocks.push(Block::Text(self.nothing.clone()));
        }
        if !said.is_empty() {
            blocks.push(Block::Numbered(said));
        }
        blocks
    }

    /// Returns whether a sentence already tells of a part of this span.
    pub fn tell_of(&self, span: Span) -> bool {
        self.spans
            .iter()
            .any(|own| own.0 < span.1 && span.0 < own.1)
    }
}

/// Returns the sentences that a report begins with.
pub fn lead(
    store: &mut Store,
    scope: &Scope,
    load: &Load,
    spans: &Spans,
    clock: &Clock,
) -> Result<String, Error> {
    let mut said = vec![average(scope, load)];
    if let Some(leader) = Leader::ask(store, scope, scope.window, &scope.filters())? {
        said.push(leader.of_window(scope));
    }
    said.extend(busiest(scope, load, spans, clock));
    Ok(said.join(" "))
}

/// Says how high the load was, beside that of the week before.
fn average(scope: &Scope, load: &Load) -> String {
    let mean = load.mean.unwrap_or_default();
    let mut said = format!("{} {} on average", scope.rate(Some(mean)), scope.words());
    if let Some(before) = load.mean_before.filter(|before| *before > 0.0) {
        let ratio = mean / before;
        said.push_str(&match ratio {
            _ if ratio >= 1.1 => format!(", {} times as many as the week before", times(ratio)),
            _ if (ratio - 1.0).abs() < 0.005 => ", as many as the week before".to_owned(),
            _ if ratio > 0.9 => ", about as many as the week before".to_owned(),
            _ => format!(
                ", {:.0} % fewer than the week before",
                100.0 * (1.0 - ratio)
            ),
        });
    }
    said.push('.');
    said
}

/// Says when the load was highest.
fn busiest(scope: &Scope, load: &Load, spans: &Spans, clock: &Clock) -> Option<String> {
    if let Some(span) = spans.most.and_then(|most| spans.spans.get(most)) {
        return Some(format!("Busiest {}.", within(scope, *span, clock)));
    }
    let highest = load.highest()?;
    Some(format!(
        "The load was highest at {}, with {}.",
        clock.within(highest.time, scope.window),
        scope.rate(highest.rate)
    ))
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
        let (median, high) = high(&points(&rates.map(Some)), RATIO, 0.0);
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
        assert!(high(&points(&[Some(3.0); 9]), RATIO, 0.0).1.is_empty());
        assert!(high(&points(&[None; 9]), RATIO, 0.0).1.is_empty());
        assert!(high(&points(&[Some(0.0); 9]), RATIO, 0.0).1.is_empty());
        assert!(high(&[], RATIO, 0.0).1.is_empty());
    }

    fn scope() -> Scope {
        Scope {
            filesystem: "scratch".to_owned(),
            cluster: None,
            window: (
                Timestamp::UNIX_EPOCH,
                Timestamp::from_second(86_400).unwrap(),
            ),
            targets: Vec::new(),
            measure: "service_time",
        }
    }

    fn load(rates: &[f64]) -> Load {
        Load {
            step: 600,
            now: points(&rates.iter().copied().map(Some).collect::<Vec<_>>()),
            before: Vec::new(),
            coverage: 1.0,
            mean: Some(180.0),
            mean_before: Some(180.5),
            notes: Vec::new(),
            statements: Vec::new(),
        }
    }

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
        assert_eq!(leader(Some(0.75)).who(), "ada (physics)");
        assert_eq!(leader(Some(0.6)).who(), "ada (60 % of it in physics)");
        assert_eq!(leader(Some(0.49)).who(), "ada");
        assert_eq!(leader(None).who(), "ada");
    }

    #[test]
    fn a_leader_is_said_with_what_is_known() {
        assert_eq!(
            leader(Some(0.9)).of_window(&scope()),
            "The largest user was ada (physics) with 14 %; 45 % of that user's server time went to reads, spread over many targets."
        );
        let mut one = leader(None);
        (one.target, one.job) = (
            Some(("scratch-OST0001".to_owned(), 0.9)),
            Some(("11 (md)".to_owned(), 0.8)),
        );
        assert_eq!(
            one.of_span(&scope()),
            "14 % by ada; 45 % of that user's server time went to reads, 90 % fell on scratch-OST0001, 80 % came from job 11 (md)."
        );
        one.operation = Some(("getattr".to_owned(), 0.45));
        let without_times = Scope {
            measure: "metadata",
            ..scope()
        };
        assert!(
            one.of_span(&without_times)
                .contains("45 % of that user's metadata requests were getattr requests, 90 %")
        );
        (one.operation, one.target, one.job) = (None, None, None);
        assert_eq!(one.of_span(&scope()), "14 % by ada.");
    }

    #[test]
    fn a_steady_load_still_says_when_it_was_highest() {
        let clock = Clock::new(jiff::tz::TimeZone::UTC);
        let load = load(&[180.0, 286.0, 170.0, 180.0, 190.0]);
        let spans = Spans {
            spans: Vec::new(),
            sentences: Vec::new(),
            nothing: nothing(&scope(), &load, 180.0, &clock),
            most: None,
            bursts: Vec::new(),
        };
        assert_eq!(
            average(&scope(), &load),
            "180 requests in service on average, as many as the week before."
        );
        let said = busiest(&scope(), &load, &spans, &clock).unwrap();
        assert_eq!(said, "The load was highest at 00:10, with 286.");
        let said = "No step of 10 min was over twice the median (180); the highest was 286 at 00:10. Single targets: see Where and when.";
        assert!(
            matches!(&spans.blocks()[..], [Block::Text(text)] if text == said),
            "{:?}",
            spans.blocks()
        );
        let mut spans = Spans {
            spans: vec![(scope().window.0, Timestamp::from_second(600).unwrap())],
            most: Some(0),
            ..spans
        };
        let said = busiest(&scope(), &load, &spans, &clock).unwrap();
        assert_eq!(said, "Busiest 00:00 to 00:10.");
        // A burst is marked too, and its sentence has the number of the mark.
        spans.sentences = vec!["The load.".to_owned()];
        spans.add(vec![(scope().window, "A target.".to_owned())]);
        assert_eq!(spans.marks()[1].number, 2);
        assert!(
            matches!(&spans.blocks()[..], [Block::Numbered(said)] if *said == ["The load.", "A target."]),
            "{:?}",
            spans.blocks()
        );
    }
}
