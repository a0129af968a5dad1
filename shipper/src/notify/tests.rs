#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use super::{beat, call, longest_silence, rest, send_to, watchdog};

#[test]
fn a_thread_is_silent_until_it_beats_rests_or_ends() {
    let silence = || longest_silence() >= Duration::from_millis(50);
    let (go, gone) = channel();
    let (begun, has_begun) = channel();
    let other = thread::spawn(move || {
        beat();
        begun.send(()).unwrap();
        gone.recv().unwrap();
        rest();
        begun.send(()).unwrap();
        gone.recv().unwrap();
        beat();
        begun.send(()).unwrap();
        gone.recv().unwrap();
    });
    has_begun.recv().unwrap();
    thread::sleep(Duration::from_millis(60));
    assert!(silence());
    go.send(()).unwrap();
    has_begun.recv().unwrap();
    assert!(!silence());
    // The thread hangs after this beat.
    go.send(()).unwrap();
    has_begun.recv().unwrap();
    let mut calls = 0;
    let milliseconds = Duration::from_millis;
    call(milliseconds(30), milliseconds(1000), || calls += 1);
    assert!(calls > 0);
    go.send(()).unwrap();
    other.join().unwrap();
    assert!(!silence());
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
