//! The reading side: who used what, how much and how fast.
//!
//! All functions are one engine: arguments ([`arguments`], [`dimension`], [`measure`]) make a [`question`], whose window
//! is found first ([`window`]), and its entries where they are few ([`few`]); one statement with parameters
//! ([`statement`], [`rows`]) answers it, and [`answer`] makes rows of that.

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
