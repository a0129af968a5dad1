//! The reading functions, which report who used what, how much and how fast.
//!
//! All functions share one engine. The arguments ([`arguments`], [`dimension`], [`measure`]) make a [`question`]. Its
//! window is resolved first ([`window`]), then its entries, if they are few ([`few`]). One statement with parameters
//! ([`statement`], [`rows`]) answers the question, and [`answer`] converts the result to rows.

mod aggregates;
mod answer;
mod arguments;
mod dimension;
mod few;
mod functions;
mod measure;
mod question;
mod rows;
mod sources;
mod statement;
mod window;
