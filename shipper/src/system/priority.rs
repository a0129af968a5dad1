//! A low priority for this process and the programs that it starts.

use rustix::process::{getpriority_process, setpriority_process};

use crate::system::message::warn;

/// The usual nice value. It leaves the processor to others, and to lctl a part that suffices: it must not wait for minutes
/// on a server that is overloaded.
pub const USUAL: i32 = 10;

/// Lowers the priority to this nice value, unless it is lower already. Linux derives the I/O priority from it unless that is set: `nice 10`
/// is level 6 of 0 to 7 (ioprio_set(2)).
///
/// Threads and programs inherit the priority, so this is called before there are any.
pub fn lower(nice: i32) {
    let lowered = getpriority_process(None).and_then(|current| match current < nice {
        true => setpriority_process(None, nice),
        false => Ok(()),
    });
    if let Err(error) = lowered {
        warn(format_args!("cannot lower the priority: {error}"));
    }
}
