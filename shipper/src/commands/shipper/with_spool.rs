//! Reading and sending with a spool between them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender as Bell, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use crate::commands::CommandError;
use crate::commands::shipper::Shipper;
use crate::frame::Reading;
use crate::read::error::ReadError;
use crate::read::follow;
use crate::read::schedule::Schedule;
use crate::read::sources::{Source, Way};
use crate::send::Feed;
use crate::spool::Spool;
use crate::spool::sender::Sender;
use crate::system::lock::Lock;
use crate::system::message::report;
use crate::system::notify;

/// The longest time that `once` begins to send readings, so that the next call of a timer is not missed.
const ONCE: Duration = Duration::from_secs(60);

/// The pause before `run` tries to lock the sender again.
const LOCKED: Duration = Duration::from_secs(1);

/// Reads all sources, writes the readings to the spool, and sends the queue unless another instance is sending.
///
/// # Errors
///
/// Fails if a reading failed, or else if something was not sent. Of several failures, all but one are only reported.
pub fn once(shipper: &Shipper, spool: &Spool) -> Result<(), CommandError> {
    let (mut unspooled, mut failed) = (UnspooledReadings::default(), None);
    for read in read_all(shipper, spool) {
        match read {
            Ok(reading) => {
                unspooled.extend(reading.map(|reading| (reading.index.source.clone(), reading)))
            }
            // The other instance sends, too.
            Err(error @ CommandError::Lock(_)) if shipper.sources.len() == 1 => return Err(error),
            Err(error) => fail(&mut failed, error),
        }
    }
    match send(shipper, spool, unspooled) {
        Err(unsent) if failed.is_some() => report(unsent),
        sent => sent?,
    }
    failed.map_or(Ok(()), Err)
}

/// Keeps the first error, and reports others.
fn fail(first: &mut Option<CommandError>, error: CommandError) {
    match first {
        Some(_) => report(error),
        None => *first = Some(error),
    }
}

/// Reads all sources at once, so that a slow one does not delay others.
fn read_all(shipper: &Shipper, spool: &Spool) -> Vec<Result<Option<Reading>, CommandError>> {
    thread::scope(|scope| {
        let reads = shipper.sources.iter().map(|source| {
            scope.spawn(|| {
                let lock = shipper.lock(source)?;
                let read = || read(shipper, spool, source, &lock);
                let read = shipper.unless_early(source, &lock, read);
                read.unwrap_or(Ok(None))
            })
        });
        let reads: Vec<_> = reads.collect();
        let join =
            |read: ScopedJoinHandle<'_, _>| read.join().unwrap_or_else(|it| resume_unwind(it));
        reads.into_iter().map(join).collect()
    })
}

/// Reads a source and returns what could not be written to the spool.
fn read(
    shipper: &Shipper,
    spool: &Spool,
    source: &Source,
    lock: &Lock,
) -> Result<Option<Reading>, CommandError> {
    if let Way::Follow(path) = &source.way {
        // What cannot be written to the spool is read again.
        let shipped = follow::ship(source, path, spool);
        let shipped = shipped.map_err(|error| ReadError::of_source(&source.name)(error).into());
        shipper.noted(source, shipped, |readings| *readings)?;
    }
    let reading = shipper.poll(source, lock)?;
    Ok(reading.and_then(|reading| spool.put(reading)))
}

/// The last reading of each source that could not be written to the spool.
type UnspooledReadings = BTreeMap<String, Reading>;

/// Sends the queued readings, and then those that could not be written to the spool. These are lost if this fails.
fn send(
    shipper: &Shipper,
    spool: &Spool,
    mut unspooled: UnspooledReadings,
) -> Result<(), CommandError> {
    let mut failed = send_all(shipper, spool, &mut unspooled).err();
    for _ in &unspooled {
        fail(&mut failed, spool.dropped().into());
    }
    failed.map_or(Ok(()), Err)
}

fn send_all(
    shipper: &Shipper,
    spool: &Spool,
    unspooled: &mut UnspooledReadings,
) -> Result<(), CommandError> {
    let mut sender = Sender::new(spool.clone(), shipper.feed()?);
    let until = Instant::now() + ONCE;
    loop {
        let Some(turn) = spool.turn()? else {
            // The other instance looks for more readings before it ends.
            return Ok(());
        };
        let drained = sender.drain(Some(until))?;
        let mut failed = drained.failure.map(CommandError::from);
        unspooled.retain(|source, reading| {
            if sender.is_held(source) {
                return true;
            }
            match sender.send_directly(reading) {
                Ok(()) => false,
                Err((unsent, _)) => {
                    fail(&mut failed, unsent.into());
                    true
                }
            }
        });
        drop(turn);
        if failed.is_none() && !drained.left && !spool.waiting()?.is_empty() {
            continue;
        }
        sender.report_waiting();
        return failed.map_or(Ok(()), Err);
    }
}

/// Readings that could not be written to the spool, on their way to the thread that sends.
type Handover = Mutex<UnspooledReadings>;

/// Reads each source in a thread and sends in another, so that neither a slow source nor a slow database delays a
/// reading.
///
/// # Errors
///
/// Fails if another instance reads one of the sources.
pub fn run(shipper: &Shipper, spool: &Spool, feed: Feed) -> Result<(), CommandError> {
    let locks = shipper.sources.iter().map(|source| shipper.lock(source));
    let locks: Vec<_> = locks.collect::<Result<_, _>>()?;
    notify::ready();
    notify::watch(shipper.longest_silence());
    let unspooled = &Handover::default();
    let (bell, rung) = channel();
    let sender = Sender::new(spool.clone(), feed);
    thread::scope(|scope| {
        for (source, lock) in shipper.sources.iter().zip(&locks) {
            let bell = bell.clone();
            scope.spawn(move || read_forever(shipper, spool, source, lock, unspooled, &bell));
        }
        if let Err(error) = send_forever(sender, spool, unspooled, &rung) {
            report(error);
        }
        // Reading is useless without a sender; a supervisor restarts both.
        std::process::exit(crate::commands::error::SYSTEM.into());
    })
}

fn read_forever(
    shipper: &Shipper,
    spool: &Spool,
    source: &Source,
    lock: &Lock,
    unspooled: &Handover,
    bell: &Bell<()>,
) -> ! {
    let begin = |interval| shipper.begin(source, Some(interval));
    let poll = || {
        let start = Instant::now();
        let read = read(shipper, spool, source, lock);
        let took = start.elapsed();
        match read {
            // A failed poll is only reported, because the next one may succeed.
            Err(error) => error.report(),
            Ok(Some(reading)) => {
                let earlier = waiting(unspooled).insert(reading.index.source.clone(), reading);
                if earlier.is_some() {
                    report(spool.dropped());
                }
            }
            Ok(None) => {}
        }
        // The other thread ends the process when it ends.
        let _ = bell.send(());
        took
    };
    notify::beat();
    if !source.is_lctl() {
        // The first of a day's readings would otherwise be up to a day away.
        begin(source.interval);
        poll();
    }
    let schedule = Schedule::new(source.interval, &shipper.server);
    schedule.repeat(shipper.pace, &source.name, begin, poll)
}

fn waiting(unspooled: &Handover) -> MutexGuard<'_, UnspooledReadings> {
    unspooled.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send_forever(
    mut sender: Sender,
    spool: &Spool,
    unspooled: &Handover,
    rung: &Receiver<()>,
) -> Result<(), CommandError> {
    let _turn = loop {
        match spool.turn()? {
            Some(turn) => break turn,
            None => thread::sleep(LOCKED),
        }
    };
    loop {
        notify::beat();
        let drained = sender.drain(None)?;
        if let Some(error) = drained.failure {
            report(error);
            sender.report_waiting();
        }
        send_unspooled(&mut sender, spool, unspooled);
        notify::rest();
        let waited = match sender.next_attempt() {
            None => rung.recv().map_err(RecvTimeoutError::from),
            Some(time) => rung.recv_timeout(time.saturating_duration_since(Instant::now())),
        };
        if waited == Err(RecvTimeoutError::Disconnected) {
            return Ok(());
        }
    }
}

/// Sends the readings that could not be written to the spool, unless earlier readings of their source are queued.
fn send_unspooled(sender: &mut Sender, spool: &Spool, unspooled: &Handover) {
    let readings: Vec<_> = waiting(unspooled)
        .extract_if(.., |source, _| !sender.is_held(source))
        .collect();
    for (source, reading) in readings {
        let Err((unsent, may_succeed)) = sender.send_directly(&reading) else {
            continue;
        };
        report(unsent);
        match waiting(unspooled).entry(source) {
            Entry::Vacant(slot) if may_succeed => drop(slot.insert_entry(reading)),
            _ => report(spool.dropped()),
        }
    }
}
