//! The records that a snapshot keeps, and their print.

mod duplicates;
mod printing;
mod slots;
