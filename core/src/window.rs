//! Windows of time and their steps: growth divided over time, the sources that answer for a window, the time for which
//! something was observed, and rates.

mod division;
mod observed_time;
mod rates;
mod split;
mod steps;

pub use division::{Coverage, Division, are_steps, divide, pieces};
pub use observed_time::ObservedTime;
pub use rates::{RateError, Rates};
pub use split::{Coarse, Parts, edge_distance, reach, share, split};
pub use steps::{Clocks, StepError, StepWidth, step_edges};
