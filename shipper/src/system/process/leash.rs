//! Ends a program when the shipper is killed, and lets it hold a lock.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

use crate::system::lock::Lock;

/// Makes the kernel kill the child when the thread that starts it ends, even if this process is killed with a signal that it cannot handle.
/// Otherwise a hanging program would run on. Children of the child are not killed, but inherit the lock, so that no second program starts
/// at the same time. Programs of other sources do not inherit it.
#[expect(unsafe_code, reason = "the child must ask for the signal itself")]
pub fn tie<'a>(command: &'a mut Command, lock: Option<&Lock>) -> io::Result<&'a mut Command> {
    let parent = getpid();
    let lock = lock.map(Lock::try_clone).transpose()?;
    let ask = move || {
        if let Some(lock) = &lock {
            fcntl_setfd(lock, FdFlags::empty())?;
        }
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // If the parent has ended in the meantime, the signal never comes.
        if getppid() == Some(parent) {
            Ok(())
        } else {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    };
    // SAFETY: Between fork and exec only functions may be called that are safe in a signal handler. This closure makes three
    // system calls, and neither it nor its errors allocate memory or take a lock.
    Ok(unsafe { command.pre_exec(ask) })
}
