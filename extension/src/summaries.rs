//! Summaries of any table of readings: counters with their resets, and densities.

mod counter;
mod density;
