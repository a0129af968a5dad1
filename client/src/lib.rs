//! Connects programs to a jobstats store.

pub mod connection;
mod error;
pub mod failure;
pub mod retry;
pub mod settings;
pub mod tls;
pub mod variables;

pub use connection::{Connector, Session};
pub use error::Error;
pub use failure::Kind;
pub use retry::Retry;
pub use settings::{Options, Settings, SslMode};
