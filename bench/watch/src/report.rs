//! Writes the results as Markdown and as a picture.

use std::fmt::Write;

use jobstats_simulator::watch::Kind;
use strum::VariantArray;

use crate::Results;
use crate::judge::{Outcome, Week};
use crate::rivals::{RIVALS, alarms_for, found_with};

/// The number of cases that were as they should be, of so many.
#[derive(Debug, Clone, Copy)]
struct Part {
    good: usize,
    all: usize,
}

impl Part {
    fn of<'a>(
        outcomes: impl Iterator<Item = &'a Outcome>,
        good: impl Fn(&Outcome) -> bool,
    ) -> Self {
        outcomes.fold(Self { good: 0, all: 0 }, |sum, it| Self {
            good: sum.good + usize::from(good(it)),
            all: sum.all + 1,
        })
    }

    fn value(self) -> f64 {
        self.good as f64 / self.all as f64
    }

    /// Returns the bounds between which the true part lies in 95 % of all cases, by Wilson's formula.
    fn interval(self) -> [f64; 2] {
        let (count, value, z) = (self.all as f64, self.value(), 1.96_f64);
        let middle = value + z * z / (2.0 * count);
        let width = z * (value * (1.0 - value) / count + z * z / (4.0 * count * count)).sqrt();
        [-1.0, 1.0].map(|side| (middle + side * width) / (1.0 + z * z / count))
    }

    fn text(self) -> String {
        if self.all == 0 {
            return "none".to_owned();
        }
        let [low, high] = self.interval();
        format!(
            "{:.2} ({low:.2} to {high:.2}, {} of {})",
            self.value(),
            self.good,
            self.all
        )
    }
}

/// Returns the mean of a count per week, and the bounds between which the true mean lies in 95 % of all cases.
fn per_week(weeks: &[&Week], count: impl Fn(&Week) -> usize) -> (f64, [f64; 2]) {
    let (all, count_of) = (
        weeks.len() as f64,
        weeks.iter().map(|it| count(it)).sum::<usize>() as f64,
    );
    // Byar's approximation to the exact bounds of a Poisson distribution.
    let bound = |events: f64, side: f64| {
        if events <= 0.0 {
            0.0
        } else {
            events * (1.0 - 1.0 / (9.0 * events) + side * 1.96 / (3.0 * events.sqrt())).powi(3)
        }
    };
    (
        count_of / all,
        [
            bound(count_of, -1.0) / all,
            bound(count_of + 1.0, 1.0) / all,
        ],
    )
}

/// The bounds of the sizes and of the minutes of the curves.
const SIZES: [f64; 6] = [1.5, 3.0, 5.0, 8.0, 13.0, f64::INFINITY];
const MINUTES: [f64; 5] = [4.0, 10.0, 30.0, 90.0, f64::INFINITY];

fn makes_wait(outcome: &Outcome) -> bool {
    !matches!(outcome.kind, Kind::FullOst | Kind::Stalled | Kind::Failover)
}

/// Returns the curve of the incidents that make requests wait: the part that was found, between bounds of a measure.
fn curve(
    outcomes: &[&Outcome],
    bounds: &[f64],
    measure: fn(&Outcome) -> f64,
    other: impl Fn(&Outcome) -> bool,
) -> Vec<(f64, f64, Part)> {
    let pairs = bounds.windows(2).map(|it| (it[0], it[1]));
    pairs
        .map(|(low, high)| {
            let within = outcomes.iter().copied();
            let within = within
                .filter(|it| makes_wait(it) && other(it) && (low..high).contains(&measure(it)));
            (low, high, Part::of(within, |it| it.found.is_some()))
        })
        .collect()
}

/// Writes the tables.
pub fn markdown(results: &Results) -> String {
    let (later, outcomes) = (results.later(), results.outcomes());
    let mut text = String::new();
    let mut line = |it: String| _ = writeln!(text, "{it}");
    line(format!(
        "{} weeks of {} file systems, after a first week of each.",
        later.len(),
        results.of_seed.len()
    ));
    line(String::new());
    line("| goal | at least or at most | measured |\n|---|---|---|".to_owned());
    let rate = |name: &str, goal: &str, (mean, [low, high]): (f64, [f64; 2])| {
        format!("| {name} | {goal} | {mean:.2} ({low:.2} to {high:.2}) |")
    };
    line(rate(
        "false alerts, per file system and week",
        "≤ 1, upper bound ≤ 1.5",
        per_week(&later, |it| it.false_alerts),
    ));
    line(rate(
        "false events, alerted or not",
        "",
        per_week(&later, |it| it.false_events),
    ));
    line(rate(
        "alerts",
        "about 2: the budget",
        per_week(&later, |it| it.alerted),
    ));
    line(rate(
        "false alerts in a store's first week",
        "≤ 1",
        per_week(&results.first(), |it| it.false_alerts),
    ));
    let large = || outcomes.iter().copied().filter(|it| it.large);
    let found = || outcomes.iter().copied().filter(|it| it.found.is_some());
    for (name, goal, part) in [
        (
            "found, of incidents ≥ 10 minutes with waits ≥ 3 ×",
            "≥ 0.90",
            Part::of(large(), |it| it.found.is_some()),
        ),
        ("alerted, of these", "", Part::of(large(), |it| it.alerted)),
        (
            "found within three observations, of those found",
            "",
            Part::of(large().filter(|it| it.found.is_some()), |it| {
                it.observations.is_some_and(|it| it <= 3)
            }),
        ),
        (
            "culprit first, where one user caused half of the rise",
            "≥ 0.95",
            Part::of(found().filter(|it| it.half), |it| it.named == Some(true)),
        ),
        (
            "no name, where no user caused 30 %",
            "≥ 0.95",
            Part::of(found().filter(|it| it.nobody), |it| it.named.is_none()),
        ),
        (
            "one event for 24 targets",
            "≥ 0.95",
            Part::of(found().filter(|it| it.kind == Kind::SlowServer), |it| {
                it.events == 1
            }),
        ),
    ] {
        line(format!("| {name} | {goal} | {} |", part.text()));
    }
    line("\n| kind of incident | found | alerted |\n|---|---|---|".to_owned());
    for kind in Kind::VARIANTS.iter().filter(|kind| !kind.is_harmless()) {
        let of = || outcomes.iter().copied().filter(|it| it.kind == *kind);
        let name: &str = kind.into();
        line(format!(
            "| `{name}` | {} | {} |",
            Part::of(of(), |it| it.found.is_some()).text(),
            Part::of(of(), |it| it.alerted).text()
        ));
    }
    line(
        "\n| method | found with as many alarms as events | alarms per week to find as many |\n|---|---|---|"
            .to_owned(),
    );
    let events: usize = later.iter().map(|it| it.events).sum();
    let per_week = |alarms: usize| alarms as f64 / later.len() as f64;
    let ours = Part::of(large(), |it| it.found.is_some());
    line(format!(
        "| events | {:.2} | {:.1} |",
        ours.value(),
        per_week(events)
    ));
    for ((name, ..), counts) in RIVALS.iter().zip(&results.rivals) {
        let found = found_with(counts, events) as f64 / ours.all.max(1) as f64;
        let needed = alarms_for(counts, ours.good).map(|it| format!("{:.1}", per_week(it)));
        let needed = needed.unwrap_or_else(|| "never".to_owned());
        line(format!("| {name} | {found:.2} | {needed} |"));
    }
    text
}

/// Draws the curves: the part that was found, over the size and over the length of incidents.
pub fn picture(results: &Results) -> String {
    let outcomes = results.outcomes();
    let sizes = curve(&outcomes, &SIZES, |it| it.times, |it| it.minutes >= 10.0);
    let minutes = curve(&outcomes, &MINUTES, |it| it.minutes, |it| it.times >= 3.0);
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 300\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>The part of incidents that is found, by their size and by their length</title>\n\
         <rect width=\"760\" height=\"300\" fill=\"#fff\"/>\n",
    );
    panel(
        &mut svg,
        50.0,
        "times the usual wait, 10 minutes or longer",
        &sizes,
    );
    panel(
        &mut svg,
        430.0,
        "minutes, 3 times the usual wait or more",
        &minutes,
    );
    svg.push_str("</svg>\n");
    svg
}

fn panel(svg: &mut String, left: f64, title: &str, curve: &[(f64, f64, Part)]) {
    let (width, top, bottom) = (300.0, 20.0, 240.0);
    let y = |part: f64| bottom - (bottom - top) * part;
    for part in [0.0, 0.5, 0.9, 1.0] {
        let at = y(part);
        _ = writeln!(
            svg,
            "<line x1=\"{left}\" x2=\"{}\" y1=\"{at}\" y2=\"{at}\" stroke=\"#ddd\"/>",
            left + width
        );
        _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#444\">{part}</text>",
            left - 6.0,
            at + 4.0
        );
    }
    let step = width / curve.len() as f64;
    let mut path = String::new();
    for (position, (low, high, part)) in curve.iter().enumerate() {
        let x = left + step * (position as f64 + 0.5);
        let range = if high.is_finite() {
            format!("{low} to {high}")
        } else {
            format!("{low}+")
        };
        _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" fill=\"#444\">{range}</text>",
            bottom + 18.0
        );
        if part.all == 0 {
            continue;
        }
        let [lower, upper] = part.interval().map(y);
        let at = y(part.value());
        _ = writeln!(
            svg,
            "<line x1=\"{x}\" x2=\"{x}\" y1=\"{lower:.1}\" y2=\"{upper:.1}\" stroke=\"#0b62a3\" stroke-width=\"2\"/>"
        );
        _ = writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"{at:.1}\" r=\"4\" fill=\"#0b62a3\"/>"
        );
        _ = write!(path, "{x},{at:.1} ");
    }
    _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#0b62a3\"/>",
        path.trim_end()
    );
    _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#222\">{title}</text>",
        left + width / 2.0,
        bottom + 42.0
    );
}
