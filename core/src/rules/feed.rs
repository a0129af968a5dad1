//! Decides about a text that is fed: where it may be placed, which pieces of it are shown as rejected, and which outcome and
//! warning its sender gets.

mod outcome;
mod placing;
mod rejects;
mod warning;

pub use outcome::{Action, Outcome, reason};
pub use placing::{Limits, why_not, why_not_before};
pub use rejects::{Reject, Rejects, beginning};
pub use warning::Warning;
