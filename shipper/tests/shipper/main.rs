//! Runs the shipper's program as users do. All tests are in one program, because each has a private database and linking takes longer than
//! running.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

/// Unwraps a fixture, or ends the test where it is missing.
macro_rules! needs {
    ($fixture:expr) => {
        match $fixture {
            Some(it) => it,
            None => return,
        }
    };
}

mod common;

mod bounded;
mod database;
mod doctor;
mod feed;
mod http;
mod input;
mod lctl;
mod messages;
mod notify;
mod pgbouncer;
mod probe;
mod replay;
mod run;
mod sources;
mod spool;
mod status;
mod tls;
mod units;
