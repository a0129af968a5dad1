//! Windows of time and their steps: growth divided over time, the sources that answer for a window, its end, the time for
//! which something was observed, and rates.

mod division;
mod observed_time;
mod rates;
mod reach;
mod steps;

pub use division::{Coverage, Division, divide, joined};
pub use observed_time::ObservedTime;
pub use rates::{RateError, Rates};
pub use reach::{Last, Reach, reach};
pub use steps::{Clocks, StepError, StepWidth, step_edges};
