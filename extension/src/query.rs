//! The reading functions, which report who used what, how much and how fast.
//!
//! All functions share one engine. The arguments ([`dimension`], [`filters`], [`measure`]) make a [`question`]. Its
//! window and the sources of its rows are resolved first ([`plan`], [`window`], [`sources`]), then its entries, if they
//! are few ([`entries`]). One statement with parameters answers the question ([`statement`], [`usage`]; made of
//! [templates](crate::pg::template) and [`params`]), and [`answer`] writes its result as the rows of the function. [`joins`] brings entries together with their jobs and names. If there are
//! none, [`empty`] and [`unknown`] say why; [`without_times`] says which targets report no times.

mod aggregates;
pub mod answer;
pub mod dimension;
mod empty;
mod entries;
pub mod filters;
mod functions;
mod groups;
mod jobs;
mod joins;
mod labels;
mod measure;
mod names;
mod notice;
mod owners;
pub mod params;
mod plan;
mod question;
mod sources;
mod statement;
mod unknown;
mod usage;
mod wholes;
mod window;
mod windows;
mod without_times;
