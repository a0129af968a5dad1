//! Opens pages in headless Chromium, as their readers do, and says what is wrong with them.
//!
//! | module | |
//! |---|---|
//! | [`chromium`] | starts the browser, and opens a file in it |
//! | [`view`] | how a page is shown: width, light or dark, on paper |
//! | [`inspect`] | opens a page in every view and lists its faults |
//! | [`axe`] | lists what axe finds |
//! | [`terminal`] | turns captured output of a terminal into a page |
//!
//! The program does the same for one page, and takes pictures for the documentation.

// A test may be a long table.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod axe;
pub mod chromium;
pub mod inspect;
pub mod terminal;
pub mod view;
