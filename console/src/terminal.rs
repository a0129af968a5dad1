//! Runs the screen: what keys do, the terminal, and how the program is ended.

pub mod app;
pub mod keys;
pub mod screen;
pub mod signals;
