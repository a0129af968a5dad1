//! This machine: locks, programs that are started, messages for people, signs of life for systemd, and the priority.

pub mod lock;
pub mod message;
pub mod notify;
pub mod priority;
pub mod process;
