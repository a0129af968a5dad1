#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use std::cell::Cell;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use super::{BEAT, BEATS, Beat, RESTING, beat, call, now, rest, send_to, silence, watchdog};

#[test]
fn a_thread_is_silent_until_it_beats_rests_or_ends() {
    let other = thread::spawn(|| {
        let mine = || BEAT.with(|beat| (Arc::downgrade(beat), beat.load(Ordering::Relaxed)));
        assert_eq!(mine().1, RESTING);
        let is_mine = |beat: &Weak<Beat>| beat.ptr_eq(&mine().0);
        assert!(BEATS.lock().unwrap().iter().any(is_mine));
        let before = now();
        beat();
        assert!((before..=now()).contains(&mine().1));
        rest();
        assert_eq!(mine().1, RESTING);
        beat();
        mine().0
    });
    assert!(other.join().unwrap().upgrade().is_none());
    let beats = [1_000, RESTING, 1_030].map(|beat| Arc::new(Beat::new(beat)));
    let mut of_threads: Vec<_> = beats.iter().map(Arc::downgrade).collect();
    let at = |threads: &[_], now| silence(threads, now).as_millis();
    assert_eq!(at(&of_threads, 1_060), 60);
    beats[0].store(1_050, Ordering::Relaxed);
    assert_eq!(at(&of_threads, 1_060), 30);
    // The clock of another thread may be ahead of this look.
    assert_eq!(at(&of_threads, 1_000), 0);
    of_threads.truncate(2);
    drop(beats);
    assert_eq!(at(&of_threads, 9_000), 0);
}

#[test]
fn the_watchdog_is_called_until_a_thread_is_silent() {
    let (looks, mut calls) = (Cell::new(0), 0);
    let is_silent = || looks.replace(looks.get() + 1) == 3;
    call(Duration::ZERO, is_silent, || calls += 1);
    assert_eq!(calls, 3);
}

#[test]
fn the_watchdog_is_that_of_this_process() {
    let of = |usec: &'static str, pid: &'static str| {
        let variable = move |name: &str| match name {
            "WATCHDOG_USEC" => Some(usec.to_owned()),
            _ => Some(pid.to_owned()).filter(|pid| !pid.is_empty()),
        };
        watchdog(variable, 4711)
    };
    assert_eq!(of("3000000", ""), Some(Duration::from_secs(3)));
    assert_eq!(of("3000000", "4711"), Some(Duration::from_secs(3)));
    assert_eq!(of("3000000", "4712"), None);
    assert_eq!(of("0", ""), None);
    assert_eq!(watchdog(|_| None, 4711), None);
}

#[test]
fn the_socket_may_have_an_abstract_name() {
    let name = format!("jobstats-shipper-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let socket = UnixDatagram::bind_addr(&address).unwrap();
    send_to(&format!("@{name}"), "READY=1").unwrap();
    let mut message = [0; 64];
    let length = socket.recv(&mut message).unwrap();
    assert_eq!(&message[..length], b"READY=1");
}
