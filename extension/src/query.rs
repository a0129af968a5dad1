//! The reading functions, which report who used what, how much and how fast.
//!
//! All functions share one engine. The arguments ([`dimension`], [`filters`], [`measure`]) make a [`question`]. Its
//! window is resolved first ([`window`]), then its entries, if they are few ([`entries`]). One statement with parameters
//! ([`statement`], [`rows`]) answers the question, and [`answer`] converts the result to rows.

mod aggregates;
mod answer;
mod dimension;
mod entries;
mod filters;
mod functions;
mod measure;
mod question;
mod rows;
mod sources;
mod statement;
mod window;
