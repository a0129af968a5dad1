//! Opens pages in headless Chromium, as their readers do, and says what is wrong with them.
//!
//! | module | |
//! |---|---|
//! | [`chromium`] | starts the browser, and opens a file in it |
//! | [`view`] | how a page is looked at: width, light or dark, on paper |
//! | [`inspect`] | what is wrong with a page that is open |
//! | [`axe`] | what axe says of its accessibility |
//! | [`terminal`] | a page that shows a terminal |
//!
//! The program does the same for one page, and takes pictures for the documentation.

pub mod axe;
pub mod chromium;
pub mod inspect;
pub mod terminal;
pub mod view;
