//! Notifies systemd that `run` is ready, of its last readings and deliveries, and that its threads do not hang.
//!
//! The messages are datagrams to systemd's socket, as in `sd_notify(3)`. Without systemd nothing is sent.
//!
//! A thread that works calls [`beat`] again and again, and [`rest`] before it waits for something that may never come. As
//! long as no thread has been silent for too long, systemd's watchdog hears of it.

use std::env;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::system::message::report;

#[cfg(test)]
mod tests;

/// The value of a thread that rests.
const RESTING: u64 = u64::MAX;

/// The last beat of a thread, in milliseconds since the first one of all, or [`RESTING`].
type Beat = AtomicU64;

/// The threads that have beaten and have not ended.
static BEATS: Mutex<Vec<Weak<Beat>>> = Mutex::new(Vec::new());

thread_local! {
    static BEAT: Arc<Beat> = register();
}

/// Marks this thread as alive.
pub fn beat() {
    BEAT.with(|beat| beat.store(now(), Ordering::Relaxed));
}

/// Marks this thread as waiting for something that may never happen.
pub fn rest() {
    BEAT.with(|beat| beat.store(RESTING, Ordering::Relaxed));
}

fn register() -> Arc<Beat> {
    let beat = Arc::new(Beat::new(RESTING));
    let mut beats = BEATS.lock().unwrap_or_else(PoisonError::into_inner);
    beats.push(Arc::downgrade(&beat));
    beat
}

/// Returns the milliseconds since the first call.
fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let elapsed = START.get_or_init(Instant::now).elapsed();
    u64::try_from(elapsed.as_millis()).unwrap_or(RESTING - 1)
}

/// Returns the longest silence of a thread that is not waiting.
fn longest_silence() -> Duration {
    let beats = BEATS.lock().unwrap_or_else(PoisonError::into_inner);
    silence(&beats, now())
}

fn silence(beats: &[Weak<Beat>], now: u64) -> Duration {
    let beats = beats.iter().filter_map(Weak::upgrade);
    let beats = beats.map(|beat| beat.load(Ordering::Relaxed));
    let working = beats.filter(|beat| *beat != RESTING);
    let silences = working.map(|beat| now.saturating_sub(beat));
    Duration::from_millis(silences.max().unwrap_or_default())
}

/// Reports that `run` is ready.
pub fn ready() {
    send("READY=1");
}

/// Sends the last readings and deliveries, in one line.
pub fn status(line: &str) {
    send(&format!("STATUS={}", line.replace('\n', " ")));
}

/// Starts a thread that calls systemd's watchdog, if there is one, unless another thread is silent for longer than `most`.
pub fn watch(most: Duration) {
    let Some(limit) = watchdog(|name| env::var(name).ok(), process::id()) else {
        return;
    };
    thread::spawn(move || {
        let is_silent = || longest_silence() > most;
        call(limit / 3, is_silent, || send("WATCHDOG=1"));
        report(format_args!(
            "a thread has made no progress for {most:?}; systemd's watchdog will end this process"
        ));
    });
}

/// Calls the watchdog again and again until a thread is silent for too long.
fn call(pause: Duration, is_silent: impl Fn() -> bool, mut watchdog: impl FnMut()) {
    while !is_silent() {
        watchdog();
        thread::sleep(pause);
    }
}

/// Returns the time after which systemd ends the process unless it hears from it.
fn watchdog(variable: impl Fn(&str) -> Option<String>, process: u32) -> Option<Duration> {
    let is_other = |pid: String| pid.parse() != Ok(process);
    if variable("WATCHDOG_PID").is_some_and(is_other) {
        return None;
    }
    let limit: u64 = variable("WATCHDOG_USEC")?.parse().ok()?;
    (limit > 0).then(|| Duration::from_micros(limit))
}

/// Sends a message. A failure is ignored: the watchdog is there for it.
fn send(message: &str) {
    let path = env::var("NOTIFY_SOCKET").ok();
    if let Some(path) = path.filter(|path| !path.is_empty()) {
        let _ = send_to(&path, message);
    }
}

fn send_to(path: &str, message: &str) -> io::Result<()> {
    let address = match path.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(path)?,
    };
    let socket = UnixDatagram::unbound()?;
    // A socket without a reader must not block.
    socket.set_nonblocking(true)?;
    socket.send_to_addr(message.as_bytes(), &address)?;
    Ok(())
}
