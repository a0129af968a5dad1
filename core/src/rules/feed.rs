//! Decides about a text that is fed: where it may be placed, which pieces of it are shown as rejected, and which outcome and
//! warning its sender gets.

mod acceptance;
mod outcome;
mod rejected_lines;
mod warning;

pub use acceptance::{Limits, why_not, why_not_before};
pub use outcome::{Action, Outcome, reason};
pub use rejected_lines::{Reject, Rejects, beginning};
pub use warning::Warning;
