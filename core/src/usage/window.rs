//! Windows of time and their steps, the sources that answer for a window, and its end.

mod division;
mod reach;
mod steps;

pub use division::{Coverage, Division, divide, joined};
pub use reach::{LastObservation, Reach, reach};
pub use steps::{Clocks, StepError, StepWidth, step_edges};
