//! Rates over time as areas and lines, with a step for each interval and gaps without observations.

use std::fmt::Write as _;

use super::Chart;
use super::frame::{MARGIN, Plot, Point, Series, Size, TimeAxis, Words, most, value_axis};
use super::scale::Scale;
use super::svg::{Anchor, Coordinate, Svg};
use crate::values::text::{cut, shown};
use crate::values::when::Span;

/// The room of the number of a mark.
const DIGIT: f64 = 14.0;

/// Returns the outline of steps: a path for each stretch without a gap. With a base it is closed, as an area.
fn outline(
    points: &[Point],
    axis: &TimeAxis,
    plot: Plot,
    scale: Scale,
    base: Option<f64>,
) -> String {
    let mut path = String::new();
    let step = |point: &Point| Some((axis.edges(point, plot), scale.at(point.value?)));
    let steps: Vec<_> = points.iter().map(step).collect();
    for stretch in steps.split(Option::is_none) {
        let mut steps = stretch.iter().flatten();
        let Some(&((left, mut right), mut height)) = steps.next() else {
            continue;
        };
        let (begin, close) = match base.map(Coordinate) {
            Some(base) => (format!("{base}V"), format!("V{base}H{}Z", Coordinate(left))),
            None => (String::new(), String::new()),
        };
        let _ = write!(path, "M{} {begin}{}", Coordinate(left), Coordinate(height));
        for ((x, end), y) in steps {
            if (height - y).abs() >= 0.05 {
                let _ = write!(path, "H{}V{}", Coordinate(*x), Coordinate(*y));
            }
            (right, height) = (*end, *y);
        }
        let _ = write!(path, "H{}{close}", Coordinate(right));
    }
    path
}

/// Draws a load as an area, the load of a week before as a line, and spans, which are numbered from 1.
pub fn band(
    words: &Words,
    axis: &TimeAxis,
    (now, before): (&[Point], &[Point]),
    marks: &[Span],
    format: impl Fn(f64) -> String,
) -> Chart {
    let most = most(now.iter().chain(before));
    let chart = Chart::new(words, |size| {
        let height = size.of(250.0, 220.0);
        let mut svg = words.chart(size, height);
        let plot = size.plot((64.0, 62.0), (20.0, MARGIN), (44.0, height - 26.0));
        legend(&mut svg, plot, !before.is_empty(), size);
        for mark in marks {
            let (left, right) = (axis.at(mark.0, plot), axis.at(mark.1, plot));
            let top = plot.top - 4.0;
            let area = ((right - left).max(2.0), plot.bottom - top);
            svg.rect((left, top), area, "mark", None);
        }
        let scale = value_axis(&mut svg, plot, most, &format);
        let area = outline(now, axis, plot, scale, Some(plot.bottom));
        svg.path(&area, "area", None);
        svg.path(&outline(before, axis, plot, scale, None), "before", None);
        for (number, x) in places(axis, plot, marks) {
            let place = (x, plot.top - 8.0);
            svg.text(place, "t strong", Anchor::Middle, &number.to_string());
        }
        axis.draw(&mut svg, plot, size);
        svg
    });
    Chart {
        course: Some(axis.course(now)),
        ..chart
    }
}

/// Returns the numbers of marks with their places above the middles of the spans, or so far to the right that each can be read.
fn places(axis: &TimeAxis, plot: Plot, marks: &[Span]) -> Vec<(usize, f64)> {
    let middle = |span: &Span| (axis.at(span.0, plot) + axis.at(span.1, plot)) / 2.0;
    let mut places: Vec<_> = (1..).zip(marks.iter().map(middle)).collect();
    places.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut least = f64::MIN;
    for (_, x) in &mut places {
        *x = x.max(least);
        least = *x + DIGIT;
    }
    places
}

fn legend(svg: &mut Svg, plot: Plot, has_before: bool, size: Size) {
    // On a phone the title needs the whole line.
    if !has_before || size == Size::Narrow {
        return;
    }
    let x = plot.right - 230.0;
    svg.rect((x, 6.0), (14.0, 9.0), "area", None);
    svg.text((x + 20.0, 14.0), "t", Anchor::Start, "this window");
    svg.line((x + 112.0, 10.5), (x + 128.0, 10.5), "before");
    svg.text((x + 134.0, 14.0), "t", Anchor::Start, "a week before");
}

/// The largest number of lines in a chart.
pub const LINES: usize = 6;

/// Draws lines, with their names at their ends.
pub fn lines(
    words: &Words,
    axis: &TimeAxis,
    series: &[Series],
    format: impl Fn(f64) -> String,
) -> Chart {
    let most = most(series.iter().flat_map(|series| &series.points));
    Chart::new(words, |size| {
        let height = size.of(220.0, 240.0);
        let rows = series.len().min(LINES) as f64;
        // On a phone the names stand below, where there is room for them.
        let below = size.of(0.0, 16.0 * rows + 4.0);
        let mut svg = words.chart(size, height + below);
        let plot = size.plot((70.0, 62.0), (170.0, MARGIN), (28.0, height - 26.0));
        let scale = value_axis(&mut svg, plot, most, &format);
        for (number, series) in series.iter().take(LINES).enumerate() {
            let path = outline(&series.points, axis, plot, scale, None);
            svg.path(&path, &format!("line s{number}"), Some(&series.name));
        }
        axis.draw(&mut svg, plot, size);
        names(&mut svg, plot, scale, series, (size, height));
        svg
    })
}

/// Writes the names of the lines as close to their ends as possible.
fn names(svg: &mut Svg, plot: Plot, scale: Scale, series: &[Series], (size, height): (Size, f64)) {
    let last = |series: &Series| {
        let last = series.points.iter().rev().find_map(|point| point.value);
        scale.at(last.unwrap_or(0.0))
    };
    let mut order: Vec<_> = series.iter().take(LINES).enumerate().collect();
    if size == Size::Wide {
        order.sort_by(|one, other| last(one.1).total_cmp(&last(other.1)));
    }
    let rows = order.len();
    let mut free = plot.top;
    for (row, (number, series)) in order.into_iter().enumerate() {
        let (x, y) = match size {
            Size::Narrow => (plot.left, height + 12.0 + 16.0 * row as f64),
            Size::Wide => {
                let rest = 15.0 * (rows - row) as f64;
                let y = last(series).max(free).min(plot.bottom + 12.0 - rest);
                free = y + 15.0;
                (plot.right + 8.0, y)
            }
        };
        svg.line((x, y), (x + 12.0, y), &format!("line s{number}"));
        let room = size.of(22.0, 36.0) as usize;
        let name = cut(&shown(&series.name), room);
        svg.text((x + 17.0, y + 4.0), "t", Anchor::Start, &name);
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::TimeZone;

    use super::*;
    use crate::values::when::Clock;

    fn points(rates: &[Option<f64>]) -> Vec<Point> {
        let point = |(number, rate): (usize, &Option<f64>)| Point {
            time: Timestamp::from_second(100 * number as i64).unwrap(),
            seconds: 100.0,
            value: *rate,
        };
        rates.iter().enumerate().map(point).collect()
    }

    fn drawn(rates: &[Option<f64>], base: Option<f64>) -> String {
        let clock = Clock::new(TimeZone::UTC);
        let end = Timestamp::from_second(100 * rates.len() as i64).unwrap();
        let axis = TimeAxis::new((Timestamp::UNIX_EPOCH, end), &clock);
        let plot = Plot {
            left: 0.0,
            right: 10.0 * rates.len() as f64,
            top: 0.0,
            bottom: 10.0,
        };
        let scale = Scale::new((0.0, 10.0), (10.0, 0.0));
        outline(&points(rates), &axis, plot, scale, base)
    }

    #[test]
    fn a_rate_is_a_step_and_no_slope() {
        assert_eq!(
            drawn(&[Some(2.0), Some(5.0), Some(5.0)], None),
            "M0 8H10V5H30"
        );
    }

    #[test]
    fn a_gap_is_a_gap() {
        assert_eq!(
            drawn(&[Some(2.0), None, Some(5.0)], None),
            "M0 8H10M20 5H30"
        );
        assert_eq!(
            drawn(&[Some(2.0), None, Some(5.0)], Some(10.0)),
            "M0 10V8H10V10H0ZM20 10V5H30V10H20Z"
        );
        assert_eq!(drawn(&[None, None], None), "");
        assert_eq!(drawn(&[None, Some(1.0), None], None), "M10 9H20");
    }
}
