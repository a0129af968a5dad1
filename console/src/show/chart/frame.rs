//! The frame of a chart: its size, words, axes and labels.

use jiff::Timestamp;

use super::Course;
use super::scale::{Scale, ticks, time_ticks};
use super::svg::{Anchor, Svg};
use crate::values::when::{self, Clock, Span, after};

jobstats_core::named! {
    /// The size that a chart is drawn for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Size {
        /// A page.
        Wide = "wide",
        /// A phone.
        Narrow = "narrow",
    }
    /// Returns the class of the SVG.
    pub fn class;
}

impl Size {
    /// Returns the width of the whole chart.
    pub const fn width(self) -> f64 {
        self.of(960.0, 360.0)
    }

    /// Shortens a target's name: on a phone to its end, which is more specific.
    pub fn short(self, name: &str) -> &str {
        match self {
            Self::Wide => name,
            Self::Narrow => name.rsplit('-').next().unwrap_or(name),
        }
    }

    /// Returns a plot between margins, which differ for a page and a phone.
    pub const fn plot(
        self,
        left: (f64, f64),
        right: (f64, f64),
        (top, bottom): (f64, f64),
    ) -> Plot {
        Plot {
            left: self.of(left.0, left.1),
            right: self.width() - self.of(right.0, right.1),
            top,
            bottom,
        }
    }

    /// Returns the larger number for a page, and the smaller for a phone.
    pub const fn of(self, wide: f64, narrow: f64) -> f64 {
        match self {
            Self::Wide => wide,
            Self::Narrow => narrow,
        }
    }
}

/// The words of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    /// The title, which also labels the vertical axis.
    title: String,
    /// A description for those who cannot see the chart.
    pub description: String,
}

impl Words {
    /// Takes a title and a description.
    pub fn new(title: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            description: description.into(),
        }
    }

    /// Begins a chart of a height, with its title.
    pub fn chart(&self, size: Size, height: f64) -> Svg {
        let all = (size.width(), height);
        let mut svg = Svg::new(size.class(), all, &self.title, &self.description);
        svg.text((2.0, 14.0), "t", Anchor::Start, &self.title);
        svg
    }
}

/// The edges of a plot in a chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plot {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// A value in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The start of the step.
    pub time: Timestamp,
    /// The width of the step.
    pub seconds: f64,
    /// The value; `None` if not observed.
    pub value: Option<f64>,
}

impl Point {
    /// Returns a step from a start to an end, unless it is shorter than a second.
    pub fn between(time: Timestamp, end: Timestamp, value: Option<f64>) -> Option<Self> {
        let seconds = when::seconds((time, end));
        (seconds >= 1.0).then_some(Self {
            time,
            seconds,
            value,
        })
    }

    /// Returns the end of the step.
    pub fn end(&self) -> Timestamp {
        after(self.time, self.seconds)
    }
}

/// Returns the largest value, or 0.
pub fn most<'p>(points: impl IntoIterator<Item = &'p Point>) -> f64 {
    let values = points.into_iter().filter_map(|point| point.value);
    values.fold(0.0, f64::max)
}

/// A line of a chart, or a row of a grid: its name, and its steps in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub name: String,
    pub points: Vec<Point>,
}

/// Half of the width of a letter, about.
const HALF_LETTER: f64 = 3.5;

/// The room at the right of a plot with times, on a phone; a page has more.
pub const MARGIN: f64 = 18.0;

/// A window of time on the horizontal axis.
#[derive(Debug, Clone)]
pub struct TimeAxis<'c> {
    window: Span,
    /// The zone of the labels.
    clock: &'c Clock,
}

impl<'c> TimeAxis<'c> {
    /// Returns the axis of a window, with labels in the zone of a clock.
    pub const fn new(window: Span, clock: &'c Clock) -> Self {
        Self { window, clock }
    }

    /// Returns steps as a course in the window.
    pub fn course(&self, points: &[Point]) -> Course {
        let widths = points.iter().map(|point| point.seconds);
        let ends = [self.window.0, self.window.1];
        Course {
            values: points.iter().map(|point| point.value).collect(),
            step: widths.fold(0.0, f64::max).round() as i64,
            ends: ends.map(|time| self.clock.within(time, self.window)),
        }
    }

    /// Returns the place of a time.
    pub fn at(&self, time: Timestamp, plot: Plot) -> f64 {
        let whole = (0.0, when::seconds(self.window));
        let scale = Scale::new(whole, (plot.left, plot.right));
        scale.at(when::seconds((self.window.0, time)))
    }

    /// Returns the places of the start and of the end of a step.
    pub fn edges(&self, point: &Point, plot: Plot) -> (f64, f64) {
        (self.at(point.time, plot), self.at(point.end(), plot))
    }

    /// Draws the axis below a plot.
    pub fn draw(&self, svg: &mut Svg, plot: Plot, size: Size) {
        let most = size.of(12.0, 5.0) as usize;
        for (time, label) in time_ticks(self.window, self.clock, most) {
            let x = self.at(time, plot);
            let label = match time.duration_since(self.window.0).as_secs() {
                _ if !self.clock.is_stopwatch => label,
                0 => "0".to_owned(),
                elapsed => when::width(elapsed),
            };
            svg.line((x, plot.bottom), (x, plot.bottom + 4.0), "axis");
            // A long label has no room for its second half at the end of a narrow chart.
            let half = HALF_LETTER * label.chars().count() as f64;
            let (x, anchor) = match x + half > plot.right + MARGIN {
                true => (plot.right + MARGIN, Anchor::End),
                false => (x, Anchor::Middle),
            };
            svg.text((x, plot.bottom + 16.0), "t", anchor, &label);
        }
        svg.line((plot.left, plot.bottom), (plot.right, plot.bottom), "axis");
    }
}

/// Draws the vertical axis from zero on: lines across the plot, with labels at the left. Returns its scale.
pub fn value_axis(svg: &mut Svg, plot: Plot, most: f64, format: impl Fn(f64) -> String) -> Scale {
    let ticks = ticks(most, 4);
    let end = ticks.last().copied().unwrap_or(1.0);
    let scale = Scale::new((0.0, end), (plot.bottom, plot.top));
    for value in ticks {
        let y = scale.at(value);
        svg.line((plot.left, y), (plot.right, y), "grid");
        svg.text((plot.left - 6.0, y + 4.0), "t", Anchor::End, &format(value));
    }
    scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopwatch_has_no_dates() {
        let time = |second| Timestamp::from_second(second).unwrap();
        let clock = Clock::stopwatch();
        let axis = TimeAxis::new((time(0), time(2 * 86_400)), &clock);
        let plot = Plot {
            left: 0.0,
            right: 100.0,
            top: 0.0,
            bottom: 10.0,
        };
        let mut svg = Svg::new("wide", (100.0, 30.0), "", "");
        axis.draw(&mut svg, plot, Size::Narrow);
        let drawn = svg.finish();
        for label in [">0<", ">12 h<", ">1 d<", ">36 h<", ">2 d<"] {
            assert!(drawn.contains(label), "{label}: {drawn}");
        }
        assert!(!drawn.contains("Jan"), "{drawn}");
        let axis = TimeAxis::new((time(0), time(50 * 60)), &clock);
        let mut svg = Svg::new("narrow", (118.0, 30.0), "", "");
        axis.draw(&mut svg, plot, Size::Narrow);
        let drawn = svg.finish();
        let last = r#"x="118" y="26" class="t" text-anchor="end">50 min<"#;
        assert!(drawn.contains(last), "{drawn}");
    }
}
