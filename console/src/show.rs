//! Shows rounds as lines of text and JSON, and answers as documents in text and HTML with charts.

pub mod chart;
pub mod columns;
pub mod document;
pub mod html;
pub mod json;
pub mod line;
pub mod page;
pub mod text;
