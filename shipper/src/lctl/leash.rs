//! Ends lctl when the shipper is killed.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// Lets the kernel kill the child when the thread that starts it ends, also if this process is killed with a signal that
/// it cannot handle. Nobody else would end an lctl that hangs, and it has inherited the lock of the reader. Children of the
/// child are not killed.
#[expect(unsafe_code, reason = "the child must ask for the signal itself")]
pub fn tie(command: &mut Command) -> &mut Command {
    let parent = getpid();
    let ask = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // If the parent has ended in the meantime, the signal never comes.
        if getppid() == Some(parent) {
            Ok(())
        } else {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    };
    // SAFETY: Between fork and exec only functions may be called that are safe in a signal handler. This closure makes two
    // system calls, and neither it nor its errors allocate memory or take a lock.
    unsafe { command.pre_exec(ask) }
}
