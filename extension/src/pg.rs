//! Wraps PostgreSQL and knows neither Lustre nor the store: errors, memory, types, settings and plans.

pub mod aggregate_state;
pub mod argument;
pub mod arguments;
pub mod ballast;
pub mod bytea;
pub mod deadline;
pub mod error;
pub mod guc;
pub mod jsonb;
pub mod memory;
pub mod pause;
pub mod plans;
pub mod receive;
pub mod reserve;
pub mod spi;
pub mod statement;
pub mod template;
pub mod time;
pub mod tuplestore;
