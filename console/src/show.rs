//! Shows what was read or asked: on a screen, as tables without one, as JSON, and in pages of HTML with charts.

pub mod chart;
pub mod columns;
pub mod html;
pub mod json;
pub mod page;
pub mod print;
