//! Shows readings and answers: as lines of text, as JSON, and in pages of HTML with charts.

pub mod aligned;
pub mod chart;
pub mod columns;
pub mod html;
pub mod json;
pub mod line;
pub mod page;
