//! The time that a target takes for a request. This is the only place where service times are drawn; work that is given names its
//! own.

use rand::RngExt;

use crate::lustre::{Op, Request};
use crate::random::{Random, log_normal};

/// The service time, in microseconds, of the request that recreates a removed entry.
pub const RETURNING: u32 = 40;

/// Draws the microseconds per request; one request in a thousand hits a server that hangs for longer than ten seconds.
pub fn service_time(request: Request, random: &mut Random) -> u32 {
    let median = match request {
        [Op::ReadBytes | Op::WriteBytes, ..] => 900.0,
        [Op::Getattr | Op::Getxattr | Op::Statfs | Op::Close] => 25.0,
        _ => 120.0,
    };
    let usecs = log_normal(random, median, 0.9);
    if random.random_bool(0.001) {
        (10_000_000.0 + usecs) as u32
    } else {
        usecs.min(9_000_000.0) as u32
    }
}
