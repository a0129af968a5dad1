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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// The SVG for a page.
    pub wide: String,
    /// The SVG for a phone.
    pub narrow: String,
}

impl Chart {
    fn new(draw: impl Fn(Size) -> Svg) -> Self {
        Self {
            wide: draw(Size::Wide).finish(),
            narrow: draw(Size::Narrow).finish(),
        }
    }
}
