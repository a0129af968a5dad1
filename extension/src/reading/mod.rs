//! The reading functions, which report who used what, how much and how fast.
//!
//! All functions share one engine. The arguments ([`arguments`], [`dimension`], [`measure`]) make a [`question`]. Its
//! window is resolved first ([`window`]), then its entries, if they are few ([`few`]). One statement with parameters
//! ([`statement`], [`rows`]) answers the question, and [`answer`] converts the result to rows.

mod answer;
pub mod arguments;
mod balance;
mod densities;
mod dimension;
mod few;
mod job;
pub mod measure;
mod now;
mod question;
mod rates;
mod rows;
mod share;
mod sources;
mod statement;
mod summary;
mod top;
mod totals;
pub mod views;
mod window;
