//! Charts as SVG, from small functions without state. A chart is drawn twice: for a page, and for a phone.

pub mod bars;
pub mod frame;
pub mod grid;
pub mod line;
pub mod scale;
pub mod svg;

pub use frame::{Size, Words};
pub use svg::Svg;

/// A chart in both sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The description for those who cannot see the chart.
    pub description: String,
    /// The course that the chart shows, if it is one.
    pub course: Option<Course>,
    /// The SVG for a page.
    pub wide: String,
    /// The SVG for a phone.
    pub narrow: String,
}

/// Rates over time, for a line of bars.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    pub values: Vec<Option<f64>>,
    /// The width of the steps in seconds.
    pub step: i64,
    /// The start and the end.
    pub ends: [String; 2],
}

impl Chart {
    fn new(words: &Words, draw: impl Fn(Size) -> Svg) -> Self {
        Self {
            description: words.description.clone(),
            course: None,
            wide: draw(Size::Wide).finish(),
            narrow: draw(Size::Narrow).finish(),
        }
    }
}
