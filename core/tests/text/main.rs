//! Texts as servers print them, and as they arrive → what is read from them.

#![allow(clippy::unwrap_used, clippy::panic)]

mod comparisons;
mod cut;
mod damage;
mod duplicates;
mod events;
mod generate;
mod hostile;
mod invariants;
mod layouts;
mod lctl;
mod merged;
mod pauses;
mod printing;
mod properties;
mod readings;
mod slots;
mod wrapped;

use events::events;
use readings::reading;
