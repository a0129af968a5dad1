//! Reading and sending with a spool between them.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender as Bell, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::backlog::{Backlog, Courier};
use crate::feed::{Feed, Sender};
use crate::message::report;
use crate::notify;
use crate::options::Input;
use crate::reading::Reading;
use crate::schedule::Schedule;
use crate::{Error, Shipper};

/// The longest time that `once` begins to send readings, so that the next call of a timer is not missed.
const ONCE: Duration = Duration::from_secs(60);

/// The pause until `run` asks again for the lock of the sender.
const LOCKED: Duration = Duration::from_secs(1);

/// Reads, writes the reading to the spool, and sends what waits there, unless another instance is sending.
///
/// # Errors
///
/// Fails if the reading failed, or else if something was not sent. If both failed, the latter is only reported.
pub fn once(shipper: &Shipper, backlog: &Backlog, input: &Input) -> Result<(), Error> {
    let read = read(shipper, backlog, input);
    let (unkept, failed) = match read {
        Ok(unkept) => (unkept, None),
        // The other instance sends, too.
        Err(error @ Error::Lock(_)) => return Err(error),
        Err(error) => (None, Some(error)),
    };
    let sent = send(shipper, backlog, unkept);
    match (failed, sent) {
        (None, sent) => sent,
        (Some(failed), Ok(())) => Err(failed),
        (Some(failed), Err(unsent)) => {
            report(format_args!("{unsent}"));
            Err(failed)
        }
    }
}

/// Reads and returns what could not be written to the spool.
fn read(shipper: &Shipper, backlog: &Backlog, input: &Input) -> Result<Option<Reading>, Error> {
    let _lock = shipper.lock()?;
    let reading = shipper.read(input)?;
    Ok(backlog.keep(reading, &shipper.sender))
}

/// Sends what waits, and then the reading that could not be written to the spool. That reading is lost if this fails.
fn send(shipper: &Shipper, backlog: &Backlog, mut unkept: Option<Reading>) -> Result<(), Error> {
    let sent = send_all(shipper, backlog, &mut unkept);
    if unkept.is_none() {
        return sent;
    }
    let dropped = backlog.dropped();
    if sent.is_ok() {
        return Err(dropped.into());
    }
    report(format_args!("{dropped}"));
    sent
}

fn send_all(
    shipper: &Shipper,
    backlog: &Backlog,
    unkept: &mut Option<Reading>,
) -> Result<(), Error> {
    let mut courier = Courier::new(backlog.clone(), shipper.feed()?);
    let until = Instant::now() + ONCE;
    loop {
        let Some(lock) = backlog.lock()? else {
            // The other instance looks for more readings before it ends.
            return Ok(());
        };
        let drained = courier.drain(Some(until))?;
        if drained.failure.is_none()
            && let Some(reading) = &*unkept
        {
            courier
                .send_directly(&shipper.sender, reading)
                .map_err(|(unsent, _)| unsent)?;
            *unkept = None;
        }
        drop(lock);
        if drained.failure.is_none() && !drained.late && !backlog.waiting()?.is_empty() {
            continue;
        }
        courier.report_waiting();
        return drained.failure.map_or(Ok(()), |error| Err(error.into()));
    }
}

/// A reading that could not be written to the spool, on its way to the thread that sends.
type Unkept = Mutex<Option<Reading>>;

/// Reads in this thread and sends in another, so that a slow database delays no reading.
///
/// # Errors
///
/// Fails if the other thread ended, which it should not.
pub fn run(
    shipper: &Shipper,
    backlog: &Backlog,
    feed: Feed,
    schedule: Schedule,
) -> Result<(), Error> {
    let unkept = &Unkept::default();
    let (bell, rung) = channel();
    let courier = Courier::new(backlog.clone(), feed);
    thread::scope(|scope| {
        scope.spawn(move || {
            if let Err(error) = send_forever(courier, backlog, &shipper.sender, unkept, &rung) {
                report(format_args!("{error}"));
            }
            // Without a sender there is nothing to read for; a supervisor starts both again.
            std::process::exit(crate::exit::SYSTEM.into());
        });
        read_forever(shipper, backlog, schedule, unkept, &bell)
    })
}

fn read_forever(
    shipper: &Shipper,
    backlog: &Backlog,
    schedule: Schedule,
    unkept: &Unkept,
    bell: &Bell<()>,
) -> ! {
    loop {
        schedule.sleep();
        match shipper.poll() {
            // A failed poll is only reported, because the next one may succeed.
            Err(error) => report(format_args!("{error}")),
            Ok(reading) => {
                if let Some(reading) = backlog.keep(reading, &shipper.sender)
                    && put(unkept, Some(reading)).is_some()
                {
                    report(format_args!("{}", backlog.dropped()));
                }
                // The other thread ends the process when it ends.
                let _ = bell.send(());
            }
        }
    }
}

/// Replaces the reading, and returns the one before.
fn put(unkept: &Unkept, reading: Option<Reading>) -> Option<Reading> {
    let mut slot = unkept.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *slot, reading)
}

fn send_forever(
    mut courier: Courier,
    backlog: &Backlog,
    sender: &Sender,
    unkept: &Unkept,
    rung: &Receiver<()>,
) -> Result<(), Error> {
    let _lock = loop {
        match backlog.lock()? {
            Some(lock) => break lock,
            None => thread::sleep(LOCKED),
        }
    };
    loop {
        notify::beat();
        let drained = courier.drain(None)?;
        match drained.failure {
            Some(error) => {
                report(format_args!("{error}"));
                courier.report_waiting();
            }
            None => send_unkept(&mut courier, backlog, sender, unkept),
        }
        notify::rest();
        let waited = match courier.next_attempt() {
            None => rung.recv().map_err(RecvTimeoutError::from),
            Some(time) => rung.recv_timeout(time.saturating_duration_since(Instant::now())),
        };
        if waited == Err(RecvTimeoutError::Disconnected) {
            return Ok(());
        }
    }
}

/// Sends the reading that could not be written to the spool. Readings that wait there are older and go first.
fn send_unkept(courier: &mut Courier, backlog: &Backlog, sender: &Sender, unkept: &Unkept) {
    let Some(reading) = put(unkept, None) else {
        return;
    };
    let Err((unsent, may_succeed)) = courier.send_directly(sender, &reading) else {
        return;
    };
    report(format_args!("{unsent}"));
    let mut slot = unkept.lock().unwrap_or_else(PoisonError::into_inner);
    if may_succeed && slot.is_none() {
        *slot = Some(reading);
    } else {
        report(format_args!("{}", backlog.dropped()));
    }
}
