//! Texts as servers print them, and as they arrive → what is read from them.

#![allow(clippy::unwrap_used, clippy::panic)]

mod cut;
mod damage;
mod events;
mod layouts;
mod lctl;
mod merged;
mod readings;

use events::events;
use readings::reading;
