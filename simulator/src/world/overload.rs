//! The overload of a metadata server: for half an hour of a day, one user removes files so fast that requests wait for threads.

use crate::lustre::identifier::of_program;
use crate::lustre::operation::{Op, plain};
use crate::lustre::{Calls, Request};
use crate::time::{SECOND, Span};
use crate::world::workload::{Event, Traffic};
use crate::world::{Plan, TargetIndex, Workload};

const REQUEST: Request = plain(Op::Unlink);
/// The microseconds that each request takes. The directory is large.
const USECS: u32 = 18_000;
/// The number of requests in a second. They leave the threads of the service just enough time for other requests.
const USUAL: u32 = 820;
/// The number of requests in each of the last ten seconds of five minutes, which are more than the threads can work on.
const SURGE: u32 = 905;

/// Adds the calls of overloads to a target in a span.
pub fn add(workload: &Workload, target: TargetIndex, span: Span, traffic: &mut Traffic) {
    let plan = Plan::new(workload.cluster);
    for overload in plan.overloads(target, span) {
        let seed = workload.seed.of("overload", &[overload.from]);
        let (uid, _) = workload.login_user(&mut seed.random());
        let entry = traffic.entry(&of_program(b"rm", uid));
        for second in 0..(overload.until - overload.from) / SECOND {
            let count = if second % 300 < 290 { USUAL } else { SURGE };
            let time = overload.from + second * SECOND + SECOND / 3;
            let calls = Calls::new(REQUEST, count, 0, USECS);
            if span.contains(time) {
                traffic.events.push(Event { time, entry, calls });
            }
        }
    }
}
