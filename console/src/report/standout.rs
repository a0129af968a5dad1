//! The peaks of the load and their main users, in sentences with numbers.

use super::events::Events;
use super::leader::Leader;
use super::load::Load;
use super::vocabulary::*;

/// The largest number of spans.
const SPANS: usize = 3;

/// The ratio to the median that makes a peak.
const RATIO: f64 = 2.0;

/// The largest number of words of the lead.
const WORDS: usize = 35;

/// The spans that stand out, the largest first, each with its sentence.
pub struct Spans {
    spans: Vec<(Span, String)>,
    /// The sentence for a load without such spans.
    nothing: String,
    /// The bursts on single targets at other times, each with its sentence.
    pub bursts: Vec<(Span, String)>,
}

/// A span with a high load of all targets, or of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Peak {
    pub span: Span,
    pub target: Option<String>,
    pub median: f64,
    /// The work in the high steps.
    work: f64,
    /// The length of the high steps.
    seconds: f64,
}

impl Peak {
    fn mean(&self) -> f64 {
        self.work / self.seconds
    }

    /// Returns the work above the median.
    pub fn excess(&self) -> f64 {
        self.work - self.median * self.seconds
    }

    /// Returns the time, the height and the main user of the load.
    pub fn said(&self, scope: &Scope, leader: Option<&Leader>) -> String {
        let (span, mean) = (scope.span(self.span), scope.rate(self.mean()));
        let times = (self.median > 0.0).then(|| ratio(self.mean() / self.median));
        let compared = match (self.target.as_deref().map(shown), times) {
            (None, None) => String::new(),
            (None, Some(times)) => format!(", {times} times the median of this window"),
            (Some(target), None) => format!(" on {target}, which was mostly idle"),
            (Some(target), Some(times)) => format!(" on {target}, {times} times its median"),
        };
        let leader = leader.map(|leader| format!(" {}", leader.said(scope, 3)));
        let (words, leader) = (scope.measure.words(), leader.unwrap_or_default());
        format!("{span}: {mean} {words}{compared}.{leader}")
    }
}

/// Returns the median, and the spans in which the load is over so many times the median, and over a floor, those with most
/// work above the median first.
pub fn high(points: &[Point], ratio: f64, floor: f64) -> (f64, Vec<Peak>) {
    let mut known: Vec<_> = points.iter().filter_map(|point| point.value).collect();
    known.sort_by(f64::total_cmp);
    let median = known.get(known.len() / 2).copied().unwrap_or(0.0);
    let mut high: Vec<Peak> = Vec::new();
    for point in points {
        let is_high = |rate: &f64| *rate > ratio * median && *rate > floor;
        let Some(rate) = point.value.filter(is_high) else {
            continue;
        };
        let (work, seconds) = (rate * point.seconds, point.seconds);
        match high.last_mut() {
            // A step between two high ones does not make them two spans.
            Some(peak) if when::seconds((peak.span.1, point.time)) <= seconds => {
                peak.span.1 = point.end();
                peak.work += work;
                peak.seconds += seconds;
            }
            _ => high.push(Peak {
                span: (point.time, point.end()),
                target: None,
                median,
                work,
                seconds,
            }),
        }
    }
    high.sort_by(|one, other| other.excess().total_cmp(&one.excess()));
    (median, high)
}

/// Finds the peaks and their main users.
pub fn ask(store: &mut Store, scope: &Scope, load: &Load) -> Result<Spans, Error> {
    let floor = floor(scope).max(load.mean.unwrap_or_default());
    let (median, high) = high(&load.now, RATIO, floor);
    let mut spans = Vec::new();
    for peak in high.into_iter().take(SPANS) {
        let leader = Leader::ask(store, scope, &scope.during(peak.span))?;
        spans.push((peak.span, peak.said(scope, leader.as_ref())));
    }
    Ok(Spans {
        spans,
        nothing: nothing(scope, load, median),
        bursts: Vec::new(),
    })
}

/// Returns the load that a span must exceed to be reported, however idle the rest of the window is. A user's own load may be lower.
pub fn floor(scope: &Scope) -> f64 {
    match scope.measure {
        _ if scope.is_own() => 0.0,
        Measure::ServiceTime => 1.0,
        Measure::Metadata => 100.0,
        Measure::Bytes => 1e8,
    }
}

/// Returns the sentence for a load without peaks, with its highest step.
fn nothing(scope: &Scope, load: &Load, median: f64) -> String {
    let Some(highest) = load.highest() else {
        return "No I/O was observed in this window.".to_owned();
    };
    format!(
        "No unusual span: the highest step of {} was {} at {}, the median {}. Single targets: see Targets over time.",
        when::width(load.step),
        scope.rate(highest.value),
        scope.moment(highest.time),
        scope.rate(median)
    )
}

impl Spans {
    /// Returns the marks for a chart.
    pub fn marks(&self) -> Vec<Span> {
        let all = self.spans.iter().chain(&self.bursts);
        all.map(|(span, _)| *span).collect()
    }

    /// Returns the sentences, numbered as the marks.
    pub fn blocks(&self) -> Vec<Block> {
        let all = self.spans.iter().chain(&self.bursts);
        let said: Vec<_> = all.map(|(_, sentence)| sentence.clone()).collect();
        let nothing = self.spans.is_empty().then(|| Block::text(&self.nothing));
        let numbered = (!said.is_empty()).then_some(Block::Numbered(said));
        nothing.into_iter().chain(numbered).collect()
    }

    /// Returns whether a sentence covers part of this span.
    pub fn overlap(&self, span: Span) -> bool {
        let mut spans = self.spans.iter().map(|(own, _)| own);
        spans.any(|own| own.0 < span.1 && span.0 < own.1)
    }
}

/// Returns the lead of a report: its first sentences, as far as they have few words.
pub fn lead(
    scope: &Scope,
    load: &Load,
    spans: &Spans,
    leader: Option<&Leader>,
    events: &Events,
) -> String {
    let sentences = [
        Some(average(scope, load)),
        leader.map(|leader| match scope.is_own() {
            true => leader.said(scope, 2),
            false => format!("Largest user: {}", leader.said(scope, 2)),
        }),
        events.lead(scope),
        busiest(scope, load, spans),
    ];
    short(sentences.into_iter().flatten())
}

fn short(sentences: impl Iterator<Item = String>) -> String {
    let mut words = 0;
    let is_short = |sentence: &String| {
        let count = sentence.split(' ').count();
        let is_short = words + count <= WORDS;
        words += if is_short { count } else { 0 };
        is_short
    };
    sentences.filter(is_short).collect::<Vec<_>>().join(" ")
}

/// Compares the mean load with the week before.
fn average(scope: &Scope, load: &Load) -> String {
    let mean = load.mean.unwrap_or_default();
    let before = load.mean_before.filter(|before| *before > 0.0);
    let compared = match before.map(|before| mean / before) {
        None => String::new(),
        Some(times @ 1.1..) => format!(", {} times the week before", ratio(times)),
        Some(times) if times > 0.9 => ", about as in the week before".to_owned(),
        Some(times) => format!(", {:.0} % less than the week before", 100.0 * (1.0 - times)),
    };
    let (mean, words) = (scope.rate(mean), scope.measure.words());
    format!("{mean} {words} on average{compared}.")
}

/// Returns the time of the highest load.
fn busiest(scope: &Scope, load: &Load, spans: &Spans) -> Option<String> {
    if let Some((span, _)) = spans.spans.first() {
        return Some(format!("Busiest {}.", scope.span(*span)));
    }
    let highest = load.highest()?;
    let (moment, rate) = (scope.moment(highest.time), scope.rate(highest.value));
    Some(format!("Highest at {moment}: {rate}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{load, points, scope, time};

    /// Returns the median and the spans of steps with these rates.
    fn spans(rates: &[Option<f64>]) -> (f64, Vec<Peak>) {
        let steps = (0..).step_by(600).zip(rates.iter().copied());
        high(&points(&steps.collect::<Vec<_>>()), RATIO, 0.0)
    }

    fn minutes(high: &Peak) -> (i64, i64) {
        (high.span.0.as_second() / 60, high.span.1.as_second() / 60)
    }

    #[test]
    fn what_is_over_twice_the_median_stands_out() {
        let rates = [1.0, 1.0, 5.0, 1.0, 5.0, 1.0, 1.0, 1.0, 9.0, 1.0, 1.0];
        let (median, high) = spans(&rates.map(Some));
        assert_eq!(median, 1.0);
        // A lower step between two does not divide them.
        assert_eq!(
            high.iter().map(minutes).collect::<Vec<_>>(),
            [(20, 50), (80, 90)]
        );
        assert_eq!((high[0].mean(), high[1].mean()), (5.0, 9.0));
    }

    #[test]
    fn a_steady_load_and_a_gap_do_not() {
        for rates in [&[Some(3.0); 9][..], &[None; 9], &[Some(0.0); 9], &[]] {
            assert!(spans(rates).1.is_empty());
        }
    }

    #[test]
    fn a_steady_load_still_says_when_it_was_highest() {
        let scope = scope(86_400);
        let rates = [180.0, 286.0, 170.0, 180.0, 190.0].map(Some);
        let steps: Vec<_> = (0..).step_by(600).zip(rates).collect();
        let load = Load {
            mean: Some(180.0),
            mean_before: Some(180.5),
            ..load(&steps)
        };
        let spans = Spans {
            spans: Vec::new(),
            nothing: nothing(&scope, &load, 180.0),
            bursts: Vec::new(),
        };
        assert_eq!(
            average(&scope, &load),
            "180 requests in service on average, about as in the week before."
        );
        let said = busiest(&scope, &load, &spans).unwrap();
        assert_eq!(said, "Highest at 00:10: 286.");
        let said = "No unusual span: the highest step of 10 min was 286 at 00:10, the median 180. Single targets: see Targets over time.";
        assert!(
            matches!(&spans.blocks()[..], [Block::Text(text)] if text == said),
            "{:?}",
            spans.blocks()
        );
        let first = (time(0), time(600));
        let mut spans = Spans {
            spans: vec![(first, "The load.".to_owned())],
            ..spans
        };
        let said = busiest(&scope, &load, &spans).unwrap();
        assert_eq!(said, "Busiest 00:00 to 00:10.");
        // A burst is marked too, and its sentence has the number of the mark.
        spans.bursts = vec![(scope.window, "A target.".to_owned())];
        assert_eq!(spans.marks()[1], scope.window);
        assert!(
            matches!(&spans.blocks()[..], [Block::Numbered(said)] if *said == ["The load.", "A target."]),
            "{:?}",
            spans.blocks()
        );
    }

    #[test]
    fn a_lead_is_short() {
        let sentence = |words: usize| vec!["word"; words].join(" ");
        let lead = short([12, 20, 4, 3].map(sentence).into_iter());
        assert_eq!(lead.split(' ').count(), 35);
    }

    #[test]
    fn a_small_load_does_not_stand_out() {
        let rates = [0.01, 0.01, 0.1, 0.01, 20.0, 0.01].map(Some);
        let steps = (0..).step_by(600).zip(rates);
        let (_, high) = high(&points(&steps.collect::<Vec<_>>()), RATIO, floor(&scope(0)));
        assert_eq!(high.iter().map(minutes).collect::<Vec<_>>(), [(40, 50)]);
    }
}
