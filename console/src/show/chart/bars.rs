//! Bars: one for each target, or for each size of calls.

use super::Chart;
use super::frame::{Plot, Size, Words, value_axis};
use super::scale::Scale;
use super::svg::{Anchor, Svg};
use crate::values::text::{cut, shown};

/// A bar with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub name: String,
    /// The value; `None` if it is not known.
    pub value: Option<f64>,
    /// The text behind the bar.
    pub label: String,
    /// A remark about the bar: behind the label or, on a phone, below the bar.
    pub note: Option<String>,
}

/// The number of characters that fit below a bar on a phone.
const NOTE: usize = 40;

/// Draws bars from left to right, one below the other, and a line at a value for comparison.
pub fn horizontal(words: &Words, bars: &[Bar], median: Option<(f64, String)>) -> Chart {
    let has_notes = bars.iter().any(|bar| bar.note.is_some());
    Chart::new(words, |size| {
        // A phone has no room for a note behind a bar.
        let row = if has_notes { size.of(17.0, 30.0) } else { 17.0 };
        let top = 38.0;
        let height = top + bars.len() as f64 * row + 6.0;
        let mut svg = words.chart(size, height);
        let plot = size.plot((130.0, 84.0), (330.0, 90.0), (top, height - 6.0));
        let most = bars.iter().filter_map(|bar| bar.value).fold(0.0, f64::max);
        let scale = Scale::new((0.0, most), (plot.left, plot.right));
        for (number, bar) in bars.iter().enumerate() {
            let y = top + number as f64 * row;
            draw_bar(&mut svg, bar, (plot, scale), y, size);
        }
        if let Some((value, label)) = &median {
            let x = scale.at(*value);
            svg.line((x, plot.top - 4.0), (x, plot.bottom), "median");
            svg.text((x, plot.top - 8.0), "t small", Anchor::Middle, label);
        }
        svg
    })
}

/// Draws a bar with its name, its label and its note.
fn draw_bar(svg: &mut Svg, bar: &Bar, (plot, scale): (Plot, Scale), y: f64, size: Size) {
    let name = cut(&shown(size.short(&bar.name)), size.of(18.0, 11.0) as usize);
    svg.text((plot.left - 6.0, y + 12.0), "t small", Anchor::End, &name);
    if let Some(value) = bar.value.filter(|value| *value > 0.0) {
        let width = (scale.at(value) - plot.left).max(0.5);
        svg.rect((plot.left, y + 2.0), (width, 12.0), "bar", Some(&bar.label));
    }
    // The labels are in a separate column, which no line crosses.
    let room = size.of(46.0, 13.0) as usize;
    let label = match (&bar.note, size) {
        (Some(note), Size::Wide) => format!("{}, {note}", bar.label),
        _ => bar.label.clone(),
    };
    let place = (plot.right + 10.0, y + 12.0);
    svg.text(place, "t small", Anchor::Start, &cut(&label, room));
    if let (Some(note), Size::Narrow) = (&bar.note, size) {
        let place = (plot.left, y + 25.0);
        svg.text(place, "t small", Anchor::Start, &cut(note, NOTE));
    }
}

/// Draws a bar of each kind for each name side by side, standing.
pub fn standing(
    words: &Words,
    names: &[String],
    kinds: &[(&str, &[f64])],
    format: impl Fn(f64) -> String,
) -> Chart {
    Chart::new(words, |size| {
        let height = 230.0;
        let mut svg = words.chart(size, height);
        let plot = size.plot((60.0, 52.0), (10.0, 20.0), (44.0, height - 38.0));
        let most = kinds.iter().flat_map(|(_, values)| *values);
        let most = most.copied().fold(0.0, f64::max);
        let scale = value_axis(&mut svg, plot, most, &format);
        let step = (plot.right - plot.left) / names.len().max(1) as f64;
        let width = (step * 0.8 / kinds.len().max(1) as f64).min(26.0);
        // Every n-th name is written where there is no room for all.
        let every = (46.0 / step).ceil().max(1.0) as usize;
        for (number, name) in names.iter().enumerate() {
            let middle = plot.left + (number as f64 + 0.5) * step;
            for (place, (kind, values)) in kinds.iter().enumerate() {
                let value = values.get(number).copied().unwrap_or(0.0);
                let top = scale.at(value);
                let x = middle + (place as f64 - kinds.len() as f64 / 2.0) * width;
                let size = (width - 1.0, plot.bottom - top);
                let tip = format!("{kind} {name}: {}", format(value));
                svg.rect((x, top), size, &format!("fill{place}"), Some(&tip));
            }
            if number % every == 0 {
                let below = (middle, plot.bottom + 16.0);
                svg.text(below, "t small", Anchor::Middle, name);
            }
        }
        let mut x = plot.left;
        for (place, (kind, _)) in kinds.iter().enumerate() {
            svg.rect((x, 23.0), (12.0, 9.0), &format!("fill{place}"), None);
            svg.text((x + 17.0, 32.0), "t", Anchor::Start, kind);
            x += 90.0;
        }
        svg.line((plot.left, plot.bottom), (plot.right, plot.bottom), "axis");
        svg
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phone_shows_the_whole_note_below_the_bar() {
        let words = Words::new("Bytes written to each OST", "");
        let bars = [Bar {
            name: "scratch-OST0001".to_owned(),
            value: Some(1.0),
            label: "108 MB/s".to_owned(),
            note: Some("user14622423 5 %".to_owned()),
        }];
        let Chart { wide, narrow, .. } = horizontal(&words, &bars, None);
        assert!(wide.contains(">108 MB/s, user14622423 5 %<"));
        assert!(narrow.contains(">108 MB/s<") && narrow.contains(">user14622423 5 %<"));
    }
}
