//! Grids of cells over time: heat maps, and counts of groups by rate.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::Timestamp;

use super::frame::{Plot, Size, TimeAxis, Words};
use super::scale::{class, edge};
use super::svg::{Anchor, Rect, Short, Svg};
use crate::text::{cut, shown};

/// The number of colours of a scale.
pub const CLASSES: usize = 9;

/// A cell of a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The start of the step.
    pub time: Timestamp,
    /// The width of the step in seconds.
    pub seconds: f64,
    /// The value; `None` if nothing was observed.
    pub value: Option<f64>,
}

/// A row of a grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name at the left.
    pub name: String,
    /// The cells in order.
    pub cells: Vec<Cell>,
}

/// The edges of a cell on the horizontal axis.
fn edges(cell: &Cell, axis: &TimeAxis, plot: Plot) -> (f64, f64) {
    let width = jiff::SignedDuration::try_from_secs_f64(cell.seconds).unwrap_or_default();
    let end = cell.time.saturating_add(width).unwrap_or(cell.time);
    (axis.at(cell.time, plot), axis.at(end, plot))
}

/// The colour of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Colour {
    /// Nothing was observed.
    Missing,
    /// Nothing was done.
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
/// are one mark, and all marks of a colour are one path, so that a month of a large cluster stays small.
pub fn heat(
    words: &Words,
    name: &str,
    axis: &TimeAxis,
    groups: &[Vec<Row>],
    format: impl Fn(f64) -> String,
    size: Size,
) -> Svg {
    let rows: usize = groups.iter().map(Vec::len).sum();
    let (row_height, gap) = (size.of(14.0, 12.0), 8.0);
    let body = rows as f64 * row_height + groups.len().saturating_sub(1) as f64 * gap;
    let top = size.of(44.0, 62.0);
    let mut svg = words.chart(size, top + body + 28.0);
    let plot = Plot {
        left: size.of(130.0, 74.0),
        right: size.width() - size.of(20.0, 18.0),
        top,
        bottom: top + body,
    };
    let most = values(groups).fold(0.0, f64::max);
    let hatch = format!("hatch-{name}-{}", size.class());
    svg.hatch(&hatch);
    scale_legend(&mut svg, &hatch, most, format, size);
    let mut paths: BTreeMap<Colour, String> = BTreeMap::new();
    let mut y = top;
    for group in groups {
        for row in group {
            let room = size.of(18.0, 10.0) as usize;
            // On a phone the end of a name tells more than the file system at its beginning.
            let short = match size {
                Size::Wide => row.name.as_str(),
                Size::Narrow => row.name.rsplit('-').next().unwrap_or(&row.name),
            };
            let label = cut(&shown(short), room);
            let middle = y + row_height / 2.0 + 4.0;
            svg.text((plot.left - 6.0, middle), "t small", Anchor::End, &label);
            let halved;
            let cells = match size {
                Size::Wide => &row.cells,
                Size::Narrow => {
                    halved = in_pairs(&row.cells);
                    &halved
                }
            };
            for (colour, left, right) in merged(cells, axis, plot, most) {
                let path = paths.entry(colour).or_default();
                let (width, height) = (right - left, row_height - 1.0);
                let _ = write!(
                    path,
                    "M{} {}h{}v{}h{}z",
                    Short(left),
                    Short(y),
                    Short(width),
                    Short(height),
                    Short(-width)
                );
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
}

fn values(groups: &[Vec<Row>]) -> impl Iterator<Item = f64> {
    let rows = groups.iter().flatten();
    rows.flat_map(|row| row.cells.iter().filter_map(|cell| cell.value))
}

/// Joins each two cells, with the mean of what is known of them: a phone has no room for more.
fn in_pairs(cells: &[Cell]) -> Vec<Cell> {
    let pair = |pair: &[Cell]| {
        let known: Vec<_> = pair.iter().filter_map(|cell| cell.value).collect();
        let sum: f64 = known.iter().sum();
        Cell {
            time: pair[0].time,
            seconds: pair.iter().map(|cell| cell.seconds).sum(),
            value: (!known.is_empty()).then(|| sum / known.len() as f64),
        }
    };
    cells.chunks(2).map(pair).collect()
}

/// Returns the stretches of one colour in a row.
fn merged(cells: &[Cell], axis: &TimeAxis, plot: Plot, most: f64) -> Vec<(Colour, f64, f64)> {
    let mut out: Vec<(Colour, f64, f64)> = Vec::new();
    for cell in cells {
        let colour = colour(cell.value, most);
        let (left, right) = edges(cell, axis, plot);
        match out.last_mut() {
            Some(last) if last.0 == colour && (last.2 - left).abs() < 0.05 => last.2 = right,
            _ => out.push((colour, left, right)),
        }
    }
    out
}

/// Draws the scale of colours with its numbers.
fn scale_legend(svg: &mut Svg, hatch: &str, most: f64, format: impl Fn(f64) -> String, size: Size) {
    let (mut x, y) = match size {
        Size::Wide => (430.0, 6.0),
        Size::Narrow => (2.0, 24.0),
    };
    let width = size.of(24.0, 18.0);
    let square = format!("M{} {}h12v9h-12z", Short(x), Short(y));
    svg.hatched(&square, hatch);
    svg.text((x + 16.0, y + 8.5), "t small", Anchor::Start, "no data");
    x += size.of(76.0, 68.0);
    let rect = |x, width| Rect {
        x,
        y,
        width,
        height: 9.0,
    };
    svg.rect(rect(x, 12.0), "zero", None);
    svg.text((x + 16.0, y + 8.5), "t small", Anchor::Start, "none");
    x += size.of(66.0, 58.0);
    for class in 0..CLASSES {
        svg.rect(
            rect(x + class as f64 * width, width),
            &format!("h{class}"),
            None,
        );
    }
    if most > 0.0 {
        for class in [0, 3, 6, CLASSES] {
            let value = edge(class, most, CLASSES);
            let label = match class {
                0 => format!("≤{}", format(value)),
                _ => format(value),
            };
            let place = x + class as f64 * width;
            svg.text((place, y + 21.0), "t small", Anchor::Middle, &label);
        }
    }
}

/// Draws counts in cells: rows from the largest rate to the smallest, with the count as a number where it fits.
pub fn counts(words: &Words, axis: &TimeAxis, rows: &[Row], size: Size) -> Svg {
    let row_height = size.of(22.0, 20.0);
    let top = 26.0;
    let bottom = top + rows.len() as f64 * row_height;
    let mut svg = words.chart(size, bottom + 26.0);
    let plot = Plot {
        left: size.of(110.0, 100.0),
        right: size.width() - size.of(20.0, 18.0),
        top,
        bottom,
    };
    let most = rows.iter().flat_map(|row| row.cells.iter());
    let most = most.filter_map(|cell| cell.value).fold(1.0, f64::max);
    for (number, row) in rows.iter().enumerate() {
        let y = top + number as f64 * row_height;
        let middle = y + row_height / 2.0 + 4.0;
        svg.text((plot.left - 6.0, middle), "t small", Anchor::End, &row.name);
        svg.line(
            (plot.left, y + row_height),
            (plot.right, y + row_height),
            "grid",
        );
        for cell in &row.cells {
            let Some(count) = cell.value.filter(|count| *count > 0.0) else {
                continue;
            };
            let (left, right) = edges(cell, axis, plot);
            // The count 1 has the lowest class, and the largest count the highest.
            let part = if most > 1.0 {
                count.ln() / most.ln()
            } else {
                0.0
            };
            let class = ((part * CLASSES as f64) as usize).min(CLASSES - 1);
            let rect = Rect {
                x: left,
                y: y + 1.0,
                width: (right - left - 0.5).max(0.5),
                height: row_height - 1.5,
            };
            svg.rect(rect, &format!("h{class}"), None);
            let text = format!("{count:.0}");
            if right - left >= 6.5 * text.len() as f64 + 2.0 {
                let place = ((left + right) / 2.0, middle);
                svg.text(place, &format!("n{class}"), Anchor::Middle, &text);
            }
        }
    }
    axis.draw(&mut svg, plot, size);
    svg
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::when::Clock;

    #[test]
    fn missing_data_is_hatched_and_zero_is_no_class() {
        assert_eq!(colour(None, 5.0), Colour::Missing);
        assert_eq!(colour(Some(0.0), 5.0), Colour::Zero);
        assert_eq!(colour(Some(5.0), 5.0), Colour::Class(8));
        assert_eq!(colour(Some(1e-9), 5.0), Colour::Class(0));
    }

    #[test]
    fn neighbours_of_one_colour_are_one_mark() {
        let clock = Clock::new(TimeZone::UTC);
        let time = |second| Timestamp::from_second(second).unwrap();
        let axis = TimeAxis {
            window: (time(0), time(40)),
            clock: &clock,
        };
        let plot = Plot {
            left: 0.0,
            right: 40.0,
            top: 0.0,
            bottom: 10.0,
        };
        let cell = |(second, value)| Cell {
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
        let axis = TimeAxis {
            window: (time(0), time(86_400)),
            clock: &clock,
        };
        // Neighbours are never of one colour.
        let cell = |(row, step): (i64, i64)| Cell {
            time: time(600 * step),
            seconds: 600.0,
            value: Some(10_f64.powi(((row + step) % 3) as i32)),
        };
        let row = |row| Row {
            name: format!("scratch-OST{row:04x}"),
            cells: (0..144).map(|step| cell((row, step))).collect(),
        };
        let words = Words {
            title: String::new(),
            description: String::new(),
        };
        let groups = [(0..50).map(row).collect(), (50..100).map(row).collect()];
        let chart = |size| heat(&words, "load", &axis, &groups, |it| it.to_string(), size);
        let bytes = chart(Size::Wide).finish().len() + chart(Size::Narrow).finish().len();
        assert!(bytes < 550_000, "{bytes}");
    }

    #[test]
    fn a_pair_of_cells_has_their_mean() {
        let time = |second| Timestamp::from_second(second).unwrap();
        let cell = |second, value| Cell {
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
