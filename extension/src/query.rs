//! The reading functions, which report who used what, how much and how fast.
//!
//! All functions share one engine. The arguments ([`dimension`], [`filters`], [`measure`]) make a [`question`]. Its window and the sources of its
//! rows are resolved first ([`plan`], [`window`], [`sources`]), then its entries, if they are few ([`entries`]). [`engine`] reads the rows
//! ([`read`]), and the jobs and names of their entries, and core adds them up; [`answer`] writes the groups as the rows of the function.
//! [`explain_empty`] explains empty answers; [`without_times`] lists targets without times.

pub mod answer;
mod compare_windows;
pub mod dimension;
pub mod engine;
mod entries;
mod explain_empty;
pub mod filters;
mod functions;
mod jobs;
pub mod labels;
mod measure;
mod names;
mod notice;
mod packed;
pub mod params;
pub mod plan;
pub mod question;
mod read;
mod sources;
mod state;
mod target_counters;
pub mod window;
mod without_times;
