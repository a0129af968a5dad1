//! Grids of cells over time: heat maps, and counts of groups by rate.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Chart;
use super::frame::{MARGIN, Plot, Point, Series, Size, TimeAxis, Words, most};
use super::scale::{DECADES, class};
use super::svg::{Anchor, Coordinate, Svg};
use crate::values::number::mean;
use crate::values::text::{cut, shown};

/// The number of colours of a scale.
pub const CLASSES: usize = 9;

/// The colour of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Colour {
    /// Not observed.
    Missing,
    /// No usage.
    Zero,
    /// A class of the scale.
    Class(usize),
}

fn colour(value: Option<f64>, most: f64) -> Colour {
    match value {
        None => Colour::Missing,
        Some(value) if value <= 0.0 || most <= 0.0 => Colour::Zero,
        Some(value) => Colour::Class(class(value, most, CLASSES)),
    }
}

/// Draws groups of rows, such as MDTs above OSTs, with one logarithmic scale of colours for all. Neighbours of one colour
/// are one mark, and all marks of a colour are one path, so that a month of a large cluster stays small. `power` prints a
/// power of ten, by its exponent.
pub fn heat(
    words: &Words,
    name: &str,
    axis: &TimeAxis,
    groups: &[Vec<Series>],
    power: impl Fn(i32) -> String,
) -> Chart {
    let rows: usize = groups.iter().map(Vec::len).sum();
    let most = most(groups.iter().flatten().flat_map(|row| &row.points));
    let scale = powers(most, power);
    Chart::new(words, |size| {
        let (row_height, gap) = (size.of(14.0, 12.0), 8.0);
        let body = rows as f64 * row_height + groups.len().saturating_sub(1) as f64 * gap;
        let top = size.of(44.0, 62.0);
        let mut svg = words.chart(size, top + body + 28.0);
        let plot = size.plot((130.0, 74.0), (20.0, MARGIN), (top, top + body));
        let hatch = legend(&mut svg, name, &scale, size);
        let mut paths: BTreeMap<Colour, String> = BTreeMap::new();
        let mut y = top;
        for group in groups {
            for row in group {
                let room = size.of(18.0, 10.0) as usize;
                let label = cut(&shown(size.short(&row.name)), room);
                let middle = y + row_height / 2.0 + 4.0;
                svg.text((plot.left - 6.0, middle), "t small", Anchor::End, &label);
                let points = match size {
                    Size::Wide => Cow::Borrowed(&row.points),
                    Size::Narrow => Cow::Owned(in_pairs(&row.points)),
                };
                for (colour, left, right) in merged(&points, axis, plot, most) {
                    let path = paths.entry(colour).or_default();
                    trace(path, (left, y), (right - left, row_height - 1.0));
                }
                y += row_height;
            }
            y += gap;
        }
        for (colour, path) in paths {
            match colour {
                Colour::Missing => svg.hatched(&path, &hatch),
                Colour::Zero => svg.path(&path, "zero", None),
                Colour::Class(class) => svg.path(&path, &format!("h{class}"), None),
            }
        }
        axis.draw(&mut svg, plot, size);
        svg
    })
}

/// Appends a rectangle to a path.
fn trace(path: &mut String, (x, y): (f64, f64), (width, height): (f64, f64)) {
    let [x, y, right, down, left] = [x, y, width, height, -width].map(Coordinate);
    let _ = write!(path, "M{x} {y}h{right}v{down}h{left}z");
}

/// Returns the powers of ten on the scale of colours, each at its place, which counts classes.
fn powers(most: f64, print: impl Fn(i32) -> String) -> Vec<(f64, String)> {
    if !(most > 0.0 && most.is_finite()) {
        return Vec::new();
    }
    let highest = most.log10().floor() as i32;
    let place =
        |exponent: i32| CLASSES as f64 * (1.0 + (f64::from(exponent) - most.log10()) / DECADES);
    let powers =
        (highest - DECADES as i32..=highest).map(|exponent| (place(exponent), print(exponent)));
    powers.filter(|(place, _)| *place >= 0.0).collect()
}

/// Joins each two steps, with the mean of their values: a phone has no room for more.
fn in_pairs(points: &[Point]) -> Vec<Point> {
    let pair = |pair: &[Point]| Point {
        time: pair[0].time,
        seconds: pair.iter().map(|point| point.seconds).sum(),
        value: mean(pair.iter().filter_map(|point| point.value)),
    };
    points.chunks(2).map(pair).collect()
}

/// Returns the stretches of one colour in a row.
fn merged(points: &[Point], axis: &TimeAxis, plot: Plot, most: f64) -> Vec<(Colour, f64, f64)> {
    let mut out: Vec<(Colour, f64, f64)> = Vec::new();
    for point in points {
        let colour = colour(point.value, most);
        let (left, right) = axis.edges(point, plot);
        match out.last_mut() {
            Some(last) if last.0 == colour && (last.2 - left).abs() < 0.05 => last.2 = right,
            _ => out.push((colour, left, right)),
        }
    }
    out
}

/// Draws the colour scale with its numbers by class. Returns the pattern of cells without data, which is named after the grid.
fn legend(svg: &mut Svg, name: &str, numbers: &[(f64, String)], size: Size) -> String {
    let hatch = format!("hatch-{name}-{}", size.class());
    svg.hatch(&hatch);
    let (mut x, y) = match size {
        Size::Wide => (430.0, 6.0),
        Size::Narrow => (2.0, 24.0),
    };
    let width = size.of(24.0, 18.0);
    let square = format!("M{} {}h12v9h-12z", Coordinate(x), Coordinate(y));
    svg.hatched(&square, &hatch);
    svg.text((x + 16.0, y + 8.5), "t small", Anchor::Start, "no data");
    x += size.of(76.0, 68.0);
    svg.rect((x, y), (12.0, 9.0), "zero", None);
    svg.text((x + 16.0, y + 8.5), "t small", Anchor::Start, "none");
    x += size.of(66.0, 58.0);
    for class in 0..CLASSES {
        let left = x + class as f64 * width;
        svg.rect((left, y), (width, 9.0), &format!("h{class}"), None);
    }
    for (place, label) in numbers {
        let place = x + place * width;
        svg.line((place, y + 9.0), (place, y + 12.0), "axis");
        svg.text((place, y + 21.0), "t small", Anchor::Middle, label);
    }
    hatch
}

/// Draws counts in cells, from the largest rate to the smallest, with the number where it fits. `name` is unique on the page.
pub fn counts(words: &Words, name: &str, axis: &TimeAxis, rows: &[Series]) -> Chart {
    let most = most(rows.iter().flat_map(|row| &row.points)).max(1.0);
    let scale = count_marks(most);
    Chart::new(words, |size| {
        let row_height = size.of(22.0, 20.0);
        let top = size.of(44.0, 62.0);
        let bottom = top + rows.len() as f64 * row_height;
        let mut svg = words.chart(size, bottom + 26.0);
        let plot = size.plot((110.0, 100.0), (20.0, MARGIN), (top, bottom));
        let hatch = legend(&mut svg, name, &scale, size);
        let (mut missing, mut zero) = (String::new(), String::new());
        for (number, row) in rows.iter().enumerate() {
            let y = top + number as f64 * row_height;
            let middle = y + row_height / 2.0 + 4.0;
            svg.text((plot.left - 6.0, middle), "t small", Anchor::End, &row.name);
            for point in &row.points {
                let (left, right) = axis.edges(point, plot);
                let (corner, height) = ((left, y + 1.0), row_height - 1.5);
                let within = ((right - left - 0.5).max(0.5), height);
                match point.value {
                    None => trace(&mut missing, corner, within),
                    Some(count) if count > 0.0 => {
                        count_cell(&mut svg, corner, within, (count, most));
                    }
                    Some(_) => trace(&mut zero, corner, (right - left, height)),
                }
            }
        }
        svg.hatched(&missing, &hatch);
        svg.path(&zero, "zero", None);
        axis.draw(&mut svg, plot, size);
        svg
    })
}

/// Draws a cell with its count, coloured relative to the largest.
fn count_cell(svg: &mut Svg, (x, y): (f64, f64), size: (f64, f64), (count, most): (f64, f64)) {
    let class = (count_place(count, most) as usize).min(CLASSES - 1);
    svg.rect((x, y), size, &format!("h{class}"), None);
    let text = format!("{count:.0}");
    if size.0 >= 6.5 * text.len() as f64 + 1.5 {
        let place = (x + size.0 / 2.0, y + size.1 / 2.0 + 3.75);
        svg.text(place, &format!("n{class}"), Anchor::Middle, &text);
    }
}

/// Returns the place of a count on the scale of colours: 1 has the lowest class, and the largest count the highest.
fn count_place(count: f64, most: f64) -> f64 {
    let part = if most > 1.0 {
        count.ln() / most.ln()
    } else {
        0.0
    };
    part * CLASSES as f64
}

/// Returns the counts on the scale of colours: 1, the powers of ten that have room, and the largest.
fn count_marks(most: f64) -> Vec<(f64, String)> {
    let has_room = |count: &f64| count_place(*count, most) <= CLASSES as f64 - 2.0;
    let powers = [10.0, 100.0, 1000.0, 10_000.0].into_iter();
    let mut marks = vec![1.0];
    marks.extend(powers.filter(|count| *count <= most).filter(has_room));
    if most > 1.0 {
        marks.push(most);
    }
    let mark = |count: f64| (count_place(count, most), format!("{count:.0}"));
    marks.into_iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::TimeZone;

    use super::*;
    use crate::values::when::Clock;

    #[test]
    fn missing_data_is_hatched_and_zero_is_no_class() {
        assert_eq!(colour(None, 5.0), Colour::Missing);
        assert_eq!(colour(Some(0.0), 5.0), Colour::Zero);
        assert_eq!(colour(Some(5.0), 5.0), Colour::Class(8));
        assert_eq!(colour(Some(1e-9), 5.0), Colour::Class(0));
    }

    #[test]
    fn the_scale_of_colours_is_marked_at_powers_of_ten() {
        let marks = |most| powers(most, |exponent| exponent.to_string());
        let exponents: Vec<_> = marks(286.0).into_iter().map(|(_, label)| label).collect();
        assert_eq!(exponents, ["0", "1", "2"]);
        for (place, label) in marks(286.0) {
            // A mark lies in the class that its value has.
            let value = 10_f64.powi(label.parse().unwrap());
            assert_eq!(place.floor() as usize, class(value, 286.0, CLASSES));
        }
        let (place, label) = marks(1000.0).pop().unwrap();
        assert_eq!((place, label.as_str()), (CLASSES as f64, "3"));
        assert!(marks(0.0).is_empty());
        let labels = |most| {
            count_marks(most)
                .into_iter()
                .map(|(_, label)| label)
                .collect::<Vec<_>>()
        };
        assert_eq!(labels(1.0), ["1"]);
        assert_eq!(labels(12.0), ["1", "12"]);
        assert_eq!(labels(300.0), ["1", "10", "300"]);
    }

    #[test]
    fn a_count_of_zero_and_missing_data_are_not_blank() {
        let clock = Clock::new(TimeZone::UTC);
        let time = |second| Timestamp::from_second(second).unwrap();
        let axis = TimeAxis::new((time(0), time(1200)), &clock);
        let cell = |second, value| Point {
            time: time(second),
            seconds: 600.0,
            value,
        };
        let words = Words::new("", "");
        let drawn = |cells: &[Point]| {
            let row = Series {
                name: "10 to 100".to_owned(),
                points: cells.to_vec(),
            };
            counts(&words, "users", &axis, &[row]).narrow
        };
        // Each legend has one of both.
        let count = |text: &str, what: &str| text.matches(what).count();
        let both = drawn(&[cell(0, Some(0.0)), cell(600, None)]);
        assert_eq!(count(&both, "class=\"zero\""), 2, "{both}");
        assert_eq!(count(&both, "url(#hatch-users-narrow)"), 2, "{both}");
        let neither = drawn(&[cell(0, Some(2.0)), cell(600, Some(1.0))]);
        assert_eq!(count(&neither, "class=\"zero\""), 1, "{neither}");
    }

    #[test]
    fn neighbours_of_one_colour_are_one_mark() {
        let clock = Clock::new(TimeZone::UTC);
        let time = |second| Timestamp::from_second(second).unwrap();
        let axis = TimeAxis::new((time(0), time(40)), &clock);
        let plot = Plot {
            left: 0.0,
            right: 40.0,
            top: 0.0,
            bottom: 10.0,
        };
        let cell = |(second, value)| Point {
            time: time(second),
            seconds: 10.0,
            value,
        };
        let cells = [
            (0, Some(9.9)),
            (10, Some(10.0)),
            (20, None),
            (30, Some(0.0)),
        ];
        let cells: Vec<_> = cells.into_iter().map(cell).collect();
        assert_eq!(
            merged(&cells, &axis, plot, 10.0),
            [
                (Colour::Class(8), 0.0, 20.0),
                (Colour::Missing, 20.0, 30.0),
                (Colour::Zero, 30.0, 40.0)
            ]
        );
    }

    #[test]
    fn a_day_of_a_hundred_targets_fits_into_half_a_megabyte() {
        let clock = Clock::new(TimeZone::UTC);
        let time = |second| Timestamp::from_second(second).unwrap();
        let axis = TimeAxis::new((time(0), time(86_400)), &clock);
        // Neighbours are never of one colour.
        let cell = |(row, step): (i64, i64)| Point {
            time: time(600 * step),
            seconds: 600.0,
            value: Some(10_f64.powi(((row + step) % 3) as i32)),
        };
        let row = |row| Series {
            name: format!("scratch-OST{row:04x}"),
            points: (0..144).map(|step| cell((row, step))).collect(),
        };
        let words = Words::new("", "");
        let groups = [(0..50).map(row).collect(), (50..100).map(row).collect()];
        let chart = heat(&words, "load", &axis, &groups, |it| it.to_string());
        let bytes = chart.wide.len() + chart.narrow.len();
        assert!(bytes < 550_000, "{bytes}");
    }

    #[test]
    fn a_pair_of_cells_has_their_mean() {
        let time = |second| Timestamp::from_second(second).unwrap();
        let cell = |second, value| Point {
            time: time(second),
            seconds: 10.0,
            value,
        };
        let cells = [
            cell(0, Some(1.0)),
            cell(10, Some(3.0)),
            cell(20, None),
            cell(30, Some(5.0)),
            cell(40, None),
        ];
        let values: Vec<_> = in_pairs(&cells)
            .iter()
            .map(|it| (it.seconds, it.value))
            .collect();
        assert_eq!(values, [(20.0, Some(2.0)), (20.0, Some(5.0)), (10.0, None)]);
    }
}
